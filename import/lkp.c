// SPDX-License-Identifier: GPL-2.0
/*
 * The kernel test robot's comparison (LKP), and our compare -f lkp
 *
 *	         %stddev     %change         %stddev
 *	             \          |                \
 *	   1754466           +11.6%    1958062        will-it-scale.per_process_ops
 *	   5188634 ±  3%     +10.5%    5731846 ±  5%  perf-stat.i.iTLB-load-misses
 *
 * A text has one table, and all behind the first of these lines is rows. One side is taken. A table
 * is of one run of one benchmark: one row is its result, all others are metrics of it. Which:
 *
 *	--row NAME, else
 *	*.N.ops_per_sec, *.N.elapsed_sec	ours: of N tasks; each such row is a point
 *	will-it-scale.N.processes, .N.threads	ops of all N tasks
 *	unixbench.score				loops a second / baseline x 10
 *	NAME.per_process_ops, per_thread_ops	of one task; only with --row
 *
 * The names of a job ("nr_task/test/...:") and their values, in two lines behind one of '=', become
 * parameters. The means are over runs that nobody has counted: so a mean is all that is known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"
#include "util/json-stream.h"

#define SIGN		"\xc2\xb1"	/* U+00B1, plus or minus */
#define MAX_ROWS	16384
#define MAX_FIELDS	64
#define ROW		"\"N [\xc2\xb1 N%] [+-]N[%] N [\xc2\xb1 N%] NAME\""

struct row {
	double	value, stddev_percent;	/* NaN: not given */
	char	*name;
};

struct table {
	struct import		*im;
	bool			begun, ended;
	struct json_object	*job;		/* of the lines behind the one of '=' */
	char			*keys;
	int			nr, room;
	struct row		*rows;
};

static bool patched(const struct table *t)
{
	return t->im->opt->side == IMPORT_SIDE_PATCHED;
}

/* ---- before the table ---- */

/* Two lines: names with slashes and a colon, values with slashes. */
static int add_job(struct table *t)
{
	char *line = t->im->line, *key, *value, *keys = NULL, *values = NULL, *from;
	int err = 0;

	line += strspn(line, " ");
	if (!t->keys) {
		if (!*line || line[strlen(line) - 1] != ':')
			return import__expected(t->im, "behind the line of =, \"NAME/NAME/...:\"");
		t->keys = strdup(line);
		if (!t->keys)
			return import__no_memory(t->im);
		t->keys[strlen(line) - 1] = '\0';
		return 0;
	}
	t->job = json_object_new_object();
	if (!t->job)
		return import__no_memory(t->im);
	key = strtok_r(t->keys, "/", &keys);
	for (from = line; !err && (value = strtok_r(from, "/", &values)); from = NULL) {
		if (!key || json_object_object_length(t->job) == MAX_FIELDS ||
		    json_object_object_get_ex(t->job, key, NULL))
			err = -EINVAL;
		else
			json_object_object_add(t->job, key, json_text(value));
		key = key ? strtok_r(NULL, "/", &keys) : NULL;
	}
	if (err || key)
		return import__fail(t->im,
				    "as many values are expected as names in the line above");
	return 0;
}

static int add_head(struct table *t)
{
	char *line = t->im->line, *last = NULL;
	static const char * const want[] = { "%stddev", "%change", "%stddev" };
	const char *word;
	size_t i = 0;

	if (!t->job && (t->keys || (line[0] == '=' && strspn(line, "= ") == strlen(line)))) {
		if (t->keys)
			return add_job(t);
		if (!import__line(t->im))
			return t->im->err ?: import__fail(t->im, "the names of a job are expected");
		return add_job(t);
	}
	if (!strstr(line, "%stddev"))
		return 0;
	for (word = strtok_r(line, " \t", &last); word; word = strtok_r(NULL, " \t", &last)) {
		if (i == ARRAY_SIZE(want) || strcmp(word, want[i++]))
			return import__fail(t->im,
					    "\"%%stddev %%change %%stddev\" is expected, with no marks of a quote");
	}
	t->begun = i == ARRAY_SIZE(want);
	return 0;
}

/* ---- its rows ---- */

/* A number, and half of what its last digit stands for: so far rounding may be off. */
struct number {
	double	value, half;
};

static bool scan_number(const char **p, struct number *n)
{
	const char *from = *p, *s;
	int decimals = 0;

	if (!scan__real(p, SCAN_EXPONENT, &n->value))
		return false;
	for (s = from; s < *p && *s != '.' && *s != 'e'; s++)
		;
	if (*s == '.') {
		for (s++; s < *p && *s != 'e'; s++)
			decimals++;
	}
	n->half = 0.51 * pow(10, (s < *p ? atoi(s + 1) : 0) - decimals);
	return true;
}

/* "N", and "± N%" behind it if it is there. */
static bool scan_value(const char **p, struct number *n, double *stddev)
{
	scan__blanks(p);
	if (!scan_number(p, n))
		return false;
	scan__blanks(p);
	*stddev = NAN;
	if (!scan__text(p, SIGN))
		return true;
	scan__blanks(p);
	return scan__real(p, SCAN_ANY, stddev) && scan__text(p, "%") && scan__blanks(p);
}

/* What the row says has changed: per cent, or, of values that are per cent, their difference. */
static bool scan_change(const char **p, struct number *change, bool *percent)
{
	bool minus = **p == '-', sign = minus || **p == '+';

	*change = (struct number){ .value = NAN };
	*percent = false;
	if (scan__text(p, SIGN)) {		/* "±  0%" */
		scan__blanks(p);
		*change = (struct number){ .half = 0.51 };
		*percent = true;
		return scan__text(p, "0%") && scan__blanks(p);
	}
	*p += sign;
	if (minus && scan__blanks(p))		/* "-": none can be given */
		return true;
	if (!sign || !scan_number(p, change))
		return false;
	change->value = minus ? -change->value : change->value;
	*percent = scan__text(p, "%");
	return scan__blanks(p);
}

/* Can it be, with all three as they were before they were rounded? */
static bool is_change(const struct number *base, const struct number *now,
		      const struct number *change, bool percent)
{
	double low, high;

	if (isnan(change->value) || (percent && base->value <= base->half))
		return true;
	if (percent) {
		low = 100 * ((now->value - now->half) / (base->value + base->half) - 1);
		high = 100 * ((now->value + now->half) / (base->value - base->half) - 1);
	} else {
		low = now->value - base->value - now->half - base->half;
		high = now->value - base->value + now->half + base->half;
	}
	return change->value >= low - change->half && change->value <= high + change->half;
}

static int add_row(struct table *t)
{
	struct number base, now, change;
	const char *p = t->im->line;
	double base_sd, now_sd;
	struct row *more;
	bool percent;

	if (!scan_value(&p, &base, &base_sd) || !scan_change(&p, &change, &percent) ||
	    !scan_value(&p, &now, &now_sd) || !*p || strpbrk(p, " \t"))
		return import__expected(t->im, ROW);
	if (!is_change(&base, &now, &change, percent))
		return import__fail(t->im, "from %g to %g is no change of %+g%s", base.value,
				    now.value, change.value, percent ? "%" : "");
	if (t->nr == t->room) {
		if (t->nr == MAX_ROWS)
			return import__fail(t->im, "at most %d rows are expected", MAX_ROWS);
		more = reallocarray(t->rows, 2 * t->room + 64, sizeof(*more));
		if (!more)
			return import__no_memory(t->im);
		t->rows = more;
		t->room = 2 * t->room + 64;
	}
	more = &t->rows[t->nr];
	more->value = patched(t) ? now.value : base.value;
	more->stddev_percent = patched(t) ? now_sd : base_sd;
	more->name = strdup(p);
	if (!more->name)
		return import__no_memory(t->im);
	t->nr++;
	return 0;
}

static int add_line(struct table *t)
{
	char *line = t->im->line;
	size_t len = strlen(line);

	while (len && strchr(" \t", line[len - 1]))
		line[--len] = '\0';
	if (!t->begun)
		return add_head(t);
	if (strspn(line, " \\|") == len) {
		t->ended = t->nr;
		return 0;
	}
	if (t->ended)
		return import__expected(t->im,
					"nothing but empty lines behind the table (one table a text)");
	return add_row(t);
}

/* ---- which row is the result ---- */

enum kind { METRIC, RATE, RATE_OF_ONE, SECONDS, SCORE };

/* "NAME.N.WORD"? Then N, and the length of NAME. */
static bool split(const char *name, const char *word, u64 *tasks, size_t *len)
{
	const char *end = strrchr(name, '.'), *p, *from;

	if (!end || strcmp(end + 1, word))
		return false;
	for (from = end; from > name && from[-1] != '.'; from--)
		;
	p = from;
	*len = from - name - 1;
	return from > name + 1 && scan__u64(&p, IMPORT_MAX_TASKS, tasks) && p == end && *tasks;
}

static bool is_of_one(const char *name, const char **mode)
{
	const char *end = strrchr(name, '.') ?: "";

	*mode = !strcmp(end, ".per_process_ops") ? "process" :
		!strcmp(end, ".per_thread_ops") ? "thread" : NULL;
	return *mode;
}

static enum kind kind_of(const struct table *t, const char *name, u64 *tasks, size_t *len,
			 const char **mode)
{
	const char *row = t->im->opt->row;

	*tasks = 0;
	*mode = NULL;
	*len = strcspn(name, ".");
	if (row && strcmp(row, name))
		return METRIC;
	if (split(name, "ops_per_sec", tasks, len))
		return RATE;
	if (split(name, "elapsed_sec", tasks, len))
		return SECONDS;
	*len = strcspn(name, ".");
	if (!strncmp(name, "will-it-scale.", 14)) {
		*mode = split(name, "processes", tasks, len) ? "process" :
			split(name, "threads", tasks, len) ? "thread" : NULL;
		if (*mode && *len == strlen("will-it-scale"))
			return RATE;
		*mode = NULL;
		*tasks = 0;
		*len = strcspn(name, ".");
	}
	if (!strcmp(name, "unixbench.score"))
		return SCORE;
	if (row && is_of_one(name, mode))
		return RATE_OF_ONE;
	return row ? RATE : METRIC;
}

/* The value of a parameter of the job, or of the user. */
static const char *parameter(const struct table *t, const char *name)
{
	struct json_object *value;

	if ((t->job && json_object_object_get_ex(t->job, name, &value)) ||
	    (t->im->opt->parameters &&
	     json_object_object_get_ex(t->im->opt->parameters, name, &value)))
		return json_object_get_string(value);
	return NULL;
}

static int add_result(struct table *t, const struct row *row, enum kind kind, u64 tasks, size_t len,
		      const char *mode, struct import_point **point)
{
	const char *test = parameter(t, "test"), *nr = parameter(t, "nr_task");
	double baseline = kind == SCORE && test ? unixbench__baseline(test) : 0, rate = row->value;
	struct json_object_iter member;
	struct json_object *given;
	struct import_bench *bench;
	char name[256];
	u64 n;

	if (len >= sizeof(name))
		return import__fail(t->im, "the name \"%.60s...\" is too long", row->name);
	memcpy(name, row->name, len);
	name[len] = '\0';
	/* how many, where the row does not say; "50%" is no number of tasks */
	if (!tasks && nr && scan__u64(&nr, IMPORT_MAX_TASKS, &n) && !*nr)
		tasks = n;
	if (kind == SCORE && !baseline)
		return import__fail(t->im,
				    "unixbench.score: the test that it is of must be known (--param test=pipe)");
	bench = import__bench(t->im, name, kind == SECONDS ? "run" : kind == SCORE ? "loop" :
			      mode ? "iteration" : "op", NULL, NULL);
	if (!bench)
		return t->im->err;
	if (t->job) {
		json_object_object_foreachC(t->job, member) {
			json_object_object_add(bench->parameters, member.key,
					       json_object_get(member.val));
		}
	}
	bench->mode = mode;
	bench->total = kind == SECONDS;
	given = json_object_new_object();
	import__give(given, row->name, row->value);
	import__give(given, "stddev_percent", row->stddev_percent);
	*point = import__point(t->im, bench, NULL, tasks);
	if (*point && (*point)->nr_repeats) {
		json_object_put(given);
		return import__fail(t->im, "two rows are results of the same task count");
	}
	if (kind == SECONDS)
		return import__elapsed(t->im, *point, row->value, given);
	if (kind == SCORE)
		rate = rate / 10 * baseline;
	else if (kind == RATE_OF_ONE && *point)
		rate *= (*point)->tasks;
	return import__repeat(t->im, *point, rate, given);
}

/* All other rows, to the one point that there is. */
static int add_metrics(struct table *t, struct import_point *point)
{
	struct json_object *metric, *values;
	size_t len;
	const char *mode;
	u64 tasks;
	int i;

	point->metrics = json_object_new_object();
	for (i = 0; point->metrics && i < t->nr; i++) {
		if (kind_of(t, t->rows[i].name, &tasks, &len, &mode) != METRIC)
			continue;
		if (json_object_object_get_ex(point->metrics, t->rows[i].name, NULL))
			return import__fail(t->im, "there are two rows %s", t->rows[i].name);
		metric = json_object_new_object();
		values = json_object_new_array();
		import__give(values, NULL, t->rows[i].value);
		if (!metric || !values) {
			json_object_put(metric);
			json_object_put(values);
			return import__no_memory(t->im);
		}
		json_object_object_add(metric, "unit", json_text(""));
		json_object_object_add(metric, "values", values);
		json_object_object_add(point->metrics, t->rows[i].name, metric);
	}
	return point->metrics ? 0 : import__no_memory(t->im);
}

static int add_results(struct table *t)
{
	struct import_point *point = NULL;
	const char *mode;
	enum kind kind;
	int i, nr = 0;
	size_t len;
	u64 tasks;

	for (i = 0; i < t->nr; i++) {
		kind = kind_of(t, t->rows[i].name, &tasks, &len, &mode);
		if (kind == METRIC)
			continue;
		if (add_result(t, &t->rows[i], kind, tasks, len, mode, &point))
			return t->im->err;
		nr++;
	}
	if (!nr && t->im->opt->row)
		return import__fail(t->im, "there is no row %.200s", t->im->opt->row);
	if (!nr)
		return import__fail(t->im, "no row is known to be the result: name one with --row");
	/* with several points, nobody knows whose they are */
	return nr == 1 && point ? add_metrics(t, point) : 0;
}

int import_lkp(struct import *im)
{
	struct table t = { .im = im };
	int i;

	if (im->opt->side == IMPORT_SIDE_NONE)
		import__fail(im, "a comparison has two sides: use --side base, and --side patched");
	while (import__line(im) && !add_line(&t))
		;
	im->line_nr = im->err ? im->line_nr : 0;
	if (!im->err && !t.begun)
		import__fail(im, "a line \"%%stddev %%change %%stddev\" is expected");
	if (!im->err && !t.nr)
		import__fail(im, "the table has no row");
	if (!im->err)
		add_results(&t);
	for (i = 0; i < t.nr; i++)
		free(t.rows[i].name);
	free(t.rows);
	free(t.keys);
	json_object_put(t.job);
	return im->err;
}
