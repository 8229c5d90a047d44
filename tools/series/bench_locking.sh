#!/bin/bash
# perf bench locking tests
# SPDX-License-Identifier: GPL-2.0

shelldir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib/bench_worker.sh
. "${shelldir}"/lib/bench_worker.sh

for op in creat open unlink rename move link symlink readlink mkdir readdir stat access
do
	check_rate locking vfs --op ${op}
done
for op in read write append truncate fsync fault
do
	check_rate locking data --op ${op}
done
for op in dup lseek fstat fcntl flock
do
	check_rate locking fd --op ${op} --share inode
done
check_rate locking data --share block
check_rate locking fd --share file
check_rate locking vfs --op open --depth 5
check_rate locking vfs --share none -j 3
check_rate locking vfs --share file
check_repeats locking vfs
check_error 2 'chmod is unknown' locking vfs --op chmod
check_error 2 'less than 1' locking vfs -t 0
check_error 129 'not a whole number' locking vfs -l 1.5
check_error 1 'No such file or directory' locking vfs --dir no_such_dir
check_interrupt locking vfs

finish
