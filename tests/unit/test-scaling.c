// SPDX-License-Identifier: GPL-2.0
/*
 * test-scaling.c: the Universal Scalability Law is found again in curves that follow it
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <linux/kernel.h>

#define MATHLIB_STANDALONE
#include <Rmath.h>

#include "util/scaling.h"

#define NR_CURVES	300

Suite *scaling_suite(void);

static const int counts[] = { 1, 2, 4, 8, 12, 16, 24, 32 };
#define NR_COUNTS	((int)ARRAY_SIZE(counts))

static struct scaling fit;
static char why[256];

static void free_fit(void)
{
	scaling__free(&fit);
}

/* The law, written down once more. */
static double law(double lambda, double alpha, double beta, double n)
{
	return lambda * n / (1 + alpha * (n - 1) + beta * n * (n - 1));
}

static void make_curve(struct scaling_point *p, double lambda, double alpha, double beta)
{
	int i;

	for (i = 0; i < NR_COUNTS; i++) {
		p[i].tasks = counts[i];
		p[i].rate = law(lambda, alpha, beta, counts[i]);
		p[i].se = 0.01 * p[i].rate;
	}
}

static void assert_near(double x, double expected, double relative)
{
	ck_assert_msg(fabs(x - expected) <= relative * fabs(expected), "%.12g is not %.12g", x,
		      expected);
}

static void assert_inside(const struct scaling_value *v)
{
	ck_assert(v->low <= v->value && v->value <= v->high);
}

static const struct {
	double lambda, alpha, beta, peak;
} laws[] = {
	{ 1e5,	  0,	 0,	 INFINITY },	/* linear */
	{ 1e5,	  0.02,	 0,	 INFINITY },	/* Amdahl */
	{ 1e5,	  0,	 0.01,	 10 },
	{ 120345, 0.021, 0.0007, 37.3974789 },	/* sqrt(0.979 / 0.0007) */
	{ 0.03,	  0.5,	 0.1,	 2.23606798 },	/* slower from three tasks on; under an op a second */
	{ 1e12,	  0.9,	 0.9,	 1 },		/* nothing beats one task */
};

START_TEST(test_exact)
{
	struct scaling_point p[NR_COUNTS];
	double se[] = { 0.01, 0, NAN };		/* no matter */
	int i, k;

	make_curve(p, laws[_i].lambda, laws[_i].alpha, laws[_i].beta);
	for (k = 0; k < (int)ARRAY_SIZE(se); k++) {
		for (i = 0; i < NR_COUNTS; i++)
			p[i].se = se[k] * p[i].rate;
		ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
		assert_near(fit.lambda.value, laws[_i].lambda, 1e-9);
		assert_near(fit.alpha.value, laws[_i].alpha, 1e-8);
		assert_near(fit.beta.value, laws[_i].beta, 1e-8);
		if (isinf(laws[_i].peak))
			ck_assert(isinf(fit.peak.value) && isinf(fit.peak.high));
		else
			assert_near(fit.peak.value, laws[_i].peak, 1e-8);
		ck_assert(fit.rms < 1e-9);
		ck_assert_int_eq(fit.nr_points, NR_COUNTS);
		ck_assert_int_eq(fit.last, 32);
		assert_inside(&fit.lambda);
		assert_inside(&fit.alpha);
		assert_inside(&fit.beta);
		assert_inside(&fit.peak);
		for (i = 1; i < 40; i++)
			assert_near(scaling__at(&fit, i), law(laws[_i].lambda, laws[_i].alpha,
							      laws[_i].beta, i), 1e-8);
		scaling__free(&fit);
	}
}
END_TEST

/*
 * The expected values are those of exact normal equations in rational numbers (Python's fractions)
 * over all four sets of terms, computed apart from the program.
 */
static const struct {
	int			nr;
	struct scaling_point	points[8];
	double			lambda, alpha, beta, rms;
} known[] = {
	{ 8, { { 1, 98000, 1500 }, { 2, 185000, 2500 }, { 4, 331000, 4100 }, { 8, 512000, 9000 },
	       { 12, 604000, 6500 }, { 16, 617000, 14000 }, { 24, 586000, 8000 },
	       { 32, 509000, 9900 } },
	  97087.2776539, 0.0403936450953, 0.00377107092805, 0.0100813985421 },
	{ 8, { { 1, 98000, NAN }, { 2, 185000, 2500 }, { 4, 331000, 4100 }, { 8, 512000, 9000 },
	       { 12, 604000, 6500 }, { 16, 617000, 14000 }, { 24, 586000, 8000 },
	       { 32, 509000, 9900 } },
	  97197.6776739, 0.0409162846768, 0.00379209386367, 0.00957211617964 },
	/* beta would be negative */
	{ 4, { { 1, 100000, 1000 }, { 2, 150000, 1500 }, { 3, 181000, 1800 }, { 4, 203000, 2000 } },
	  99741.4064294, 0.324412172887, 0, 0.00341645175006 },
	/* alpha would be */
	{ 5, { { 1, 100000, 1000 }, { 2, 201000, 1500 }, { 3, 296000, 1800 }, { 4, 380000, 2000 },
	       { 6, 510000, 3000 } },
	  101942.162749, 0, 0.00649644623457, 0.00927771177888 },
};

START_TEST(test_known)
{
	ck_assert_int_eq(scaling__fit(known[_i].points, known[_i].nr, 32, 1, &fit, why,
				      sizeof(why)), 0);
	assert_near(fit.lambda.value, known[_i].lambda, 1e-9);
	assert_near(fit.alpha.value, known[_i].alpha, 1e-8);
	assert_near(fit.beta.value, known[_i].beta, 1e-8);
	assert_near(fit.rms, known[_i].rms, 1e-8);
}
END_TEST

/* The errors of the first of them, by the inverse of the same equations and the delta method. */
START_TEST(test_interval)
{
	ck_assert_int_eq(scaling__fit(known[0].points, 8, 32, 1, &fit, why, sizeof(why)), 0);
	assert_near(fit.lambda.high - fit.lambda.low, 2 * 1.96 * 1019.062, 0.1);
	assert_near(fit.alpha.high - fit.alpha.low, 2 * 1.96 * 0.003887698, 0.1);
	assert_near(fit.beta.high - fit.beta.low, 2 * 1.96 * 0.0001551658, 0.1);
}
END_TEST

/* Points that are used up to the CPUs, in any order, several of a count. */
START_TEST(test_used)
{
	struct scaling_point p[NR_COUNTS + 1], swap;
	struct scaling first;
	int i;

	make_curve(p, 1e5, 0.05, 0.002);
	p[7].rate = 1;				/* 32 tasks; 24 CPUs */
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 24, 1, &fit, why, sizeof(why)), 0);
	assert_near(fit.alpha.value, 0.05, 1e-8);
	ck_assert_int_eq(fit.nr_points, 7);
	ck_assert_int_eq(fit.last, 24);
	scaling__free(&fit);

	for (i = 0; i < 3; i++) {
		swap = p[i];
		p[i] = p[6 - i];
		p[6 - i] = swap;
	}
	p[8] = p[0];
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS + 1, 24, 1, &first, why, sizeof(why)), 0);
	assert_near(first.alpha.value, 0.05, 1e-8);
	assert_near(first.beta.value, 0.002, 1e-8);
	ck_assert_int_eq(first.nr_points, 8);
	scaling__free(&first);
}
END_TEST

/* A point of less weight pulls less. */
START_TEST(test_weights)
{
	struct scaling_point p[NR_COUNTS];
	double alpha;

	make_curve(p, 1e5, 0.05, 0.002);
	p[3].rate *= 1.2;
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	alpha = fit.alpha.value;
	scaling__free(&fit);
	p[3].se = p[3].rate;
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	assert_near(fit.alpha.value, 0.05, 0.01);
	ck_assert(fabs(alpha - 0.05) > 0.01);
}
END_TEST

static const struct {
	int	nr;
	bool	known;
	double	alpha, beta;
} truths[] = {
	{ 8, true,  0.02, 0.001 },
	{ 8, false, 0.02, 0.001 },
	{ 4, true,  0.05, 0.02 },
	{ 4, false, 0.05, 0.02 },
	{ 8, true,  0.3,  0 },
};

static bool covers(const struct scaling_value *v, double truth)
{
	return v->low <= truth && truth <= v->high;
}

/* 90 to 99 % of 300, or more where the truth lies at the edge of what is allowed. */
static void assert_covered(int nr, bool edge)
{
	ck_assert_int_ge(nr, NR_CURVES * 90 / 100);
	ck_assert_int_le(nr, edge ? NR_CURVES : NR_CURVES * 99 / 100);
}

START_TEST(test_coverage)
{
	static double noise[NR_CURVES][NR_COUNTS];
	double alpha = truths[_i].alpha, beta = truths[_i].beta;
	double peak = beta > 0 ? sqrt((1 - alpha) / beta) : INFINITY;
	int lambdas = 0, alphas = 0, betas = 0, peaks = 0, c, i;
	struct scaling_point p[NR_COUNTS];

	set_seed(1, 2);
	for (c = 0; c < NR_CURVES; c++) {
		for (i = 0; i < NR_COUNTS; i++)
			noise[c][i] = rnorm(1, 0.02);
	}
	for (c = 0; c < NR_CURVES; c++) {
		make_curve(p, 1e5, alpha, beta);
		for (i = 0; i < NR_COUNTS; i++) {
			p[i].se = truths[_i].known ? 0.02 * p[i].rate : NAN;
			p[i].rate *= noise[c][i];
		}
		ck_assert_int_eq(scaling__fit(p, truths[_i].nr, 32, c, &fit, why, sizeof(why)), 0);
		lambdas += covers(&fit.lambda, 1e5);
		alphas += covers(&fit.alpha, alpha);
		betas += covers(&fit.beta, beta);
		peaks += covers(&fit.peak, peak);
		scaling__free(&fit);
	}
	assert_covered(lambdas, false);
	assert_covered(alphas, false);
	assert_covered(betas, beta <= 0);
	assert_covered(peaks, beta <= 0);
}
END_TEST

/* Noise on a linear curve: 0 and "no peak" are among what it may be. */
START_TEST(test_linear_noise)
{
	struct scaling_point p[NR_COUNTS];
	int i;

	make_curve(p, 1e5, 0, 0);
	for (i = 0; i < NR_COUNTS; i++)
		p[i].rate *= i % 2 ? 1.01 : 0.99;
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	ck_assert(fit.alpha.low <= 0 && fit.beta.low <= 0);
	ck_assert(isinf(fit.peak.high) && fit.peak.high > 0);
	ck_assert(fit.peak.low > 32 && isfinite(fit.peak.low));
}
END_TEST

/* Better than linear is nothing that the law can say. */
START_TEST(test_superlinear)
{
	struct scaling_point p[NR_COUNTS];
	int i;

	make_curve(p, 1e5, 0, 0);
	for (i = 0; i < NR_COUNTS; i++)
		p[i].rate *= pow(counts[i], 0.2);
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	ck_assert(fit.alpha.value <= 0 && fit.beta.value <= 0);
	ck_assert(fit.rms > 0.1);
}
END_TEST

/* Points far from the curve make wide intervals, whatever their own errors are said to be. */
START_TEST(test_misfit)
{
	struct scaling_point p[NR_COUNTS];
	double width;
	int i;

	make_curve(p, 1e5, 0.05, 0.002);
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	width = fit.alpha.high - fit.alpha.low;
	scaling__free(&fit);
	for (i = 0; i < NR_COUNTS; i++)
		p[i].rate *= i % 2 ? 1.05 : 0.95;
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &fit, why, sizeof(why)), 0);
	ck_assert(fit.alpha.high - fit.alpha.low > 3 * width);
}
END_TEST

/* Counts that are nearly the same, in one step, or huge. */
START_TEST(test_conditioning)
{
	static const int close[] = { 1000, 1001, 1002, 1003, 1004 };
	static const int huge[] = { 1, 64, 4096, 65536 };
	struct scaling_point p[5];
	int i;

	for (i = 0; i < 5; i++)
		p[i] = (struct scaling_point){ close[i], law(100, 0.01, 1e-5, close[i]), NAN };
	ck_assert_int_eq(scaling__fit(p, 5, 2000, 1, &fit, why, sizeof(why)), 0);
	for (i = 0; i < 5; i++)
		assert_near(scaling__at(&fit, close[i]), p[i].rate, 1e-6);
	scaling__free(&fit);
	for (i = 0; i < 4; i++)
		p[i] = (struct scaling_point){ huge[i], law(100, 0.01, 1e-6, huge[i]), NAN };
	ck_assert_int_eq(scaling__fit(p, 4, 65536, 1, &fit, why, sizeof(why)), 0);
	assert_near(fit.alpha.value, 0.01, 1e-6);
	assert_near(fit.beta.value, 1e-6, 1e-6);
}
END_TEST

/* Wildly wrong points end in numbers, or in an error. */
START_TEST(test_wild)
{
	struct scaling_point p[] = {
		{ 1, 1e-300, 1e300 }, { 2, 1e300, 1e-300 }, { 3, 1, 0 }, { 4, 5, 100 },
	};
	int i;

	ck_assert_int_eq(scaling__fit(p, 4, 4, 1, &fit, why, sizeof(why)), -EINVAL);
	ck_assert_str_eq(why, "the rates are too far apart for any curve");

	for (i = 0; i < 4; i++)
		p[i] = (struct scaling_point){ 1 << i, i % 2 ? 1e9 : 1e-3, i ? 1e30 : 1e-9 };
	ck_assert_int_eq(scaling__fit(p, 4, 8, 1, &fit, why, sizeof(why)), 0);
	ck_assert(fit.lambda.value > 0 && fit.alpha.value >= 0 && fit.beta.value >= 0);
	ck_assert(fit.lambda.low > 0 && isfinite(fit.lambda.high));
	ck_assert(fit.alpha.low >= 0 && isfinite(fit.alpha.high) && isfinite(fit.beta.high));
}
END_TEST

static const struct {
	int		err, nr, cpus;
	struct scaling_point points[5];
	const char	*why;
} bad[] = {
	{ -ENODATA, 0, 8, { { 0, 0, 0 } },
	  "needs 4 task counts up to the number of CPUs (8), has 0" },
	{ -ENODATA, 1, 8, { { 1, 1, 0 } },
	  "needs 4 task counts up to the number of CPUs (8), has 1" },
	{ -ENODATA, 3, 8, { { 1, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 } },
	  "needs 4 task counts up to the number of CPUs (8), has 3" },
	{ -ENODATA, 5, 8, { { 1, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 }, { 3, 3, 0 }, { 2, 2, 0 } },
	  "needs 4 task counts up to the number of CPUs (8), has 3" },
	{ -ENODATA, 4, 2, { { 1, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 }, { 4, NAN, 0 } },
	  "needs 4 task counts up to the number of CPUs (2), has 2" },
	{ -EINVAL, 4, 8, { { 1, 1, 0 }, { 2, NAN, 0 }, { 3, 3, 0 }, { 4, 4, 0 } },
	  "2 tasks at nan ops/s are no point of a curve" },
	{ -EINVAL, 4, 8, { { 1, 1, 0 }, { 2, 0, 0 }, { 3, 3, 0 }, { 4, 4, 0 } },
	  "2 tasks at 0 ops/s are no point of a curve" },
	{ -EINVAL, 4, 8, { { 1, 1, 0 }, { 2, -5, 0 }, { 3, 3, 0 }, { 4, 4, 0 } },
	  "2 tasks at -5 ops/s are no point of a curve" },
	{ -EINVAL, 4, 8, { { 1, 1, 0 }, { 2, INFINITY, 0 }, { 3, 3, 0 }, { 4, 4, 0 } },
	  "2 tasks at inf ops/s are no point of a curve" },
	{ -EINVAL, 4, 8, { { 0, 1, 0 }, { 2, 2, 0 }, { 3, 3, 0 }, { 4, 4, 0 } },
	  "0 tasks at 1 ops/s are no point of a curve" },
};

START_TEST(test_bad)
{
	memset(&fit, 0xff, sizeof(fit));
	ck_assert_int_eq(scaling__fit(bad[_i].points, bad[_i].nr, bad[_i].cpus, 1, &fit, why,
				      sizeof(why)), bad[_i].err);
	ck_assert_str_eq(why, bad[_i].why);
	ck_assert_ptr_null(fit.alpha_draws);
}
END_TEST

START_TEST(test_seed)
{
	struct scaling a, b, c;

	ck_assert_int_eq(scaling__fit(known[0].points, 8, 32, 7, &a, why, sizeof(why)), 0);
	ck_assert_int_eq(scaling__fit(known[0].points, 8, 32, 8, &c, why, sizeof(why)), 0);
	ck_assert_int_eq(scaling__fit(known[0].points, 8, 32, 7, &b, why, sizeof(why)), 0);
	ck_assert_int_eq(a.nr_draws, b.nr_draws);
	ck_assert_mem_eq(a.alpha_draws, b.alpha_draws, a.nr_draws * sizeof(double));
	ck_assert_mem_eq(a.beta_draws, b.beta_draws, a.nr_draws * sizeof(double));
	ck_assert_mem_eq(&a.peak, &b.peak, sizeof(a.peak));
	ck_assert_mem_ne(a.alpha_draws, c.alpha_draws, a.nr_draws * sizeof(double));
	assert_near(c.alpha.low, a.alpha.low, 0.05);
	scaling__free(&a);
	scaling__free(&b);
	scaling__free(&c);
	scaling__free(&c);
}
END_TEST

/* Twice the same curve does not differ, whatever the seeds are; more than its noise does. */
START_TEST(test_differs)
{
	struct scaling a, b, c;
	struct scaling_point p[NR_COUNTS];
	struct scaling_value diff;

	make_curve(p, 1e5, 0.05, 0.002);
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &a, why, sizeof(why)), 0);
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &b, why, sizeof(why)), 0);
	make_curve(p, 1e5, 0.03, 0.002);
	ck_assert_int_eq(scaling__fit(p, NR_COUNTS, 32, 1, &c, why, sizeof(why)), 0);

	ck_assert(!scaling__differs(a.alpha_draws, a.nr_draws, b.alpha_draws, b.nr_draws, &diff));
	ck_assert(fabs(diff.value) < 0.001);
	/* independent: wider than either by the root of two */
	assert_near(diff.high - diff.low, M_SQRT2 * (a.alpha.high - a.alpha.low), 0.1);

	ck_assert(scaling__differs(a.alpha_draws, a.nr_draws, c.alpha_draws, c.nr_draws, &diff));
	assert_near(diff.value, -0.02, 0.1);
	ck_assert(diff.low < -0.02 && diff.high > -0.02 && diff.high < 0);
	ck_assert(!scaling__differs(a.beta_draws, a.nr_draws, c.beta_draws, 10, &diff));
	scaling__free(&a);
	scaling__free(&b);
	scaling__free(&c);
}
END_TEST

Suite *scaling_suite(void)
{
	Suite *suite = suite_create("scaling");
	TCase *tcase = tcase_create("fit");

	tcase_add_checked_fixture(tcase, NULL, free_fit);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_exact, 0, ARRAY_SIZE(laws));
	tcase_add_loop_test(tcase, test_known, 0, ARRAY_SIZE(known));
	tcase_add_test(tcase, test_interval);
	tcase_add_test(tcase, test_used);
	tcase_add_test(tcase, test_weights);
	tcase_add_loop_test(tcase, test_coverage, 0, ARRAY_SIZE(truths));
	tcase_add_test(tcase, test_linear_noise);
	tcase_add_test(tcase, test_superlinear);
	tcase_add_test(tcase, test_misfit);
	tcase_add_test(tcase, test_conditioning);
	tcase_add_test(tcase, test_wild);
	tcase_add_loop_test(tcase, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, test_seed);
	tcase_add_test(tcase, test_differs);
	suite_add_tcase(suite, tcase);
	return suite;
}
