#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Limits: as many tasks as may be, and what is said where a limit or a failing call is in the way
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
point="$run.points[0]"
home=$TMPDIR/home
mkdir "$home" || fail "mkdir"
cd "$home" || fail "cd"
brief=(-r 1 -d 200ms -w 10ms --window 20ms)

# bench NAME ARGUMENT...: as JSON in $out; nothing of it may be left
bench()
{
	bench_again "-f json" "$@"
	nothing_left "$*"
}

# 2 s, as the machine may be busy
nothing_left()
{
	within 2 none_running || fail "$1: $(running) processes are left"
	[ -z "$(leftovers "$home")" ] || fail "$1: left over: $(leftovers "$home")"
}

# failed REGEX WHAT: it did, said so, and gave no rate
failed()
{
	expect 1 "$2"
	has "$err" "$1" "$2"
	[ "$(wc -l <"$err")" -le 2 ] || fail "$2: more than one error: $(cat "$err")"
	[ ! -s "$out" ] || json_is "all($run.points[]; .valid == false and .rate == null)"
}

# ---- A6: many tasks ----

# An ordinary user's parent cannot go before its tasks, and takes half a minute for 4096.
counts=(17 65 257 1025)
[ "$(id -u)" = 0 ] && [ -z "$KBENCH_SAN" ] && counts+=(4096)
for mode in process thread; do
	for tasks in "${counts[@]}"; do
		start=${EPOCHREALTIME/./}
		bench "fsnotify eventfd" --mode $mode -t "$tasks" "${brief[@]}"
		took=$(((${EPOCHREALTIME/./} - start) / 1000))
		if [ "$status" != 0 ]; then
			# the limit, and how to raise it
			failed "raise" "$tasks tasks, --mode $mode"
			note "$tasks tasks, --mode $mode: $(tail -n 1 "$err")"
			continue
		fi
		json_is "$point | .tasks == $tasks and .valid and .rate > 0 and
			(.repeats[0] | (.task_ops | length) == $tasks and .start_skew_ns > 0 and
			.ops == (.task_ops | add) and .ops_all == (.task_ops_all | add))"
		note "$tasks tasks, --mode $mode: $took ms, $(json "$point.start_skew_ns / 1e6 | floor") ms skew"
	done
done
for name in "${benches[@]}"; do
	for mode in process thread; do
		bench "$name" --mode $mode -t 257 "${brief[@]}"
		expect 0 "$name, 257 tasks, --mode $mode"
		json_is "$point | .valid and (.repeats[0].task_ops | length) == 257"
	done
done

# The grace time begins anew with each task that ends, whichever it is: ending all takes twice as long.
one_by_one()
{
	local pid task tasks
	timeout 60 "$KBENCH" -f json fsnotify eventfd --mode process -t 12 -r 1 -d 1500ms --grace 3s &
	pid=$!
	sleep 1
	tasks=$(pgrep -P "$(pgrep -P $pid)")
	# shellcheck disable=SC2086 # words are meant
	kill -STOP $tasks || return 99
	sleep 1
	for task in $(sort -rn <<<"$tasks"); do
		kill -CONT "$task"
		sleep 0.5
	done
	wait $pid
}
run one_by_one	# the last first
expect 0 "tasks that end one by one, within the grace time of the one before"
json_is "$point.repeats[0] | (.task_ops | length) == 12"
nothing_left "tasks that end one by one"

# ---- D1: file descriptors ----

# with_fds SOFT HARD ARGUMENT...: behind run
with_fds()
{
	local soft=$1 hard=$2
	shift 2
	(ulimit -Sn "$soft" && ulimit -Hn "$hard" && exec "$@")
}

for name in "${benches[@]}"; do
	for mode in process thread; do
		what="$name, --mode $mode"
		# shellcheck disable=SC2086 # words are meant
		set -- timeout 60 "$KBENCH" -f json $name --mode $mode -t 64 "${brief[@]}"
		run with_fds 16 1024 "$@"	# may be raised
		expect 0 "$what, 16 to 1024 descriptors"
		json_is "$point | .valid and (.repeats[0].task_ops | length) == 64"
		run with_fds 16 16 "$@"
		if [ $mode = process ]; then
			expect 0 "$what, 16 descriptors"	# each has a table of its own
		else
			failed "64 threads need [0-9]+ file descriptors and may have 16: raise the hard limit \(ulimit -Hn\), or take --mode process" \
				"$what, 16 descriptors"
			[ ! -s "$out" ] || fail "$what, 16 descriptors: something was printed"
		fi
		run with_fds 9 9 "$@"
		failed "64 (tasks|threads) need [0-9]+ file descriptors and may have 9: raise" \
			"$what, 9 descriptors"
		nothing_left "$what"
	done
done
# What others left open counts, too: found out only when it runs.
many_open()
{
	(
		for fd in 3 4 5 6 7 8 9 10 11 12 13; do
			eval "exec $fd</dev/null"
		done
		with_fds 16 16 "$@"
	)
}
for name in "${benches[@]}"; do
	for mode in process thread; do
		# shellcheck disable=SC2086 # words are meant
		run many_open timeout 60 "$KBENCH" -f json $name --mode $mode -t 2 "${brief[@]}"
		[ "$status" = 0 ] || failed "Too many open files|\(EMFILE\)" "$name, no descriptor is left"
		nothing_left "$name, no descriptor is left"
	done
done

# ---- D2: tasks that cannot be made ----

# LeakSanitizer would make one, too
export ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0

undo()
{
	local dir
	for dir in "${pids:-}" "${memory:-}"; do
		[ -z "$dir" ] || within 5 rmdir "$dir" 2>/dev/null
	done
}
trap undo EXIT

# make_cgroup CONTROLLER FILE: prints a new one in cgroup v1 or v2 that has this file
make_cgroup()
{
	local mnt=/sys/fs/cgroup dir
	[ "$(id -u)" = 0 ] || return 1
	if [ -d $mnt/"$1" ]; then
		dir=$mnt/$1/kbench-test.$$
	elif grep -qsw "$1" $mnt/cgroup.subtree_control; then
		dir=$mnt/kbench-test-$1.$$
	else
		return 1
	fi
	mkdir "$dir" 2>/dev/null && [ -f "$dir/$2" ] && echo "$dir"
}

# in_cgroup DIRECTORY COMMAND...
in_cgroup()
{
	# shellcheck disable=SC2016 # for the inner shell
	sh -c 'echo $$ >"$1"/cgroup.procs && shift && exec "$@"' - "$@"
}

if pids=$(make_cgroup pids pids.max); then
	echo 10 >"$pids/pids.max"
	for name in "${benches[@]}"; do
		for mode in process thread; do
			what="$name, pids.max, --mode $mode"
			# shellcheck disable=SC2086 # words are meant
			run in_cgroup "$pids" timeout 60 "$KBENCH" -f json $name --mode $mode -t 64 \
				"${brief[@]}"
			failed "64 tasks are too many: pids.max of .*kbench-test.* is 10, [0-9]+ are in use: raise it" \
				"$what"
			nothing_left "$what"
		done
	done
	run in_cgroup "$pids" "$KBENCH" -f json fsnotify eventfd -t 1,5 "${brief[@]}"
	expect 0 "five tasks, pids.max"
	# used up only after the plan was made
	for mode in process thread; do
		echo 40 >"$pids/pids.max"
		run in_cgroup "$pids" sh -c 'sleep 3 & sleep 3 & sleep 3 & sleep 3 & sleep 3 &
			exec "$@"' - "$KBENCH" -f json fsnotify eventfd --mode $mode -t 34,64 "${brief[@]}"
		failed "64 tasks are too many: pids.max" "pids.max is in the way of the second point"
		[ ! -s "$out" ] || fail "the plan was not checked before anything ran"
		# shellcheck disable=SC2016 # for the inner shell
		run in_cgroup "$pids" sh -c '(sleep 1; echo 8 >"$1"/pids.max) >/dev/null 2>&1 &
			shift; exec "$@"' - "$pids" "$KBENCH" -f json fsnotify eventfd --mode $mode \
			-t 10,20 -r 1 -d 1500ms
		expect 1 "pids.max is lowered in mid-run"
		has "$err" "task [0-9]+ of 20 could not be made: pids.max of .*: raise it: Resource temporarily unavailable"
		json_is "$run.points | length == 2 and .[0].valid and .[1].valid == false and
			.[1].rate == null"
		nothing_left "pids.max is lowered in mid-run"
	done
else
	note "pids.max was not tried: needs root and cgroups"
fi

# RLIMIT_NPROC, by which root is not bound
if (need_user_switch) >/dev/null 2>&1; then
	as_nobody version >/dev/null
	(ulimit -u 40 && as_nobody -f json fsnotify eventfd -t 64 "${brief[@]}") >"$out" 2>"$err"
	status=$?
	failed "64 tasks are too many: the user may have 40 processes \(ulimit -u\): raise it" "ulimit -u"
	# shellcheck disable=SC2034 # so that all that is there counts
	for mode in process thread; do
		(ulimit -u 40 && as_nobody -f json locking vfs --mode $mode -t 38 "${brief[@]}") \
			>"$out" 2>"$err"
		status=$?
		# others of this user may run here
		[ $status = 0 ] || failed "\(ulimit -u\): raise it: Resource temporarily unavailable" "ulimit -u"
		within 2 none_running || fail "ulimit -u: $(running) processes are left"
	done
	rm -rf "$TMPDIR/nobody"
elif [ "$(id -u)" != 0 ]; then
	# shellcheck disable=SC2016 # for the inner shell
	run bash -c 'ulimit -u 1 && exec "$@"' - "$KBENCH" -f json fsnotify eventfd -t 64 "${brief[@]}"
	failed "64 tasks are too many: the user may have 1 processes" "ulimit -u"
else
	note "ulimit -u was not tried: cannot become another user here"
fi

if (need_inject) >/dev/null; then
	for mode in process thread; do
		for n in 1 2 5 64; do
			for error in EAGAIN ENOMEM; do
				what="clone fails the ${n}th time with $error, --mode $mode"
				run inject "clone,clone3:$error:when=$n" "$KBENCH" -f json \
					fsnotify eventfd --mode $mode -t 64 "${brief[@]}"
				failed "task [0-9]+ of 64 could not be made.*: (Resource temp|Cannot alloc)" \
					"$what"
				json_is "$run.points | length == 1 and .[0].repeats == []"
				nothing_left "$what"
			done
		done
	done
fi

# ---- calls that fail, one after the other: an error that says so, or a result; nothing else ----

# sweep CALL ERROR TO BENCHMARK ARGUMENT...: begins after the calls of the loader
sweep()
{
	local call=$1 error=$2 to=$3 name=$4 n what
	shift 4
	strace -f -qq -o "$TMPDIR/trace" -e trace="$call" "$KBENCH" version >"$out"
	n=$(wc -l <"$TMPDIR/trace")
	for ((to += n++; n <= to; n++)); do
		what="$name $*, $call fails the ${n}th time with $error"
		# shellcheck disable=SC2086 # words are meant
		run timeout -k 1 60 env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" \
			strace -f -qq -o "$TMPDIR/trace" -e trace="$call" \
			-e inject="$call:error=$error:when=$n" "$KBENCH" -f json $name -t 2 -r 1 \
			--total 2000 "$@"
		case $status in
		0)	json_is ".complete and $point.valid" ;;
		1|2|3)	[ -s "$err" ] || fail "$what: exit status $status without a word"
			if [ -s "$out" ]; then
				json_is "(.complete == false and $run.status != \"ok\") or $run == null"
				json_is "all($run.points[]?; .valid == false or .rate != null)"
			fi ;;
		*)	fail "$what: exit status $status" ;;
		esac
		if grep -q "the next run there will try again" "$err"; then
			within 2 none_running
			"$KBENCH" -q -f simple locking vfs "${quick[@]}" -r 1 >/dev/null 2>&1
		fi
		nothing_left "$what"
		grep -q INJECTED "$TMPDIR/trace" || break
	done
}

if (need_inject) >/dev/null && [ -z "$KBENCH_SAN" ]; then
	sweep mmap ENOMEM 20 "locking vfs" --mode thread
	sweep mmap ENOMEM 20 "fsnotify eventfd"
	sweep openat EMFILE 20 "locking vfs"
	sweep openat EACCES 20 "kernfs lookup"
	sweep mkdir EDQUOT 9 "locking vfs" --share none
	sweep mkdirat ENOSPC 3 "fsnotify file"
	sweep chdir EACCES 5 "locking vfs"
	sweep fchdir EIO 5 "nfs negative-dentry" --any-fs
	sweep flock EIO 5 "fsnotify file"
	sweep pipe2 EMFILE 9 "fsnotify pipe"
	sweep pipe2 ENFILE 9 "fsnotify file"
	sweep clone EAGAIN 9 "locking vfs"
	sweep clone,clone3 EAGAIN 9 "locking vfs" --mode thread
	sweep sched_setaffinity EINVAL 5 "fsnotify file"
	sweep unshare EPERM 5 "locking vfs" --mode thread
	sweep unlinkat EIO 2 "fsnotify file"
	sweep read EIO 9 "fsnotify pipe" --mode thread
	sweep close EIO 12 "kernfs lookup" --mode process
else
	note "failing calls were not tried: no strace, it cannot trace here, or a sanitizer's build"
fi

# ---- memory ----

# An address space that is too small for what is asked, but not for us to say so.
if [ -z "$KBENCH_SAN" ]; then
	for kb in 15000 20000 30000 50000 80000; do
		for mode in process thread; do
			# shellcheck disable=SC2016 # for the inner shell
			run timeout 60 sh -c 'ulimit -v "$1"; shift; exec "$@"' - $kb "$KBENCH" -f json \
				fsnotify eventfd --mode $mode -t 300 "${brief[@]}"
			case $status in
			0)	json_is "$point.valid" ;;
			1)	has "$err" "Cannot allocate memory|Resource temp|memory" "ulimit -v $kb" ;;
			127)	;;	# the loader
			*)	fail "ulimit -v $kb, --mode $mode: exit status $status" ;;
			esac
			nothing_left "ulimit -v $kb, --mode $mode"
		done
	done
fi

# The OOM killer of a cgroup takes a task, or us.
if memory=$(make_cgroup memory memory.limit_in_bytes || make_cgroup memory memory.max) &&
   [ -z "$KBENCH_SAN" ]; then
	[ -f "$memory/memory.max" ] && limit=memory.max || limit=memory.limit_in_bytes
	echo $((24 * 1024 * 1024)) >"$memory/$limit"
	[ ! -f "$memory/memory.swap.max" ] || echo 0 >"$memory/memory.swap.max"
	run in_cgroup "$memory" timeout 60 "$KBENCH" -f json locking vfs --op mkdir -j 300000 -t 2 \
		"${brief[@]}"
	if [ "$status" = 137 ]; then
		note "the OOM killer took us, and no task"
	else
		failed "task [01] of 2 was killed by signal 9 \(Killed\).*OOM killer" "out of memory"
	fi
	nothing_left "out of memory"
else
	note "the OOM killer was not tried: needs root, cgroups, no sanitizer"
fi
exit 0

# ---- real-time tasks on all CPUs: their parent still gets to end them ----
if chrt -f 1 true 2>/dev/null; then
	for mode in process thread; do
		prio=1
		[ $mode = process ] && prio=99
		run timeout -s KILL 60 chrt -f $prio "$KBENCH" -q -f json fsnotify eventfd --mode $mode \
			-t "$(nproc)" -r 1 -d 200ms
		[ "$status" = 0 ] || [ "$status" = 1 ] || fail "chrt -f $prio, $mode: exit status $status"
		json_is '.benchmarks[0].points[0].repeats | length == 1'
	done
	within 5 none_running || fail "real-time tasks are left"
else
	note "no real-time policy here"
fi
