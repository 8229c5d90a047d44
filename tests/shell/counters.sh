#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# --counters: what is counted is what was done; what cannot be counted has a reason in its place
. "$(dirname "$0")/lib.sh"

need_cmd jq

paranoid=/proc/sys/kernel/perf_event_paranoid
figures='.passes[0].points[].figures'
few=(-r 2 --window 10ms)
[ -r $paranoid ] || skip "this kernel has no perf events"
level=$(cat $paranoid)
may_count=true
[ "$(id -u)" = 0 ] || [ "$level" -le 1 ] || may_count=false

# row NAME: of the first point, as JSON
row()
{
	json "[$figures.rows[]] | map(select(.name == \"$1\"))[0]"
}

# counted NAME CONDITION WHAT: in each repeat of each point, of the value .
counted()
{
	json_is "[$figures.rows[] | select(.name == \"$1\")] | length > 0 and
		all(.reason == null and (.values[0] | length > 0 and all(. != null and ($2))))" ||
		fail "$3"
}

# missing NAME REGEX: in all points
missing()
{
	json_is "[$figures.rows[] | select(.name == \"$1\")] | length > 0 and
		all(.values == [] and (.reason | test(\"$2\")))"
}

# ---- names ----

# refused LIST REGEX
refused()
{
	run timeout 20 "$KBENCH" -f json locking vfs --counters "$1"
	expect 2 "$1"
	has "$err" "$2" "$1"
	[ ! -s "$out" ] || fail "$1: something was printed"
}

refused instrctions 'Error: --counters: there is no event "instrctions"; did you mean "instructions"\?'
refused cs,pagefaults 'did you mean "page-faults"\?'
refused cs,, '--counters: a name is empty'
refused cycles:x 'after the colon there may be u'
refused cs:u 'does not count this event apart'
if [ "$(id -u)" = 0 ]; then
	refused sched:sched_swich '--counters: .*sched_swich'
fi

# ---- the default, as it works here ----

run "$KBENCH" -f json locking vfs --op open -t 1,2 -d 100ms "${few[@]}" --counters
good "the default"
json_is ".passes | length == 1 and .[0].instrument == \"counters\" and .[0].status == \"ok\""
json_is "[$figures] | length == 2 and all(.columns == [{name: \"per op\", of_repeats: \"mean\", decimals: 3}])"
# each row has numbers, none of which is made up, or a reason
json_is "[$figures.rows[]] | all((.reason == null) == (.values | length > 0))"
for name in cycles instructions:k L1-dcache-load-misses page-faults; do
	[ "$(row $name)" != null ] || fail "no row $name"
done
cores=$(find /sys/bus/event_source/devices/ -mindepth 1 -maxdepth 1 -name cpu -o \
	-mindepth 1 -maxdepth 2 -name cpus 2>/dev/null | wc -l)
if [ "$cores" = 0 ]; then
	missing cycles "^no PMU: this machine has no hardware counters$"
	missing dTLB-load-misses "^no PMU: "
	json_is "[$figures.rows[] | select(.name | test(\"IPC\"))] == []"
elif $may_count; then
	note "there are hardware counters: $(row cycles | head -c 200)"
fi

# ---- errors of perf_event_open, each with the run none the worse ----

# with ERROR[:when=N] LIST ARGUMENT...
with()
{
	local error=$1 list=$2
	shift 2
	run inject "perf_event_open:$error" timeout -k 1 60 "$KBENCH" -f json locking vfs --op open \
		-t 1 -d 60ms "${few[@]}" "$@" --counters "$list"
	good "$error"
	json_is ".passes[0].points | all(.rate > 0)"
}

if (need_inject) >/dev/null; then
	list=cycles,L1-dcache-loads,r1c2,page-faults,cs
	with ENOENT $list
	missing page-faults "^this kernel has no such event$"
	missing cycles "^(no PMU: this machine has no hardware counters|this CPU has no such event)$"
	missing r1c2 "^(no PMU: |this CPU has no)"
	with EOPNOTSUPP $list
	missing cycles "^not supported by this CPU or hypervisor [(]Operation not supported[)]$"
	missing cs "^not supported by this kernel "
	with ENODEV $list
	missing L1-dcache-loads "^not supported by this CPU or hypervisor "
	for error in EACCES EPERM; do
		with $error $list
		if [ "$level" -gt 1 ]; then
			why="not permitted: kernel.perf_event_paranoid is $level; sysctl kernel.perf_event_paranoid=1 permits it"
		else
			why="not permitted [(].*[)], though kernel.perf_event_paranoid is $level: "
		fi
		missing cycles "^$why"
		missing cs "^$why"
	done
	with EMFILE $list
	missing cs "^too many open files: ulimit -n is [0-9]+; raise it$"
	with ENOSYS $list
	missing cs "^this kernel has no perf_event_open "
	with EINVAL $list
	missing cs "^perf_event_open: Invalid argument$"
	# of two tasks, on one only: then it is not counted at all; nor if that is so in one repeat
	with EMFILE:when=2 page-faults -t 2 -r 1
	missing page-faults "^too many open files"
	if $may_count; then
		with EMFILE:when=2 page-faults,cs -t 1 -r 1
		missing cs "^too many open files"
		counted page-faults ". >= 0" "beside one that is missing"
		with EMFILE:when=3+ page-faults -t 1 -r 3
		json_is "[$figures.rows[0]] | .[0].reason == null and
			(.[0].values[0] | length == 3 and .[0] != null and .[2] == null)"
	fi
	# in the table: all that are missing for one reason in one line
	run inject perf_event_open:ENOSYS "$KBENCH" locking vfs -t 1 -d 60ms "${few[@]}" --counters cs,cycles
	has "$out" "^  cs, cycles: this kernel has no perf_event_open"
else
	note "errors of perf_event_open were not tried: no strace, or it cannot trace here"
fi

# an ordinary user
if (need_user_switch) >/dev/null; then
	restore()
	{
		echo "$level" >$paranoid
	}
	trap restore EXIT
	for strict in 2 3; do
		if ! echo $strict 2>/dev/null >$paranoid; then
			note "kernel.perf_event_paranoid cannot be set"
			break
		fi
		run as_nobody -f json kernfs lookup -t 1 -d 60ms "${few[@]}" --counters cs,sched:sched_switch
		expect 0 "an ordinary user"
		missing cs "^not permitted: kernel.perf_event_paranoid is $strict; sysctl kernel.perf_event_paranoid=1 permits it"
		missing sched:sched_switch "Permission denied|not permitted"
	done
	echo 1 >$paranoid
	run as_nobody -f json kernfs lookup -t 1 -d 60ms "${few[@]}" --counters cs,page-faults:u
	expect 0 "an ordinary user who may"
	counted cs ". >= 0" "an ordinary user who may"
	restore
	trap - EXIT
fi

# ---- limits ----

run bash -c 'ulimit -Sn 64; ulimit -Hn 200; exec "$@"' - "$KBENCH" -f json locking vfs -t 64 \
	-d 60ms "${few[@]}" --counters cs,cycles,page-faults
good "few descriptors"
has "$err" "counters: 3 counters on 64 tasks need 25[0-9] file descriptors, have 200: raise the hard limit"
json_is '.passes[0].status == "skipped" and (.passes[0].message | test("need 25[0-9] file descr"))'

$may_count || exit 0

# ---- values ----

# the soft limit is raised
run bash -c 'ulimit -Sn 64; exec "$@"' - "$KBENCH" -f json locking vfs --op open -t 64 -r 1 \
	--loops 500 --counters cs,task-clock,page-faults
good "the soft limit"
counted cs ". >= 0" "the soft limit"

for mode in process thread; do
	# with more tasks than CPUs they are preempted; the harness has another count of that
	steady -f json locking vfs --op open -t 1,5 -r 2 --total 200000 --mode $mode \
		--counters task-clock,cs,page-faults || continue
	good "$mode"
	counted task-clock ". > 50" "$mode: ns of an op"
	counted page-faults ". < 0.01" "$mode"
	# not more than in all of the loop, and not fewer but for what is before the first sample, or
	# after the last one
	# shellcheck disable=SC2016 # jq's own
	json_is '.passes[0].points | all(. as $p | range(2) as $r | $p.repeats[$r] as $rep |
		($p.figures.rows[1].values[0][$r] * ([$rep.windows[][2]] | add)) as $cs |
		(($rep.task_nvcsw + $rep.task_nivcsw) | add) as $all |
		([$rep.windows[][2]] | add) as $seen |
		$cs <= $all + 2 * $p.tasks and
		($seen < 0.9 * $rep.ops or $cs >= 0.7 * $all - 10 * $p.tasks))'
done

# tracepoints: one open an op, two system calls
if [ "$(id -u)" = 0 ]; then
	run "$KBENCH" -f json locking vfs --op open -t 1,2 -r 2 --loops 20000 --mode thread \
		--counters syscalls:sys_enter_openat,raw_syscalls:sys_enter,syscalls:sys_enter_mkdir
	good "tracepoints"
	if [ "$(row syscalls:sys_enter_openat | jq -r .reason)" = null ]; then
		counted syscalls:sys_enter_openat ". > 0.99 and . < 1.01" "opens"
		counted raw_syscalls:sys_enter ". > 1.98 and . < 2.02" "system calls"
		counted syscalls:sys_enter_mkdir ". == 0" "none of these"
		json_is "[$figures] | all(.notes | index(\"counting tracepoints slows what it counts\"))"
	else
		note "no tracepoints: $(row syscalls:sys_enter_openat)"
	fi
	# nothing is left of it
	grep -qs "^1" /sys/kernel/tracing/events/syscalls/sys_enter_openat/enable &&
		fail "a tracepoint was left enabled"
fi

# variants have counts of their own
run "$KBENCH" -f json fsnotify pipe --marks none,inode -t 1 -d 100ms "${few[@]}" --counters task-clock,cs
good "variants"
json_is "[$figures] | length == 2 and all(.rows[0].name == \"task-clock\" and .rows[0].values[0][0] > 50)"
exit 0
