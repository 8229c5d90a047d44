#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Signals in every phase of a run, and what is left: no task, no file; what kill -9 left is removed
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
point="$run.points[0]"
nr_runs=0

# The program in the background, with all signals as they are by default; a folder for each.
declare -A pid where sent
start()
{
	local name=$1
	shift
	where[$name]=$TMPDIR/run.$((nr_runs++))
	mkdir "${where[$name]}"
	(cd "${where[$name]}" && exec env --default-signal "$KBENCH" -o results "$@") \
		>"${where[$name]}/out" 2>"${where[$name]}/err" &
	pid[$name]=$!
}

dead()
{
	! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# ended NAME SECONDS: it does, in that time, and sets $status, $out, $err
ended()
{
	out=${where[$1]}/out
	err=${where[$1]}/err
	if ! within "$2" dead "${pid[$1]}"; then
		kill -KILL "${pid[$1]}"
		fail "$1: still runs after $2 s"
	fi
	wait "${pid[$1]}" 2>/dev/null
	status=$?
}

# The private directories in the folder of a run
private()
{
	find "${where[$1]}" -mindepth 1 -maxdepth 1 -name 'perf-kbench.*'
}

no_private()
{
	[ -z "$(private "$1")" ]
}

# tasks PID: how many tasks there are, threads or children
tasks()
{
	local threads children=''
	threads=(/proc/"$1"/task/*)
	read -r children 2>/dev/null <"/proc/$1/task/$1/children"
	# shellcheck disable=SC2086 # words are meant
	set -- $children
	echo $((${#threads[@]} - 1 + $#))
}

some_tasks()
{
	[ "$(tasks "$1")" -ge "$2" ]
}

all_pids()
{
	find /proc -maxdepth 2 -name exe -lname "$KBENCH*" 2>/dev/null | cut -d / -f 3
}

# interrupted NAME SIGNAL: how a run ends that was sent one of those that can be caught
interrupted()
{
	local nr
	ended "$1" 2
	expect 130 "$1"
	nr=$(kill -l "$2")
	has "$err" "interrupted by signal $nr \(" "$1"
	json_is '.complete == false and (.benchmarks[-1].status == "interrupted")' \
		"${where[$1]}/results"
	within 3 no_private "$1" || fail "$1: left over: $(private "$1")"
	[ -z "$(find "${where[$1]}" -name '.*.tmp')" ] || fail "$1: a temporary file is left"
}

# killed NAME: how one ends that was sent SIGKILL
killed()
{
	ended "$1" 2
	expect 137 "$1"
	[ ! -e "${where[$1]}/results" ] || fail "$1: results of a killed run"
	within 3 no_private "$1" || fail "$1: left over: $(private "$1")"
}

# signal NAME SIGNAL
signal()
{
	sent[$1]=$2
	kill -"$2" "${pid[$1]}" || fail "$1: has ended before"
}

# Of all that were sent a signal.
check()
{
	local name
	for name in "${!sent[@]}"; do
		if [ "${sent[$name]}" = KILL ]; then
			killed "$name"
		else
			interrupted "$name" "${sent[$name]}"
		fi
	done
	within 2 none_running || fail "$1: $(running) processes are left"
}

# check_slow WHAT: send each run the signal that its name ends in; the files that were made are many,
# and removing them takes its time
check_slow()
{
	local name
	for name in "${!pid[@]}"; do
		signal "$name" "${name##*, }"
	done
	for name in "${!sent[@]}"; do
		ended "$name" 10
		[ "$status" = 130 ] || [ "$status" = 137 ] || fail "$name: exit status $status"
	done
	within 60 none_running || fail "$1: $(running) processes are left"
	for name in "${!sent[@]}"; do
		no_private "$name" || fail "$name: left over: $(private "$name")"
	done
}

forget()
{
	pid=() where=() sent=()
}

# ---- F1: in each phase, in both modes ----

# In the warm-up, while it measures, and between repeats; many at once, as nothing is timed.
for mode in process thread; do
	for sig in INT TERM HUP KILL; do
		start "warm-up, $mode, $sig" locking vfs -t 2 --mode $mode -w 30s -d 100ms -r 2
		start "measuring, $mode, $sig" locking vfs -t 2 --mode $mode -d 30s -w 10ms -r 2
		start "repeats, $mode, $sig" fsnotify file -t 2 --mode $mode -d 2ms -w 0s \
			--window 1ms -r 10000
		start "loops, $mode, $sig" nfs negative-dentry --any-fs -t 2 --mode $mode \
			-l 100000000000 -r 2
	done
	for name in "${!pid[@]}"; do
		within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
	done
	sleep 1
	for name in "${!pid[@]}"; do
		signal "$name" "${name##*, }"
	done
	check "$mode"
	for sig in INT TERM HUP; do
		results="${where["repeats, $mode, $sig"]}/results"
		json_is "($run.points | length == 1) and ($point.repeats | length > 0 and
			all(.windows | length > 0))" "$results"
		json_is "$point.repeats == []" "${where["warm-up, $mode, $sig"]}/results"
	done
	forget
done

# All others that end a program by default, but those that say that it is broken.
for sig in QUIT PIPE ALRM USR1 USR2 XCPU XFSZ; do
	start "$sig" locking vfs -t 2 -d 30s -r 2
done
for name in "${!pid[@]}"; do
	within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
done
sleep 0.3
for name in "${!pid[@]}"; do
	signal "$name" "$name"
done
check "other signals"
forget

# While tasks are made.
for mode in process thread; do
	for sig in INT TERM HUP KILL; do
		start "making, $mode, $sig" locking vfs -t 512 --mode $mode -d 30s -r 2
		within 5 some_tasks "${pid["making, $mode, $sig"]}" 40 || fail "no tasks"
		signal "making, $mode, $sig" $sig
		check "making, $mode, $sig"
		forget
	done
done

# At the gate: all wait for one that makes its files; it does not look up from that.
for mode in process thread; do
	# LeakSanitizer: a thread that is cancelled leaves its memory
	[ $mode = process ] || [ -z "$KBENCH_SAN" ] || continue
	for sig in INT TERM HUP KILL; do
		start "init, $mode, $sig" locking vfs --op open -j 200000 -t 2 --mode $mode
	done
	for name in "${!pid[@]}"; do
		within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
	done
	sleep 0.3
	check_slow "init, $mode"
	forget
done

# What was finished is kept, in the results file and on standard output: rounds of all points, and
# of the last round as many points as there were, the last of which may not have come to its end.
start "points" -f json kernfs lookup -t 1-3 -l 5000 -r 10000
start "first round" -f json kernfs lookup -t 1-1000 -l 5000 -r 10
start "rows" -f default kernfs lookup -t 1-3 -l 5000 -r 10000
sleep 2
signal points INT
signal "first round" TERM
signal rows INT
check "points"
for file in "${where[points]}/results" "${where[points]}/out"; do
	json_is ".complete == false and ($run.points | length == 3 and all(.rate > 0 and .valid)) and
		($run.points | map(.repeats | length) | .[0] >= 1 and . == (sort | reverse) and
		.[0] - .[2] <= 1)" "$file"
done
for file in "${where["first round"]}/results" "${where["first round"]}/out"; do
	json_is ".complete == false and ($run.points | length >= 2 and length < 1000) and
		($run.points[:-1] | all(.rate > 0 and .valid and (.repeats | length == 1)))" "$file"
done
has "${where[rows]}/out" "^# [1-3,]+: only [0-9]+ of 10000 repeats$"
[ "$(grep -cE '^ +[123] +[0-9.]+ ' "${where[rows]}/out")" = 3 ] || fail "not a row for each point"
forget

# A signal while the file is being finished: it is finished all the same.
if command -v strace >/dev/null && [ -z "$KBENCH_SAN" ]; then
	for sig in SIGINT SIGTERM SIGHUP; do
		rm -f finished
		run strace -f -qq -o /dev/null -e trace=fsync -e inject="fsync:signal=$sig" \
			"$KBENCH" -q -o finished fsnotify eventfd "${quick[@]}" -r 1
		expect 130 "$sig while the file is finished"
		json_is .complete finished
	done
fi

# Before an older file, it is kept only where the new one is not written.
start old locking vfs -t 2 -d 30s -r 1
echo '"old"' >"${where[old]}/results"
within 5 some_tasks "${pid[old]}" 2 || fail "no tasks"
sleep 0.2
signal old KILL
ended old 2
[ "$(cat "${where[old]}/results")" = '"old"' ] || fail "a killed run has changed an older file"
within 2 none_running || fail "tasks are left"
if (cd "${where[old]}" && "$KBENCH" -q -f simple -o results locking vfs "${quick[@]}" -r 1); then
	json_is .complete "${where[old]}/results"
fi >"$out" 2>"$err"
[ -z "$(find "${where[old]}" -name '.*.tmp')" ] || fail "a temporary file is left"
forget

# ---- Ctrl-C: the signal goes to all processes of the group; twice, as users do ----

for mode in process thread; do
	for sig in INT QUIT TERM HUP; do
		name="group, $mode, $sig"
		where[$name]=$TMPDIR/run.$((nr_runs++))
		mkdir "${where[$name]}"
		(cd "${where[$name]}" && exec setsid env --default-signal "$KBENCH" -o results \
			locking vfs -t 5 --mode $mode -d 30s -r 2) \
			>"${where[$name]}/out" 2>"${where[$name]}/err" &
		pid[$name]=$!
	done
done
for name in "${!pid[@]}"; do
	within 5 some_tasks "${pid[$name]}" 5 || fail "$name: no tasks"
done
sleep 0.3
for name in "${!pid[@]}"; do
	kill -"${name##*, }" -- "-${pid[$name]}" || fail "$name: no such group"
	sent[$name]=${name##*, }
	kill -"${name##*, }" -- "-${pid[$name]}" 2>/dev/null
done
check "a group"
forget

# A signal to one task is not for it to act on, unless there is no choice.
start "one task" -f json locking vfs -t 3 -d 700ms -w 10ms -r 1
within 5 some_tasks "${pid["one task"]}" 3 || fail "no tasks"
sleep 0.2
for task in $(pgrep -P "${pid["one task"]}"); do
	kill -INT "$task" && kill -TERM "$task" && kill -HUP "$task" && kill -QUIT "$task"
done 2>/dev/null
ended "one task" 10
expect 0 "signals to tasks"
forget

# ---- what we were told to ignore stays ignored: nohup, and jobs in the background ----

for sig in HUP INT TERM; do
	name="ignored, $sig"
	where[$name]=$TMPDIR/run.$((nr_runs++))
	mkdir "${where[$name]}"
	(cd "${where[$name]}" && exec env --ignore-signal=$sig "$KBENCH" -o results -f json \
		locking vfs -t 2 -d 1s -r 1) >"${where[$name]}/out" 2>"${where[$name]}/err" &
	pid[$name]=$!
done
for name in "${!pid[@]}"; do
	within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
done
sleep 0.3
for name in "${!pid[@]}"; do
	kill -"${name##*, }" "${pid[$name]}"
done
for name in "${!pid[@]}"; do
	ended "$name" 10
	expect 0 "$name"
	json_is ".complete and $point.valid" "${where[$name]}/results"
done
forget

# ---- the reader of our output goes away, long before the first result ----

for format in simple default csv json classic; do
	mkdir "pipe.$format"
	start_sec=$SECONDS
	# shellcheck disable=SC2016 # for the inner shell
	env --default-signal bash -c 'cd "pipe.$1" && "$2" -o results -f "$1" locking vfs \
		-t 1,2,3-6 -d 200ms -w 1ms -r 1 2>err | : >out
		exit ${PIPESTATUS[0]}' - "$format" "$KBENCH"
	status=$?
	[ $status = 1 ] || [ $status = 130 ] || fail "-f $format, no reader: exit status $status"
	[ -s "pipe.$format/err" ] || fail "-f $format, no reader: nothing on standard error"
	[ $((SECONDS - start_sec)) -lt 6 ] || fail "-f $format, no reader: the run went on"
	within 2 none_running || fail "-f $format, no reader: tasks are left"
	[ "$(find "pipe.$format" -mindepth 1 | sort | xargs)" = \
	  "pipe.$format/err pipe.$format/out pipe.$format/results" ] ||
		fail "-f $format, no reader: left over: $(leftovers "pipe.$format")"
	json_is '.complete == false' "pipe.$format/results"
done

# A file that may not grow further
mkdir limit
echo '"old"' >limit/results
# shellcheck disable=SC2016 # for the inner shell
env --default-signal bash -c 'cd limit && ulimit -f 8 && exec "$1" -o results -f json locking vfs \
	-t 1-40 -d 100ms -w 1ms --window 1ms -r 1 >/dev/null 2>err' - "$KBENCH"
status=$?
err=limit/err
[ $status = 1 ] || [ $status = 130 ] || fail "a file that is too large: exit status $status"
has "$err" "File too large|File size limit" "a file that is too large"
[ "$(cat limit/results)" = '"old"' ] || fail "a file that is too large: the old one is gone"
[ "$(leftovers limit | sort | xargs)" = "limit/err limit/results" ] ||
	fail "a file that is too large: left over: $(leftovers limit)"
err=$TMPDIR/err

# ---- stopped and continued (SIGSTOP, SIGCONT) ----

# pause NAME PID...: for a second
pause()
{
	kill -STOP -- "${@:2}" || fail "$1: has ended before"
	sleep 1
	kill -CONT -- "${@:2}"
}

for mode in process thread; do
	name="stopped, $mode"
	where[$name]=$TMPDIR/run.$((nr_runs++))
	mkdir "${where[$name]}"
	(cd "${where[$name]}" && exec setsid env --default-signal "$KBENCH" -f json \
		fsnotify eventfd -t 2 --mode $mode -d 1s -w 10ms --window 50ms -r 1) \
		>"${where[$name]}/out" 2>"${where[$name]}/err" &
	pid[$name]=$!
	within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
	sleep 0.3
	pause "$name" "-${pid[$name]}"
	ended "$name" 10
	expect 0 "$name"
	json_is "$point | .valid and (.flags | index(\"suspended\") != null)"
	json_is "$point.repeats[0] | (.windows | map(select(.[3])) | length >= 1) and
		.elapsed_ns == (.windows | map(select(.[3] | not) | .[1] - .[0]) | add) and
		.elapsed_ns < 1900000000 and
		([.windows[] | select(.[3] | not) | .[1] - .[0]] | max < 900000000) and
		([.windows[] | .[1] - .[0]] | max > 900000000)"
	json_is "$point.repeats[0] | .rate - .ops * 1e9 / .elapsed_ns | fabs < 1"
	# with --loops, the pause is no part either; with --total the time is lost, and no rate is given
	for fixed in "--loops 2000000" "--total 4000000"; do
		name="stopped, $mode, $fixed"
		where[$name]=$TMPDIR/run.$((nr_runs++))
		mkdir "${where[$name]}"
		# shellcheck disable=SC2086 # words are meant
		(cd "${where[$name]}" && exec setsid env --default-signal "$KBENCH" -f json \
			fsnotify eventfd -t 2 --mode $mode --window 50ms -r 1 $fixed) \
			>"${where[$name]}/out" 2>"${where[$name]}/err" &
		pid[$name]=$!
		within 5 some_tasks "${pid[$name]}" 2 || fail "$name: no tasks"
		sleep 0.2
		began=${EPOCHREALTIME/./}
		pause "$name" "-${pid[$name]}"
		ended "$name" 60
		took=$((${EPOCHREALTIME/./} - began))
		json_is "$point.repeats[0] | .flags | index(\"suspended\") != null"
		if [ "${fixed%% *}" = --total ]; then
			expect 1 "$name"
			has "${where[$name]}/err" "stopped and continued before --total was done" "$name"
			json_is "$point | .valid == false and (.flags | index(\"stopped-total\") != null)"
			continue
		fi
		expect 0 "$name"
		# in microseconds; what is not left out is at most as long as all but the pause
		json_is "$point.repeats[0] | .elapsed_ns / 1000 < $took + 600000 - 900000"
		json_is "$point.repeats[0] | .ops > 0 and .ops < .ops_all and
			.ops == (.task_ops | add)"
	done
done
forget

# ---- a task that is killed (SIGKILL) in mid-run; one that is stopped for good ----

for bench in "locking vfs" "kernfs lookup --mode process" "fsnotify pipe --marks none,inode"; do
	# shellcheck disable=SC2086 # words are meant
	start "killed" -f json $bench -t 3 -d 20s -r 2
	within 5 some_tasks "${pid[killed]}" 3 || fail "no tasks"
	sleep 0.3
	kill -KILL "$(pgrep -P "${pid[killed]}" | sed -n 3p)"
	ended killed 3
	expect 1 "$bench, a task is killed"
	has "$err" "task [0-2] of 3 was killed by signal 9 \(Killed\)"
	json_is "$run.status == \"failed\" and all($run.points[]; .valid == false and .rate == null)"
	json_is ".complete == false" "${where[killed]}/results"
	within 2 none_running || fail "$bench, a task is killed: $(running) processes are left"
	no_private killed || fail "$bench, a task is killed: left over: $(private killed)"
	forget
done

# ---- F2: what kill -9 left ----

# kill_all NAME: the run with all its helpers, so that nobody can clean up
kill_all()
{
	local p
	kill -STOP "${pid[$1]}"
	for p in $(all_pids); do
		kill -KILL "$p"
	done
	wait "${pid[$1]}" 2>/dev/null
	within 2 none_running || fail "$1: $(running) processes are left"
}

again()
{
	(cd "$base" && exec "$KBENCH" -q -f simple locking vfs "${quick[@]}" -r 1) >"$out" 2>"$err"
	status=$?
}

lock_text="private directory of a perf-kbench run"
start leftover locking vfs -t 2 -j 50 --op open -d 30s
base=${where[leftover]}
within 5 some_tasks "${pid[leftover]}" 2 || fail "no tasks"
sleep 0.5
kill_all leftover
left=$(private leftover)
[ -n "$left" ] || fail "kill -9 left nothing: the test is of no use"
[ "$(cat "$left/lock")" = "$lock_text" ] || fail "the lock's text is another; change this test"

# Like it, but not ours; each with a file in it.
mkdir "$base/perf-kbench.nolock" "$base/perf-kbench.foreig" "$base/perf-kbench.emptyl" \
	"$base/perf-kbench.linked" "$base/perf-kbench.toolong" "$base/perf-kbench.dirloc" \
	"$base/perf-kbench.locked" "$base/perf-kbench.longer" "$base/perf-kbench.fifolo" \
	"$base/elsewhere" "$base/perf-kbench" "$base/perf-kbench.x"
for dir in "$base"/perf-kbench.?????? "$base"/perf-kbench.toolong "$base"/elsewhere "$base"/perf-kbench \
	   "$base"/perf-kbench.x; do
	[ "$dir" = "$left" ] || { mkdir "$dir/run" && echo precious >"$dir/run/file"; }
done
rm -r "$base/perf-kbench.dirloc/run"
mkdir "$base/perf-kbench.dirloc/lock"
echo "$lock_text" >"$base/perf-kbench.toolong/lock"
echo "$lock_text" >"$base/perf-kbench.x/lock"
echo "$lock_text" >"$base/perf-kbench/lock"
echo "$lock_text" >"$base/elsewhere/lock"
echo "a lock of another program" >"$base/perf-kbench.foreig/lock"
: >"$base/perf-kbench.emptyl/lock"
printf '%s\nand more\n' "$lock_text" >"$base/perf-kbench.longer/lock"
mkfifo "$base/perf-kbench.fifolo/lock"
ln -s ../elsewhere/lock "$base/perf-kbench.linked/lock"
ln -s elsewhere "$base/perf-kbench.symlnk"
echo precious >"$base/perf-kbench.afile_"
mv "$base/perf-kbench.afile_" "$base/perf-kbench.afile"
echo precious >"$base/perf-kbench.1file1"
echo "$lock_text" >"$base/perf-kbench.locked/lock"
exec 9<"$base/perf-kbench.locked/lock"
flock -n 9 || fail "flock"
if [ "$(id -u)" = 0 ]; then
	cp -a "$base/elsewhere" "$base/perf-kbench.others"
	chown -R 65534 "$base/perf-kbench.others"
fi
# in what is ours: a link out of it, which goes, and what it leads to stays
ln -s "$base/elsewhere" "$left/run/link"
ln -s / "$left/run/root"
find "$base" -mindepth 1 -not -path "$left*" | sort >before

again
expect 0 "a run after one that was killed"
[ ! -e "$left" ] || fail "what was left is still there: $(leftovers "$left")"
find "$base" -mindepth 1 | sort >after
cmp -s before after || fail "not only ours was removed: $(diff before after)"
[ "$(find "$base" -name file -exec cat {} + | sort -u)" = precious ] || fail "a file was changed"
exec 9<&-
again
expect 0 "a run after the lock was given up"
[ ! -e "$base/perf-kbench.locked" ] || fail "a lock that was given up still protects"

# What is mounted there is not touched, and does not keep us from running.
if [ "$(id -u)" = 0 ]; then
	mkdir -p "$base/perf-kbench.mounts/run/mnt" "$base/perf-kbench.mounts/run/other"
	echo "$lock_text" >"$base/perf-kbench.mounts/lock"
	if mount -t tmpfs none "$base/perf-kbench.mounts/run/mnt"; then
		echo precious >"$base/perf-kbench.mounts/run/mnt/file"
		again
		expect 0 "a run beside a mount"
		[ -s "$base/perf-kbench.mounts/run/mnt/file" ] || fail "a file of a mount was removed"
		[ -s "$base/perf-kbench.mounts/lock" ] || fail "what is left has no lock any more"
		umount "$base/perf-kbench.mounts/run/mnt"
		again
		[ ! -e "$base/perf-kbench.mounts" ] || fail "it is still there after umount"
	fi
fi

# Killed while it removes: the next one can tell that it is ours, whatever the order on the disk.
if (need_inject) >/dev/null; then
	for n in 2 5 9; do
		mkdir half
		run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -o /dev/null \
			-e trace=unlinkat -e "inject=unlinkat:signal=KILL:when=$n" "$KBENCH" -f json \
			nfs negative-dentry --any-fs --dir half --dirs 20 --names 1 "${quick[@]}" -r 1
		expect 1 "removing is cut short"
		has "$err" "removing .*half/perf-kbench\..*; the next run there will try again"
		[ -n "$(leftovers half)" ] || fail "nothing is left: the test is of no use"
		run "$KBENCH" -q -f simple locking vfs --dir half "${quick[@]}" -r 1
		expect 0 "after removing was cut short"
		[ -z "$(leftovers half)" ] || fail "left over from removal $n: $(leftovers half)"
		rmdir half
	done
fi

# Two at once, and one that comes while others are there.
start one -f json locking vfs -t 2 -d 2s -r 1
base=${where[one]}
within 5 some_tasks "${pid[one]}" 2 || fail "no tasks"
(cd "$base" && exec "$KBENCH" -f json -o results2 nfs negative-dentry --any-fs -t 2 -d 1s -r 1) \
	>out2 2>err2 &
two=$!
for n in 1 2 3; do
	again
	expect 0 "run $n beside two others"
done
wait $two || fail "the second of two: $(cat err2)"
json_is "$point.valid" out2
ended one 10
expect 0 "the first of two"
json_is "$point.valid"
no_private one || fail "left over: $(private one)"
forget

# ---- F1, once more: in setup, which makes many directories ----

for sig in INT TERM HUP KILL; do
	start "setup, $sig" nfs negative-dentry --any-fs --dirs 100000 --names 1 -t 1
done
sleep 1
check_slow "setup"
forget
exit 0
