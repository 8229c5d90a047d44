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

START_TEST(quantiles)
{
	ck_assert(isnan(bench_t95(0)));
	ck_assert_double_eq_tol(bench_t95(1), 12.706, 0.0006);
	ck_assert_double_eq_tol(bench_t95(4), 2.776, 0.0006);
	ck_assert_double_eq_tol(bench_t95(9), 2.262, 0.0006);
	ck_assert_double_eq_tol(bench_t95(30), 2.042, 0.0006);
	ck_assert_double_eq_tol(bench_t95(31), 2.0395, 0.001);
	ck_assert_double_eq_tol(bench_t95(60), 2.0003, 0.001);
	ck_assert_double_eq_tol(bench_t95(1000), 1.9623, 0.001);
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

static double gauss(void)
{
	return sqrt(-2 * log(1 - drand48())) * cos(2 * M_PI * drand48());
}

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

Suite *stat_suite(void)
{
	Suite *s = suite_create("stat");
	TCase *t = tcase_create("stat");

	tcase_add_test(t, quantiles);
	tcase_add_test(t, settle_rule);
	tcase_add_test(t, settle_noise);
	suite_add_tcase(s, t);
	return s;
}
