// SPDX-License-Identifier: GPL-2.0
/*
 * The throughput lines of "perf bench locking vfs" of 2014, and of our locking/vfs
 *
 *	   100 processes: throughput = 342506 average opts/sec all processes
 *	   100 processes: throughput = 3425 average opts/sec per process
 *
 * Two lines a count. Both are cut to whole numbers, so that the second tells nothing but that the
 * first is whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"

#define MAX_RATE	1000000000000000ULL	/* a double holds all up to it */

struct throughput {
	u64	tasks, rate;
	bool	threads, all;
};

static bool scan(const char *p, struct throughput *t)
{
	scan__blanks(&p);
	if (!scan__u64(&p, IMPORT_MAX_TASKS, &t->tasks) || !t->tasks || !scan__blanks(&p))
		return false;
	t->threads = scan__text(&p, "threads");
	if ((!t->threads && !scan__text(&p, "processes")) || !scan__text(&p, ": throughput = ") ||
	    !scan__u64(&p, MAX_RATE, &t->rate) || !scan__text(&p, " average opts/sec "))
		return false;
	t->all = !strcmp(p, t->threads ? "all threads" : "all processes");
	return t->all || !strcmp(p, t->threads ? "per thread" : "per process");
}

static int add(struct import *im, struct import_bench *bench, const struct throughput *all,
	       const struct throughput *per)
{
	const char *mode = all->threads ? "thread" : "process";
	struct json_object *given;

	if (per->tasks != all->tasks || per->threads != all->threads ||
	    per->rate > all->rate / all->tasks + 1 || per->rate + 1 < all->rate / all->tasks)
		return import__fail(im,
				    "the rate of one of %llu tasks is expected, %llu; there is %llu of %llu",
				    (unsigned long long)all->tasks,
				    (unsigned long long)(all->rate / all->tasks),
				    (unsigned long long)per->rate, (unsigned long long)per->tasks);
	if (bench->mode && strcmp(bench->mode, mode))
		return import__fail(im, "either processes or threads are expected, not both");
	bench->mode = mode;
	given = json_object_new_object();
	import__give(given, "all", all->rate);
	import__give(given, "per_task", per->rate);
	return import__repeat(im, import__point(im, bench, NULL, all->tasks), all->rate, given);
}

int import_locking(struct import *im)
{
	struct import_bench *bench = import__bench(im, "locking-vfs", "op", NULL, NULL);
	struct throughput all = { 0 }, t;

	while (bench && import__line(im)) {
		if (import__skip(im))
			continue;
		if (!scan(im->line, &t) || t.all == all.all)
			return import__expected(im, all.all ?
				"\"N processes: throughput = N average opts/sec per process\"" :
				"\"N processes: throughput = N average opts/sec all processes\"");
		if (!t.all && add(im, bench, &all, &t))
			return im->err;
		all = t;
	}
	if (!im->err && all.all)
		import__fail(im, "\"... per process\" is expected at the end: is it cut short?");
	return im->err;
}
