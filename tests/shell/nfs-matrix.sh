#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# nfs-matrix.sh: tools/kbench-nfs-matrix with a lab that boots nothing
#
# Which guests it asks for, the table of what they measured, and what it says of one that failed.
# That a real guest measures is lab.sh's to tell.

. "$(dirname "$0")/lib.sh"

need_cmd jq
matrix=$top/tools/kbench-nfs-matrix

# A lab: notes its arguments; v3 asks nothing, v4.2 asks for each op; lookupcache=none fails on v3.
cat >lab <<-'END'
	#!/bin/bash
	echo "$*" >>asked
	while [ "$1" != -- ]; do
		case $1 in
		-o)	dir=$2 ;;
		--nfs)	nfs=$2 ;;
		esac
		shift
	done
	[ "$nfs" != 3,lookupcache=none ] || { echo "kbench-lab: a guest died" >&2; exit 125; }
	mkdir "$dir"
	case $nfs in
	3*)	rate=50000 lookup=0 open='' ;;
	*)	rate=200.25 lookup=1 open=', "OPEN": { "unit": "RPC/op", "values": [1, 0.5, null] }' ;;
	esac
	jq -n --argjson rate $rate --argjson lookup $lookup "{ benchmarks: [{ points: [
		{ tasks: 1, valid: true, rate: \$rate, ci95: (\$rate / 50), metrics: {
			LOOKUP: { unit: \"RPC/op\", values: [\$lookup, \$lookup] },
			\"SEQUENCE (lease)\": { unit: \"RPC/op\", values: [0.0001] },
			other: { unit: \"s\", values: [9] } $open } },
		{ tasks: 2, valid: false, rate: null, ci95: null, metrics: {} } ] }] }" >"$dir/k-1.json"
END
chmod +x lab
export KBENCH_LAB=$TMPDIR/lab

run "$matrix" --kernel k=debian:6.12 -o one --limit 77
expect 125 "one failed"
has "$err" '^kbench-nfs-matrix: NFS 3, lookupcache=none: not measured \(see one/03\)$'
[ "$(wc -l <asked)" = 8 ] || fail "not eight guests: $(cat asked)"
[ "$(sed -E 's/^.*--nfs ([^ ]*) .*/\1/' asked | xargs)" = \
	"3 3,lookupcache=pos 3,lookupcache=none 3,actimeo=0 4.2 4.2,lookupcache=pos 4.2,lookupcache=none 4.2,actimeo=0" ] ||
	fail "other guests: $(cat asked)"
has asked '^--kernel k=debian:6\.12 --boots 1 --nfs 3 --limit 77 -o one/01 -- nfs negative-dentry --dirs 2 --names 5 -t 1 -r 3 '
cat >want <<-'END'
	NFS  options          tasks      ops/s  +-95%  LOOKUP    OPEN
	3    -                    1    50000.0   2.0%  0.0000       -
	3    -                    2          -      -       -       -
	3    lookupcache=pos      1    50000.0   2.0%  0.0000       -
	3    lookupcache=pos      2          -      -       -       -
	3    lookupcache=none     -          -      -       -       -
	3    actimeo=0            1    50000.0   2.0%  0.0000       -
	3    actimeo=0            2          -      -       -       -
	4.2  -                    1      200.2   2.0%  1.0000  0.7500
	4.2  -                    2          -      -       -       -
	4.2  lookupcache=pos      1      200.2   2.0%  1.0000  0.7500
	4.2  lookupcache=pos      2          -      -       -       -
	4.2  lookupcache=none     1      200.2   2.0%  1.0000  0.7500
	4.2  lookupcache=none     2          -      -       -       -
	4.2  actimeo=0            1      200.2   2.0%  1.0000  0.7500
	4.2  actimeo=0            2          -      -       -       -
END
words() { tr -s ' ' <"$1" | sed 's/ $//'; }
[ "$(words want)" = "$(words "$out" | sed '/^$/,$d')" ] || fail "the table: $(cat "$out")"
cmp -s "$out" one/table.txt || fail "table.txt is another"
awk 'length > 78 { exit 1 }' "$out" || fail "more than 78 columns"
cp "$out" first
run "$matrix" --table one
cmp -s "$out" first || fail "--table: another table"

rm asked
run "$matrix" --kernel k=x --versions 4.2 --options '' --options noac,soft -o two -- nfs negative-dentry -t 4
expect 0 "two guests"
[ "$(sed -E 's/^.*--nfs ([^ ]*) .*/\1/' asked | xargs)" = "4.2 4.2,noac,soft" ] || fail "$(cat asked)"
has asked ' -- nfs negative-dentry -t 4$'

# refused STATUS REGEX ARGUMENT...: and no guest is asked for
refused()
{
	local want=$1 regex=$2
	shift 2
	rm -f asked
	run "$matrix" "$@"
	expect "$want" "$*"
	has "$err" "$regex" "$*"
	[ ! -e asked ] || fail "$*: a guest was asked for"
}
refused 2 'no --kernel' -o x
refused 2 'no -o DIR' --kernel k=x
refused 2 'is not of 3 and 4\.2' --kernel k=x -o x --versions 3,5
refused 2 'of the collection nfs' --kernel k=x -o x -- locking vfs
refused 2 'is no option' --kernel k=x -o x --bogus
refused 2 'without its value' --kernel
refused 125 'one is not empty' --kernel k=x -o one
refused 125 'x: no results' --table x
run "$matrix" -h
expect 0 "-h"
has "$out" '^usage: '
exit 0
