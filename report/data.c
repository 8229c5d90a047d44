// SPDX-License-Identifier: GPL-2.0
/*
 * Reports for programs: CSV and JSON, which Documentation/report.txt describes
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "report/report.h"
#include "util/json-stream.h"
#include "util/outfile.h"

#define FORMAT_NAME	"perf-kbench-report"
#define FORMAT_VERSION	1

static const char * const columns[] = {
	"file", "benchmark", "variant", "tasks", "cpus", "ops_per_sec", "ci95", "us_per_op",
	"speedup", "efficiency", "jain", "valid", "flags", "usl_ops_per_sec", "usl_lambda",
	"usl_alpha", "usl_alpha_low", "usl_alpha_high", "usl_beta", "usl_beta_low",
	"usl_beta_high", "usl_peak", "usl_peak_low", "usl_peak_high",
};

/* Empty where not known; infinity is what it is: no peak. */
static void put_real(struct outfile *f, double x)
{
	if (isnan(x))
		outfile__puts(f, ",");
	else
		outfile__printf(f, ",%.10g", x);
}

static void put_value(struct outfile *f, const struct scaling_value *v)
{
	put_real(f, v->value);
	put_real(f, v->low);
	put_real(f, v->high);
}

static void put_row(struct outfile *f, const struct report_curve *c, const struct results_point *p)
{
	bool valid = report__valid(p);
	size_t i;

	outfile__csv(f, "", c->res->path);
	outfile__csv(f, ",", c->bench->name);
	outfile__csv(f, ",", c->variant);
	outfile__printf(f, ",%d,%d", p->tasks, p->cpus);
	put_real(f, valid ? p->rate : NAN);
	put_real(f, valid ? p->ci95 : NAN);
	put_real(f, report__us_op(p));
	put_real(f, report__speedup(c, p));
	put_real(f, report__efficiency(c, p));
	put_real(f, report__fairness(p));
	outfile__csv(f, ",", valid ? "true" : "false");
	outfile__csv(f, ",", p->skip && !*p->flags ? "skipped" : p->flags);
	if (*c->no_fit) {
		for (i = 13; i < ARRAY_SIZE(columns); i++)
			outfile__puts(f, ",");
	} else {
		put_real(f, scaling__at(&c->fit, p->tasks));
		put_real(f, c->fit.lambda.value);
		put_value(f, &c->fit.alpha);
		put_value(f, &c->fit.beta);
		put_value(f, &c->fit.peak);
	}
	outfile__puts(f, "\n");
}

/* Standard output, open; or NULL with @err set. */
static struct outfile *open_stdout(int *err)
{
	struct outfile *f = outfile__new(NULL);

	*err = f ? outfile__open(f) : -ENOMEM;
	if (*err) {
		outfile__free(f);
		return NULL;
	}
	return f;
}

static int close_stdout(struct outfile *f)
{
	int err = outfile__commit(f);

	outfile__free(f);
	return err;
}

int report__write_csv(const struct report *rep)
{
	struct outfile *f;
	int c, i, err;

	f = open_stdout(&err);
	if (!f)
		return err;
	for (i = 0; i < (int)ARRAY_SIZE(columns); i++)
		outfile__csv(f, i ? "," : "", columns[i]);
	outfile__puts(f, "\n");
	for (c = 0; c < rep->nr_curves; c++) {
		for (i = 0; i < rep->curves[c].nr; i++)
			put_row(f, &rep->curves[c], rep->curves[c].points[i]);
	}
	return close_stdout(f);
}

static void write_flags(struct json_stream *s, const struct results_point *p)
{
	char *flags = strdup(p->flags), *flag, *save;

	json_stream__open(s, "flags", '[');
	for (flag = flags ? strtok_r(flags, " ", &save) : NULL; flag;
	     flag = strtok_r(NULL, " ", &save))
		json_stream__text(s, NULL, flag);
	json_stream__close(s, ']');
	free(flags);
}

static void write_point(struct json_stream *s, const struct report_curve *c,
			const struct results_point *p)
{
	bool valid = report__valid(p);

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__s64(s, "tasks", p->tasks);
	json_stream__s64(s, "cpus", p->cpus);
	json_stream__real(s, "rate", valid ? p->rate : NAN);
	json_stream__real(s, "ci95", valid ? p->ci95 : NAN);
	json_stream__real(s, "us_per_op", report__us_op(p));
	json_stream__real(s, "speedup", report__speedup(c, p));
	json_stream__real(s, "efficiency", report__efficiency(c, p));
	json_stream__real(s, "jain", report__fairness(p));
	json_stream__bool(s, "valid", valid);
	write_flags(s, p);
	json_stream__text(s, "skip", p->skip);
	json_stream__close(s, '}');
}

static void write_value(struct json_stream *s, const char *name, const struct scaling_value *v)
{
	json_stream__open(s, name, '{');
	json_stream__real(s, "value", v->value);
	json_stream__real(s, "low", v->low);
	json_stream__real(s, "high", v->high);
	json_stream__close(s, '}');
}

static void write_law(struct json_stream *s, const struct report_curve *c)
{
	json_stream__line(s);
	if (*c->no_fit) {
		json_stream__value(s, "usl", NULL);
		json_stream__text(s, "no_usl", c->no_fit);
		return;
	}
	json_stream__open(s, "usl", '{');
	write_value(s, "lambda", &c->fit.lambda);
	write_value(s, "alpha", &c->fit.alpha);
	write_value(s, "beta", &c->fit.beta);
	write_value(s, "peak", &c->fit.peak);
	json_stream__real(s, "rms", c->fit.rms);
	json_stream__s64(s, "points", c->fit.nr_points);
	json_stream__close(s, '}');
	json_stream__value(s, "no_usl", NULL);
}

static void write_curve(struct json_stream *s, const struct report_curve *c)
{
	int i;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "variant", c->variant);
	json_stream__open(s, "points", '[');
	for (i = 0; i < c->nr; i++)
		write_point(s, c, c->points[i]);
	json_stream__close(s, ']');
	write_law(s, c);
	json_stream__close(s, '}');
}

static void write_bench(struct json_stream *s, const struct report *rep, int first, int last)
{
	const struct results_bench *b = rep->curves[first].bench;
	int i;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "name", b->name);
	json_stream__text(s, "unit", b->unit);
	json_stream__value(s, "parameters", json_object_get(b->parameters));
	json_stream__text(s, "status", b->status);
	json_stream__text(s, "message", b->message);
	json_stream__open(s, "curves", '[');
	for (i = first; i <= last && b->nr_points; i++)
		write_curve(s, &rep->curves[i]);
	json_stream__close(s, ']');
	json_stream__close(s, '}');
}

int report__write_json(const struct report *rep)
{
	struct json_stream s = { 0 };
	int f, i = 0, last, err;

	s.out = open_stdout(&err);
	if (!s.out)
		return err;
	json_stream__open(&s, NULL, '{');
	json_stream__text(&s, "format", FORMAT_NAME);
	json_stream__u64(&s, "version", FORMAT_VERSION);
	json_stream__open(&s, "files", '[');
	for (f = 0; f < rep->nr_files; f++) {
		const struct results *res = rep->files[f];

		json_stream__line(&s);
		json_stream__open(&s, NULL, '{');
		json_stream__text(&s, "path", res->path);
		json_stream__text(&s, "command", res->command);
		json_stream__bool(&s, "complete", res->complete);
		json_stream__line(&s);
		json_stream__value(&s, "environment", json_object_get(res->environment));
		json_stream__line(&s);
		json_stream__open(&s, "benchmarks", '[');
		for (; i < rep->nr_curves && rep->curves[i].res == res; i = last + 1) {
			last = report__last_of_bench(rep, i);
			write_bench(&s, rep, i, last);
		}
		json_stream__close(&s, ']');
		json_stream__line(&s);
		report__json_figures(&s, res);
		json_stream__close(&s, '}');
	}
	json_stream__close(&s, ']');
	json_stream__close(&s, '}');
	outfile__puts(s.out, "\n");
	return close_stdout(s.out);
}
