# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# lib.sh: what the shell tests share; each begins with:  . "$(dirname "$0")/lib.sh"
#
# A test says what went wrong with fail, or skip, and ends; who comes to the end has passed. It
# works in $TMPDIR, which is its own and the current folder.

set -u
# shellcheck disable=SC2034 # for the tests
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)	# the checkout
cd "$TMPDIR" || exit 1

out=$TMPDIR/out		# what the last run printed,
err=$TMPDIR/err		# and on standard error
status=0		# how it ended

# A run that is short, but long enough for a result.
# shellcheck disable=SC2034 # for the tests
quick=(-t 1 -d 50ms -w 10ms --window 10ms)

fail()
{
	echo "FAIL: $*"
	if [ -s "$err" ]; then
		echo "its standard error:"
		tail -n 20 "$err"
	fi
	exit 1
}

skip()
{
	echo "SKIP: $*"
	exit 2
}

# note TEXT: something that was left out, or found, in a test that goes on
note()
{
	echo "NOTE: $*"
}

need_root()
{
	[ "$(id -u)" = 0 ] || skip "needs root"
}

need_user_switch()
{
	need_root
	setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null ||
		skip "cannot become another user here"
}

# need_cmd COMMAND [PACKAGE]
need_cmd()
{
	command -v "$1" >/dev/null || skip "no $1: sudo apt-get install ${2:-$1}"
}

# need_cpus N: that many in our affinity mask
need_cpus()
{
	[ "$(nproc)" -ge "$1" ] || skip "needs $1 CPUs, has $(nproc)"
}

# For what a sanitizer would spoil: memory limits, instruction counts, timing.
need_plain_build()
{
	[ -z "$KBENCH_SAN" ] || skip "not with SAN=$KBENCH_SAN"
}

# need_inject: strace that can make system calls fail
need_inject()
{
	need_cmd strace
	strace -o /dev/null -e inject=getppid:error=EPERM true 2>/dev/null ||
		skip "strace cannot trace here"
}

# run COMMAND...: sets $status, fills $out and $err
run()
{
	"$@" >"$out" 2>"$err"
	status=$?
}

# kbench ARGUMENT...: run the program so
kbench()
{
	run "$KBENCH" "$@"
}

# Every benchmark, with what lets it run on any file system; but not nfs compile, whose ops take too
# long for runs that are as short as most here: it has compile.sh.
# shellcheck disable=SC2034 # for the tests
benches=("locking vfs" "kernfs lookup" "fsnotify eventfd" "fsnotify pipe" "fsnotify file"
	 "nfs negative-dentry --any-fs")

# bench_again OPTIONS NAME ARGUMENT...: run it, at most three times as long as it got no CPU, which
# it may not in a short time on a busy machine; OPTIONS and NAME are words
bench_again()
{
	local options=$1 name=$2
	shift 2
	for _ in 1 2 3; do
		# shellcheck disable=SC2086 # words are meant
		run timeout -k 1 60 "$KBENCH" $options $name "$@"
		grep -qs "no op was done in the measured time" "$err" || return 0
	done
}

# run_steady COMMAND...: as run, three times at most as long as we seem to have been stopped in
# between, as on a very busy machine, which spoils --total; false if it was so each time
run_steady()
{
	for _ in 1 2 3; do
		run "$@"
		grep -qs "was stopped and continued before --total was done" "$err" || return 0
	done
	note "too busy a machine for: $*"
	return 1
}

# steady ARGUMENT...: the program, so
steady()
{
	run_steady "$KBENCH" "$@"
}

# inject CALL:ERROR[:when=N] COMMAND...: to be used behind run. The leak check cannot be traced.
inject()
{
	local what=${1%%:*} how=${1#*:}
	shift
	ASAN_OPTIONS=${ASAN_OPTIONS:-}:detect_leaks=0 \
		strace -f -qq -o /dev/null -e trace="$what" -e inject="$what:error=$how" "$@"
}

# as_nobody ARGUMENT...: behind run; the program as an ordinary user, in a folder of his own
as_nobody()
{
	local home=$TMPDIR/nobody
	if [ "$(id -u)" != 0 ]; then
		"$KBENCH" "$@"
		return
	fi
	if [ ! -d "$home" ]; then
		mkdir "$home" && cp "$KBENCH" "$home/perf-kbench" && chown -R 65534:65534 "$home"
	fi
	(cd "$home" && TMPDIR=$home setpriv --reuid=65534 --regid=65534 --clear-groups \
		--inh-caps=-all "$home/perf-kbench" "$@")
}

# expect STATUS [WHAT]: how the last run is to have ended
expect()
{
	[ "$status" = "$1" ] || fail "${2:+$2: }exit status $status, not $1"
}

# has FILE REGEX [WHAT], hasnt FILE REGEX [WHAT]: lines of $out, $err or another file
has()
{
	grep -Eq -e "$2" "$1" || fail "${3:+$3: }nothing like \"$2\" in: $(head -c 2000 "$1")"
}

hasnt()
{
	! grep -Eq -e "$2" "$1" || fail "${3:+$3: }there is \"$2\": $(grep -E -m 1 -e "$2" "$1")"
}

# json FILTER [FILE]: what jq makes of it, raw; fails on what is no single JSON value
json()
{
	jq -e -s 'length == 1' "${2:-$out}" >/dev/null 2>&1 ||
		fail "not one JSON value: $(head -c 500 "${2:-$out}")"
	jq -r "$1" "${2:-$out}"
}

# json_is FILTER [FILE]: it yields neither false nor null
json_is()
{
	[ "$(json "$1" "${2:-$out}" | tail -n 1)" = true ] || fail "not true of the JSON: $1"
}

# running: how many processes of the program there are
running()
{
	find /proc -maxdepth 2 -name exe -lname "$KBENCH*" 2>/dev/null | wc -l
}

# within SECONDS COMMAND...: wait until it succeeds, at most that long
within()
{
	local end=$((SECONDS + $1 + 1))
	shift
	until "$@"; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

none_running()
{
	[ "$(running)" = 0 ]
}

# leftovers DIRECTORY: what is in it, hidden files too
leftovers()
{
	find "$1" -mindepth 1 2>/dev/null
}

# good WHAT: every point has a valid result, or one that the machine spoilt, not we
good()
{
	if [ "$(json '[.benchmarks[].points[].flags[]] | any(. == "throttled" or . == "cpu-gone")')" = true ]; then
		note "$1: the machine let tasks wait: $(json '[.benchmarks[].points[].flags[]] | unique | tostring')"
		return
	fi
	expect 0 "$1"
	[ "$(json '.benchmarks[].points | all(.valid and .rate > 0)')" = true ] ||
		fail "$1: not valid: $(json '[.benchmarks[].points[] | .flags, .skip] | tostring')"
}

# ---- published figures, and what is imported ----

# shellcheck disable=SC2034 # for the tests
data=$top/tests/data

# near A B RELATIVE [WHAT]
near()
{
	awk -v a="$1" -v b="$2" -v r="$3" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= r * (b < 0 ? -b : b)) }' ||
		fail "${4:-a number}: $1, not $2"
}

# import FILE FORMAT ARGUMENT...: it must succeed, and the reader take what was written
import()
{
	local to=$1
	shift
	kbench import "$@" -o "$to"
	expect 0 "import $*"
	[ ! -s "$err" ] || fail "import $*: $(cat "$err")"
	run cat "$to"
	json_is ".origin.format == \"$1\" and .complete"
	kbench report -f json "$to"
	expect 0 "report of $to"
}

# rate FILE TASKS [VARIANT]
rate()
{
	jq -r --argjson tasks "$2" --arg variant "${3:-}" \
		'.benchmarks[].points[] | select(.tasks == $tasks and .variant == $variant) | .rate' "$1"
}

# robot TEST: its figures of tests/data/fsnotify-lkp.csv as the table that the kernel test robot prints
robot()
{
	printf '%s\n' '         %stddev     %change         %stddev' '             \          |                \  '
	awk -F, -v test="$1" '$1 == test {
		printf "%10s %-6s %10s %12s %-6s  %s\n", $3, $4 == "" ? "" : "±" sprintf("%3d%%", $4), $5,
			$6, $7 == "" ? "" : "±" sprintf("%3d%%", $7), $2 }' "$data/fsnotify-lkp.csv"
}
