// SPDX-License-Identifier: GPL-2.0
/*
 * -f simple, of our benchmarks and of perf bench
 *
 *	8 none 804234.250 232442.090 fsnotify/eventfd preempted,drift
 *
 * is ours: tasks, variant or "-", ops a second, half of its 95 % interval, benchmark, flags; "-"
 * stands for what there is not. perf bench prints one number, of which only its source tells what
 * it is: seconds of the whole run, to milliseconds, for the sched and syscall collections. Those
 * are read; the name comes from "# Running NAME benchmark", or the user.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"

static const char * const timed[] = { "sched/messaging", "sched/pipe", "syscall/" };

static bool scan_number(const char **p, double *value)
{
	*value = NAN;
	return (scan__text(p, "-") || scan__real(p, 3, value)) && scan__text(p, " ");
}

static int add_ours(struct import *im)
{
	char *copy = strdup(im->line), *save = NULL, *word[6], *last;
	struct import_point *point;
	struct json_object *given;
	const char *p, *q;
	double rate, ci95;
	bool good;
	u64 tasks;
	int i;

	if (!copy)
		return import__no_memory(im);
	for (i = 0; i < 6; i++)
		word[i] = strtok_r(i ? NULL : copy, " ", &save);
	last = word[5] ? strtok_r(NULL, " ", &save) : NULL;
	p = im->line;
	good = word[5] && !last && scan__u64(&p, IMPORT_MAX_TASKS, &tasks) && tasks &&
	       scan__text(&p, " ") && scan__text(&p, word[1]) && scan__text(&p, " ") &&
	       scan_number(&p, &rate) && scan_number(&p, &ci95);
	q = word[5] ? strchr(word[4], '/') : NULL;
	if (!good || !q || (isnan(rate) && !isnan(ci95))) {
		import__expected(im, "\"TASKS VARIANT OPS/S +-95% BENCHMARK FLAGS\"");
		goto out;
	}
	point = import__point(im, import__bench(im, word[4], "op", NULL, NULL),
			      strcmp(word[1], "-") ? word[1] : "", tasks);
	if (!point)
		goto out;
	if (point->nr_repeats || !point->valid) {
		import__fail(im, "a second line of the same point: import each run by itself");
		goto out;
	}
	point->flags = strcmp(word[5], "-") ? strdup(word[5]) : NULL;
	point->ci95 = ci95;
	if (isnan(rate)) {
		point->valid = false;
		goto out;
	}
	given = json_object_new_object();
	import__give(given, "rate", rate);
	import__give(given, "ci95", ci95);
	import__repeat(im, point, rate, given);
out:
	free(copy);
	return im->err;
}

static bool is_timed(const char *name)
{
	size_t i, len;

	for (i = 0; i < ARRAY_SIZE(timed); i++) {
		len = strlen(timed[i]);
		if (!strncmp(name, timed[i], len) && (timed[i][len - 1] == '/' || !name[len]))
			return true;
	}
	return false;
}

static int add_seconds(struct import *im, const char *name, double seconds)
{
	struct json_object *given;
	struct import_bench *bench;
	struct import_point *point;

	if (im->opt->name)
		name = im->opt->name;
	if (!*name)
		return import__fail(im,
				    "a number alone: use --name, sched/pipe, to say what it is of");
	if (!is_timed(name))
		return import__fail(im,
				    "it is not known what the number of \"%.100s\" is: only those of sched and syscall are, seconds",
				    name);
	bench = import__bench(im, name, "run", NULL, NULL);
	point = import__point(im, bench, NULL, 0);
	if (!point)
		return im->err;
	bench->total = 1;
	given = json_object_new_object();
	import__give(given, "elapsed_sec", seconds);
	return import__elapsed(im, point, seconds, given);
}

/* "# Running sched/pipe benchmark...", or with quotes and a colon. */
static bool read_name(const char *p, char *name, size_t size)
{
	size_t len;

	if (!scan__text(&p, "# Running "))
		return false;
	p += *p == '\'';
	len = strcspn(p, " '");
	if (len >= size || !strstr(p + len, " benchmark"))
		return false;
	memcpy(name, p, len);
	name[len] = '\0';
	return true;
}

int import_simple(struct import *im)
{
	char name[64] = "";
	const char *p;
	double value;

	while (import__line(im)) {
		if (read_name(im->line, name, sizeof(name)) || import__skip(im))
			continue;
		p = im->line;
		if (scan__real(&p, 3, &value) && !*p)
			add_seconds(im, name, value);
		else
			add_ours(im);
		if (im->err)
			break;
	}
	return im->err;
}
