/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_RESULTS_FIGURES_H
#define KBENCH_RESULTS_FIGURES_H

#include <stddef.h>

struct figures;
struct json_object;

/**
 * results_figures__read - a table of figures out of a results file
 * @obj:	the member "figures" of a point
 * @nr_repeats:	of the point: each column of each row has as many values
 * @where:	if it is wrong: the member, "rows[3].values"
 * @what:	and what was expected there
 *
 * Return: the table, to be freed with results_figures__free(); NULL with errno EINVAL, and @where
 * and @what written, or ENOMEM.
 */
struct figures *results_figures__read(struct json_object *obj, int nr_repeats, char *where,
				      size_t where_size, char *what, size_t what_size);

/* NULL is allowed. */
void results_figures__free(struct figures *f);

#endif
