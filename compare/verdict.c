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
 *	where instructions are counted, a floor of ours, pooled with these and never below it;
 *	an assumed one, said to be assumed, where there is neither; none for imported files, since
 *	nothing is known of the machine that they are from.
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
#include "compare/compare.h"

#define ALPHA		0.05
#define POWER		0.8
#define DRAWS		1000
#define SEED_1		20130620	/* any two numbers; the same files give the same answer */
#define SEED_2		362436069
#define MAX_MORE	10000		/* more than that is no advice */
#define MAX_DF		1e6

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

/* What a side says by itself; variances are of the logarithm. */
struct side_stat {
	int	nr_runs;
	double	log_rate;	/* of the mean of the runs */
	double	squares;	/* of the runs' deviations from it */
	double	repeat_var;	/* of one repeat, from neighbours within runs; NaN: not known */
	double	inner;		/* of the mean of a run, from that */
	double	inner_df;
	double	inverse;	/* mean of 1 / repeats */
	int	repeats;	/* mean number in a run */
};

double verdict_run__mean(const struct verdict_run *run, double *se, double *df)
{
	double *rates = calloc(run->nr + 1, sizeof(*rates)), mean;
	int i;

	*se = NAN;
	*df = 0;
	if (!rates)
		return NAN;
	for (i = 0; i < run->nr; i++)
		rates[i] = run->repeats[i]->rate;
	mean = bench_mean(rates, run->nr, se, df);
	free(rates);
	return mean;
}

static void side_stat(const struct verdict_side *side, struct side_stat *s)
{
	double mean, se, df, sum = 0, log_mean = 0, diff, var = 0;
	int i, known = 0, repeats = 0;

	*s = (struct side_stat){ .nr_runs = side->nr_runs, .repeat_var = NAN };
	for (i = 0; i < side->nr_runs; i++) {
		mean = verdict_run__mean(&side->runs[i], &se, &df);
		sum += mean;
		diff = log(mean) - log_mean;
		log_mean += diff / (i + 1);
		s->squares += diff * (log(mean) - log_mean);
		repeats += side->runs[i].nr;
		s->inverse += 1.0 / side->runs[i].nr / side->nr_runs;
		if (isfinite(se)) {
			var += (se / mean) * (se / mean) * side->runs[i].nr;
			s->inner_df += df;
			known++;
		}
	}
	s->log_rate = log(sum / side->nr_runs);
	s->repeats = repeats / max(side->nr_runs, 1);
	if (known)
		s->repeat_var = var / known;
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
	double *ratios = calloc(DRAWS, sizeof(*ratios)), drawn[NR_SIDES];
	struct verdict_side sorted[NR_SIDES] = { 0 };
	int i, err, first;

	err = sort_side(&side[BASE], &sorted[BASE]) ?: sort_side(&side[PATCHED], &sorted[PATCHED]);
	if (!ratios || err)
		goto out;
	set_seed(SEED_1, SEED_2);
	/* the slower side first, so that swapped sides give the inverse */
	first = v->rate[BASE] <= v->rate[PATCHED] ? BASE : PATCHED;
	for (i = 0; i < DRAWS; i++) {
		drawn[first] = draw_side(&sorted[first]);
		drawn[!first] = draw_side(&sorted[!first]);
		ratios[i] = drawn[PATCHED] / drawn[BASE];
	}
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

/* Nothing is known but what the sides are by themselves. */
static void forget(struct point_verdict *v)
{
	v->verdict = VERDICT_UNSURE;
	v->ratio = NAN;
	v->low = NAN;
	v->high = NAN;
	v->low90 = NAN;
	v->high90 = NAN;
	v->t = NAN;
	v->df = NAN;
	v->p = NAN;
	v->p_holm = NAN;
	v->log_se = NAN;
	v->shown = NAN;
	v->more = 0;
}

/* Interval, p and the smallest change that would have been found, from a log ratio. */
static void judge(struct point_verdict *v, double log_ratio, double se, double df)
{
	double t95 = qt(1 - ALPHA / 2, df, 1, 0), t90 = qt(1 - ALPHA, df, 1, 0);

	v->ratio = exp(log_ratio);
	if (!(se > 0)) {
		none(v, "all values are the same to the last digit");
		return;
	}
	v->df = df;
	v->log_se = se;
	v->low = exp(log_ratio - t95 * se);
	v->high = exp(log_ratio + t95 * se);
	v->low90 = exp(log_ratio - t90 * se);
	v->high90 = exp(log_ratio + t90 * se);
	v->t = log_ratio / se;
	v->p = 2 * pt(-fabs(v->t), df, 1, 0);
	v->p_holm = v->p;
	v->shown = expm1((t95 + qt(POWER, df, 1, 0)) * se);
}

/*
 * How many more runs, or repeats, make the interval as narrow as it takes to tell, at the level
 * that Holm has left for this point: no wider than the difference that was found, or than what it
 * lacks to the margin.
 */
static void more(struct point_verdict *v, const struct verdict_rules *rules)
{
	double alpha = ALPHA * (v->p > 0 ? v->p / v->p_holm : 1), d = fabs(log(v->ratio));
	double se = (log(v->high) - log(v->low)) / 2 / qt(1 - ALPHA / 2, v->df, 1, 0);
	double outer = v->outer * se * se, wanted = 0, df = v->df, k = v->runs;
	int i;

	v->target = fmax(d, log1p(rules->same) - d);
	/* what t will be then depends on the answer */
	for (i = 0; i < 8; i++) {
		wanted = v->target / qt(1 - alpha / 2, fmax(df, 1), 1, 0);
		k = v->runs * (se / wanted) * (se / wanted);
		if (v->noise == NOISE_PAIRED)
			df = fmax(v->df, ceil(k) - 1);
		else if (v->noise == NOISE_RUNS)
			df = fmax(v->df, 2 * (ceil(k) - 1));
	}
	v->more_runs = v->noise == NOISE_PAIRED || !v->repeats || outer > wanted * wanted / 2;
	if (!v->more_runs)
		k = v->repeats * (se * se - outer) / (wanted * wanted - outer);
	k = ceil(k) - (v->more_runs ? v->runs : v->repeats);
	v->more = k >= 1 && k <= MAX_MORE ? k : 0;
}

/* The variance of a run's mean where a side has several, else NaN. */
static double files_var(const struct side_stat *s)
{
	return s->nr_runs > 1 ? fmax(s->squares / (s->nr_runs - 1), s->inner) : NAN;
}

/*
 * The variance of the ratio, and its degrees of freedom, from components that were each estimated
 * (Satterthwaite 1946, Biometrics Bulletin 2): @var with @df; a @df of 0 is one that is exact.
 */
static double satterthwaite(const double *var, const double *df, int nr, double *total_df)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < nr; i++) {
		sum += var[i];
		if (df[i] > 0)
			squares += var[i] * var[i] / df[i];
	}
	*total_df = squares > 0 ? fmin(sum * sum / squares, MAX_DF) : MAX_DF;
	return sum;
}

/* From the files alone, at least two on a side. Sets each side's variance of a run's mean. */
static double from_files(const struct side_stat s[NR_SIDES], double run_var[NR_SIDES], double *df)
{
	double n[NR_SIDES] = { s[BASE].nr_runs, s[PATCHED].nr_runs }, var[NR_SIDES], dfs[NR_SIDES];
	double pooled = (s[BASE].squares + s[PATCHED].squares) / (n[BASE] + n[PATCHED] - 2);
	int i;

	for (i = 0; i < NR_SIDES; i++) {
		/* of one size, pooling is robust; else each side has its own (Welch 1947) */
		run_var[i] = n[BASE] == n[PATCHED] || n[BASE] == 1 || n[PATCHED] == 1 ?
			     fmax(pooled, s[i].inner) : files_var(&s[i]);
		var[i] = run_var[i] / n[i];
		dfs[i] = n[i] - 1;
	}
	*df = n[BASE] + n[PATCHED] - 2;
	if (n[BASE] == n[PATCHED] || n[BASE] == 1 || n[PATCHED] == 1)
		return var[BASE] + var[PATCHED];
	return satterthwaite(var, dfs, NR_SIDES, df);
}

/* From one noise of runs for both sides, and what their repeats leave open. */
static double from_noise(const struct side_stat s[NR_SIDES], double noise, double noise_df,
			 double run_var[NR_SIDES], double *df)
{
	double n[NR_SIDES] = { s[BASE].nr_runs, s[PATCHED].nr_runs };
	double var[] = {
		noise * noise * (1 / n[BASE] + 1 / n[PATCHED]),
		s[BASE].inner / n[BASE], s[PATCHED].inner / n[PATCHED],
	};
	double dfs[] = { noise_df, s[BASE].inner_df, s[PATCHED].inner_df };
	int i;

	for (i = 0; i < NR_SIDES; i++)
		run_var[i] = noise * noise + s[i].inner;
	return satterthwaite(var, dfs, ARRAY_SIZE(var), df);
}

/* The variance of the log ratio. */
static double ratio_var(const struct verdict_side side[NR_SIDES],
			const struct side_stat s[NR_SIDES], const struct verdict_rules *rules,
			struct point_verdict *v, double run_var[NR_SIDES], double *df)
{
	double files = 0, files_df = 0, floor_var, floor_df, floor_run_var[NR_SIDES], share = 0;
	bool several = s[BASE].nr_runs > 1 || s[PATCHED].nr_runs > 1;
	int i;

	if (several) {
		v->noise = NOISE_RUNS;
		files = from_files(s, run_var, &files_df);
		*df = files_df;
	}
	/* what differs from boot to boot is in files of several, and never in a floor */
	if (!isfinite(rules->noise) ||
	    (!v->counted && (side[BASE].several_boots || side[PATCHED].several_boots))) {
		if (several)
			return files;
		v->noise = NOISE_ASSUMED;
		return from_noise(s, rules->assumed, 0, run_var, df);
	}
	floor_var = from_noise(s, rules->noise, rules->noise_df, floor_run_var, &floor_df);
	if (several && files > floor_var * qf(1 - ALPHA, files_df, floor_df, 1, 0))
		return files;		/* the floor was measured in better times */
	v->noise = v->counted ? NOISE_COUNTED : NOISE_FLOOR;
	if (several && !(v->counted && files < floor_var))
		share = files_df / (files_df + floor_df);
	for (i = 0; i < NR_SIDES; i++)
		run_var[i] = share * run_var[i] + (1 - share) * floor_run_var[i];
	*df = files_df + floor_df;
	return share * files + (1 - share) * floor_var;
}

/* Do all files of both sides count instructions? */
static bool is_counted(const struct verdict_side side[NR_SIDES])
{
	bool counted = true;
	char *clock;
	int s, i;

	for (s = BASE; s < NR_SIDES; s++) {
		for (i = 0; i < side[s].nr_runs && counted; i++) {
			clock = side[s].runs[i].file ?
				results__env(side[s].runs[i].file, "clock_source") : NULL;
			counted = clock && !strcmp(clock, "icount");
			free(clock);
		}
	}
	return counted;
}

void verdict__compare(const struct verdict_side side[NR_SIDES], const struct verdict_rules *rules,
		      struct point_verdict *v)
{
	double run_var[NR_SIDES] = { 0 }, var, inner, df;
	struct verdict_rules own = *rules;
	struct side_stat s[NR_SIDES];
	int i;

	memset(v, 0, sizeof(*v));
	forget(v);
	for (i = 0; i < NR_SIDES; i++) {
		v->rate[i] = NAN;
		v->ci95[i] = NAN;
		v->se[i] = NAN;
	}
	for (i = 0; i < NR_SIDES; i++) {
		if (!side[i].nr_runs) {
			none(v, i == BASE ? "base has no valid repeat" :
			     "patched has no valid repeat");
			return;
		}
		side_stat(&side[i], &s[i]);
		v->rate[i] = exp(s[i].log_rate);
	}
	v->counted = is_counted(side);
	if (v->counted) {
		own.noise = VERDICT_COUNT_NOISE;
		own.noise_df = VERDICT_COUNT_DF;
	}
	v->ratio = v->rate[PATCHED] / v->rate[BASE];
	v->runs = min(s[BASE].nr_runs, s[PATCHED].nr_runs);
	v->repeats = min(s[BASE].repeats, s[PATCHED].repeats);
	for (i = 0; i < NR_SIDES; i++) {
		/* a repeat of the other side is the best that is known of one of this */
		if (!isfinite(s[i].repeat_var)) {
			s[i].inner_df = s[!i].inner_df;
			s[i].inner = s[!i].repeat_var * s[i].inverse;
		} else {
			s[i].inner = s[i].repeat_var * s[i].inverse;
		}
	}
	if (!isfinite(rules->assumed) && !isfinite(rules->noise) && s[BASE].nr_runs == 1 &&
	    s[PATCHED].nr_runs == 1) {
		none(v, "imported, one file a side: needs at least 2 files a side");
		return;
	}
	if (!isfinite(s[BASE].inner)) {
		if (v->runs == 1 && s[BASE].nr_runs == s[PATCHED].nr_runs) {
			none(v, "one repeat a side: needs at least 2, or 2 files a side");
			return;
		}
		s[BASE].inner = 0;
		s[PATCHED].inner = 0;
	}
	var = ratio_var(side, s, &own, v, run_var, &df);
	for (i = 0; i < NR_SIDES; i++) {
		v->se[i] = sqrt(run_var[i] / s[i].nr_runs);
		v->ci95[i] = v->rate[i] * qt(1 - ALPHA / 2, df, 1, 0) * v->se[i];
	}
	inner = s[BASE].inner / s[BASE].nr_runs + s[PATCHED].inner / s[PATCHED].nr_runs;
	v->outer = var > 0 ? fmax(1 - inner / var, 0) : 0;
	judge(v, log(v->ratio), sqrt(var), df);
	if (v->verdict != VERDICT_NONE)
		bootstrap(side, v);
}

void verdict__paired(const double *blocks, int nr, struct point_verdict *v)
{
	double sum = 0, squares = 0;
	int i;

	forget(v);
	v->noise = NOISE_PAIRED;
	v->runs = nr;
	v->repeats = 0;
	v->outer = 1;
	for (i = 0; i < nr; i++)
		sum += blocks[i];
	for (i = 0; i < nr; i++)
		squares += pow(blocks[i] - sum / nr, 2);
	if (nr)
		v->ratio = exp(sum / nr);
	/* what neighbours have in common has gone from the ratios: they are independent */
	if (nr < 2)
		none(v, nr ? "one block: needs at least 2" : "no whole block: needs at least 2");
	else
		judge(v, sum / nr, sqrt(squares / (nr - 1) / nr), nr - 1);
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
		if (v[i]->verdict == VERDICT_UNSURE)
			more(v[i], rules);
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
