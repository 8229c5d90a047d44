#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# locking data and locking fd: ops, sharing, which calls are made on what, what is left
. "$(dirname "$0")/lib.sh"

need_cmd jq

dir=$TMPDIR/files
mkdir "$dir" || fail "mkdir"
brief=(-r 1 -l 20000)
point='.benchmarks[0].points[0]'

clean()
{
	[ -z "$(leftovers "$dir")" ] || fail "left over: $(leftovers "$dir")"
}

# ---- every op with every sharing, in both modes ----

declare -A unit=([read]=pread [write]=pwrite [append]="write (append)" [truncate]=pwrite+ftruncate
	[fsync]=pwrite+fsync [fault]=madvise+fault [dup]=dup+close [lseek]=lseek [fstat]=fstat
	[fcntl]=lock+unlock [flock]=lock+unlock)

# all BENCHMARK OPS SHARES
all()
{
	local op share mode what
	for op in $2; do
		for share in $3; do
			for mode in process thread; do
				[ $mode = thread ] && [ $share != none ] && continue	# nothing is new in it
				what="$1 --op $op --share $share --mode $mode"
				# shellcheck disable=SC2086 # words are meant
				kbench -f json locking $what --dir "$dir" -t 2 "${@:4}"
				if [[ $op-$share = append-block || $op-$share = truncate-block ]]; then
					expect 2 "$what"
					has "$err" "--share block: not with --op $op" "$what"
				else
					good "$what"
					json_is "$point.repeats[0].task_ops_all | length == 2 and min > 0"
					json_is ".benchmarks[0] | .unit == \"${unit[$op]}\" and
						.mode == \"$mode\" and .parameters.op == \"$op\" and
						.parameters.share == \"$share\""
				fi
				clean
			done
		done
	done
}
all data "read write append truncate fault" "none file block" "${brief[@]}"
all data fsync "none file block" -r 1 -d 200ms
all fd "dup lseek fstat fcntl flock" "none inode file" "${brief[@]}"

kbench -f json locking data --dir "$dir" "${brief[@]}"
good "defaults of data"
json_is '.benchmarks[0] | .mode == "process" and
	.parameters == {op: "read", share: "none", size: "4096"}'
kbench -f json locking fd --dir "$dir" "${brief[@]}"
good "defaults of fd"
json_is '.benchmarks[0] | .mode == "process" and .parameters == {op: "dup", share: "none"}'

for bad in "data --op creat" "data --share dir" "data --size 0" "data --size 1048577" \
	   "data --op fault --size 4095" "fd --op read" "fd --share block" "fd --share ''"; do
	eval "kbench locking $bad --dir $dir"
	expect 2 "$bad"
	has "$err" "--(op|share|size)" "$bad"
done

# ---- which calls are made, and on what ----

if ! (need_inject) >/dev/null; then
	note "calls were not counted: no strace, or it cannot trace here"
	exit 0
fi

# trace ARGUMENT...: the program, and only its own system calls in trace.PID
trace()
{
	rm -f "$TMPDIR"/trace.*
	ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -qq -o "$TMPDIR/trace" \
		-e trace=desc,memory "$KBENCH" -f json locking "$@" --dir "$dir" -r 1
}

# traced ARGUMENT...: the system calls, a file a task, in trace.PID; $ops of them were counted
traced()
{
	run_steady trace "$@"
	expect 0 "traced $*"
	ops=$(json "$point.repeats[0].ops_all")
	clean
}

# seen N REGEX WHAT
seen()
{
	local n
	n=$(cat "$TMPDIR"/trace.* | grep -cE "$2")
	[ "$n" = "$1" ] || fail "$3: $1 calls are expected, $n were seen: $2"
}

# Before the gate each task writes its block once.
for share in none:0,0 file:0,512 block:0,0; do
	traced data --op read --share "${share%:*}" --size 512 -t 2 --total 300
	seen 300 '^pread64\([0-9]+, .*, 512, (0|512)\) = 512' "read, $share"
	seen 2 '^pwrite64\(' "read, $share"
	at=$(cat trace.* | sed -nE 's/^pread64\(.*, 512, ([0-9]+)\).*/\1/p' | sort -nu | xargs)
	want=${share#*:}
	[ "$at" = "$(tr , '\n' <<<"$want" | sort -nu | xargs)" ] || fail "read, $share: at $at"
	traced data --op write --share "${share%:*}" --size 512 -t 2 --total 300
	seen 302 '^pwrite64\([0-9]+, .*, 512, (0|512)\) = 512' "write, $share"
done
traced data --op append -t 1 --total 2100
seen 2100 '^write\([0-9]+, .*, 4096\) += 4096' "append"
seen 2 '^ftruncate\([0-9]+, 0\)' "append"
traced data --op truncate -t 2 --total 100
seen 102 '^pwrite64\(' "truncate"
seen 100 '^ftruncate\([0-9]+, 0\)' "truncate"
traced data --op fsync -t 2 --total 20
seen 20 '^fsync\(' "fsync"
traced data --op fault --size 8192 -t 2 --total 100
seen 100 '^madvise\(0x[0-9a-f]+, 8192, MADV_DONTNEED\) = 0' "fault"

traced fd --op dup -t 2 --total 100
seen 100 '^dup\(' "dup"
traced fd --op lseek -t 2 --total 100
seen 100 '^lseek\([0-9]+, 0, SEEK_SET\)' "lseek"
traced fd --op fstat -t 2 --total 100
seen 100 '^(fstat|newfstatat)\(.*S_IFREG\|0600, st_size=0' "fstat"
traced fd --op fcntl -t 2 --total 100
seen 100 'F_SETLK, \{l_type=F_WRLCK, l_whence=SEEK_SET, l_start=[01], l_len=1\}' "fcntl"
seen 100 'F_SETLK, \{l_type=F_UNLCK' "fcntl"
traced fd --op flock --share inode -t 2 --total 100
seen 100 '^flock\([0-9]+, LOCK_EX\) += 0' "flock"
seen 100 '^flock\([0-9]+, LOCK_UN\) += 0' "flock"

# A file a task, one file, or one open.
opened()
{
	cat "$TMPDIR"/trace.* | grep -cE "openat\(.*\"(shared|0000[01])\", O_RDWR"
}
for share in none:2 inode:2 file:1; do
	traced fd --op lseek --share "${share%:*}" -t 2 --total 100
	[ "$(opened)" = "${share#*:}" ] || fail "fd --share $share: opened $(opened) times"
done
traced fd --op lseek --share inode -t 2 --total 100
seen 2 'openat\(.*"00000", O_RDWR' "fd --share inode"

# ---- no space: said, and no number ----

if [ "$(id -u)" = 0 ]; then
	mnt=$TMPDIR/mnt
	mkdir "$mnt" || fail "mkdir"
	trap 'umount -l "$mnt" 2>/dev/null' EXIT
	mount -t tmpfs -o size=1m none "$mnt" || fail "tmpfs"
	kbench -f json locking data --op append -t 2 "${brief[@]}" --dir "$mnt"
	expect 1 "append to a full tmpfs"
	has "$err" "write the task's file: No space left on device"
	json_is "$point | .valid == false and .rate == null"
	[ -z "$(leftovers "$mnt")" ] || fail "left over: $(leftovers "$mnt")"
fi
exit 0
