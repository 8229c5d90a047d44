#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# dispatcher.sh: the command line of the real program: names, -f -r -o -q, "all", help, exit
# statuses, and where texts go. tests/unit/test-dispatch.c has more of this, with stubs.
#
# Uses $KBENCH and $TMPDIR. Cases B1, E1 and E2 of the list of cases.

set -u
cd "$TMPDIR" || exit 1
out=$TMPDIR/stdout
err=$TMPDIR/stderr
status=0
quick=(-t 1 -d 100ms -w 10ms --window 10ms)

fail()
{
	echo "FAIL: $*"
	head -n 20 "$out" "$err"
	exit 1
}

run()
{
	line="perf-kbench $*"
	"$KBENCH" "$@" >"$out" 2>"$err" </dev/null
	status=$?
}

# expect STATUS STDOUT-REGEX STDERR-REGEX ARGUMENT...: "" means that nothing is printed
expect()
{
	local want=$1 want_out=$2 want_err=$3
	shift 3
	run "$@"
	[ $status = "$want" ] || fail "$line: exit status $status, not $want"
	match "$out" "$want_out"
	match "$err" "$want_err"
}

match()
{
	if [ -z "$2" ]; then
		[ ! -s "$1" ] || fail "$line: something in ${1##*/}"
	else
		grep -Eq -e "$2" "$1" || fail "$line: no '$2' in ${1##*/}"
	fi
}

usage_error()
{
	local want_err=$1
	shift
	expect 2 '' "$want_err" "$@"
}

# A run that printed something, and nothing on standard error
silent_success()
{
	[ $status = 0 ] || fail "$line: exit status $status"
	[ -s "$out" ] || fail "$line: no output"
	[ ! -s "$err" ] || fail "$line: something on standard error"
}

one_json_value()
{
	if command -v jq >/dev/null; then
		jq -es 'length == 1' "$1" >/dev/null || fail "$line: not one JSON value in $1"
	fi
}

# Listing
expect 0 '^        fsnotify: ' ''
expect 0 '^          lookup: ' '' kernfs
expect 0 '^fsnotify eventfd  ' '' list
[ "$(wc -l <"$out")" = 6 ] || fail "list: not six benchmarks"
cut -c1-26 "$out" | while read -r coll bench; do
	run "$coll"
	grep -q "^ *$bench: " "$out" || exit 1
done || fail "a benchmark of list is not in its collection"
expect 0 '^perf-kbench version ' '' version
expect 0 'json-c  *[0-9]' '' --version

# Help: everywhere, on standard output, complete, at most 78 columns wide
help()
{
	expect 0 'Usage: perf-kbench' '' "$@"
	awk 'length($0) > 78 { exit 1 }' "$out" || fail "$line: over 78 columns"
	for opt in tasks mode cpus pin duration warmup window loops total repeat format output quiet
	do
		grep -Eq -e "--$opt( |$)" "$out" || fail "$line: --$opt is not explained"
	done
}
help -h
help --help
help help
help kernfs -h
help -h kernfs
help kernfs lookup -h
grep -q -e '--files <n>' "$out" || fail "kernfs lookup -h: --files is missing"
help kernfs lookup -t 1 --help
help kernfs all -h
help fsnotify all -h
grep -q -e '--marks' "$out" || fail "fsnotify all -h: --marks is missing"
help all -h
help help kernfs lookup
expect 0 'Usage: perf-kbench list' '' list -h
"$KBENCH" -h 2>"$err" | head -n 1 >/dev/null
[ ! -s "$err" ] || fail "help into head: something on standard error"

# Unknown names: what was typed, and the nearest if one is near
unknown()
{
	local text=$1
	shift
	usage_error . "$@"
	[ "$(cat "$err")" = "$text" ] || fail "$line: not the text: $text"
}
unknown "Unknown collection: 'kernsf'
  Did you mean 'kernfs'?" kernsf lookup
unknown "Unknown collection: 'zzz'" zzz
unknown "Unknown collection: 'verison'
  Did you mean 'version'?" verison
unknown "Unknown collection: 'lookup'
  Did you mean 'kernfs lookup'?" lookup
unknown "Unknown benchmark: 'lokup' for collection 'kernfs'
  Did you mean 'lookup'?" kernfs lokup
unknown "Unknown benchmark: 'zzz' for collection 'kernfs'" kernfs zzz "${quick[@]}"
unknown "No benchmark named: nothing is run" -q kernfs
unknown "No collection named: nothing is run" -f csv
unknown "'list' is a command: no option can stand before it" -q list
usage_error "Unknown format descriptor: 'jsn'" -f jsn kernfs lookup
grep -q "Did you mean 'json'?" "$err" || fail "no json for jsn"
usage_error "Unknown format descriptor: 'zzz'" kernfs lookup "${quick[@]}" -f zzz
! grep -q 'Did you mean' "$err" || fail "a suggestion for zzz"
usage_error 'unknown option .bogus' --bogus kernfs lookup
usage_error . kernfs lookup --bogus
usage_error . kernfs lookup "${quick[@]}" surplus

# B1: numbers
for n in 0 -1 '' abc 1x 1e99 0x10 ' 1' 10001 2147483648 4294967296 4294967297 \
	 9223372036854775808 18446744073709551616 18446744073709551617; do
	usage_error 'repeat' -r "$n" kernfs lookup "${quick[@]}"
	usage_error 'repeat' kernfs lookup "${quick[@]}" -r "$n"
	usage_error 'repeat' --repeat="$n" all "${quick[@]}"
	usage_error 'repeat' all "${quick[@]}" -r "$n"
done
usage_error "output" -o '' kernfs lookup
usage_error "f json" kernfs lookup -o -

# Runs, with the common options before and after
expect 0 "^# Running 'kernfs/lookup' benchmark:$" '' -r 1 kernfs lookup "${quick[@]}"
run -f simple -r 2 kernfs lookup "${quick[@]}"
[ $status = 0 ] || fail "$line: exit status $status"
! grep -q '^# Running' "$out" || fail "$line: a heading in the simple format"
for format in default simple json csv classic; do
	run -q -f "$format" -r 1 kernfs lookup "${quick[@]}"
	silent_success
	run kernfs lookup "${quick[@]}" "--format=$format" --repeat 1 --quiet
	silent_success
	[ $format != json ] || one_json_value "$out"
done
expect 0 . '' kernfs lookup "${quick[@]}" -o one.json -r 1 -f csv
one_json_value one.json
expect 0 . '' -o two.json -f json -r 1 kernfs lookup "${quick[@]}"
one_json_value two.json
one_json_value "$out"
expect 0 . '' kernfs lookup "${quick[@]}" --output=three.json -r 1
one_json_value three.json

# What cannot be written is known before anything runs, and a usage error leaves the old file
cp one.json old.json
usage_error . kernfs lookup -t 0 -o one.json
usage_error . kernfs all --bogus -o one.json
cmp -s one.json old.json || fail "a usage error has touched the results file"
start=$SECONDS
run kernfs lookup -t 1 -d 30s -r 1 -o no-such-directory/x.json
[ $status = 1 ] || fail "$line: exit status $status"
grep -q 'no-such-directory' "$err" || fail "$line: it is not said why"
[ $((SECONDS - start)) -lt 15 ] || fail "$line: was told only after the run"
for args in '' kernfs list version -h 'help kernfs' 'kernfs lookup -h'; do
	# shellcheck disable=SC2086 # split
	"$KBENCH" $args >/dev/full 2>"$err"
	[ $? = 1 ] || fail "perf-kbench $args >/dev/full: success"
done
for format in default simple json csv classic; do
	"$KBENCH" -f $format -r 1 kernfs lookup "${quick[@]}" >/dev/full 2>"$err"
	[ $? = 1 ] || fail "-f $format >/dev/full: success"
	[ -s "$err" ] || fail "-f $format >/dev/full: nothing on standard error"
done

# all
expect 0 "^# Running 'kernfs/lookup' benchmark:$" '' kernfs all "${quick[@]}" -r 1
run -f simple fsnotify all "${quick[@]}" -r 1
[ $status = 0 ] || fail "$line: exit status $status"
run -f default fsnotify all "${quick[@]}" -r 1
[ "$(grep '^# Running' "$out")" = "# Running 'fsnotify/eventfd' benchmark:
# Running 'fsnotify/pipe' benchmark:
# Running 'fsnotify/file' benchmark:" ] || fail "$line: not the three of the collection"
usage_error "Unknown option: '--bogus'" all "${quick[@]}" --bogus
usage_error "Unknown option: '--task'" all --task 1
usage_error "Unknown option: '--files'" fsnotify all --files 2
usage_error "Unexpected argument: 'kernfs'" all kernfs
usage_error '--tasks' all -t 0
usage_error '--op' all --op no-such-op		# locking would not run before kernfs refuses
# an option of some, a failure of some: the others run
run all "${quick[@]}" -r 1 --dir "$TMPDIR/no-such-directory" --any-fs
[ $status = 1 ] || fail "$line: exit status $status"
grep -q "no-such-directory" "$err" || fail "$line: it is not said why"
grep -q "^# Running 'kernfs/lookup'" "$out" || fail "$line: kernfs did not run"
run all "${quick[@]}" -r 1 -o all.json
[ $status = 0 ] || [ $status = 3 ] || fail "$line: exit status $status"
one_json_value all.json
grep -q '"complete": *true' all.json || fail "$line: skipped ones are not incomplete"
if [ $status = 3 ]; then
	grep -q 'skipped' "$err" || fail "$line: no reason for the skip"
fi
# interrupted: the rest of them does not run
timeout --preserve-status -s TERM 2 "$KBENCH" fsnotify all -t 1 -d 60s -r 1 -o int.json \
	>"$out" 2>"$err"
status=$?
line="interrupted"
[ $status = 130 ] || fail "$line: exit status $status"
! grep -q "fsnotify/pipe" "$out" || fail "$line: went on"
one_json_value int.json
grep -q '"complete": *false' int.json || fail "$line: the results file says complete"

# E1: with -f json, standard output has one JSON value or nothing
for args in 'kernsf' 'kernfs lokup' 'kernfs' 'kernfs lookup -t 0' 'kernfs lookup -d 0' \
	    'kernfs lookup --bogus' 'kernfs lookup -r 0' 'kernfs lookup --path /no/such -d 20ms' \
	    'locking vfs --dir /no/such -d 20ms' 'nfs negative-dentry -d 20ms' 'all --bogus' \
	    'all --op x' 'kernfs lookup -o /no/such/x -d 20ms' 'fsnotify all --dir /no/such -d 20ms'
do
	# shellcheck disable=SC2086 # split
	run -f json $args
	case $status in [123]) ;; *) fail "$line: exit status $status" ;; esac
	[ -s "$err" ] || fail "$line: nothing on standard error"
	[ ! -s "$out" ] || one_json_value "$out"
done

# E2: the locale changes nothing
if command -v localedef >/dev/null && localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null; then
	export LOCPATH=$TMPDIR
fi
export LC_ALL=de_DE.UTF-8 2>/dev/null
usage_error 'duration' kernfs lookup -d 0,5s
expect 0 '^1 - ([0-9]+\.[0-9]+|-) ' '' -f simple -r 2 kernfs lookup "${quick[@]}"
! grep -q '[0-9],[0-9]' "$out" || fail "$line: decimal commas"
expect 0 . '' -f csv -r 2 kernfs lookup "${quick[@]}"
awk -F, 'NR == 1 { n = NF } NF != n { exit 1 }' "$out" || fail "$line: decimal commas"
expect 0 . '' -f json -r 1 kernfs lookup "${quick[@]}"
one_json_value "$out"
unset LC_ALL LOCPATH

# perf runs us
if command -v perf >/dev/null && perf version >/dev/null 2>&1; then
	PATH=$(dirname "$KBENCH"):$PATH perf kbench kernfs lokup >"$out" 2>"$err"
	[ $? = 2 ] || fail "perf kbench kernfs lokup: not 2"
	grep -q "Did you mean 'lookup'?" "$err" || fail "perf kbench kernfs lokup: no suggestion"
	PATH=$(dirname "$KBENCH"):$PATH perf kbench list >"$out" 2>"$err" || fail "perf kbench list"
	grep -q '^kernfs' "$out" || fail "perf kbench list: $(cat "$out")"
else
	echo "NOTE: perf is not here: \"perf kbench\" was not tried"
fi

# A usage error speaks of the program that was called.
usage_error "Usage: perf-kbench .*kernfs lookup" kernfs lookup --nonsense
exit 0
