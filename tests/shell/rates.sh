#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Rates: what is divided by what, against the raw samples, strace's count, and another clock
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
point="$run.points[0]"
formats=(default simple json csv classic)

# bench NAME ARGUMENT...: as JSON in $out
bench()
{
	bench_again "-f json" "$@"
}

# The numbers of all points follow from the raw samples, to 1e-6 and better.
cat >check.jq <<'END'
def near($a; $b): ($a == null and $b == null) or
	($a != null and $b != null and ($a - $b | fabs) <= 1e-6 * ([($a | fabs), 1e-300] | max));
def sum: add // 0;
def mean: if length == 0 then null else add / length end;
def samples: [.[] | if type == "array" then range(.[0]) | 0 else . end];
def counted: map(select(.[3] | not));
def t95: [12.7062, 4.30265, 3.18245, 2.77645][. - 1];
# of at most four repeats, where there is a degree of freedom less than repeats; two at least
def ci95: length as $n | mean as $mean | map(. - $mean) as $d | ($d | map(. * .) | add) as $sum |
	(if $sum > 0 then ([$d[1:], $d[:-1]] | transpose | map(.[0] * .[1]) | add) / $sum else 0
	 end) as $r | ([[$r + (1 + 3 * $r) / $n, 0] | max, 0.8] | min) as $r |
	($n - 1 | t95) * ($sum / ($n - 1) / $n * (1 + $r) / (1 - $r) | sqrt);
def jain: if map(. * .) | sum == 0 then null else (sum * sum) / (length * (map(. * .) | sum)) end;

def repeat($total):
	(.windows | counted) as $w |
	(.ops == (.task_ops | sum)) and (.ops_all == (.task_ops_all | sum)) and
	(.ops <= .ops_all) and
	# the windows: in order, each the sum of what tasks did in it
	(.windows | all(.[1] > .[0])) and
	([.windows[1:], .windows[:-1]] | transpose | all(.[0][0] >= .[1][1])) and
	((.window_ops | length) == (.task_ops | length)) and
	(([.window_ops[] | samples] | transpose | map(sum)) == (.windows | map(.[2]))) and
	# what is counted
	(if $total then
		(.elapsed_ns == (.task_done_ns | max) - (.task_start_ns | min)) and
		(.task_ops == .task_ops_all)
	else
		(.elapsed_ns == ($w | map(.[1] - .[0]) | sum)) and
		(.ops == ($w | map(.[2]) | sum)) and
		([(.windows | map(.[3])) as $drop | .window_ops[] | samples | to_entries |
		  map(select($drop[.key] | not) | .value) | sum] == .task_ops)
	end) and
	# leading windows are dropped, at most half of them
	((.flags | index("suspended") != null) or
	 ((.windows | map(.[3]) | . == (map(select(.)) + map(select(. | not)))) and
	  ((.windows | map(select(.[3])) | length) * 2 <= (.windows | length)))) and
	(.start_skew_ns == (.task_start_ns | max - min)) and
	(.task_start_ns | all(. >= 0)) and
	(if .rate == null then .flags | any(. == "too-short" or . == "zero-ops")
	 else near(.rate; .ops * 1e9 / .elapsed_ns) and .rate > 0 end);

def point($total):
	.tasks as $tasks | [.repeats[].rate | select(. != null)] as $rates | ($rates | mean) as $mean |
	all(.repeats[]; repeat($total)) and
	near(.rate; $mean) and
	near(.us_per_op; if $mean then $tasks * 1e6 / $mean else null end) and
	near(.ci95; if ($rates | length) < 2 then null else $rates | ci95 end) and
	near(.jain; [.repeats[].task_ops | jain | select(. != null)] | mean) and
	(.jain == null or (.jain <= 1.000001 and .jain >= 0.999999 / $tasks)) and
	near(.task_min; [.repeats[] | select(.rate != null) | .elapsed_ns as $e |
			 .task_ops[] * 1e9 / $e] | min) and
	near(.task_max; [.repeats[] | select(.rate != null) | .elapsed_ns as $e |
			 .task_ops[] * 1e9 / $e] | max) and
	near(.elapsed_sec; if $total then [.repeats[].elapsed_ns / 1e9] | mean else null end) and
	(.start_skew_ns == ([.repeats[].start_skew_ns] | max)) and
	(.windows == ([.repeats[].windows | length] | sum)) and
	(.windows_dropped == ([.repeats[].windows[] | select(.[3])] | length)) and
	((.flags - ["unsettled", "drift"] | sort) ==
	 ([.repeats[].flags[]] | unique - ["unsettled"])) and
	((.flags | index("drift")) == null or (.repeats | length) >= 8) and
	((.flags | index("unsettled") != null) ==
	 (([.repeats[] | select(.flags | index("unsettled"))] | length) * 5 > (.repeats | length))) and
	(.valid == (.rate != null and
		(.flags - ["unsettled", "oversubscribed", "steal", "suspended", "late-start", "torn",
			   "cut-loops", "idle-task", "stalled", "preempted", "drift"] == [])));

.benchmarks[] | (.total != null) as $total | .points as $p | all(.points[]; point($total)) and
# against the first variant, repeat by repeat
all(.points[] | select(.variant != $p[0].variant); .tasks as $t |
	([$p[] | select(.variant == $p[0].variant and .tasks == $t)][0]) as $first | . as $this |
	near(.ratio; [range(.repeats | length) | $first.repeats[.].rate / $this.repeats[.].rate] | mean)) and
all(.points[] | select(.variant == $p[0].variant); .ratio == null)
END

# consistent WHAT
consistent()
{
	json . >/dev/null
	[ "$(jq -f check.jq "$out")" = true ] || {
		cp "$out" "$TMPDIR/inconsistent.json"
		fail "$1: numbers do not follow from the samples: $(jq -c '[.benchmarks[].points[] |
			{variant, tasks, rate, flags, repeats: [.repeats[] | {elapsed_ns, ops, ops_all,
			rate, flags, windows}]}]' "$out" | head -c 1500)"
	}
}

# ---- C2: whole seconds are not assumed ----

mode=thread
for name in "${benches[@]}"; do
	[ $mode = thread ] && mode=process || mode=thread
	bench "$name" --mode $mode -d 1s -r 1 -t 2
	expect 0 "$name -d 1s"
	consistent "$name, --mode $mode -d 1s"
	# the time that was asked for, measured and not assumed
	json_is "$point.repeats[0] | .elapsed_ns >= 900000000 and .elapsed_ns != 1000000000 and
		(.windows | map(select(.[3] | not)) | length) >= 10"
	bench "$name" -d 60ms -w 5ms --window 10ms -r 3 -t 1,3
	expect 0 "$name -r 3"
	consistent "$name -r 3"
	bench "$name" -l 20000 -r 2 -t 2
	expect 0 "$name --loops"
	consistent "$name --loops"
	bench "$name" --total 40000 -r 2 -t 3
	expect 0 "$name --total"
	consistent "$name --total"
done
# odd windows: longer than the duration, no divisor of it, many of them
for times in "-d 130ms --window 50ms" "-d 30ms --window 1s" "-d 100ms --window 1ms" \
	     "-d 33.3ms --window 3.21ms"; do
	# shellcheck disable=SC2086 # words are meant
	bench "fsnotify eventfd" $times -w 3ms -r 2 -t 2
	expect 0 "$times"
	consistent "$times"
done

# ---- C1: too short to tell, in every format ----

for n in $(seq 50); do
	name=${benches[$((n % 6))]}
	bench "$name" -l 1 -t $((n % 3 + 1)) -r $((n % 2 + 1))
	consistent "$name -l 1"
	if [ $status = 0 ]; then
		json_is "$point | .valid and .rate > 0"
	else
		expect 1 "$name -l 1"
		json_is "$point | .valid == false and
			(.flags | index(\"too-short\") != null or index(\"zero-ops\") != null)"
		has "$err" "not valid: (less than 1 ms was measured|no op was done)"
	fi
done
for name in "locking vfs" "kernfs lookup" "fsnotify pipe" "nfs negative-dentry --any-fs"; do
	for format in "${formats[@]}"; do
		for args in "-l 1" "-d 50us -w 0s --window 1ms"; do
			# shellcheck disable=SC2086 # words are meant
			run "$KBENCH" -f $format $name $args -t 1 -r 2
			hasnt "$out" '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$name -f $format $args"
			[ $status = 0 ] && continue
			expect 1 "$name -f $format $args"
			case $format in
			default) hasnt "$out" '^ *1 +(none +)?[0-9]' "$name $args" ;;
			simple)	has "$out" '^1 [a-z-]+ - - [a-z]+/[a-z-]+ [a-z,-]+$' "$name $args" ;;
			csv)	has "$out" '^[a-z/-]+,[a-z]*,1,[^0-9]*,2,,,,,,,,,[0-9.]*,[0-9]+,[0-9]+,false,' "$name $args" ;;
			classic) hasnt "$out" '^[^#]' "$name $args" ;;
			esac
		done
	done
done

# ---- C4: every call fails: an error, with the errno, and no rate in any format ----

# no_rate FORMAT WHAT
no_rate()
{
	hasnt "$out" '(^|[^a-z])-?(nan|inf)([^a-z]|$)' "$2"
	case $1 in
	default) hasnt "$out" '^ *2 +[a-z]* *[0-9]' "$2" ;;
	simple)	hasnt "$out" '^2 .* [0-9]' "$2" ;;
	json)	json_is "all($run.points[]; .rate == null and .ci95 == null and .us_per_op == null and
			.task_max == null and .valid == false)"
		json_is ".complete == false and $run.status == \"failed\" and $run.message != null" ;;
	csv)	awk -F, 'NR > 1 && ($8 $9 $10 $11 $12 != "" || /,true,/) { exit 1 }' "$out" ||
			fail "$2: a rate in CSV" ;;
	classic) hasnt "$out" '^[^#]' "$2" ;;
	esac
}

# fails CALL:ERROR[:when=N] TEXT BENCHMARK ARGUMENT...
fails()
{
	local inject=$1 text=$2 name=$3 format what
	shift 3
	for format in "${formats[@]}"; do
		what="$name $* with $inject, -f $format"
		# shellcheck disable=SC2086 # words are meant
		run inject "$inject" timeout -k 1 60 "$KBENCH" -f "$format" $name -t 2 -r 2 -d 20s "$@"
		expect 1 "$what"
		has "$err" "task [01] of 2: $text" "$what"
		[ "$(wc -l <"$err")" = 1 ] || fail "$what: more than one error"
		no_rate "$format" "$what"
		none_running || within 2 none_running || fail "$what: tasks are left"
	done
}

if (need_inject) >/dev/null; then
	fails eventfd2:EMFILE "eventfd eventfd: Too many open files; raise ulimit -n" "fsnotify eventfd"
	fails eventfd2:ENOSYS "eventfd eventfd: Function not implemented" "fsnotify eventfd"
	fails pipe2:ENFILE "pipe2 pipe: Too many open files in system; raise fs.file-max" \
		"fsnotify pipe" --mode thread
	fails pread64:EIO:when=50+ "pread file: Input/output error" "fsnotify file"
	fails creat:EDQUOT "creat 0000[01].000000: Disk quota exceeded; raise the quota" "locking vfs"
	fails rename:EXDEV "rename 0000[01].00000[01]: Invalid cross-device link" "locking vfs" --op rename
	fails rmdir:EBUSY "rmdir 0000[01].000000: Device or resource busy" "locking vfs" --op mkdir
	fails unlink:EROFS "unlink 0000[01].000000: Read-only file system" "locking vfs" --op unlink
	fails unshare:EPERM "unshare CLONE_FS.*: Operation not permitted" "locking vfs" --mode thread
	fails openat:EACCES:when=100+ "open d0/n[0-9]*: Permission denied" "nfs negative-dentry --any-fs" \
		--dirs 1
	fails openat:ENFILE:when=200+ "open /sys/.*: Too many open files in system" "kernfs lookup"
	# where the task looks at its own call only: too few bytes
	for name in "fsnotify eventfd" "fsnotify pipe"; do
		# shellcheck disable=SC2086 # words are meant
		run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" strace -f -qq -o /dev/null \
			-e trace=write -e inject=write:retval=3:when=50+ \
			"$KBENCH" -f csv $name --mode process -t 2 -r 1 -d 20s
		expect 1 "$name, short writes"
		has "$err" "task [01] of 2: write " "$name, short writes"
	done
	# some calls of an op fail, now and then
	for n in 3 50 500; do
		run inject "creat:EINTR:when=$n" "$KBENCH" -f json locking vfs -t 2 -r 2 -d 20s
		expect 1 "one creat fails"
		json_is "$point | .valid == false and .rate == null and .repeats == []"
		has "$err" "creat 0000[01].000000: Interrupted system call"
	done
else
	note "failing calls were not tried: no strace, or it cannot trace here"
fi

# ---- C6: what is counted is what was done ----

# traced CALLS ARGUMENT...: those of the tasks, in calls
traced()
{
	local calls=$1
	shift
	rm -f trace.*
	run env ASAN_OPTIONS="${ASAN_OPTIONS:-}:detect_leaks=0" timeout -k 1 60 strace -ff -qq \
		-o trace -e trace="$calls",execve "$KBENCH" -f json "$@"
	[ "$status" = 0 ] || fail "traced $*: exit status $status"
	consistent "traced $*"
	grep -L '^execve' trace.* | xargs cat >calls	# not the parent's
}

# counted CALLS REGEX N BENCHMARK ARGUMENT...: N such lines for each op
counted()
{
	local calls=$1 regex=$2 n=$3 name=$4 ops seen
	shift 4
	# shellcheck disable=SC2086 # words are meant
	traced "$calls" $name "$@"
	ops=$(json "[$run.points[].repeats[].ops_all] | add")
	seen=$(grep -cE "$regex" calls)
	[ "$ops" -gt 0 ] || fail "$name $*: no ops"
	[ $((n * ops)) = "$seen" ] || fail "$name $*: $ops ops, but strace saw $seen calls"
}

if (need_inject) >/dev/null; then
	while read -r mode how; do
		# shellcheck disable=SC2086 # words are meant
		set -- -t 2 -r 1 --mode $mode $how
		counted read,write '^(read|write)\([0-9]+, "\\1(\\0){7}", 8\) += 8$' 2 \
			"fsnotify eventfd" "$@"
		counted read,write '^(read|write)\([0-9]+, "(\\0)+"(\.\.\.)?, 512\) += 512$' 2 \
			"fsnotify pipe" "$@"
		counted pread64 '^pread64\([0-9]+, ".*", 1, 0\) += 1$' 1 "fsnotify file" "$@"
		counted openat '"d[0-9]/n[0-9]".* = -1 ENOENT' 1 "nfs negative-dentry --any-fs" "$@"
		counted openat '"/sys/[^"]*", O_RDONLY\) += [0-9]+$' 1 "kernfs lookup" "$@"
		counted creat '^creat\(.* = [0-9]+$' 1 "locking vfs" "$@"
	done <<-END
		process -l 100000000 -d 150ms
		thread --total 3001
		process -l 500
		thread -d 100ms -w 20ms --window 20ms
	END
	# repeats and variants: all that was done in each
	counted pread64 '^pread64\([0-9]+, ".*", 1, 0\) += 1$' 1 "fsnotify file" -t 1-2 -r 3 \
		--total 1000
else
	note "calls were not counted: no strace, or it cannot trace here"
fi

# ---- --total against the shell's clock ----

for mode in process thread; do
	bench "fsnotify pipe" --mode $mode -t 2 -d 300ms -r 1
	expect 0 "a rate to begin with"
	total=$(json "$point.rate * 2 | floor")
	start=${EPOCHREALTIME/./}
	bench "fsnotify pipe" --mode $mode -t 2 -r 1 --total 1
	start_up=$((${EPOCHREALTIME/./} - start))
	start=${EPOCHREALTIME/./}
	bench "fsnotify pipe" --mode $mode -t 2 -r 1 --total "$total"
	took=$((${EPOCHREALTIME/./} - start))
	expect 0 "--total $total"
	consistent "--total $total"
	# never longer than the whole; shorter by the start-up, and some room for a busy machine
	json_is "$point | .elapsed_sec * 1e6 | . <= $took and . >= 0.95 * ($took - $start_up) - 300000"
	json_is "$point.repeats[0] | .ops == $total"
done

# ---- rounds: one repeat of each point after the other ----

bench "kernfs lookup" -t 3,1,2 -r 4 -d 20ms -w 1ms --window 5ms
json_is "$run"' | [.points[] | .tasks as $t | .repeats[] | {at: .gate_ns, t: $t}] | sort_by(.at) |
	map(.t) == [3,1,2,3,1,2,3,1,2,3,1,2]'
json_is "$run.points | map(.tasks) == [3,1,2]"

# ---- variants: window by window, forth and back, without overlap ----

for name in "fsnotify pipe --marks none,inode" "fsnotify file --marks inode,none,parent"; do
	for mode in process thread; do
		bench "$name" -t 2 -r 2 -d 300ms -w 10ms --window 30ms --mode $mode
		expect 0 "$name"
		consistent "$name"
		# the turns of a repeat, by time: 0 1 2, 2 1 0, 0 1 2, ...
		# shellcheck disable=SC2016 # jq's own
		json_is "$run"' | .points as $p | ($p | length) as $n |
			all(range(2); . as $r | [range($n) as $v | $p[$v].repeats[$r].windows[] |
			{v: $v, at: .[0], to: .[1]}] | sort_by(.at) |
			length % (2 * $n) == 0 and
			([to_entries[] | .value.v == ((.key % (2 * $n)) as $k |
				if $k < $n then $k else 2 * $n - 1 - $k end)] | all) and
			([.[1:], .[:-1]] | transpose | all(.[0].at >= .[1].to)))'
		json_is "$run.points | map(.repeats | map(.windows | length)) | unique | length == 1"
		json_is "$run.points | map(.repeats | map(.gate_ns)) | unique | length == 1"
		json_is "all($run.points[].repeats[]; .windows | map(select(.[3] | not)) | length >= 10)"
	done
done
exit 0
