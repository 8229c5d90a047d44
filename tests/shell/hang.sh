#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# A file system whose server stops answering in mid-run: the report comes all the same
#
# The server is fuse2fs, stopped by a signal. FUSE asks it about a missing name every time (its
# answers about these are not cached), so every task of nfs negative-dentry comes to hang.
. "$(dirname "$0")/lib.sh"

need_root
need_cmd fuse2fs
need_cmd mkfs.ext4 e2fsprogs
[ -c /dev/fuse ] || skip "no /dev/fuse"

mnt=$TMPDIR/mnt
mkdir "$mnt" && truncate -s 32M image && mkfs.ext4 -q image || fail "no image"
server=''

end()
{
	[ -n "$server" ] && kill -CONT "$server" 2>/dev/null
	sleep 0.2
	umount -l "$mnt" 2>/dev/null
	[ -n "$server" ] && kill "$server" 2>/dev/null
}
trap end EXIT

fuse2fs -f image "$mnt" -o rw >server.log 2>&1 &
server=$!
within 10 mountpoint -q "$mnt" || skip "fuse2fs does not mount: $(tail -n 1 server.log)"

begun()
{
	[ -n "$(find "$mnt" -mindepth 3 -maxdepth 3 -path '*/run/*' 2>/dev/null)" ]
}

# hang NAME ARGUMENT...: runs for 3 s, but for the server
hang()
{
	local name=$1 start=$SECONDS pid took
	shift
	"$KBENCH" "$@" -t 3 -r 1 -d 3s --grace 1s --dir "$mnt" >"$out" 2>"$err" &
	pid=$!
	within 10 begun || fail "$name: it did not begin"
	sleep 1
	kill -STOP "$server"
	# 3 s, 1 s of grace, 1 s for the killed, 1 s for the directory; and some for a slow machine
	if ! within 12 dead $pid; then
		kill -KILL $pid
		fail "$name: it hangs"
	fi
	wait $pid
	status=$?
	took=$((SECONDS - start))
	expect 1 "$name"
	[ $took -ge 3 ] || fail "$name: ended after $took s"
	has "$err" "3 of 3 tasks did not stop within the grace time: tasks 0 1 2" "$name"
	hasnt "$out" '^ +3 +[0-9]' "$name: a rate"
	has "$out" '^ +3 +invalid' "$name"
	kill -CONT "$server"
	within 10 none_running || fail "$name: tasks are left after the server came back"
}

dead()
{
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

hang "nfs negative-dentry" nfs negative-dentry --any-fs
within 10 umount "$mnt" || fail "the file system is still in use"
wait $server

# What a run left there that could not remove it, the next one does.
fuse2fs -f image "$mnt" -o rw >server.log 2>&1 &
server=$!
within 10 mountpoint -q "$mnt" || fail "fuse2fs does not mount again"
kbench locking vfs -t 1 -r 1 -l 1000 --dir "$mnt"
expect 0 "a run after it"
[ -z "$(ls -d "$mnt"/perf-kbench.* 2>/dev/null)" ] || fail "left over: $(leftovers "$mnt")"
hang "locking vfs" locking vfs --op stat
kbench locking vfs -t 1 -r 1 -l 1000 --dir "$mnt"
expect 0 "a run after it"
[ -z "$(ls -d "$mnt"/perf-kbench.* 2>/dev/null)" ] || fail "left over: $(leftovers "$mnt")"
umount "$mnt" || fail "the file system is still in use"
server=''
exit 0
