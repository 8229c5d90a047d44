#!/bin/bash
# perf bench nfs tests
# SPDX-License-Identifier: GPL-2.0

shelldir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib/bench_worker.sh
. "${shelldir}"/lib/bench_worker.sh

check_rate nfs negative-dentry --any-fs
check_rate nfs negative-dentry --any-fs --dirs 1 --names 1
check_repeats nfs negative-dentry --any-fs
if command -v cc > /dev/null
then
	check_rate nfs compile --any-fs --dirs 2 -d 1s
	check_interrupt nfs compile --any-fs --dirs 2
fi
check_error 1 'No such file or directory' nfs compile --any-fs --dirs 2 --cc /no/such/cc
check_error 2 'is more than 1000000' nfs negative-dentry --any-fs --dirs 1000 --names 1001
case $(stat -f -c %T .) in
nfs*)	;;
*)	check_error 3 'skipped: .*--any-fs' nfs negative-dentry ;;
esac
check_interrupt nfs negative-dentry --any-fs

finish
