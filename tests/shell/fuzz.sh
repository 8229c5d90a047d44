#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is not trusted may be any bytes: libFuzzer looks for those with which a reader crashes, hangs,
# leaks, or takes for good what is not. Each file of tests/fuzz is one such reader; it starts from
# what seeds_NAME below writes, if there is that, and knows the words of tests/fuzz/NAME.dict.
#
# FUZZ_SECONDS is how long each takes (5), FUZZ_SECONDS_NAME how long that one does. What it finds stays in the folder of the build;
# "fuzz-NAME FILE" there shows it again.
# shellcheck disable=SC2317 # functions are found by name

. "$(dirname "$0")/lib.sh"
need_plain_build
each=${FUZZ_SECONDS:-5}

run "$top/tools/install-deps" --check fuzz
[ "$status" = 0 ] || skip "no libFuzzer: $(sed -n 's/.*install with:  //p' "$err")"
run make -C "$top" O="$KBENCH_BUILD" fuzz
expect 0 "make fuzz"

write_results()
{
	kbench -q -o "seed/$1.json" "${@:2}"
	[ -s "seed/$1.json" ] || fail "no seed $1"
}

seeds_results()
{
	write_results windows -r 2 fsnotify eventfd -t 1,2 -d 10ms -w 1ms --window 2ms
	write_results total -r 2 locking vfs -t 2 --total 200 --window 1ms
	write_results variants -r 2 fsnotify file -t 1 -d 10ms -w 1ms --window 2ms \
		--marks none,inode
	kbench import sysfs_benchmark "$top/tests/data/kernfs-86cpu-files-base.txt" \
		-o seed/imported.json
	expect 0 "import"
}

# seed_text FORMAT: standard input is a text of it, behind a byte that says so (tests/fuzz/import.c)
seed_text()
{
	{ printf '%b' "\\00$1"; cat; } >"seed/$1-$RANDOM"
}

seeds_import()
{
	seed_text 0 <"$top/tests/data/kernfs-86cpu-missing-base.txt"
	printf '%s\n' '# 2 threads: x' 'single: total 50.000000ms per 10.000000us' \
		'concur: total 50.000000ms per 10.000000us  CPU 0' \
		'# CPU 1: no op in the measured time' \
		'concur: total 50.000000ms per 20.000000us  CPU 1' \
		'times: 5000 threads: 3 cpus: 2' | seed_text 0
	printf '%s\n' '  2 processes: throughput = 7 average opts/sec all processes' \
		'  2 processes: throughput = 3 average opts/sec per process' | seed_text 1
	printf '%s\n' '# on:' 'testcase:a, b, 2 processes' warmup 'min:1 max:2 total:3' \
		measurement 'min:1 max:2 total:3' average:3 | seed_text 2
	printf '%s\n' tasks,processes,processes_idle,threads,threads_idle,linear 0,0,100,0,100,0 \
		1,9,1.00,8,2.00,9 | seed_text 2
	printf '%s\n' '8 CPUs in system; running 4 parallel copies of tests' \
		'Pipe Throughput    24880.0 lps   (10.0 s, 7 samples)' \
		'System Benchmarks Index Values    BASELINE   RESULT   INDEX' \
		'Pipe Throughput     12440.0    24880.0    20.0' '       ====' | seed_text 3
	printf '%s\n' '===' 'nr_task/test:' '  2/pipe' '%stddev %change %stddev' '  \  |  \ ' \
		'  100 ± 3%  +10.0%  110 ±  2%  unixbench.score' '  0.07  -0.0  0.02  a.b' |
		seed_text 4
	printf '%s\n' '%stddev %change %stddev' ' 1e+08 +10.0% 1.1e+08 will-it-scale.8.processes' |
		seed_text 4
	printf '%s\n' '1 none 1.000 0.500 a/b drift' '2 - - - a/b too-short' | seed_text 5
	printf '%s\n' '# Running sched/pipe benchmark...' 1.500 | seed_text 5
	printf '%s\n' jobs,a,b 4,1.5,2 8,,3 | seed_text 6
	printf '%s\n' tasks,a 4,1.5 | seed_text 7
}

seeds_kallsyms()
{
	head -n 20 /proc/kallsyms >seed/first
	grep -E ' __(sched|lock)_text_| _e?text$|\[' /proc/kallsyms | head -n 20 >seed/some
	printf '%s\n' 'ffffffff81000000 T f' 'ffffffff81000000 W g' 'ffffffffc0000f00 t h	[m]' >seed/few
}

seeds_notes()
{
	cp /sys/kernel/notes seed/kernel 2>/dev/null || return 0
}

# u64 VALUE...: as in memory
u64()
{
	local value

	for value; do
		perl -e 'print pack("Q<", oct($ARGV[0]))' "$value"
	done
}

# Its sample_type; a sample with a chain of two and 12 bytes of a tracepoint, then a LOST record.
seeds_perf-records()
{
	u64 0x426 0x40000000000009 7 8 1 0xffffffff81000001 0x200000012 0x30000000c \
		0x28000000000002 77 1000 0x100000002 50 >seed/records
	u64 0x426 0x40000000000009 0x800000007 8 2 0xffffffff81000001 0xffffffff81000002 \
		0x1980000000c 0 0x28000000000002 77 1000 0x100000002 50 >seed/sample-lost
}

seeds_tracepoint()
{
	local field='\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n'

	# shellcheck disable=SC2059 # that is what the variable is for
	printf "name: x\nID: 408\nformat:\n$field\n$field$field\nprint fmt: \"%%p\", REC->a\n" \
		'unsigned short common_type' 0 2 0 'void * a' 8 8 0 'int flags' 16 4 1 >seed/small
	printf 'name: y\nID: 7\nformat:\n\tfield:__data_loc char[] b[4];\toffset:8;\tsize:4;\tsigned:0;\n\nprint fmt: ""\n' \
		>seed/array
}

for file in "$top"/tests/fuzz/*.c; do
	name=$(basename "$file" .c)
	own=FUZZ_SECONDS_${name//-/_}
	seconds=${!own:-$each}
	rm -rf seed found
	mkdir seed found
	if declare -F "seeds_$name" >/dev/null; then
		"seeds_$name"
	fi
	dict=("$top"/tests/fuzz/"$name".dict)
	[ -e "${dict[0]}" ] && dict=(-dict="${dict[0]}") || dict=()
	# libtraceevent does not free all of a text that is none
	leaks=1
	[ "$name" = tracepoint ] && leaks=0
	ASAN_OPTIONS=detect_leaks=$leaks \
	run "$KBENCH_BUILD/fuzz-$name" -max_total_time="$seconds" -timeout=20 \
		-rss_limit_mb=1024 -max_len=8192 -print_funcs=0 "${dict[@]}" \
		-print_final_stats=1 -artifact_prefix="$KBENCH_BUILD/fuzz-" found seed
	if [ "$status" != 0 ]; then
		grep -E 'ERROR|SUMMARY|Test unit written' "$err"
		fail "$name: exit status $status; what it found is in $KBENCH_BUILD/fuzz-*"
	fi
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$err")
	echo "$name: $runs runs in $seconds s"
	[ "${runs:-0}" -gt 100 ] || fail "$name: only ${runs:-no} runs in $seconds s"
done
