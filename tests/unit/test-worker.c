// SPDX-License-Identifier: GPL-2.0
/*
 * test-worker.c: the parts of the harness that can be told apart from a run
 *
 * Lists, times, summaries. Expected values were worked out by hand.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "bench/worker.h"

static void list_is(const char *text, int min, int limit, int max, int nr, const int *expected)
{
	char why[BENCH_TEXT_MAX] = "";
	int *list = NULL, i;
	int got = bench_list__parse(text, min, limit, max, &list, why);

	ck_assert_msg(got == nr, "\"%s\": %d, not %d: %s", text, got, nr, why);
	for (i = 0; expected && i < nr; i++)
		ck_assert_int_eq(list[i], expected[i]);
	if (nr < 0) {
		ck_assert_msg(*why, "\"%s\": no reason", text);
		ck_assert_ptr_null(list);
	}
	free(list);
}

START_TEST(list_values)
{
	list_is("1", 1, 100, 8, 1, (int []){ 1 });
	list_is("1,2,4-16:4", 1, 100, 8, 6, (int []){ 1, 2, 4, 8, 12, 16 });
	list_is("1-max", 1, 100, 3, 3, (int []){ 1, 2, 3 });
	list_is("max", 1, 100, 7, 1, (int []){ 7 });
	list_is("3,1,2", 1, 100, 8, 3, (int []){ 3, 1, 2 });
	list_is("1,1,1-2", 1, 100, 8, 2, (int []){ 1, 2 });
	list_is("0,0", 0, 100, -1, 1, (int []){ 0 });
	list_is("5-5", 1, 100, 8, 1, (int []){ 5 });
	list_is("1-10:100", 1, 100, 8, 1, (int []){ 1 });
}
END_TEST

START_TEST(list_errors)
{
	static const char * const bad[] = {
		"", ",", "1,", ",1", "1-", "-1", "1--2", "a", "1x", " 1", "1 ", "1:2",
		"1-2:", "1-2:a", "+1", "1.5", "maxx", "1e2",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		list_is(bad[i], 1, 100, 8, -EINVAL, NULL);
	list_is("1-0", 0, 100, 8, -EINVAL, NULL);
	list_is("max", 0, 100, -1, -EINVAL, NULL);
	list_is("0", 1, 100, 8, -ERANGE, NULL);
	list_is("0x1", 1, 100, 8, -ERANGE, NULL);
	list_is("1-2:0", 1, 100, 8, -ERANGE, NULL);
	list_is("101", 1, 100, 8, -ERANGE, NULL);
	list_is("0-4294967295", 0, 100, -1, -ERANGE, NULL);
	list_is("18446744073709551617", 0, 100, -1, -ERANGE, NULL);
}
END_TEST

static int parse_time(const char *text, u64 *ns)
{
	struct option opt = { .long_name = "duration", .value = ns };

	*ns = 42;
	return bench_opt__time(&opt, text, 0);
}

START_TEST(times)
{
	static const struct { const char *text; u64 ns; } good[] = {
		{ "1ns", 1 }, { "7us", 7000 }, { "500ms", 500000000 }, { "2s", 2000000000 },
		{ "1m", 60000000000 }, { "1.5m", 90000000000 }, { "0.25s", 250000000 },
		{ "0.1s", 100000000 }, { "1.0000000019s", 1000000001 }, { "24h", 86400000000000 },
		{ "0s", 0 },
	};
	static const char * const bad[] = {
		"", "abc", "1", "0", "-1s", "1x", "1e99", "1e9s", "0,5s", ".5s", "1.s", "1.5",
		" 1s", "1s ", "1 s", "1sec", "25h", "2147483648s", "9223372036854775808ns",
		"18446744073709551616ns", "99999999999999999999999s", "nan", "inf", "0x1s", "+1s",
	};
	size_t i;
	u64 ns;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_msg(!parse_time(good[i].text, &ns), "%s", good[i].text);
		ck_assert_msg(ns == good[i].ns, "%s: %llu", good[i].text, (unsigned long long)ns);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(parse_time(bad[i], &ns), "\"%s\" was taken for %llu ns", bad[i],
			      (unsigned long long)ns);
		ck_assert_msg(ns == 42, "\"%s\" changed the value", bad[i]);
	}
}
END_TEST

START_TEST(counts)
{
	static const char * const bad[] = {
		"", "0", "-1", "abc", "1x", "1e99", "1.5", "9007199254740993",
		"9223372036854775808", "18446744073709551616", " 1", "0x10",
	};
	u64 val = 42;
	struct option opt = { .long_name = "loops", .value = &val };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(bench_opt__count(&opt, bad[i], 0) && val == 42, "\"%s\"", bad[i]);
	ck_assert(!bench_opt__count(&opt, "4294967296", 0));
	ck_assert(val == 4294967296ull);
	ck_assert(!bench_opt__count(&opt, "9007199254740992", 0));
	ck_assert(val == 9007199254740992ull);
}
END_TEST

/* Two tasks that share each repeat's ops 1 to 3, over a second. */
static void make_result(struct bench_result *res, struct bench_repeat *reps,
			struct bench_task_result *tasks, int n, const u64 *ops)
{
	int r;

	memset(res, 0, sizeof(*res));
	memset(reps, 0, n * sizeof(*reps));
	memset(tasks, 0, 2 * n * sizeof(*tasks));
	res->nr_tasks = 2;
	res->nr_repeats = n;
	res->repeats = reps;
	for (r = 0; r < n; r++) {
		reps[r].tasks = &tasks[2 * r];
		reps[r].tasks[0].ops = ops[r] / 4;
		reps[r].tasks[1].ops = ops[r] - ops[r] / 4;
		reps[r].ops = ops[r];
		reps[r].elapsed_ns = 1000000000;
		reps[r].rate = ops[r];
		reps[r].skew_ns = 100 * r;
	}
}

/* One repeat that is called unsettled by chance is not held against a result of many. */
START_TEST(summary_unsettled)
{
	struct bench_task_result tasks[10];
	struct bench_repeat reps[5];
	struct bench_result res;

	make_result(&res, reps, tasks, 5, (u64 []){ 100, 100, 100, 100, 100 });
	reps[3].flags = BENCH_FLAG_UNSETTLED;
	bench_result__summarise(&res, NULL, false);
	ck_assert_uint_eq(res.flags, 0);
	reps[1].flags = BENCH_FLAG_UNSETTLED | BENCH_FLAG_STEAL;
	res.flags = 0;
	bench_result__summarise(&res, NULL, false);
	ck_assert_uint_eq(res.flags, BENCH_FLAG_UNSETTLED | BENCH_FLAG_STEAL);
}
END_TEST

START_TEST(summary)
{
	struct bench_task_result tasks[10], tasks2[10];
	struct bench_repeat reps[5], reps2[5];
	struct bench_result res, other;

	make_result(&res, reps, tasks, 5, (u64 []){ 100, 104, 96, 108, 92 });
	bench_result__summarise(&res, NULL, false);
	ck_assert_double_eq_tol(res.rate, 100, 1e-9);
	/* s = sqrt(40), 2.776 * s / sqrt(5) */
	ck_assert_double_eq_tol(res.ci95, 2.77645 * sqrt(40 / 5.0), 1e-3);
	ck_assert_double_eq_tol(res.us_op, 20000, 1e-6);
	ck_assert_double_eq_tol(res.task_min, 23, 1e-9);
	ck_assert_double_eq_tol(res.task_max, 81, 1e-9);
	/* (1 + 3)^2 / (2 (1 + 9)) */
	ck_assert_double_eq_tol(res.jain, 0.8, 1e-9);
	ck_assert(isnan(res.ratio) && isnan(res.elapsed));
	ck_assert(res.skew_ns == 400);

	/* twice the time an op, the same in each repeat: no spread of the ratio at all */
	make_result(&other, reps2, tasks2, 5, (u64 []){ 50, 52, 48, 54, 46 });
	bench_result__summarise(&other, &res, false);
	ck_assert_double_eq_tol(other.ratio, 2, 1e-9);
	ck_assert_double_eq_tol(other.ratio_ci95, 0, 1e-9);

	/* no ratio to what is not valid, nor of it */
	res.flags = BENCH_FLAG_CPU_GONE;
	bench_result__summarise(&other, &res, false);
	ck_assert(isnan(other.ratio) && isnan(other.ratio_ci95));
}
END_TEST

/* The mean does not ask for the order of repeats; its interval does. */
START_TEST(summary_order)
{
	struct bench_task_result tasks[10];
	struct bench_repeat reps[5];
	struct bench_result a, b;

	make_result(&a, reps, tasks, 5, (u64 []){ 1, 20, 30, 40, 50 });
	bench_result__summarise(&a, NULL, false);
	make_result(&b, reps, tasks, 5, (u64 []){ 50, 1, 40, 20, 30 });
	bench_result__summarise(&b, NULL, false);
	ck_assert_double_eq_tol(a.rate, b.rate, 1e-9);
	ck_assert_double_gt(a.ci95, b.ci95 + 1);
}
END_TEST

START_TEST(summary_little)
{
	struct bench_task_result tasks[10];
	struct bench_repeat reps[5];
	struct bench_result res;

	/* one repeat: no interval */
	make_result(&res, reps, tasks, 1, (u64 []){ 100 });
	bench_result__summarise(&res, NULL, false);
	ck_assert_double_eq_tol(res.rate, 100, 1e-9);
	ck_assert(isnan(res.ci95));

	/* one of three without a rate: out of the mean, and its flag is the result's */
	make_result(&res, reps, tasks, 3, (u64 []){ 100, 0, 102 });
	reps[1].rate = NAN;
	reps[1].flags = BENCH_FLAG_ZERO_OPS;
	bench_result__summarise(&res, NULL, false);
	ck_assert_double_eq_tol(res.rate, 101, 1e-9);
	ck_assert_uint_eq(res.flags, BENCH_FLAG_ZERO_OPS);

	/* failed: no rate, whatever was measured before */
	make_result(&res, reps, tasks, 2, (u64 []){ 100, 101 });
	res.flags = BENCH_FLAG_ERROR;
	bench_result__summarise(&res, NULL, false);
	ck_assert(isnan(res.rate) && isnan(res.us_op));

	/* nothing at all */
	make_result(&res, reps, tasks, 0, NULL);
	bench_result__summarise(&res, NULL, true);
	ck_assert(isnan(res.rate) && isnan(res.ci95) && isnan(res.jain) && isnan(res.elapsed));
}
END_TEST

START_TEST(summary_windows)
{
	struct bench_task_result tasks[20];
	struct bench_repeat reps[10];
	struct bench_result res;
	int r;

	make_result(&res, reps, tasks, 8, (u64 []){ 100, 101, 102, 103, 104, 105, 106, 107 });
	for (r = 0; r < 8; r++) {
		reps[r].nr_windows = 5 + r;
		reps[r].nr_dropped = r == 2;
	}
	bench_result__summarise(&res, NULL, false);
	ck_assert_uint_eq(res.nr_windows, 68);
	ck_assert_uint_eq(res.nr_dropped, 1);
	ck_assert_uint_eq(res.flags, BENCH_FLAG_DRIFT);
}
END_TEST

START_TEST(summary_total)
{
	struct bench_task_result tasks[10];
	struct bench_repeat reps[5];
	struct bench_result res;

	make_result(&res, reps, tasks, 2, (u64 []){ 1000, 1000 });
	reps[0].elapsed_ns = 2000000000;
	reps[1].elapsed_ns = 4000000000;
	bench_result__summarise(&res, NULL, true);
	ck_assert_double_eq_tol(res.elapsed, 3, 1e-9);
}
END_TEST

START_TEST(flag_names)
{
	unsigned int bit;

	for (bit = 0; bit < 19; bit++) {
		if (bit == 7)
			continue;
		ck_assert(*bench_flag__name(1u << bit));
		ck_assert(*bench_flag__text(1u << bit));
	}
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_ERROR), "error");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_CUT_TOTAL), "cut-total");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_STOPPED_TOTAL), "stopped-total");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_PREEMPTED), "preempted");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_UNSETTLED), "unsettled");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_TORN), "torn");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_DRIFT), "drift");
	ck_assert_str_eq(bench_flag__name(BENCH_FLAG_IDLE_TASK), "idle-task");
}
END_TEST

START_TEST(percents)
{
	static const struct { const char *text; double val; } good[] = {
		{ "1", 1 }, { "0.5", 0.5 }, { "2.5", 2.5 }, { "100", 100 }, { "0.3", 0.3 },
		{ "00.10", 0.1 }, { "100.0", 100 }, { "99.999", 99.999 },
	};
	static const char * const bad[] = {
		"", "0", "0.0", "-1", "+1", "1%", "1.", ".5", "0,5", "1e1", "100.1", "101", " 1",
		"1 ", "nan", "inf", "0x1", "18446744073709551617", "1.5.2",
	};
	double val = 42;
	struct option opt = { .long_name = "precision", .value = &val };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(bench_opt__percent(&opt, bad[i], 0) && val == 42, "\"%s\"", bad[i]);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		ck_assert_msg(!bench_opt__percent(&opt, good[i].text, 0), "%s", good[i].text);
		ck_assert_msg(val == good[i].val, "%s: %.17g", good[i].text, val);
	}
}
END_TEST

START_TEST(fs_of)
{
	char type[BENCH_NAME_MAX], opts[4096];

	ck_assert_int_eq(bench_fs__of("/proc", type, sizeof(type), opts, sizeof(opts)), 0);
	ck_assert_str_eq(type, "proc");
	ck_assert(strstr(opts, "rw") || strstr(opts, "ro"));
	ck_assert_int_eq(bench_fs__of("/no/such/path", type, sizeof(type), NULL, 0), -ENOENT);
}
END_TEST

Suite *worker_suite(void)
{
	Suite *s = suite_create("worker");
	TCase *t = tcase_create("worker");

	tcase_add_test(t, list_values);
	tcase_add_test(t, list_errors);
	tcase_add_test(t, times);
	tcase_add_test(t, counts);
	tcase_add_test(t, percents);
	tcase_add_test(t, summary_unsettled);
	tcase_add_test(t, summary);
	tcase_add_test(t, summary_order);
	tcase_add_test(t, summary_little);
	tcase_add_test(t, summary_windows);
	tcase_add_test(t, summary_total);
	tcase_add_test(t, flag_names);
	tcase_add_test(t, fs_of);
	suite_add_tcase(s, t);
	return s;
}
