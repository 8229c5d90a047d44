#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Results files may hold anything: libFuzzer looks for bytes with which their reader crashes, hangs,
# leaks, or takes for good what is not. It starts from files that the program has just written.
#
# FUZZ_SECONDS is how long (5). What it finds stays in the folder of the build; "fuzz-results FILE"
# there shows it again.

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

run "$KBENCH_BUILD/fuzz-results" -max_total_time="$seconds" -timeout=20 -rss_limit_mb=1024 \
	-max_len=8192 -print_funcs=0 -dict="$top/tests/fuzz/results.dict" -print_final_stats=1 \
	-artifact_prefix="$KBENCH_BUILD/fuzz-" found seed
if [ "$status" != 0 ]; then
	grep -E 'ERROR|SUMMARY|Test unit written' "$err"
	fail "exit status $status; what it found is in $KBENCH_BUILD/fuzz-*"
fi
runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$err")
echo "$runs runs in $seconds s"
[ "${runs:-0}" -gt 100 ] || fail "only ${runs:-no} runs in $seconds s"
