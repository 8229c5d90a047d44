#!/bin/bash
# perf bench fsnotify tests
# SPDX-License-Identifier: GPL-2.0

shelldir=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=lib/bench_worker.sh
. "${shelldir}"/lib/bench_worker.sh

check_rate fsnotify eventfd
check_rate fsnotify pipe
check_rate fsnotify pipe --size 1
check_rate fsnotify file
check_repeats fsnotify file

check_marks none,inode fsnotify file --group inotify

check_error 2 '"door" is not' fsnotify file --marks none,door
check_error 129 'less than 1' fsnotify pipe --size 0
check_interrupt fsnotify file --marks none,inode --group inotify

finish
