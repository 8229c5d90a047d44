#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What instruments have found, in report and compare: made-up passes with known numbers in them
. "$(dirname "$0")/lib.sh"
need_cmd jq
export XDG_STATE_HOME=$TMPDIR/state

# results FILE RATE FILTER: a results file of one point, with two passes that FILTER may change
results()
{
	# shellcheck disable=SC2016 # jq's variables
	jq -n --argjson rate "$2" '
	def repeat($i; $r):
		{gate_ns: (1000000000 * ($i + 1)), elapsed_ns: 500000000, ops: ($r / 2),
		 rate: $r, flags: [], task_ops: [($r / 2), 0, 0, 0, 0, 0, 0, 0],
		 windows: [[0, 500000000, ($r / 2), false]]};
	def point($r):
		{variant: "", tasks: 8, cpus: 8, rate: $r, ci95: null, elapsed_sec: null,
		 valid: true, flags: [], skip: null, notes: [], metrics: {},
		 repeats: [range(3) | repeat(.; $r)]};
	def bench($r; $repeats):
		{name: "locking/vfs", unit: "creat+close", parameters: {op: "creat"},
		 mode: "process", pin: "spread", cpus: [0, 1, 2, 3, 4, 5, 6, 7], dir: null,
		 duration_ns: 500000000, warmup_ns: 100000000, window_ns: 100000000, loops: null,
		 total: null, repeats: $repeats, points: [point($r)], status: "ok", message: null};
	def contention($name; $n; $wait; $max):
		{name: $name, reason: null, detail: ["down_write+0x10", ($name + "+0x20")],
		 values: [$n, $wait, $max]};
	{format: "perf-kbench-results", version: 1, command: ["perf-kbench", "locking", "vfs"],
	 environment: {perf_kbench: "0.1", clock_source: "tsc", boot_id: "a",
		       kernel: {release: "6.12.1", version: "#1"}, cpu: {online: "0-7"}},
	 benchmarks: [bench($rate; 3)],
	 passes: [
		(bench($rate / 2; 3) + {instrument: "contention"}
		| .points[0].figures = {lower_bound: false, notes: ["lost: none"],
			columns: [{name: "waits/op", of_repeats: "mean", decimals: 4},
				  {name: "wait ns/op", of_repeats: "mean", decimals: 1},
				  {name: "max us", of_repeats: "max", decimals: 1}],
			rows: [contention("rwsem:W path_openat"; [0.5, 0.5, 0.5];
					  [10000, 10100, 9900]; [100, 200, 300]),
			       contention("spinlock d_alloc"; [0.1, 0.1, 0.1]; [50, 50, 50];
					  [9, 9, 9])]}),
		(bench($rate; 3) + {instrument: "counters"}
		| .points[0].figures = {lower_bound: false, notes: [],
			columns: [{name: "per op", of_repeats: "mean", decimals: 3}],
			rows: [{name: "page-faults", reason: null, detail: [],
				values: [[1, 3, 2]]},
			       {name: "cycles", reason: "no PMU", detail: [], values: []},
			       {name: "instructions", reason: "no PMU", detail: [], values: []}]})],
	 complete: true}' | jq "${3:-.}" >"$1" || fail "making $1"
}

# row NAME REGEX: below the line with that name there is one that matches
row()
{
	grep -A2 "^    $1\$" "$out" | grep -qE "^      $2\$" || fail "no $2 of $1: $(cat "$out")"
}

results base 200000
# the wait has moved: little is left at the rwsem, a spinlock is new
results patched 400000 '
	.passes[0].points[0].figures.rows[0].values = [[0.1, 0.1, 0.1], [1000, 1100, 900],
						       [10, 20, 15]]
	| .passes[0].points[0].figures.rows[1].name = "spinlock lockref_get"
	| .passes[0].points[0].figures.lower_bound = true
	| .passes[1].points[0].figures.rows[0].values = [[2, 2, 2]]'

# ---- report ----
kbench report base
expect 0
has "$out" '^locking/vfs, contention: a pass of its own, means of 3 repeats$'
has "$out" '^8 tasks: 100000 ops/s, 50.0 % of the clean rate$'
# means of the repeats, but the largest maximum
has "$out" '^ *rwsem:W path_openat +0.5000 +10000.0 +300.0$'
has "$out" '^  lost: none$'
# as of rates: 1, 3, 2 are not alike from one to the next, so 2 +- t(2) * 1 / sqrt(3) = 2.484
has "$out" '^  page-faults +2.000 +124.2%$'
has "$out" '^  cycles, instructions: no PMU$'
hasnt "$out" 'down_write'
hasnt "$out" 'lower bounds'
awk 'length > 78 { print; exit 1 }' "$out" || fail "a line is too long"

kbench report -v base
expect 0
has "$out" '^ +down_write\+0x10$'
kbench report patched
has "$out" 'Not all was seen: the figures are lower bounds'
kbench report -f json base
expect 0
[ "$(jq -c '.files[0].passes[0].points[0] | .clean_rate, .figures.rows[0].values[1][2]' "$out" |
	tr '\n' ' ')" = "200000 9900 " ] || fail "JSON of the passes"

# ---- compare ----
kbench compare base patched
expect 0
has "$out" '^  contention of locking/vfs, 8 tasks, over repeats$'
# 10000 -> 1000, sd 100 each: -9000 +- t(4) * sqrt(2 * 100^2 / 3) = 226.7
row 'rwsem:W path_openat' 'wait ns/op +10000.0 +1000.0 +-90.0% -92.3 to -87.7%'
# what one side does not have was not waited for
row 'spinlock d_alloc' 'wait ns/op +50.0 +0.0 +-100.0% -100.0 to -100.0%'
row 'spinlock lockref_get' 'wait ns/op +0.0 +50.0 +\+50.0 50.0 to 50.0'
awk 'length > 78 { print; exit 1 }' "$out" || fail "a line is too long"
# 8 tasks at 100000 and 200000 ops/s: 80000 and 40000 ns an op
has "$out" "^    of an op's time, ns: waiting 10050 -> 1050, all else 69950 -> 38950$"
has "$out" '^    patched: not all was seen, the figures are lower bounds$'
has "$out" '^    page-faults +2.000 +2.000 +\+0.0% '
has "$out" '^    2 not known on either side$'
# what explains most comes first
[ "$(grep -n 'path_openat$' "$out" | cut -d: -f1)" -lt \
  "$(grep -n 'd_alloc$' "$out" | cut -d: -f1)" ] || fail "the order of rows"
kbench compare -f json base patched
expect 0
[ "$(jq -c '[.points[0].figures.contention.changes[] | select(.column == "max us")
	     | .base, .patched]' "$out")" = "[300,20,9,null,null,9]" ] || fail "maxima: $(cat "$out")"
kbench compare -f lkp base patched
expect 0
has "$out" '10000 +-90.0% +1000 +contention.rwsem:W.path_openat.wait.ns/op$'

# ---- what an op takes is of the repeats, as what it waits is: their rates may differ widely ----
results uneven 400000 '
	.passes[0].points[0] |= (.rate = 110000 | .repeats[0] |= (.rate = 20000 | .ops = 10000
		| .task_ops[0] = 10000 | .windows[0][2] = 10000)
		| .figures.rows = [.figures.rows[0]]
		| .figures.rows[0].values[1] = [400000, 40000, 40000])'
kbench compare base uneven
expect 0
# 8 tasks: 400000, 40000 and 40000 ns
has "$out" "waiting 10050 -> 160000, all else 69950 -> 0$"

# ---- several files a side: the intervals are over files ----
results base2 200000 '.benchmarks[0].points[0].repeats[].gate_ns += 7'
results patched2 400000 '.benchmarks[0].points[0].repeats[].gate_ns += 7
	| .passes[0].points[0].figures.rows[0].values[1] = [2000, 2000, 2000]'
kbench compare base base2 -- patched patched2
expect 0
has "$out" 'contention of locking/vfs, 8 tasks, over files$'
# 10000, 10000 -> 1000, 2000: -8500 +- t(1) * 500 = 6353; no less than nothing can be left
row 'rwsem:W path_openat' 'wait ns/op +10000.0 +1500.0 +-85.0% -100.0 to -21.5%'

# ---- where nothing is known, it is not 0 that was waited ----
results failed 400000 '.passes[0].points[0].figures.rows =
	[{name: "all locks", reason: "enabling perf events", detail: [], values: []}]'
kbench compare base failed
expect 0
row 'rwsem:W path_openat' 'wait ns/op +10000.0 +- +- '
hasnt "$out" "of an op's time"
# a repeat that is not known is none in which nothing was waited: (100 + 300) / 2
results third 400000 '.passes[0].points[0].figures.rows =
	[.passes[0].points[0].figures.rows[1] | .values = [[1, null, 1], [100, null, 300], [1, null, 1]]]'
kbench compare -f json base third
expect 0
[ "$(jq -c '[.points[0].figures.contention.changes[] | select(.column == "wait ns/op")
	     | .row, .base, .patched]' "$out")" = \
  '["rwsem:W path_openat",10000,0,"spinlock d_alloc",50,200]' ] || fail "third: $(cat "$out")"
# a pass that has ended before its first repeat did
results cut 200000 '.benchmarks[0].points[0].repeats[].gate_ns += 7
	| .passes[0].points[0] |= (.repeats = [] | .rate = null | .valid = false | .figures.rows = [])'
kbench compare base cut -- patched patched2
expect 0
row 'rwsem:W path_openat' 'wait ns/op +10000.0 +1500.0 +-85.0% '
kbench report cut
expect 0
has "$out" '^  no repeat has ended$'
hasnt "$out" 'nothing was seen'

# ---- the waits of all tasks are others than ours ----
results everyone 400000 '.passes[0].points[0].figures.notes = ["waits of all tasks of the machine"]'
kbench compare base everyone
expect 0
has "$out" '^    not compared: of all tasks of the machine \(--all-tasks\), and of ours only$'
hasnt "$out" 'path_openat'
has "$out" '^    page-faults '
kbench compare -f json base everyone
expect 0
[ "$(jq -c '.points[0].figures.contention | .all_tasks_differ, .changes' "$out" | tr '\n' ' ')" = \
  "true [] " ] || fail "of all tasks: $(cat "$out")"
kbench compare everyone everyone
expect 0
row 'rwsem:W path_openat' 'wait ns/op +10000.0 +10000.0 +\+0.0% .*'
has "$out" '^    waits of all tasks of the machine$'
hasnt "$out" "of an op's time"	# but of that of others, too

# ---- a side without a pass ----
results clean 200000 'del(.passes)'
kbench compare clean patched
expect 0
hasnt "$out" 'contention of'
kbench report clean
expect 0
hasnt "$out" 'pass of its own'

# ---- wrong files ----
results wrong 200000 '.passes[0].points[0].figures.rows[0].values[0] = [1]'
kbench report wrong
expect 1
has "$err" 'passes\[0\].points\[0\].figures.rows\[0\]: values of 3 repeats are expected'
