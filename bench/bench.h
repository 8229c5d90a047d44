/* SPDX-License-Identifier: GPL-2.0 */
/*
 * bench.h: entry points of the benchmarks, and the output formats
 *
 * In the kernel's tree the prototypes below are rows of perf's own bench.h.
 */
#ifndef BENCH_H
#define BENCH_H

int bench_locking_vfs(int argc, const char **argv);
int bench_locking_data(int argc, const char **argv);
int bench_locking_fd(int argc, const char **argv);
int bench_kernfs_lookup(int argc, const char **argv);
int bench_fsnotify_eventfd(int argc, const char **argv);
int bench_fsnotify_pipe(int argc, const char **argv);
int bench_fsnotify_file(int argc, const char **argv);
int bench_nfs_negative_dentry(int argc, const char **argv);

#define BENCH_FORMAT_DEFAULT_STR	"default"
#define BENCH_FORMAT_DEFAULT		0
#define BENCH_FORMAT_SIMPLE_STR		"simple"
#define BENCH_FORMAT_SIMPLE		1
#define BENCH_FORMAT_JSON_STR		"json"
#define BENCH_FORMAT_JSON		2
#define BENCH_FORMAT_CSV_STR		"csv"
#define BENCH_FORMAT_CSV		3
#define BENCH_FORMAT_CLASSIC_STR	"classic"
#define BENCH_FORMAT_CLASSIC		4

#define BENCH_FORMAT_UNKNOWN		-1

extern int bench_format;
extern unsigned int bench_repeat;

#endif
