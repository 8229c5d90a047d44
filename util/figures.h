/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an instrument has found out about one point: a table of figures, each with a value a repeat
 *
 * An instrument (instrument/instrument.h) looks at a run in a pass of its own: it counts events,
 * waits for locks, latencies. All of them have their findings in this one form, so that there is one
 * way to print, to store, to read back and to compare them. A row is what was looked at
 * ("instructions:k", "rwsem:W path_openat", "p99"), a column is a quantity of it ("per op", "max
 * wait us").
 */
#ifndef KBENCH_FIGURES_H
#define KBENCH_FIGURES_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/compiler.h>

#define FIGURES_MAX_COLUMNS	6
#define FIGURES_MAX_ROWS	4096	/* in a results file */
#define FIGURES_NAME_MAX	160	/* bytes of a name, with the zero */

#define FIGURES_ALL_LOCKS	"all locks"	/* of contention: the sum of all rows */
#define FIGURES_ALL_TASKS	"waits of all tasks of the machine"	/* a note of contention */

/* How the values of repeats become one, and what it means if that is larger. */
enum figure_of { FIGURE_MEAN, FIGURE_MAX };

/**
 * struct figure_column - a quantity
 * @name:	as a heading: "waits/op", "avg wait us"; at most 12 characters, none that controls
 * @of:		how the values of repeats are to be taken together
 * @decimals:	digits after the point that are worth printing, 0 to 6
 */
struct figure_column {
	const char	*name;
	enum figure_of	of;
	int		decimals;
};

/**
 * struct figure - a row
 * @name:	what was looked at; unique in its table, no control characters
 * @reason:	why there are no values ("no PMU"), or NULL
 * @detail:	more about it, lines with '\n' between (a call chain), or NULL
 * @values:	[nr_columns * nr_repeats], the repeats of a column side by side; NaN where not
 *		known; NULL if there is a reason
 */
struct figure {
	char	*name;
	char	*reason;
	char	*detail;
	double	*values;
};

/**
 * struct figures - a table
 * @kind:	the instrument: "counters", "contention", "profile", "latency"
 * @lower_bound: some was lost, so that the true values are at least these
 * @columns:	[nr_columns]
 * @list:	[nr], the most telling first
 * @notes:	lines about the whole table, with '\n' between ("lost: 12 records"), or NULL
 */
struct figures {
	const char			*kind;
	bool				lower_bound;
	int				nr_columns, nr_repeats, nr;
	const struct figure_column	*columns;
	struct figure			*list;
	char				*notes;
};

/**
 * figures__reset - empty a table, and make it one of another kind
 * @f:		the table; all zeros at first
 * @kind, @columns: borrowed, as long as the table is used
 */
void figures__reset(struct figures *f, const char *kind, const struct figure_column *columns,
		    int nr_columns, int nr_repeats);
static inline void figures__free(struct figures *f)
{
	figures__reset(f, NULL, NULL, 0, 0);
}

/**
 * figures__add - append a row
 * @f:		the table
 * @name:	copied; what is longer than FIGURES_NAME_MAX is cut
 *
 * Return: the row, valid until the next one is added, whose values are all NaN; NULL without
 * memory.
 */
struct figure *figures__add(struct figures *f, const char *name);

/* A row without values, and why. Return: as figures__add(). */
struct figure *figures__add_missing(struct figures *f, const char *name, const char *reason);

/* Add a line to the notes, unless it is there. 0 or -ENOMEM. */
int figures__note(struct figures *f, const char *fmt, ...) __printf(2, 3);

/* Is that line, without "\n", one of the notes? */
bool figures__has_note(const struct figures *f, const char *line);

/* The row of that name, or NULL. */
struct figure *figures__find(const struct figures *f, const char *name);

/* Set one value; what is out of range is ignored. */
void figures__set(struct figures *f, struct figure *row, int column, int repeat, double value);

/* The values of one column of a row: [nr_repeats], or NULL if it has a reason. */
const double *figures__column(const struct figures *f, const struct figure *row, int column);

/* The values of the repeats taken together; NaN if none is known. */
double figures__value(const struct figures *f, const struct figure *row, int column);

#endif
