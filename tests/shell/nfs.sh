#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# nfs negative-dentry where there is no NFS: the refusal, --any-fs, what is counted
. "$(dirname "$0")/lib.sh"

need_cmd jq

dir=$TMPDIR/files
mkdir "$dir" || fail "mkdir"
# By number, not by time, so that a busy machine cannot make them invalid; over 1 ms on any.
brief=(-r 1 -l 20000)
point='.benchmarks[0].points[0]'
type=$(stat -f -c %T "$dir")
case $type in
nfs*)	skip "the test's own folder is on NFS" ;;
esac

clean()
{
	[ -z "$(leftovers "$dir")" ] || fail "left over: $(leftovers "$dir")"
}

# ---- not on NFS: refused, with the file system's name, and nothing was made ----

kbench nfs negative-dentry "${brief[@]}" --dir "$dir"
expect 3 "not on NFS"
has "$err" "skipped: --dir $dir is on [a-z0-9.]+: .*--any-fs"
hasnt "$out" "[0-9]"
if grep -q tmpfs /proc/filesystems && [ -d /dev/shm ] && [ "$(stat -f -c %T /dev/shm)" = tmpfs ]; then
	kbench nfs negative-dentry "${brief[@]}" --dir /dev/shm
	expect 3 "tmpfs"
	has "$err" "--dir /dev/shm is on tmpfs:"
fi
kbench -f json nfs negative-dentry "${brief[@]}" --dir "$dir"
expect 3 "as JSON"
[ ! -s "$out" ] || json_is '[.benchmarks[]? | .points[]?] == []'
kbench nfs negative-dentry "${brief[@]}" --dir "$dir/none"
expect 1 "--dir that is not there"
has "$err" "none: No such file or directory"
clean

# ---- usage ----

for bad in "--dirs 0" "--dirs -1" "--names 0" "--names x" "--dirs 18446744073709551617" \
	   "--dirs 1000001 --names 1" "--dirs 2 --names 500001" \
	   "--dirs 4294967296 --names 4294967296" "--dirs 9007199254740992 --names 2048"; do
	# shellcheck disable=SC2086 # words are meant
	kbench nfs negative-dentry --any-fs $bad "${brief[@]}" --dir "$dir"
	expect 2 "$bad"
	has "$err" "--dirs|--names" "$bad"
done
clean

# ---- any file system ----

for mode in process thread; do
	kbench -f json nfs negative-dentry --any-fs --mode $mode -t 1,2 --dirs 3 --names 4 -r 2 \
		-l 20000 --dir "$dir"
	good "--any-fs, $mode"
	json_is ".benchmarks[0] | .name == \"nfs/negative-dentry\" and .mode == \"$mode\" and
		.parameters == {dirs: \"3\", names: \"4\"} and (.unit | test(\"ENOENT\"))"
	json_is '.benchmarks[0].points | length == 2 and all(.repeats | length == 2)'
	# RPCs are not told of where there is no RPC
	json_is '[.benchmarks[0].points[].metrics] == [{}, {}]'
	clean
done
kbench nfs negative-dentry --any-fs "${brief[@]}" --dir "$dir"
expect 0 "as a table"
hasnt "$out" "RPC|LOOKUP"

kbench -f json nfs negative-dentry --any-fs -r 1 -t 2 --total 20000 --dir "$dir"
good "--total"
json_is "$point | .elapsed_sec > 0 and .repeats[0].ops_all == 20000"
clean

# the first pass, which asks for what the others know, is not to be measured without a word
kbench -f json nfs negative-dentry --any-fs -r 1 -t 2 -w 0s -d 20ms --dirs 1000 --names 1000 --dir "$dir"
json_is "$point.notes | any(test(\"^the first pass over the files, .* --warmup\"))"
kbench -f json nfs negative-dentry --any-fs -r 1 -t 1 -w 1s -d 20ms --dirs 1 --names 1 --dir "$dir"
json_is "$point.notes == []"
kbench -f json nfs negative-dentry --any-fs -r 1 -t 1 --total 20 --dir "$dir"
json_is "$point.notes == []"
clean

# ---- what is counted is what was done, over all paths ----

if (need_inject) >/dev/null; then
	traced=(env "ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0" strace -ff -qq -o "$TMPDIR/trace"
		-e "trace=open,openat" "$KBENCH" -f json nfs negative-dentry --any-fs --dir "$dir" -r 1)
	run "${traced[@]}" -t 2 -l 100000000 -d 100ms
	expect 0 "traced"
	ops=$(json "$point.repeats[0].ops_all")
	seen=$(cat trace.* | grep -cE '"d[0-9]+/n[0-9]+".*ENOENT')
	[ "$ops" -gt 0 ] && [ "$ops" = "$seen" ] || fail "$ops ops, but strace saw $seen calls"

	rm -f trace.*
	run "${traced[@]}" -t 1 --dirs 3 --names 4 --total 48
	expect 0 "traced --total"
	cat trace.* | sed -n 's/.*"\(d[0-9]*\/n[0-9]*\)".*/\1/p' >order
	[ "$(sort order | uniq -c | awk '$1 == 4' | wc -l)" = 12 ] && [ "$(wc -l <order)" = 48 ] ||
		fail "not every path four times: $(sort order | uniq -c)"
	# one name in all directories, then the next
	[ "$(head -n 4 order | xargs)" = "d0/n0 d1/n0 d2/n0 d0/n1" ] || fail "order: $(xargs <order)"
	clean
else
	note "calls were not counted: no strace, or it cannot trace here"
fi

# ---- a file that is there after all is an error ----

appear()
{
	local found=("$dir"/perf-kbench.*/run/d1)
	touch "${found[0]}/n2" 2>/dev/null
}

"$KBENCH" -f json nfs negative-dentry --any-fs -r 1 -t 2 -d 20s --dir "$dir" >"$out" 2>"$err" &
pid=$!
within 10 appear || fail "there is no d1 in the private directory"
SECONDS=0
wait $pid
status=$?
expect 1 "a file that is there"
[ $SECONDS -lt 15 ] || fail "it went on for $SECONDS s"
has "$err" "task [01] of 2: open d1/n2: File exists"
json_is "$point | .valid == false and .rate == null"
clean
exit 0
