/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NOISE_H
#define NOISE_H

#include "util/results.h"

/*
 * The floors of this machine: "perf-kbench noise" finds and writes them, and compare judges by them
 */
struct noise;

/* The user's own file, or NULL without HOME. The caller frees. */
char *noise__path(void);

/* One without floors, or NULL if out of memory; to be freed with noise__free(). */
struct noise *noise__new(void);

/**
 * noise__read - read what was found
 * @path:	NULL: the user's own file
 * @why:	what is wrong
 *
 * Return: the floors, to be freed with noise__free(); NULL with errno ENOENT if there is no such
 * file, or another errno with @why written.
 */
struct noise *noise__read(const char *path, char *why, size_t why_size);
void noise__free(struct noise *noise);

/**
 * noise__find - the floor of a point
 * @noise:	what was found, or NULL
 * @res:	a file with the point: the machine must be the same
 *
 * That of the same benchmark and task count, else the largest of the benchmark's.
 *
 * Return: standard deviation from run to run in shares of 1, with *@df; NaN if it is not known.
 */
double noise__find(const struct noise *noise, const struct results *res,
		   const struct results_bench *bench, const struct results_point *point,
		   double *df);

/* What a machine is known by in the file. The caller frees; NULL if out of memory. */
char *noise__machine(const struct results *res);

/**
 * noise__set - put a floor in place of an older one
 * @noise:	what was found so far
 * @machine:	noise__machine()
 * @bench, @point: of what
 * @sd:		standard deviation from run to run beyond what the repeats of a run explain, in
 *		shares of the rate
 * @df:		its degrees of freedom
 * @when:	ISO 8601
 *
 * Return: 0 or -ENOMEM.
 */
int noise__set(struct noise *noise, const char *machine, const struct results_bench *bench,
	       const struct results_point *point, double sd, double df, const char *when);

/* Make the folders above @path, and see whether it can be written. 0 or -errno. */
int noise__check_folder(const char *path);

/* Write it, the folders above @path too. 0 or -errno. */
int noise__write(const struct noise *noise, const char *path);

#endif
