// SPDX-License-Identifier: GPL-2.0
/*
 * What a will-it-scale program prints, and our benchmarks, too
 *
 *	testcase:Eventfd read/write
 *	warmup
 *	min:1000 max:2000 total:3000
 *	measurement
 *	min:1000 max:2000 total:3000
 *	average:3000
 *
 * A line a second (ours: a window, as rates a second). The tool does not say how many tasks there
 * were; ours add ", UNIT, N processes" to the name. Each testcase: is a repeat.
 *
 *	tasks,processes,processes_idle,threads,threads_idle,linear
 *
 * is the header of its CSV: rates of processes and of threads, which become two variants. It begins
 * with a row for 0 tasks. "linear" is what the better of both did at 1 task, times the tasks.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ctype.h>
#include <linux/kernel.h>

#include "import/import.h"

#define MAX_RATE	1000000000000ULL	/* all lines of a text add up to less than 2^64 */
#define CSV_HEAD	"tasks,processes,processes_idle,threads,threads_idle,linear"

struct run {
	char			*name, *unit;
	const char		*mode;			/* unit and mode: NULL if it is not ours */
	u64			tasks;			/* 0: not told */
	enum { OUTSIDE, NAMED, WARMUP, MEASUREMENT } at;
	struct json_object	*windows[2];
	u64			nr, sum;		/* measured */
};

static void reset(struct run *run)
{
	json_object_put(run->windows[0]);
	json_object_put(run->windows[1]);
	free(run->name);
	*run = (struct run){ .at = OUTSIDE };
}

/* "NAME", or ours: "NAME, UNIT, N processes". */
static int begin_run(struct import *im, struct run *run, const char *text)
{
	char *last, *unit;
	const char *p;

	run->at = NAMED;
	run->name = strdup(text);
	run->windows[0] = json_object_new_array();
	run->windows[1] = json_object_new_array();
	if (!run->name || !run->windows[0] || !run->windows[1])
		return import__no_memory(im);
	if (!*run->name)
		return import__expected(im, "\"testcase:NAME\"");
	last = strrchr(run->name, ',');
	unit = strchr(run->name, ',');
	p = last ? last + 2 : "";
	if (!last || last == unit || last[1] != ' ' || unit[1] != ' ' ||
	    !scan__u64(&p, IMPORT_MAX_TASKS, &run->tasks) || !run->tasks ||
	    (strcmp(p, " processes") && strcmp(p, " threads"))) {
		run->tasks = 0;
		return 0;
	}
	run->mode = strcmp(p, " threads") ? "process" : "thread";
	run->unit = unit + 2;
	*last = '\0';
	*unit = '\0';
	return 0;
}

static int add_window(struct import *im, struct run *run, const char *p)
{
	u64 least, most, total, tasks = run->tasks ?: (u64)im->opt->tasks;
	struct json_object *window;

	if (!scan__u64(&p, MAX_RATE, &least) || !scan__text(&p, " max:") ||
	    !scan__u64(&p, MAX_RATE, &most) || !scan__text(&p, " total:") ||
	    !scan__u64(&p, MAX_RATE, &total) || *p)
		return import__expected(im, "\"min:N max:N total:N\"");
	/* each of ours is rounded */
	if (least > most || most > total + 1)
		return import__expected(im, "min up to max, and max up to total");
	if (tasks && (total > (most + 1) * tasks || total + tasks < least * tasks))
		return import__fail(im, "%llu tasks of %llu to %llu do not make a total of %llu",
				    (unsigned long long)tasks, (unsigned long long)least,
				    (unsigned long long)most, (unsigned long long)total);
	window = json_object_new_array();
	import__give(window, NULL, least);
	import__give(window, NULL, most);
	import__give(window, NULL, total);
	if (!window)
		return import__no_memory(im);
	json_object_array_add(run->windows[run->at == MEASUREMENT], window);
	if (run->at == MEASUREMENT) {
		run->nr++;
		run->sum += total;
	}
	return 0;
}

static int end_run(struct import *im, struct run *run, const char *p)
{
	struct import_bench *bench;
	struct json_object *given;
	u64 average;
	int err;

	if (!scan__u64(&p, MAX_RATE, &average) || *p)
		return import__expected(im, "\"average:N\"");
	if (!run->unit && (!run->nr || average != run->sum / run->nr))
		return import__fail(im,
				    "%llu is expected, the average of the lines above; there is %llu",
				    (unsigned long long)(run->nr ? run->sum / run->nr : 0),
				    (unsigned long long)average);
	if (run->unit)
		bench = import__bench(im, run->name, run->unit, NULL, NULL);
	else
		bench = import__bench(im, "will-it-scale", "iteration", "testcase", run->name);
	if (bench && bench->mode && strcmp(bench->mode, run->mode ?: ""))
		return import__fail(im, "either processes or threads are expected, not both");
	if (bench)
		bench->mode = run->mode;
	given = json_object_new_object();
	if (given) {
		json_object_object_add(given, "warmup", json_object_get(run->windows[0]));
		json_object_object_add(given, "measurement", json_object_get(run->windows[1]));
	}
	import__give(given, "average", average);
	err = import__repeat(im, import__point(im, bench, NULL, run->tasks), average, given);
	reset(run);
	return err;
}

/* With fsnotify/pipe, ours also print UnixBench's lines; it has a format of its own. */
static bool is_unixbench(const char *line)
{
	return scan__text(&line, "Pipe Throughput  ") ||
	       scan__text(&line, "System Benchmarks Partial Index  ");
}

static int add_line(struct import *im, struct run *run)
{
	const char *p = im->line;

	if (import__skip(im))
		return 0;
	switch (run->at) {
	case OUTSIDE:
		if (is_unixbench(im->line))
			return 0;
		if (!scan__text(&p, "testcase:"))
			return import__expected(im, "\"testcase:NAME\"");
		return begin_run(im, run, p);
	case NAMED:
		if (strcmp(p, "warmup"))
			return import__expected(im, "\"warmup\"");
		run->at = WARMUP;
		return 0;
	case WARMUP:
		if (!strcmp(p, "measurement")) {
			run->at = MEASUREMENT;
			return 0;
		}
		if (!scan__text(&p, "min:"))
			return import__expected(im, "\"min:N max:N total:N\" or \"measurement\"");
		return add_window(im, run, p);
	case MEASUREMENT:
	default:
		if (scan__text(&p, "average:"))
			return end_run(im, run, p);
		if (!scan__text(&p, "min:"))
			return import__expected(im, "\"min:N max:N total:N\" or \"average:N\"");
		return add_window(im, run, p);
	}
}

static int import_text(struct import *im)
{
	struct run run = { .at = OUTSIDE };

	if (im->opt->series)
		return import__fail(im, "--series goes with CSV, \"" CSV_HEAD "\"");
	do {
		if (add_line(im, &run))
			break;
	} while (import__line(im));
	if (!im->err && run.at != OUTSIDE)
		import__fail(im, "\"average:N\" is expected at the end: is it cut short?");
	reset(&run);
	return im->err;
}

/* ---- CSV ---- */

static int add_rate(struct import *im, struct import_bench *bench, const char *series, u64 tasks,
		    u64 rate, double idle, u64 linear)
{
	struct json_object *given;

	if (im->opt->series && strcmp(im->opt->series, series))
		return 0;
	given = json_object_new_object();
	import__give(given, "rate", rate);
	import__give(given, "idle_percent", idle);
	import__give(given, "linear", linear);
	return import__repeat(im, import__point(im, bench, series, tasks), rate, given);
}

static int add_row(struct import *im, struct import_bench *bench)
{
	u64 tasks, processes, threads, linear;
	double idle[2];
	const char *p = im->line;

	if (!scan__u64(&p, IMPORT_MAX_TASKS, &tasks) || !scan__text(&p, ",") ||
	    !scan__u64(&p, MAX_RATE, &processes) || !scan__text(&p, ",") ||
	    !scan__real(&p, SCAN_ANY, &idle[0]) || !scan__text(&p, ",") ||
	    !scan__u64(&p, MAX_RATE, &threads) || !scan__text(&p, ",") ||
	    !scan__real(&p, SCAN_ANY, &idle[1]) || !scan__text(&p, ",") ||
	    !scan__u64(&p, MAX_RATE, &linear) || *p || idle[0] > 100 || idle[1] > 100)
		return import__expected(im,
					"6 numbers, none negative (-1 is a run that failed),");
	if (!tasks && !processes && !threads)
		return 0;
	if (!tasks)
		return import__fail(im, "no task, but a rate");
	return add_rate(im, bench, "processes", tasks, processes, idle[0], linear) ?:
	       add_rate(im, bench, "threads", tasks, threads, idle[1], linear);
}

static int import_csv(struct import *im)
{
	struct import_bench *bench = import__bench(im, "will-it-scale", "iteration", NULL, NULL);
	const char *series = im->opt->series;

	if (series && strcmp(series, "processes") && strcmp(series, "threads"))
		return import__fail(im, "there is no column \"%.100s\", but processes and threads",
				    series);
	if (im->opt->variant && !series)
		return import__fail(im, "there are two columns: --variant needs --series");
	if (bench && series)
		bench->mode = strcmp(series, "threads") ? "process" : "thread";
	while (bench && import__line(im)) {
		if (!import__skip(im) && add_row(im, bench))
			break;
	}
	return im->err;
}

int import_will_it_scale(struct import *im)
{
	while (import__line(im)) {
		if (import__skip(im))
			continue;
		return strcmp(im->line, CSV_HEAD) ? import_text(im) : import_csv(im);
	}
	return im->err;
}
