// SPDX-License-Identifier: GPL-2.0
/*
 * What the numbers of two points say
 *
 * All is done on logarithms of rates, so that swapping the sides turns a ratio over and nothing
 * else. What decides is the variance of a whole run (a file): the repeats of one run share the
 * boot, the layout of memory and the minute in which they ran, and their spread knows nothing of
 * these (Kalibera and Jones, "Rigorous benchmarking in reasonable time", ISMM 2013: the error of
 * a mean follows from the highest level that was repeated). That variance is taken from
 *
 *	the files of both sides, pooled, where a side has several;
 *	the floor that "perf-kbench noise" has measured on this machine, pooled with these;
 *	an assumed one, said to be assumed, where there is neither.
 *
 * It is never taken to be less than what the repeats of a run alone make it. With few files the
 * quantiles are those of Student's t. A bootstrap over files, then repeats, then windows runs
 * beside it, and the wider interval is the one that is given: with two files a side the bootstrap
 * by itself covers far less than it says, since it can draw only two values.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "compare.h"

#define ALPHA		0.05
#define POWER		0.8
#define DRAWS		1000
#define SEED_1		20130620	/* any two numbers; the same files give the same answer */
#define SEED_2		362436069
#define MAX_MORE	100000

static const char * const names[] = {
	[VERDICT_FASTER]	= "faster",
	[VERDICT_SLOWER]	= "slower",
	[VERDICT_SAME]		= "same",
	[VERDICT_UNSURE]	= "cannot tell",
	[VERDICT_NONE]		= "too little data",
};

const char *verdict__name(enum verdict verdict)
{
	return names[verdict];
}

/* What a side says by itself. */
struct side_stat {
	int	nr_runs;
	double	log_rate;	/* of the mean of the runs */
	double	squares;	/* of the runs' deviations from it, in logarithms */
	double	inner;		/* mean variance of a run's mean, from its repeats, or NaN */
	double	inner_df;
	int	repeats;	/* mean number in a run */
};

static void run_mean(const struct verdict_run *run, double *mean, double *se, double *df)
{
	double *rates = calloc(run->nr + 1, sizeof(*rates));
	int i;

	*mean = NAN;
	*se = NAN;
	*df = 0;
	if (!rates)
		return;
	for (i = 0; i < run->nr; i++)
		rates[i] = run->repeats[i]->rate;
	*mean = bench_mean(rates, run->nr, se, df);
	free(rates);
}

static void side_stat(const struct verdict_side *side, struct side_stat *s)
{
	double mean, se, df, sum = 0, log_sum = 0, inner = 0;
	int i, known = 0, repeats = 0;

	*s = (struct side_stat){ .nr_runs = side->nr_runs, .inner = NAN };
	for (i = 0; i < side->nr_runs; i++) {
		run_mean(&side->runs[i], &mean, &se, &df);
		sum += mean;
		log_sum += log(mean);
		repeats += side->runs[i].nr;
		if (isfinite(se)) {
			inner += (se / mean) * (se / mean);
			s->inner_df += df;
			known++;
		}
	}
	s->log_rate = log(sum / side->nr_runs);
	s->repeats = repeats / max(side->nr_runs, 1);
	if (known)
		s->inner = inner / known;
	for (i = 0; i < side->nr_runs; i++) {
		run_mean(&side->runs[i], &mean, &se, &df);
		s->squares += pow(log(mean) - log_sum / side->nr_runs, 2);
	}
}

/* ---- the bootstrap ---- */

static int draw(int n)
{
	return min((int)(unif_rand() * n), n - 1);
}

/* The rate of one repeat, of windows drawn with replacement. */
static double draw_repeat(const struct results_repeat *rep)
{
	double ops = 0, ns = 0;
	int i, w;

	if (rep->nr_windows < 2)
		return rep->rate;
	for (i = 0; i < rep->nr_windows; i++) {
		w = draw(rep->nr_windows);
		if (rep->windows[w].dropped)
			continue;
		ops += rep->windows[w].ops;
		ns += rep->windows[w].end_ns - rep->windows[w].start_ns;
	}
	return ns > 0 && ops > 0 ? ops * 1e9 / ns : rep->rate;
}

static double draw_side(const struct verdict_side *side)
{
	double sum = 0, of_run;
	int i, r;

	for (i = 0; i < side->nr_runs; i++) {
		const struct verdict_run *run = &side->runs[draw(side->nr_runs)];

		for (of_run = 0, r = 0; r < run->nr; r++)
			of_run += draw_repeat(run->repeats[draw(run->nr)]);
		sum += of_run / run->nr;
	}
	return sum / side->nr_runs;
}

static int cmp_double(const void *va, const void *vb)
{
	const double *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

static int cmp_repeat(const void *va, const void *vb)
{
	const struct results_repeat * const *a = va, * const *b = vb;

	return ((*a)->rate > (*b)->rate) - ((*a)->rate < (*b)->rate);
}

static int cmp_run(const void *va, const void *vb)
{
	const struct verdict_run *a = va, *b = vb;
	int i, diff = a->nr - b->nr;

	for (i = 0; !diff && i < a->nr; i++)
		diff = cmp_repeat(&a->repeats[i], &b->repeats[i]);
	return diff;
}

/* A copy in an order that is the same in whatever order files and repeats are given. */
static int sort_side(const struct verdict_side *side, struct verdict_side *sorted)
{
	int i;

	sorted->nr_runs = 0;
	sorted->runs = calloc(side->nr_runs + 1, sizeof(*sorted->runs));
	if (!sorted->runs)
		return -ENOMEM;
	for (i = 0; i < side->nr_runs; i++) {
		struct verdict_run *run = &sorted->runs[i];

		run->nr = side->runs[i].nr;
		run->repeats = calloc(run->nr + 1, sizeof(*run->repeats));
		if (!run->repeats)
			return -ENOMEM;
		sorted->nr_runs++;
		memcpy(run->repeats, side->runs[i].repeats, run->nr * sizeof(*run->repeats));
		qsort(run->repeats, run->nr, sizeof(*run->repeats), cmp_repeat);
	}
	qsort(sorted->runs, sorted->nr_runs, sizeof(*sorted->runs), cmp_run);
	return 0;
}

static void free_sorted(struct verdict_side *sorted)
{
	int i;

	for (i = 0; i < sorted->nr_runs; i++)
		free(sorted->runs[i].repeats);
	free(sorted->runs);
}

/* Widen the intervals of @v to those of the bootstrap. */
static void bootstrap(const struct verdict_side side[NR_SIDES], struct point_verdict *v)
{
	double *ratios = calloc(DRAWS, sizeof(*ratios));
	struct verdict_side sorted[NR_SIDES] = { 0 };
	int i, err;

	err = sort_side(&side[BASE], &sorted[BASE]) ?: sort_side(&side[PATCHED], &sorted[PATCHED]);
	if (!ratios || err)
		goto out;
	set_seed(SEED_1, SEED_2);
	for (i = 0; i < DRAWS; i++)
		ratios[i] = draw_side(&sorted[PATCHED]) / draw_side(&sorted[BASE]);
	qsort(ratios, DRAWS, sizeof(*ratios), cmp_double);
	v->low = fmin(v->low, ratios[(int)(0.025 * DRAWS)]);
	v->high = fmax(v->high, ratios[(int)(0.975 * DRAWS) - 1]);
	v->low90 = fmin(v->low90, ratios[(int)(0.05 * DRAWS)]);
	v->high90 = fmax(v->high90, ratios[(int)(0.95 * DRAWS) - 1]);
out:
	free_sorted(&sorted[BASE]);
	free_sorted(&sorted[PATCHED]);
	free(ratios);
}

/* ---- the verdict ---- */

static void none(struct point_verdict *v, const char *why)
{
	v->verdict = VERDICT_NONE;
	snprintf(v->why, sizeof(v->why), "%s", why);
}

/* Interval, p and the smallest change that would have been found, from a log ratio. */
static void judge(struct point_verdict *v, double log_ratio, double se, double df)
{
	double t95 = qt(1 - ALPHA / 2, df, 1, 0), t90 = qt(1 - ALPHA, df, 1, 0);

	v->df = df;
	v->log_se = se;
	v->ratio = exp(log_ratio);
	v->low = exp(log_ratio - t95 * se);
	v->high = exp(log_ratio + t95 * se);
	v->low90 = exp(log_ratio - t90 * se);
	v->high90 = exp(log_ratio + t90 * se);
	v->t = se > 0 ? log_ratio / se : log_ratio ? copysign(INFINITY, log_ratio) : 0;
	v->p = 2 * pt(-fabs(v->t), df, 1, 0);
	v->p_holm = v->p;
	v->shown = expm1((t95 + qt(POWER, df, 1, 0)) * se);
}

/*
 * How many more runs, or repeats, make the interval as narrow as it takes to tell: no wider than
 * the difference that was found, or than what it lacks to the margin.
 * @outer: the part of the variance that only more runs make less
 */
static void more(struct point_verdict *v, const struct verdict_rules *rules, int runs,
		 int repeats, double outer)
{
	double d = fabs(log(v->ratio)), margin = log1p(rules->same), wanted, k, df;
	int i;

	v->target = fmax(d, margin - d);
	/* what t will be then depends on the answer */
	for (k = runs, df = v->df, i = 0; i < 8; i++) {
		wanted = v->target / qt(1 - ALPHA / 2, fmax(df, 1), 1, 0);
		k = runs * (v->log_se / wanted) * (v->log_se / wanted);
		if (v->noise == NOISE_PAIRED)
			df = fmax(v->df, ceil(k) - 1);
		else if (v->noise == NOISE_RUNS)
			df = fmax(v->df, 2 * (ceil(k) - 1));
	}
	v->more_runs = v->noise == NOISE_PAIRED || !repeats || outer > wanted * wanted / 2;
	if (!v->more_runs)
		k = repeats * (v->log_se * v->log_se - outer) / (wanted * wanted - outer);
	k = ceil(k) - (v->more_runs ? runs : repeats);
	v->more = isfinite(k) && k < MAX_MORE ? max_t(int, k, 1) : 0;
}

void verdict__compare(const struct verdict_side side[NR_SIDES], const struct verdict_rules *rules,
		      struct point_verdict *v)
{
	double inner, run_var, df, floor_var, outer = 0;
	struct side_stat s[NR_SIDES];
	int i, runs;

	*v = (struct point_verdict){ .ratio = NAN, .low = NAN, .high = NAN, .low90 = NAN,
				     .high90 = NAN, .t = NAN, .p = NAN, .p_holm = NAN,
				     .log_se = NAN, .shown = NAN };
	for (i = 0; i < NR_SIDES; i++) {
		v->rate[i] = NAN;
		v->ci95[i] = NAN;
		v->se[i] = NAN;
		if (!side[i].nr_runs) {
			none(v, i == BASE ? "base has no valid repeat" :
			     "patched has no valid repeat");
			return;
		}
		side_stat(&side[i], &s[i]);
		v->rate[i] = exp(s[i].log_rate);
	}
	v->ratio = v->rate[PATCHED] / v->rate[BASE];
	df = s[BASE].nr_runs + s[PATCHED].nr_runs - 2;
	runs = min(s[BASE].nr_runs, s[PATCHED].nr_runs);
	inner = (isfinite(s[BASE].inner) ? s[BASE].inner : s[PATCHED].inner) / 2 +
		(isfinite(s[PATCHED].inner) ? s[PATCHED].inner : s[BASE].inner) / 2;
	if (!isfinite(inner)) {
		if (df < 1) {
			none(v, "one repeat a side: needs at least 2, or 2 files a side");
			return;
		}
		inner = 0;
	}
	run_var = df > 0 ? (s[BASE].squares + s[PATCHED].squares) / df : 0;
	if (isfinite(rules->noise)) {
		floor_var = rules->noise * rules->noise + inner;
		run_var = (run_var * df + floor_var * rules->noise_df) / (df + rules->noise_df);
		df += rules->noise_df;
		v->noise = NOISE_FLOOR;
		outer = rules->noise * rules->noise;
	} else if (df > 0) {
		v->noise = NOISE_RUNS;
		outer = fmax(run_var - inner, 0);
	} else {
		run_var = rules->assumed * rules->assumed + inner;
		df = s[BASE].inner_df + s[PATCHED].inner_df;
		v->noise = NOISE_ASSUMED;
		outer = rules->assumed * rules->assumed;
	}
	run_var = fmax(run_var, inner);
	for (i = 0; i < NR_SIDES; i++) {
		v->se[i] = sqrt(run_var / s[i].nr_runs);
		v->ci95[i] = v->rate[i] * qt(1 - ALPHA / 2, df, 1, 0) * v->se[i];
	}
	judge(v, log(v->ratio), hypot(v->se[BASE], v->se[PATCHED]), df);
	more(v, rules, runs, min(s[BASE].repeats, s[PATCHED].repeats),
	     outer / s[BASE].nr_runs + outer / s[PATCHED].nr_runs);
	bootstrap(side, v);
}

void verdict__paired(const double *blocks, int nr, const struct verdict_rules *rules,
		     struct point_verdict *v)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < nr; i++)
		sum += blocks[i];
	for (i = 0; i < nr; i++)
		squares += pow(blocks[i] - sum / nr, 2);
	v->noise = NOISE_PAIRED;
	v->ratio = exp(sum / nr);
	if (nr < 2) {
		none(v, "one block: needs at least 2");
		return;
	}
	/* what neighbours have in common has gone from the ratios: they are independent */
	judge(v, sum / nr, sqrt(squares / (nr - 1) / nr), nr - 1);
	more(v, rules, nr, 0, 0);
}

static int cmp_p(const void *va, const void *vb)
{
	const struct point_verdict * const *a = va, * const *b = vb;

	return ((*a)->p > (*b)->p) - ((*a)->p < (*b)->p);
}

/* Those with a p, by ascending p; NULL if there is none. The caller frees. */
static struct point_verdict **by_p(struct point_verdict **v, int nr, int *used)
{
	struct point_verdict **sorted = calloc(nr + 1, sizeof(*sorted));
	int i;

	*used = 0;
	for (i = 0; sorted && i < nr; i++) {
		if (isfinite(v[i]->p))
			sorted[(*used)++] = v[i];
	}
	if (sorted)
		qsort(sorted, *used, sizeof(*sorted), cmp_p);
	return sorted;
}

/* Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 1979. */
void verdict__holm(struct point_verdict **v, int nr, const struct verdict_rules *rules)
{
	double margin = log1p(rules->same), p = 0;
	struct point_verdict **sorted;
	int i, used;

	sorted = by_p(v, nr, &used);
	for (i = 0; sorted && i < used; i++) {
		p = fmax(p, fmin(1, sorted[i]->p * (used - i)));
		sorted[i]->p_holm = p;
	}
	free(sorted);
	for (i = 0; i < nr; i++) {
		if (v[i]->verdict == VERDICT_NONE)
			continue;
		if (v[i]->p_holm < ALPHA && v[i]->low > 1)
			v[i]->verdict = VERDICT_FASTER;
		else if (v[i]->p_holm < ALPHA && v[i]->high < 1)
			v[i]->verdict = VERDICT_SLOWER;
		else if (log(v[i]->low90) > -margin && log(v[i]->high90) < margin)
			v[i]->verdict = VERDICT_SAME;
		else
			v[i]->verdict = VERDICT_UNSURE;
	}
}

int verdict__gate(struct point_verdict **v, int nr, double gate)
{
	double limit = log1p(-gate), p;
	int i, worse = 0, fine = 0, used = 0;

	for (i = 0; i < nr; i++)
		used += v[i]->verdict != VERDICT_NONE;
	for (i = 0; i < nr; i++) {
		if (v[i]->verdict == VERDICT_NONE)
			continue;
		/* one-sided; with many points, one is worse by chance (Bonferroni) */
		p = pt((log(v[i]->ratio) - limit) / v[i]->log_se, v[i]->df, 1, 0);
		worse += p * used < ALPHA && log(v[i]->high90) < limit;
		fine += 1 - p < ALPHA && log(v[i]->low90) > limit;
	}
	if (worse)
		return 1;
	return nr && fine == nr ? 0 : 125;
}
