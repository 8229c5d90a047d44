#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# lab.sh: tools/kbench-lab with a qemu that only pretends, then with the real one
#
# What the lab makes of boots that go well, fail, die early or hang is tested with the first: it
# needs no kernel, and takes seconds. Real guests are then booted for one comparison of each kind.

. "$(dirname "$0")/lib.sh"

lab=$top/tools/kbench-lab
need_plain_build	# libraries of a sanitizer need more than a guest has
need_cmd jq
for tool in cpio modprobe busybox; do
	command -v $tool >/dev/null || skip "no $tool: sudo tools/install-deps lab"
done

# ---- wrong usage ----

bad()
{
	run "$lab" "$@"
	expect 2 "$*"
	[ ! -s "$out" ] || fail "$*: something on standard output"
}
bad
has "$err" "no --kernel"
bad --kernel x -o d -- kernfs lookup
has "$err" "is not like NAME=IMAGE"
bad --kernel a=x --kernel a=y -o d -- kernfs lookup
has "$err" "both are called"
bad --kernel a=x --kernel b=x --kernel c=x -o d -- kernfs lookup
bad --kernel a=x -- kernfs lookup
has "$err" "no -o DIR"
bad --kernel a=x -o d
has "$err" "no command"
bad --kernel a=x -o d --smp 0 -- kernfs lookup
bad --kernel a=x -o d --boots 1x -- kernfs lookup
bad --kernel a=x -o d --icount --smp 2 -- kernfs lookup
has "$err" "one CPU"
bad --kernel a=x -o d --icount --accel kvm -- kernfs lookup
bad --kernel a=x -o d --nfs 2 -- kernfs lookup
bad --kernel a=x -o d --nfs '3,a b' -- kernfs lookup
bad --kernel a=x -o d --nfs 3 --fs ext4 -- kernfs lookup
bad --kernel a=x -o d --fs vfat -- kernfs lookup
bad --kernel a=x -o d --append-to b=y -- kernfs lookup
has "$err" "with the name of a kernel"
bad --kernel a=x -o d --append-to a -- kernfs lookup
bad --kernel a=x -o d --nonsense 1 -- kernfs lookup
bad --kernel
[ ! -e d ] || fail "wrong usage made the folder"
run "$lab" -h
expect 0
has "$out" "Exit status"

# ---- a qemu that pretends ----

# A file that looks like a bzImage of Linux 9.9.
{
	head -c 514 /dev/zero
	printf 'HdrS'
	head -c 8 /dev/zero
	printf '\0\4'
	head -c 1008 /dev/zero
	printf '9.9.9-test (someone) #1\0'
	head -c 400 /dev/zero
} >bzImage
[ "$("$top/tools/lab/kernel" "$PWD/bzImage" cache | sed -n 2p)" = 9.9.9-test ] ||
	fail "the image's release: $("$top/tools/lab/kernel" "$PWD/bzImage" cache)"
run "$top/tools/lab/kernel" "$KBENCH" cache
expect 1
has "$err" "is no bzImage"
run "$top/tools/lab/kernel" nothing cache
has "$err" "no kernel image nothing"
mkdir tree
run "$top/tools/lab/kernel" tree cache
has "$err" "has no arch/x86/boot/bzImage"
run "$top/tools/lab/kernel" bzImage:tree cache
has "$err" "no modules.dep in tree"
run "$top/tools/lab/kernel" debian:x cache
has "$err" "not like debian:6.12"
run "$top/tools/lab/kernel" debian:99.1 cache
expect 1
has "$err" "apt knows no linux-image-99.1|no apt-get"

# It does what the file "plan" says on the line of this boot (the last one, if there are fewer): a
# rate of ops/s, or how it fails.
mkdir bin
cat >bin/qemu-system-x86_64 <<'END'
#!/bin/bash
[[ "$*" == *"-monitor stdio"* ]] && exit 1
echo "$*" >>"$PLAN_DIR/args"
nr=$(wc -l <"$PLAN_DIR/args")
for arg; do
	case $arg in
	file:*)		serial=${arg#file:} ;;
	file,id=*)	port=${arg##*path=} ;;
	*/initramfs.*)	cp "$arg" "$PLAN_DIR/initramfs" ;;
	esac
done
what=$(sed -n "${nr}p" "$PLAN_DIR/plan")
what=${what:-$(tail -n 1 "$PLAN_DIR/plan")}
mkdir -p "$PLAN_DIR/out.$nr" && cd "$PLAN_DIR/out.$nr" || exit 1
echo "some log of the kernel" >dmesg
echo 0 >status
case $what in
early)	echo "Oops: int3" >"$serial"; exit 0 ;;
panic)	echo "kbench-lab: init
kbench-lab: job
Kernel panic - not syncing: a test" >"$serial"; exit 0 ;;
hang)	echo "kbench-lab: init" >"$serial"; echo $$ >"$PLAN_DIR/pid"; exec sleep 1000 ;;
broken)	echo "no such accelerator" >&2; exit 1 ;;
mount)	echo "kbench-lab: init
kbench-lab: failed: mount -t xfs: no such device
kbench-lab: end" >"$serial" ;;
fails)	echo "kbench-lab: init
kbench-lab: job
kbench-lab: end" >"$serial"; echo 1 >status; echo "kernfs/lookup: open: no such file" >stderr ;;
*)	echo "kbench-lab: init
kbench-lab: job
kbench-lab: end" >"$serial"
	jq --argjson rate "$what" --arg boot "$nr" '.environment.boot_id = $boot |
		.environment.emulated = "tcg" |
		.benchmarks[0].points[0].repeats |= [range(10) |
			(($rate / 10 | floor) + .) as $ops |
			{gate_ns: (. * 1e9 + ($boot | tonumber)), elapsed_ns: 100000000,
			 ops: $ops, ops_all: $ops, rate: ($ops * 10), start_skew_ns: 0,
			 flags: [], task_ops: [$ops], task_ops_all: [$ops], task_start_ns: [0],
			 task_done_ns: [0], task_cpu: [0], task_nvcsw: [0], task_nivcsw: [0],
			 windows: [[0, 100000000, $ops, false]], window_ops: [[$ops]]}] |
		.benchmarks[0].points[0] |= (.rate = $rate | .valid = true | .flags = [])' "$PLAN_DIR/one.json" >results.json
	jq '.benchmarks[0].name = "harness/empty" | .benchmarks[0].points[0].rate = 199500000' \
		results.json >empty.json
	;;
esac
tar -c -f "$port" .
END
chmod +x bin/qemu-system-x86_64
export PLAN_DIR=$PWD
kbench -q -o one.json kernfs lookup "${quick[@]}" -r 1
expect 0

# pretend OUTCOMES ARGUMENT...: behind run
pretend()
{
	rm -rf out.* args pid d
	tr ' ' '\n' <<<"$1" >plan
	shift
	PATH=$PWD/bin:$PATH "$lab" -o d "$@" -- kernfs lookup -t 1
}
two=(--kernel old=bzImage --kernel new=bzImage --accel tcg)
order()
{
	sed -nE 's/^.*path=.*\/d\/([a-z]+-[0-9]+)\.tar.*$/\1/p' args | paste -s -d ' '
}

# A B B A; the files; a verdict; as slow as it is, and no status but compare's.
run pretend "10000 8000 8000 10000 10000 8000" "${two[@]}"
expect 1 "slower by 20 %"
[ "$(order)" = "old-1 new-1 new-2 old-2 old-3 new-3" ] || fail "the order is $(order)"
has "$out" "slower by 19\.9 %"
has "$out" "^emulated +by tcg: no rate is that of a real machine"
has "$err" "boot 6 of 6: new: .* about 0 s left"
cmp "$out" d/compare.txt || fail "compare.txt is not what was printed"
for file in old-1 new-3; do
	for kind in json serial dmesg; do
		[ -s d/$file.$kind ] || fail "no d/$file.$kind"
	done
	[ ! -e d/$file.tar ] || fail "d/$file.tar is left"
done
has args "thread=single.* -smp 2 .*console=ttyS0"
hasnt args "icount"
run pretend "10000" "${two[@]}" --boots 2 --smp 4 --append "foo=bar baz"
expect 0 "the same"
has args "-smp 4 .*foo=bar baz"
[ "$(wc -l <args)" = 4 ] || fail "--boots 2: $(wc -l <args) boots"

# One kernel that is started in two ways, and perf-kbench under another program.
run pretend "10000" "${two[@]}" --boots 2 --append "BOTH=1" --append-to "new=ONE=2 x=y" \
	--under "$(command -v nice) -n \$ONE"
expect 0 "two ways of one kernel"
[ "$(grep -c 'BOTH=1 ONE=2 x=y' args)" = 2 ] && [ "$(grep -c 'BOTH=1' args)" = 4 ] ||
	fail "--append-to: $(cat args)"
grep 'ONE=2' args | grep -q '/old-' && fail "--append-to went to the other kernel"
cpio -i --quiet --to-stdout job/run <initramfs >job
has job "^exec nice +-n \\\$ONE perf-kbench 'kernfs' 'lookup'"
cpio -t --quiet <initramfs >list
has list "^bin/nice$"
run env PATH="$PWD/bin:$PATH" "$lab" "${two[@]}" --under ./nothing -o d2 -- kernfs lookup
expect 125
has "$err" "no program ./nothing"

# A folder with something in it is not touched.
mkdir full && echo mine >full/file
run env PATH="$PWD/bin:$PATH" "$lab" "${two[@]}" -o full -- kernfs lookup
expect 125
has "$err" "full is not empty"

# Instructions: 1e9 / 1e6 ops/s are 1000 with 0.25 % for interrupts (5.0125 for 5), 5 for the loop.
run pretend "1000000 500000" --kernel old=bzImage --kernel new=bzImage --icount --boots 1
[ "$status" = 1 ] || fail "--icount: exit status $status for twice the instructions"
has "$out" "^kernfs/lookup +992\.5 +- +1990\.0 +- +\+100\.50%"
has args "-icount shift=0,sleep=off .*perf_kbench\.clock=icount"
[ -s d/instructions.txt ] || fail "no instructions.txt"
# the same by another way to the program, and nothing from a folder without results
ln -s "$KBENCH" kb
run "$top/tools/lab/instructions" ./kb d old new
cmp "$out" d/instructions.txt || fail "another table with a relative path"
run "$top/tools/lab/instructions" ./kb bin old new
expect 1
has "$out" "no boot has told them"

# An emulated machine is called one in a report, too.
kbench report -q d/old-1.json
has "$out" "^emulated: +by tcg"

# Dies before init: again, and counted; thrice: failed, and the rest goes on.
run pretend "early 10000" "${two[@]}" --boots 2
expect 0 "one early death"
has "$err" "old: died before init \(try 1 of 3\)"
has "$err" "1 boot\(s\) died before init"
has d/old-1.died-1.serial "int3"
[ -s d/old-1.json ] || fail "not booted again"
run pretend "10000 early early early 10000 10000" "${two[@]}" --boots 2
expect 125 "three early deaths"
has "$err" "new: failed: it died before init, three times"
has "$err" "\| Oops: int3"
[ "$(wc -l <args)" = 6 ] || fail "three tries: $(wc -l <args) boots"

# Fails later: not again, but told with its end, and the status is not 0.
run pretend "10000 panic 10000 10000" "${two[@]}" --boots 2
expect 125 "a panic"
has "$err" "boot 2 of 4: new: failed: the guest died"
has "$err" "\| Kernel panic - not syncing: a test"
[ "$(wc -l <args)" = 4 ] || fail "a panic: $(wc -l <args) boots"
[ -s d/compare.txt ] || fail "a panic: no comparison of the rest"
run pretend "fails" "${two[@]}" --boots 1
expect 125
has "$err" "perf-kbench ended with status 1"
has "$err" "\| kernfs/lookup: open: no such file"
has "$err" "nothing to compare: 0 results of old, 0 of new"
run pretend "mount" --kernel one=bzImage --boots 1
expect 125
has "$err" "failed: mount -t xfs: no such device"
run pretend "broken" --kernel one=bzImage --boots 1
expect 125
has "$err" "failed: qemu: no such accelerator"

# Hangs: ended at the bound (the smallest is 20 s, so it is lowered here), or by Ctrl-C.
sed 's/number "$1" "$2" 20 999999; limit/number "$1" "$2" 1 999999; limit/; s|^top=.*|top='"$top"'|' "$lab" >short
chmod +x short
lab=$PWD/short
run pretend "hang" --kernel one=bzImage --boots 1 --limit 1
expect 125
has "$err" "failed: it was ended after 1 s"
kill -0 "$(cat pid)" 2>/dev/null && fail "a hung guest still runs"

lab=$top/tools/kbench-lab
for signal in INT TERM KILL; do
	rm -f pid
	mkdir -p tmp
	# a job in the background ignores SIGINT, unless it is told otherwise
	TMPDIR=$PWD/tmp setsid env --default-signal=INT bash -c "$(declare -f pretend)
		lab=$lab; pretend hang --kernel one=bzImage --boots 1 & wait" 2>/dev/null &
	within 20 test -s pid || fail "no guest was started"
	main=$(pgrep -f "^(/bin/)?bash $lab -o d" | head -n 1)
	kill -$signal "$main"
	within 10 bash -c "! kill -0 $(cat pid) 2>/dev/null" || fail "SIG$signal: the guest still runs"
	wait
	[ $signal = KILL ] || [ -z "$(leftovers tmp)" ] || fail "SIG$signal left $(leftovers tmp)"
	rm -rf tmp
done

echo "pretended: $SECONDS s"

# ---- real guests ----

command -v qemu-system-x86_64 >/dev/null ||
	skip "real guests (pretended ones passed): no qemu-system-x86: sudo tools/install-deps lab"
cache=$top/.cache/lab
for version in 6.1 6.12; do
	run "$top/tools/lab/kernel" debian:$version "$cache"
	[ "$status" = 0 ] || skip "real guests (pretended ones passed): $(tail -n 1 "$err")"
done
both=(--kernel 6.1=debian:6.1 --kernel 6.12=debian:6.12 --boots 1 --limit 120)

# enough SECONDS WHAT: is there time for that?
enough()
{
	[ $((SECONDS + $1)) -lt "${TEST_TIMEOUT:-300}" ] && return
	note "$2 was left out: this machine is slow today, or busy"
	return 1
}

# Instructions an op: a call that the second kernel has made shorter, and the name of the clock.
if enough 100 "--icount"; then
	run "$lab" "${both[@]}" --icount -o icount -- kernfs lookup --missing --op stat
	[ "$status" = 0 ] || fail "--icount: exit status $status"
	read -r _ before _ after _ change < <(grep '^kernfs/lookup ' icount/instructions.txt)
	awk "BEGIN { exit !($before > 5000 && $before < 20000 && $after < 0.9 * $before) }" ||
		fail "instructions of a missing sysfs path: $before, $after ($change)"
	for file in icount/6.1-1.json icount/6.12-1.json; do
		json_is '.environment.clock_source == "icount" and .environment.emulated == "tcg" and
			 .benchmarks[0].points[0].valid' $file
	done
	# a machine's own results are not to be compared with these
	kbench compare one.json icount/6.1-1.json
	expect 1
	has "$err" "clock: .* in one.json, icount in icount/6.1-1.json"
	has "$err" "emulated by: \(not known\) in one.json, tcg in icount/6.1-1.json"
fi

# Several CPUs, whose tasks wait for each other: the instrument works in the guest.
if enough 90 "--smp 4 with --contention"; then
	run "$lab" "${both[@]}" --smp 4 -o smp -- \
		kernfs lookup -t 4 -r 2 -d 200ms -w 50ms --contention
	case $status in
	0|1|125) ;;	# a timing decides nothing here
	*)	fail "--smp 4: exit status $status" ;;
	esac
	for file in smp/6.1-1.json smp/6.12-1.json; do
		json_is '.environment.cpu.online == "0-3"' $file
		json_is '.benchmarks[0].points[0].valid' $file
		json_is '.passes[0] | .instrument == "contention" and .status == "ok"' $file
		json_is '.passes[0].points[0].figures.columns[0].name == "waits/op"' $file
	done
	has "$out" "^emulated +by tcg: no rate is that of a real machine"
fi

# NFS: names that are known not to be there cost no call, or one for each open.
rpcs()
{
	json ".benchmarks[0].points[0].metrics.$1.values[-1] // 0" "$2"
}
if enough 60 "NFS v3"; then
	run "$lab" --kernel k=debian:6.1 --boots 1 --nfs 3 --limit 120 -o nfs3 -- \
		nfs negative-dentry -t 1 -r 2 -d 500ms -w 500ms
	expect 0 "NFS v3"
	json_is '.benchmarks[0].dir.fs == "nfs" and .benchmarks[0].points[0].valid' nfs3/k-1.json
	awk "BEGIN { exit !($(rpcs LOOKUP nfs3/k-1.json) < 0.1) }" ||
		fail "NFS v3: $(rpcs LOOKUP nfs3/k-1.json) LOOKUPs an op"
fi
if enough 60 "NFS v4.2"; then
	run "$lab" --kernel k=debian:6.12 --boots 1 --nfs 4.2,lookupcache=none --limit 120 -o nfs4 -- \
		nfs negative-dentry -t 1 -r 2 -d 500ms
	expect 0 "NFS v4.2"
	json_is '.benchmarks[0].dir.fs == "nfs4" and .benchmarks[0].points[0].valid' nfs4/k-1.json
	awk "BEGIN { x = $(rpcs LOOKUP nfs4/k-1.json); exit !(x > 0.9 && x < 1.1) }" ||
		fail "NFS v4.2, lookupcache=none: $(rpcs LOOKUP nfs4/k-1.json) LOOKUPs an op"
fi
exit 0
