#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# reports.sh: the pages in Documentation/reports, told again
#
# Each command of a page is run: those that read published figures as they stand there, and what the
# page shows of them must be what they print; those that measure at a small size. Then what the
# published figures fix exactly: medians, ratios, per-task figures, fits.
# shellcheck disable=SC2154,SC2054 # of lib.sh; commas within words

. "$(dirname "$0")/lib.sh"

need_cmd jq
pages=$top/Documentation/reports
dir=$TMPDIR/files
mkdir "$dir"

# ---- the pages ----

# commands PAGE: those in lines of their own, each on one line; of loops, what is in them
commands()
{
	sed -nE ':more
		/^\t+perf-kbench .*\\$/ { N; s/ *\\\n[[:space:]]*/ /; b more
		}
		s/^\t+(perf-kbench .*)$/\1/p' "$1"
}

# shown PAGE: the lines that stand below commands in "Read in ...", without blanks at their ends and
# more than one between words; not of plots, which another gnuplot may draw in another way
shown()
{
	awk '/^Read in/ { on = 1 } /^What to look for/ { on = 0 }
		/^\tperf-kbench .*--plot -/ { plot = 1 }
		/^[^\t]/ { plot = 0 }
		/^\tperf-kbench / { cont = /\\$/; next }
		cont { cont = /\\$/; next }
		on && !plot && /^\t/ && !/^\t *\.\.\.$/' "$1" | words
}

words()
{
	tr '\t' ' ' | sed -E 's/^ +//; s/ +$//; s/ +/ /g' | grep -v '^$'
}

# What the figures are read from, under the names that the pages give them.
cp "$data"/* .
awk -F, '/^[0-9]/ { printf "%6d processes: throughput = %d average opts/sec all processes\n", $1, $4
		    printf "%6d processes: throughput = %d average opts/sec per process\n", $1, $5 }' \
	locking-vfs-aim7.csv >creat.txt
robot unixbench-pipe >pipe.txt
robot eventfd1 >eventfd.txt

# shows PAGE COMMAND: it is run as it stands
shows()
{
	local line=$2
	if [[ $line == *--plot* ]] && ! command -v gnuplot >/dev/null; then
		note "no gnuplot: $line"
		return
	fi
	run eval "\"\$KBENCH\" ${line#perf-kbench }"
	expect 0 "$1: $line"
	cat "$out" >>seen
}

# measures PAGE COMMAND: it is run with fewer tasks, and for a short time
measures()
{
	local line=$2 less=(-q -t 1,2 -r 1 --grace 30s)
	line=${line// FILE / measured.json }
	line=$(sed -E "s,--dir [^ ]+,--dir $dir,; s/ -o [^ ]+/ -o measured.json/" <<<"$line")
	[[ $line == *" -o "* ]] || line="perf-kbench -o measured.json ${line#perf-kbench }"
	case $line in
	*" nfs compile"*)	less+=(--any-fs --dirs 5 --total 4) ;;
	*" nfs "*--total*)	less+=(--any-fs --total 3000) ;;
	*--loops*)		less+=(--loops 3000) ;;
	*)			less+=(-d 100ms -w 1ms --window 10ms) ;;
	esac
	# a busy machine can leave a run without a valid result
	for _ in 1 2 3; do
		run eval "timeout -k 1 90 \"\$KBENCH\" ${line#perf-kbench } ${less[*]}"
		[ "$status" = 0 ] && break
	done
	case $status in
	0)	[ "$(jq '[.benchmarks[].points[] | select(.valid and .rate > 0)] | length >= 1' measured.json)" = true ] ||
			fail "$1: no result of: $line" ;;
	1)	grep -q 'results: not valid' "$err" || fail "$1: $line"
		note "$line: $(tail -n 1 "$err")" ;;
	3)	note "$line: $(tail -n 1 "$err")" ;;
	*)	expect 0 "$1: $line" ;;
	esac
	nr_measured=$((nr_measured + 1))
}

nr_measured=0
for page in "$pages"/*.txt; do
	name=$(basename "$page" .txt)
	: >seen
	while read -r line; do
		case $line in
		# of what was measured on several boots, on a big machine
		*"compare base"*|*"compare -f lkp base"*|*scaling.svg*|*vfs.svg*|*jobs.svg*|*" -- "*)	;;
		"perf-kbench import "*|"perf-kbench compare "*|"perf-kbench report "*)	shows "$name" "$line" ;;
		*)	measures "$name" "$line" ;;
		esac
	done < <(commands "$page")
	# what the pages have beside the commands
	case $name in
	kernfs)
		for side in base patched; do
			shows kernfs "perf-kbench import sysfs_benchmark kernfs-86cpu-missing-$side.txt --kernel 5.12.2 --param files=0 -o missing-$side.json"
		done
		shows kernfs "perf-kbench compare missing-base.json missing-patched.json"
		cat kernfs-86cpu-*.txt >>seen
		;;
	locking)
		shows locking "perf-kbench report --plot both.svg creat.json aim7.json"
		shows locking "perf-kbench report aim7.json"
		cat creat.txt >>seen
		;;
	nfs)	cat nfs-make-times.csv >>seen ;;
	fsnotify)	cat pipe.txt eventfd.txt >>seen ;;
	esac
	words <seen | sort -u >have
	shown "$page" | sort -u >want
	[ "$(wc -l <want)" -ge 4 ] || fail "$name: found nothing that is shown"
	comm -13 have want >missing
	[ ! -s missing ] || fail "$name: the page shows what no command prints: $(cat missing)"
done
[ $nr_measured -ge 8 ] || fail "only $nr_measured commands of the pages measure"
[ -z "$(leftovers "$dir")" ] || fail "left over: $(leftovers "$dir")"

# ---- what the published data fixes ----

# medians of 86 threads: 493.5 -> 170.6 us and 973.3 -> 132.2 us; alone 3.75 -> 4.03 and 2.56 -> 1.97
for what in files missing; do
	for side in base patched; do
		import "$what-$side.json" sysfs_benchmark "$data/kernfs-86cpu-$what-$side.txt" \
			--kernel 5.12.2 --param "what=$what"
		run cat "$what-$side.json"
		json_is '[.benchmarks[].points[].tasks] == [1, 86]'
		json_is '.benchmarks[0] | .mode == "thread" and .pin == null and .loops == 10000 and
			.cpus == [range(86)] and .repeats == null and .duration_ns == null'
		json_is '.environment.kernel.release == "5.12.2" and .origin.file != null'
		json_is '.benchmarks[0].points[1].repeats[0] | .gate_ns == null and .ops == null and
			.windows == null and .task_ops == null and (.given.us_per_op | length) == 86'
		# each number as it stands in the text
		jq -r '.benchmarks[0].points[1].repeats[0].given |
			[.total_ms, .us_per_op, .cpu] | transpose[] | @tsv' "$what-$side.json" >got
		sed -nE 's/^concur: total ([0-9.]+)ms per ([0-9.]+)us  CPU ([0-9]+)$/\1\t\2\t\3/p' \
			"$data/kernfs-86cpu-$what-$side.txt" >want
		awk 'NR == FNR { want[NR] = $1 + 0 " " $2 + 0 " " $3; next }
		     want[FNR] != $1 + 0 " " $2 + 0 " " $3 { exit 1 } END { exit FNR != 86 }' \
			OFMT=%.9f CONVFMT=%.9f want got || fail "$what-$side: values differ"
	done
done
us()
{
	jq -r ".benchmarks[0].points[] | select(.tasks == $2) | .us_per_op" "$1.json"
}
near "$(us files-base 86)" 493.5 0.0001 "median"
near "$(us files-patched 86)" 170.6 0.0003 "median"
near "$(us missing-base 86)" 973.3 0.0001 "median"
near "$(us missing-patched 86)" 132.2 0.0004 "median"
near "$(us files-base 1)" 3.753758 1e-12 "alone"
near "$(us files-patched 1)" 4.027621 1e-12 "alone"
near "$(us missing-base 1)" 2.560259 1e-12 "alone"
near "$(us missing-patched 1)" 1.967538 1e-12 "alone"

# verdict WHAT TASKS RATIO: one value a side has a ratio, and no interval and no p
verdict()
{
	kbench compare -f json "$1-base.json" "$1-patched.json"
	expect 0 "compare $1"
	near "$(json ".points[] | select(.tasks == $2) | .ratio")" "$3" 0.002 "$1 at $2"
	json_is '[.points[] | .p, .p_holm, .ratio_ci95[], .ratio_ci90[], .shown, .base.ci95, .more, .noise_from]
		| all(. == null)'
	json_is '.points | all(.verdict == "too little data" and (.why | test("needs at least 2")))'
}
verdict files 86 2.893
verdict files 1 "$(jq -n '3.753758 / 4.027621')"	# 7 % slower
verdict missing 86 7.365
verdict missing 1 "$(jq -n '2.560259 / 1.967538')"	# 23 % less time
kbench compare files-base.json files-patched.json
expect 0 "compare"
tr '\n' ' ' <"$out" | tr -s ' ' >flat
has flat 'x2\.89 - - faster, 2\.89 times as fast; how sure, cannot be told: imported, one file a side: needs at least 2 files a side'
has flat ' -6\.8% - - slower by 6\.8 %; how sure'
hasnt "$out" 'assumed|perf-kbench noise'
kbench compare missing-base.json missing-patched.json
has "$out" 'x7\.36 '
kbench compare --gate 3 files-base.json files-patched.json
expect 125 "--gate of one value a side"
# the other test is another benchmark
kbench compare files-base.json missing-base.json
expect 1 "two tests"
has "$err" 'what: files in .*, missing in '

# several files a side make a verdict; the same text under two names is one file
for i in 1 2 3; do
	awk -v f="1.0$i" '/^(single|concur)/ {
			gsub(/ms|us/, "")
			line = sprintf("%s total %.6fms per %.6fus", $1, $3 * f, $3 * f / 10)
			print line ($6 == "CPU" ? "  CPU " $7 : ""); next } { print }' \
		"$data/kernfs-86cpu-files-base.txt" | sed 's/ *$//' >again.txt
	import "again$i.json" sysfs_benchmark again.txt --param what=files
done
kbench compare again1.json again2.json again3.json -- files-patched.json again1.json
expect 0 "several files"
kbench compare -f json again1.json again2.json -- again3.json files-base.json
json_is '.points | all(.p != null and .base.files == 2)'
cp again1.json copy.json
kbench compare -f json again1.json copy.json -- again2.json again3.json
json_is '.differs | any(test("is the same run as"))'
json_is '.points | all(.base.files == 1)'

kbench report files-base.json
expect 0 "report"
has "$out" '^origin: +imported from sysfs_benchmark,'
has "$out" '^  thread tasks, 86 CPUs; 10000 ops a task$'
has "$out" '^    86 +174254 +- +493\.53 +0\.6541 +0\.0076 +-$'
has "$out" 'USL: not fitted: needs 4 task counts up to the number of CPUs \(86\), has 2'

# AIM7 and creat: six counts, all of more tasks than the 80 CPUs, so that no curve may be fitted
import aim7.json rates --series aim7_jobs_per_min --per 60 --cpus 80 "$data/locking-vfs-aim7.csv"
near "$(rate aim7.json 500 aim7_jobs_per_min)" "$(jq -n '119668.25 / 60')" 1e-12 "AIM7"
run cat aim7.json
json_is '.benchmarks[0].points | length == 6 and .[5].repeats[0].given.rate == 104681.29'
# of each child, as the report has it
jq -r '.benchmarks[0].points[] | [.tasks, .rate * 60 / .tasks] | @tsv' aim7.json >got
awk -F, 'NR == FNR { if (/^[0-9]/) want[$1] = $3; next }
	 { split($0, f, "\t"); d = f[2] - want[f[1]]; if (d > 0.0051 || d < -0.0051) { print; bad = 1 } n++ }
	 END { exit bad || n != 6 }' "$data/locking-vfs-aim7.csv" got >bad || fail "jobs of each child: $(cat bad)"
kbench report aim7.json
has "$out" 'USL: not fitted: needs 4 task counts up to the number of CPUs \(80\), has 0'
import aim7.json rates --series aim7_jobs_per_min --per 60 "$data/locking-vfs-aim7.csv"
kbench report aim7.json
has "$out" 'USL: not fitted: it is not known on how many CPUs'

# the same table as the two lines of each count that the benchmark of 2014 prints
awk -F, '/^[0-9]/ { printf "%6d processes: throughput = %d average opts/sec all processes\n", $1, $4
		    printf "%6d processes: throughput = %d average opts/sec per process\n", $1, $5 }' \
	"$data/locking-vfs-aim7.csv" >aim7.txt
import creat.json locking-vfs aim7.txt --cpus 80 --unit 'creat on ext4'
[ "$(jq -c '[.benchmarks[0].points[].repeats[0].given | .all, .per_task]' creat.json)" = \
	"[104249,208,106136,176,106175,151,106290,132,105230,116,106489,106]" ] || fail "creat: values"

# NFS: v3 of both kernels, from 70 to 160 s up, and from 28 to 8 s down
for side in default rcu; do
	import "nfs-$side.json" make-times --series "v3-$side" --variant v3 --cpus 80 \
		"$data/nfs-make-times.csv"
done
[ "$(jq -c '[.benchmarks[0].points[].elapsed_sec] | [length, first, last]' nfs-default.json)" = "[20,71,161.3]" ] ||
	fail "elapsed, default"
[ "$(jq -c '[.benchmarks[0].points[].elapsed_sec] | [length, first, last, min]' nfs-rcu.json)" = "[20,27.3,8.1,7.2]" ] ||
	fail "elapsed, rcu"
kbench compare -f json nfs-default.json nfs-rcu.json
near "$(json '.points[] | select(.tasks == 80) | .ratio')" "$(jq -n '161.3 / 8.1')" 1e-9 "NFS at 80"
kbench report -f json nfs-rcu.json
# twenty counts up to the number of CPUs: a curve, whose intervals hold its values
near "$(json '.files[0].benchmarks[0].curves[0].usl.peak.value')" 38.3 0.03 "peak of rcu"
json_is '.files[0].benchmarks[0].curves[0].usl | .rms < 0.05 and .alpha.low < .alpha.value and
	.alpha.value < .alpha.high and .beta.low < .beta.value and .beta.value < .beta.high'
# drawn as the report does: seconds against jobs, from 0 on
if command -v gnuplot >/dev/null; then
	kbench report --plot jobs.svg nfs-default.json nfs-rcu.json
	expect 0 "the plot"
	has jobs.svg 'elapsed time \[s\]'
	has jobs.svg 'throughput of all tasks \[ops/s\]'
	hasnt jobs.svg 'time of a task for an op'
	kbench compare --plot both.svg nfs-default.json nfs-rcu.json
	expect 0 "the plot of compare"
	has both.svg 'elapsed time \[s\]'
	kbench report --plot - nfs-default.json
	has "$out" '^ +elapsed time \[s\] *$'
	has "$out" '^ +160 \|'
fi
import all.json make-times "$data/nfs-make-times.csv"
[ "$(jq -c '[.benchmarks[0].points[].variant] | unique' all.json)" = '["v3-default","v3-rcu","v4-default","v4-rcu"]' ] ||
	fail "four series"

# the robot's reports of fsnotify
robot unixbench-pipe >pipe.txt
robot eventfd1 >eventfd.txt
for side in base patched; do
	import "pipe-$side.json" lkp --side $side --tasks 1 --param test=pipe pipe.txt
	import "eventfd-$side.json" lkp --side $side eventfd.txt
done
near "$(rate pipe-base.json 1)" "$(jq -n '1557 * 1244')" 1e-12 "score"
near "$(rate eventfd-base.json 192)" 3.369e8 1e-12 "processes"
kbench compare -f json pipe-base.json pipe-patched.json
near "$(json '.points[0].ratio')" 1.061 0.001 "score +6.1 %"
near "$(json '.points[0] | .patched.metrics["perf-stat.overall.path-length"] / .base.metrics["perf-stat.overall.path-length"]')" \
	0.924 0.001 "path length -7.6 %"
kbench compare -f json eventfd-base.json eventfd-patched.json
near "$(json '.points[0].ratio')" 1.116 0.001 "processes +11.6 %"
near "$(json '.points[0] | .patched.metrics["perf-stat.overall.path-length"] / .base.metrics["perf-stat.overall.path-length"]')" \
	0.873 0.001 "path length -12.7 %"
kbench compare -f lkp eventfd-base.json eventfd-patched.json
expect 0 "-f lkp"
has "$out" '^ *336900000 +\+11\.6% +375900000 +will-it-scale\.192\.ops_per_sec$'
has "$out" '^ *514472 +-12\.7% +448981 +will-it-scale\.192\.perf-stat\.overall\.path-length$'
# and what compare -f lkp prints is read in again
mv "$out" ours.txt
import again.json lkp --side patched ours.txt
near "$(rate again.json 192)" 375900000 1e-12 "-f lkp, read again"
