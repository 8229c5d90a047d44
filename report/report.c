// SPDX-License-Identifier: GPL-2.0
/*
 * What is computed of results files for a report
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "report/report.h"

#define Z95	1.959964	/* 0.975 quantile of the normal distribution */
#define SEED	1		/* so that a file has the same report each time */

bool report__valid(const struct results_point *p)
{
	return p->valid && !p->skip && isfinite(p->rate) && p->rate > 0;
}

double report__us_op(const struct results_point *p)
{
	return report__valid(p) ? p->tasks * 1e6 / p->rate : NAN;
}

double report__speedup(const struct report_curve *c, const struct results_point *p)
{
	return report__valid(p) && report__valid(c->points[0]) ? p->rate / c->points[0]->rate : NAN;
}

double report__efficiency(const struct report_curve *c, const struct results_point *p)
{
	return report__speedup(c, p) * c->points[0]->tasks / p->tasks;
}

double report__fairness(const struct results_point *p)
{
	double sum = 0;
	int i, nr = 0;

	for (i = 0; i < p->nr_repeats; i++) {
		if (isfinite(p->repeats[i].jain)) {
			sum += p->repeats[i].jain;
			nr++;
		}
	}
	return nr && report__valid(p) ? sum / nr : NAN;
}

int report__last_of_bench(const struct report *rep, int i)
{
	while (i + 1 < rep->nr_curves && rep->curves[i + 1].bench == rep->curves[i].bench)
		i++;
	return i;
}

const char *report__flag_text(const char *name)
{
	int i;

	for (i = 0; i < 32; i++) {
		if (!strcmp(bench_flag__name(1u << i), name))
			return bench_flag__text(1u << i);
	}
	return name;
}

/*
 * The file has intervals, by Student's t of its few repeats. As standard errors they are taken as
 * if they were normal: so they keep the width that the few repeats gave them.
 */
static int fit_curve(struct report_curve *c)
{
	struct scaling_point *points = calloc(c->nr, sizeof(*points));
	int i, err, nr = 0, cpus = 0;

	if (!points)
		return -ENOMEM;
	for (i = 0; i < c->nr; i++) {
		const struct results_point *p = c->points[i];

		cpus = max(cpus, p->cpus);
		if (!report__valid(p))
			continue;
		points[nr].tasks = p->tasks;
		points[nr].rate = p->rate;
		points[nr++].se = p->ci95 / Z95;
	}
	if (!cpus && c->res->origin) {
		snprintf(c->no_fit, sizeof(c->no_fit), "%s",
			 "it is not known on how many CPUs (import has --cpus)");
		free(points);
		return 0;
	}
	err = scaling__fit(points, nr, cpus, SEED, &c->fit, c->no_fit, sizeof(c->no_fit));
	free(points);
	return err == -ENOMEM ? err : 0;
}

static struct report_curve *find_curve(struct report *rep, int first, const char *variant)
{
	int i;

	for (i = first; i < rep->nr_curves; i++) {
		if (!strcmp(rep->curves[i].variant, variant))
			return &rep->curves[i];
	}
	return NULL;
}

static struct report_curve *add_curve(struct report *rep, const struct results *res,
				      const struct results_bench *bench, const char *variant)
{
	struct report_curve *curves, *c;

	curves = reallocarray(rep->curves, rep->nr_curves + 1, sizeof(*curves));
	if (!curves)
		return NULL;
	rep->curves = curves;
	c = &curves[rep->nr_curves];
	memset(c, 0, sizeof(*c));
	c->points = reallocarray(NULL, bench->nr_points + 1, sizeof(*c->points));
	if (!c->points)
		return NULL;
	c->res = res;
	c->bench = bench;
	c->variant = variant;
	rep->nr_curves++;
	return c;
}

/* A benchmark without a point has one empty curve, so that it is named all the same. */
static int add_bench(struct report *rep, const struct results *res,
		     const struct results_bench *bench)
{
	int i, first = rep->nr_curves, err = 0;

	if (!bench->nr_points)
		return add_curve(rep, res, bench, "") ? 0 : -ENOMEM;
	for (i = 0; i < bench->nr_points; i++) {
		const struct results_point *p = &bench->points[i];
		struct report_curve *c = find_curve(rep, first, p->variant);

		if (!c)
			c = add_curve(rep, res, bench, p->variant);
		if (!c)
			return -ENOMEM;
		c->points[c->nr++] = p;
	}
	/* a single variant need not be named */
	if (rep->nr_curves - first == 1)
		rep->curves[first].variant = "";
	for (i = first; !err && i < rep->nr_curves; i++)
		err = fit_curve(&rep->curves[i]);
	return err;
}

int report__make(struct report *rep)
{
	int f, b, err = 0;

	for (f = 0; f < rep->nr_files; f++) {
		const struct results *res = rep->files[f];

		for (b = 0; !err && b < res->nr_benches; b++)
			err = add_bench(rep, res, &res->benches[b]);
	}
	return err;
}

void report__free(struct report *rep)
{
	int i;

	for (i = 0; i < rep->nr_curves; i++) {
		scaling__free(&rep->curves[i].fit);
		free(rep->curves[i].points);
	}
	for (i = 0; i < rep->nr_files; i++)
		results__free(rep->files[i]);
	free(rep->curves);
	free(rep->files);
	memset(rep, 0, sizeof(*rep));
}
