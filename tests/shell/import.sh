#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# import.sh: what others print becomes a results file with the same values
#
# What -f classic prints is read back; the published data of tests/data gives the numbers that it
# fixes; what is no text of a format leaves nothing behind.

. "$(dirname "$0")/lib.sh"

need_cmd jq
data=$top/tests/data

# near A B RELATIVE [WHAT]
near()
{
	awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= r * (b < 0 ? -b : b)) }' ||
		fail "${4:-a number}: $1, not $2"
}

# import FILE FORMAT ARGUMENT...: it must succeed, and the reader take what was written
import()
{
	local to=$1
	shift
	kbench import "$@" -o "$to"
	expect 0 "import $*"
	[ ! -s "$err" ] || fail "import $*: $(cat "$err")"
	run cat "$to"
	json_is ".origin.format == \"$1\" and .complete"
	kbench report -f json "$to"
	expect 0 "report of $to"
}

# rate FILE TASKS [VARIANT]
rate()
{
	jq -r --argjson tasks "$2" --arg variant "${3:-}" \
		'.benchmarks[].points[] | select(.tasks == $tasks and .variant == $variant) | .rate' "$1"
}

# ---- the published data ----

# medians of 86 threads: 493.5 -> 170.6 us and 973.3 -> 132.2 us; alone 3.75 -> 4.03 and 2.56 -> 1.97
for what in files missing; do
	for side in base patched; do
		import "$what-$side.json" sysfs_benchmark "$data/kernfs-86cpu-$what-$side.txt" \
			--kernel 5.12.2 --param "what=$what"
		run cat "$what-$side.json"
		json_is '[.benchmarks[].points[].tasks] == [1, 86]'
		json_is '.benchmarks[0] | .mode == "thread" and .pin == null and .loops == 10000 and
			.cpus == [range(86)] and .repeats == null and .duration_ns == null'
		json_is '.environment.kernel.release == "5.12.2" and .origin.file != null'
		json_is '.benchmarks[0].points[1].repeats[0] | .gate_ns == null and .ops == null and
			.windows == null and .task_ops == null and (.given.us_per_op | length) == 86'
		# each number as it stands in the text
		jq -r '.benchmarks[0].points[1].repeats[0].given |
			[.total_ms, .us_per_op, .cpu] | transpose[] | @tsv' "$what-$side.json" >got
		sed -nE 's/^concur: total ([0-9.]+)ms per ([0-9.]+)us  CPU ([0-9]+)$/\1\t\2\t\3/p' \
			"$data/kernfs-86cpu-$what-$side.txt" >want
		awk 'NR == FNR { want[NR] = $1 + 0 " " $2 + 0 " " $3; next }
		     want[FNR] != $1 + 0 " " $2 + 0 " " $3 { exit 1 } END { exit FNR != 86 }' \
			OFMT=%.9f CONVFMT=%.9f want got || fail "$what-$side: values differ"
	done
done
us()
{
	jq -r ".benchmarks[0].points[] | select(.tasks == $2) | .us_per_op" "$1.json"
}
near "$(us files-base 86)" 493.5 0.0001 "median"
near "$(us files-patched 86)" 170.6 0.0003 "median"
near "$(us missing-base 86)" 973.3 0.0001 "median"
near "$(us missing-patched 86)" 132.2 0.0004 "median"
near "$(us files-base 1)" 3.753758 1e-12 "alone"
near "$(us files-patched 1)" 4.027621 1e-12 "alone"
near "$(us missing-base 1)" 2.560259 1e-12 "alone"
near "$(us missing-patched 1)" 1.967538 1e-12 "alone"

# verdict WHAT TASKS RATIO: one value a side has a ratio, and no interval and no p
verdict()
{
	kbench compare -f json "$1-base.json" "$1-patched.json"
	expect 0 "compare $1"
	near "$(json ".points[] | select(.tasks == $2) | .ratio")" "$3" 0.002 "$1 at $2"
	json_is '[.points[] | .p, .p_holm, .ratio_ci95[], .ratio_ci90[], .shown, .base.ci95, .more, .noise_from]
		| all(. == null)'
	json_is '.points | all(.verdict == "too little data" and (.why | test("needs at least 2")))'
}
verdict files 86 2.893
verdict files 1 "$(jq -n '3.753758 / 4.027621')"	# 7 % slower
verdict missing 86 7.365
verdict missing 1 "$(jq -n '2.560259 / 1.967538')"	# 23 % less time
kbench compare files-base.json files-patched.json
expect 0 "compare"
tr '\n' ' ' <"$out" | tr -s ' ' >flat
has flat 'x2\.89 - - faster, 2\.89 times as fast; how sure, cannot be told: imported, one file a side: needs at least 2 files a side'
has flat ' -6\.8% - - slower by 6\.8 %; how sure'
hasnt "$out" 'assumed|perf-kbench noise'
kbench compare missing-base.json missing-patched.json
has "$out" 'x7\.36 '
kbench compare --gate 3 files-base.json files-patched.json
expect 125 "--gate of one value a side"
# the other test is another benchmark
kbench compare files-base.json missing-base.json
expect 1 "two tests"
has "$err" 'what: files in .*, missing in '

# several files a side make a verdict; the same text under two names is one file
for i in 1 2 3; do
	awk -v f="1.0$i" '/^(single|concur)/ {
			gsub(/ms|us/, "")
			line = sprintf("%s total %.6fms per %.6fus", $1, $3 * f, $3 * f / 10)
			print line ($6 == "CPU" ? "  CPU " $7 : ""); next } { print }' \
		"$data/kernfs-86cpu-files-base.txt" | sed 's/ *$//' >again.txt
	import "again$i.json" sysfs_benchmark again.txt --param what=files
done
kbench compare again1.json again2.json again3.json -- files-patched.json again1.json
expect 0 "several files"
kbench compare -f json again1.json again2.json -- again3.json files-base.json
json_is '.points | all(.p != null and .base.files == 2)'
cp again1.json copy.json
kbench compare -f json again1.json copy.json -- again2.json again3.json
json_is '.differs | any(test("is the same run as"))'
json_is '.points | all(.base.files == 1)'

kbench report files-base.json
expect 0 "report"
has "$out" '^origin: +imported from sysfs_benchmark,'
has "$out" '^  thread tasks, 86 CPUs; 10000 ops a task$'
has "$out" '^    86 +174254 +- +493\.53 +0\.6541 +0\.0076 +-$'
has "$out" 'USL: not fitted: needs 4 task counts up to the number of CPUs \(86\), has 2'

# AIM7 and creat: six counts, all of more tasks than the 80 CPUs, so that no curve may be fitted
import aim7.json rates --series aim7_jobs_per_min --per 60 --cpus 80 "$data/locking-vfs-aim7.csv"
near "$(rate aim7.json 500 aim7_jobs_per_min)" "$(jq -n '119668.25 / 60')" 1e-12 "AIM7"
run cat aim7.json
json_is '.benchmarks[0].points | length == 6 and .[5].repeats[0].given.rate == 104681.29'
kbench report aim7.json
has "$out" 'USL: not fitted: needs 4 task counts up to the number of CPUs \(80\), has 0'
import aim7.json rates --series aim7_jobs_per_min --per 60 "$data/locking-vfs-aim7.csv"
kbench report aim7.json
has "$out" 'USL: not fitted: it is not known on how many CPUs'

# the same table as the two lines of each count that the benchmark of 2014 prints
awk -F, '/^[0-9]/ { printf "%6d processes: throughput = %d average opts/sec all processes\n", $1, $4
		    printf "%6d processes: throughput = %d average opts/sec per process\n", $1, $5 }' \
	"$data/locking-vfs-aim7.csv" >aim7.txt
import creat.json locking-vfs aim7.txt --cpus 80 --unit 'creat on ext4'
[ "$(jq -c '[.benchmarks[0].points[].repeats[0].given | .all, .per_task]' creat.json)" = \
	"[104249,208,106136,176,106175,151,106290,132,105230,116,106489,106]" ] || fail "creat: values"

# NFS: v3 of both kernels, from 70 to 160 s up, and from 28 to 8 s down
for side in default rcu; do
	import "nfs-$side.json" make-times --series "v3-$side" --variant v3 --cpus 80 \
		"$data/nfs-make-times.csv"
done
[ "$(jq -c '[.benchmarks[0].points[].elapsed_sec] | [length, first, last]' nfs-default.json)" = "[20,71,161.3]" ] ||
	fail "elapsed, default"
[ "$(jq -c '[.benchmarks[0].points[].elapsed_sec] | [length, first, last, min]' nfs-rcu.json)" = "[20,27.3,8.1,7.2]" ] ||
	fail "elapsed, rcu"
kbench compare -f json nfs-default.json nfs-rcu.json
near "$(json '.points[] | select(.tasks == 80) | .ratio')" "$(jq -n '161.3 / 8.1')" 1e-9 "NFS at 80"
kbench report -f json nfs-rcu.json
# twenty counts up to the number of CPUs: a curve, whose intervals hold its values
near "$(json '.files[0].benchmarks[0].curves[0].usl.peak.value')" 38.3 0.03 "peak of rcu"
json_is '.files[0].benchmarks[0].curves[0].usl | .rms < 0.05 and .alpha.low < .alpha.value and
	.alpha.value < .alpha.high and .beta.low < .beta.value and .beta.value < .beta.high'
import all.json make-times "$data/nfs-make-times.csv"
[ "$(jq -c '[.benchmarks[0].points[].variant] | unique' all.json)" = '["v3-default","v3-rcu","v4-default","v4-rcu"]' ] ||
	fail "four series"

# the robot's reports of fsnotify, from the table of their figures
robot()
{
	printf '%s\n' '         %stddev     %change         %stddev' '             \          |                \  '
	awk -F, -v test="$1" '$1 == test {
		printf "%10s %-6s %10s %12s %-6s  %s\n", $3, $4 == "" ? "" : "±" sprintf("%3d%%", $4), $5,
			$6, $7 == "" ? "" : "±" sprintf("%3d%%", $7), $2 }' "$data/fsnotify-lkp.csv"
}
robot unixbench-pipe >pipe.txt
robot eventfd1 >eventfd.txt
for side in base patched; do
	import "pipe-$side.json" lkp --side $side --tasks 1 --param test=pipe pipe.txt
	import "eventfd-$side.json" lkp --side $side eventfd.txt
done
near "$(rate pipe-base.json 1)" "$(jq -n '1557 * 1244')" 1e-12 "score"
near "$(rate eventfd-base.json 192)" 3.369e8 1e-12 "processes"
kbench compare -f json pipe-base.json pipe-patched.json
near "$(json '.points[0].ratio')" 1.061 0.001 "score +6.1 %"
near "$(json '.points[0] | .patched.metrics["perf-stat.overall.path-length"] / .base.metrics["perf-stat.overall.path-length"]')" \
	0.924 0.001 "path length -7.6 %"
kbench compare -f json eventfd-base.json eventfd-patched.json
near "$(json '.points[0].ratio')" 1.116 0.001 "processes +11.6 %"
near "$(json '.points[0] | .patched.metrics["perf-stat.overall.path-length"] / .base.metrics["perf-stat.overall.path-length"]')" \
	0.873 0.001 "path length -12.7 %"
kbench compare -f lkp eventfd-base.json eventfd-patched.json
expect 0 "-f lkp"
has "$out" '^ *336900000 +\+11\.6% +375900000 +will-it-scale\.192\.ops_per_sec$'
has "$out" '^ *514472 +-12\.7% +448981 +will-it-scale\.192\.perf-stat\.overall\.path-length$'
# and what compare -f lkp prints is read in again
mv "$out" ours.txt
import again.json lkp --side patched ours.txt
near "$(rate again.json 192)" 375900000 1e-12 "-f lkp, read again"

# ---- our own -f classic ----

# A busy machine can leave a run without a valid result: then it is run again.
# classic FORMAT TO ARGUMENT...: both ways; ours.json and TO
classic()
{
	local format=$1 to=$2
	shift 2
	for _ in 1 2 3; do
		run timeout -k 1 90 "$KBENCH" -q -f classic -o ours.json "$@" --grace 30s
		[ "$status" = 0 ] && grep -qv '^#' "$out" && break
	done
	[ "$status" = 0 ] || { note "$*: no valid result: $(tail -n 1 "$err")"; return 1; }
	mv "$out" classic.txt
	kbench import "$format" classic.txt -o "$to"
	if [ "$status" != 0 ] && grep -q 'half of the threads' "$err"; then
		note "$*: threads did no op"
		return 1
	fi
	expect 0 "import of $*"
	kbench report "$to"
	expect 0 "report of $*"
}

# same_rates RELATIVE: the rates of both are the same to the digits that were printed
same_rates()
{
	jq -r '.benchmarks[].points[] | [.variant, .tasks, .rate, .elapsed_sec // 0] | @tsv' imported.json >got
	jq -r --argjson one "$(jq '[.benchmarks[].points[].variant] | unique | length == 1' ours.json)" \
		'.benchmarks[].points[] | select(.valid) |
		 [if $one then "" else .variant end, .tasks, .rate, .elapsed_sec // 0] | @tsv' ours.json >want
	awk -v rel="$1" -v what="$2" 'BEGIN { FS = "\t" } NR == FNR { want[$1, $2] = $(what); nr++; next }
		{ d = $(what) - want[$1, $2]; if (d < 0) d = -d
		  if (!(($1, $2) in want) || d > rel * want[$1, $2]) { print; bad = 1 } }
		END { exit bad || FNR != nr }' want got >bad || fail "$3: differs: $(cat bad) of $(cat want)"
}

for how in "--loops 300" "-d 30ms -w 1ms --window 5ms"; do
	# shellcheck disable=SC2086 # words are meant
	classic sysfs_benchmark imported.json kernfs lookup -t 1,2 -r 3 $how || continue
	sed -nE 's/^(single|concur): total ([0-9.]+)ms per ([0-9.]+)us.*/\2 \3/p' classic.txt | sort >want
	jq -r '.benchmarks[0].points[].repeats[0].given |
		[([.total_ms] | flatten), ([.us_per_op] | flatten)] | transpose[] | @tsv' imported.json |
		awk '{ printf "%.6f %.6f\n", $1, $2 }' | sort >got
	cmp -s want got || fail "kernfs lookup $how: $(diff want got | head -n 4)"
	case $how in
	--loops*)	json_is '.benchmarks[0].loops == 300' imported.json ;;
	*)		json_is '.benchmarks[0].loops == null' imported.json ;;
	esac
done
# one thread for a duration: ops / measured time, as the run has it
if classic sysfs_benchmark imported.json kernfs lookup -t 1 -r 1 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-5 3 "kernfs lookup -t 1"
fi
if classic locking-vfs imported.json locking vfs -t 1,2 -r 2 -d 30ms -w 1ms --window 5ms; then
	[ "$(jq -c '[.benchmarks[].points[].rate]' imported.json)" = \
		"$(jq -c '[.benchmarks[].points[] | select(.valid) | .rate | floor]' ours.json)" ] ||
		fail "locking vfs: $(cat classic.txt)"
fi
if classic will-it-scale imported.json fsnotify eventfd -t 1,2 -r 3 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-3 3 "fsnotify eventfd"
	json_is '.benchmarks[0] | .name == "fsnotify/eventfd" and .unit == "write+read" and
		.mode == "process" and ([.points[].repeats | length] | unique) == [3]' imported.json
	# each window of each repeat
	[ "$(jq '[.benchmarks[].points[].repeats[].given | .warmup + .measurement | length] | add' imported.json)" = \
		"$(grep -c '^min:' classic.txt)" ] || fail "fsnotify eventfd: windows"
fi
if classic will-it-scale imported.json fsnotify file -t 1,2 --marks none,inode -r 2 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-3 3 "fsnotify file, with variants"
fi
if classic unixbench imported.json fsnotify pipe -t 1,2 -r 2 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-5 3 "fsnotify pipe"
	json_is '.benchmarks[0].points[0].repeats[0].given | .baseline == 12440 and
		(.result / 1244 - .index | fabs) < 0.06' imported.json
	kbench import will-it-scale classic.txt -o imported.json
	expect 0 "fsnotify pipe, the lines of will-it-scale"
	same_rates 1e-3 3 "fsnotify pipe, the lines of will-it-scale"
fi
if classic make-times imported.json nfs negative-dentry --any-fs -t 1,2 --total 3000 -r 2; then
	grep '^[0-9]' classic.txt >want
	jq -r '.benchmarks[].points[] | [.tasks, .repeats[0].given.elapsed_sec] | @csv' imported.json |
		awk -F, '{ printf "%d,%.3f\n", $1, $2 }' >got
	cmp -s want got || fail "nfs negative-dentry: $(cat got)"
fi
run timeout 60 "$KBENCH" -q -f simple -o ours.json fsnotify file -t 1 --marks none,inode -r 2 -d 30ms
mv "$out" simple.txt
import imported.json perf-bench-simple simple.txt
jq -r '.benchmarks[].points[] | [.variant, .tasks, .rate, .ci95] | @tsv' imported.json |
	awk -F'\t' '$3 != "" { printf "%s %s %.3f\n", $2, $1, $3 }' >got
awk '$3 != "-" { print $1, $2, $3 }' simple.txt >want
cmp -s want got || fail "-f simple: $(diff want got)"

# ---- standard input and output, errors ----

"$KBENCH" import rates - <"$data/locking-vfs-aim7.csv" >piped.json 2>"$err" || fail "standard input"
json_is '.origin.file == null and .origin.format == "rates"' piped.json
"$KBENCH" import rates <"$data/locking-vfs-aim7.csv" | jq -e .complete >/dev/null || fail "no file"

# wrong MESSAGE ARGUMENT...: exit 1, the message, and nothing written
wrong()
{
	local message=$1
	shift
	echo old >keep.json
	kbench import "$@" -o keep.json
	expect 1 "import $*"
	has "$err" "$message" "import $*"
	[ "$(cat keep.json)" = old ] || fail "import $*: it wrote a file all the same"
	[ ! -s "$out" ] || fail "import $*: it wrote to standard output"
	[ -z "$(find . -name '.keep.json*')" ] || fail "import $*: a temporary file is left"
}
base=$data/kernfs-86cpu-files-base.txt
head -n 40 "$base" >short.txt
wrong '^perf-kbench import: short\.txt:40: "times: .* cut short' sysfs_benchmark short.txt
head -c 4000 "$base" >torn.txt
wrong 'torn\.txt:[0-9]+: the last line has no line feed' sysfs_benchmark torn.txt
sed 's/$/\r/' "$base" >dos.txt
wrong 'dos\.txt:1: the line ends as on DOS' sysfs_benchmark dos.txt
sed '3s/\./,/g' "$base" >comma.txt
wrong 'comma\.txt:3: .* is expected, there is "concur: total' sysfs_benchmark comma.txt
sed '3s/ms per/ms per -/' "$base" >negative.txt
wrong 'negative\.txt:3: ' sysfs_benchmark negative.txt
sed '3s/per [0-9.]*/per nan/' "$base" >nan.txt
wrong 'nan\.txt:3: ' sysfs_benchmark nan.txt
{ head -n 2 "$base"; printf 'concur: \0\n'; } >nul.txt
wrong 'nul\.txt:3: .*control character \(0x00\)' sysfs_benchmark nul.txt
wrong 'base\.txt:1: "N processes: throughput' locking-vfs "$base"
wrong 'base\.txt:1: "testcase:NAME"' will-it-scale "$base"
wrong 'base\.txt:[0-9]+: a table is expected' unixbench "$base"
wrong 'base\.txt: a line "%stddev %change %stddev"' lkp --side base "$base"
wrong 'base\.txt:1: "TASKS VARIANT' perf-bench-simple "$base"
wrong 'base\.txt:1: "jobs,NAME"' make-times "$base"
wrong 'base\.txt:1: "tasks,NAME"' rates "$base"
wrong 'pipe\.txt: a comparison has two sides' lkp pipe.txt
wrong 'must be known \(--param test=pipe\)' lkp --side base --tasks 1 pipe.txt
wrong 'nothing\.txt: No such file' rates nothing.txt
wrong '\.: Is a directory' rates .
: >empty.txt
wrong 'empty\.txt: is empty' rates empty.txt
truncate -s 100M huge.txt
wrong 'huge\.txt: at most 64 MiB' rates huge.txt
wrong '/dev/zero: at most 64 MiB' rates /dev/zero

# full devices
if [ -c /dev/full ]; then
	kbench import rates "$data/locking-vfs-aim7.csv" -o /dev/full
	expect 1 "/dev/full"
	has "$err" 'No space left'
fi
kbench import rates "$data/locking-vfs-aim7.csv" -o nowhere/x.json
expect 1 "no folder"

# usage REGEX ARGUMENT...
usage()
{
	local message=$1
	shift
	kbench import "$@"
	expect 2 "import $*"
	has "$err" "$message" "import $*"
}
usage 'no format is named'
usage 'there is no format "csv"' csv
usage 'one file at a time' rates a b
usage '\-\-series is of no use with lkp' lkp --series a x
usage '\-\-side is of no use with rates' rates --side base x
usage '\-\-row is of no use with rates' rates --row x x
usage '\-\-per is of no use with lkp' lkp --per 60 x
usage '\-\-side: base or patched' lkp --side left x
usage '\-\-param: NAME=VALUE' rates --param x x
usage '\-\-tasks' rates --tasks 0 x
usage '\-\-tasks' rates --tasks 65537 x
usage '\-\-name' rates --name "$(printf 'a\nb')" x
kbench import -h
expect 0 "import -h"
for format in sysfs_benchmark locking-vfs will-it-scale unixbench lkp perf-bench-simple make-times rates; do
	has "$out" "^ +$format " "help"
done
