#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# tables.sh: each row of the tables has all that belongs to it
#
# A function of its own, a prototype, a Build line, a documentation entry, help, and it runs; the
# example in adding-a-benchmark.txt compiles; what README names exists, and it tells of each folder.

top=$(cd "$(dirname "$0")/../.." && pwd)
. "$top/tests/shell/lib.sh"

rows=$(sed -n '/^static struct bench .*_benchmarks\[\]/,/^};/p' "$top/builtin-bench.c" |
	tr -d '\n\t' | grep -oE '\{ *"[a-z-]+", *"[^"]*", *bench_[a-z_0-9]+ *\}' | grep -oE 'bench_[a-z_0-9]+')
[ -n "$rows" ] || fail "no rows found in builtin-bench.c"
[ "$(sort <<<"$rows" | uniq -d)" = "" ] || fail "one function in two rows: $(sort <<<"$rows" | uniq -d)"

kbench list
expect 0
[ "$(wc -l <"$out")" = "$(wc -l <<<"$rows")" ] || fail "list and the tables differ"

while read -r coll name _; do
	fn=bench_${coll}_${name//-/_}
	grep -qx "$fn" <<<"$rows" || fail "$coll $name is not $fn()"
	grep -q "^int $fn(int argc, const char \*\*argv);" "$top/bench/bench.h" || fail "$fn: no prototype"
	grep -q "^perf-kbench-y += $coll-$name\.o" "$top/bench/Build" || fail "$coll-$name.o: no Build line"
	[ -e "$top/bench/$coll-$name.c" ] || fail "no bench/$coll-$name.c"
	grep -q "^$coll $name\$" "$top/Documentation/benchmarks.txt" || fail "$coll $name: no documentation"
	grep -Eq "^\|? *.?$coll $name" "$top/README.md" || fail "$coll $name: not in README's table"
	for opt in $("$KBENCH" "$coll" "$name" -h | sed '/^Options of every/,$d' | grep -oE -- '--[a-z-]+'); do
		grep -q -- "$opt" "$top/Documentation/benchmarks.txt" || fail "$coll $name: $opt is not documented"
	done
	any=
	[ "$coll" = nfs ] && any=--any-fs
	# shellcheck disable=SC2086 # nothing, if empty
	kbench -f csv "$coll" "$name" "${quick[@]}" -r 1 $any
	expect 0 "$coll $name"
	has "$out" "^$coll/$name,.*,true," "$coll $name"
done < <(sed -E 's/^ +//' "$out")

# Options of every benchmark are in README.
"$KBENCH" locking vfs -h | sed '1,/^Options of every/d' | grep -oE -- '--[a-z-]+' | sort -u |
while read -r opt; do
	grep -q -- "$opt" "$top/README.md" || { echo "$opt is not in README"; exit 1; }
done || fail "an option is not in README"

# The manual page has each option that all benchmarks share, and those of the commands.
page=$top/Documentation/perf-kbench.txt
{
	"$KBENCH" locking vfs -h | sed '1,/^Options of every/d'
	for cmd in compare ab noise report import; do
		"$KBENCH" $cmd -h
	done
} | grep -oE -- '^ +(-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort -u | while read -r opt; do
	grep -q -- "$opt" "$page" || { echo "$opt is not in the manual page"; exit 1; }
done || fail "an option is not in the manual page"
if command -v asciidoctor >/dev/null; then
	run asciidoctor --failure-level WARN -b manpage -o page.1 "$page"
	expect 0 "asciidoctor"
	[ ! -s "$err" ] || fail "asciidoctor: $(cat "$err")"
	grep -Fq 'perf\-kbench compare' page.1 || fail "no synopsis in the manual page"
else
	note "no asciidoctor: the manual page was not made"
fi

# The example in the documentation is a benchmark.
sed -n '/SPDX-License-Identifier: GPL-2.0$/,/^2\. /p' "$top/Documentation/adding-a-benchmark.txt" |
	sed -n '/^\t/p' | sed 's/^\t//' >example.c
grep -q bench_locking_null example.c || fail "no example found"
flags=$(cd "$KBENCH_BUILD" && sed -n 's/^cmd_.*locking-vfs\.o := //p' bench/.locking-vfs.o.cmd 2>/dev/null)
if [ -n "$flags" ]; then
	cmd=$(sed -E 's/ -o [^ ]+/ -o example.o/; s/ [^ ]*locking-vfs\.c$/ example.c/; s/-Wp,-M[^ ]+//g; s/ -D"BUILD_STR[^ ]*//' <<<"$flags")
	cmd="${cmd/ -I. / -I. -I$top -I$top/bench } -Wno-missing-prototypes -Wno-missing-declarations"
	run bash -c "$cmd"
	[ "$status" = 0 ] || fail "the example does not compile: $cmd"
else
	note "no command line of the compiler found: the example was not compiled"
fi

# README's links lead somewhere.
grep -oE '\]\([A-Za-z][^):]*\)' "$top/README.md" | tr -d '()]' | while read -r file; do
	[ -e "$top/${file%%#*}" ] || { echo "README links to $file, which is not there"; exit 1; }
done || fail "a dead link in README"

# README tells of each folder, and of no other; includes go the way that it says.
# shellcheck disable=SC2016 # backquotes of Markdown
places=$(sed -n '/^Where things are$/,/^Building$/s/^| `\([A-Za-z]*\)\/`.*/\1/p' "$top/README.md" | sort)
folders=$(cd "$top" && { ls -d Documentation tests tools; dirname -- */Build; } | sort)
[ "$places" = "$folders" ] || fail "README's places: $places; the folders: $folders"
bad=$(cd "$top" && { grep -nE '^#include "[a-z]+/' util/*.[ch] | grep -v '"util/'
	grep -nE '^#include "[a-z]+/' bench/*.[ch] | grep -v '"util/'
	grep -nE '^#include "(builtin|subrun)' -- */*.[ch]; })
[ -z "$bad" ] || fail "an include of what is above: $bad"
