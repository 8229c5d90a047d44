#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# import.sh: what others print becomes a results file with the same values
#
# What -f classic prints is read back; what is no text of a format leaves nothing behind. The
# published data is read in reports.sh.

. "$(dirname "$0")/lib.sh"

need_cmd jq

robot unixbench-pipe >pipe.txt

# ---- our own -f classic ----

# A busy machine can leave a run without a valid result: then it is run again.
# classic FORMAT TO ARGUMENT...: both ways; ours.json and TO
classic()
{
	local format=$1 to=$2
	shift 2
	for _ in 1 2 3; do
		run timeout -k 1 90 "$KBENCH" -q -f classic -o ours.json "$@" --grace 30s
		[ "$status" = 0 ] && grep -qv '^#' "$out" && break
	done
	[ "$status" = 0 ] || { note "$*: no valid result: $(tail -n 1 "$err")"; return 1; }
	mv "$out" classic.txt
	kbench import "$format" classic.txt -o "$to"
	if [ "$status" != 0 ] && grep -q 'half of the threads' "$err"; then
		note "$*: threads did no op"
		return 1
	fi
	expect 0 "import of $*"
	kbench report "$to"
	expect 0 "report of $*"
}

# same_rates RELATIVE: the rates of both are the same to the digits that were printed
same_rates()
{
	jq -r '.benchmarks[].points[] | [.variant, .tasks, .rate, .elapsed_sec // 0] | @tsv' imported.json >got
	jq -r --argjson one "$(jq '[.benchmarks[].points[].variant] | unique | length == 1' ours.json)" \
		'.benchmarks[].points[] | select(.valid) |
		 [if $one then "" else .variant end, .tasks, .rate, .elapsed_sec // 0] | @tsv' ours.json >want
	awk -v rel="$1" -v what="$2" 'BEGIN { FS = "\t" } NR == FNR { want[$1, $2] = $(what); nr++; next }
		{ d = $(what) - want[$1, $2]; if (d < 0) d = -d
		  if (!(($1, $2) in want) || d > rel * want[$1, $2]) { print; bad = 1 } }
		END { exit bad || FNR != nr }' want got >bad || fail "$3: differs: $(cat bad) of $(cat want)"
}

for how in "--loops 300" "-d 30ms -w 1ms --window 5ms"; do
	# shellcheck disable=SC2086 # words are meant
	classic sysfs_benchmark imported.json kernfs lookup -t 1,2 -r 3 $how || continue
	sed -nE 's/^(single|concur): total ([0-9.]+)ms per ([0-9.]+)us.*/\2 \3/p' classic.txt | sort >want
	jq -r '.benchmarks[0].points[].repeats[0].given |
		[([.total_ms] | flatten), ([.us_per_op] | flatten)] | transpose[] | @tsv' imported.json |
		awk '{ printf "%.6f %.6f\n", $1, $2 }' | sort >got
	cmp -s want got || fail "kernfs lookup $how: $(diff want got | head -n 4)"
	case $how in
	--loops*)	json_is '.benchmarks[0].loops == 300' imported.json ;;
	*)		json_is '.benchmarks[0].loops == null' imported.json ;;
	esac
done
# one thread for a duration: ops / measured time, as the run has it
if classic sysfs_benchmark imported.json kernfs lookup -t 1 -r 1 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-5 3 "kernfs lookup -t 1"
fi
if classic locking-vfs imported.json locking vfs -t 1,2 -r 2 -d 30ms -w 1ms --window 5ms; then
	[ "$(jq -c '[.benchmarks[].points[].rate]' imported.json)" = \
		"$(jq -c '[.benchmarks[].points[] | select(.valid) | .rate | floor]' ours.json)" ] ||
		fail "locking vfs: $(cat classic.txt)"
fi
if classic will-it-scale imported.json fsnotify eventfd -t 1,2 -r 3 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-3 3 "fsnotify eventfd"
	json_is '.benchmarks[0] | .name == "fsnotify/eventfd" and .unit == "write+read" and
		.mode == "process" and ([.points[].repeats | length] | unique) == [3]' imported.json
	# each window of each repeat
	[ "$(jq '[.benchmarks[].points[].repeats[].given | .warmup + .measurement | length] | add' imported.json)" = \
		"$(grep -c '^min:' classic.txt)" ] || fail "fsnotify eventfd: windows"
fi
if classic will-it-scale imported.json fsnotify file -t 1,2 --marks none,inode -r 2 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-3 3 "fsnotify file, with variants"
fi
if classic unixbench imported.json fsnotify pipe -t 1,2 -r 2 -d 30ms -w 1ms --window 5ms; then
	same_rates 1e-5 3 "fsnotify pipe"
	json_is '.benchmarks[0].points[0].repeats[0].given | .baseline == 12440 and
		(.result / 1244 - .index | fabs) < 0.06' imported.json
	kbench import will-it-scale classic.txt -o imported.json
	expect 0 "fsnotify pipe, the lines of will-it-scale"
	same_rates 1e-3 3 "fsnotify pipe, the lines of will-it-scale"
fi
if classic make-times imported.json nfs negative-dentry --any-fs -t 1,2 --total 3000 -r 2; then
	grep '^[0-9]' classic.txt >want
	jq -r '.benchmarks[].points[] | [.tasks, .repeats[0].given.elapsed_sec] | @csv' imported.json |
		awk -F, '{ printf "%d,%.3f\n", $1, $2 }' >got
	cmp -s want got || fail "nfs negative-dentry: $(cat got)"
fi
run timeout 60 "$KBENCH" -q -f simple -o ours.json fsnotify file -t 1 --marks none,inode -r 2 -d 30ms
mv "$out" simple.txt
import imported.json perf-bench-simple simple.txt
jq -r '.benchmarks[].points[] | [.variant, .tasks, .rate, .ci95] | @tsv' imported.json |
	awk -F'\t' '$3 != "" { printf "%s %s %.3f\n", $2, $1, $3 }' >got
awk '$3 != "-" { print $1, $2, $3 }' simple.txt >want
cmp -s want got || fail "-f simple: $(diff want got)"

# ---- standard input and output, errors ----

"$KBENCH" import rates - <"$data/locking-vfs-aim7.csv" >piped.json 2>"$err" || fail "standard input"
json_is '.origin.file == null and .origin.format == "rates"' piped.json
"$KBENCH" import rates <"$data/locking-vfs-aim7.csv" | jq -e .complete >/dev/null || fail "no file"

# wrong MESSAGE ARGUMENT...: exit 1, the message, and nothing written
wrong()
{
	local message=$1
	shift
	echo old >keep.json
	kbench import "$@" -o keep.json
	expect 1 "import $*"
	has "$err" "$message" "import $*"
	[ "$(cat keep.json)" = old ] || fail "import $*: it wrote a file all the same"
	[ ! -s "$out" ] || fail "import $*: it wrote to standard output"
	[ -z "$(find . -name '.keep.json*')" ] || fail "import $*: a temporary file is left"
}
base=$data/kernfs-86cpu-files-base.txt
head -n 40 "$base" >short.txt
wrong '^perf-kbench import: short\.txt:40: "times: .* cut short' sysfs_benchmark short.txt
head -c 4000 "$base" >torn.txt
wrong 'torn\.txt:[0-9]+: the last line has no line feed' sysfs_benchmark torn.txt
sed 's/$/\r/' "$base" >dos.txt
wrong 'dos\.txt:1: the line ends as on DOS' sysfs_benchmark dos.txt
sed '3s/\./,/g' "$base" >comma.txt
wrong 'comma\.txt:3: .* is expected, there is "concur: total' sysfs_benchmark comma.txt
sed '3s/ms per/ms per -/' "$base" >negative.txt
wrong 'negative\.txt:3: ' sysfs_benchmark negative.txt
sed '3s/per [0-9.]*/per nan/' "$base" >nan.txt
wrong 'nan\.txt:3: ' sysfs_benchmark nan.txt
{ head -n 2 "$base"; printf 'concur: \0\n'; } >nul.txt
wrong 'nul\.txt:3: .*control character \(0x00\)' sysfs_benchmark nul.txt
wrong 'base\.txt:1: "N processes: throughput' locking-vfs "$base"
wrong 'base\.txt:1: "testcase:NAME"' will-it-scale "$base"
wrong 'base\.txt:[0-9]+: a table is expected' unixbench "$base"
wrong 'base\.txt: a line "%stddev %change %stddev"' lkp --side base "$base"
wrong 'base\.txt:1: "TASKS VARIANT' perf-bench-simple "$base"
wrong 'base\.txt:1: "jobs,NAME"' make-times "$base"
wrong 'base\.txt:1: "tasks,NAME"' rates "$base"
wrong 'pipe\.txt: a comparison has two sides' lkp pipe.txt
wrong 'must be known \(--param test=pipe\)' lkp --side base --tasks 1 pipe.txt
wrong 'nothing\.txt: No such file' rates nothing.txt
wrong '\.: Is a directory' rates .
: >empty.txt
wrong 'empty\.txt: is empty' rates empty.txt
truncate -s 100M huge.txt
wrong 'huge\.txt: at most 64 MiB' rates huge.txt
wrong '/dev/zero: at most 64 MiB' rates /dev/zero

# full devices
if [ -c /dev/full ]; then
	kbench import rates "$data/locking-vfs-aim7.csv" -o /dev/full
	expect 1 "/dev/full"
	has "$err" 'No space left'
fi
kbench import rates "$data/locking-vfs-aim7.csv" -o nowhere/x.json
expect 1 "no folder"

# usage REGEX ARGUMENT...
usage()
{
	local message=$1
	shift
	kbench import "$@"
	expect 2 "import $*"
	has "$err" "$message" "import $*"
}
usage 'no format is named'
usage 'there is no format "csv"' csv
usage 'one file at a time' rates a b
usage '\-\-series is of no use with lkp' lkp --series a x
usage '\-\-side is of no use with rates' rates --side base x
usage '\-\-row is of no use with rates' rates --row x x
usage '\-\-per is of no use with lkp' lkp --per 60 x
usage '\-\-side: base or patched' lkp --side left x
usage '\-\-param: NAME=VALUE' rates --param x x
usage '\-\-tasks' rates --tasks 0 x
usage '\-\-tasks' rates --tasks 65537 x
usage '\-\-name' rates --name "$(printf 'a\nb')" x
kbench import -h
expect 0 "import -h"
for format in sysfs_benchmark locking-vfs will-it-scale unixbench lkp perf-bench-simple make-times rates; do
	has "$out" "^ +$format " "help"
done
