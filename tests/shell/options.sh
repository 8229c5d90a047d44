#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# Options: every number and time of every benchmark, lists, nonsense, and what --loops and --total do
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
point="$run.points[0]"

# not nfs compile, which needs seconds where the others need milliseconds: compile.sh
mapfile -t benches < <("$KBENCH" list | awk '{ print $1 " " $2 }' | grep -vx 'nfs compile')
[ ${#benches[@]} -ge 6 ] || fail "perf-kbench list has only ${#benches[@]} benchmarks"

vars=()	# for its environment

# bench NAME ARGUMENT...: a run of it; it must not take long, whatever it is given
bench()
{
	local any_fs=() name=$1
	shift
	[ "$name" = "nfs negative-dentry" ] && any_fs=(--any-fs)
	# shellcheck disable=SC2086 # two words
	run timeout -k 1 20 env "${vars[@]}" "$KBENCH" $name "${any_fs[@]}" "$@"
}

# refused OPTION ARGUMENT...: a usage error that names it, on standard error alone
refused()
{
	local opt=$1
	shift
	bench "$@"
	expect 2 "$*"
	[ ! -s "$out" ] || fail "$*: something was printed"
	grep -Fq -e "$opt" -e "\`${opt#--}'" "$err" || fail "$*: $opt is not named"
}

# ---- B1: numbers and times ----

# A run that is as short as can be, without the option under test.
short()
{
	brief=(-q -f json -t 1 -r 1)
	[[ $1 =~ ^--(duration|repeat)$ ]] || brief+=(-d 20ms)
	[[ $1 =~ ^--(warmup|loops|total)$ ]] || brief+=(-w 1ms)
	[ "$1" = --window ] || brief+=(--window 10ms)
	if [ "$1" = --repeat ]; then
		brief=(-q -f json -t 1 -d 1ms -w 0ms --window 1ms)
	fi
}

# What no number and no time may be.
# shellcheck disable=SC2054 # a comma
bad=('' ' ' - -- -1 -0 +1 abc x1 1x 1e3 1e99 0x10 010x 1.5.5 1,5 '1 2' ' 1' '1 ' 1_000 nan inf -inf
     max 1- 1-2 1: $'1\n' $'\t1' 1٣ ٣ 18446744073709551616 36893488147419103232
     99999999999999999999999999999999999999999999999999999999999999999999999999999999)
few=('' abc -1 1x 1e99 ' 1' 18446744073709551616)

touch seen
for name in "${benches[@]}"; do
	# shellcheck disable=SC2086 # two words
	"$KBENCH" $name -h >help
	# of an instrument, whose run is none of those here: passes.sh
	sed -nE 's/^ +(-., )?(--[a-z-]+) <n>.*/\2/p' help | grep -vx -e --buffer-kb >options.n
	sed -nE 's/^ +(-., )?(--[a-z-]+) <time>.*/\2/p' help >options.time
	for opt in --loops --total --repeat; do
		grep -qxe $opt options.n || fail "$name -h does not explain $opt <n>"
	done
	for opt in --duration --warmup --window --grace --max-time; do
		grep -qxe $opt options.time || fail "$name -h does not explain $opt <time>"
	done
	# all of them for one benchmark, and for options that no other has
	while read -r opt; do
		short "$opt"
		values=("${few[@]}")
		grep -qxe "$opt" seen || values=("${bad[@]}")
		for value in "${values[@]}" 0 1.5 9223372036854775808; do
			refused "$opt" "$name" "${brief[@]}" "$opt" "$value"
		done
		for value in '' 0 -1 1x 00 1.0 1s 18446744073709551615 9007199254740993; do
			refused "$opt" "$name" "$opt=$value" "${brief[@]}"
		done
		# a few more are too many only for some; of others they are the meaning
		for value in 2147483647 2147483648 4294967295 4294967296 4294967297 \
			     9007199254740992; do
			[ "$opt" = --jobs ] && continue		# locking.sh
			bench "$name" "${brief[@]}" "$opt" "$value"
			case $status in
			0) ;;
			1) json_is "$point | .valid == false" ;;
			2) grep -Fq -e "$opt" "$err" || fail "$name $opt $value: not named" ;;
			*) fail "$name $opt $value: exit status $status" ;;
			esac
		done
		for value in 1 01 001; do
			bench "$name" "${brief[@]}" "$opt" $value
			[ "$status" = 0 ] || [ "$status" = 1 ] ||
				fail "$name $opt $value: exit status $status"
			has "$out" '"status": *"(ok|failed)"' "$name $opt $value"
		done
	done <options.n
	while read -r opt; do
		short "$opt"
		values=("${few[@]}")
		grep -qxe "$opt" seen || values=("${bad[@]}" 1 500 -1s +1s .5s 5.s 1.s 1e3s
			0x10s 1S 1MS 1sec '1 s' '1s ' ' 1s' 1s1 1s2ms 1.5.5s 1d 1441m 86401s
			99999999999999999999s 18446744073709551617ns 18446744073709551616s
			5124095577h 25h infs nans s ms)
		for value in "${values[@]}" 0 2147483648 4294967296 9223372036854775808 0,5s 1,5s \
			     24.1h; do
			refused "$opt" "$name" "${brief[@]}" "$opt" "$value"
		done
		for value in 0s 0ms 0.0s 00ns; do
			if [ "$opt" = --warmup ]; then
				bench "$name" "${brief[@]}" "$opt" $value
				expect 0 "$name $opt $value"
				json_is "$run.warmup_ns == 0"
			else
				refused "$opt" "$name" "${brief[@]}" "$opt" $value
			fi
		done
	done <options.time
	cat options.n options.time >>seen
done

# B2: and the same words for all
for value in 0s 0 ''; do
	for name in "${benches[@]}"; do
		bench "$name" -d "$value"
		expect 2 "$name -d '$value'"
		head -n 1 "$err" | sed 's/^[a-z/-]*: //'
	done | sort -u >texts
	[ "$(wc -l <texts)" = 1 ] || fail "-d '$value' has several meanings: $(cat texts)"
done
has texts . "-d ''"
kbench -f json all -d 0s
expect 2 "all -d 0s"
[ ! -s "$out" ] || fail "all -d 0s: something was printed"

# Times that are good, in each unit, and their fractions
while read -r value ns; do
	bench "fsnotify eventfd" -f json -t 1 -r 1 -l 5000 --window "$value"
	expect 0 "--window $value"
	json_is "$run.window_ns == $ns"
done <<-END
	1000000ns 1000000
	1000us 1000000
	1ms 1000000
	1.5ms 1500000
	0.001s 1000000
	2.0s 2000000000
	0.5m 30000000000
	0.25h 900000000000
	24h 86400000000000
	1.0000009ms 1000000
END

# ---- lists ----

for list in "${bad[@]}" 0 -1 0-1 1-0 2-1 "1," ,1 1,,2 1-2:0 1-2:x 1-2: 65537 1-65537 \
	    2147483648 4294967296 \
	    4294967297 9223372036854775808 1.5 1s 1:2 maxx xmax max-1 1-max:0; do
	[[ $list =~ ^(1-2|max|1,5)$ ]] ||
		refused --tasks "fsnotify eventfd" "${quick[@]:2}" -r 1 -t "$list"
done
while read -r list counts; do
	bench "fsnotify eventfd" -f json -r 1 -d 5ms -w 1ms --window 5ms -C 0 -t "$list"
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "-t $list: exit status $status"
	json_is "$run.task_counts == $counts and ($run.points | map(.tasks)) == $counts"
done <<-END
	1,2,4-8:4 [1,2,4,8]
	max [1]
	1-max [1]
	max-2 [1,2]
	3,1,2,1,3 [3,1,2]
	2-2 [2]
	1-6:5 [1,6]
	1-3:4294 [1]
	002 [2]
END

# ---- B4: what --loops and --total do is what was asked for ----

# Short as they are, they may end without a rate.
done_or_too_short()
{
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "$*: exit status $status"
}

for mode in process thread; do
	for name in "${benches[@]}"; do
		for loops in 1 3; do
			bench "$name" -f json -l $loops -t 2 -r 2 --mode $mode
			done_or_too_short "$name -l $loops"
			json_is "$run.loops == $loops and ($point.repeats | length == 2 and
				all(.ops_all >= 2 * $loops and .ops_all == (.task_ops_all | add) and
				(.task_ops_all | length == 2 and min >= $loops) and
				(.task_done_ns | length == 2 and min > 0))) and
				($point | if .valid then .rate > 0 else
				.flags | any(. == \"too-short\" or . == \"zero-ops\") end)"
		done
		for total in 1 7 100; do
			bench "$name" -f json --total $total -t 3 -r 1 --mode $mode
			done_or_too_short "$name --total $total"
			json_is "$run.total == $total and ($point.repeats[0] | .ops_all == $total and
				.ops == $total and .task_ops == .task_ops_all and
				(.task_ops_all | length == 3 and add == $total))"
		done
	done
	for tasks in 1 3 16; do
		for total in 1 2 63 64 1000 100003; do
			bench "fsnotify eventfd" -f json --total $total -t $tasks -r 1 --mode $mode
			done_or_too_short "--total $total -t $tasks"
			json_is "$point.repeats[0] | .ops_all == $total and
				(.task_ops_all | add) == $total"
		done
	done
done
# a bound to them
bench "fsnotify eventfd" -f json -l 100000000000 -d 100ms -t 2 -r 1
expect 0 "--loops that take too long"
json_is "$point | .valid and .rate > 0 and (.flags | index(\"cut-loops\") != null) and
	(.repeats[0].task_done_ns == [0, 0])"
bench "fsnotify eventfd" -f json --total 100000000000 -d 100ms -t 2 -r 1
expect 1 "--total that takes too long"
json_is "$point | .valid == false and (.flags | index(\"cut-total\") != null)"

# ---- --precision and --max-time ----

for value in "${bad[@]}" 0 0.0 1% 1. .5 100.1 101 0,5 1e1; do
	# these are numbers, or lists
	[[ $value =~ ^(1|1\.5)$ ]] || refused --precision "fsnotify eventfd" -t 1 --precision "$value"
done
brief=(-q --window 10ms)
# half of the interval is at most the rate, whatever the rates
bench "fsnotify eventfd" -f json "${brief[@]}" -t 1,2 -l 3000 -d 10s --precision 100.0 --max-time 24h
expect 0 "--precision"
json_is "$run.max_time_ns == 86400000000000 and $run.repeats == 30 and all($run.points[];
	.precision_asked == 100 and .stopped_by == \"precision\" and .precision_reached <= 100 and
	(.precision_reached - 100 * .ci95 / .rate | fabs) < 1e-6 and (.repeats | length >= 30))"
bench "fsnotify eventfd" -f json "${brief[@]}" -t 1,2 -r 3 -l 3000 -d 10s
json_is "$run.max_time_ns == null and all($run.points[]; .precision_asked == null and
	.stopped_by == \"repeats\" and .precision_reached > 0 and (.repeats | length) == 3)"
bench "fsnotify eventfd" "${brief[@]}" -t 1,2 -l 3000 -d 10s --precision 0.00001 --max-time 1ns
expect 0 "--max-time"
has "$out" "^# .*; at least 30 repeats of 3000 ops a task"
has "$out" "^# until \+-95% is at most 1e-05%, or for 1ns$"
has "$out" "^# 1,2: only 1 of 30 repeats$"
has "$out" "^# 1,2: --precision 1e-05 was not reached within --max-time 1ns$"
bench "fsnotify eventfd" -f json "${brief[@]}" -t 1,2 -r 1000 -l 3000 -d 10s --max-time 100ms
json_is "all($run.points[]; .stopped_by == \"max-time\" and (.repeats | length >= 1 and
	length < 1000)) and $run.complete == null and .complete"

# ---- what does not go together, or does not exist ----

for name in "${benches[@]}"; do
	refused --loops "$name" -l 5 --total 5
	refused --total "$name" -l 5 --total 5
	for fixed in --loops --total; do
		refused --warmup "$name" $fixed 5 -w 1s
		refused $fixed "$name" $fixed 5 -w 0s
	done
	refused bogus "$name" "${quick[@]}" --bogus
	refused bogus "$name" "${quick[@]}" --bogus=1
	refused Z "$name" "${quick[@]}" -Z
	refused surplus "$name" "${quick[@]}" surplus
	refused surplus "$name" surplus "${quick[@]}"
	refused surplus "$name" "${quick[@]}" -- surplus
	# "t" may be tasks or total
	bench "$name" --t 1
	expect 2 "$name --t"
	# those that have a value, without one; those that have none, with one
	# shellcheck disable=SC2086 # two words
	"$KBENCH" $name -h | sed -nE 's/^ +(-., )?(--[a-z-]+)( <.*| .*|$)/\2\3/p' |
	while read -r opt arg; do
		if [[ $arg == \<* ]]; then
			refused "$opt" "$name" "${quick[@]}" "$opt"
			refused "no-${opt#--}" "$name" "${quick[@]}" "--no-${opt#--}=1"
		elif [ "$opt" != --help ]; then
			refused "$opt" "$name" "${quick[@]}" "$opt=1"
		fi
	done || exit 1
done
for name in eventfd pipe file; do
	for fixed in --loops --total; do
		refused $fixed "fsnotify $name" -t 1 $fixed 5 --marks none,inode
		bench "fsnotify $name" -f json -t 1 -r 1 $fixed 20000 --marks none
		expect 0 "fsnotify $name $fixed, one variant"
	done
done
for name in locking kernfs fsnotify nfs; do
	run timeout 20 "$KBENCH" $name all -l 5 --total 5
	expect 2 "$name all --loops --total"
	has "$err" "--loops and --total"
done
# the last one counts
bench "fsnotify eventfd" -f json "${quick[@]}" -r 1 -t 5 -t 2 -t 1 -d 99s -d 30ms
expect 0 "options that are given twice"
json_is "$run.task_counts == [1] and $run.duration_ns == 30000000"
# more raw samples than fit
refused --window "fsnotify eventfd" -t 64 -d 24h --window 1ms -r 1
refused --window "fsnotify eventfd" -t 1 -d 24h --window 100ms -r 10000
refused --window "fsnotify eventfd" --window 999us

# ---- E2: numbers in another locale ----

if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null; then
	vars=(LC_ALL=de_DE.UTF-8 LOCPATH="$TMPDIR")
elif locale -a 2>/dev/null | grep -qix de_DE.utf8; then
	vars=(LC_ALL=de_DE.UTF-8)
else
	note "another locale was not tried: no localedef, no de_DE.UTF-8"
	exit 0
fi
[ "$(env "${vars[@]}" printf %.1f 0,5)" = 0,5 ] || fail "the locale has no decimal comma: change this test"
for name in "${benches[@]}"; do
	for value in 0,5s 1,5s 0,05s; do
		refused --duration "$name" -t 1 -r 1 -d $value
	done
	bench "$name" -f json -t 1 -r 1 -d 0.03s -w 0.001s --window 0.01s
	json_is "$run.duration_ns == 30000000"
	# by number, so that a busy machine cannot make it invalid
	for format in json simple csv default classic; do
		bench "$name" -f $format -t 1 -r 2 -l 5000
		expect 0 "$name -f $format"
		case $format in
		json)	json_is "$point.rate > 0 and $point.ci95 >= 0" ;;
		simple)	has "$out" '^1 [a-z-]+ [0-9]+\.[0-9]{3} [0-9]+\.[0-9]{3} [a-z/-]+ [a-z,-]+$' ;;
		csv)	awk -F, 'NR == 1 { n = NF } NF != n || NR > 2 { exit 1 }' "$out" ||
				fail "$name -f csv: fields" ;;
		*)	hasnt "$out" '[0-9],[0-9]' "$name -f $format" ;;
		esac
	done
done
exit 0
