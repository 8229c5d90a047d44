#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# --contention: who waits for which lock, on file systems of our own; as perf lock contention says;
# and what it says where it cannot look, or loses some of it
# shellcheck disable=SC2016,SC2317 # $-words in single quotes are jq's; within calls in_pass

. "$(dirname "$0")/lib.sh"
brief=(-t 2 -d 100ms -w 10ms -r 1 --window 20ms)
table='.passes[0].points[0].figures'

# says REGEX [WHAT]: the last run, on either side
says()
{
	cat "$out" "$err" >both
	has both "$@"
}

# ---- an ordinary user ----

if [ "$(id -u)" != 0 ] || setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	run as_nobody -q locking vfs "${brief[@]}" --contention
	expect 0 "as an ordinary user"
	has "$out" '^ +2 +[0-9]+ ' "its run"
	if [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -gt -1 ]; then
		says 'contention: .*perf_event_paranoid' "as an ordinary user"
	fi
fi
need_root

# ---- built without libtraceevent (L3) ----

if [ -z "$KBENCH_SAN" ]; then
	run make -C "$top" O="$TMPDIR/without" NO_LIBTRACEEVENT=1 all
	expect 0 "make NO_LIBTRACEEVENT=1"
	run "$TMPDIR/without/perf-kbench" -q locking vfs "${brief[@]}" --contention
	expect 0 "without libtraceevent"
	has "$out" '^ +2 +[0-9]+ ' "its run"
	says 'contention: .*built without libtraceevent: install libtraceevent-dev'
	rm -rf "$TMPDIR/without"
fi

kbench -q locking vfs "${brief[@]}" --contention
cat "$out" "$err" >both
if grep -q 'contention: ' both && ! grep -q 'a pass of its own' both; then
	skip "no contention here: $(sed -n 's/.*contention: //p' both | head -n 1)"
fi

# ---- file systems ----

mnt=$TMPDIR/mnt
mkdir "$mnt" || fail "mkdir"
trap 'umount -l "$mnt" 2>/dev/null' EXIT

# on FS...: mount it, the directory is empty; false if that cannot be
on()
{
	local fs=$1
	umount "$mnt" 2>/dev/null
	if [ "$fs" = tmpfs ]; then
		mount -t tmpfs none "$mnt" || fail "tmpfs"
		return
	fi
	if ! command -v "mkfs.$fs" >/dev/null; then
		note "$fs was not tried: no mkfs.$fs"
		return 1
	fi
	rm -f image
	truncate -s 320M image
	if ! mkfs."$fs" -q image >"$out" 2>"$err" || ! mount -o loop image "$mnt" 2>"$err"; then
		note "$fs was not tried: $(tail -n 1 "$err")"
		return 1
	fi
}

mounts_before=$(wc -l </proc/mounts)
events_left()
{
	awk '$3 == "tracefs" { print $2 }' /proc/mounts | while read -r dir; do
		grep -H 1 "$dir"/events/lock/*/enable
	done
}

# The directory's rwsem, and who takes it: names of functions differ by kernel and compiler.
site='rwsem:W (path_openat|open_last_lookups|lookup_open|do_unlinkat|do_unlink|filename_unlinkat|vfs_unlink|start_dirop|start_removing|__start_dirop|.*dirop.*)$'
contended=(locking vfs --op unlink -t 8 -r 2 --dir "$mnt" --contention)

need_cpus 2
for fs in tmpfs ext4 xfs; do
	on $fs || continue
	for mode in process thread; do
		kbench -q -o "$fs.json" "${contended[@]}" --mode $mode -v
		expect 0 "$fs, $mode"
		has "$out" "^ *$site|^ *rwsem:W [a-z_]+ +[0-9]" "$fs, $mode: no rwsem"
		json "$table.rows[].name" "$fs.json" >names
		has names "^$site" "$fs, $mode"
		# the call chain goes on outwards
		json "$table.rows[] | select(.name | test(\"^rwsem:W\")) | .detail[]" "$fs.json" >chain
		has chain '^(rwsem_)?down_write' "$fs, $mode"
		has chain '^do_syscall_64\+0x|^el0_svc|^entry_SYSCALL|^invoke_syscall|^do_syscall' \
			"$fs, $mode"
		# sums: the rows are parts of the first, in falling order; waits have been at least so long
		json_is "$table | .columns[1].name == \"wait ns/op\"" "$fs.json"
		json_is "$table.rows | map(.values[1] | add / length) |
			. == (sort | reverse) and (.[0] - (.[1:] | add) | fabs) < 1e-6 * .[0]" "$fs.json"
		json_is "$table.rows | all(.values as \$v | range(\$v[0] | length) as \$r |
			\$v[0][\$r] == 0 or
			(\$v[1][\$r] / \$v[0][\$r] / 1000 - \$v[2][\$r] | fabs) < 1e-6 * \$v[2][\$r] and
			\$v[3][\$r] >= \$v[2][\$r])" "$fs.json"
		# more than all the time can only be what began in the warm-up
		json_is "$table.rows | all(.values[4] | all(. >= 0 and . <= 130))" "$fs.json"
		json "$table.notes[]" "$fs.json" >notes
		has notes '^[0-9]+ events/s; reading them took [0-9.]+ % of a CPU and [0-9.]+ MiB'
		hasnt notes 'lost|not understood|bug|left out' "$fs, $mode"
	done
done

# ---- as perf has it ----

# Ours are of the windows, perf's of the whole life of the tasks: waits that ended outside of windows
# are taken off, as perf's own records have them.
compare_with_perf()
{
	command -v perf >/dev/null || { note "not compared: no perf (linux-perf)"; return; }
	on tmpfs
	if ! perf record -q -k CLOCK_MONOTONIC -e lock:contention_begin -e lock:contention_end -c 1 \
		-m 4M -o perf.data -- "$KBENCH" -q -o ours.json "${contended[@]}" -l 20000 \
		>"$out" 2>"$err"; then
		note "not compared: perf record: $(tail -n 1 "$err")"
		return
	fi
	json "$table as \$f | .passes[0].points[0].repeats as \$r |
		[range(\$r | length) as \$i | \$f.rows[0].values[0][\$i] * \$r[\$i].ops] |
		add | round" ours.json >ours
	json '.passes[0].points[0].repeats[] |
		"\(.gate_ns + .windows[0][0]) \(.gate_ns + .windows[-1][1])"' ours.json >windows
	perf script -i perf.data --ns -F comm,tid,time,event,trace >events 2>/dev/null ||
		{ note "not compared: perf script"; return; }
	# the tasks of the pass are those that wait between its first window and its last
	awk 'NR == FNR { from[NR] = $1; to[NR] = $2; next }
	     $1 == "locking-vfs" {
			t = $3; gsub(/[.:]/, "", t); inside = 0
			for (i in from)
				inside += t + 0 >= from[i] && t + 0 < to[i]
			if (inside)
				ours[$2] = 1
			else if ($4 ~ /contention_end/)
				outside[$2]++
	     }
	     END { for (tid in ours) print tid, outside[tid] + 0 }' windows events >tids
	[ "$(wc -l <tids)" = 16 ] || fail "perf has seen $(wc -l <tids) tasks, not 16"
	perf lock contention -i perf.data -t >"$out" 2>"$err" ||
		{ note "not compared: perf lock contention: $(tail -n 1 "$err")"; return; }
	cat "$out" "$err" >both		# it tells all on standard error
	awk 'NR == FNR { ours[$1] = 1; n -= $2; off += $2; next }
	     NF > 5 && ours[$(NF - 1)] { n += $1 } END { print n + 0, off + 0 }' tids both >sums
	read -r theirs outside <sums
	echo "perf lock contention: $theirs waits and $outside outside of windows, ours: $(cat ours)"
	awk -v a="$(cat ours)" -v b="$theirs" \
		'BEGIN { exit !(b >= 200 && a >= 0.95 * b && a <= 1.05 * b) }' ||
		fail "perf lock contention has $theirs waits, we have $(cat ours)"
}
compare_with_perf

# ---- records are lost (G9) ----

if on xfs; then
	kbench -q -o lost.json locking vfs --op unlink -t 16 -r 3 --dir "$mnt" --contention --buffer-kb 1
	expect 0 "the smallest buffer"
	json "$table.notes[]" lost.json >notes
	has notes '^lost: [1-9][0-9]* of [0-9]+ records' "the smallest buffer"
	hasnt notes 'not understood|bug'
	json_is "$table.lower_bound" lost.json
	has "$out" 'lost: [1-9]'
	has "$out" 'lower bounds'
fi

kbench -q locking vfs "${brief[@]}" --contention --buffer-kb 2000000000
expect 0 "a buffer without end"
says 'contention: a buffer of 2000000000 KiB is more than'

# ---- Ctrl-C in the pass, and what is left ----

on tmpfs
"$KBENCH" locking vfs --op unlink -t 2 -d 50ms -w 10ms -r 1 --window 10ms --contention \
	--dir "$mnt" >"$out" 2>"$err" || fail "a short run"
"$KBENCH" -q locking vfs --op unlink -t 2 -r 1 --dir "$mnt" --contention \
	--total 1000 >"$out" 2>"$err" || fail "a run of fixed work"
env --default-signal "$KBENCH" -q -o int.json locking vfs --op unlink -t 2 -d 2s -w 10ms -r 1 \
	--dir "$mnt" --contention >"$out" 2>"$err" &
pid=$!
in_pass()
{
	find "/proc/$pid/fd" -lname 'anon_inode:*perf_event*' 2>/dev/null | grep -q .
}
within 10 in_pass || fail "the pass did not begin"
sleep 0.5
kill -INT $pid
wait $pid
status=$?
expect 130 "Ctrl-C in the pass"
json_is '.complete == false and .benchmarks[0].status == "ok" and
	.passes[0].status == "interrupted"' int.json
within 5 none_running || fail "tasks are left"
[ -z "$(leftovers "$mnt")" ] || fail "left over: $(leftovers "$mnt")"
umount "$mnt" || fail "tmpfs is still in use"

[ "$(wc -l </proc/mounts)" = "$mounts_before" ] || fail "other mounts than before: $(cat /proc/mounts)"
[ -z "$(events_left)" ] || fail "still enabled: $(events_left)"
exit 0
