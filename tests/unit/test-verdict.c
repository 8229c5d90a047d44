// SPDX-License-Identifier: GPL-2.0
/*
 * test-verdict.c: the statistics of compare, against numbers that were known before, and against
 * simulated runs of which the truth is known
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "compare/compare.h"

#define MAX_RUNS	4
#define MAX_REPEATS	10

Suite *verdict_suite(void);

/* What stands behind a side. */
struct side_data {
	struct verdict_run		runs[MAX_RUNS];
	const struct results_repeat	*pointers[MAX_RUNS][MAX_REPEATS];
	struct results_repeat		repeats[MAX_RUNS][MAX_REPEATS];
};

static const struct verdict_rules no_floor = { .same = 0.03, .noise = NAN, .assumed = 0.03 };

static void begin_side(struct verdict_side *side, struct side_data *data)
{
	memset(data, 0, sizeof(*data));
	side->nr_runs = 0;
	side->runs = data->runs;
}

static void add_run(struct verdict_side *side, struct side_data *data, const double *rates, int nr)
{
	int run = side->nr_runs++, i;

	data->runs[run].nr = nr;
	data->runs[run].repeats = data->pointers[run];
	for (i = 0; i < nr; i++) {
		data->repeats[run][i].rate = rates[i];
		data->pointers[run][i] = &data->repeats[run][i];
	}
}

/* The textbook's t test of two groups of three. */
START_TEST(students_t)
{
	const double d = 1e-4, m = 2.776445 * d * sqrt(2.0 / 3);	/* t of 5 % at 4 df */
	struct verdict_side side[NR_SIDES];
	struct side_data data[NR_SIDES];
	struct point_verdict v, *all = &v;
	int s, i;

	for (s = BASE; s < NR_SIDES; s++) {
		begin_side(&side[s], &data[s]);
		for (i = -1; i <= 1; i++) {
			double rate = 1e5 * exp(i * d + (s == PATCHED ? m : 0));

			add_run(&side[s], &data[s], &rate, 1);
		}
	}
	verdict__compare(side, &no_floor, &v);
	verdict__holm(&all, 1, &no_floor);
	ck_assert_int_eq(v.noise, NOISE_RUNS);
	ck_assert_double_eq(v.df, 4);
	ck_assert_double_eq_tol(v.t, 2.776445, 1e-4);
	ck_assert_double_eq_tol(v.p, 0.05, 1e-5);
	ck_assert_double_eq_tol(log(v.ratio), m, 1e-9);
	/* the t interval ends at 1, and the bootstrap can only widen it */
	ck_assert_double_le(v.low, 1 + 1e-8);
	ck_assert_double_eq_tol(log(v.high), 2 * m, 1e-6);
	/* power of 80 %: t(0.975) + t(0.8) = 2.776445 + 0.940965 standard errors */
	ck_assert_double_eq_tol(v.shown, expm1(3.717410 * d * sqrt(2.0 / 3)), 1e-8);
	ck_assert_int_eq(v.verdict, VERDICT_SAME);
}
END_TEST

START_TEST(holm)
{
	struct point_verdict v[4] = {
		{ .p = 0.01, .low = 1.1, .high = 1.2, .low90 = 1.1, .high90 = 1.2 },
		{ .p = 0.04, .low = 1.1, .high = 1.2, .low90 = 1.1, .high90 = 1.2 },
		{ .p = 0.02, .low = 0.8, .high = 0.9, .low90 = 0.8, .high90 = 0.9 },
		{ .p = NAN, .verdict = VERDICT_NONE },
	};
	struct point_verdict *all[] = { &v[0], &v[1], &v[2], &v[3] };

	verdict__holm(all, 4, &no_floor);
	ck_assert_double_eq_tol(v[0].p_holm, 0.03, 1e-12);	/* 3 * 0.01 */
	ck_assert_double_eq_tol(v[2].p_holm, 0.04, 1e-12);	/* 2 * 0.02 */
	ck_assert_double_eq_tol(v[1].p_holm, 0.04, 1e-12);	/* 1 * 0.04, not below the last */
	ck_assert_int_eq(v[0].verdict, VERDICT_FASTER);
	ck_assert_int_eq(v[1].verdict, VERDICT_FASTER);
	ck_assert_int_eq(v[2].verdict, VERDICT_SLOWER);
	ck_assert_int_eq(v[3].verdict, VERDICT_NONE);

	/* three of 0.02 are none that is below 5 % */
	v[0].p = 0.02;
	v[1].p = 0.02;
	verdict__holm(all, 4, &no_floor);
	ck_assert_double_eq_tol(v[1].p_holm, 0.06, 1e-12);
	ck_assert_int_eq(v[0].verdict, VERDICT_UNSURE);
	ck_assert_int_eq(v[2].verdict, VERDICT_UNSURE);
}
END_TEST

/* Of imported files nothing may be assumed: one a side has a ratio, and no more. */
START_TEST(nothing_is_assumed)
{
	static const struct verdict_rules rules = { .same = 0.03, .noise = NAN, .assumed = NAN };
	static const double base[] = { 100, 101, 99 }, patched[] = { 200, 202, 198 };
	struct verdict_side side[NR_SIDES];
	struct side_data data[NR_SIDES];
	struct point_verdict v, *all = &v;

	begin_side(&side[BASE], &data[BASE]);
	begin_side(&side[PATCHED], &data[PATCHED]);
	add_run(&side[BASE], &data[BASE], base, 3);
	add_run(&side[PATCHED], &data[PATCHED], patched, 3);
	verdict__compare(side, &rules, &v);
	verdict__holm(&all, 1, &rules);
	ck_assert_int_eq(v.verdict, VERDICT_NONE);
	ck_assert_str_eq(v.why, "imported, one file a side: needs at least 2 files a side");
	ck_assert_double_eq_tol(v.ratio, 2, 1e-12);
	ck_assert(isnan(v.p) && isnan(v.low) && isnan(v.ci95[BASE]));
	ck_assert_int_eq(verdict__gate(&all, 1, 0.03), 125);

	/* of ours, 3 % */
	verdict__compare(side, &no_floor, &v);
	ck_assert_int_eq(v.noise, NOISE_ASSUMED);
	ck_assert(v.p > 0 && v.p < 0.05);

	/* with two on a side, what they differ by is known */
	add_run(&side[BASE], &data[BASE], base, 3);
	verdict__compare(side, &rules, &v);
	ck_assert_int_eq(v.noise, NOISE_RUNS);
	ck_assert(isfinite(v.p));
}
END_TEST

START_TEST(gates)
{
	/* 0.97 with a standard error of 1 % on the logarithm */
	struct point_verdict v = {
		.ratio = 0.97, .low90 = 0.954, .high90 = 0.986, .log_se = 0.01, .df = 100,
	}, none = { .verdict = VERDICT_NONE };
	struct point_verdict *all[] = { &v, &none };

	ck_assert_int_eq(verdict__gate(all, 1, 0.01), 1);
	ck_assert_int_eq(verdict__gate(all, 1, 0.03), 125);
	ck_assert_int_eq(verdict__gate(all, 1, 0.06), 0);
	/* of a point that nothing is known of, it is not known that it is none */
	ck_assert_int_eq(verdict__gate(all, 2, 0.06), 125);
	ck_assert_int_eq(verdict__gate(all, 2, 0.01), 1);
	ck_assert_int_eq(verdict__gate(all, 0, 0.06), 125);
}
END_TEST

/* ---- simulated runs ---- */

static double normal(void)
{
	double u = drand48(), w = drand48();

	return sqrt(-2 * log(1 - u)) * cos(2 * M_PI * w);
}

/* A side of runs whose means scatter by @between, and their repeats by @within. */
static void simulate(struct verdict_side *side, struct side_data *data, int runs, int repeats,
		     double rate, double between, double within)
{
	double rates[MAX_REPEATS], mean;
	int i, r;

	begin_side(side, data);
	for (i = 0; i < runs; i++) {
		mean = rate * exp(between * normal());
		for (r = 0; r < repeats; r++)
			rates[r] = mean * exp(within * normal());
		add_run(side, data, rates, repeats);
	}
}

struct tally {
	int	trials, faster, slower, same, covered;
};

/*
 * Trials of base against patched, which is @ratio as fast. With @floor_runs, a floor as "noise"
 * would have measured it before, from so many runs.
 */
static struct tally trials(int nr, int runs, double ratio, double between, int floor_runs)
{
	struct verdict_side side[NR_SIDES];
	struct side_data *data = calloc(NR_SIDES, sizeof(*data));
	struct verdict_rules rules = no_floor;
	struct tally t = { .trials = nr };
	struct point_verdict v, *all = &v;
	double sum, squares, x;
	int i, k;

	ck_assert_ptr_nonnull(data);
	srand48(20261130);
	for (i = 0; i < nr; i++) {
		simulate(&side[BASE], &data[BASE], runs, MAX_REPEATS, 1e5, between, 0.02);
		simulate(&side[PATCHED], &data[PATCHED], runs, MAX_REPEATS, 1e5 * ratio, between,
			 0.02);
		for (sum = 0, squares = 0, k = 0; k < floor_runs; k++) {
			x = between * normal();
			sum += x;
			squares += x * x;
		}
		if (floor_runs) {
			rules.noise = sqrt((squares - sum * sum / floor_runs) / (floor_runs - 1));
			rules.noise_df = floor_runs - 1;
		}
		verdict__compare(side, &rules, &v);
		verdict__holm(&all, 1, &rules);
		t.faster += v.verdict == VERDICT_FASTER;
		t.slower += v.verdict == VERDICT_SLOWER;
		t.same += v.verdict == VERDICT_SAME;
		t.covered += v.low <= ratio && ratio <= v.high;
	}
	free(data);
	return t;
}

/* Of 500 at a true rate of 5 %, more than 37 come by chance once in a hundred times. */
#define TRIALS		500
#define MAX_FALSE	37

START_TEST(a_against_a)
{
	struct tally t;

	t = trials(TRIALS, 2, 1, 0.02, 0);
	ck_assert_int_le(t.faster + t.slower, MAX_FALSE);
	ck_assert_int_ge(t.covered, TRIALS - MAX_FALSE);
	t = trials(TRIALS, 4, 1, 0.02, 0);
	ck_assert_int_le(t.faster + t.slower, MAX_FALSE);
	/* one file a side and a floor that is as sure as eight runs make it */
	t = trials(TRIALS, 1, 1, 0.02, 8);
	ck_assert_int_le(t.faster + t.slower, MAX_FALSE);
	ck_assert_int_ge(t.covered, TRIALS - MAX_FALSE);
	t = trials(TRIALS, 2, 1, 0.02, 8);
	ck_assert_int_le(t.faster + t.slower, MAX_FALSE);
	/* one file a side, and the noise is what is assumed */
	t = trials(TRIALS, 1, 1, 0.03, 0);
	ck_assert_int_le(t.faster + t.slower, MAX_FALSE);
}
END_TEST

/* Differences that are there are found, in the right direction, and the interval covers them. */
START_TEST(a_against_b)
{
	struct tally t;

	t = trials(TRIALS, 4, 0.9, 0.01, 0);
	ck_assert_int_ge(t.slower, TRIALS * 98 / 100);
	ck_assert_int_eq(t.faster, 0);
	ck_assert_int_ge(t.covered, TRIALS - MAX_FALSE);
	t = trials(TRIALS, 1, 1.2, 0.02, 8);
	ck_assert_int_ge(t.faster, TRIALS * 95 / 100);
	ck_assert_int_eq(t.slower, 0);
	ck_assert_int_ge(t.covered, TRIALS - MAX_FALSE);
	/* nothing is there, and the data are good enough to say so; never where 10 % are */
	t = trials(TRIALS, 4, 1, 0.005, 0);
	ck_assert_int_ge(t.same, TRIALS * 80 / 100);
	t = trials(TRIALS, 4, 0.9, 0.005, 0);
	ck_assert_int_eq(t.same, 0);
}
END_TEST

START_TEST(pairs)
{
	int i, k, found = 0, covered = 0, wrong = 0;
	struct point_verdict v, *all = &v;
	double blocks[10];

	srand48(20261130);
	for (i = 0; i < 2000; i++) {
		for (k = 0; k < 10; k++)
			blocks[k] = log(0.97) + 0.02 * normal();
		memset(&v, 0, sizeof(v));
		verdict__paired(blocks, 10, &v);
		verdict__holm(&all, 1, &no_floor);
		covered += v.low <= 0.97 && 0.97 <= v.high;
		found += v.verdict == VERDICT_SLOWER;
		wrong += v.verdict == VERDICT_FASTER;
	}
	ck_assert_int_ge(covered, 1860);	/* 93 % */
	ck_assert_int_ge(found, 1920);		/* 3 % at a standard error of 0.63 % */
	ck_assert_int_eq(wrong, 0);

	memset(&v, 0, sizeof(v));
	verdict__paired(blocks, 1, &v);
	ck_assert_int_eq(v.verdict, VERDICT_NONE);
}
END_TEST

Suite *verdict_suite(void)
{
	Suite *s = suite_create("verdict");
	TCase *tc = tcase_create("verdict");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, students_t);
	tcase_add_test(tc, holm);
	tcase_add_test(tc, nothing_is_assumed);
	tcase_add_test(tc, gates);
	tcase_add_test(tc, a_against_a);
	tcase_add_test(tc, a_against_b);
	tcase_add_test(tc, pairs);
	suite_add_tcase(s, tc);
	return s;
}
