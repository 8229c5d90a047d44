// SPDX-License-Identifier: GPL-2.0
/*
 * The curves of a comparison over task counts: how each side scales, and the plot
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "compare/compare.h"
#include "util/plot.h"
#include "util/scaling.h"

#define SEED	20130620	/* of the bootstrap: the same files give the same answer */
#define TITLE	160

/* The points of a benchmark and variant, as one side has them. */
struct curve {
	char			title[TITLE];
	int			nr, cpus;
	struct scaling_point	*points;
	struct plot_point	*plot;
};

static bool same_curve(const struct compare_point *a, const struct compare_point *b)
{
	return a->bench == b->bench && !strcmp(a->point[BASE]->variant, b->point[BASE]->variant);
}

/* Is point @i the first of its curve? */
static bool begins_curve(const struct comparison *c, int i)
{
	int j;

	for (j = 0; j < i; j++) {
		if (same_curve(&c->points[i], &c->points[j]))
			return false;
	}
	return true;
}

static int cmp_tasks(const void *va, const void *vb)
{
	const struct compare_point * const *a = va, * const *b = vb;

	return (*a)->point[BASE]->tasks - (*b)->point[BASE]->tasks;
}

static void free_curve(struct curve *curve)
{
	free(curve->points);
	free(curve->plot);
}

/* The curve that point @first begins; what has no rate is left out. */
static int make_curve(const struct comparison *c, int first, int side, struct curve *curve)
{
	const struct compare_point *head = &c->points[first], **sorted;
	int i, nr = 0;

	memset(curve, 0, sizeof(*curve));
	sorted = calloc(c->nr_points, sizeof(*sorted));
	curve->points = calloc(c->nr_points, sizeof(*curve->points));
	curve->plot = calloc(c->nr_points, sizeof(*curve->plot));
	if (!sorted || !curve->points || !curve->plot) {
		free(sorted);
		free_curve(curve);
		return -ENOMEM;
	}
	for (i = first; i < c->nr_points; i++) {
		if (same_curve(head, &c->points[i]))
			sorted[nr++] = &c->points[i];
	}
	qsort(sorted, nr, sizeof(*sorted), cmp_tasks);
	for (i = 0; i < nr; i++) {
		const struct point_verdict *v = &sorted[i]->v;
		int tasks = sorted[i]->point[BASE]->tasks;

		if (!isfinite(v->rate[side]))
			continue;
		curve->points[curve->nr] = (struct scaling_point){
			.tasks = tasks, .rate = v->rate[side], .se = v->se[side] * v->rate[side],
		};
		curve->plot[curve->nr++] = (struct plot_point){
			.tasks = tasks, .y = v->rate[side],
			.low = v->rate[side] - v->ci95[side],
			.high = v->rate[side] + v->ci95[side],
		};
	}
	free(sorted);
	curve->cpus = head->point[side]->cpus;
	snprintf(curve->title, sizeof(curve->title), "%s %s%s%s", c->name[side], head->bench->name,
		 *head->point[side]->variant ? " " : "", head->point[side]->variant);
	return 0;
}

/* ---- what the curves say ---- */

static void put_change(FILE *f, const char *what, const struct scaling_value *base,
		       const struct scaling_value *patched, const double *base_draws, int nr_base,
		       const double *patched_draws, int nr_patched)
{
	struct scaling_value diff;
	bool differs = scaling__differs(base_draws, nr_base, patched_draws, nr_patched, &diff);

	fprintf(f, "         %s %.3g -> %.3g: ", what, base->value, patched->value);
	if (differs)
		fprintf(f, "%s by %.3g (%.3g to %.3g)\n", diff.value > 0 ? "rose" : "fell",
			fabs(diff.value), fmin(fabs(diff.low), fabs(diff.high)),
			fmax(fabs(diff.low), fabs(diff.high)));
	else
		fprintf(f, "no change is shown (%+.2g to %+.2g)\n", diff.low, diff.high);
}

static void put_peak(FILE *f, const char *name, const struct scaling *fit)
{
	if (isinf(fit->peak.value))
		fprintf(f, "%s none", name);
	else
		fprintf(f, "%s at %.0f tasks", name, fit->peak.value);
}

void comparison__print_scaling(const struct comparison *c, FILE *f)
{
	struct scaling fit[NR_SIDES];
	struct curve curve;
	char why[256];
	int i, side, fits;

	for (i = 0; i < c->nr_points; i++) {
		if (!begins_curve(c, i))
			continue;
		memset(fit, 0, sizeof(fit));
		for (fits = 0, side = BASE; side < NR_SIDES; side++) {
			if (make_curve(c, i, side, &curve))
				return;
			fits += !scaling__fit(curve.points, curve.nr, curve.cpus, SEED, &fit[side],
					      why, sizeof(why));
			free_curve(&curve);
		}
		if (fits == NR_SIDES) {
			fprintf(f, "\nscaling  %s%s%s (USL: alpha is contention, beta coherency)\n",
				c->points[i].bench->name,
				*c->points[i].point[BASE]->variant ? " " : "",
				c->points[i].point[BASE]->variant);
			put_change(f, "alpha", &fit[BASE].alpha, &fit[PATCHED].alpha,
				   fit[BASE].alpha_draws, fit[BASE].nr_draws,
				   fit[PATCHED].alpha_draws, fit[PATCHED].nr_draws);
			put_change(f, "beta", &fit[BASE].beta, &fit[PATCHED].beta,
				   fit[BASE].beta_draws, fit[BASE].nr_draws,
				   fit[PATCHED].beta_draws, fit[PATCHED].nr_draws);
			put_peak(f, "         peak:", &fit[BASE]);
			put_peak(f, " ->", &fit[PATCHED]);
			fprintf(f, "\n");
		}
		scaling__free(&fit[BASE]);
		scaling__free(&fit[PATCHED]);
	}
}

int comparison__plot(const struct comparison *c, const char *path, char *why, size_t why_size)
{
	struct curve *curves = calloc(NR_SIDES * c->nr_points + 1, sizeof(*curves));
	struct plot_curve *plots = calloc(NR_SIDES * c->nr_points + 1, sizeof(*plots));
	char title[TITLE];
	int i, side, nr = 0, err = curves && plots ? 0 : -ENOMEM;

	snprintf(why, why_size, "out of memory");
	for (i = 0; !err && i < c->nr_points; i++) {
		for (side = BASE; !err && side < NR_SIDES && begins_curve(c, i); side++) {
			err = make_curve(c, i, side, &curves[nr]);
			if (err)
				break;
			plots[nr].title = curves[nr].title;
			plots[nr].nr = curves[nr].nr;
			plots[nr].points = curves[nr].plot;
			nr++;
		}
	}
	snprintf(title, sizeof(title), "%s and %s", c->name[BASE], c->name[PATCHED]);
	if (!err)
		err = plot__draw(path, title, plots, nr, why, why_size);
	for (i = 0; i < nr; i++)
		free_curve(&curves[i]);
	free(curves);
	free(plots);
	return err;
}
