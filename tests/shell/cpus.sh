#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# CPUs: the affinity mask, --cpus, --pin, those that are offline or go while we run
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
point="$run.points[0]"
sys=/sys/devices/system/cpu

# The affinity mask of this shell, as a list of numbers and as "0,1".
mapfile -t mask < <(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status | tr , '\n' |
	while IFS=- read -r from to; do seq "$from" "${to:-$from}"; done)
all=$(IFS=,; echo "${mask[*]}")
first=${mask[0]} last=${mask[-1]}

# By number, not by time, so that a busy machine cannot make them invalid; over 1 ms on any.
brief=(-r 1 -l 20000)

# bench ARGUMENT...: a short run as JSON, of tasks that need no file
bench()
{
	kbench -f json fsnotify eventfd "${brief[@]}" "$@"
}

# worked [WHAT]: it did, and had nothing to complain of
worked()
{
	expect 0 "${1:-}"
	[ ! -s "$err" ] || fail "${1:+$1: }something on standard error"
	json_is "$run.points | length > 0 and all(.valid and .rate > 0)"
}

# ---- the default: those of the mask, as many tasks as there are (A3) ----

bench
worked "no -t"
json_is "$run.task_counts == ([1, ${#mask[@]}] | unique) and ($run.cpus | sort) == [$all]"
json_is "$run.points[-1] | .tasks == ${#mask[@]} and .cpus == ${#mask[@]}"

need_cmd taskset util-linux
for cpu in $first $last; do
	run taskset -c "$cpu" "$KBENCH" -f json fsnotify eventfd "${brief[@]}"
	worked "taskset -c $cpu"
	json_is "$run | .task_counts == [1] and .cpus == [$cpu]"
	json_is "$point | .tasks == 1 and .repeats[0].task_cpu == [$cpu]"
done
for mode in process thread; do
	for what in "-t max" "-t 1,max" "-t 1-max" "-t max,1,1-max:5"; do
		# shellcheck disable=SC2086 # words are meant
		run taskset -c "$last" "$KBENCH" -f json fsnotify eventfd "${brief[@]}" \
			--mode $mode $what
		worked "taskset -c $last, --mode $mode $what"
		json_is "$run.task_counts == [1] and $point.repeats[0].task_cpu == [$last]"
	done
done

# ---- an outer taskset stands (A10), whatever is asked for ----

for mode in process thread; do
	for pin in spread compact core none; do
		run taskset -c "$last" "$KBENCH" -f json fsnotify eventfd "${brief[@]}" -t 2 \
			--mode $mode --pin $pin
		worked "two tasks on one CPU, --mode $mode --pin $pin"
		json_is "$point | .repeats[0].task_cpu == [$last, $last] and .cpus == 1 and
			(.flags | index(\"oversubscribed\") != null)"
	done
done
if [ ${#mask[@]} -gt 1 ]; then
	run taskset -c "$last" "$KBENCH" -f json fsnotify eventfd -C "$first" -t 1
	expect 2 "--cpus outside of the mask"
	has "$err" "--cpus: CPU $first is not in our affinity mask"
	[ ! -s "$out" ] || fail "--cpus outside of the mask: something was printed"
	run taskset -c "$last" "$KBENCH" -f json fsnotify eventfd -C "$all" -t 1
	expect 2 "--cpus larger than the mask"
	bench -t ${#mask[@]}
	worked
	hasnt "$out" oversubscribed
fi
bench -t $((${#mask[@]} + 1))
worked
json_is "$point.flags | index(\"oversubscribed\") != null"

# ---- --cpus: lists (A12), order, duplicates; both modes ----

absent=1500
while [ -e $sys/cpu$absent ]; do
	absent=$((absent + 1))
done
while IFS='|' read -r list text; do
	bench -C "$list"
	expect 2 "--cpus '$list'"
	has "$err" "^fsnotify/eventfd: --cpus: .*$text" "--cpus '$list'"
	[ ! -s "$out" ] || fail "--cpus '$list': something was printed"
done <<-END
	|a number is missing at ""
	,|a number is missing at ","
	1-0|the range "1-0" runs backwards
	0-|a number is missing at ""
	-|a number is missing at "-"
	-1|a number is missing at "-1"
	0--1|a number is missing at "-1"
	0,|a number is missing at ""
	,0|a number is missing at ",0"
	0,,0|a number is missing at ",0"
	0-4294967295|4294967295 is more than 1048575
	4294967295|4294967295 is more than 1048575
	4294967296|4294967296 is more than 1048575
	2147483648,0|2147483648 is more than 1048575
	9223372036854775808|9223372036854775808 is more than 1048575
	18446744073709551616|18446744073709551616 is more than 1048575
	1048576|1048576 is more than 1048575
	1048575|CPU 1048575 is not present
	0-0:0|0 is less than 1
	0-0:|a number is missing at ""
	0:1|"0:1" is not understood
	 0|a number is missing at " 0"
	0 |"0 " is not understood
	0;0|"0;0" is not understood
	0x0|"0x0" is not understood
	0.0|"0.0" is not understood
	all|a number is missing at "all"
	max|a number is missing at "max"
	$absent|CPU $absent is not present
	$first,$absent|CPU $absent is not present
	$first-$absent|CPU [0-9]* is (not present|offline|not in our affinity mask)
END
for list in "$first" "$first,$first" "$first-$first" "$first,$first-$first,0$first" \
	    "$first-$first:7" "$(yes "$first" | head -n 50 | paste -s -d ,)"; do
	for mode in process thread; do
		bench -C "$list" --mode $mode -t 2
		worked "--cpus $list, --mode $mode"
		json_is "$run.cpus == [$first] and $point.repeats[0].task_cpu == [$first, $first]"
	done
done
bench -C "$last" -t max
worked
json_is "$run.task_counts == [1] and $point.repeats[0].task_cpu == [$last]"
if [ ${#mask[@]} -gt 1 ]; then
	for list in "$all" "$last,$all" "$(printf '%s\n' "${mask[@]}" | tac | xargs | tr ' ' ,)"; do
		for mode in process thread; do
			bench -C "$list" --mode $mode -t max
			worked "--cpus $list, --mode $mode"
			json_is "($run.cpus | sort) == [$all]"
			json_is "$point.repeats[0].task_cpu == $run.cpus"
		done
	done
else
	note "several CPUs were not tried: there is one"
fi

# ---- --pin: task n is on the nth of the plan's CPUs, and "none" is in the mask ----

for mode in process thread; do
	for pin in spread compact core; do
		bench --pin $pin --mode $mode -t $((2 * ${#mask[@]}))
		worked "--pin $pin, --mode $mode"
		json_is "$run.pin == \"$pin\" and $run.mode == \"$mode\""
		json_is "$run.cpus as \$c | $point.repeats[0].task_cpu |
			to_entries | all(.value == \$c[.key % (\$c | length)])"
		[ $pin = core ] || json_is "($run.cpus | sort) == [$all]"
	done
	bench --pin none --mode $mode -t 3
	worked "--pin none"
	json_is "$point.repeats[0].task_cpu | length == 3 and (. - [$all]) == []"
done
for bad in "" spred SPREAD "spread " spread,core 0; do
	bench --pin "$bad"
	expect 2 "--pin '$bad'"
	has "$err" "--pin: \"$bad\" is not spread, compact, core or none"
done
for bad in "" threads THREAD process,thread; do
	bench --mode "$bad"
	expect 2 "--mode '$bad'"
	has "$err" "--mode: \"$bad\" is neither process nor thread"
done

# ---- other machines: the mask is made up by a library, the topology by files ----

# $FAKE_CPUS are those of the mask, and as far as can be seen where we run; the kernel has room
# for $FAKE_SIZE.
cat >fake.c <<'END'
#define _GNU_SOURCE
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

static __thread int here = -1;

int sched_getaffinity(pid_t pid, size_t size, cpu_set_t *mask)
{
	const char *p = getenv("FAKE_CPUS");

	if (size * 8 < (size_t)atoi(getenv("FAKE_SIZE"))) {
		errno = EINVAL;
		return -1;
	}
	memset(mask, 0, size);
	for (; p; p = strchr(p, ',')) {
		p += *p == ',';
		CPU_SET_S(atoi(p), size, mask);
	}
	return 0;
}

int sched_setaffinity(pid_t pid, size_t size, const cpu_set_t *mask)
{
	for (here = 0; !CPU_ISSET_S(here, size, mask); here++)
		;
	return 0;
}

int sched_getcpu(void)
{
	return here;
}
END

# topology CPU:PACKAGE:CORE...
topology()
{
	local cpu pkg core list=''
	rm -rf cpu
	for cpu; do
		IFS=: read -r cpu pkg core <<<"$cpu"
		mkdir -p "cpu/cpu$cpu/topology"
		echo "$pkg" >"cpu/cpu$cpu/topology/physical_package_id"
		echo "$core" >"cpu/cpu$cpu/topology/core_id"
		list=${list:+$list,}$cpu
	done
	echo "$list" >cpu/online
}

# machine MASK ARGUMENT...: a run on a machine of these CPUs
machine()
{
	local cpus=$1
	shift
	# shellcheck disable=SC2016 # for the inner shell
	run unshare --mount sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - \
		"$TMPDIR/cpu" $sys env LD_PRELOAD="$TMPDIR/fake.so" FAKE_CPUS="$cpus" \
		FAKE_SIZE="${size:-64}" "$KBENCH" -f json fsnotify eventfd "${brief[@]}" \
		-t max "$@"
}

# plan_is CPUS: it worked, and task n was on the nth of these
plan_is()
{
	expect 0 "a machine of which $1 are to be used"
	json_is "$run.cpus == [$1] and $point.repeats[0].task_cpu == [$1]"
}

if [ "$(id -u)" = 0 ] && [ -z "$KBENCH_SAN" ] && cc -w -shared -fPIC -o fake.so fake.c &&
   unshare --mount mount --bind "$TMPDIR" "$TMPDIR" 2>/dev/null; then
	# two packages of two cores of two threads, numbered as Intel does
	topology 0:0:0 1:0:1 2:1:0 3:1:1 4:0:0 5:0:1 6:1:0 7:1:1
	machine 0,1,2,3,4,5,6,7
	plan_is 0,2,1,3,4,6,5,7
	machine 0,1,2,3,4,5,6,7 --pin compact
	plan_is 0,4,1,5,2,6,3,7
	machine 0,1,2,3,4,5,6,7 --pin core
	plan_is 0,2,1,3
	machine 0,1,2,3,4,5,6,7 --pin none -C 7,3-4
	json_is "($run.cpus | sort) == [3, 4, 7]"
	machine 0,1,2,3,4,5,6,7 --pin core -C 4,0,5	# 0 and 4 are one core
	plan_is 0,5
	machine 0,1,2,3,4,5,6,7 --pin spread -C 4-7
	plan_is 4,6,5,7
	machine 1,2,6 --pin spread
	plan_is 1,2,6
	machine 1,2,6 --pin core
	plan_is 1,2
	machine 1,2,6 -C 0-2
	expect 2 "a CPU that is not in the mask"
	has "$err" "CPU 0 is not in our affinity mask"
	# siblings side by side, cores and packages with holes in their numbers, CPUs that are off
	topology 2:0:0 3:0:0 8:0:4 9:0:4 62:3:0 63:3:0
	machine 2,3,8,9,62,63
	plan_is 2,62,8,3,63,9
	machine 2,3,8,9,62,63 --pin compact -C 9,2-3,63
	plan_is 2,3,9,63
	machine 2,3,8,9,62,63 -C 2-4
	expect 2 "a hole"
	has "$err" "CPU 4 is not present"
	echo 2-3,8-9 >cpu/online
	machine 2,3,8,9 -C 2,62
	expect 2 "CPU 62 is off"
	has "$err" "CPU 62 is offline; echo 1 > $sys/cpu62/online"
	machine 2,3,8,9
	plan_is 2,8,3,9
	# nothing of a topology: all are used
	rm -rf cpu/cpu*/topology
	machine 2,3,8,9
	json_is "$run.task_counts == [4] and ($run.cpus | sort) == [2, 3, 8, 9]"
	# A1: more CPUs than a cpu_set_t holds
	topology 0:0:0 1500:1:0 4095:2:0
	size=4096 machine 0,1500,4095
	plan_is 0,1500,4095
	size=4096 machine 0,1500,4095 -C 1500
	plan_is 1500
	size=4096 machine 0,1500 -C 0,4095
	expect 2 "CPU 4095"
	has "$err" "CPU 4095 is not in our affinity mask"
else
	note "other machines were not tried: needs root, cc, no sanitizer"
fi

# ---- A1: the kernel wants a larger mask ----

if (need_inject) >/dev/null; then
	for n in 1 2 3; do
		run inject "sched_getaffinity:EINVAL:when=1..$n" "$KBENCH" -f json fsnotify eventfd \
			-r 1 -l 500
		worked "sched_getaffinity wants a larger mask, $n times"
		json_is "($run.cpus | sort) == [$all]"
	done
	run inject sched_getaffinity:EINVAL "$KBENCH" -f json fsnotify eventfd -t 1
	expect 1 "sched_getaffinity never works"
	has "$err" "sched_getaffinity: Invalid argument"
	run inject sched_getaffinity:ENOSYS "$KBENCH" -f json fsnotify eventfd -t 1
	expect 1 "sched_getaffinity does not exist"
	[ ! -s "$out" ] || fail "sched_getaffinity does not exist: something was printed"
	# a CPU that cannot be bound to is an error, and not a task anywhere else
	for mode in process thread; do
		run inject sched_setaffinity:EINVAL:when=1 "$KBENCH" -f json fsnotify eventfd -t 2 \
			-r 1 --mode $mode
		expect 1 "sched_setaffinity fails, --mode $mode"
		has "$err" "task [01] of 2: sched_setaffinity CPU [0-9]+: Invalid argument"
		json_is "$point | .rate == null and .valid == false"
	done
else
	note "failing system calls were not tried: no strace, or it cannot trace here"
fi

# ---- a cpuset (A7), and one that changes in mid-run ----

undo()
{
	[ -n "${hotplug:-}" ] && echo 1 >"$hotplug"
	if [ -n "${cpuset:-}" ] && [ -d "$cpuset" ]; then
		within 5 rmdir "$cpuset" 2>/dev/null
	fi
}
trap undo EXIT

# Sets $cpuset to a new one of all our CPUs, in cgroup v1 or v2.
make_cpuset()
{
	local mnt=/sys/fs/cgroup
	if [ -f $mnt/cpuset/cpuset.mems ]; then
		cpuset=$mnt/cpuset/kbench-test.$$
		mkdir $cpuset || return 1
		cat $mnt/cpuset/cpuset.mems >$cpuset/cpuset.mems || return 1
	elif grep -qsw cpuset $mnt/cgroup.subtree_control; then
		cpuset=$mnt/kbench-test.$$
		mkdir $cpuset || return 1
	else
		return 1
	fi
	echo "$all" >$cpuset/cpuset.cpus && [ -w $cpuset/cgroup.procs ]
}

# in_cpuset ARGUMENT...: behind run
in_cpuset()
{
	# shellcheck disable=SC2016 # for the inner shell
	sh -c 'echo $$ >"$1"/cgroup.procs && shift && exec "$@"' - "$cpuset" "$KBENCH" "$@"
}

# Of a run in which a CPU is missing at its end, or was for a while
cpu_is_gone()
{
	expect 1 "$1"
	json_is "$point | .valid == false and (.flags | index(\"cpu-gone\") != null)"
	has "$err" "CPU" "$1"
	hasnt "$out" '"status": *"ok"' "$1"
}

# later COMMAND...: in the midst of the measured time of those below
long=(-r 1 -d 1500ms -w 50ms --window 50ms)
later()
{
	{ sleep 0.6; "$@"; } 2>/dev/null &
}

to_cpuset()
{
	echo "$1" >"$cpuset/cpuset.cpus"
}

if [ "$(id -u)" = 0 ] && make_cpuset 2>/dev/null; then
	echo "$last" >"$cpuset/cpuset.cpus"
	run in_cpuset -f json fsnotify eventfd "${brief[@]}"
	worked "a cpuset of CPU $last"
	json_is "$run | .task_counts == [1] and .cpus == [$last]"
	json_is "$point.repeats[0].task_cpu == [$last]"
	for mode in process thread; do
		run in_cpuset -f json fsnotify eventfd "${brief[@]}" -t 3 --mode $mode --pin none
		worked "three tasks in a cpuset of CPU $last"
		json_is "$point | .repeats[0].task_cpu == [$last, $last, $last]"
	done
	if [ ${#mask[@]} -gt 1 ]; then
		run in_cpuset -f json fsnotify eventfd -C "$first"
		expect 2 "--cpus outside of the cpuset"
		has "$err" "--cpus: CPU $first is not in our affinity mask"
		for pin in spread none; do
			echo "$all" >"$cpuset/cpuset.cpus"
			later to_cpuset "$first"
			run in_cpuset -f json fsnotify eventfd "${long[@]}" -t max --pin $pin
			wait
			cpu_is_gone "the cpuset shrinks, --pin $pin"
		done
	fi
else
	note "a cpuset was not tried: needs root and cgroups"
fi

# ---- offline CPUs (A2) ----

if [ "$(id -u)" != 0 ] || [ ${#mask[@]} -lt 2 ] || ! echo 1 2>/dev/null >$sys/cpu"$last"/online; then
	note "an offline CPU was not tried: needs root, two CPUs, and to take one offline"
	exit 0
fi

online()
{
	echo "$1" >"$hotplug"
}

# Off for longer than a window, and on again.
blink()
{
	online 0
	sleep 0.3
	online 1
}

hotplug=$sys/cpu$last/online
rest=$(IFS=,; echo "${mask[*]::${#mask[@]}-1}")
online 0 || fail "CPU $last does not go offline"
bench -C "$all"
cp "$out" off.out
cp "$err" off.err
off=$status
bench
cp "$out" default.out
default=$status
kbench -f json all "${quick[@]}" -C "$all"
online 1
expect 2 "all, --cpus with an offline one"
has "$err" "CPU $last is offline"
[ "$off" = 2 ] || fail "--cpus $all, CPU $last offline: exit status $off"
has off.err "--cpus: CPU $last is offline"
[ ! -s off.out ] || fail "--cpus $all, CPU $last offline: something was printed"
[ "$default" = 0 ] || fail "CPU $last offline: exit status $default"
json_is "($run.cpus | sort) == [$rest] and $run.task_counts == ([1, ${#mask[@]} - 1] | unique) and
	all($run.points[]; .valid and .rate > 0)" default.out

for how in "online 0" blink; do
	for pin in spread none; do
		# shellcheck disable=SC2086 # words are meant
		later $how
		kbench -f json fsnotify eventfd "${long[@]}" -t max --pin $pin
		wait
		online 1
		cpu_is_gone "CPU $last goes ($how), --pin $pin"
	done
done
later online 0
kbench -f json fsnotify eventfd "${long[@]}" -t max --mode thread
wait
online 1
cpu_is_gone "CPU $last goes, threads"
# work of a fixed size
later blink
kbench -f json fsnotify eventfd -r 1 --window 50ms -t max -l 100000000 -d 1500ms
wait
online 1
cpu_is_gone "CPU $last goes, --loops"
# no format gives a rate
later online 0
kbench -f simple fsnotify eventfd "${long[@]}" -t max
wait
online 1
expect 1 "simple"
has "$out" "^[0-9]+ none - - fsnotify/eventfd .*cpu-gone"
exit 0
