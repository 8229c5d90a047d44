#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# compare: from results files with known numbers in them to words
. "$(dirname "$0")/lib.sh"
need_cmd jq
export XDG_STATE_HOME=$TMPDIR/state

# results FILE RATES [FILTER]: a results file of "fsnotify/eventfd". RATES: of each point, its task
# count, a colon and the rates of its repeats with commas between; FILTER for jq changes it.
results()
{
	# shellcheck disable=SC2016 # jq's variables
	jq -n --arg rates "$2" '
	def repeat($i; $tasks; $rate):
		($rate / 2 | floor) as $ops
		| {gate_ns: (1000000000 * ($i + 1)), elapsed_ns: 500000000, ops: $ops,
		   ops_all: $ops, rate: ($ops * 2), start_skew_ns: 0, flags: [],
		   task_ops: [range($tasks) | if . == 0
				then $ops - ($ops / $tasks | floor) * ($tasks - 1)
				else ($ops / $tasks | floor) end],
		   windows: [[0, 500000000, $ops, false]], window_ops: [range($tasks) | [0]]};
	def point($tasks; $rates):
		{variant: "none", tasks: $tasks, cpus: 8, rate: ($rates | add / length),
		 ci95: null, us_per_op: null, ratio: null, ratio_ci95: null, task_min: null,
		 task_max: null, jain: 1, elapsed_sec: null, start_skew_ns: 0, valid: true,
		 flags: [], skip: null, notes: [], metrics: {},
		 repeats: [$rates | to_entries[] | repeat(.key; $tasks; .value)]};
	{format: "perf-kbench-results", version: 1, command: ["perf-kbench", "fsnotify", "eventfd"],
	 environment: {perf_kbench: "0.1", started: "2026-01-31T12:00:00Z", clock_source: "tsc",
		       kernel: {release: "6.12.1", version: "#1"},
		       cpu: {model: "Test CPU", online: "0-7", governors: ["performance"]}},
	 benchmarks: [{name: "fsnotify/eventfd", unit: "write+read",
		       parameters: {group: "inotify"}, mode: "process", pin: "spread",
		       cpus: [0, 1, 2, 3, 4, 5, 6, 7], dir: null, duration_ns: 500000000,
		       warmup_ns: 100000000, window_ns: 100000000, loops: null, total: null,
		       repeats: 10, task_counts: [1], variants: ["none"],
		       points: [$rates | split(" ")[] | split(":")
				| point(.[0] | tonumber; .[1] | split(",") | map(tonumber))],
		       status: "ok", message: null}],
	 complete: true}' | jq "${3:-.}" >"$1" || fail "making $1"
}

# around RATE: ten rates with this mean and a standard deviation of 1 %
around()
{
	awk -v r="$1" 'BEGIN {
		n = split("0.988 1.012 0.996 1.004 1.014 0.986 1.002 0.998 1.008 0.992", x, " ")
		for (i = 1; i <= n; i++)
			printf "%s%d", (i > 1 ? "," : ""), 2 * int(r * x[i] / 2)
	}'
}

compare()
{
	kbench compare "$@"
}

# says REGEX: the report does, wherever its lines are broken
says()
{
	tr -s ' \n' ' ' <"$out" >flat
	has flat "$1"
}

results b1 "1:$(around 100000) 8:$(around 400000)"
results b2 "1:$(around 100400) 8:$(around 401000)"
results p1 "1:$(around 80000) 8:$(around 1156000)"
results p2 "1:$(around 80400) 8:$(around 1158000)"

# ---- two files a side: the words ----
compare b1 b2 -- p1 p2
expect 0
has "$out" "slower by 20.0 %; a change of [0-9.]+ % would have shown"
has "$out" "faster, 2.89 times as fast"
says "verdict fsnotify/eventfd none: faster at 8 tasks; slower at 1 task"
hasnt "$out" "is assumed"
[ "$(wc -L <"$out")" -le 78 ] || fail "over 78 columns: $(wc -L <"$out")"

# two boots are not one: with one a side, that is said
results boot1 "1:$(around 100000)" '.environment.boot_id = "1"'
results boot2 "1:$(around 100000)" '.environment.boot_id = "2"'
results boot3 "1:$(around 100000)" '.environment.boot_id = "3"'
compare boot1 boot1 -- boot2 boot2
says "Each side is of one boot"
for files in "boot1 boot3 -- boot2 boot2" "boot1 -- boot1"; do
	# shellcheck disable=SC2086 # words are meant
	compare $files
	tr -s ' \n' ' ' <"$out" >flat
	hasnt flat "of one boot" "$files"
done

# the same numbers, from the JSON
compare -f json b1 b2 -- p1 p2
expect 0
json_is '.points | length == 2'
json_is '.points[0] | .tasks == 1 and .verdict == "slower" and .noise_from == "files"'
json_is '.points[0].ratio | . > 0.7999 and . < 0.8010'
json_is '.points[1].ratio | . > 2.888 and . < 2.892'
json_is '.points[0] | .ratio_ci95[0] < .ratio and .ratio < .ratio_ci95[1]'
json_is '.points[0].df == 2'
# Holm: of two, the smaller p is doubled, the larger is itself or as large as that
json_is '[.points[] | {p, p_holm}] | sort_by(.p)
	 | (.[0].p * 2 - .[0].p_holm | fabs) < 1e-12 and .[1].p_holm >= .[0].p_holm and
	   ((.[1].p_holm - .[1].p | fabs) < 1e-12 or .[1].p_holm == .[0].p_holm)'

# swapped sides: the ratio is turned over, and nothing else
first=$(json '.points[0] | [.ratio, .p] | @csv')
compare -f json p1 p2 -- b1 b2
second=$(json '.points[0] | [.ratio, .p] | @csv')
awk -F, -v a="$first" -v b="$second" 'BEGIN {
	split(a, x, ","); split(b, y, ",")
	exit !((x[1] * y[1] - 1) ^ 2 < 1e-18 && (x[2] - y[2]) ^ 2 < 1e-18) }' ||
	fail "not symmetric: $first, $second"

# the same files give the same answer, in whatever order they are
compare -f json b1 b2 -- p1 p2
cp "$out" once
compare -f json b2 b1 -- p2 p1
[ "$(json '.points[0].ratio_ci95 | @csv' once)" = "$(json '.points[0].ratio_ci95 | @csv')" ] ||
	fail "the order of the files changes the interval"

# ---- the same ----
compare -f json b1 b2 -- b2 b1
json_is '.points[0] | .verdict == "same" and (.ratio - 1 | fabs) < 1e-9'
compare b1 b2 -- b2 b1
has "$out" "same within [0-2]\.[0-9] %; a change of"
# with a margin that is too narrow for these data it cannot be told, and what it would take is said
compare --same 0.1 b1 b2 -- b2 b1
says "cannot tell \([0-9]+ more (files a side|repeats) for \+-0\.1 %\)"

# ---- one file a side: noise from run to run is assumed, and said to be ----
compare b1 -- p1
expect 0
says "3 % is assumed"
has "$out" "slower by 20.0 %"
has "$out" "faster, 2.89 times"
results p5 "1:$(around 95000)"
compare b1 p5
says "cannot tell \([0-9]+ more files a side"
compare -f json b1 p5
json_is '.points[0] | .verdict == "cannot tell" and .noise_from == "assumed"'

# with a floor that was measured, a difference of 5 % may be one
machine='Test CPU; 0-7; '
mkdir -p "$XDG_STATE_HOME/perf-kbench"
floor()
{
	jq -n --arg m "$machine" --arg sd "$1" '{format: "perf-kbench-noise", version: 1, floors: [
		{machine: $m, benchmark: "fsnotify/eventfd", variant: "none", tasks: 1,
		 sd: ($sd | tonumber), df: 9, measured: "2026-01-31T12:00:00Z"}]}' \
		>"$XDG_STATE_HOME/perf-kbench/noise.json"
}
floor 0.005
compare b1 p5
has "$out" "slower by 5.0 %"
says "which \"perf-kbench noise\" measured"
floor 0.05
compare b1 p5
has "$out" "cannot tell"
compare --no-floor b1 p5
says "is assumed"
echo '{"format": "x"}' >"$XDG_STATE_HOME/perf-kbench/noise.json"
compare b1 p5
expect 1
has "$err" "is not what \"perf-kbench noise\" writes"
rm "$XDG_STATE_HOME/perf-kbench/noise.json"
compare --noise nowhere b1 p5
expect 1
has "$err" "nowhere: No such file"

# ---- H1: all repetitions count, in any order ----
results h1 "1:1000,20000,30000,40000,50000"
results h2 "1:50000,30000,1000,40000,20000"
compare -f json h1 -- b1
first=$(json '.points[0].base.rate')
compare -f json h2 -- b1
[ "$first" = "$(json '.points[0].base.rate')" ] || fail "the order of repeats changes the rate"
[ "${first%.*}" = 28200 ] || fail "the mean of 1000, 20000 ... 50000 is $first"

# ---- H3: what one side has is said, and left out ----
results one "1:$(around 100000)"
compare b1 -- one
expect 0
says "left out fsnotify/eventfd none, 8 tasks: only in base"
compare -f json one -- b1
json_is '.left_out == ["fsnotify/eventfd none, 8 tasks: only in patched"] and
	 (.points | length) == 1'
results other "1:$(around 100000)" '.benchmarks[0].name = "kernfs/lookup"'
compare b1 -- other
expect 1
has "$err" "no point in common"

# ---- H5: one sample ----
results s1 "1:100000"
results s2 "1:120000"
compare s1 s2
expect 0
says "how sure, cannot be told: one repeat a side: needs at least 2, or 2 files a side"
compare -f json s1 s2
json_is '.points[0] | .p == null and .ratio_ci95 == [null, null] and (.ratio - 1.2 | fabs) < 1e-9 and
	 .verdict == "too little data" and .shown == null'

# ---- not valid, skipped ----
results bad "1:$(around 100000)" '.benchmarks[0].points[0] |= (.valid = false | .flags = ["throttled"])'
compare b1 -- bad
says "cannot tell: patched has no valid repeat"
has "$out" "patched: throttled"

# ---- what must not be compared ----
refuse()
{
	results x "1:$(around 100000)" "$1"
	compare one -- x
	expect 1 "$1"
	has "$err" "not comparable \(--force"
	has "$err" "$2"
	[ ! -s "$out" ] || fail "a refusal with a report: $1"
	compare --force one -- x
	expect 0 "$1 --force"
	has "$out" "NOT COMPARABLE"
}
refuse '.benchmarks[0].unit = "read"' "unit: write\+read in one, read in x"
refuse '.benchmarks[0].mode = "thread"' "mode: process in one, thread in x"
refuse '.benchmarks[0].pin = "none"' "pin: spread in one, none in x"
refuse '.benchmarks[0].cpus = [0]' "CPUs: 0,1,2,3,4,5,6,7 in one, 0 in x"
refuse '.benchmarks[0].parameters.group = "fanotify"' "group: inotify in one, fanotify in x"
refuse '.benchmarks[0].parameters.size = "1"' "size: \(none\) in one, 1 in x"
refuse '.environment.clock_source = "icount"' "clock: tsc in one, icount in x"
refuse '.environment.emulated = "tcg"' "emulated by: \(not known\) in one, tcg in x"
refuse '.environment.perf_kbench = "0.2"' "perf-kbench: 0.1 in one, 0.2 in x"
results d1 "1:$(around 100000)" '.benchmarks[0].dir = {path: null, fs: "ext4", mount_options: "rw"}'
results d2 "1:$(around 100000)" '.benchmarks[0].dir = {path: null, fs: "xfs", mount_options: "rw"}'
compare d1 d2
expect 1
has "$err" "file system: ext4 in d1, xfs in d2"
# two sets of parameters a side: each finds its own
two='.benchmarks += [.benchmarks[0] | .parameters.group = "fanotify"]'
results t1 "1:$(around 100000)" "$two"
results t2 "1:$(around 100000)" "$two"
compare -f json t1 t2
expect 0
json_is '[.points[].parameters.group] == ["inotify", "fanotify"]'
# what may matter is said
results e "1:$(around 100000)" '.environment.cpu.governors = ["powersave"]'
compare one -- e
expect 0
says "differs +governor: performance in one, powersave in e"

# ---- --gate ----
compare --gate 5 b1 b2 -- p1 p2
expect 1
has "$out" "gate +5 %: there is a regression"
compare --gate 5 b1 b2 -- b2 b1
expect 0
compare --gate 5 one -- one
expect 125 "one file a side, noise assumed: -5 % cannot be left out"
compare --gate 15 one -- one
expect 0
compare --gate 5 s1 -- s2
expect 125
for gate in "" -1 x 101 1e3 0,5; do
	compare --gate "$gate" b1 b2
	expect 2 "--gate '$gate'"
done

# ---- the other formats ----
compare -f csv b1 b2 -- p1 p2
[ "$(head -n 1 "$out" | cut -d, -f1-4)" = benchmark,variant,tasks,base ] || fail "CSV header"
[ "$(awk -F, 'NR == 2 { print $14 }' "$out")" = slower ] || fail "CSV verdict"
compare -f markdown b1 b2 -- p1 p2
has "$out" '^\| fsnotify/eventfd none \| 1 \| 100(199|200) ±[0-9.]+% \| 80200 ±'
compare -f lkp b1 b2 -- p1 p2
has "$out" "%stddev +%change +%stddev"
has "$out" "^ +100(199|200) .* -20.0% +80200 .*fsnotify/eventfd.none.1.ops_per_sec"
compare -f xml b1 p1
expect 2

# curve ALPHA BETA: X(N) = 100000 N / (1 + ALPHA (N - 1) + BETA N (N - 1)) at 1, 2, 4, 8 tasks
curve()
{
	local n
	for n in 1 2 4 8; do
		echo "$n:$(around "$(awk -v n=$n -v a="$1" -v b="$2" \
			'BEGIN { printf "%.0f", 1e5 * n / (1 + a * (n - 1) + b * n * (n - 1)) }')")"
	done
}

# ---- what once made pure noise a verdict ----
# a failure is no regression to "git bisect run": 125, and not 1
compare --gate 5 b1 -- nowhere
expect 125
results alien "1:$(around 100000)" '.environment.perf_kbench = "0.2"'
compare --gate 5 b1 -- alien
expect 125
compare --gate 5 b1 -- other
expect 125
# what patched has lost is not known to be good
compare --gate 50 b1 b2 -- one
expect 125
has "$out" "gate +50 %: cannot tell"
results cut1 "1:$(around 100000)" '.complete = false | .benchmarks[0].status = "failed"'
compare --gate 50 one -- cut1
expect 125
says "cut1 was cut short"
# two files that differ by 18 % are not made sure by ten that do not differ (Welch)
results w1 "1:$(around 100100)"
results w2 "1:$(around 119900)"
many=()
for i in 0 1 2 3 4 5 6 7 8 9; do
	results "w.$i" "1:$(around $((124800 + 50 * i)))"
	many+=("w.$i")
done
compare -f json w1 w2 -- "${many[@]}"
json_is '.points[0] | .verdict == "cannot tell" and .df < 1.5 and .base.ci95 > 50000'
# one repeat is not as sure as the mean of ten
spread=80000,120000,75000,125000,85000,115000,70000,130000,90000,110000
results n10 "1:$(tr , '\n' <<<"$spread" | awk '{ printf "%s%d", (NR > 1 ? "," : ""), $1 * 1.25 }')"
compare -f json s1 n10
json_is '.points[0] | .verdict == "cannot tell" and .base.ci95 > 2.5 * .patched.ci95 * 0.8'
# a floor of 0 knows nothing of what two repeats leave open
floor 0
results r2a "1:90000,110000"
results r2b "1:126000,128000"
compare -f json r2a r2b
json_is '.points[0] | .verdict == "cannot tell" and .df < 3'
# a floor is of one boot: it does not overrule what several boots differ by
floor 0.002
results k1 "1:$(around 100000)" '.environment.boot_id = "1"'
results k2 "1:$(around 108000)" '.environment.boot_id = "2"'
results l1 "1:$(around 110000)" '.environment.boot_id = "3"'
results l2 "1:$(around 118000)" '.environment.boot_id = "4"'
compare -f json k1 k2 -- l1 l2
json_is '.points[0] | .verdict == "cannot tell" and .noise_from == "files" and .df == 2'
rm "$XDG_STATE_HOME/perf-kbench/noise.json"
# the same run under two names, and a benchmark twice in a file, are one run
cp b1 b1-again
compare -f json b1 b1-again -- p5
json_is '.points[0] | .noise_from == "assumed" and .base.files == 1'
json_is '.differs | any(. == "b1-again is the same run as b1: it counts once")'
results dup "1:$(around 100000)" '.benchmarks += .benchmarks'
compare -f json dup -- p5
json_is '.points[0] | .noise_from == "assumed" and .base.files == 1'
# values without any spread are no proof
results z1 "1:100000,100000,100000,100000"
results z2 "1:100000,100000,100000,100000" '.benchmarks[0].points[0].repeats[].gate_ns += 1'
results z3 "1:100002,100002,100002,100002"
results z4 "1:100002,100002,100002,100002" '.benchmarks[0].points[0].repeats[].gate_ns += 1'
compare -f json z1 z2 -- z3 z4
json_is '.points[0] | .verdict == "too little data" and .p == null and .shown == null'

# ---- counted instructions: the same to the last digit, they are known to 0.03 % a boot ----
# boot FILE RATES BOOT: one of a guest
boot()
{
	results "$1" "1:$2" '.environment.clock_source = "icount" | .environment.boot_id = "'"$3"'"'
}
boot i1 100000,100000 1
boot i2 100000,100000 2
boot j1 99800,99800 3
boot j2 99800,99800 4
compare --same 0.1 --gate 0.1 i1 i2 -- j1 j2
expect 1
says "slower by 0\.20 %; a change of 0\.09 % would have shown"
says "-0\.20% +-0\.26 to -0\.14%"
says "boots of one kernel differ by 0\.03 %"
[ "$(wc -L <"$out")" -le 78 ] || fail "over 78 columns: $(wc -L <"$out")"
# twenty boots of before and these four: Student's t of 22, of a standard error of 0.03 %
compare -f json i1 i2 -- j1 j2
json_is '.points[0] | .noise_from == "counted" and .df == 22 and .verdict == "slower"'
json_is '.points[0] | (.t - (0.998 | log) / 0.0003 | fabs) < 1e-6'
json_is '.points[0] | (.ratio_ci95[1] - 0.998 * (2.073873 * 0.0003 | exp) | fabs) < 1e-8'
# 0.01 % is none
boot j3 99990,99990 3
boot j4 99990,99990 4
compare --same 0.1 i1 i2 -- j3 j4
says "same within 0\.07 %; a change of 0\.09 % would have shown"
# one boot a side has that floor, too, and what its repeats leave open
compare -f json i1 -- j1
json_is '.points[0] | .noise_from == "counted" and .df == 20 and .verdict == "slower"'
boot i3 99000,101000 1
compare -f json --same 0.05 i3 -- j1
json_is '.points[0].verdict == "cannot tell"'
boot i4 100000 1
boot j5 99800 3
compare -f json i4 -- j5
json_is '.points[0].verdict == "too little data"'
# what repeats leave open, or boots differ by, is not overruled by it
boot i5 99000,101000 1
boot i6 99000,101000 2
compare -f json --same 0.05 i5 i6 -- j1 j2
json_is '.points[0].verdict == "cannot tell"'
boot i7 100200,100200 2
boot j6 100000,100000 4
compare -f json --same 0.05 i1 i7 -- j1 j6
json_is '.points[0] | .noise_from == "files" and .df == 2 and .verdict == "cannot tell"'
# with times among them it is none of this
compare -f json --force i1 i2 -- z3 z4
json_is '.points[0] | .verdict == "too little data"'

# ---- nothing of a file is kept back ----
metric()
{
	echo ".benchmarks[0].points[0].metrics = {LOOKUP: {unit: \"RPC/op\", values: [range(10) | $1]}}"
}
results m1 "1:$(around 100000)" "$(metric 10)"
results m2 "1:$(around 100400)" "$(metric 1000)"
compare -f json m1 m2 -- m1
json_is '.points[0] | .base.metrics.LOOKUP == 505 and .patched.metrics.LOOKUP == 10'
compare b1 b2 -- b1 bad
says "1 task of bad does not count: throttled"
results flagged "1:$(around 100200)" '.benchmarks[0].points[0].flags = ["steal"]'
compare b1 b2 -- b1 flagged
has "$out" "patched: steal"
# two sets of parameters are told apart, points of one benchmark in two files are not
compare t1 t2
says "verdict fsnotify/eventfd none, group=fanotify: "
compare -f csv t1 t2
has "$out" '"fsnotify/eventfd none, group=inotify"'
results sp1 "$(curve 0.02 0.001 | head -n 2 | xargs)"
results sp2 "$(curve 0.02 0.001 | tail -n 2 | xargs)"
compare sp1 sp2 -- sp1 sp2
[ "$(grep -c '^verdict' "$out")" = 1 ] || fail "one benchmark in two files has two verdicts"
has "$out" "^scaling"
# neither control characters nor a folder that cannot be used end it
results evil "1:$(around 100000)" \
	'.benchmarks[0].parameters.group = "x\u001b[2J" | .environment.kernel.release = "6\u001b[31m"'
compare evil -- evil
expect 0
! grep -q "$(printf '\033')" "$out" || fail "an escape character of a file is printed"
HOME=/dev/null XDG_STATE_HOME='' kbench compare b1 p1
expect 0
compare -f json --plot - b1 p1
expect 2

# ---- curves: what has become of contention, and a plot ----
results c1 "$(curve 0.02 0.001 | xargs)"
results c2 "$(curve 0.02 0.001 | xargs)"
results c3 "$(curve 0.2 0.001 | xargs)"
results c4 "$(curve 0.2 0.001 | xargs)"
compare c1 c2 -- c3 c4
has "$out" "scaling +fsnotify/eventfd none"
has "$out" " alpha 0\.0[12][0-9]* -> 0\.(19|2)[0-9]*: rose by 0\.1[78]"
has "$out" " beta .* no change is shown"
compare c1 c2 -- c2 c1
has "$out" " alpha .* no change is shown"
compare b1 b2 -- p1 p2
hasnt "$out" "scaling"
if command -v gnuplot >/dev/null; then
	compare --plot c.svg c1 c2 -- c3 c4
	expect 0
	has c.svg "base fsnotify/eventfd"
	has c.svg "patched fsnotify/eventfd"
	compare --plot - c1 c2 -- c3 c4
	expect 0
	[ "$(wc -L <"$out")" -le 78 ] || fail "a plot over 78 columns"
else
	note "no gnuplot: no plot was tried"
fi
compare --plot c.txt c1 -- c3
expect 2

# ---- --total: seconds ----
results f1 "1:$(around 100000)" '.benchmarks[0].total = 100000'
results f2 "1:$(around 50000)" '.benchmarks[0].total = 100000'
compare f1 f2
has "$out" "base s .*patched s"
has "$out" "^ +1 +1\.000[0-9] .* 2\.000[0-9] "
has "$out" "slower, 2.00 times as slow"

# ---- what is no results file ----
compare b1 nowhere
expect 1
has "$err" "nowhere: No such file"
echo '{"format": "perf-kbench-results", "version": 1' >cut
compare b1 cut
expect 1
has "$err" "cut"
compare b1
expect 2
compare
expect 2
compare b1 b2 p1
expect 2
compare b1 --
expect 2

# ---- the published figures: 86 threads, one kernfs file each of 43, and a missing one ----
# listing FILE: a results file of the report's listing; the rate of a point is the number of its
# threads by the median of their times
listing()
{
	awk '/^single:/ { single = $5 } /^concur:/ { us[n++] = $5 }
	END {
		for (i = 0; i < n; i++)
			for (j = i + 1; j < n; j++)
				if (us[j] + 0 < us[i] + 0) { t = us[i]; us[i] = us[j]; us[j] = t }
		printf "1:%d %d:%d\n", 2 * int(5e5 / single), n,
		       2 * int(5e5 * n / ((us[int((n - 1) / 2)] + us[int(n / 2)]) / 2))
	}' "$top/tests/data/$1.txt"
}
for kind in files missing; do
	results base "$(listing kernfs-86cpu-$kind-base)"
	results patched "$(listing kernfs-86cpu-$kind-patched)"
	compare base patched
	expect 0
	case $kind in
	files)	 has "$out" "faster, 2\.89 times as fast"
		 has "$out" "slower by 6\.8 %" ;;
	missing) has "$out" "faster, 7\.36 times as fast"
		 has "$out" "faster by 30\.1 %" ;;
	esac
done
