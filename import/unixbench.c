// SPDX-License-Identifier: GPL-2.0
/*
 * UnixBench's report, and what our fsnotify/pipe prints like it
 *
 *	8 CPUs in system; running 1 parallel copy of tests
 *	Pipe Throughput                            1635960.9 lps   (10.0 s, 7 samples)
 *	System Benchmarks Index Values               BASELINE       RESULT    INDEX
 *	Pipe Throughput                               12440.0    1635960.9   1315.1
 *
 * Of all that it prints these are read: how many copies ran, the lines with units, and the table of
 * indexes up to an empty line or a line of '='. Index is result / baseline x 10. Results are loops
 * a second (lps) or a minute (lpm), kB a second (KBps) or millions of instructions (MWIPS).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"

#define TABLE		"System Benchmarks "
#define TABLE_END	"BASELINE RESULT INDEX"
#define MAX_RESULTS	256

/* Of the tests whose loops do what our benchmarks do, and those that reports name most. */
static const struct {
	const char	*name, *alias;	/* the kernel test robot's */
	double		baseline;	/* UnixBench 5, pgms/index.base */
	const char	*unit;
} tests[] = {
	{ "Pipe Throughput",			"pipe",		12440,	"lps"	},
	{ "Pipe-based Context Switching",	"context1",	4000,	"lps"	},
	{ "Process Creation",			"spawn",	126,	"lps"	},
	{ "Execl Throughput",			"execl",	43,	"lps"	},
	{ "System Call Overhead",		"syscall",	15000,	"lps"	},
};

static const struct {
	const char	*name, *op;
	double		per;		/* that make an op a second */
} units[] = {
	{ "lps",	"loop",					1	},
	{ "lpm",	"loop",					60	},
	{ "KBps",	"KB",					1	},
	{ "MWIPS",	"million Whetstone instructions",	1	},
};

/* A line with a unit. */
struct result {
	char	*name;
	double	value, sec;
	u64	samples;
	int	unit;
};

struct report {
	struct import	*im;
	u64		tasks;
	bool		table;		/* in it */
	int		rows, nr;
	struct result	results[MAX_RESULTS];	/* since the last table */
};

double unixbench__baseline(const char *test)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (!strcmp(test, tests[i].name) || !strcmp(test, tests[i].alias))
			return tests[i].baseline;
	}
	return 0;
}

/* The last word of @line, cut off with the blanks before it; NULL if it is the only one. */
static char *last_word(char *line)
{
	char *end = line + strlen(line), *word;

	while (end > line && end[-1] == ' ')
		*--end = '\0';
	for (word = end; word > line && word[-1] != ' '; word--)
		;
	if (word == line || word == end)
		return NULL;
	for (end = word; end > line && end[-1] == ' ';)
		*--end = '\0';
	return end == line ? NULL : word;
}

static bool whole_real(const char *word, double *value)
{
	return word && scan__real(&word, 1, value) && !*word;
}

/* "(10.0 s, 7 samples)", to the end. */
static bool scan_samples(const char *p, struct result *res)
{
	return scan__text(&p, "(") && scan__real(&p, 1, &res->sec) && scan__text(&p, " s, ") &&
	       scan__u64(&p, 1000000, &res->samples) && scan__text(&p, " samples)") && !*p;
}

/* A line with a unit? Then 1, and it is kept; or 0, or -errno. */
static int add_result(struct report *r)
{
	struct result res = { 0 };
	char *line = r->im->line, *bracket = strrchr(line, '('), *word;
	size_t i;

	if (!bracket || !scan_samples(bracket, &res))
		return 0;
	*bracket = '\0';
	word = last_word(line);
	for (i = 0; word && i < ARRAY_SIZE(units) && strcmp(word, units[i].name); i++)
		;
	if (!word || i == ARRAY_SIZE(units))
		return import__fail(r->im,
				    "\"NAME N.N lps, lpm, KBps or MWIPS (N.N s, N samples)\" is expected");
	res.unit = i;
	if (!whole_real(last_word(line), &res.value) || r->nr == MAX_RESULTS)
		return import__fail(r->im, "a number with one decimal is expected before \"%s\"",
				    units[i].name);
	res.name = strdup(line);
	if (!res.name)
		return import__no_memory(r->im);
	r->results[r->nr++] = res;
	return 1;
}

static void forget_results(struct report *r)
{
	while (r->nr)
		free(r->results[--r->nr].name);
}

/* In which unit a result is: that of its line above or, without one, what UnixBench gives it in. */
static int find_unit(struct report *r, const char *name, double value, const struct result **above)
{
	size_t i, u;

	for (i = 0; i < (size_t)r->nr; i++) {
		if (strcmp(r->results[i].name, name))
			continue;
		if (r->results[i].value != value) {
			import__fail(r->im,
				     "%.1f is expected as the result, as in the line above with its unit; there is %.1f",
				     r->results[i].value, value);
			return -1;
		}
		*above = &r->results[i];
		return r->results[i].unit;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		for (u = 0; !strcmp(tests[i].name, name) && u < ARRAY_SIZE(units); u++) {
			if (!strcmp(tests[i].unit, units[u].name))
				return u;
		}
	}
	import__fail(r->im,
		     "before the table a line with the unit is expected, \"%.100s N.N lps (N.N s, N samples)\"",
		     name);
	return -1;
}

static int add_row(struct report *r)
{
	const struct result *above = NULL;
	double index, value, baseline, off;
	char *line = strdup(r->im->line);
	struct json_object *given;
	struct import_bench *bench;
	int unit, err;

	if (!line)
		return import__no_memory(r->im);
	if (!whole_real(last_word(line), &index) || !whole_real(last_word(line), &value) ||
	    !whole_real(last_word(line), &baseline) || !(baseline > 0)) {
		err = import__expected(r->im,
				       "\"NAME BASELINE RESULT INDEX\", with one decimal each,");
		goto out;
	}
	/* all three are rounded to a tenth */
	off = 0.051 + (0.5 + index * 0.05) / baseline;
	err = -EINVAL;
	if (fabs(value / baseline * 10 - index) > off) {
		import__fail(r->im,
			     "%.1f is expected as the index, result / baseline x 10; there is %.1f",
			     value / baseline * 10, index);
		goto out;
	}
	unit = find_unit(r, line, value, &above);
	if (unit < 0)
		goto out;
	bench = import__bench(r->im, "unixbench", units[unit].op, "test", line);
	given = json_object_new_object();
	import__give(given, "baseline", baseline);
	import__give(given, "result", value);
	import__give(given, "index", index);
	if (above) {
		import__give(given, "seconds", above->sec);
		import__give(given, "samples", above->samples);
	}
	r->rows++;
	err = import__repeat(r->im, import__point(r->im, bench, NULL, r->tasks),
			     value / units[unit].per, given);
out:
	free(line);
	return err;
}

/* "8 CPUs in system; running 1 parallel copy of tests", or ours, "testcase:..., 8 processes". */
static void read_tasks(struct report *r)
{
	const char *p = r->im->line, *comma;
	u64 n;

	if (scan__u64(&p, 65536, &n) && (scan__text(&p, " CPUs in system; running ") ||
					 scan__text(&p, " CPU in system; running ")) &&
	    scan__u64(&p, IMPORT_MAX_TASKS, &n) && scan__text(&p, " parallel cop")) {
		r->tasks = n;
		return;
	}
	p = r->im->line;
	comma = strrchr(p, ',');
	if (!scan__text(&p, "testcase:") || !comma)
		return;
	p = comma + 1;
	if (scan__blanks(&p) && scan__u64(&p, IMPORT_MAX_TASKS, &n) &&
	    (!strcmp(p, " processes") || !strcmp(p, " threads")))
		r->tasks = n;
}

static bool begins_table(const char *line)
{
	char words[64] = "";
	size_t used = 0;

	if (!scan__text(&line, TABLE))
		return false;
	line = strstr(line, "BASELINE") ?: "";
	for (; *line && used < sizeof(words) - 1; line++) {
		if (*line != ' ' || (line[1] != ' ' && line[1]))
			words[used++] = *line;
	}
	return !strcmp(words, TABLE_END);
}

static int end_table(struct report *r)
{
	if (!r->rows)
		return import__fail(r->im, "a row of the table is expected");
	r->table = false;
	forget_results(r);
	return 0;
}

static int add_line(struct report *r)
{
	const char *line = r->im->line;
	int ret;

	if (import__skip(r->im) || strspn(line, " =") == strlen(line))
		return r->table ? end_table(r) : 0;
	if (begins_table(line)) {
		r->table = true;
		r->rows = 0;
		return 0;
	}
	if (r->table)
		return add_row(r);
	read_tasks(r);
	ret = add_result(r);
	return ret < 0 ? ret : 0;
}

int import_unixbench(struct import *im)
{
	struct report *r = calloc(1, sizeof(*r));

	if (!r)
		return import__no_memory(im);
	r->im = im;
	while (import__line(im) && !add_line(r))
		;
	if (!im->err && r->table)
		end_table(r);
	if (!im->err && !im->nr_benches)
		import__fail(im,
			     "a table is expected, \"System Benchmarks Index Values BASELINE RESULT INDEX\"");
	forget_results(r);
	free(r);
	return im->err;
}
