#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# --profile: shares of functions that add up, by their names where the kernel shows them
. "$(dirname "$0")/lib.sh"

need_cmd jq

pass='.passes[] | select(.instrument == "profile")'

# profile ARGUMENT...: as JSON in the file all
profile()
{
	rm -f all
	# a rate may be spoilt by a busy machine; the profile is not
	run timeout -k 1 120 "$KBENCH" -q -o all -r 3 --profile "$@"
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "$*: exit status $status"
	[ -s all ] || fail "$*: no results file"
}

# is FILTER: true of each point of the pass
is()
{
	[ "$(json "[$pass.points[] | $1] | length > 0 and all" all)" = true ] ||
		fail "not true: $1: $(json "$pass.points[] | .figures | tostring" all | head -c 3000)"
}

# table: what is so of any table
table()
{
	is '.figures.columns == [{"name":"%","of_repeats":"mean","decimals":2}]'
	is '.figures.lower_bound == false and (.figures.rows | length <= 41)'
	# of each repeat that has samples all of them are there
	# shellcheck disable=SC2016 # jq's own
	is '[.figures.rows[].values[0]] | transpose |
	    all((map(select(. != null)) | length) as $n |
		$n == 0 or ($n == length and (add > 99.999 and add < 100.001) and all(. >= 0)))'
	# by falling share, the rest at the end
	is '[.figures.rows[] | select(.name != "[other]") |
	     .values[0] | map(select(. != null)) | add / length] | . == (sort | reverse) or
	    ([.[:-1], .[1:]] | transpose | all(.[0] >= .[1] - 1e-9))'
	is '[.figures.rows[].name] | (unique | length) == length and
	    (index("[other]") | . == null or . == 40)'
}

profile locking vfs -t 1 -d 200ms -w 10ms --window 20ms
if [ "$(json "$pass.status" all)" = skipped ]; then
	skip "$(json "$pass.message" all)"
fi
is '[.figures.notes[] | test("^[0-9]+ samples? of (cycles|cpu-clock), [0-9]+ a second")] | any'
samples=$(json "[$pass.points[].figures.notes[] | capture(\"^(?<n>[0-9]+) sample\").n | tonumber] | add" all)
[ "$samples" -gt 0 ] || skip "no sample came in $(json "$pass.points[0].windows" all) windows"
table

# Tasks of both kinds, several task counts, variants that take turns.
profile fsnotify eventfd -t 1,2 --mode thread -d 200ms -w 10ms --window 20ms --marks none,inode
table
[ "$(json "[$pass.points[] | [.tasks, .variant]] | tostring" all)" = \
	'[[1,"none"],[1,"inode"],[2,"none"],[2,"inode"]]' ] || fail "not all points"

# Few samples are called few.
profile kernfs lookup -t 1 -d 5ms -w 1ms --window 5ms
is '[.figures.notes[] | test("^([0-9]|[1-9][0-9]) samples? of .* too few|^0 samples of |^[0-9]{3,} samples of ")] | any'

# As text.
run timeout -k 1 120 "$KBENCH" -q -r 3 locking vfs -t 1 -d 100ms -w 10ms --window 20ms --profile
has "$out" '^# locking/vfs, profile: a pass of its own, means of 3 repeats$'
has "$out" '^ +[0-9]+ samples? of (cycles|cpu-clock), '

# Without addresses there are no names: one sentence says so, rows are addresses.
if [ "$(id -u)" = 0 ]; then
	sed -E 's/^[0-9a-f]+/0000000000000000/' /proc/kallsyms >zeros
	if mount --bind zeros /proc/kallsyms 2>/dev/null; then
		profile locking vfs -t 1 -d 200ms -w 10ms --window 20ms
		umount /proc/kallsyms
		is '[.figures.notes[] | select(test("^(kernel functions|functions of modules) have no names"))] |
		    length == 1'
		if [ "$(json "[$pass.points[].figures.notes[] | test(\"^kernel functions have no\")] | any" all)" = true ]; then
			is '[.figures.rows[].name] | all(test("^(0x[0-9a-f]+|\\[user\\]|\\[other\\])$"))'
		fi
		table
	else
		note "nothing can be mounted over /proc/kallsyms"
	fi
else
	note "not root: not tried without addresses in /proc/kallsyms"
fi

# Who may not look is told so, and has his result all the same.
if [ "$(id -u)" = 0 ] && [ "$(cat /proc/sys/kernel/perf_event_paranoid)" -ge 2 ] &&
   setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null; then
	run as_nobody -q -f json -r 1 fsnotify eventfd -t 1 -d 50ms -w 10ms --window 10ms --profile
	[ "$status" = 0 ] || [ "$status" = 1 ] || fail "an ordinary user: exit status $status"
	[ "$(json '.passes[0] | .status + ": " + .message')" = \
		"skipped: profile: perf_event_open of cycles: Permission denied: kernel.perf_event_paranoid is $(cat /proc/sys/kernel/perf_event_paranoid); as root, or with CAP_PERFMON, it can be done" ] ||
		fail "an ordinary user: $(json '.passes[0] | .status + ": " + .message')"
	json_is '.benchmarks[0].points | length == 1'
fi
