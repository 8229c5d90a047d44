#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# ab and noise: runs below a command, their order, and what becomes of them
. "$(dirname "$0")/lib.sh"
need_cmd jq
export XDG_STATE_HOME=$TMPDIR/state TMPDIR
short="-t 1 -r 1 -d 20ms -w 0ms --window 10ms"

# ---- the order is A B B A, and both are what they are called ----
kbench ab -q -n 2 -f json "echo A >>order; '$KBENCH' fsnotify eventfd $short" \
	"echo B >>order; '$KBENCH' fsnotify eventfd $short"
expect 0
[ "$(tr -d '\n' <order)" = ABBAABBA ] || fail "the order is $(tr -d '\n' <order)"
json_is '.points | length == 1'
json_is '.points[0] | .noise_from == "paired" and .df == 1 and .base.files == 4'

# ---- a difference that is there: 3 system calls where there was 1 ----
kbench ab -q -n 4 "'$KBENCH' locking vfs --op stat $short" "'$KBENCH' locking vfs --op unlink $short"
expect 0
has "$out" "slower, [0-9.]+ times as slow"
has "$out" "op: stat in A, run 1, unlink in B, run 1"
has "$out" '^A  '
has "$out" "\(8 runs\)"
[ "$(wc -L <"$out")" -le 78 ] || [ ${#KBENCH} -gt 40 ] || fail "over 78 columns"

# ---- what has too few whole blocks says nothing of how sure it is ----
"$KBENCH" -q -f simple -o sample.json fsnotify eventfd -t 1 -r 2 -d 20ms -w 0ms --window 10ms >/dev/null
made() # FACTOR NR: what a run of ours could have written, of a rate that is FACTOR times
{
	# shellcheck disable=SC2016 # jq's variables
	jq --argjson f "$1" --argjson n "$2" '.benchmarks[0].points[0].repeats[] |= (.gate_ns += $n
		| .ops = (200000 * $f | floor)
		| .elapsed_ns = 1000000000 | .rate = .ops | .task_ops = [.ops] | .task_ops_all = [.ops]
		| .ops_all = .ops | .windows = [[0, 1000000000, .ops, false]] | .window_ops = [[.ops]])
		| .benchmarks[0].points[0] |= (.rate = 1 | .valid = true | .flags = [])' sample.json
}
jq '.benchmarks[0].points[0] |= (.valid = false | .flags = ["throttled"])' sample.json >made.bad
# turn NAME FACTOR...: a command that hands out one after another, each a run of its own; or "bad"
turn()
{
	local name=$1 f n=0
	shift
	: >"$name.list"
	for f; do
		n=$((n + 1))
		[ "$f" = bad ] && cp made.bad "made.$name$n" || made "$f" $n >"made.$name$n"
		echo "made.$name$n" >>"$name.list"
	done
	echo "cp \$(head -n 1 $name.list) \$PERF_KBENCH_OUTPUT && sed -i 1d $name.list"
}
kbench ab -q -f json -n 2 "$(turn a 1 1.01 1 bad)" \
	"$(turn b 1.05 1.06 1.05 1.06)"
expect 0
json_is '.points[0] | .verdict == "too little data" and .p == null and .ratio_ci95 == [null, null]
	 and (.why | test("one block"))'
kbench ab -q -f json -n 2 "$(turn a bad 1 bad 1)" \
	"$(turn b 1.05 1.06 1.05 1.06)"
json_is '.points[0] | .verdict == "too little data" and .p == null and (.why | test("no whole block"))'
kbench ab -q -f json -n 3 "$(turn a 1 1 1.01 1 1 1)" \
	"$(turn b 1.05 1.05 1.05 1.06 1.05 1.05)"
json_is '.points[0] | .verdict == "faster" and .noise_from == "paired" and .df == 2 and
	 .ratio > 1.045 and .ratio < 1.055'

# one run of many that was disturbed costs its block, not all; one that failed ends it
kbench ab -q -f json -n 3 "$(turn a 1 1 1.01 bad 1.002 1); [ \$(wc -l <a.list) != 2 ] || exit 1" \
	"$(turn b 1.05 1.05 1.05 1.06 1.05 1.05)"
expect 0
json_is '.points[0] | .noise_from == "paired" and .df == 1 and .ratio > 1.045 and .ratio < 1.055'
kbench ab -q -n 2 "$(turn a 1 1 1.01 1); exit 1" "$(turn b 1.05 1.05 1.05 1.05)"
expect 0
jq '.benchmarks[0].points[0] |= (.valid = false | .flags = ["error"])' sample.json >made.error
kbench ab -q -n 2 "cp made.error \$PERF_KBENCH_OUTPUT; exit 1" true
expect 1
has "$err" "exited with 1"

# ---- --gate ----
kbench ab -q -n 4 --gate 5 "'$KBENCH' locking vfs --op stat $short" \
	"'$KBENCH' locking vfs --op unlink $short"
expect 1

# ---- commands that fail: their words, the command, the status ----
kbench ab -q -n 2 "'$KBENCH' fsnotify eventfd $short" "echo too bad >&2; exit 7"
expect 1
has "$err" "^too bad"
has "$err" "'echo too bad >&2; exit 7' exited with 7"
kbench ab -q -n 2 true true
expect 1
has "$err" "'true' has run no benchmark of perf-kbench without -o"
kbench ab -q -n 2 'kill -9 $$' true
expect 1
has "$err" "was ended by signal 9"
kbench ab -q true
expect 2
kbench ab -q -n 1 true true
expect 2
kbench ab -q -f xml true true
expect 2

# ---- interrupted: the run below ends, nothing stays ----
"$KBENCH" ab -q -n 2 "'$KBENCH' fsnotify eventfd -t 1 -d 60s" true >"$out" 2>"$err" &
pid=$!
for _ in $(seq 100); do
	[ "$(running)" -ge 3 ] && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
status=$?
expect 130
has "$err" "interrupted by signal 15"
for _ in $(seq 50); do
	[ "$(running)" = 0 ] && break
	sleep 0.1
done
[ "$(running)" = 0 ] || fail "tasks are left: $(pgrep -af perf-kbench)"
[ -z "$(find "$TMPDIR" -maxdepth 1 -name 'perf-kbench*' -type d)" ] || fail "a folder is left"

# A hang-up ends it, too, but not one that nohup has had ignored. The shell's parent is ab.
hang_up="kill -HUP \$PPID; '$KBENCH' fsnotify eventfd $short"
kbench ab -q -n 2 "$hang_up" true
expect 130 "a hang-up"
run nohup "$KBENCH" ab -q -n 2 -f json "$hang_up" "$hang_up"
expect 0 "a hang-up below nohup"
json_is '.points[0] | .base.files == 4'

# ---- noise ----
# shellcheck disable=SC2086 # words are meant
kbench noise -q -n 3 fsnotify eventfd $short -r 2
expect 0
has "$out" "^fsnotify/eventfd none +1 +[0-9]+ +[0-9.]+% +[0-9.]+%"
floors=$XDG_STATE_HOME/perf-kbench/noise.json
json_is '.format == "perf-kbench-noise" and .version == 1 and (.floors | length == 1)' "$floors"
json_is '.floors[0] | .df == 2 and .sd >= 0 and .tasks == 1 and .benchmark == "fsnotify/eventfd"' \
	"$floors"
# again: in its place, and others beside it
# shellcheck disable=SC2086 # words are meant
kbench noise -q -n 4 fsnotify eventfd $short -r 2
# shellcheck disable=SC2086 # words are meant
kbench noise -q -n 3 fsnotify pipe $short -r 2
json_is '[.floors[] | [.benchmark, .df]] == [["fsnotify/eventfd", 3], ["fsnotify/pipe", 2]]' "$floors"
# compare takes it
# shellcheck disable=SC2086 # words are meant
kbench -o a.json fsnotify eventfd $short -r 2
kbench compare -f json a.json a.json
json_is '.points[0] | .noise_from == "floor" and .df > 0 and .base.files == 1'
kbench noise -q -n 3 fsnotify nothing
expect 1
has "$err" "Unknown benchmark"
kbench noise -q -n 2
expect 2
# what would be in the way at the end is said at the beginning
echo x >strange.json
for file in strange.json . nofolder/; do
	kbench noise -q -n 1000 -o "$file" fsnotify eventfd -d 10s
	expect 1 "noise -o $file"
done
# a failure with --gate is no regression
kbench ab -q -n 2 --gate 5 true true
expect 125
# shellcheck disable=SC2086 # words are meant
kbench noise -q -n 3 -o /dev/full fsnotify eventfd $short -r 2
expect 1
has "$err" "/dev/full: No space left"

# ---- PERF_KBENCH_OUTPUT alone, and -o before it ----
# shellcheck disable=SC2086 # words are meant
PERF_KBENCH_OUTPUT=env.json kbench -o own.json fsnotify eventfd $short
[ -e own.json ] && [ ! -e env.json ] || fail "-o does not go before PERF_KBENCH_OUTPUT"
# shellcheck disable=SC2086 # words are meant
PERF_KBENCH_OUTPUT=env.json kbench fsnotify eventfd $short
json_is '.complete' env.json
