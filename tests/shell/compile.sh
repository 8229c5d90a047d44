#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nfs compile on a local file system: what is searched, compilers that fail, and that none is left
# shellcheck disable=SC2016,SC2317 # scripts are written; functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq
need_cmd cc gcc

dir=$TMPDIR/files
mkdir "$dir" || fail "mkdir"
point='.benchmarks[0].points[0]'
compile=(nfs compile --any-fs --dir "$dir" --dirs 20)

clean()
{
	[ -z "$(leftovers "$dir")" ] || fail "left over: $(leftovers "$dir")"
}

# script NAME LINE...: a compiler that does LINE... for the sources of tasks, and is good for try.c,
# with which it is tried
script()
{
	local name=$1
	shift
	printf '%s\n' '#!/bin/sh' 'case $* in *try.c) exec cc "$@" ;; esac' "$@" >"$name"
	chmod +x "$name"
}

# ---- it runs, and says of what ----

case $(stat -f -c %T "$dir") in
nfs*)	;;
*)
	kbench nfs compile --dir "$dir" -t 1 -r 1 --total 1
	expect 3 "not on NFS"
	has "$err" "skipped: --dir $dir is on [a-z0-9.]+: .*--any-fs"
	;;
esac
if steady -f json "${compile[@]}" -t 1,2 -r 2 --total 6; then
	good "--total"
	json_is '.benchmarks[0] | .name == "nfs/compile" and .mode == "process" and .unit == "cc -E" and
		.parameters == {dirs: "20", cc: "cc"}'
	json_is '[.benchmarks[0].points[] | .elapsed_sec > 0 and (.repeats | length == 2 and
		all(.ops_all == 6))] == [true, true]'
	json_is "$point.repeats[0] | .rate == null or (.ops / .rate * 1e9 - .elapsed_ns | fabs) < 10"
fi
clean
if steady -f classic "${compile[@]}" -t 1,2 -r 1 --total 3; then
	[ "$(grep -v '^#' "$out" | sed -E 's/,[0-9]+\.[0-9]{3}$/,S/' | xargs)" = "jobs,elapsed 1,S 2,S" ] ||
		fail "-f classic: $(cat "$out")"
fi
bench_again "-f json" "${compile[*]}" -t 1 -r 1 -d 1s
good "of a duration"
json_is "$point.repeats[0] | .ops_all >= .ops and .ops > 0"
clean

# ---- one op opens the header in each directory, once ----

if (need_inject) >/dev/null; then
	run env "ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -qq -o trace \
		-e trace=execve,open,openat "$KBENCH" -f json "${compile[@]}" -t 1 -r 1 --total 2
	expect 0 "traced"
	grep -lE '"d[0-9]+/kbench\.h".* ENOENT' trace.* >searched
	[ "$(wc -l <searched)" = 3 ] || fail "$(wc -l <searched) compilers, not one that was tried and two ops"
	while read -r file; do
		grep -E '"d[0-9]+/kbench\.h".* ENOENT' "$file" | sort -u | wc -l
		grep -cE '"d[0-9]+/kbench\.h"' "$file"
		grep -cE '"include/kbench\.h".* = [0-9]+$' "$file"
	done <searched | xargs >counts
	[ "$(cat counts)" = "20 20 1 20 20 1 20 20 1" ] || fail "opens that failed, all, and of the header: $(cat counts)"
	[ "$(grep -hoE '"[0-9]+\.c"' trace.* | sort -u)" = '"0.c"' ] || fail "other sources than 0.c"
	clean
else
	note "opens were not counted: no strace, or it cannot trace here"
fi

# ---- compilers by name, by path, with options; and what is none ----

mkdir bin
printf '#!/bin/sh\nexec cc "$@"\n' >bin/mycc
chmod +x bin/mycc
for cc in ./bin/mycc bin/mycc "$TMPDIR/bin/mycc" "cc -DX=1  -Wall"; do
	kbench "${compile[@]}" -f json -t 1 -r 1 -l 1 --cc "$cc"
	[ "$status" = 0 ] || has "$err" "less than 1 ms|no op was done" "--cc $cc"
	json_is ".benchmarks[0].parameters.cc == \"$cc\" and $point.repeats[0].ops_all >= 1"
done

# none TEXT COMMAND: refused before anything is measured
none()
{
	kbench -f json "${compile[@]}" -t 1 -r 1 --total 5 --cc "$2"
	expect 1 "--cc $2"
	has "$err" "^nfs/compile: --cc $1" "--cc $2"
	json_is "$point | .valid == false and .rate == null and .repeats == []"
	clean
}
none 'false: "false -E" ended with status 1$' false
none 'no-such-cc, which is to be a C compiler: No such file or directory$' no-such-cc
none 'bin/no-such-cc, which .*: No such file or directory$' bin/no-such-cc
none '/, which .*: Permission denied' /
none 'true: "true -E" did not print the header' true
none 'bin/says: "bin/says -E" ended with status 7: what it says$' bin/says <<<"$(
	printf '#!/bin/sh\necho what it says >&2\nexit 7\n' >bin/says; chmod +x bin/says)"
none 'bin/dies: "bin/dies -E" was killed by signal 9 ' bin/dies <<<"$(
	printf '#!/bin/sh\nkill -9 $$\n' >bin/dies; chmod +x bin/dies)"

for bad in "--dirs 0" "--dirs 50001" "--dirs x" "--mode thread" "--cc=" "--cc=$(printf 'x%.0s' {1..300})"; do
	# shellcheck disable=SC2086 # words are meant
	kbench nfs compile --any-fs --dir "$dir" -t 1 -r 1 --total 1 $bad
	expect 2 "$bad"
	has "$err" "${bad%%[ =]*}" "$bad"
done
kbench nfs compile --any-fs --dir "$dir" -t 1 -r 1 --total 1 --cc "  "
expect 2 "--cc of blanks"
clean

# ---- one that fails later ends the run ----

script bin/status 'exit 3'
script bin/signal 'kill -9 $$'
kbench -f json "${compile[@]}" -t 2 -r 1 -d 20s --cc bin/status
expect 1 "a compiler that fails"
has "$err" '^nfs/compile: task [01] of 2: bin/status ended with status 3$'
json_is "$point | .valid == false and .rate == null"
kbench -f json "${compile[@]}" -t 1 -r 1 -d 20s --cc bin/signal
expect 1 "a compiler that is killed"
has "$err" '^nfs/compile: task 0 of 1: bin/signal was killed by signal 9 '
clean

# ---- none is left, whatever ends the run ----

script bin/hangs "sleep 300 &" "echo \$\$ \$! >>$TMPDIR/pids" wait

# How many of the compilers, and of what they started, still run; what is dead may not yet be reaped.
left()
{
	local pid n=0
	while read -r pid; do
		grep -qs '^State:.[^ZX]' "/proc/$pid/status" && ((n++))
	done < <(tr ' ' '\n' <pids)
	echo $n
}

two_hang()
{
	[ "$(wc -w 2>/dev/null <pids)" = 4 ]
}

none_left()
{
	[ "$(left)" = 0 ]
}

for sig in INT TERM; do
	rm -f pids
	env --default-signal "$KBENCH" "${compile[@]}" -t 2 -r 1 -d 60s --grace 30s --cc bin/hangs \
		>"$out" 2>"$err" &
	pid=$!
	within 20 two_hang || fail "no two compilers were started"
	[ "$(left)" = 4 ] || fail "the compilers do not hang"
	SECONDS=0
	kill -$sig $pid
	wait $pid
	status=$?
	expect 130 "SIG$sig"
	[ $SECONDS -lt 10 ] || fail "SIG$sig: it took $SECONDS s"
	within 2 none_left || fail "SIG$sig: compilers are left"
	clean
done

# at the end of the time, too; that they did nothing is no result
rm -f pids
kbench -f json "${compile[@]}" -t 2 -r 1 -d 300ms --grace 60s --cc bin/hangs
expect 1 "compilers that hang"
has "$err" "no op was done in the measured time"
within 2 none_left || fail "the end of the time: compilers are left"
clean

# one that hangs as it is tried
printf '#!/bin/sh\nsleep 300 &\necho $$ $! >>%s/pids\nwait\n' "$TMPDIR" >bin/hangs
rm -f pids
env --default-signal "$KBENCH" "${compile[@]}" -t 1 -r 1 --total 1 --cc bin/hangs >"$out" 2>"$err" &
pid=$!
within 20 test -s pids || fail "it was not tried"
kill -INT $pid
wait $pid
status=$?
expect 130 "SIGINT as it is tried"
within 2 none_left || fail "the one that was tried is left"
clean
exit 0
