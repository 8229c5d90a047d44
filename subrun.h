/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs of perf-kbench below a command: their results, read back
 */
#ifndef SUBRUN_H
#define SUBRUN_H

#include <stddef.h>
#include <linux/types.h>

#include "util/results.h"

/* Where a run below writes its results file if it has no -o. */
#define SUBRUN_OUTPUT	"PERF_KBENCH_OUTPUT"

/*
 * Between these two, SIGINT, SIGTERM and SIGHUP end the run that is going on, and are told by
 * subrun__interrupted(), but for those that were ignored, as by nohup. begin makes a private folder
 * for the results: 0 or -errno.
 */
int subrun__begin(void);
void subrun__end(void);
int subrun__interrupted(void);

/**
 * subrun__progress - a line on standard error that tells how far we are, if that is a terminal
 * @what:	which run comes next: "noise: run 1/8"
 * @done:	runs that have ended
 * @nr:		all that are to be
 * @begin:	bench_now() before the first one
 */
void subrun__progress(const char *what, int done, int nr, u64 begin);
void subrun__clear_progress(void);

/**
 * subrun__argv, subrun__shell - run it, and read what it wrote
 * @argv:	our own arguments, without a program, ended by NULL
 * @command:	for /bin/sh, in which a perf-kbench is run without -o
 * @why:	what went wrong; what the run itself had to say has been printed
 * @why_size:	room there
 *
 * Standard output of the run is dropped. A run that exits with 1 only because a number is not valid
 * (it was throttled, say) has said so, and its results are returned: one of many may be lost.
 *
 * Return: the results, the caller's; NULL with @why written.
 */
struct results *subrun__argv(const char **argv, char *why, size_t why_size);
struct results *subrun__shell(const char *command, char *why, size_t why_size);

#endif
