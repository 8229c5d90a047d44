#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Passes: runs with an instrument come after the clean ones, leave them alone, and may be left out.
# The latency instrument, which needs nothing of the kernel, stands for all of them.
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"
need_cmd jq

brief=(-q -t 1 -d 50ms -w 10ms --window 10ms)

# ---- the clean runs are as they are without, the passes apart, and shorter ----
kbench -f json fsnotify eventfd "${brief[@]}" -r 5 --latency --contention
[ "$status" = 0 ] || [ "$status" = 1 ] || fail "exit status $status"
json_is '.benchmarks | length == 1'
json_is '.benchmarks[0] | has("instrument") == false and (.points[0].repeats | length == 5)'
json_is '.benchmarks[0].points[0] | has("figures") == false'
json_is '.passes | map(.instrument) == ["contention", "latency"]'
json_is '.passes[1] | .name == "fsnotify/eventfd" and .status == "ok" and .repeats == 3'
json_is '.passes[1].points[0] | (.repeats | length == 3) and (.figures.rows | length > 0)'
json_is '[.passes[1].points[0].figures.rows[].values[][]] | length % 3 == 0'
# each later than the one before
json_is '[.benchmarks[], .passes[] | .points[].repeats[].gate_ns] | . == sort'
cp "$out" file.json
kbench report file.json
expect 0
has "$out" '^fsnotify/eventfd, latency: a pass of its own, means of 3 repeats$'
has "$out" '^none, 1 task: [0-9]+ ops/s, [0-9.]+ % (\(\+-[0-9.]+\) )?of the clean rate$'

# fewer repeats than a pass has
kbench -f json fsnotify eventfd "${brief[@]}" -r 2 --latency
json_is '.passes[0].points[0].repeats | length == 2'
# none of what makes a run long goes on in a pass
kbench -f json fsnotify eventfd "${brief[@]}" -r 30 --precision 90 --max-time 1m --latency
json_is '.passes[0].points[0].repeats | length == 3'
json_is '.benchmarks[0].points[0].repeats | length >= 30'

# ---- in text ----
kbench fsnotify eventfd "${brief[@]}" -r 2 --latency --marks none,inode
expect 0
has "$out" '^# fsnotify/eventfd, latency: a pass of its own, means of 2 repeats$'
[ "$(grep -c "^# Running" "$out")" = 1 ] || fail "the pass has a heading of its own"
awk 'length > 78 { print; exit 1 }' "$out" || fail "a line is too long"
has "$out" '^none, 1 task: '
has "$out" '^inode, 1 task: '

# ---- several benchmarks: all clean runs, then all passes ----
kbench -f json fsnotify all "${brief[@]}" -r 1 --latency
json_is '.benchmarks | map(.name) == ["fsnotify/eventfd", "fsnotify/pipe", "fsnotify/file"]'
json_is '.passes | map(.name) == ["fsnotify/eventfd", "fsnotify/pipe", "fsnotify/file"]'

# ---- work of a fixed size is done to the last op in a pass, too ----
kbench -f json fsnotify eventfd -q -t 2 -r 2 -l 5000 --latency
json_is '.passes[0].points[0].repeats | length == 2 and all(.task_ops_all | min >= 5000)'
kbench -f json fsnotify eventfd -q -t 2 -r 2 --total 20001 --latency=1
json_is '.passes[0].points[0].repeats | length == 2 and all(.ops_all == 20001)'

# ---- formats that have no place for figures ----
for format in simple csv classic; do
	kbench -f $format fsnotify eventfd "${brief[@]}" --latency
	expect 2 "-f $format"
	has "$err" "-f $format does not show what instruments find"
	[ ! -s "$out" ] || fail "-f $format: something was printed"
	kbench -f $format -o o.json fsnotify eventfd "${brief[@]}" -r 1 --latency
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "-f $format -o: exit status $status"
	hasnt "$out" latency
	json_is '.passes | length == 1' o.json
done

# ---- options that do not go together ----
kbench fsnotify eventfd "${brief[@]}" --all-tasks
expect 2 "--all-tasks alone"
kbench fsnotify eventfd "${brief[@]}" --latency --all-tasks
expect 2
has "$err" "all-tasks goes with --contention"
kbench fsnotify eventfd "${brief[@]}" --latency --buffer-kb 4
expect 2
for value in 0 -1 '' abc 1x 1e99 ' 1' 18446744073709551616; do
	kbench fsnotify eventfd "${brief[@]}" --contention --buffer-kb "$value"
	expect 2 "--buffer-kb '$value'"
	has "$err" buffer-kb
	kbench fsnotify eventfd "${brief[@]}" --latency="$value"
	expect 2 "--latency='$value'"
	has "$err" latency
done
kbench fsnotify eventfd "${brief[@]}" --latency=0
expect 2
kbench fsnotify eventfd "${brief[@]}" --latency x
expect 2

# ---- where a clean run fails, there is no pass ----
kbench -f json locking vfs "${brief[@]}" --dir "$TMPDIR/nowhere" --latency
expect 1
if [ -s "$out" ]; then
	json_is '(.passes // []) | length == 0'
fi

# ---- an instrument that cannot look here is left out, with the reason ----
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid 2>/dev/null || echo 0)" -gt 1 ]; then
	run as_nobody -f json fsnotify eventfd "${brief[@]}" -r 1 --contention
	expect 0
	has "$err" 'skipped: contention: '
	json_is '.complete and .benchmarks[0].status == "ok"'
	json_is '.passes[0] | .status == "skipped" and (.message | length > 20)'
	cp "$out" skipped.json
	kbench report skipped.json
	expect 0
	has "$out" '^ +contention: '
fi

# ---- Ctrl-C in a pass: the clean results are kept ----
env --default-signal "$KBENCH" -o int.json fsnotify eventfd -q -t 1 -r 1 -d 3s --latency >text 2>"$err" &
pid=$!
clean_is_done()
{
	grep -qE '^ +1 +[0-9]+' text
}
within 20 clean_is_done || fail "the clean run did not end"
kill -INT $pid
wait $pid
status=$?
expect 130 "INT in a pass"
json_is '.complete == false and .benchmarks[0].status == "ok" and .benchmarks[0].points[0].rate > 0' int.json
json_is '(.passes // []) | all(.status == "interrupted")' int.json
within 5 none_running || fail "something is left running"
[ -z "$(leftovers . | grep -E 'perf-kbench\.|\.tmp$')" ] || fail "left over: $(leftovers .)"

# ---- compare sees the passes of both sides, and takes no rate of them ----
kbench -o a.json fsnotify eventfd "${brief[@]}" -r 3 --latency
kbench -o b.json fsnotify eventfd "${brief[@]}" -r 3 --latency
kbench compare -f json a.json b.json
expect 0
json_is '.points | length == 1'
json_is '.points[0].figures.latency.changes | map(.row) | index("p50") != null'
jq 'del(.passes)' a.json >c.json
kbench compare -f json c.json b.json
json_is '.points[0].figures == {}'
