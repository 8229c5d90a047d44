#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What the tests of the bench collections on bench/worker.h share. They run in a directory of their
# own, and are over in seconds: whether a rate is right is not theirs to tell.

err=0
tmp=$(mktemp -d /tmp/__perf_test.bench.XXXXX) || exit 2

cleanup() {
	cd /
	rm -rf "${tmp}"
	trap - EXIT TERM INT
}

trap_cleanup() {
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

mkdir "${tmp}/dir" && cd "${tmp}/dir" || exit 2

# bench <arguments>: a run that is over soon; sets status
bench() {
	perf bench "$@" > "${tmp}/out" 2> "${tmp}/err"
	status=$?
}

failed() {
	echo "[Failed] perf bench $*"
	sed 's/^/	/' "${tmp}/out" "${tmp}/err"
	err=1
}

# check_rate <collection> <benchmark> [<options>]: one row with a rate, for one task
check_rate() {
	echo "perf bench $*"
	bench -f simple -r 1 "$@" -t 1 -d 200ms -w 10ms --window 20ms
	if [ ${status} != 0 ] || ! awk -v name="$1/$2" '
		$1 != 1 || !($3 > 0) || $5 != name { bad = 1 }
		END { exit bad || NR != 1 }' "${tmp}/out"
	then
		failed "$*: not one row with a rate; status ${status}"
	fi
}

# check_marks <marks> <collection> <benchmark> [<options>]: a row with a rate for each of --marks
check_marks() {
	local marks=$1
	shift
	echo "perf bench $* --marks ${marks}"
	bench -f simple -r 1 "$@" --marks "${marks}" -t 1 -d 200ms -w 10ms --window 20ms
	if [ ${status} != 0 ] ||
	   [ "$(awk '$3 > 0 { print $2 }' "${tmp}/out" | paste -s -d,)" != "${marks}" ]
	then
		failed "$* --marks ${marks}: not a rate for each; status ${status}"
	fi
}

# check_repeats <collection> <benchmark> [<options>]: the -r and -f of perf bench are ours, too
check_repeats() {
	echo "perf bench -r 2 $*"
	bench -r 2 "$@" -t 1,2 -d 100ms -w 10ms --window 20ms
	if [ ${status} != 0 ] || ! grep -q "^# Running '$1/$2' benchmark:" "${tmp}/out" ||
	   ! grep -q '; 2 repeats of 100ms$' "${tmp}/out" ||
	   [ "$(grep -c -E '^ +[12] +[0-9.]+ +[0-9.]+% ' "${tmp}/out")" != 2 ]
	then
		failed "-r 2 $*: not a table of two rows; status ${status}"
	fi
}

# check_error <status> <text> <arguments>: it ends so, and says why on standard error
check_error() {
	local want=$1 text=$2
	shift 2
	echo "perf bench $* ends with ${want}"
	bench -r 1 "$@"
	if [ ${status} != "${want}" ] || ! grep -q -e "${text}" "${tmp}/err"
	then
		failed "$*: status ${status}, not ${want} with \"${text}\""
	fi
}

# check_interrupt <collection> <benchmark> [<options>]: Ctrl-C leaves neither tasks nor files
check_interrupt() {
	local pid
	echo "perf bench $* ends with 130 on SIGINT"
	# a shell's background job ignores SIGINT, unless it has job control
	set -m
	perf bench "$@" -t 2 -d 20s > "${tmp}/out" 2> "${tmp}/err" &
	pid=$!
	set +m
	for _ in $(seq 100)
	do
		[ "$(pgrep -c -P ${pid})" -ge 2 ] && break
		sleep 0.1
	done
	kill -INT ${pid}
	wait ${pid}
	status=$?
	if [ ${status} != 130 ]
	then
		failed "$*: status ${status}, not 130"
	fi
	for _ in $(seq 50)
	do
		[ -z "$(ls -A "${tmp}/dir")" ] && ! pgrep -g ${pid} > /dev/null && return
		sleep 0.1
	done
	failed "$*: left $(ls -A "${tmp}/dir"), processes $(pgrep -g ${pid} | tr '\n' ' ')"
}

finish() {
	cleanup
	exit ${err}
}
