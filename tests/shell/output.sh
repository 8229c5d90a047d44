#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# What is written: every format of every benchmark, where errors go, files that cannot be written
# shellcheck disable=SC2317 # functions are handed over by name
. "$(dirname "$0")/lib.sh"

need_cmd jq

run='.benchmarks[0]'
formats=(default simple json csv classic)
brief=(-d 100ms -w 5ms --window 10ms)
doc=$top/Documentation/results-format.txt

# bench FORMAT NAME ARGUMENT...: with a results file of the same run
bench()
{
	local format=$1
	shift
	rm -f results
	bench_again "-f $format -o results" "$@"
}

# numbers FILTER: of the results file, a line each
numbers()
{
	jq -r "$1" results
}

# lines_are WHAT NUMBER [N REGEX]...: of the classic format: N of each kind, NUMBER in all
lines_are()
{
	local what=$1 nr=$2
	shift 2
	[ -z "$nr" ] || [ "$(wc -l <lines)" = "$nr" ] || fail "$what -f classic: $(cat lines)"
	while [ $# -gt 0 ]; do
		[ "$(grep -cE "^$2$" lines)" = "$1" ] ||
			fail "$what -f classic: not $1 times \"$2\": $(cat lines)"
		shift 2
	done
}

# All columns of a table are 78 at most; only a word that is longer than that may go beyond.
narrow()
{
	awk 'length($0) > 78 && !/^#? *[^ ]+$/ { print; exit 1 }' "${2:-$out}" >wide ||
		fail "$1: a line of more than 78 columns: $(cat wide)"
}

# ---- every format of every benchmark, against the results file of the same run ----

for name in "${benches[@]}"; do
	full=${name%% --*}
	full=${full/ //}
	for mode in process thread; do
		what="$name, --mode $mode"

		bench default "$name" "${brief[@]}" --mode $mode -t 1,3 -r 2
		expect 0 "$what"
		narrow "$what"
		[ "$(head -n 1 "$out")" = "# Running '$full' benchmark:" ] || fail "$what: the heading"
		has "$out" "^# one op: $(numbers "$run.unit" | sed 's/[+()]/\\&/g')$" "$what"
		has "$out" "^# $mode tasks, pin spread, [0-9]+ CPUs?; 2 repeats of 100ms$" "$what"
		[ "$(grep -cE '^ +[13] +[0-9.]+ +[0-9.]+% ' "$out")" = 2 ] || fail "$what: not two rows"
		# the rate in the table is that of the file
		numbers "$run.points[].rate" >rates
		grep -E '^ +[13] ' "$out" | awk '{ print $2 }' >printed
		paste rates printed | awk '{ d = $1 - $2; if (d < 0) d = -d; if (d > $1 / 1000 + 1) exit 1 }' ||
			fail "$what: other rates than in the file: $(paste rates printed)"

		bench simple "$name" "${brief[@]}" --mode $mode -t 1,3 -r 2
		expect 0 "$what -f simple"
		numbers "$run.points[] | [.tasks, (if .variant == \"\" then \"-\" else .variant end),
			.rate, .ci95, (.flags | if . == [] then \"-\" else join(\",\") end)] | @tsv" |
			awk -v b="$full" '{ printf "%d %s %.3f %.3f %s %s\n", $1, $2, $3, $4, b, $5 }' >want
		awk '{ print NF }' "$out" | grep -qvx 6 && fail "$what -f simple: not six fields"
		# to the last digit but one
		paste -d ' ' "$out" want | awk '$1 != $7 || $2 != $8 || ($3 - $9) ^ 2 > 1e-4 ||
			($4 - $10) ^ 2 > 1e-4 || $5 != $11 || $6 != $12 { exit 1 }' ||
			fail "$what -f simple: $(cat "$out"), not $(cat want)"

		bench json "$name" "${brief[@]}" --mode $mode -t 1,3 -r 2
		expect 0 "$what -f json"
		json_is "$run.points | length == 2" "$out"
		jq -S 'del(.environment.started)' "$out" >one
		jq -S 'del(.environment.started)' results >two
		cmp -s one two || fail "$what -f json: standard output and file differ: $(diff one two)"
		! grep -Eq '[:,[] *-?(nan|inf)' -i results || fail "$what: nan or inf in JSON"

		bench csv "$name" "${brief[@]}" --mode $mode -t 1,3 -r 2
		expect 0 "$what -f csv"
		[ "$(wc -l <"$out")" = 3 ] || fail "$what -f csv: not three lines"
		awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$out" || fail "$what -f csv: fields"
		head -n 1 "$out" >header
		numbers "$run.points[] | [.tasks, .rate, .ci95, .us_per_op, .task_min, .task_max, .jain] |
			@tsv" >want
		tail -n +2 "$out" | cut -d , -f 3,8-13 | tr , '\t' >got
		paste want got | awk '{ for (i = 1; i <= 7; i++) { d = $i - $(i + 7);
			if (d < 0) d = -d; if (d > $i * 1e-8 + 1e-8) exit 1 } }' ||
			fail "$what -f csv: other numbers than in the file: $(paste want got)"
		[ "$(tail -n +2 "$out" | cut -d , -f 1,4,7,19 | sort -u)" = "$full,$mode,2,true" ] ||
			fail "$what -f csv: $(cat "$out")"

		bench classic "$name" "${brief[@]}" --mode $mode -t 1,3 -r 2
		expect 0 "$what -f classic"
		tasks=processes
		[ $mode = thread ] && tasks=threads
		grep -v '^#' "$out" >lines
		case $name in
		locking*)
			numbers "$run.points[] | \"\(.tasks) $tasks: throughput = \(.rate | floor) average opts/sec all $tasks\",
				\"\(.tasks) $tasks: throughput = \((.rate | floor) / .tasks | floor) average opts/sec per ${tasks/#processes/process}\"" |
				sed 's/per threads$/per thread/' >want
			sed 's/^ *//' lines | cmp -s want - ||
				fail "$what -f classic: $(cat lines), not $(cat want)" ;;
		kernfs*)
			time='total [0-9]+\.[0-9]{6}ms per [0-9]+\.[0-9]{6}us'
			lines_are "$what" 5 1 "single: $time" 3 "concur: $time  CPU [0-9]+" \
				1 'times: [0-9]+ threads: 3 cpus: [0-9]+' ;;
		*)
			# four runs: two points, two repeats; the windows are those of the file
			numbers "$run.points[].repeats[] | .rate | \"average:\(. + 0.5 | floor)\"" >want
			grep '^average:' lines | cmp -s want - || fail "$what -f classic: averages"
			lines_are "$what" '' 4 "testcase:$full, .*, [13] $tasks" 4 warmup 4 measurement \
				"$(numbers "[$run.points[].repeats[].windows[]] | length")" \
				'min:[0-9]+ max:[0-9]+ total:[0-9]+' ;;
		esac
		if [ "$name" = "fsnotify pipe" ]; then
			lines_are "$what" '' 2 'Pipe Throughput +[0-9]+\.[0-9] lps +\([0-9.]+ s, 2 samples\)' \
				2 'Pipe Throughput +12440\.0 +[0-9]+\.[0-9] +[0-9]+\.[0-9]'
			awk '/^Pipe.* 12440/ { d = $(NF - 1) / 1244 - $NF; if (d > 0.1 || d < -0.1) exit 1 }' lines ||
				fail "$what -f classic: the index is not rate / 12440 x 10"
		fi
	done
done
bench classic "nfs negative-dentry --any-fs" --total 30000 -t 1,2 -r 2
expect 0 "nfs --total -f classic"
{
	echo jobs,elapsed
	numbers "$run.points[] | [.tasks, .elapsed_sec] | @tsv" | awk '{ printf "%d,%.3f\n", $1, $2 }'
} >want
grep -v '^#' "$out" | cmp -s want - || fail "nfs --total -f classic: $(cat "$out"), not $(cat want)"
bench classic "kernfs lookup" --loops 3000 -t 1 -r 1
expect 0 "kernfs --loops -f classic"
has "$out" '^times: 3000 threads: 1 cpus: [0-9]+$'
bench classic "fsnotify pipe --size 1" "${brief[@]}" -t 1 -r 1
expect 0 "fsnotify pipe --size 1 -f classic"
hasnt "$out" "Pipe Throughput" "an index of other bytes than UnixBench's"

# Wide tables: many tasks, all marks, long names, notes, errors
bench default "fsnotify eventfd --marks none,inode" "${brief[@]}" -t 1,2,70 -r 2
expect 0 "variants"
narrow "variants"
bench default "fsnotify file --marks none,inode,parent,mount,sb" "${brief[@]}" -t 1,130 -r 2
narrow "all marks"
bench default "fsnotify file" -t 1-20 -l 1 -r 1
narrow "many footnotes"
bench default "kernfs lookup --path /sys/devices/system/cpu/online --path \
/sys/devices/system/cpu/../../../devices/system/cpu/possible" "${brief[@]}" -t 1 -r 1
expect 0 "a long path"
narrow "a long path"
bench default "locking vfs" -t 1 --total 3000 -r 2
expect 0 "--total"
narrow "--total"
bench default "nfs negative-dentry --any-fs --dirs 100 --names 1000" "${brief[@]}" -t 1 -r 1
narrow "parameters"

# CSV with what has to be quoted
if command -v python3 >/dev/null && [ "$(id -u)" = 0 ]; then
	python3 - "$out" >/dev/null <<-END || fail "python3"
		import csv, sys
	END
	# shellcheck disable=SC2016 # for the inner shell
	run unshare --mount sh -c 'mkdir "a,b\"c" && mount -t sysfs none "a,b\"c" &&
		exec "$1" -f csv kernfs lookup --path "a,b\"c/devices/system/cpu/online" -t 1,2 -r 1 \
		-d 40ms -w 1ms' - "$KBENCH"
	expect 0 "a path with a comma and a quote"
	python3 - "$out" <<-END >parsed || fail "a path with a comma and a quote: no CSV"
		import csv, sys
		rows = list(csv.reader(open(sys.argv[1], newline="")))
		assert len(rows) == 3 and len({len(r) for r in rows}) == 1, rows
		assert all(r[-1].endswith('path=a,b"c/devices/system/cpu/online') for r in rows[1:]), rows
		assert all(r[0] == "kernfs/lookup" for r in rows[1:])
	END
fi

# ---- the results file is as its description says, name by name ----

# section TITLE: the names that are described below it
# shellcheck disable=SC2016 # no commands
section()
{
	awk -v title="$1" '$0 == title { on = 1; next } on && /^[=~-]+$/ && on++ > 1 { exit } on' "$doc" |
		grep -E '^`[a-z0-9_]+`.*::' | sed 's/::.*//' | grep -oE '`[a-z0-9_]+`' | tr -d '`' | sort
}

# described TITLE FILTER [NAME...]: the names are members that only some files have
described()
{
	section "$1" | grep -vx "${@:3}" -e '' >names
	[ -s names ] || fail "$doc describes no $1"
	jq -r "[$2 | keys[]] | unique[]" results | sort >keys
	cmp -s names keys || fail "$1: what is described and what is written differ: $(diff names keys)"
}

if [ -f "$doc" ]; then
	for name in "${benches[@]}"; do
		bench simple "$name" "${brief[@]}" -t 1,2 -r 2
		described Members . -e origin -e passes
		described environment .environment
		described "benchmarks[]" "$run"
		described "points[]" "$run.points[]"
		described "repeats[]" "$run.points[].repeats[]"
	done
	bench simple "fsnotify eventfd" "${brief[@]}" -t 1 -r 2 --latency
	described Members . -e origin
	described figures '.passes[].points[].figures'
	bench simple "locking vfs" --total 5000 -t 2 -r 1
	described "points[]" "$run.points[]"
	described "repeats[]" "$run.points[].repeats[]"
	section CSV >names
	tr , '\n' <header | sort | cmp -s names - ||
		fail "CSV: what is described and what is written differ: $(tr , '\n' <header | sort | diff names -)"
	json_is '.format == "perf-kbench-results" and .version == 1 and .complete == true' results
	json_is '.command[0] | endswith("perf-kbench")' results
	json_is '.command[1:] == ["-f", "simple", "-o", "results", "locking", "vfs", "--total", "5000",
		"-t", "2", "-r", "1"]' results
else
	note "the format was not compared with its description: there is none"
fi

# ---- E1: on standard output one JSON value or nothing, on standard error what failed ----

# one_value STATUS ARGUMENT...: the last run
one_value()
{
	case " $1 " in
	*" $status "*) ;;
	*) fail "$2: exit status $status, not $1" ;;
	esac
	[ -s "$err" ] || fail "$2: nothing on standard error"
	hasnt "$err" '^[[{"]' "$2: JSON on standard error"
	if [ -s "$out" ]; then
		json_is "$run.status != \"ok\" and .complete == ($run.status == \"skipped\")"
		hasnt "$out" '(nan|inf|NaN|Infinity)[],}]' "$2"
	fi
}

while IFS='|' read -r want args; do
	# shellcheck disable=SC2086 # words are meant
	run timeout -k 1 60 "$KBENCH" -f json $args
	one_value "$want" "$args"
done <<-END
	2|locking
	2|locking vsf
	2|lokcing vfs
	2|locking vfs -t 0
	2|locking vfs -t 1-
	2|locking vfs -C 4294967295
	2|locking vfs --mode coroutine
	2|locking vfs --pin nowhere
	2|locking vfs -d 0s
	2|locking vfs --window 0s
	2|locking vfs --grace 0s
	2|locking vfs -l 0
	2|locking vfs -l 1 --total 1
	2|locking vfs -r 0
	2|locking vfs -f xml
	2|locking vfs --op fly
	2|locking vfs --share file --op unlink
	2|locking vfs surplus
	2|locking vfs --surplus
	2|locking all --surplus
	1|locking vfs --dir /no/such -t 1 -d 20ms
	1|locking vfs --dir /proc -t 1 -d 20ms
	1|locking vfs --dir /dev/null -t 1 -d 20ms
	1|locking vfs --total 1000000000 -d 20ms -r 1 -t 1
	1|fsnotify eventfd -d 1us -w 0s --window 1ms -r 1 -t 1
	1|kernfs lookup --path /sys/no/such
	1|kernfs lookup --files 65536
	2|kernfs lookup --files 65537
	3|kernfs lookup --root /proc
	3|kernfs lookup --path /etc/passwd
	2|fsnotify pipe --size 5000
	2|fsnotify pipe --marks all
	3|fsnotify eventfd --marks parent
	3|nfs negative-dentry
	1|nfs negative-dentry --dir /no/such
	1 3|all --dir /no/such -t 1 -d 20ms -r 1
	1|locking vfs -o /no/such/file -t 1 -d 20ms
	1|locking vfs -o / -t 1 -d 20ms
	2|locking vfs -o
	2|-o x
	2|-f json
	2|list locking
END
[ -z "$(find . -name 'perf-kbench.*')" ] || fail "left over: $(find . -name 'perf-kbench.*')"
if (need_inject) >/dev/null; then
	# a sanitizer does not bear without memory
	for what in creat:EIO mkdir:EROFS clone:EAGAIN sched_setaffinity:EINVAL sched_getaffinity:EINVAL \
		    ${KBENCH_SAN:-mmap:ENOMEM:when=60+} unlinkat:EBUSY chdir:EACCES; do
		[ "$what" = "$KBENCH_SAN" ] && continue
		run inject "$what" timeout -k 1 60 "$KBENCH" -f json locking vfs -t 2 -d 1s -r 2
		# where the loader or timeout is hit
		[ $status -gt 3 ] || [ $status = 0 ] || one_value "1 2 3" "locking vfs with $what"
		rm -rf perf-kbench.??????
	done
fi

# ---- E3: one sample, no op: null, and nothing in CSV ----

bench json "fsnotify eventfd" "${brief[@]}" -t 1 -r 1
expect 0 "one repeat"
json_is "$run.points[0] | .rate > 0 and .ci95 == null and .ratio == null and .ratio_ci95 == null and
	.elapsed_sec == null"
bench csv "fsnotify eventfd" "${brief[@]}" -t 1 -r 1
has "$out" '^fsnotify/eventfd,none,1,process,spread,write\+read,1,[0-9.]+,,[0-9.]+,[0-9.]+,[0-9.]+,1,,,[0-9.]+,[0-9]+,[0-9]+,true,'
for format in "${formats[@]}"; do
	bench "$format" "nfs negative-dentry --any-fs" -d 1ns -w 0s -t 2 -r 2
	[ $status = 0 ] && continue	# it has been quick
	expect 1 "no op, -f $format"
	for file in "$out" results; do
		hasnt "$file" '(^|[^a-z])-?(nan|inf|NaN|Infinity)([^a-z]|$)' "no op, -f $format"
	done
	json_is "$run.points[0] | .valid == false and ([.rate, .us_per_op] | all(. == null or . > 0))" results
done

# ---- E5: files that cannot be written ----

echo old >old
cp old file
# not_written WHAT REGEX FILE: the run failed and said so, and the file is what it was
not_written()
{
	expect 1 "$1"
	has "$err" "$2" "$1"
	cmp -s old "$3" || fail "$1: the old file has changed"
	[ -z "$(find "$(dirname "$3")" -maxdepth 1 -name '.*.tmp')" ] || fail "$1: a temporary file is left"
}

device=$(stat -c %F:%t:%T /dev/full)
run "$KBENCH" -f simple -o /dev/full locking vfs "${brief[@]}" -t 1 -r 1
expect 1 "-o /dev/full"
has "$err" "/dev/full: No space left on device"
[ "$(stat -c %F:%t:%T /dev/full)" = "$device" ] || fail "-o /dev/full: it is not a device any more"
run "$KBENCH" -f simple -o /dev/null locking vfs "${brief[@]}" -t 1 -r 1
expect 0 "-o /dev/null"
[ -c /dev/null ] || fail "-o /dev/null: it is not a device any more"
for where in no/such/file file/below . / "$TMPDIR"; do
	start=$SECONDS
	run "$KBENCH" -f simple -o "$where" locking vfs -d 60s -t 1 -r 1
	expect 1 "-o $where"
	has "$err" "could not be written|No such file|directory" "-o $where"
	[ $((SECONDS - start)) -lt 20 ] || fail "-o $where: was told only after the run"
	hasnt "$out" "^1 " "-o $where: was told only after the run"
done
cmp -s old file || fail "the old file has changed"

# links, also those that lead nowhere yet; FIFOs
mkdir links
echo old >links/target
ln -s target links/link
ln -s new links/dangling
run "$KBENCH" -f simple -o links/link locking vfs "${brief[@]}" -t 1 -r 1
expect 0 "-o link"
[ -L links/link ] || fail "-o link: it is no link any more"
json_is .complete links/target
run "$KBENCH" -f simple -o links/dangling locking vfs "${brief[@]}" -t 1 -r 1
expect 0 "-o dangling link"
[ -L links/dangling ] || fail "-o dangling link: it is no link any more"
json_is .complete links/new
mkfifo fifo
cat fifo >through &
run "$KBENCH" -f simple -o fifo locking vfs "${brief[@]}" -t 1 -r 1
expect 0 "-o fifo"
wait
[ -p fifo ] || fail "-o fifo: it is no FIFO any more"
json_is .complete through
# shellcheck disable=SC2016 # for the inner shell
run sh -c 'exec "$1" -f simple -o /dev/fd/5 locking vfs -d 40ms -w 1ms -t 1 -r 1 5>fifth' - "$KBENCH"
expect 0 "-o /dev/fd/5"
json_is .complete fifth

if [ "$(id -u)" = 0 ]; then
	mkdir small
	for size in 4k 8k 12k 16k; do
		mount -t tmpfs -o size=$size none small || fail "mount"
		echo old >small/file
		# 4 KiB: nothing else fits; more: it comes to its end in mid-run
		run "$KBENCH" -f json -o small/file fsnotify eventfd -t 1-9 -d 200ms -w 1ms --window 1ms -r 2
		not_written "-o on $size" "small/file: No space left on device" small/file
		[ ! -s "$out" ] || json_is ".complete == false"
		umount small || fail "umount"
	done
	mount -t tmpfs -o ro none small && {
		run "$KBENCH" -f simple -o small/file fsnotify eventfd "${brief[@]}" -t 1 -r 1
		expect 1 "-o on a read-only file system"
		has "$err" "small/file: Read-only file system"
		umount small
	}
	# a file that is a mount point cannot be replaced
	cp old mounted && cp old over && mount --bind over mounted && {
		run "$KBENCH" -f simple -o mounted fsnotify eventfd "${brief[@]}" -t 1 -r 1
		not_written "-o on a mount point" "mounted: Device or resource busy" mounted
		umount mounted
	}
fi
if [ "$(id -u)" != 0 ]; then
	mkdir closed && cp old closed/file && chmod 555 closed
	run "$KBENCH" -f simple -o closed/file fsnotify eventfd "${brief[@]}" -t 1 -r 1
	chmod 755 closed
	not_written "-o in a directory that we may not write to" "closed/file: Permission denied" closed/file
fi

# A run that fails replaces the file all the same, and says that it is not complete; one that
# never began does not.
cp old file
run "$KBENCH" -f simple -o file locking vfs --dir /no/such -t 1
expect 1 "-o, a run that fails"
json_is ".complete == false and $run.status == \"failed\"" file
cp old file
run "$KBENCH" -f simple -o file locking vfs -t 0
expect 2 "-o, a usage error"
cmp -s old file || fail "-o, a usage error: the old file has changed"

# standard output is full, or closed
for format in "${formats[@]}"; do
	cp old file
	# shellcheck disable=SC2016 # for the inner shell
	run sh -c 'exec "$@" >/dev/full' - "$KBENCH" -f "$format" -o file locking vfs "${brief[@]}" -t 1,2 -r 1
	[ $status = 1 ] || fail "-f $format >/dev/full: exit status $status"
	has "$err" "standard output" "-f $format >/dev/full"
	json_is '.benchmarks[0].name == "locking/vfs"' file
	# shellcheck disable=SC2016 # for the inner shell
	run sh -c 'exec "$@" >&-' - "$KBENCH" -f "$format" -o file locking vfs "${brief[@]}" -t 1 -r 1
	[ $status = 1 ] || fail "-f $format >&-: exit status $status"
	has "$err" "standard output" "-f $format >&-"
	json_is '.benchmarks[0].name == "locking/vfs"' file
	# nobody reads what we complain of
	# shellcheck disable=SC2016 # for the inner shell
	run sh -c 'exec "$@" 2>&-' - "$KBENCH" -f "$format" -o file locking vfs "${brief[@]}" -t 1 -r 1
	[ $status = 0 ] || fail "-f $format 2>&-: exit status $status"
	json_is .complete file
done
[ -z "$(find . -name 'perf-kbench.*')" ] || fail "left over: $(find . -name 'perf-kbench.*')"
exit 0
