/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What instruments have found out, of both sides side by side
 */
#ifndef COMPARE_FIGURES_H
#define COMPARE_FIGURES_H

#include "compare/compare.h"
#include "util/figures.h"

/**
 * struct figure_change - one quantity of one row
 * @row, @column: their names, borrowed from the files
 * @reason:	why one side does not have it, or NULL
 * @value:	of both sides, NaN where not known
 * @n:		how many values are behind them: files, or repeats where a side has one file
 * @diff:	patched - base, with its 95 % interval @low to @high, which are NaN where too few values
 *		or a maximum make it impossible
 * @key:	it is one of the quantities that a table is sorted by and that text shows
 */
struct figure_change {
	const char	*row, *column, *reason;
	enum figure_of	of;
	int		decimals;
	double		value[NR_SIDES];
	int		n[NR_SIDES];
	double		diff, low, high;
	bool		key;
};

/**
 * struct figure_changes - all that one instrument says of one point
 * @kind:	the instrument
 * @lower_bound: a side has lost records
 * @all_tasks:	contention: some of the waits of both sides are those of all tasks of the machine
 * @differ:	not of all tables: they cannot be compared, and the list is empty
 * @of_files:	the intervals are over files, else over the repeats of one file
 * @time:	ns of task time an op in the pass, of both sides
 * @total:	contention: ns an op that were waited in all, NaN where not known
 * @nr, @list:	those that explain most come first; a row's columns stand together
 */
struct figure_changes {
	const char		*kind;
	bool			lower_bound[NR_SIDES], all_tasks, differ, of_files;
	double			time[NR_SIDES], total[NR_SIDES];
	int			nr;
	struct figure_change	*list;
};

/**
 * compare_figures__new - compare what was found about a point
 * @c:		the comparison
 * @p:		one of its points
 * @kind:	the instrument
 *
 * Return: the changes, to be freed with compare_figures__free(); NULL with errno ENOENT if not both
 * sides have been looked at by that instrument, or ENOMEM.
 */
struct figure_changes *compare_figures__new(const struct comparison *c,
					    const struct compare_point *p, const char *kind);
void compare_figures__free(struct figure_changes *changes);

/* The kinds that there are, in the order in which they are shown; NULL at the end. */
extern const char *const compare_figure_kinds[];

#endif
