// SPDX-License-Identifier: GPL-2.0
/*
 * worker-stat.c: the statistics of the harness, of numbers alone
 *
 * Nothing here knows of tasks, windows or results, or keeps anything from one call to the next.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "worker.h"

/*
 * The 0.975 quantiles of Student's t, to six digits, as any statistics text has them; between them
 * in proportion to 1 / df, which is at most 0.4 % too wide from df = 3 on; beyond 30 the expansion
 * of Fisher and Cornish from the normal quantile, good to 0.001.
 */
double bench_t95(double df)
{
	static const double t[] = {
		12.7062, 4.30265, 3.18245, 2.77645, 2.57058, 2.44691, 2.36462, 2.30600, 2.26216,
		2.22814, 2.20099, 2.17881, 2.16037, 2.14479, 2.13145, 2.11991, 2.10982, 2.10092,
		2.09302, 2.08596, 2.07961, 2.07387, 2.06866, 2.06390, 2.05954, 2.05553, 2.05183,
		2.04841, 2.04523, 2.04227,
	};
	const double z = 1.959964;
	int k = df;

	if (!(df >= 1))
		return NAN;
	if (df == k && k <= (int)ARRAY_SIZE(t))
		return t[k - 1];
	if (k < (int)ARRAY_SIZE(t))
		return t[k] + (t[k - 1] - t[k]) * (k / df * (k + 1) - k);
	return z + (pow(z, 3) + z) / (4 * df) +
	       (5 * pow(z, 5) + 16 * pow(z, 3) + 3 * z) / (96 * df * df);
}

/*
 * If values of variance v follow one another with a correlation of r (a first-order autoregressive
 * process), the variance of their mean is not v / n but (1 + r) / (1 - r) times that: they are
 * worth as many independent ones as n divided by it (Bayley and Hammersley 1946). r is estimated
 * from the values. The estimate is (1 + 3 r) / n too low in the mean (Kendall 1954, Marriott and
 * Pope 1954: Biometrika 41), which is put right; one below 0 is taken for 0. With ten values it is
 * a guess, so it counts up to MAX_R, and the degrees of freedom down to MIN_DF only: what is lost
 * in coverage is little, and intervals of ten times the spread do not come of it.
 */
#define MAX_R	0.8
#define MIN_DF	3

double bench_mean(const double *x, int n, double *se, double *df)
{
	double mean = 0, sum = 0, lagged = 0, last = 0, r, factor;
	int i, used = 0;

	for (i = 0; i < n; i++) {
		if (isfinite(x[i])) {
			mean += x[i];
			used++;
		}
	}
	*se = NAN;
	*df = used - 1;
	if (!used)
		return NAN;
	mean /= used;
	if (used < 2)
		return mean;
	for (i = 0; i < n; i++) {
		if (isfinite(x[i])) {
			sum += (x[i] - mean) * (x[i] - mean);
			lagged += (x[i] - mean) * last;
			last = x[i] - mean;
		}
	}
	r = sum > 0 ? lagged / sum : 0;
	r = clamp(r + (1 + 3 * r) / used, 0.0, MAX_R);
	factor = (1 + r) / (1 - r);
	*se = sqrt(sum / (used - 1) / used * factor);
	*df = min(used - 1.0, max(used / factor - 1, (double)MIN_DF));
	return mean;
}

double bench_mean_ci(const double *x, int n, double *ci95)
{
	double se, df, mean = bench_mean(x, n, &se, &df);

	*ci95 = bench_t95(df) * se;
	return mean;
}

bool bench_precise(const double *x, int n, int least, double percent)
{
	double ci95, mean = bench_mean_ci(x, n, &ci95);

	return n >= least && 100 * ci95 <= percent * mean;
}

static int cmp_double(const void *va, const void *vb)
{
	double a = *(const double *)va, b = *(const double *)vb;

	return (a > b) - (a < b);
}

static double median(double *x, int n)
{
	qsort(x, n, sizeof(*x), cmp_double);
	return n & 1 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2;
}

/*
 * Is there a trend in @n rates? Mann's test (1945, Econometrica 13) for a trend of any form,
 * two-sided at the level of the normal quantile @z, and the later half differs from the earlier by
 * more than @share of the mean.
 */
static bool has_trend(const double *rates, int n, double z, double share)
{
	double early = 0, late = 0, s = 0;
	int i, j;

	for (i = 0; i < n; i++) {
		for (j = i + 1; j < n; j++)
			s += (rates[j] > rates[i]) - (rates[j] < rates[i]);
		if (i < n / 2)
			early += rates[i];
		if (i >= n - n / 2)
			late += rates[i];
	}
	return fabs(late - early) > share * (late + early) / 2 &&
	       (fabs(s) - 1) / sqrt(n * (n - 1.0) * (2 * n + 5) / 18) > z;
}

bool bench_drifts(const double *rates, int n)
{
	double *finite = calloc(n + 1, sizeof(*finite));
	int i, used = 0;
	bool drifts;

	for (i = 0; finite && i < n; i++) {
		if (isfinite(rates[i]))
			finite[used++] = rates[i];
	}
	drifts = used >= 8 && has_trend(finite, used, 2.576, 0.03);
	free(finite);
	return drifts;
}

/*
 * The rule for the end of the warm-up. A leading window is dropped if its rate is further from
 * the median of all later windows than three of their standard deviations (estimated robustly, as
 * 1.4826 times the median absolute deviation) and than 2 % of that median; then the next one is
 * looked at. At most half of the windows go: a run in which even that does not help, or in which
 * the windows that are left, five or more, have a trend (at about 2 %, of at least 5 % of the
 * mean), has not settled. Below four windows nothing can be told.
 */
int bench_settle(const double *rates, int n, bool *settled)
{
	double *rest = malloc((n + 1) * sizeof(*rest)), med, mad;
	int i, k;

	*settled = true;
	if (!rest || n < 4) {
		free(rest);
		return 0;
	}
	for (k = 0; k <= n / 2; k++) {
		memcpy(rest, rates + k + 1, (n - k - 1) * sizeof(*rest));
		med = median(rest, n - k - 1);
		for (i = 0; i < n - k - 1; i++)
			rest[i] = fabs(rest[i] - med);
		mad = 1.4826 * median(rest, n - k - 1);
		if (fabs(rates[k] - med) <= max(3 * mad, 0.02 * med))
			break;
	}
	free(rest);
	*settled = k <= n / 2 && (n - k < 5 || !has_trend(rates + k, n - k, 2.2, 0.05));
	return min(k, n / 2);
}
