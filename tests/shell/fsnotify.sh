#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# fsnotify eventfd, pipe, file: variants, probes, queue overflows, limits, marks that cannot be
. "$(dirname "$0")/lib.sh"

need_cmd jq

dir=$TMPDIR/files
mkdir "$dir" || fail "mkdir"
brief=(-r 1 -d 100ms -w 10ms --window 10ms)
points='.benchmarks[0].points'
no_effect='mark inode has no effect on this object'

# fsnotify BENCHMARK ARGUMENT...: as JSON in $out
fsnotify()
{
	local where=()
	[ "$1" = file ] && where=(--dir "$dir")
	kbench -f json fsnotify "$1" "${where[@]}" "${@:2}"
}

clean()
{
	[ -z "$(leftovers "$dir")" ] || fail "left over: $(leftovers "$dir")"
}

# variant NAME: the first point of it
variant()
{
	echo "$points | map(select(.variant == \"$1\"))[0]"
}

fanotify()
{
	[ "$(id -u)" = 0 ] && grep -qs . /proc/sys/fs/fanotify/max_user_marks
}

# ---- defaults ----

declare -A unit=([eventfd]=write+read [pipe]=write+read [file]=pread)

for bench in eventfd pipe file; do
	fsnotify $bench "${brief[@]}"
	expect 0 $bench
	json_is ".benchmarks[0] | .name == \"fsnotify/$bench\" and .mode == \"process\" and
		.unit == \"${unit[$bench]}\" and .variants == [\"none\"] and
		.parameters.group == \"inotify\""
	json_is "$points | all(.valid and .rate > 0 and .variant == \"none\" and .notes == [])"
	for mode in process thread; do
		fsnotify $bench --mode $mode -t 1,3 --marks none,inode "${brief[@]}"
		expect 0 "$bench, $mode"
		json_is "$points | length == 4 and all(.valid or .skip != null)"
		json_is "$points | map(.variant) == [\"none\", \"inode\", \"none\", \"inode\"]"
	done
	clean
done
fsnotify pipe "${brief[@]}"
json_is '.benchmarks[0].parameters.size == "512"'
for size in 1 4096; do
	fsnotify pipe --size $size "${brief[@]}"
	expect 0 "--size $size"
	json_is ".benchmarks[0].parameters.size == \"$size\""
done

# ---- usage ----

for bad in "--marks ''" "--marks ," "--marks none," "--marks nothing" "--marks no" \
	   "--marks none,none" "--marks sb,inode,sb" "--marks none,inode,parent,mount,sb,none" \
	   "--group inotify --marks mount" "--group inotify --marks none,sb" "--group dnotify" \
	   "--group ''" "--marks none,inode --loops 5"; do
	for bench in eventfd pipe file; do
		eval "fsnotify $bench -t 1 -r 1 $bad"
		expect 2 "$bench $bad"
		has "$err" "--(marks|group|loops)" "$bench $bad"
		hasnt "$out" '"rate": *[0-9]' "$bench $bad"
	done
done
fsnotify eventfd --marks foo -t 1
has "$err" '"foo" is not one of none, inode, parent, mount, sb'
for bad in 0 -1 "''" abc 1x 1e99 4097 2147483648 4294967296 9223372036854775808 \
	   18446744073709551616; do
	eval "fsnotify pipe -t 1 -r 1 --size $bad"
	expect 2 "--size $bad"
	has "$err" "--size" "--size $bad"
done
clean

# ---- each mark is tried; what has no effect, and what cannot be, is said (J5) ----

# On a regular file all have effect, and their cost shows.
fsnotify file --marks none,inode,parent -t 1 -r 3 -d 100ms -w 10ms --window 10ms
expect 0 "inotify on a file"
json_is "$points | all(.valid and all(.notes[]; contains(\"no effect\") | not))"
hasnt "$out" "has no effect"
json_is "$points | .[0].ratio == null and .[1].ratio > 1.05 and .[2].ratio > 1.05"

# A pipe takes inotify marks on all kernels; neither it nor an eventfd is in a directory.
fsnotify pipe --marks none,inode,parent "${brief[@]}"
expect 0 "inotify on a pipe"
json_is "$(variant inode) | .valid and (.notes | all(test(\"no effect\") | not))"
json_is "$(variant parent) | .skip == \"this pipe is in no directory\" and .rate == null"
fsnotify eventfd --marks parent,none "${brief[@]}"
expect 0 "a mark on an eventfd's parent"
json_is "$(variant parent) | .skip == \"this eventfd is in no directory\""
json_is "$(variant none) | .valid"
fsnotify eventfd --marks parent "${brief[@]}"
expect 3 "nothing but a mark on an eventfd's parent"
has "$err" "skipped: this eventfd is in no directory"

# An eventfd took them until pseudo files were left out, in 6.14.
IFS=.- read -r major minor _ < <(uname -r)
fsnotify eventfd --marks none,inode "${brief[@]}"
expect 0 "inotify on an eventfd"
if [ "$(id -u)" != 0 ]; then
	note "a mark on an eventfd was not tried: needs root"
elif [ $((major * 100 + minor)) -ge 614 ]; then
	json_is "$(variant inode) | .valid and (.notes | any(startswith(\"$no_effect\")))"
else
	json_is "$(variant inode) | .valid"
fi

if fanotify; then
	fsnotify file --marks none,inode,parent,mount,sb -t 1 -r 3 -d 100ms -w 10ms --window 10ms
	expect 0 "fanotify on a file"
	json_is ".benchmarks[0] | .parameters.group == \"fanotify\" and
		.variants == [\"none\", \"inode\", \"parent\", \"mount\", \"sb\"]"
	json_is "$points | length == 5 and all(.valid) and all(.[1:][]; .ratio > 1.05)"
	hasnt "$out" "has no effect"
	# fanotify looks at regular files and directories only
	for bench in eventfd pipe; do
		fsnotify $bench --group fanotify --marks none,inode,mount,sb "${brief[@]}"
		expect 0 "fanotify on a $bench"
		json_is "$(variant inode) | .valid and (.notes | any(startswith(\"$no_effect\")))"
		for mark in mount sb; do
			json_is "$(variant $mark) |
				(.skip | test(\"fanotify mark $mark .*Invalid argument\")) or
				(.valid and (.notes | any(startswith(\"mark $mark has no effect\"))))"
		done
	done
	clean
else
	note "fanotify was not tried: needs root, and a kernel that has it"
fi

# ---- marks are there while their variant is measured, and then no more ----

if (need_inject) >/dev/null; then
	run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -o trace \
		-e trace=inotify_init1,inotify_add_watch,inotify_rm_watch,exit_group \
		"$KBENCH" -f json fsnotify file --dir "$dir" --marks none,inode,parent -t 3 -r 2 \
		-d 200ms -w 10ms --window 50ms
	expect 0 "traced"
	sed -n 's/^[0-9]* *\(inotify_[a-z]*\|exit_group\).*= \([0-9?]*\)$/\1 \2/p' trace >marks
	awk '/^inotify_add/ { n++ } /^inotify_rm/ { n-- } END { exit n != 0 }' marks ||
		fail "not all watches were removed: $(sort marks | uniq -c)"
	# probe inode, probe parent, then 3 for the tasks' files and 1 for their directory
	awk '/add_watch/ { run++ } /rm_watch/ && run { if (run != 1 && run != 3) exit 1; run = 0 }' \
		marks || fail "other watches than were expected: $(cat marks)"
	[ "$(grep -c '/proc/[0-9]*/fd/' trace)" -gt 6 ] || fail "the tasks were not marked"

	# Errors, in the probe and later: limits fail and say which, what cannot be is skipped.
	limit()
	{
		run inject "$1" "$KBENCH" -f json fsnotify "$2" --marks "$3" -t 2 "${brief[@]}"
		expect 1 "$1, $2 $3"
		has "$err" "$4" "$1, $2 $3"
		hasnt "$out" '"rate": *[0-9]' "$1, $2 $3"
	}
	cd "$dir" || exit 1
	limit inotify_init1:EMFILE pipe none,inode "raise fs.inotify.max_user_instances"
	limit inotify_add_watch:ENOSPC pipe none,inode "raise fs.inotify.max_user_watches"
	limit inotify_add_watch:ENOSPC:when=2 file inode "raise fs.inotify.max_user_watches"
	limit inotify_init1:ENOMEM file inode "Cannot allocate memory"
	for err_name in ENOSYS EPERM EACCES; do
		run inject inotify_init1:$err_name "$KBENCH" -f json fsnotify file \
			--marks none,inode "${brief[@]}"
		expect 0 "inotify_init1, $err_name"
		json_is "$(variant inode) | .skip != null and .rate == null"
		json_is "$(variant none) | .valid"
	done
	if fanotify; then
		limit fanotify_init:EMFILE file none,sb "raise user.max_fanotify_groups"
		limit fanotify_mark:ENOSPC file none,sb "raise fs.fanotify.max_user_marks"
		for err_name in EXDEV ENODEV EOPNOTSUPP EINVAL; do
			run inject fanotify_mark:$err_name "$KBENCH" -f json fsnotify file \
				--marks none,sb "${brief[@]}"
			expect 0 "fanotify_mark, $err_name"
			json_is "$(variant sb) | .skip | test(\"no fanotify mark sb can be\")"
		done
		run inject fanotify_init:ENOSYS "$KBENCH" fsnotify file --marks sb "${brief[@]}"
		expect 3 "no fanotify"
	fi

	# Calls that fail, or do less than they should, in the middle of the run (C4)
	broken()
	{
		run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -o /dev/null \
			-e trace="$2" -e inject="$2:$3:when=300+" "$KBENCH" -f json fsnotify "$1" \
			-t 2 -r 1 -d 20s
		expect 1 "$1: $2 $3"
		has "$err" "task [01] of 2: $4" "$1: $2 $3"
		json_is "${points}[0] | .valid == false and .rate == null"
	}
	broken pipe write retval=3 "write pipe: Input/output error"
	broken pipe read error=EFAULT "read pipe: Bad address"
	broken eventfd read retval=0 "read eventfd: Input/output error"
	broken file pread64 error=EIO "pread file: Input/output error"
	broken file pread64 retval=0 "pread file: Input/output error"
	cd "$TMPDIR" || exit 1
	clean
else
	note "calls that fail were not tried: no strace, or it cannot trace here"
fi

# ---- a queue that runs over is counted ----

queue=$(cat /proc/sys/fs/inotify/max_queued_events)
if [ "$queue" -le 65536 ] && [ -z "$KBENCH_SAN" ]; then
	# write and read take turns, so that their events cannot be merged
	fsnotify pipe --marks none,inode -t 1 -r 2 -d 600ms -w 10ms --window 300ms
	expect 0 "overflow"
	json_is "$(variant inode) | .metrics.\"queue overflows\" | .unit == \"events\" and
		(.values | length == 2 and min >= 1)"
	json_is "$(variant inode) | .notes | any(test(\"queue was full.*max_queued_events\"))"
	json_is "$(variant none) | .metrics == {} and .notes == []"
fi
# the same event again and again is one
fsnotify file --marks inode -t 1 -r 2 -d 100ms -w 10ms --window 10ms
expect 0 "merged"
json_is "$(variant inode) | .metrics.\"queue overflows\".values == [0, 0]"

# ---- limits and privileges ----

# in_userns SETUP COMMAND...: as root of a user namespace, with limits of its own
in_userns()
{
	unshare --user --map-root-user sh -c "$1"' && shift && exec "$@"' - "$@"
}

if in_userns "echo 1 >/proc/sys/user/max_inotify_instances" true 2>/dev/null; then
	run in_userns "echo 0 >/proc/sys/user/max_inotify_instances" "$KBENCH" -f json fsnotify \
		pipe --marks none,inode -t 2 "${brief[@]}"
	expect 1 "no inotify instances"
	has "$err" "raise fs.inotify.max_user_instances"
	run in_userns "echo 1 >/proc/sys/user/max_inotify_instances" "$KBENCH" -f json fsnotify \
		pipe --marks none,inode -t 2 -r 2 -d 40ms -w 10ms --window 10ms
	expect 0 "one inotify instance"
	run in_userns "echo 1 >/proc/sys/user/max_inotify_watches" "$KBENCH" -f json fsnotify \
		pipe --marks none,inode -t 2 "${brief[@]}"
	expect 1 "one inotify watch"
	has "$err" "raise fs.inotify.max_user_watches"
	run in_userns : "$KBENCH" -f json fsnotify pipe --marks none,sb -t 2 "${brief[@]}"
	expect 0 "fanotify in a user namespace"
	json_is "$(variant sb) | (.skip | startswith(\"fanotify needs CAP_SYS_ADMIN\"))"
else
	note "limits were not tried: no user namespaces here"
fi

run as_nobody -f json fsnotify file --marks none,sb,mount -t 2 "${brief[@]}"
expect 0 "an ordinary user"
json_is "$points | .[0].valid and
	all(.[1:][]; (.skip | startswith(\"fanotify needs CAP_SYS_ADMIN\")) and .rate == null)"
run as_nobody fsnotify file --marks sb,mount -t 2 "${brief[@]}"
expect 3 "an ordinary user, fanotify only"
has "$err" "skipped: fanotify needs CAP_SYS_ADMIN"
run as_nobody -f json fsnotify pipe --marks none,inode -t 2 "${brief[@]}"
expect 0 "an ordinary user's pipes"
json_is "$points | all(.valid)"

# D1: threads share the table of descriptors
run bash -c 'ulimit -n 100; shift; exec "$@"' - - "$KBENCH" -f json fsnotify pipe --marks inode \
	--mode thread -t 64 "${brief[@]}"
expect 1 "64 pipes and 100 descriptors"
has "$err" "64 (tasks|threads) need [0-9]+ file descriptors and may have 100"
run bash -c 'ulimit -Sn 100; shift; exec "$@"' - - "$KBENCH" -f json fsnotify pipe --marks inode \
	--mode thread -t 64 "${brief[@]}"
expect 0 "64 pipes and a soft limit of 100 descriptors"
fsnotify file --marks none,inode -t 64 "${brief[@]}"
expect 0 "64 files"
clean

# ---- a file system without file handles (D6), which marks with descriptors do not need ----

if ! fanotify; then
	exit 0
fi
mkdir over mnt || fail "mkdir"
trap 'umount -l mnt over 2>/dev/null' EXIT
if mount -t tmpfs none over && mkdir over/low over/up over/work &&
   mount -t overlay none -o lowerdir=over/low,upperdir=over/up,workdir=over/work mnt 2>"$err"; then
	kbench -f json fsnotify file --dir mnt -t 2 --marks none,inode,parent,mount,sb \
		"${brief[@]}"
	expect 0 "overlayfs"
	json_is "$points | length == 5 and all(.valid or .skip != null)"
	json_is "$(variant none) | .valid"
	hasnt "$out" "has no effect"
	leftovers mnt | grep -q perf-kbench && fail "left over: $(leftovers mnt)"
else
	note "overlayfs was not tried: $(tail -n 1 "$err")"
fi
exit 0
