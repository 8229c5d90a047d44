#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# --toggle: the order of its commands, what they are run as, what comes out, and that it is restored
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
log=$TMPDIR/log
brief=(-t 1 -d 60ms -w 5ms --window 10ms)
on="echo on >>$log" off="echo off >>$log" restore="echo restore >>$log"

# bench ARGUMENT...: as JSON, with a new log
bench()
{
	rm -f "$log"
	touch "$log"
	run timeout -k 1 60 "$KBENCH" -f json "$@"
}

# restored N WHAT: the last command restored, N times, and on and off took turns before, off first
restored()
{
	local line want=off
	[ "$(grep -c '^restore$' "$log")" = "$1" ] || fail "$2: not restored $1 time(s): $(cat "$log")"
	while read -r line; do
		if [ "$line" = restore ]; then
			want=off
			continue
		fi
		[ "$line" = $want ] || fail "$2: the order of commands: $(xargs <"$log")"
		[ $want = off ] && want=on || want=off
	done <"$log"
	[ "$(tail -n 1 "$log")" = restore ] || fail "$2: it was not restored at last"
}

# ---- the order, and what is written ----

for name in "kernfs lookup" "locking vfs --mode thread" "fsnotify pipe" "fsnotify file --marks inode" \
	    "nfs negative-dentry --any-fs"; do
	# shellcheck disable=SC2086 # words are meant
	bench $name "${brief[@]}" -t 1,2 -r 3 --toggle "$on,$off,$restore"
	# a short window may have no op on a busy machine
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "$name: exit status $status"
	restored 1 "$name"
	[ "$(grep -c '^on$' "$log")" -ge 12 ] || fail "$name: $(xargs <"$log")"
	json_is "$run.variants == [\"off\", \"on\"] and ($run.points | length) == 4"
	json_is "$run.parameters | .toggle_on == \"$on\" and .toggle_off == \"$off\""
	# the turns of a repeat, by time: off on, on off, off on, ...
	# shellcheck disable=SC2016 # jq's own
	json_is "$run"' | .points as $p | all(range(2) as $t | range(3) as $r | [$t, $r]; . as [$t, $r] |
		[range(2) as $v | $p[2 * $t + $v].repeats[$r].windows[] | {v: $v, at: .[0], to: .[1]}] |
		sort_by(.at) | length % 4 == 0 and
		([to_entries[] | .value.v == [0, 1, 1, 0][.key % 4]] | all) and
		([.[1:], .[:-1]] | transpose | all(.[0].at >= .[1].to)))'
	# a verdict in the second, if there is a ratio
	json_is "all($run.points[] | select(.variant == \"on\" and .ratio != null); .notes |
		any(test(\"^(slower than off, us/op [+][0-9.]+ %|faster than off, us/op -[0-9.]+ %|\" +
			 \"no difference was found: [-+][0-9.]+ %) [(][-+][0-9.]+ to [-+][0-9.]+[)]\$\")))"
done
bench fsnotify file "${brief[@]}" -r 1 --marks inode --toggle "$on,$off"
json_is "$run.parameters.variant == \"inode\""
[ "$(tail -n 1 "$log")" = off ] || fail "without a third command, OFF is the one that restores"

# a mark that cannot be there is so in neither state
bench fsnotify eventfd "${brief[@]}" -r 1 --marks parent --toggle "$on,$off"
expect 3 "a variant that is skipped"
[ ! -s "$log" ] || fail "commands were run for what is skipped: $(cat "$log")"

# several benchmarks: each restores
bench fsnotify all "${brief[@]}" -r 1 --toggle "$on,$off,$restore"
restored 3 "fsnotify all"

# a comma in a command; no other character has a meaning to us
bench kernfs lookup "${brief[@]}" -r 1 --toggle "printf '%s\\n' 'a\\,b\\d' >>$log,echo \"\$((1 + 1))\" >>$log"
has "$log" '^a,b\\d$'
has "$log" '^2$'

# ---- what commands are run as ----

mkdir here
show="pwd >>$log; grep -E '^Sig(Blk|Ign)' /proc/self/status >>$log; cat /proc/self/sched >>$log 2>&1"
(cd here && exec env --ignore-signal=HUP "$KBENCH" -f json locking vfs "${brief[@]}" -r 1 \
	--toggle "echo this is said; $show,read line; echo \"read=\$line\" >>$log") \
	>"$out" 2>"$err" </dev/zero
json . >/dev/null
has "$err" "^this is said$"
has "$log" "^read=$" "standard input"
[ "$(grep -c "^$TMPDIR/here$" "$log")" -ge 1 ] || fail "another folder: $(grep ^/ "$log" | sort -u)"
# signals 1 to 31; two more are the C library's own
hasnt "$log" "^Sig.*([1-79a-f][0-9a-f]{7}|[0-9a-f][0-9a-f]*[1-9a-f][0-9a-f]{0,6})$" "signals"
hasnt "$log" "^policy *: *[1-9]" "policy"

# ---- an effect: a path of thirty links, against one ----

file=/sys/devices/system/cpu/online
if [ -r $file ]; then
	ln -s $file link.0
	for n in $(seq 30); do
		ln -s "$TMPDIR/link.$((n - 1))" "link.$n"
	done
	cp -P link.30 long && cp -P link.0 short && cp -P short path
	bench kernfs lookup --op access --path "$TMPDIR/path" -t 1 -d 200ms -w 10ms --window 10ms -r 5 \
		--toggle 'cp -P long new && mv -T new path,cp -P short new && mv -T new path'
	expect 0 "links"
	json_is "$run.points[1] | .ratio > 1.2 and (.notes | any(startswith(\"slower than off, us/op +\")))"
	[ "$(readlink path)" = $file ] || fail "links: not restored"
	# and the other way round, in the table
	run "$KBENCH" kernfs lookup --op access --path "$TMPDIR/path" -t 1 -d 200ms -w 10ms --window 10ms \
		-r 5 --toggle 'cp -P short new && mv -T new path,cp -P long new && mv -T new path'
	expect 0 "links, the other way round"
	has "$out" '^ +1 off +[0-9]+ .* - +- '
	has "$out" '^ +1 on +[0-9]+ .* -[0-9.]+% '
	has "$out" '^# 1: on: faster than off, us/op -[0-9.]+ %'
	[ "$(readlink path)" = "$TMPDIR/link.29" ] || fail "links: not restored"
else
	note "no effect was measured: no $file"
fi

# ---- commands that fail, or hang ----

# failed REGEX WHAT
failed()
{
	expect 1 "$2"
	has "$err" "$1" "$2"
	json_is "$run.status == \"failed\" and .complete == false" "$out"
}

bench kernfs lookup "${brief[@]}" -r 2 --toggle "echo on >>$log; exit 7,$off,$restore"
failed "^kernfs/lookup: --toggle: 'echo on >>.*; exit 7' exited with 7$" "ON fails"
[ "$(xargs <"$log")" = "off on restore" ] || fail "ON fails: $(xargs <"$log")"
json_is "all($run.points[]; .valid == false and .rate == null)"
bench kernfs lookup "${brief[@]}" -r 2 --toggle "$on,false,$restore"
failed "^kernfs/lookup: --toggle: 'false' exited with 1$" "OFF fails"
[ "$(xargs <"$log")" = restore ] || fail "OFF fails: $(xargs <"$log")"
bench kernfs lookup "${brief[@]}" -r 2 --toggle "$on,$off,echo restore >>$log; exit 3"
failed "--toggle: '.*' exited with 3; what it was to restore is as it was left$" "RESTORE fails"
json_is "$run.points | length == 2 and all(.repeats | length == 2)"
bench kernfs lookup "${brief[@]}" -r 2 --toggle "no-such-command 2>/dev/null,$off,exit 4"
expect 1 "all fail"
has "$err" "--toggle: 'no-such-command .*' exited with 127$"
has "$err" "--toggle: 'exit 4' exited with 4; what it was to restore"
bench kernfs lookup "${brief[@]}" -r 1 --toggle "kill -KILL \$\$,$off,$restore"
failed "--toggle: 'kill -KILL .*' was killed by signal 9 \\(Killed\\)$" "ON is killed"

asleep()
{
	pgrep -f "^sleep 31415" >/dev/null
}
for mode in process thread; do
	bench kernfs lookup "${brief[@]}" --mode $mode -r 1 --grace 200ms \
		--toggle "sleep 31415; exit 5,$off,$restore"
	failed "--toggle: 'sleep 31415; exit 5' did not end within the grace time and was killed" "ON hangs"
	[ "$(xargs <"$log")" = "off restore" ] || fail "ON hangs: $(xargs <"$log")"
	asleep && fail "ON hangs: it goes on"
done
bench kernfs lookup "${brief[@]}" -r 1 --grace 200ms --toggle "$on,$off,sleep 31415"
failed "--toggle: 'sleep 31415' did not end within the grace time and was killed" "RESTORE hangs"
asleep && fail "RESTORE hangs: it goes on"

# a task that fails: restored all the same
if (need_inject) >/dev/null; then
	rm -f "$log"
	run inject pread64:EIO:when=50+ timeout -k 1 60 "$KBENCH" -f json fsnotify file "${brief[@]}" \
		-d 20s --toggle "$on,$off,$restore"
	expect 1 "a task fails"
	has "$err" "task 0 of 1: pread file: Input/output error"
	[ "$(tail -n 1 "$log")" = restore ] || fail "a task fails: not restored"
fi

# ---- signals, to us and to all that the terminal knows of ----

for how in one group; do
	for sig in INT TERM HUP; do
		for mode in process thread; do
			rm -f "$log"
			setsid env --default-signal "$KBENCH" -f json locking vfs --mode $mode -t 2 \
				-d 60s --toggle "$on,$off,sleep 0.2; $restore" >"$out" 2>"$err" &
			pid=$!
			within 10 grep -qs on "$log" || fail "$sig: it does not begin"
			if [ $how = one ]; then
				kill -$sig $pid
			else
				kill -$sig -- -$pid
			fi
			wait $pid
			status=$?
			expect 130 "$how, $mode, $sig"
			has "$err" "interrupted by signal" "$how, $mode, $sig"
			restored 1 "$how, $mode, $sig"
			json_is "$run.status == \"interrupted\""
		done
	done
done
# while a command runs: it comes to its end
rm -f "$log"
env --default-signal "$KBENCH" -f json kernfs lookup "${brief[@]}" \
	--toggle "echo begun >>$log; sleep 1; echo done >>$log,:,$restore" >"$out" 2>"$err" &
pid=$!
within 10 grep -qs begun "$log" || fail "a signal to a command: it does not begin"
kill -INT $pid
wait $pid
status=$?
expect 130 "a signal while a command runs"
[ "$(xargs <"$log")" = "begun done restore" ] || fail "a signal while a command runs: $(xargs <"$log")"

# ---- what does not go ----

# refused REGEX ARGUMENT...
refused()
{
	local regex=$1
	shift
	rm -f "$log"
	run timeout 20 "$KBENCH" -f json "$@"
	expect 2 "$*"
	has "$err" "$regex" "$*"
	[ ! -s "$out" ] || fail "$*: something was printed"
	[ ! -e "$log" ] || fail "$*: a command was run"
}

refused "--toggle: a command is empty" kernfs lookup --toggle ''
refused "--toggle: a command is empty" kernfs lookup --toggle ",$off"
refused "--toggle: a command is empty" kernfs lookup --toggle "$on,"
refused "--toggle: a command is empty" kernfs lookup --toggle "$on,$off,"
refused "--toggle: it is on,off or on,off,restore" kernfs lookup --toggle "$on"
refused "--toggle: these are more than on,off,restore" kernfs lookup --toggle "$on,$off,$restore,$on"
refused "--toggle: a command is longer than 255 bytes" kernfs lookup --toggle "$on,$(printf %0256d 0)"
refused "--toggle goes with neither --loops nor --total" kernfs lookup --toggle "$on,$off" -l 5
refused "--toggle goes with neither --loops nor --total" kernfs lookup --toggle "$on,$off" --total 5
refused "--toggle goes with one variant only" fsnotify pipe --marks none,inode --toggle "$on,$off"
refused "toggle" kernfs lookup --toggle
exit 0
