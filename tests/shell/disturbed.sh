#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# disturbed.sh: what disturbs a run from outside is said beside its number, or takes it away
#
# One task stopped, another program on its CPU, the parent alone stopped, all frozen by a cgroup,
# a quota, the private directory removed. None of these may leave a plain number.

. "$(dirname "$0")/lib.sh"

point='.benchmarks[0].points[0]'

# begin ARGUMENT...: start a run of which tasks are running when this returns; sets $pid
begin()
{
	"$KBENCH" -f json "$@" >"$out" 2>"$err" &
	pid=$!
	within 5 has_task || fail "no task of: $*"
	sleep 0.35
}

has_task()
{
	pgrep -P "$pid" -f fsnotify >/dev/null || pgrep -P "$pid" >/dev/null
}

finish()
{
	wait "$pid"
	status=$?
}

flagged()
{
	json_is "$point.flags | index(\"$1\") != null"
}

# One task of two stands still for some windows: said.
need_cpus 2
begin fsnotify eventfd -t 2 -d 1s --window 50ms -r 1
task=$(pgrep -P "$pid" | head -n 1)
kill -STOP "$task"
sleep 0.4
kill -CONT "$task"
finish
expect 0 "a task stopped"
flagged stalled

# Only the parent stands still, the tasks work on: that window is dropped, the rest is right.
begin fsnotify eventfd -t 1 -d 600ms --window 50ms -r 1
kill -STOP "$pid"
sleep 0.4
kill -CONT "$pid"
finish
expect 0 "the parent stopped"
flagged suspended
json_is "$point.repeats[0] | .elapsed_ns < 1000000000 and ([.windows[] | select(.[3])] | length >= 1)"

# ... and of --total the time cannot be told.
begin fsnotify eventfd -t 1 --total 3000000 -r 1 -d 20s
kill -STOP "$pid"
sleep 0.3
kill -CONT "$pid"
finish
expect 1 "the parent stopped, --total"
flagged stopped-total

# Another program has half of the CPU.
cpu=$(json '.benchmarks[0].cpus[0]')
taskset -c "$cpu" timeout 20 sh -c 'while :; do :; done' &
hog=$!
kbench -f json fsnotify eventfd -C "$cpu" -t 1 -d 500ms -r 1
kill "$hog" 2>/dev/null
pkill -P "$hog" 2>/dev/null
expect 0 "a CPU hog"
flagged preempted

# The directory is removed under the tasks: ENOENT is no success then.
mkdir nn
begin nfs negative-dentry --any-fs --dir nn -t 1 -d 500ms -r 1
rm -rf nn/perf-kbench.*/run
finish
expect 1 "directory removed"
has "$err" "private directory .* No such file" "directory removed"
json_is "$point.rate == null"
[ -z "$(leftovers nn)" ] || fail "left in the directory: $(leftovers nn)"

# The keeper of the directory is killed: said at once, and the next run removes what is left.
begin nfs negative-dentry --any-fs --dir nn -t 2 -d 20s -r 1
keeper=$(ps -o pid=,pgid= --ppid "$pid" | awk '$1 == $2 { print $1 }')
[ -n "$keeper" ] || fail "no keeper found"
kill -KILL "$keeper"
finish
expect 1 "keeper killed"
has "$err" "the keeper of .* was killed" "keeper killed"
json_is "$point.rate == null"
[ -n "$(leftovers nn)" ] || fail "the directory of a killed keeper is gone"
kbench -f json nfs negative-dentry --any-fs --dir nn -t 1 -d 100ms -r 1
[ -z "$(leftovers nn)" ] || fail "left after the next run: $(leftovers nn)"

# All frozen: nobody sends a signal, but the window is out.
freezer=/sys/fs/cgroup/freezer/kbench-test.$$
if [ "$(id -u)" = 0 ] && mkdir "$freezer" 2>/dev/null; then
	trap 'echo THAWED >"$freezer/freezer.state"; sleep 0.2; rmdir "$freezer"' EXIT
	begin fsnotify eventfd -t 1 -d 1s --window 50ms -r 1
	for task in $pid $(pgrep -P "$pid"); do
		echo "$task" >"$freezer/cgroup.procs"
	done
	echo FROZEN >"$freezer/freezer.state"
	sleep 0.5
	echo THAWED >"$freezer/freezer.state"
	finish
	expect 0 "frozen"
	flagged suspended
	json_is "$point.repeats[0].elapsed_ns < 1300000000"
else
	note "no freezer cgroup: that was not tried"
fi
