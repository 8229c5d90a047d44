/* SPDX-License-Identifier: GPL-2.0 */
#ifndef NOISE_H
#define NOISE_H

#include "util/results.h"

/* What "perf-kbench noise" writes. Reading is in compare.h. */
struct noise;

/* The user's own file, or NULL without HOME. The caller frees. */
char *noise__path(void);

/* One without floors, or NULL if out of memory; to be freed with noise__free(). */
struct noise *noise__new(void);

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
