#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# series.sh: tools/export-series on trees that have no more than it looks at
#
# The patches apply, each brings its files byte for byte and its rows to their places; a tree, a
# folder or a name that is not as it must be is refused and named. (make check-upstream tries it on
# real kernels.)

. "$(dirname "$0")/lib.sh"
need_cmd git
# What git's configuration of whoever runs us says is not to matter.
export HOME=$TMPDIR GIT_CONFIG_NOSYSTEM=1
git config --global user.name Nobody
git config --global user.email nobody@localhost
git config --global safe.directory '*'

signer='Ann O. Tator <ann@example.org>'
export_series=$top/tools/export-series

# tree DIR OBJECTS QUALIFIERS: a perf that lists objects under that name, its tables so qualified
tree()
{
	local perf=$1/tools/perf
	mkdir -p "$perf/bench" "$perf/Documentation" "$perf/tests/shell/lib"
	cat >"$perf/bench/Build" <<-END
		$2 += sched-pipe.o
		$2 += futex.o

		${2%y}\$(CONFIG_NUMA) += numa.o
	END
	cat >"$perf/bench/bench.h" <<-END
		#ifndef BENCH_H
		#define BENCH_H
		int bench_sched_pipe(int argc, const char **argv);
		int bench_numa(int argc, const char **argv);

		extern int bench_format;
		#endif
	END
	sed 's/^\t*|//' >"$perf/builtin-bench.c" <<-END
		|/*
		| * What there is:
		| *
		| *  sched ... scheduler
		| *  numa  ... memory
		| */
		|#include "bench/bench.h"
		|
		|typedef int (*bench_fn_t)(int argc, const char **argv);
		|
		|struct bench {
		|	const char	*name;
		|	const char	*summary;
		|	bench_fn_t	fn;
		|};
		|
		|$3 bench sched_benchmarks[] = {
		|	{ "pipe",	"Benchmark for pipes",			bench_sched_pipe	},
		|	{ NULL,		NULL,					NULL			}
		|};
		|
		|struct collection {
		|	const char	*name;
		|	const char	*summary;
		|	${3#static }	bench	*benchmarks;
		|};
		|
		|static struct collection collections[] = {
		|	{ "sched",	"Scheduler benchmarks",			sched_benchmarks	},
		|	{ "all",	"All benchmarks",			NULL			},
		|	{ NULL,		NULL,					NULL			}
		|};
	END
	cat >"$perf/Documentation/perf-bench.txt" <<-END
		SUBSYSTEM
		---------

		'sched'::
			Scheduler.

		'all'::
			All of them.

		SUITES FOR 'sched'
		~~~~~~~~~~~~~~~~~~
		*pipe*::
		Pipes.

		SEE ALSO
		--------
		linkperf:perf[1]
	END
	echo "set -e" >"$perf/tests/shell/lib/one.sh"
	git -C "$1" init -q . && git -C "$1" add -A && git -C "$1" commit -q -m base && git -C "$1" tag base
}

collections=$("$KBENCH" list | awk '!seen[$1]++ { print $1 }')
[ -n "$collections" ] || fail "no collections"
nr=$(($(wc -w <<<"$collections") + 1))

# The same files, rows and prototypes, whatever a tree calls its objects and tables.
for layout in "perf-y|static struct" "perf-bench-y|static struct" "perf-bench-y|static const struct"; do
	list=${layout%|*} table=${layout#*|}
	rm -rf k series
	tree k "$list" "$table"
	run "$export_series" k series --signed-off-by "$signer"
	expect 0 "$layout"
	[ "$(find series -type f | wc -l)" = $((nr + 1)) ] || fail "$layout: $(ls series)"
	[ -z "$(git -C k status --porcelain)" ] || fail "$layout: the tree was written to"
	has series/0000-cover-letter.patch "^Subject: \[PATCH 0/$nr\] perf bench: "
	hasnt series/0000-cover-letter.patch '\*\*\*' "$layout: not written"

	n=0
	for patch in series/000[1-9]*; do
		n=$((n + 1))
		has "$patch" "^Subject: \[PATCH $n/$nr\] perf bench: "
		has "$patch" '^From: "?Ann O\. Tator"? <ann@example\.org>$'
		[ "$(grep -c "^Signed-off-by: $signer\$" "$patch")" = 1 ] || fail "$patch: not signed off once"
		awk '/^---$/ { exit } length > 75 && !/^Subject: / { print; bad = 1 } END { exit bad }' "$patch" ||
			fail "$patch: longer than 75 columns"
		run git -C k am -q "../$patch"
		expect 0 "git am $patch"
		[ -z "$(git -C k status --porcelain)" ] || fail "$patch: something is left over"
	done
	[ $n = $nr ] || fail "$layout: $n patches, not $nr"
	git -C k log --format=%B base..HEAD >messages
	hasnt messages '@example@' "a message without its example"
	[ "$(grep -c '^  \$ perf bench ' messages)" -ge $((nr - 1)) ] || fail "$layout: examples are missing"

	for file in "$top"/bench/*.[ch]; do
		[ "${file##*/}" = bench.h ] || cmp -s "$file" "k/tools/perf/bench/${file##*/}" ||
			fail "$layout: ${file##*/} is not ours"
	done
	sed -n 's/^perf-kbench-y += //p' "$top/bench/Build" | while read -r object; do
		grep -qx "$list += $object" k/tools/perf/bench/Build || echo "$object"
	done >missing
	[ ! -s missing ] || fail "$layout: not in Build: $(cat missing)"
	[ "$(sed -n '1,/^$/p' k/tools/perf/bench/Build | grep -c "^$list += ")" = \
	  $((2 + $(grep -c '^perf-kbench-y' "$top/bench/Build"))) ] || fail "$layout: not behind the others"
	"$KBENCH" list | while read -r coll name _; do
		grep -qx "CFLAGS_$coll-$name\.o += -fno-plt" k/tools/perf/bench/Build || echo "$coll-$name"
	done >missing
	[ ! -s missing ] || fail "$layout: built with a PLT: $(cat missing)"
	grep '^int bench_' "$top/bench/bench.h" >ours
	[ "$(sed -n '/^int bench_numa/,/^$/p' k/tools/perf/bench/bench.h | sed '1d;$d')" = "$(cat ours)" ] ||
		fail "$layout: prototypes"
	for coll in $collections; do
		[ "$(grep -c "^$table bench ${coll}_benchmarks\[\] = {\$" k/tools/perf/builtin-bench.c)" = 1 ] ||
			fail "$layout: no table of $coll"
		grep -q "^'$coll'::\$" k/tools/perf/Documentation/perf-bench.txt || fail "$coll: not listed"
		grep -q "^SUITES FOR '$coll'\$" k/tools/perf/Documentation/perf-bench.txt || fail "$coll: no section"
		[ "$(stat -c %a "k/tools/perf/tests/shell/bench_$coll.sh")" = 755 ] || fail "$coll: no test"
	done
	[ "$(sed -n '/^static struct collection/,/^};/p' k/tools/perf/builtin-bench.c |
		grep -oE '"[a-z]+",' | tr -d '",\n')" = "sched$(tr -d '\n' <<<"$collections")all" ] ||
		fail "$layout: the order of the collections"
	[ "$(sed -n '/^ \*  /p' k/tools/perf/builtin-bench.c | awk '{ print $2 }' | tr -d '\n')" = \
	  "schednuma$(tr -d '\n' <<<"$collections")" ] || fail "$layout: the comment at the head"
	tail -n 3 k/tools/perf/Documentation/perf-bench.txt | head -n 1 | grep -qx 'SEE ALSO' ||
		fail "$layout: SEE ALSO is not last"
done

# Each section of the documentation names all options of its benchmarks; the shared ones are told once.
doc=k/tools/perf/Documentation/perf-bench.txt
"$KBENCH" list | while read -r coll name _; do
	for opt in $("$KBENCH" "$coll" "$name" -h | sed '/^Options of every/,$d' | grep -oE -- '--[a-z-]+'); do
		sed -n "/^SUITES FOR '$coll'/,/^\(SUITES\|SEE\)/p" $doc | grep -q -e "^$opt\(=\)\?::\$" ||
			echo "$coll $name $opt"
	done
done >missing
"$KBENCH" locking vfs -h | sed '1,/^Options of every/d; /^Output:/,$d' | grep -oE -- '^ +(-., )?--[a-z-]+' |
	grep -oE -- '--[a-z-]+' | while read -r opt; do
	[ "$(sed -n "/^OPTIONS OF 'locking'/,/^SUITES/p" $doc | grep -c -e "^$opt=::\$")" = 1 ] || echo "$opt"
done >>missing
[ ! -s missing ] || fail "not in the section of perf-bench.txt: $(tr '\n' ';' <missing)"

# The same dates give the same bytes.
export GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z
git -C k reset -q --hard base
"$export_series" k once --signed-off-by "$signer" >/dev/null || fail "once"
"$export_series" --signed-off-by="$signer" k twice >/dev/null || fail "twice"
diff -r once twice >"$err" || fail "two exports differ"

# refused STATUS REGEX ARGUMENT...: and nothing is written
refused()
{
	local want=$1 regex=$2
	shift 2
	run "$export_series" "$@"
	expect "$want" "$*"
	has "$err" "$regex" "$*"
	[ ! -e new ] || [ -z "$(ls -A new)" ] || fail "$*: refused, and something written"
	rm -rf new
}

signed=(--signed-off-by "$signer")
refused 2 '^usage: '
refused 2 '^usage: ' k
refused 2 '^usage: ' k new "${signed[@]}" more
refused 2 '^usage: ' k new "${signed[@]}" --bogus
refused 2 '^usage: ' k new --signed-off-by
refused 2 '--signed-off-by is missing' k new
refused 1 'is not of the form' k new --signed-off-by 'Ann O. Tator'
refused 1 'is not of the form' k new --signed-off-by 'ann@example.org'
refused 1 'is not of the form' k new --signed-off-by "$signer, $signer"
refused 1 'once is not empty' k once "${signed[@]}"
refused 1 'ours is no folder' k ours "${signed[@]}"
refused 1 'nowhere: there is no such folder' nowhere new "${signed[@]}"
refused 1 'no kernel tree that we know: no tools/perf/builtin-bench\.c' "$top/bench" new "${signed[@]}"

# spoilt REGEX FILE SED: the tree with one thing changed
spoilt()
{
	rm -rf bad
	cp -r k bad
	sed -i -E "$3" "bad/tools/perf/$2"
	! cmp -s "k/tools/perf/$2" "bad/tools/perf/$2" || fail "not spoilt: $2 $3"
	refused 1 "$1" bad new "${signed[@]}"
}
spoilt 'bench/Build: objects are in neither' bench/Build 's/^perf-bench-y/perf-other-y/'
spoilt 'bench/Build: objects are in neither' bench/Build '1s/perf-bench-y/perf-y/'
spoilt 'bench/bench\.h: there is no line like' bench/bench.h 's/, const char/, char/'
spoilt 'struct bench is not name, summary, fn' builtin-bench.c 's/^\tbench_fn_t\tfn/\tint flags; bench_fn_t fn/'
spoilt 'struct collection is not name' builtin-bench.c 's/(bench)\t\*benchmarks/\1\t**benchmarks/'
spoilt 'its tables are not all' builtin-bench.c 's/^static const struct bench sched/struct bench sched/'
spoilt 'builtin-bench\.c: there is no line like' builtin-bench.c 's/"All benchmarks"/"Everything"/'
spoilt 'builtin-bench\.c: there is no line like' builtin-bench.c 's/^ \*  (sched|numa)/ * \1/'
spoilt "perf-bench\.txt: there is no line like" Documentation/perf-bench.txt "s/^'all'/'everything'/"
spoilt "perf-bench\.txt: there is no line like" Documentation/perf-bench.txt 's/^SEE ALSO/MORE/'
spoilt 'has a collection "kernfs" already' builtin-bench.c \
	's/^\t\{ "sched"/\t{ "kernfs", "Another", kernfs_benchmarks },\n&/'
rm -rf bad
cp -r k bad
: >bad/tools/perf/bench/worker.h
refused 1 'bench/worker\.h is there already' bad new "${signed[@]}"
rm bad/tools/perf/bench/worker.h
: >bad/tools/perf/tests/shell/bench_nfs.sh
refused 1 'bench_nfs\.sh is there already' bad new "${signed[@]}"

# A benchmark without its texts, or a file that belongs to nothing, does not get lost.
mkdir copy
cp -r "$top/bench" "$top/tools" "$top/builtin-bench.c" copy
export_series=copy/tools/export-series
rm copy/tools/series/nfs.doc
refused 1 'nfs has no documentation: write .*series/nfs\.doc' k new "${signed[@]}"
cp "$top/tools/series/nfs.doc" copy/tools/series
rm copy/tools/series/nfs.example
refused 1 'nfs has no example: see tools/run-examples' k new "${signed[@]}"
cp "$top/tools/series/nfs.example" copy/tools/series
rm copy/tools/series/kernfs.txt
refused 1 'no text for kernfs: write .*series/kernfs\.txt' k new "${signed[@]}"
cp "$top/tools/series/kernfs.txt" copy/tools/series
: >copy/bench/stray-one.c
refused 1 'stray-one\.c is of no collection' k new "${signed[@]}"
mv copy/bench/stray-one.c copy/bench/nfs-one.c
refused 1 'nfs-one\.c has no line in bench/Build' k new "${signed[@]}"
