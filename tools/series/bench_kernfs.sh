#!/bin/bash
# perf bench kernfs tests
# SPDX-License-Identifier: GPL-2.0

shelldir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib/bench_worker.sh
. "${shelldir}"/lib/bench_worker.sh

if [ ! -r /sys/devices/system/cpu/online ]
then
	echo "no sysfs [Skipped]"
	cleanup
	exit 2
fi

for op in open stat access
do
	check_rate kernfs lookup --op ${op}
	check_rate kernfs lookup --op ${op} --missing
done
check_rate kernfs lookup --path /sys/devices/system/cpu/online
check_rate kernfs lookup --files 3 --distinct
check_repeats kernfs lookup
check_error 2 '"chmod" is not' kernfs lookup --op chmod
check_error 2 'goes with neither' kernfs lookup --path /sys/kernel/uevent_seqnum --files 2
check_error 1 'No such file or directory' kernfs lookup --path /sys/no_such_file

finish
