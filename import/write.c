// SPDX-License-Identifier: GPL-2.0
/*
 * A results file of what was read from somebody else's output
 *
 * Documentation/results-format.txt has the format. All that the text does not tell is null. Its
 * numbers stand as they were in "given"; rates and so on are computed from them.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "import/import.h"
#include "util/json-stream.h"
#include "util/outfile.h"

#define FORMAT_NAME	"perf-kbench-results"
#define FORMAT_VERSION	1

static void write_null(struct json_stream *s, const char *name)
{
	json_stream__value(s, name, NULL);
}

static void write_some(struct json_stream *s, const char *name, u64 value)
{
	if (value)
		json_stream__u64(s, name, value);
	else
		write_null(s, name);
}

static void write_head(struct json_stream *s, const char *format, const char *file,
		       const char *kernel, const char *date, int argc, const char **argv)
{
	int i;

	json_stream__open(s, NULL, '{');
	json_stream__text(s, "format", FORMAT_NAME);
	json_stream__u64(s, "version", FORMAT_VERSION);
	json_stream__line(s);
	json_stream__open(s, "origin", '{');
	json_stream__text(s, "format", format);
	json_stream__text(s, "file", file);
	json_stream__text(s, "imported", date);
	json_stream__close(s, '}');
	json_stream__line(s);
	json_stream__open(s, "command", '[');
	for (i = 0; i < argc; i++)
		json_stream__text(s, NULL, argv[i]);
	json_stream__close(s, ']');
	json_stream__line(s);
	if (kernel) {
		json_stream__open(s, "environment", '{');
		json_stream__open(s, "kernel", '{');
		json_stream__text(s, "release", kernel);
		json_stream__close(s, '}');
		json_stream__close(s, '}');
	} else {
		write_null(s, "environment");
	}
	json_stream__line(s);
	json_stream__open(s, "benchmarks", '[');
}

static void write_repeat(struct json_stream *s, const struct import_repeat *rep)
{
	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	write_null(s, "gate_ns");
	write_null(s, "elapsed_ns");
	write_null(s, "ops");
	json_stream__real(s, "rate", rep->rate);
	json_stream__open(s, "flags", '[');
	json_stream__close(s, ']');
	write_null(s, "task_ops");
	write_null(s, "windows");
	json_stream__value(s, "given", json_object_get(rep->given));
	json_stream__close(s, '}');
}

static void write_flags(struct json_stream *s, const char *flags)
{
	char *copy = flags ? strdup(flags) : NULL, *flag, *save = NULL;

	json_stream__open(s, "flags", '[');
	for (flag = copy ? strtok_r(copy, ",", &save) : NULL; flag;
	     flag = strtok_r(NULL, ",", &save))
		json_stream__text(s, NULL, flag);
	json_stream__close(s, ']');
	free(copy);
}

/* The mean over repeats, and half of its 95 % interval if the text has given none. */
static double mean_rate(const struct import_point *point, double *ci95)
{
	double *rates = calloc(point->nr_repeats + 1, sizeof(*rates)), mean, half;
	int i;

	*ci95 = point->ci95;
	if (!rates || !point->nr_repeats) {
		free(rates);
		return NAN;
	}
	for (i = 0; i < point->nr_repeats; i++)
		rates[i] = point->repeats[i].rate;
	mean = bench_mean_ci(rates, point->nr_repeats, &half);
	if (isnan(*ci95) && point->nr_repeats > 1)
		*ci95 = half;
	free(rates);
	return mean;
}

static double mean_seconds(const struct import_point *point)
{
	double sum = 0;
	int i;

	for (i = 0; i < point->nr_repeats; i++)
		sum += point->repeats[i].seconds;
	return point->timed && point->nr_repeats ? sum / point->nr_repeats : NAN;
}

static void write_point(struct json_stream *s, const struct import_point *point)
{
	double ci95, rate = mean_rate(point, &ci95);
	int i;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "variant", point->variant);
	json_stream__s64(s, "tasks", point->tasks);
	write_some(s, "cpus", point->cpus);
	json_stream__real(s, "rate", rate);
	json_stream__real(s, "ci95", ci95);
	json_stream__real(s, "us_per_op", point->tasks * 1e6 / rate);
	json_stream__real(s, "elapsed_sec", mean_seconds(point));
	json_stream__bool(s, "valid", point->valid);
	write_flags(s, point->flags);
	write_null(s, "skip");
	json_stream__open(s, "notes", '[');
	json_stream__close(s, ']');
	json_stream__value(s, "metrics", point->metrics ? json_object_get(point->metrics) :
			   json_object_new_object());
	json_stream__open(s, "repeats", '[');
	for (i = 0; i < point->nr_repeats; i++)
		write_repeat(s, &point->repeats[i]);
	json_stream__close(s, ']');
	json_stream__close(s, '}');
}

static void write_bench(struct json_stream *s, const struct import_bench *bench)
{
	int i;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "name", bench->name);
	json_stream__text(s, "unit", bench->unit);
	json_stream__value(s, "parameters", json_object_get(bench->parameters));
	json_stream__text(s, "mode", bench->mode);
	write_null(s, "pin");
	if (bench->nr_cpus) {
		json_stream__open(s, "cpus", '[');
		for (i = 0; i < bench->nr_cpus; i++)
			json_stream__s64(s, NULL, bench->cpus[i]);
		json_stream__close(s, ']');
	} else {
		write_null(s, "cpus");
	}
	write_null(s, "dir");
	write_null(s, "duration_ns");
	write_null(s, "warmup_ns");
	write_null(s, "window_ns");
	write_some(s, "loops", bench->loops);
	write_some(s, "total", bench->total);
	write_null(s, "repeats");
	json_stream__open(s, "points", '[');
	for (i = 0; i < bench->nr_points; i++)
		write_point(s, bench->points[i]);
	json_stream__close(s, ']');
	json_stream__line(s);
	json_stream__text(s, "status", "ok");
	write_null(s, "message");
	json_stream__close(s, '}');
}

void import__write(const struct import *im, const char *format, const char *file,
		   const char *kernel, const char *date, int argc, const char **argv,
		   struct outfile *f)
{
	struct json_stream s = { .out = f };
	int i;

	write_head(&s, format, file, kernel, date, argc, argv);
	for (i = 0; i < im->nr_benches; i++)
		write_bench(&s, im->benches[i]);
	json_stream__close(&s, ']');
	json_stream__line(&s);
	json_stream__bool(&s, "complete", true);
	json_stream__close(&s, '}');
	outfile__puts(f, "\n");
}
