/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reports of results files: what is computed of them, and those who write it down
 *
 *	report.c		what is computed
 *	text.c			tables for people
 *	data.c			CSV and JSON
 *	figures.c		what instruments have found
 *	figures-text.c, -json.c	the tables of it; passes and results files have the same
 *	builtin-report.c	the command
 */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>
#include "util/results.h"
#include "util/scaling.h"

/* One variant of a benchmark in a file: points over task counts. */
struct report_curve {
	const struct results		*res;
	const struct results_bench	*bench;
	const char			*variant;	/* "" if there is one only */
	int				nr;
	const struct results_point	**points;	/* in the order of the file */
	struct scaling			fit;
	char				no_fit[256];	/* why there is none; "" if there is one */
};

/* All that is reported, the curves of a benchmark next to each other. */
struct report {
	int			nr_files;
	struct results		**files;
	int			nr_curves;
	struct report_curve	*curves;
};

/**
 * report__make - compute what is to be reported
 * @rep:	nr_files and files are set
 *
 * Return: 0, or -ENOMEM; report__free() is to be called either way.
 */
int report__make(struct report *rep);

/* Free all, the files too. */
void report__free(struct report *rep);

/* May a point's numbers be given? */
bool report__valid(const struct results_point *p);

/* Task-microseconds an op; NaN if that is not known, as with all that follow. */
double report__us_op(const struct results_point *p);

/* Rate by that of the curve's first point. */
double report__speedup(const struct report_curve *c, const struct results_point *p);

/* Speed-up by what as many more tasks would have had. */
double report__efficiency(const struct report_curve *c, const struct results_point *p);

/* Jain's index, the mean of the repeats. */
double report__fairness(const struct results_point *p);

/* The last curve of the benchmark that curve @i is of. */
int report__last_of_bench(const struct report *rep, int i);

/*
 * A flag of a point by its name: the sentence for it, or the name itself if this program does not
 * know it, being older than the file.
 */
const char *report__flag_text(const char *name);

/* text.c: tables for people, on standard output; @verbose: all that instruments found. */
void report__print(const struct report *rep, bool markdown, bool verbose);

/* figures.c: what instruments have found. */
struct json_stream;
void report__print_figures(const struct results *res, bool markdown, bool verbose);
void report__json_figures(struct json_stream *s, const struct results *res);

/* data.c: for programs, on standard output. 0 or -errno of writing. */
int report__write_csv(const struct report *rep);
int report__write_json(const struct report *rep);

#endif
