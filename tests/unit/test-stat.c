// SPDX-License-Identifier: GPL-2.0
/*
 * test-stat.c: the harness's statistics
 *
 * Expected values were worked out by hand, or are those of a statistics text. What a rule does to
 * noise is simulated, with fixed seeds.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <linux/kernel.h>

#include "bench/worker.h"

static double gauss(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

/*
 * Rates as they come: normal noise; lognormal noise; one repeat in ten 20 % slower; each repeat like
 * the one before (first-order autoregressive). Returns the mean that they have in the long run.
 */
enum noise { NORMAL, LOGNORMAL, SLOW, AR3, AR6 };

static double make_noise(enum noise kind, double *x, int n)
{
	static const double rho[] = { [AR3] = 0.3, [AR6] = 0.6 };
	double z = gauss();
	int i;

	for (i = 0; i < n; i++) {
		switch (kind) {
		case NORMAL:
			x[i] = 100 * (1 + 0.02 * gauss());
			break;
		case LOGNORMAL:
			x[i] = 100 * exp(0.05 * gauss());
			break;
		case SLOW:
			x[i] = 100 * (1 + 0.05 * gauss()) * (drand48() < 0.1 ? 0.8 : 1);
			break;
		case AR3:
		case AR6:
		default:
			x[i] = 100 * (1 + 0.02 * z);
			z = rho[kind] * z + sqrt(1 - rho[kind] * rho[kind]) * gauss();
		}
	}
	return kind == LOGNORMAL ? 100 * exp(0.05 * 0.05 / 2) : kind == SLOW ? 98 : 100;
}

START_TEST(quantiles)
{
	ck_assert(isnan(bench_t95(0)) && isnan(bench_t95(NAN)));
	ck_assert_double_eq_tol(bench_t95(1), 12.706, 0.0006);
	ck_assert_double_eq_tol(bench_t95(4), 2.776, 0.0006);
	ck_assert_double_eq_tol(bench_t95(9), 2.262, 0.0006);
	ck_assert_double_eq_tol(bench_t95(30), 2.042, 0.0006);
	ck_assert_double_eq_tol(bench_t95(31), 2.0395, 0.001);
	ck_assert_double_eq_tol(bench_t95(60), 2.0003, 0.001);
	ck_assert_double_eq_tol(bench_t95(1000), 1.9623, 0.001);
	/* between whole numbers */
	ck_assert_double_eq_tol(bench_t95(3.5), 2.9401, 0.011);
	ck_assert_double_eq_tol(bench_t95(9.5), 2.2441, 0.001);
	ck_assert_double_eq_tol(bench_t95(29.5), 2.0437, 0.001);
	ck_assert_double_eq_tol(bench_t95(30.5), 2.0409, 0.001);
}
END_TEST

/*
 * Repeats until bench_precise() says that it is enough: does the interval still cover? Stopping when
 * it happens to be narrow must not make it too narrow.
 */
START_TEST(stopping_coverage)
{
	static const struct { enum noise kind; double percent, least; int n; } cases[] = {
		{ NORMAL, 2, 94, 31 }, { NORMAL, 1, 94, 40 }, { NORMAL, 0.5, 93, 90 },
		{ LOGNORMAL, 3, 94, 35 }, { LOGNORMAL, 2, 94, 45 }, { LOGNORMAL, 1, 93.5, 130 },
		{ SLOW, 3, 93, 45 }, { SLOW, 2, 92, 90 },
		{ AR3, 1, 92.5, 50 }, { AR3, 0.5, 92.5, 150 },
		{ AR6, 2, 91, 45 }, { AR6, 1, 89, 90 },
	};
	const int experiments = 2000, most = 500;
	double x[500], true_mean, mean, ci95, covered, repeats;
	int i, k, n, hits;

	srand48(4);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		for (hits = 0, repeats = 0, k = 0; k < experiments; k++) {
			true_mean = make_noise(cases[i].kind, x, most);
			for (n = BENCH_PRECISE_REPEATS; n < most; n++) {
				if (bench_precise(x, n, BENCH_PRECISE_REPEATS, cases[i].percent))
					break;
			}
			mean = bench_mean_ci(x, n, &ci95);
			hits += fabs(mean - true_mean) <= ci95;
			repeats += (double)n / experiments;
		}
		covered = 100.0 * hits / experiments;
		ck_assert_msg(covered > cases[i].least && covered < 97.5,
			      "noise %d to %g %%: covered in %.1f %%", cases[i].kind,
			      cases[i].percent, covered);
		ck_assert_msg(repeats < cases[i].n, "noise %d to %g %%: %.0f repeats",
			      cases[i].kind, cases[i].percent, repeats);
	}
}
END_TEST

/* The least number counts, and so does what is not finite: nothing is known of it. */
START_TEST(precise)
{
	static const double x[] = { 100, 102, 98, 101, 99, 100 };

	ck_assert(!bench_precise(x, 6, 7, 100));
	ck_assert(bench_precise(x, 6, 6, 100));
	ck_assert(bench_precise(x, 6, 2, 1.49) && !bench_precise(x, 6, 2, 1.48));
	ck_assert(!bench_precise(x, 1, 1, 100));
	ck_assert(!bench_precise((double []){ NAN, NAN }, 2, 2, 100));
}
END_TEST

static void settles(int n, const double *rates, int drop, bool settled)
{
	bool got;
	int dropped = bench_settle(rates, n, &got);

	ck_assert_int_eq(dropped, drop);
	ck_assert_int_eq(got, settled);
}

START_TEST(settle_rule)
{
	/* within 2 %, whatever the deviation of the rest */
	settles(6, (double []){ 99, 100, 100, 100, 100, 100 }, 0, true);
	/* one, two and three windows below, or above, the rest */
	settles(6, (double []){ 50, 100, 101, 99, 100, 100 }, 1, true);
	settles(6, (double []){ 200, 100, 101, 99, 100, 100 }, 1, true);
	settles(8, (double []){ 20, 50, 100, 101, 99, 100, 100, 101 }, 2, true);
	settles(8, (double []){ 20, 50, 80, 100, 101, 99, 100, 100 }, 3, true);
	/* noise of the same size all along is no warm-up */
	settles(6, (double []){ 90, 110, 95, 105, 92, 108 }, 0, true);
	/* a dip later on is none, either */
	settles(6, (double []){ 100, 100, 50, 100, 100, 100 }, 0, true);
	/* just half of them are another regime */
	settles(12, (double []){ 10, 10, 10, 10, 10, 10, 99, 98, 99, 98, 99, 98 }, 6, true);
	/* more than half of them differ from what comes after */
	settles(9, (double []){ 10, 20, 30, 40, 50, 100, 100, 100, 100 }, 0, false);
	/* grows, or falls, all along: too wide for an outlier, so it is the trend that tells */
	settles(6, (double []){ 10, 20, 40, 80, 160, 320 }, 0, false);
	settles(5, (double []){ 130, 122, 115, 107, 100 }, 0, false);
	/* by 4 % in all: not worth a word */
	settles(6, (double []){ 100, 101, 102, 103, 104, 104.5 }, 0, true);
	/* a step later on: nothing leads, but it goes down */
	settles(14, (double []){ 100, 101, 99, 100, 101, 99, 100, 101, 99, 80, 81, 79, 80, 81 },
		0, false);
	/* too few to tell */
	settles(3, (double []){ 1, 100, 100 }, 0, true);
	settles(1, (double []){ 1 }, 0, true);
}
END_TEST

START_TEST(drift_rule)
{
	double x[200];
	int i;

	/* 4 % from half to half, all along */
	ck_assert(bench_drifts((double []){ 100, 101, 102, 103, 104, 105, 106, 107 }, 8));
	ck_assert(bench_drifts((double []){ 107, 106, 105, 104, 103, 102, 101, 100 }, 8));
	/* too few; what is not finite is not there */
	ck_assert(!bench_drifts((double []){ 100, 101, 102, 103, 104, 105, 106 }, 7));
	ck_assert(!bench_drifts((double []){ 100, 101, NAN, 103, 104, 105, 106, 107 }, 8));
	ck_assert(bench_drifts((double []){ 100, 101, NAN, 102, 103, 104, 105, 106, 107 }, 9));
	/* too small */
	ck_assert(!bench_drifts((double []){ 100, 100.5, 101, 101.5, 102, 102.5, 103, 103.5 }, 8));
	/* up and down again is none */
	for (i = 0; i < 200; i++)
		x[i] = 100 + (i < 100 ? i : 200 - i);
	ck_assert(!bench_drifts(x, 200));
	/* a step of 5 % in the middle of noise of 1 % */
	for (i = 0; i < 200; i++)
		x[i] = 100 + (i >= 100) * 5 + (i * 7 % 11 - 5) / 5.0;
	ck_assert(bench_drifts(x, 200));
}
END_TEST

/* It is rarely said of noise, and nearly always of 8 % in twenty repeats of 2 %. */
START_TEST(drift_noise)
{
	static const struct { enum noise kind; int n; double most; } cases[] = {
		{ NORMAL, 8, 1 }, { NORMAL, 10, 1 }, { NORMAL, 50, 0.1 }, { LOGNORMAL, 10, 1.5 },
		{ LOGNORMAL, 50, 1 }, { AR3, 10, 3 }, { AR3, 50, 0.5 }, { AR6, 10, 9 },
		{ AR6, 50, 4 },
	};
	const int experiments = 4000;
	int i, k, n, said;
	double x[50];

	srand48(5);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		for (said = 0, k = 0; k < experiments; k++) {
			make_noise(cases[i].kind, x, cases[i].n);
			said += bench_drifts(x, cases[i].n);
		}
		ck_assert_msg(100.0 * said / experiments <= cases[i].most,
			      "noise %d, %d repeats: a drift in %d of %d", cases[i].kind,
			      cases[i].n, said, experiments);
	}
	for (said = 0, k = 0; k < experiments; k++) {
		make_noise(NORMAL, x, 20);
		for (n = 0; n < 20; n++)
			x[n] *= 1 + 0.08 * n / 19;
		said += bench_drifts(x, 20);
	}
	ck_assert_int_ge(said, experiments * 8 / 10);
}
END_TEST

/* On pure noise: few windows go, no bias comes of it, and hardly a repeat is called unsettled. */
START_TEST(settle_noise)
{
	static const struct { int n; double sd, dropped, unsettled; } cases[] = {
		{ 5, 0.02, 0.25, 0.01 }, { 5, 0.1, 0.30, 0.03 }, { 10, 0.02, 0.12, 0.01 },
		{ 10, 0.1, 0.12, 0.03 }, { 50, 0.02, 0.03, 0.01 }, { 50, 0.005, 0.01, 0.01 },
	};
	int i, k, w, dropped, unsettled, repeats = 5000;
	double rates[50], mean, sum;
	bool settled;

	srand48(1);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		for (sum = 0, dropped = 0, unsettled = 0, k = 0; k < repeats; k++) {
			for (w = 0; w < cases[i].n; w++)
				rates[w] = 100 * (1 + cases[i].sd * gauss());
			w = bench_settle(rates, cases[i].n, &settled);
			dropped += w;
			unsettled += !settled;
			for (mean = 0; w < cases[i].n; w++)
				mean += rates[w];
			w = bench_settle(rates, cases[i].n, &settled);
			sum += mean / (cases[i].n - w);
		}
		ck_assert_double_le(dropped / (double)repeats, cases[i].dropped);
		ck_assert_double_le(unsettled / (double)repeats, cases[i].unsettled);
		/* five standard errors of the mean of all */
		ck_assert_double_eq_tol(sum / repeats, 100,
					5 * 100 * 1.2 * cases[i].sd / sqrt(cases[i].n * repeats));
	}
}
END_TEST

/* Worked out by hand. */
START_TEST(mean_values)
{
	double se, df, ci95;

	ck_assert(isnan(bench_mean(NULL, 0, &se, &df)) && isnan(se));
	ck_assert_double_eq_tol(bench_mean((double []){ NAN, 5, INFINITY }, 3, &se, &df), 5, 1e-12);
	ck_assert(isnan(se));
	ck_assert(isnan(bench_mean((double []){ NAN }, 1, &se, &df)));

	/* neighbours differ: r = -0.7, no more than the plain error; s^2 = 10 */
	ck_assert_double_eq_tol(bench_mean((double []){ 2, 6, NAN, -2, 4, 0 }, 6, &se, &df), 2,
				1e-12);
	ck_assert_double_eq_tol(se, sqrt(10 / 5.0), 1e-12);
	ck_assert_double_eq_tol(df, 4, 1e-12);
	bench_mean_ci((double []){ 2, 6, NAN, -2, 4, 0 }, 6, &ci95);
	ck_assert_double_eq_tol(ci95, 2.77645 * sqrt(2), 1e-9);

	/* r = 4 / 10, and (1 + 3 r) / 5 is added: 0.84, which is cut to 0.8; s^2 = 2.5 */
	ck_assert_double_eq_tol(bench_mean((double []){ 1, 2, 3, 4, 5 }, 5, &se, &df), 3, 1e-12);
	ck_assert_double_eq_tol(se, sqrt(2.5 / 5 * 9), 1e-12);
	ck_assert_double_eq_tol(df, 3, 1e-12);

	/* r = 1 / 8, and 11 / 64 is added: 19 / 64, so 83 / 45 times the variance; s^2 = 8 / 7 */
	bench_mean((double []){ 1, 1, -1, -1, 1, 1, -1, -1 }, 8, &se, &df);
	ck_assert_double_eq_tol(se, sqrt(1 / 7.0 * 83 / 45), 1e-12);
	ck_assert_double_eq_tol(df, 8 * 45 / 83.0 - 1, 1e-12);
	/* no spread at all */
	ck_assert_double_eq_tol(bench_mean((double []){ 7, 7, 7 }, 3, &se, &df), 7, 1e-12);
	ck_assert_double_eq_tol(se, 0, 1e-12);
}
END_TEST

/*
 * How often the interval covers the true mean: 95 %, or near to it, from as many repeats on as the
 * table in Documentation/measuring.txt says. The bounds are of 4000 experiments, a standard error
 * of which is 0.35 %.
 */
START_TEST(mean_coverage)
{
	static const struct { enum noise kind; int n; double least; } cases[] = {
		{ NORMAL, 10, 94 }, { NORMAL, 20, 94 }, { NORMAL, 50, 94 }, { NORMAL, 200, 94 },
		{ LOGNORMAL, 10, 94 }, { LOGNORMAL, 50, 94 }, { LOGNORMAL, 200, 94 },
		{ SLOW, 10, 93 }, { SLOW, 20, 93 }, { SLOW, 50, 94 }, { SLOW, 200, 94 },
		{ AR3, 10, 91 }, { AR3, 20, 92.5 }, { AR3, 50, 93 }, { AR3, 200, 93.5 },
		{ AR6, 10, 86 }, { AR6, 20, 90 }, { AR6, 50, 92 }, { AR6, 200, 93 },
	};
	const int experiments = 4000;
	double x[200], true_mean, mean, ci95, covered;
	int i, k, hits;

	srand48(3);
	for (i = 0; i < (int)ARRAY_SIZE(cases); i++) {
		for (hits = 0, k = 0; k < experiments; k++) {
			true_mean = make_noise(cases[i].kind, x, cases[i].n);
			mean = bench_mean_ci(x, cases[i].n, &ci95);
			hits += fabs(mean - true_mean) <= ci95;
		}
		covered = 100.0 * hits / experiments;
		ck_assert_msg(covered > cases[i].least && covered < 97.5,
			      "noise %d, %d repeats: covered in %.1f %%", cases[i].kind,
			      cases[i].n, covered);
	}
}
END_TEST

Suite *stat_suite(void)
{
	Suite *s = suite_create("stat");
	TCase *t = tcase_create("stat");

	tcase_add_test(t, quantiles);
	tcase_add_test(t, mean_values);
	tcase_add_test(t, precise);
	tcase_add_test(t, settle_rule);
	tcase_add_test(t, drift_rule);
	suite_add_tcase(s, t);

	t = tcase_create("simulations");
	tcase_set_timeout(t, 120);
	tcase_add_test(t, settle_noise);
	tcase_add_test(t, drift_noise);
	tcase_add_test(t, mean_coverage);
	tcase_add_test(t, stopping_coverage);
	suite_add_tcase(s, t);
	return s;
}
