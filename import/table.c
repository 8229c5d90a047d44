// SPDX-License-Identifier: GPL-2.0
/*
 * Tables in CSV: a count in the first column, a series in each of the others
 *
 *	jobs,v3-rcu,v3-default		elapsed seconds of a "make -j"
 *	4,27.3,71.0
 *
 *	tasks,base,patched		rates
 *	500,104249,119000
 *
 * The series become variants, or --series takes one of them. Our -f classic of a benchmark with
 * --total has one, "elapsed". An empty field is a point that was not measured.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"

#define MAX_SERIES	64

struct table {
	struct import		*im;
	const char		*count;		/* head of the first column */
	bool			times;		/* of seconds, else of rates */
	struct import_bench	*bench;
	char			*head;
	int			nr;
	const char		*series[MAX_SERIES];
};

static int read_head(struct table *t)
{
	struct import *im = t->im;
	const char *want = im->opt->series;
	bool found = !want;
	char *p, *field;
	int i;

	t->head = strdup(im->line);
	p = t->head;
	if (!t->head)
		return import__no_memory(im);
	if (!scan__field(&p, &field) || strcmp(field, t->count) || !p)
		return import__fail(im, "\"%s,NAME\" is expected, with a name for each column",
				    t->count);
	while (scan__field(&p, &field)) {
		if (t->nr == MAX_SERIES)
			return import__fail(im, "at most %d columns are expected", MAX_SERIES);
		if (!*field)
			return import__fail(im, "a name is expected for column %d", t->nr + 2);
		for (i = 0; i < t->nr; i++) {
			if (!strcmp(field, t->series[i]))
				return import__fail(im, "two columns have the name \"%.100s\"",
						    field);
		}
		found |= want && !strcmp(field, want);
		t->series[t->nr++] = field;
	}
	if (!found)
		return import__fail(im, "there is no column \"%.100s\"", want);
	if (im->opt->variant && !want && t->nr > 1)
		return import__fail(im, "there are %d columns: --variant needs --series", t->nr);
	return 0;
}

static int add_value(struct table *t, int column, u64 tasks, double value)
{
	const char *series = t->series[column];
	struct import_point *point;
	struct json_object *given;

	/* the only column needs no name of its own */
	if (t->nr == 1 && (!strcmp(series, "elapsed") || t->im->opt->variant))
		series = NULL;
	given = json_object_new_object();
	import__give(given, t->times ? "elapsed_sec" : "rate", value);
	point = import__point(t->im, t->bench, series, tasks);
	if (t->times)
		return import__elapsed(t->im, point, value, given);
	return import__repeat(t->im, point, value / t->im->opt->per, given);
}

static int add_row(struct table *t)
{
	char *rest = t->im->line, *field = rest;
	const char *p;
	double value;
	u64 tasks;
	int i;

	scan__field(&rest, &field);
	p = field;
	if (!scan__u64(&p, IMPORT_MAX_TASKS, &tasks) || *p || !tasks)
		return import__fail(t->im,
				    "%s, 1 to %d, are expected in the first column, there is \"%.30s\"",
				    t->count, IMPORT_MAX_TASKS, field);
	for (i = 0; scan__field(&rest, &field); i++) {
		p = field;
		if (i >= t->nr || !*p ||
		    (t->im->opt->series && strcmp(t->im->opt->series, t->series[i])))
			continue;
		if (!scan__real(&p, SCAN_ANY, &value) || *p || !(value > 0))
			return import__fail(t->im,
					    "a number above 0 is expected for %.100s, there is \"%.30s\"",
					    t->series[i], field);
		if (add_value(t, i, tasks, value))
			return t->im->err;
	}
	if (i != t->nr)
		return import__fail(t->im, "%d fields are expected, as in the head; there are %d",
				    t->nr + 1, i + 1);
	return 0;
}

static int read_table(struct table *t)
{
	struct import *im = t->im;

	while (t->bench && import__line(im)) {
		if (import__skip(im))
			continue;
		if (t->head ? add_row(t) : read_head(t))
			break;
	}
	free(t->head);
	return im->err;
}

int import_make_times(struct import *im)
{
	struct table t = { .im = im, .count = "jobs", .times = true };

	t.bench = import__bench(im, "make-times", "make", NULL, NULL);
	if (t.bench)
		t.bench->total = 1;
	return read_table(&t);
}

int import_rates(struct import *im)
{
	struct table t = { .im = im, .count = "tasks" };

	t.bench = import__bench(im, "rates", "op", NULL, NULL);
	return read_table(&t);
}
