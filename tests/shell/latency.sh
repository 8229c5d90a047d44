#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# --latency: the table of latencies, how many ops are timed, and that all ops are done all the same
. "$(dirname "$0")/lib.sh"

need_cmd jq

figures='.passes[0].points[].figures'

# ---- all benchmarks, of a fixed time ----

for name in "${benches[@]}"; do
	bench_again "-f json" "$name" -t 1,2 -r 2 -d 100ms -w 20ms --window 10ms --latency
	good "$name"
	json_is ".passes | length == 1 and .[0].instrument == \"latency\" and .[0].status == \"ok\""
	json_is "[$figures] | length == 2 and
		all([.columns[] | .name] == [\"us\", \"above\"] and
		    [.rows[].name] == [\"p50\", \"p90\", \"p99\", \"p99.9\", \"p99.99\", \"max\", \"mean\"])"
	# what is known grows with the percentile, and has samples behind it
	# shellcheck disable=SC2016 # jq's own
	json_is "[$figures]"' | all([.rows[:6][] | select(.reason == null)] |
		length >= 2 and .[0].name == "p50" and
		all(range(2) as $r | [.[].values[0][$r] | values]; . == sort and .[0] > 0) and
		all(.[:-1][]; .values[1] | all(. == null or . >= 10)) and
		(.[-1].values[1] | all(. == null or . == 0)))'
	json_is "[$figures.rows[] | select(.reason)] | all(.values == [] and
		(.reason | test(\"^needs (20|100|1000|10000|100000) samples a repeat, there are [0-9]+$\")))"
	json_is "[$figures.notes] | all(any(test(\"^one op in [0-9]+( to [0-9]+)? was timed, at random distances; a sample takes [0-9]+ ns, all of them [0-9.]+ % of the ops' time$\")) and
		any(test(\"^not subtracted: timing adds [0-9.]+ us to each, of which reading the clock is [0-9.]+ us$\")))"
done

# ---- work of a fixed size is that, and each op of it is timed once if that is asked for ----

for mode in process thread; do
	for every in 1 7; do
		if steady -f json locking vfs --op open --mode $mode -t 1,3 -r 2 --total 20011 \
			--latency $every; then
			good "--total, $mode"
			json_is ".passes[0].points | all(.repeats |
				all(.ops == 20011 and .ops_all == 20011))"
			json_is "[$figures.notes] | all(any(test(\"^one op in $every was timed\")))"
			# half of the samples are above the median, and there are no more than ops
			# shellcheck disable=SC2016 # jq's own
			json_is '.passes[0].points | all(. as $p | range(2) as $r |
				($p.figures.rows[0].values[1][$r] // 0) <= 20011 / 2 + 1)'
		fi
		kbench -f json kernfs lookup --mode $mode -t 1,2 -r 1 --loops 5003 --latency $every
		good "--loops, $mode"
		json_is ".passes[0].points | all(.repeats | all(.task_ops_all | all(. >= 5003)))"
	done
done

# ---- the table ----

kbench locking vfs --op open -t 1 -r 1 -d 100ms -w 20ms --window 10ms --latency
has "$out" "^# locking/vfs, latency: a pass of its own, means of 1 repeat$"
has "$out" "^ +us +above$"
has "$out" "^  p50 +[0-9]+[.][0-9]{3} +[0-9]+$"
has "$out" "^  max +[0-9]+[.][0-9]{3} +0$"
has "$out" "^  mean +[0-9]+[.][0-9]{3} +-$"

# ---- variants, and a toggle ----

bench_again "-f json" "fsnotify pipe" --marks none,inode -t 1 -r 2 -d 100ms -w 20ms --window 10ms --latency
good "variants"
json_is "[$figures] | length == 2 and all(.rows[0] | .name == \"p50\" and .reason == null)"
bench_again "-f json" "kernfs lookup" -t 1 -r 2 -d 100ms -w 20ms --window 10ms --toggle true,true --latency 3
good "a toggle"
json_is "[$figures] | length == 2 and all(.rows[0] | .name == \"p50\" and .reason == null)"

# ---- what does not go ----

for n in 0 -1 "" x 1.5 1e3 99999999999999999999; do
	run timeout 20 "$KBENCH" locking vfs "--latency=$n"
	expect 2 "--latency=$n"
	has "$err" "latency" "--latency=$n"
	[ ! -s "$out" ] || fail "--latency=$n: something was printed"
done
# so few that there is none
if steady -f json locking vfs --op open -t 1 -r 1 --total 2000 --latency 9007199254740992; then
	good "none"
	json_is "[$figures.rows[]] | length == 7 and all(.reason == \"no op was timed\")"
fi
if steady -f json locking vfs -t 1 -r 1 -d 100s --window 1ms --total 3000 --latency; then
	good "with --total no window waits"
fi

# a signal
env --default-signal "$KBENCH" -f json locking vfs -t 2 -d 300ms -r 1 --latency >"$out" 2>"$err" &
pid=$!
sleep 1
kill -INT $pid
wait $pid
within 5 none_running || fail "tasks are left"
exit 0
