// SPDX-License-Identifier: GPL-2.0
/*
 * scaling.c: fit the Universal Scalability Law to a curve
 *
 * With Y = N / X(N), the time that an op takes a task, the law is linear in three numbers:
 *
 *	Y = 1/lambda + (alpha/lambda) (N - 1) + (beta/lambda) N (N - 1)
 *
 * They are found by least squares of the relative errors, (Y - fit) / Y = 1 - X / X(fit), weighted
 * by the points' relative standard errors. Neither alpha nor beta may be negative: each of the four
 * sets of those that are not 0 is tried, and of those without a negative number the best is taken,
 * which is the minimum since the problem is convex.
 *
 * The intervals are percentiles of a parametric bootstrap (Efron and Tibshirani, An Introduction to
 * the Bootstrap, 1993): rates are drawn around the fitted curve, log-normal so that none is below
 * 0, and fitted again.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "scaling.h"

#define NR_TERMS	3
#define NR_DRAWS	1000
#define TAIL		0.025		/* beyond each end of an interval */
#define MIN_RSE		0.001		/* no rate is trusted to better than 0.1 %, */
#define MIN_RSE_MEDIAN	0.5		/* nor than half of the median of all */
#define MAX_RSE		10.0		/* more is as good as no knowledge */
#define SINGULAR	(1 / 1e9)	/* of a column's length, if it depends on those before it */
#define SAME		(1 / 1e9)	/* relative error of a rate that is one of arithmetic */
#define NR_SHIFTS	10
#define SHIFT		97

/* The points that are used, and room to work in. */
struct problem {
	int	nr;
	double	*tasks, *rate;
	double	*rse;			/* relative standard errors, as weights need them */
	double	*fitted, *drawn;	/* rates */
	double	*q[NR_TERMS + 1];	/* columns: the terms, and the ones that they are to make */
};

/* lambda, alpha and beta, with the weighted sum of squares that is left and how many were free. */
struct law {
	double	lambda, alpha, beta;
	double	rss;
	int	nr_free;
};

static double law_at(double lambda, double alpha, double beta, double n)
{
	return lambda * n / (1 + alpha * (n - 1) + beta * n * (n - 1));
}

static double law_peak(double alpha, double beta)
{
	if (alpha >= 1)
		return 1;
	return beta > 0 ? fmax(1, sqrt((1 - alpha) / beta)) : INFINITY;
}

static double term(int k, double n)
{
	return k == 0 ? 1 : k == 1 ? n - 1 : n * (n - 1);
}

static double dot(const double *a, const double *b, int nr)
{
	double sum = 0;
	int i;

	for (i = 0; i < nr; i++)
		sum += a[i] * b[i];
	return sum;
}

/*
 * Least squares by modified Gram-Schmidt, with the terms whose bits are in @set. False if they
 * depend on each other, or if a number would be negative.
 */
static bool solve(const struct problem *p, const double *rate, unsigned int set, struct law *law)
{
	double r[NR_TERMS + 1][NR_TERMS + 1], x[NR_TERMS] = { 0 }, scale, length;
	int of[NR_TERMS + 1], nr_terms = 0, i, j, k;

	for (k = 0; k < NR_TERMS; k++) {
		if (set & 1u << k)
			of[nr_terms++] = k;
	}
	for (i = 0; i < p->nr; i++) {
		/* a row, over Y and its relative error */
		scale = rate[i] / p->tasks[i] / p->rse[i];
		for (j = 0; j < nr_terms; j++)
			p->q[j][i] = scale * term(of[j], p->tasks[i]);
		p->q[nr_terms][i] = 1 / p->rse[i];
	}
	for (j = 0; j < nr_terms; j++) {
		length = 0;
		for (k = 0; k < j; k++)
			length += r[k][j] * r[k][j];
		r[j][j] = sqrt(dot(p->q[j], p->q[j], p->nr));
		if (!(r[j][j] > SINGULAR * sqrt(length)))
			return false;
		for (i = 0; i < p->nr; i++)
			p->q[j][i] /= r[j][j];
		for (k = j + 1; k <= nr_terms; k++) {
			r[j][k] = dot(p->q[j], p->q[k], p->nr);
			for (i = 0; i < p->nr; i++)
				p->q[k][i] -= r[j][k] * p->q[j][i];
		}
	}
	for (j = nr_terms - 1; j >= 0; j--) {
		double sum = r[j][nr_terms];

		for (k = j + 1; k < nr_terms; k++)
			sum -= r[j][k] * x[of[k]];
		x[of[j]] = sum / r[j][j];
		if (!(x[of[j]] >= 0))
			return false;
	}
	if (!(x[0] > 0))
		return false;
	law->lambda = 1 / x[0];
	law->alpha = x[1] / x[0];
	law->beta = x[2] / x[0];
	law->rss = dot(p->q[nr_terms], p->q[nr_terms], p->nr);
	law->nr_free = nr_terms;
	return true;
}

/*
 * The first term alone always has an answer, so there is one. What is 0 is to be 0, and no rounding
 * error with a peak behind the moon: a term is taken only where it makes a difference.
 */
static struct law fit_law(const struct problem *p, const double *rate)
{
	struct law best = { .rss = INFINITY }, law;
	double same = 0;
	unsigned int set;
	int i;

	for (i = 0; i < p->nr; i++)
		same += SAME / p->rse[i] * (SAME / p->rse[i]);
	for (set = 1; set < 1u << NR_TERMS; set += 2) {
		if (solve(p, rate, set, &law) && law.rss < best.rss - same)
			best = law;
	}
	return best;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* The interval of sorted draws. Ranks as they are: there is nothing between two infinities. */
static void interval(const double *sorted, int nr, struct scaling_value *v)
{
	int out = nr * TAIL;

	v->low = sorted[out];
	v->high = sorted[nr - 1 - out];
}

/* Sorts @draws. An estimate at the edge of what is allowed may lie outside of most draws. */
static void set_value(struct scaling_value *v, double value, double *draws, int nr)
{
	qsort(draws, nr, sizeof(*draws), compare);
	interval(draws, nr, v);
	v->value = value;
	v->low = fmin(v->low, value);
	v->high = fmax(v->high, value);
}

/* Turn what is known of the errors into weights. Return: is it known at all? */
static bool weigh(const struct problem *p)
{
	double low, *sorted = p->drawn;		/* not needed yet */
	int i;

	for (i = 0; i < p->nr; i++) {
		if (!isfinite(p->rse[i]) || p->rse[i] < 0)
			break;
	}
	if (i < p->nr) {
		for (i = 0; i < p->nr; i++)
			p->rse[i] = 1;
		return false;
	}
	memcpy(sorted, p->rse, p->nr * sizeof(*sorted));
	qsort(sorted, p->nr, sizeof(*sorted), compare);
	low = fmax(MIN_RSE, MIN_RSE_MEDIAN * sorted[p->nr / 2]);
	for (i = 0; i < p->nr; i++)
		p->rse[i] = fmin(fmax(p->rse[i], low), MAX_RSE);
	return true;
}

/* Its generator is a plain one, and neighbouring seeds would begin alike. */
static void seed_draws(unsigned int seed)
{
	u32 x = seed, word[2];
	int i;

	for (i = 0; i < 2; i++) {
		x += 0x9e3779b9;
		word[i] = (x ^ x >> 16) * 0x7feb352d;
		word[i] = (word[i] ^ word[i] >> 15) * 0x846ca68b;
		word[i] ^= word[i] >> 16;
	}
	set_seed(word[0] | 1, word[1] | 1);
}

/*
 * By how much errors are to be larger than the weights say. Where the errors were known, and the
 * points lie further from the curve than they allow, the law is not the whole truth, and what it
 * yields is less sure. Where they were not known, the scatter itself is an estimate, of a few
 * points maybe: it is drawn, too, so that the intervals are as wide as Student's.
 */
static double error_scale(const struct law *law, int nr, bool known)
{
	int df = nr - law->nr_free;
	double scatter = sqrt(law->rss / df);

	return known ? fmax(1, scatter) : scatter * sqrt(df / rchisq(df));
}

static int bootstrap(const struct problem *p, const struct law *law, bool known,
		     struct scaling *fit)
{
	double (*work)[NR_DRAWS] = calloc(3, sizeof(*work));
	double *lambdas, *peaks, *sorted;
	int i, d;

	fit->alpha_draws = calloc(NR_DRAWS, sizeof(*fit->alpha_draws));
	fit->beta_draws = calloc(NR_DRAWS, sizeof(*fit->beta_draws));
	if (!work || !fit->alpha_draws || !fit->beta_draws) {
		free(work);
		return -ENOMEM;
	}
	lambdas = work[0];
	peaks = work[1];
	sorted = work[2];
	for (d = 0; d < NR_DRAWS; d++) {
		double scale = error_scale(law, p->nr, known);
		struct law drawn;

		for (i = 0; i < p->nr; i++) {
			double sigma = fmin(scale * p->rse[i], MAX_RSE);

			p->drawn[i] = p->fitted[i] * exp(rnorm(0, sigma));
		}
		drawn = fit_law(p, p->drawn);
		lambdas[d] = drawn.lambda;
		peaks[d] = law_peak(drawn.alpha, drawn.beta);
		fit->alpha_draws[d] = drawn.alpha;
		fit->beta_draws[d] = drawn.beta;
	}
	fit->nr_draws = NR_DRAWS;
	set_value(&fit->lambda, law->lambda, lambdas, NR_DRAWS);
	set_value(&fit->peak, law_peak(law->alpha, law->beta), peaks, NR_DRAWS);
	memcpy(sorted, fit->alpha_draws, NR_DRAWS * sizeof(*sorted));
	set_value(&fit->alpha, law->alpha, sorted, NR_DRAWS);
	memcpy(sorted, fit->beta_draws, NR_DRAWS * sizeof(*sorted));
	set_value(&fit->beta, law->beta, sorted, NR_DRAWS);
	free(work);
	return 0;
}

static int count_distinct(const double *values, int nr)
{
	int i, j, distinct = 0;

	for (i = 0; i < nr; i++) {
		for (j = 0; j < i && values[j] != values[i]; j++)
			;
		distinct += j == i;
	}
	return distinct;
}

/* Pick the points. */
static int take_points(struct problem *p, const struct scaling_point *points, int nr, int cpus,
		       char *why, size_t why_size)
{
	int i, distinct;

	for (i = 0; i < nr; i++) {
		if (points[i].tasks > cpus)
			continue;
		if (points[i].tasks < 1 || !isfinite(points[i].rate) || points[i].rate <= 0) {
			snprintf(why, why_size, "%d tasks at %g ops/s are no point of a curve",
				 points[i].tasks, points[i].rate);
			return -EINVAL;
		}
		p->tasks[p->nr] = points[i].tasks;
		p->rate[p->nr] = points[i].rate;
		p->rse[p->nr++] = points[i].se / points[i].rate;
	}
	distinct = count_distinct(p->tasks, p->nr);
	if (distinct >= SCALING_MIN_POINTS)
		return 0;
	snprintf(why, why_size,
		 "needs %d task counts up to the number of CPUs (%d), has %d", SCALING_MIN_POINTS,
		 cpus, distinct);
	return -ENODATA;
}

int scaling__fit(const struct scaling_point *points, int nr, int cpus, unsigned int seed,
		 struct scaling *fit, char *why, size_t why_size)
{
	struct problem p = { 0 };
	double sum = 0, *room;
	struct law law;
	int i, err;
	bool known;

	memset(fit, 0, sizeof(*fit));
	room = calloc(max(nr, 1), (5 + ARRAY_SIZE(p.q)) * sizeof(*room));
	if (!room) {
		snprintf(why, why_size, "out of memory");
		return -ENOMEM;
	}
	p.tasks = room;
	p.rate = p.tasks + nr;
	p.rse = p.rate + nr;
	p.fitted = p.rse + nr;
	p.drawn = p.fitted + nr;
	for (i = 0; i < (int)ARRAY_SIZE(p.q); i++)
		p.q[i] = p.drawn + (i + 1) * (size_t)nr;

	err = take_points(&p, points, nr, cpus, why, why_size);
	if (err) {
		free(room);
		return err;
	}
	known = weigh(&p);
	law = fit_law(&p, p.rate);
	if (isinf(law.rss)) {
		snprintf(why, why_size, "the rates are too far apart for any curve");
		free(room);
		return -EINVAL;
	}
	for (i = 0; i < p.nr; i++) {
		double off;

		p.fitted[i] = law_at(law.lambda, law.alpha, law.beta, p.tasks[i]);
		off = p.rate[i] / p.fitted[i] - 1;
		sum += off * off;
		fit->last = fmax(fit->last, p.tasks[i]);
	}
	fit->rms = sqrt(sum / p.nr);
	fit->nr_points = p.nr;
	seed_draws(seed);
	err = bootstrap(&p, &law, known, fit);
	if (err)
		snprintf(why, why_size, "out of memory");
	free(room);
	return err;
}

double scaling__at(const struct scaling *fit, int tasks)
{
	return law_at(fit->lambda.value, fit->alpha.value, fit->beta.value, tasks);
}

/*
 * Each draw of the one is set against several of the other, never against that of the same number:
 * with the same seed, both come from the same random numbers.
 */
bool scaling__differs(const double *base, int nr_base, const double *patched, int nr_patched,
		      struct scaling_value *diff)
{
	int i, k, nr = nr_base * NR_SHIFTS;
	double *draws = calloc(nr, sizeof(*draws));

	*diff = (struct scaling_value){ NAN, NAN, NAN };
	if (!draws)
		return false;
	for (k = 0; k < NR_SHIFTS; k++) {
		for (i = 0; i < nr_base; i++)
			draws[k * nr_base + i] =
				patched[(i + (k + 1) * SHIFT) % nr_patched] - base[i];
	}
	qsort(draws, nr, sizeof(*draws), compare);
	interval(draws, nr, diff);
	diff->value = draws[nr / 2];
	free(draws);
	return diff->low > 0 || diff->high < 0;
}

void scaling__free(struct scaling *fit)
{
	free(fit->alpha_draws);
	free(fit->beta_draws);
	fit->alpha_draws = NULL;
	fit->beta_draws = NULL;
	fit->nr_draws = 0;
}
