#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# locking vfs: ops, sharing, what is counted, what is left; file systems without inodes or space
. "$(dirname "$0")/lib.sh"

need_cmd jq

dir=$TMPDIR/files
mkdir "$dir" || fail "mkdir"
# By number, not by time, so that a busy machine cannot make them invalid; over 1 ms on any.
brief=(-r 1 -l 2000)
briefest=(-r 1 -l 20000)
point='.benchmarks[0].points[0]'

# vfs ARGUMENT...: as JSON in $out
vfs()
{
	kbench -f json locking vfs --dir "$dir" "$@"
}

clean()
{
	[ -z "$(leftovers "${1:-$dir}")" ] || fail "left over: $(leftovers "${1:-$dir}")"
}

# ---- every op with every sharing, in both modes ----

declare -A unit=([creat]=creat+close [open]=open+close [unlink]=creat+close+unlink
	[rename]=rename [mkdir]=mkdir+rmdir [stat]=stat [access]=access [move]=rename
	[link]=link+unlink [symlink]=symlink+unlink [readlink]=readlink
	[readdir]=open+getdents+close [tmpfile]="open+close (unnamed)")
ops="creat open unlink rename move link symlink readlink mkdir readdir tmpfile stat access"

for op in $ops; do
	for share in none dir file; do
		for mode in process thread; do
			[ $share-$mode = file-thread ] && continue	# nothing is new in it
			what="--op $op --share $share --mode $mode"
			# shellcheck disable=SC2086 # words are meant
			case $op in
			open | stat | access | readlink) vfs $what -t 2 -j 3 "${briefest[@]}" ;;
			mkdir) vfs $what -t 2 -j 3 -r 1 -d 300ms ;;	# slow on ext4
			*) vfs $what -t 2 -j 3 "${brief[@]}" ;;
			esac
			if [ $share = file ] && [[ $op =~ ^(unlink|rename|move|link|symlink|mkdir)$ ]]; then
				expect 2 "$what"
				has "$err" "--share file: --op $op" "$what"
			else
				good "$what"
				json_is "$point.repeats[0].task_ops_all | length == 2 and min > 0"
				json_is ".benchmarks[0] | .unit == \"${unit[$op]}\" and
					.mode == \"$mode\" and .parameters ==
					{op: \"$op\", share: \"$share\", jobs: \"3\"}"
			fi
			clean
		done
	done
done

vfs "${brief[@]}"
good "defaults"
json_is '.benchmarks[0] | .mode == "process" and .unit == "creat+close" and
	.parameters == {op: "creat", share: "dir", jobs: "1"}'

# ---- usage ----

for bad in "--op creat2" "--op ''" "--share dirs" "--share ''" "-j 0" "-j -1" "-j x" "-j 1.5" \
	   "--jobs 18446744073709551616" "--depth 17" "--depth x"; do
	eval "vfs $bad"
	expect 2 "$bad"
	has "$err" "${bad%% *}|--jobs" "$bad"
done
vfs "${brief[@]}" --dir "$dir/none"
expect 1 "--dir that is not there"
has "$err" "none: No such file or directory"
clean

# A table of names that no machine has room for.
if [ -z "$KBENCH_SAN" ]; then
	vfs "${brief[@]}" -t 1 -j 9007199254740992
	expect 1 "-j 2^53"
	has "$err" "jobs.*Cannot allocate memory"
	clean
fi

# ---- what is counted is what was done (C6), and what is done is what was said ----

# trace ARGUMENT...: the program, and only its own system calls in trace.PID
trace()
{
	rm -f "$TMPDIR"/trace.*
	ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -qq -s 200 -o "$TMPDIR/trace" \
		-e trace=file "$KBENCH" -f json locking vfs --dir "$dir" -r 1 "$@"
}

# traced ARGUMENT...: the system calls, a file a task, in trace.PID
traced()
{
	run_steady trace "$@"
	expect 0 "traced $*"
}

# calls REGEX: how many such lines with a file of ours in them, or their directory
calls()
{
	cat "$TMPDIR"/trace.* | grep -E '"[0-9]{5}\.[0-9]{6}"|"\.", O_(RDONLY|WRONLY)\|O_(DIRECTORY\)|.*TMPFILE)' |
		grep -cE "$1"
}

if (need_inject) >/dev/null; then
	declare -A call=([creat]='^(creat|open|openat)\(.*= [0-9]' [open]='O_RDONLY.*= [0-9]'
		[unlink]='^unlink(at)?\(.*= 0' [rename]='^rename(at|at2)?\(.*= 0'
		[mkdir]='^(rmdir|unlinkat)\(.*= 0' [stat]='^(stat|newfstatat|statx)\(.*= 0'
		[access]='^(access|faccessat|faccessat2)\(.*= 0' [move]='^rename(at|at2)?\(.*= 0'
		[link]='^link(at)?\(.*= 0' [symlink]='^symlink(at)?\(.*= 0'
		[readlink]='^readlink(at)?\(.*= 6'
		[readdir]='"\.", O_RDONLY\|O_DIRECTORY\).*= [0-9]'
		[tmpfile]='"\.", O_WRONLY\|.*O_TMPFILE.*= [0-9]')
	for op in $ops; do
		traced --op $op -t 2 -l 100000000 -d 100ms
		ops=$(json "$point.repeats[0].ops_all")
		seen=$(calls "${call[$op]}")
		[ "$ops" -gt 0 ] && [ "$ops" = "$seen" ] ||
			fail "--op $op: $ops ops, but strace saw $seen calls"
	done

	# All tasks' files in one directory, or each in its own, or the same file.
	traced --share dir -t 3 --total 60
	[ "$(cat trace.* | sed -n 's/^chdir("\([0-9.]*\)").*/\1/p' | sort -u | wc -l)" = 1 ] ||
		fail "--share dir: not one directory"
	[ "$(cat trace.* | sed -n 's/^creat("\([^"]*\)".*/\1/p' | sort -u | wc -l)" = 3 ] ||
		fail "--share dir: not a file a task"
	traced --share none -t 3 --total 60
	[ "$(cat trace.* | sed -n 's/^chdir("\([0-9.]*\)").*/\1/p' | sort -u | wc -l)" = 3 ] ||
		fail "--share none: not a directory a task"
	traced --share file -t 3 --total 60
	[ "$(cat trace.* | sed -n 's/^creat("\([0-9.]*\)".*/\1/p' | sort -u | wc -l)" = 1 ] ||
		fail "--share file: not one file"

	# --jobs files a task, one after the other, each as often.
	traced --op open -j 5 -t 1 --total 100
	cat trace.* | sed -n 's/^open.*"\([0-9]\{5\}\.[0-9]\{6\}\)", O_RDONLY.*/\1/p' >order
	[ "$(wc -l <order)" = 100 ] || fail "--total 100: $(wc -l <order) opens"
	[ "$(sort order | uniq -c | awk '{ print $1 }' | xargs)" = "20 20 20 20 20" ] ||
		fail "-j 5: $(sort order | uniq -c)"
	[ "$(head -n 5 order)" = "$(sed -n 6,10p order)" ] || fail "-j 5: not in turn"

	# There and back.
	traced --op rename -t 1 --total 400
	cat trace.* | sed -n 's/^rename.*("\([0-9.]*\)", "\([0-9.]*\)").*/\1 \2/p' >order
	awk 'NR > 1 && ($1 != to || $2 != from) { exit 1 } { from = $1; to = $2 }
		END { if (NR != 400) exit 1 }' order || fail "--op rename is not there and back"
	traced --op rename -j 3 -t 1 --total 400
	[ "$(cat trace.* | sed -n 's/^rename.*("\([0-9.]*\)", .*/\1/p' | sort -u | wc -l)" = 4 ] ||
		fail "--op rename -j 3: not four names"
	traced --op move -j 2 -t 1 --total 400
	[ "$(cat trace.* | sed -n 's/^rename.*("\([^"]*\)", "\([^"]*\)").*/\1 \2/p' | head -n 5)" = \
"00000.000000 to/00000.000000
00000.000001 to/00000.000001
to/00000.000000 00000.000000
to/00000.000001 00000.000001
00000.000000 to/00000.000000" ] || fail "--op move is not there and back"

	# The directory that is read has the files of all who share it.
	run strace -f -qq -o trace.dir -e trace=getdents64 "$KBENCH" -f json locking vfs --dir "$dir" \
		-r 1 --op readdir -j 7 -t 3 --total 30
	expect 0 "getdents64"
	[ "$(grep -c ' = 0$' trace.dir)" -ge 30 ] || fail "--op readdir does not read to the end"
	# . and .. of 24 bytes, and 21 names of 12
	grep -q ' 23 entries \*/, 32768) = 720$' trace.dir || fail "--op readdir: $(head -n 3 trace.dir)"

	# Directories above the files, and nothing else about them.
	traced --op open --depth 3 -t 2 --total 60
	[ "$(cat trace.* | grep -cE '"d/d/d/0000[01]\.000000", O_RDONLY\).*= [0-9]')" = 60 ] ||
		fail "--depth 3: not 60 opens"
	json_is ".benchmarks[0].parameters.depth == \"3\""
	clean
else
	note "calls were not counted: no strace, or it cannot trace here"
fi

# Repeats have new files: none is left from the last, in another directory.
vfs --op open -t 2 -j 4 -r 3 -l 20000
good "-r 3"
json_is "$point.repeats | length == 3 and all(.ops_all > 0)"
clean

# ---- file systems ----

mnt=$TMPDIR/mnt
mkdir -p "$mnt" || fail "mkdir"
trap 'umount -l "$mnt" 2>/dev/null' EXIT

# on TYPE: the ops that write, on what is mounted at $mnt; unmounts
on()
{
	local op mode
	for op in creat unlink rename move link symlink readdir mkdir; do
		for mode in process thread; do
			kbench -f json locking vfs --op $op --mode $mode -t 2 -j 2 "${brief[@]}" \
				--dir "$mnt"
			good "$op on $1"
			json_is ".benchmarks[0].dir.fs == \"$1\""
			[ -z "$(find "$mnt" -mindepth 1 -name 'perf-kbench*')" ] ||
				fail "left over on $1: $(leftovers "$mnt")"
		done
	done
	umount "$mnt" || fail "$1 is still in use"
}

if [ "$(id -u)" != 0 ]; then
	note "file systems of our own were not tried: needs root"
	exit 0
fi

mount -t tmpfs none "$mnt" || fail "tmpfs"
on tmpfs

mkdir "$TMPDIR/lower" "$TMPDIR/over" || fail "mkdir"
if mount -t tmpfs none "$TMPDIR/over" && mkdir "$TMPDIR/over/up" "$TMPDIR/over/work" &&
   mount -t overlay none -o "lowerdir=$TMPDIR/lower,upperdir=$TMPDIR/over/up,workdir=$TMPDIR/over/work" \
	"$mnt" 2>"$err"; then
	on overlay
else
	note "overlayfs was not tried: $(tail -n 1 "$err")"
fi
umount "$TMPDIR/over" || fail "tmpfs below overlayfs is still in use"

for fs in ext4 xfs btrfs; do
	if ! command -v mkfs.$fs >/dev/null; then
		note "$fs was not tried: no mkfs.$fs"
		continue
	fi
	rm -f image
	truncate -s 320M image
	if mkfs.$fs -q image >"$out" 2>"$err" && mount -o loop image "$mnt" 2>"$err"; then
		on $fs
	else
		note "$fs was not tried: $(tail -n 1 "$err")"
	fi
done
rm -f image

# ---- no inodes left (D10), no space, read only ----

mount -t tmpfs -o nr_inodes=50 none "$mnt" || fail "tmpfs"
for op in creat open rename; do
	for mode in process thread; do
		run "$KBENCH" -f json -o results locking vfs --op $op --mode $mode -t 2 -j 100 \
			"${brief[@]}" --dir "$mnt"
		expect 1 "$op without inodes"
		has "$err" "creat 0000[01]\.[0-9]{6}.*No space left on device" "$op"
		hasnt "$out" '"rate": *[0-9]' "$op"
		json_is "$point | .valid == false and .rate == null and .repeats == [] and
			(.flags | index(\"error\") != null)"
		json_is '.benchmarks[0] | .status == "failed" and (.message | test("No space left"))'
		clean "$mnt"
	done
done
# The point before it stands: one task with 20 files has room.
kbench -f json locking vfs -t 1,3 -j 20 "${brief[@]}" --dir "$mnt"
expect 1 "the second point without inodes"
json_is '.benchmarks[0].points | length == 2 and .[0].skip == null and
	(.[1].valid | not) and .[1].rate == null'
kbench -f csv locking vfs -t 1,3 -j 20 "${brief[@]}" --dir "$mnt"
expect 1 "as CSV"
has "$out" '^locking/vfs,,1,.*,true,'
has "$out" '^locking/vfs,,3,[^0-9]*,0,,,,,,,,,[^,]*,[0-9]+,[0-9]+,false,'
kbench locking vfs -t 1,3 -j 20 "${brief[@]}" --dir "$mnt"
expect 1 "as a table"
has "$out" '^ +1 +[0-9]+ '
has "$out" '^ +3 +(invalid|-)'
clean "$mnt"
umount "$mnt" || fail "tmpfs is still in use"

mount -t tmpfs -o ro none "$mnt" || fail "tmpfs"
kbench -f json locking vfs "${brief[@]}" --dir "$mnt"
expect 1 "read-only"
has "$err" "Read-only file system"
umount "$mnt" || fail "tmpfs is still in use"
exit 0
