#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernfs lookup: ops, the rule by which files are found, what is looked up by whom, what is refused
. "$(dirname "$0")/lib.sh"

need_cmd jq
[ "$(stat -f -c %T /sys)" = sysfs ] || skip "/sys is not sysfs here"

brief=(-r 1 -d 100ms -w 10ms --window 10ms)
point='.benchmarks[0].points[0]'
system=/sys/devices/system
core=$system/cpu/cpu0/topology/core_id

# lookup ARGUMENT...: as JSON in $out
lookup()
{
	kbench -f json kernfs lookup "$@"
}

# refused STATUS TEXT ARGUMENT...
refused()
{
	local want=$1 text=$2
	shift 2
	lookup "${brief[@]}" "$@"
	expect "$want" "$*"
	has "$err" "$text" "$*"
	hasnt "$out" '"rate": *[0-9]' "$*"
}

# ---- defaults; every op, on files and on none, shared and not, in both modes (J1, J4) ----

lookup "${brief[@]}"
expect 0 "defaults"
json_is '.benchmarks[0] | .name == "kernfs/lookup" and .mode == "thread" and .pin == "spread" and
	.unit == "open+read+close"'
[ -e $core ] && json_is ".benchmarks[0].parameters == {op: \"open\", missing: \"no\",
	distinct: \"no\", files: \"1\", path: \"$core\"}"

for mode in thread process; do
	for op in open stat access; do
		unit=$op
		[ $op = open ] && unit=open+read+close
		for how in "" --distinct "--files 3" "--distinct --files 5"; do
			# shellcheck disable=SC2086 # words are meant
			lookup --op $op --mode $mode $how -t 2 "${brief[@]}"
			expect 0 "$op $mode $how"
			json_is "$point | .valid and .rate > 0 and
				(.repeats[0].task_ops_all | length == 2 and min > 0)"
			json_is ".benchmarks[0] | .unit == \"$unit\" and .mode == \"$mode\" and
				.parameters.op == \"$op\" and .parameters.missing == \"no\""

			# shellcheck disable=SC2086
			lookup --missing --op $op --mode $mode $how -t 2 "${brief[@]}"
			expect 0 "$op $mode $how --missing"
			json_is "$point | .valid and .rate > 0"
			json_is ".benchmarks[0] | .unit == \"$op (ENOENT)\" and
				.parameters.op == \"$op\" and .parameters.missing == \"yes\""
		done
	done
done

# ---- usage ----

for bad in "--op creat" "--op ''" "--files 0" "--files -1" "--files ''" "--files abc" \
	   "--files 1x" "--files 65537" "--files 2147483648" "--files 18446744073709551616" \
	   "--root ''" "--path $core --files 2" "--path $core --root /sys" \
	   "--distinct -t 2 --path $core" "--distinct -t 1,3 --files 2"; do
	eval "lookup ${brief[*]} $bad"
	expect 2 "$bad"
	has "$err" "${bad%% *}" "$bad"
	hasnt "$out" '"rate": *[0-9]' "$bad"
done

# ---- paths that cannot be used ----

refused 1 "/sys/no/such: No such file or directory" --path /sys/no/such
refused 1 "read /sys/kernel: Is a directory" --path /sys/kernel
refused 1 "$core exists" --path $core --missing
refused 1 "/sys/no/: No such file or directory" --path /sys/no/such --missing
refused 3 "skipped: /proc/version is on proc, which is not kernfs" --path /proc/version
refused 3 "skipped: /proc/ is on proc, which is not kernfs" --path /proc/no_such --missing
refused 3 "skipped: /proc is on proc, which is not kernfs" --root /proc
refused 1 "/no/such: No such file or directory" --root /no/such
refused 1 "65536 files are needed, but only [0-9]+ under /sys are safe" --files 65536
lookup --op stat --path /sys/kernel "${brief[@]}"
expect 0 "stat of a directory"
if [ "$(id -u)" = 0 ]; then
	kbench kernfs lookup --path $core --path /sys/kernel/uevent_seqnum "${brief[@]}"
	expect 0 "two paths"
fi

# ---- the rule: the same files as are found in another way ----

# by_rule ROOT: those that the rule takes, in its order: by the bytes of each component
by_rule()
{
	find "$1" -xdev -type f -perm 0444 | tr / '\001' | LC_ALL=C sort | tr '\001' / |
	while read -r path; do
		case ${path##*/} in
		*_ctrs|*freq*|*perf|*pressure*|*stat*|*usage*|meminfo|runtime_*|uevent|valid_zones)
			continue ;;
		esac
		size=$(head -c 4096 "$path" 2>/dev/null | wc -c)
		if [ "$size" -gt 0 ] && [ "$size" -lt 4096 ]; then
			echo "$path"
		fi
	done
}

# traced ARGUMENT...: the tasks' system calls, a file a task, in task.N; one a process
traced()
{
	local files file n=0
	rm -f trace.* task.*
	run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -qq -s 4096 \
		-o "$TMPDIR/trace" -e trace=file,read,close "$KBENCH" -f json kernfs lookup \
		--mode process -r 1 "$@"
	expect 0 "traced $*"
	files=$(find . -name 'trace.*' -printf '%f\n' | sort -t . -k 2 -n | tail -n +2)
	for file in $files; do
		mv "$file" task.$((n++))
	done
	rm -f trace.*
}

# paths TASK: what it opened, in order
paths()
{
	sed -n 's/^open.*"\(\/sys\/[^"]*\)", O_RDONLY.*/\1/p' "task.$1"
}

if (need_inject) >/dev/null; then
	by_rule $system >rule
	nr=$(wc -l <rule)
	[ "$nr" -gt 2 ] || fail "the test's own rule finds only $nr files"
	for n in 1 7 "$nr"; do
		[ "$n" -le "$nr" ] || continue
		traced --files "$n" -t 1 --total $((n * (200 / n + 2)))
		head -n "$n" rule >want
		paths 0 | head -n "$n" >got
		cmp -s want got || fail "--files $n: other files: $(diff want got | head)"
		# in turn, and again from the first
		paths 0 | sed -n "$((n + 1)),$((2 * n))p" | cmp -s want - ||
			fail "--files $n: the second round"
		[ "$(paths 0 | sort | uniq -c | awk '{ print $1 }' | sort -u | wc -l)" = 1 ] ||
			fail "--files $n: not each as often"
	done
	refused 1 "$((nr + 1)) files are needed, but only $nr under /sys " --files $((nr + 1))
	head -n 2 rule >want
	for root in /sys /sys/ /; do
		traced --files 2 --root $root -t 1 --total 200
		paths 0 | head -n 2 | cmp -s want - || fail "--root $root: $(paths 0 | head -n 2)"
	done
	by_rule $system/cpu/cpu0 >want
	n=$(wc -l <want)
	traced --files "$n" --root $system/cpu/cpu0 -t 1 --total $((200 + n))
	paths 0 | head -n "$n" | cmp -s want - || fail "--root $system/cpu/cpu0"

	# All tasks walk one list from its beginning, or each has its own file.
	traced --files 3 -t 2 --total 400
	head -n 3 rule >want
	for task in 0 1; do
		paths $task | head -n 3 | cmp -s want - || fail "task $task's list"
		[ "$(paths $task | sort -u | wc -l)" = 3 ] || fail "task $task: not three files"
	done
	traced --distinct -t 2 --total 400
	for task in 0 1; do
		[ "$(paths $task | sort -u)" = "$(sed -n $((task + 1))p rule)" ] ||
			fail "--distinct: task $task opened $(paths $task | sort -u | xargs)"
	done
	traced --path $core --path /sys/kernel/uevent_seqnum --distinct -t 2 --total 400
	[ "$(paths 1 | sort -u)" = /sys/kernel/uevent_seqnum ] || fail "--path, --distinct"

	# What is counted is what was done (C6), and one op is what is said.
	declare -A call=([open]='^open.*"/sys/.*= [0-9]' [stat]='^(stat|newfstatat|statx).*"/sys/.*= 0'
			 [access]='^(access|faccessat|faccessat2).*"/sys/.*= 0')
	for op in open stat access; do
		traced --op $op --files 3 -t 2 -l 100000000 -d 100ms
		ops=$(json "$point.repeats[0].ops_all")
		seen=$(cat task.* | grep -cE "${call[$op]}")
		[ "$ops" != 0 ] && [ "$ops" = "$seen" ] ||
			fail "--op $op: $ops ops, but strace saw $seen calls"
		traced --op $op --missing -t 2 -l 100000000 -d 100ms
		ops=$(json "$point.repeats[0].ops_all")
		seen=$(cat task.* | grep -cE '"/sys/.*/no_such_file\.0".*ENOENT')
		[ "$ops" -gt 0 ] && [ "$ops" = "$seen" ] ||
			fail "--op $op --missing: $ops ops, but strace saw $seen calls"
	done
	traced -t 1 --total 100
	fd=$(sed -n 's/^open.*core_id".*= \([0-9]*\)$/\1/p' task.0 | head -n 1)
	[ "$(grep -c "^read($fd, .*, 4096) *= [0-9]" task.0)" = 100 ] || fail "not 100 reads"
	[ "$(grep -c "^close($fd) *= 0" task.0)" -ge 100 ] || fail "not 100 closes"
	traced --missing --distinct -t 2 --total 400
	[ "$(paths 0 | sort -u)" = "${core%/*}/no_such_file.0" ] &&
		[ "$(paths 1 | sort -u)" = "${core%/*}/no_such_file.1" ] ||
		fail "--missing --distinct: $(paths 0 | sort -u) $(paths 1 | sort -u)"
	traced --missing --files 2 -t 1 --total 200
	sed -n '1,2s/$/.missing/p' rule >want
	paths 0 | head -n 2 | cmp -s want - || fail "--missing --files"

	# A call that fails in the middle of the run (C4)
	run inject openat:EIO:when=600+ "$KBENCH" -f json kernfs lookup --mode process -t 2 -r 1 \
		-d 20s
	expect 1 "an open that fails"
	has "$err" "task [01] of 2: open $core: Input/output error"
	json_is "$point | .valid == false and .rate == null"
else
	note "what is looked up was not checked: no strace, or it cannot trace here"
fi

# ---- other kernfs mounts, and none ----

case $(stat -f -c %T /sys/fs/cgroup 2>/dev/null) in
cgroupfs|cgroup2fs|tmpfs)
	lookup --root /sys/fs/cgroup "${brief[@]}"
	if [ "$status" = 0 ]; then
		json_is '.benchmarks[0].parameters.path | startswith("/sys/fs/cgroup/")'
		lookup --root /sys/fs/cgroup --missing --distinct -t 2 "${brief[@]}"
		expect 0 "--root /sys/fs/cgroup --missing"
	else
		note "/sys/fs/cgroup was not tried: $(tail -n 1 "$err")"
	fi ;;
*)	note "/sys/fs/cgroup was not tried: there is none" ;;
esac

if [ "$(id -u)" != 0 ] || ! unshare --mount true 2>/dev/null; then
	note "an empty /sys was not tried: needs root and mount namespaces"
	exit 0
fi

# A file that is mounted over one of sysfs's, as lxcfs does, is not on kernfs.
if [ -s rule ]; then
	first=$(head -n 1 rule)
	echo 0-1 >mounted && chmod 444 mounted
	# shellcheck disable=SC2016 # for the inner shell
	run unshare --mount sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' - \
		"$TMPDIR/mounted" "$first" "$KBENCH" -f json kernfs lookup --files 1 "${brief[@]}"
	expect 0 "a file mounted over $first"
	json_is ".benchmarks[0].parameters.path == \"$(sed -n 2p rule)\""
fi

# F7: nothing of sysfs is there
for what in "" --missing "--files 3" "--distinct --op stat" "--root /sys"; do
	# shellcheck disable=SC2086
	run unshare --mount sh -c 'mount -t tmpfs none /sys && exec "$@"' - "$KBENCH" -f json \
		kernfs lookup "${brief[@]}" $what
	expect 3 "an empty /sys, $what"
	has "$err" "skipped: /sys is on tmpfs, which is not kernfs" "$what"
	hasnt "$out" '"rate": *[0-9]' "$what"
done
# one that has a sysfs in it is good enough
mkdir sys
run unshare --mount sh -c 'mount -t sysfs none sys && exec "$@"' - "$KBENCH" -f json kernfs lookup \
	"${brief[@]}" --root "$TMPDIR" --files 3
expect 0 "a sysfs mounted elsewhere"
json_is ".benchmarks[0].parameters.path | startswith(\"$TMPDIR/sys/devices/system/\")"
exit 0
