// SPDX-License-Identifier: GPL-2.0
/*
 * test-measure.c: when a window is taken for one in which all were frozen
 *
 * worker-measure.c is included, with other names for what is in the program's objects too.
 */
#include <check.h>

#define bench_measure__repeat	stub_measure_repeat
#define bench_measure__collect	stub_measure_collect
#define bench_measure__select	stub_measure_select
#include "bench/worker-measure.c"

#define MS	NSEC_PER_MSEC

Suite *measure_suite(void);

/* Windows of 100 ms; the one in question has @ops in @ms, those before had @usual in @usual_ms. */
static const struct {
	u64	usual, usual_ms, ops, ms;
	int	tasks;
	bool	frozen;
} cases[] = {
	/* on time, or nearly, whatever was done */
	{ 1000000, 1000, 0, 100, 1, false },
	{ 1000000, 1000, 0, 124, 1, false },
	/* late: with the usual rate, a busy machine; with less, frozen */
	{ 1000000, 1000, 200000, 200, 1, false },
	{ 1000000, 1000, 161000, 200, 1, false },
	{ 1000000, 1000, 159000, 200, 1, true },
	{ 1000000, 1000, 100000, 200, 1, true },
	{ 1000000, 1000, 100000, 5000, 8, true },
	/* ops that take longer than a window: none was done in one that is late, and one is due */
	{ 4, 1000, 0, 130, 1, false },
	{ 4, 1000, 0, 300, 1, false },
	{ 8, 1000, 0, 300, 2, false },
	{ 4, 1000, 0, 5000, 1, true },
	{ 4, 1000, 1, 5000, 1, true },
	/* nothing to compare with */
	{ 0, 0, 0, 5000, 1, false },
};

START_TEST(frozen)
{
	u64 usual_tasks[1] = { 0 }, from_ops[8] = { 0 }, to_ops[8] = { 0 };
	struct bench_window w = { .start_ns = 0, .task_ops = usual_tasks };
	struct bench_repeat rep = { .nr_windows = 1, .windows = &w };
	struct sample from = { .ns = 1000 * MS, .ops = from_ops };
	struct sample to = { .ops = to_ops };

	w.ops = cases[_i].usual;
	w.end_ns = cases[_i].usual_ms * MS;
	to.ns = from.ns + cases[_i].ms * MS;
	to_ops[0] = cases[_i].ops;
	ck_assert_int_eq(was_frozen(&rep, &from, &to, 100 * MS, cases[_i].tasks),
			 cases[_i].frozen);
	/* windows that are dropped say nothing of what is usual */
	w.dropped = true;
	ck_assert(!was_frozen(&rep, &from, &to, 100 * MS, cases[_i].tasks));
}
END_TEST

Suite *measure_suite(void)
{
	Suite *s = suite_create("measure");
	TCase *t = tcase_create("measure");

	tcase_add_loop_test(t, frozen, 0, ARRAY_SIZE(cases));
	suite_add_tcase(s, t);
	return s;
}
