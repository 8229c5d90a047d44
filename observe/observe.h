/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Those who are told of runs, beside the text report (bench/worker-report.c)
 *
 * Each is made once, registered with bench_observer__register(), sees the benchmarks of one command
 * one after another, and is finished by its own __finish() when all of them are over. A hook that
 * finds an error says so with bench_run__fail(), which fails the run.
 *
 * The progress line is to be registered first: its hooks clear it before others print.
 */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <stdbool.h>
#include "bench/worker.h"

struct outfile;

/**
 * json_observer__new - write a results file
 * @path:	the file, relative to the current directory as it is now; NULL is standard output
 * @argc, @argv: the whole command line, to be written into it; copied
 *
 * The file is opened when the first benchmark begins: where nothing can be written, nothing is
 * measured. It takes the place of an older one in json_observer__finish() only.
 *
 * Return: the observer, to be finished with json_observer__finish(), or NULL if out of memory.
 */
struct bench_observer *json_observer__new(const char *path, int argc, const char **argv);

/**
 * json_observer__finish - end the file, put it in its place, and free the observer
 * @o:		the observer
 * @complete:	all that was asked for has been run; false where it was cut short
 *
 * Where no benchmark has begun, nothing is written and an older file stays.
 *
 * Return: 0; -ECANCELED if writing had failed before, which a hook has already told; or another
 * -errno that is to be told. On error an older file is as it was.
 */
int json_observer__finish(struct bench_observer *o, bool complete);

/*
 * Lines on standard output, or in a file at @path if it is not NULL: CSV, and the formats of the
 * reports that the benchmarks come from. Documentation/results-format.txt describes both. NULL if
 * out of memory; __finish() frees, and returns as json_observer__finish() does.
 */
struct bench_observer *csv_observer__new(const char *path);
int csv_observer__finish(struct bench_observer *o);
struct bench_observer *classic_observer__new(const char *path);
int classic_observer__finish(struct bench_observer *o);

/*
 * A line on standard error that tells how far a run is, while that is a terminal and @quiet is
 * false; else it does nothing. NULL if out of memory. __finish() frees.
 */
struct bench_observer *progress_observer__new(bool quiet);
void progress_observer__finish(struct bench_observer *o);

/* What follows is for the observers themselves: observe.c. */

/* An outfile, and what has become of it. */
struct observe_file {
	struct outfile	*out;
	bool		opened;
	bool		told;	/* an error, through bench_run__fail() */
};

/* Open it at the first call. 0, or -errno, which the user is told of once. */
int observe_file__open(struct observe_file *f, struct bench_run *run);

/* Write out all that was put; returns as observe_file__open() does. */
int observe_file__flush(struct observe_file *f, struct bench_run *run);

/* Commit if it was opened, and free. Returns as json_observer__finish() does. */
int observe_file__finish(struct observe_file *f);

/* May the numbers of a result be given? */
bool observe__valid(const struct bench_result *res);

/* Take one flag off *@flags: the flag, or 0 when none is left. */
unsigned int observe__next_flag(unsigned int *flags);

#endif
