#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What is not trusted may be any bytes: libFuzzer looks for those with which a reader crashes, hangs,
# leaks, or takes for good what is not. Each file of tests/fuzz is one such reader; it starts from
# what seeds_NAME below writes, if there is that, and knows the words of tests/fuzz/NAME.dict.
#
# FUZZ_SECONDS is how long each takes (5). What it finds stays in the folder of the build;
# "fuzz-NAME FILE" there shows it again.
# shellcheck disable=SC2317 # functions are found by name

. "$(dirname "$0")/lib.sh"
need_plain_build
seconds=${FUZZ_SECONDS:-5}

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

for file in "$top"/tests/fuzz/*.c; do
	name=$(basename "$file" .c)
	rm -rf seed found
	mkdir seed found
	if declare -F "seeds_$name" >/dev/null; then
		"seeds_$name"
	fi
	dict=("$top"/tests/fuzz/"$name".dict)
	[ -e "${dict[0]}" ] && dict=(-dict="${dict[0]}") || dict=()
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
