// SPDX-License-Identifier: GPL-2.0
/*
 * Results as CSV (RFC 4180, but lines end in a line feed alone): a header, and a line a point
 *
 * Numbers that are not known or not valid are empty.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "observe/observe.h"
#include "util/outfile.h"

struct csv_observer {
	struct bench_observer	observer;
	struct observe_file	file;
};

static struct csv_observer *to_csv(struct bench_observer *o)
{
	return container_of(o, struct csv_observer, observer);
}

static const char * const columns[] = {
	"benchmark", "variant", "tasks", "mode", "pin", "unit", "repeats", "ops_per_sec", "ci95",
	"us_per_op", "task_min", "task_max", "jain", "ratio", "elapsed_sec", "start_skew_us",
	"windows", "windows_dropped", "valid", "flags", "params",
};

static void put_real(struct outfile *f, bool valid, double value)
{
	if (valid && isfinite(value))
		outfile__printf(f, ",%.10g", value);
	else
		outfile__puts(f, ",");
}

/* Append to a list in @text, as far as there is room. */
static void append(char *text, size_t size, const char *sep, const char *item)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len ? sep : "", item);
}

static void put_flags(struct outfile *f, const struct bench_result *res)
{
	unsigned int flag, left = res->flags;
	char text[1024] = "";

	if (*res->skip)
		append(text, sizeof(text), " ", "skipped");
	while ((flag = observe__next_flag(&left)))
		append(text, sizeof(text), " ", bench_flag__name(flag));
	outfile__csv(f, ",", text);
}

static void put_params(struct outfile *f, const struct bench_run *run)
{
	char text[BENCH_MAX_PARAMS * sizeof(run->params[0])] = "";
	int i;

	for (i = 0; i < run->nr_params; i++) {
		append(text, sizeof(text), ";", run->params[i].name);
		append(text, sizeof(text), "=", run->params[i].value);
	}
	outfile__csv(f, ",", text);
}

static int csv_begin(struct bench_observer *o, struct bench_run *run)
{
	struct csv_observer *c = to_csv(o);
	bool first = !c->file.opened;
	int err = observe_file__open(&c->file, run);
	size_t i;

	if (err || !first)
		return err;
	for (i = 0; i < ARRAY_SIZE(columns); i++)
		outfile__csv(c->file.out, i ? "," : "", columns[i]);
	outfile__puts(c->file.out, "\n");
	return observe_file__flush(&c->file, run);
}

static int csv_result(struct bench_observer *o, struct bench_run *run,
		      const struct bench_result *res)
{
	struct csv_observer *c = to_csv(o);
	struct outfile *f = c->file.out;
	bool valid = observe__valid(res);

	outfile__csv(f, "", run->ops->name);
	outfile__csv(f, ",", run->variants[res->variant].name);
	outfile__printf(f, ",%d", res->nr_tasks);
	outfile__csv(f, ",", bench_mode__name(run->mode));
	outfile__csv(f, ",", bench_pin__name(bench_worker_params.pin));
	outfile__csv(f, ",", run->unit);
	outfile__printf(f, ",%d", res->nr_repeats);
	put_real(f, valid, res->rate);
	put_real(f, valid, res->ci95);
	put_real(f, valid, res->us_op);
	put_real(f, valid, res->task_min);
	put_real(f, valid, res->task_max);
	put_real(f, valid, res->jain);
	put_real(f, valid, res->ratio);
	put_real(f, valid, res->elapsed);
	put_real(f, res->nr_repeats, res->skew_ns / 1e3);
	outfile__printf(f, ",%llu,%llu", (unsigned long long)res->nr_windows,
			(unsigned long long)res->nr_dropped);
	outfile__csv(f, ",", valid ? "true" : "false");
	put_flags(f, res);
	put_params(f, run);
	outfile__puts(f, "\n");
	return observe_file__flush(&c->file, run);
}

struct bench_observer *csv_observer__new(const char *path)
{
	struct csv_observer *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->observer.begin = csv_begin;
	c->observer.result = csv_result;
	c->file.out = outfile__new(path);
	if (!c->file.out) {
		free(c);
		return NULL;
	}
	return &c->observer;
}

int csv_observer__finish(struct bench_observer *o)
{
	struct csv_observer *c = to_csv(o);
	int err = observe_file__finish(&c->file);

	free(c);
	return err;
}
