#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results files and the output of others may hold anything: libFuzzer looks for bytes with which
# their readers crash, hang, leak, or take for good what is not. It starts from files that the
# program has just written.
#
# FUZZ_SECONDS is how long, each (5). What it finds stays in the folder of the build; "fuzz-results
# FILE" and "fuzz-import FILE" there show it again.

. "$(dirname "$0")/lib.sh"
need_plain_build
seconds=${FUZZ_SECONDS:-5}

run "$top/tools/install-deps" --check fuzz
[ "$status" = 0 ] || skip "no libFuzzer: $(sed -n 's/.*install with:  //p' "$err")"
run make -C "$top" O="$KBENCH_BUILD" fuzz
expect 0 "make fuzz"

mkdir seed found
write_seed()
{
	kbench -q -o "seed/$1.json" "${@:2}"
	[ -s "seed/$1.json" ] || fail "no seed $1"
}
write_seed windows -r 2 fsnotify eventfd -t 1,2 -d 10ms -w 1ms --window 2ms
write_seed total -r 2 locking vfs -t 2 --total 200 --window 1ms
write_seed variants -r 2 fsnotify file -t 1 -d 10ms -w 1ms --window 2ms --marks none,inode

kbench import sysfs_benchmark "$top/tests/data/kernfs-86cpu-files-base.txt" -o seed/imported.json
expect 0 "import"

# Each text of another program, behind a byte that says which format it is: see tests/fuzz/import.c.
mkdir texts texts-found
# seed_text FORMAT: standard input is a text of it
seed_text()
{
	{ printf '%b' "\\00$1"; cat; } >"texts/$1-$RANDOM"
}
seed_text 0 <"$top/tests/data/kernfs-86cpu-missing-base.txt"
printf '%s\n' '# 2 threads: x' 'single: total 50.000000ms per 10.000000us' \
	'concur: total 50.000000ms per 10.000000us  CPU 0' '# CPU 1: no op in the measured time' \
	'concur: total 50.000000ms per 20.000000us  CPU 1' 'times: 5000 threads: 3 cpus: 2' | seed_text 0
printf '%s\n' '  2 processes: throughput = 7 average opts/sec all processes' \
	'  2 processes: throughput = 3 average opts/sec per process' | seed_text 1
printf '%s\n' '# on:' 'testcase:a, b, 2 processes' warmup 'min:1 max:2 total:3' measurement \
	'min:1 max:2 total:3' average:3 | seed_text 2
printf '%s\n' tasks,processes,processes_idle,threads,threads_idle,linear 0,0,100,0,100,0 \
	1,9,1.00,8,2.00,9 | seed_text 2
printf '%s\n' '8 CPUs in system; running 4 parallel copies of tests' \
	'Pipe Throughput    24880.0 lps   (10.0 s, 7 samples)' \
	'System Benchmarks Index Values    BASELINE   RESULT   INDEX' \
	'Pipe Throughput     12440.0    24880.0    20.0' '       ====' | seed_text 3
printf '%s\n' '===' 'nr_task/test:' '  2/pipe' '%stddev %change %stddev' '  \  |  \' \
	'  100 ± 3%  +10.0%  110 ±  2%  unixbench.score' '  0.07  -0.0  0.02  a.b' | seed_text 4
printf '%s\n' '%stddev %change %stddev' ' 1e+08 +10.0% 1.1e+08 will-it-scale.8.processes' | seed_text 4
printf '%s\n' '1 none 1.000 0.500 a/b drift' '2 - - - a/b too-short' | seed_text 5
printf '%s\n' '# Running sched/pipe benchmark...' 1.500 | seed_text 5
printf '%s\n' jobs,a,b 4,1.5,2 8,,3 | seed_text 6
printf '%s\n' tasks,a 4,1.5 | seed_text 7

# fuzz NAME OPTION...: let it look
fuzz()
{
	local name=$1 runs
	shift
	run "$KBENCH_BUILD/fuzz-$name" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
		-max_len=8192 -print_funcs=0 -print_final_stats=1 \
		-artifact_prefix="$KBENCH_BUILD/fuzz-" "$@"
	if [ "$status" != 0 ]; then
		grep -E 'ERROR|SUMMARY|Test unit written' "$err"
		fail "$name: exit status $status; what it found is in $KBENCH_BUILD/fuzz-*"
	fi
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$err")
	echo "$name: $runs runs in $seconds s"
	[ "${runs:-0}" -gt 100 ] || fail "$name: only ${runs:-no} runs in $seconds s"
}
fuzz results -dict="$top/tests/fuzz/results.dict" found seed
fuzz import texts-found texts
