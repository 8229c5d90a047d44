// SPDX-License-Identifier: GPL-2.0
/*
 * test-hooks.c: what instruments hang on: the windows' hooks, and the pauses between ops
 */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "bench/worker.h"

#define MAX_TASKS	4

static int nr_variants;

static int hooks_prepare(struct bench_run *run)
{
	int i;

	for (i = 0; i < nr_variants; i++)
		bench_run__variant(run, i ? "on" : "off");
	return 0;
}

static int hooks_select(struct bench_run *run __maybe_unused, int v __maybe_unused)
{
	return 0;
}

/* ---- windows ---- */

/* What a window is to begin with. */
static bool resumed;
static int resumed_variant;
static u64 last_end;
static int nr_windows[2], nr_resumes;

static int slow_run(struct bench_task *t)
{
	bench_task__for_each_op(t)
		usleep(100);
	return 0;
}

static void on_ready(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused)
{
	resumed = false;
	last_end = 0;
}

static void on_resume(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	resumed = true;
	resumed_variant = run->variant;
	nr_resumes++;
}

/* One that follows on the last is of the same variant; before all others there was a resume. */
static void on_window(struct bench_observer *o __maybe_unused, struct bench_run *run,
		      const struct bench_window *w)
{
	static int last_variant;

	ck_assert(resumed == (w->start_ns != last_end));
	if (resumed && nr_variants > 1)
		ck_assert_int_eq(resumed_variant, run->variant);
	if (!resumed)
		ck_assert_int_eq(last_variant, run->variant);
	resumed = false;
	last_end = w->end_ns;
	last_variant = run->variant;
	nr_windows[run->variant]++;
}

static struct bench_observer windows_observer = {
	.ready = on_ready, .resume = on_resume, .window = on_window,
};

static const char * const usage[] = { "hooks", NULL };

static const struct bench_ops windows_ops = {
	.name		= "test/windows",
	.unit		= "nothing",
	.mode		= BENCH_MODE_THREAD,
	.options	= bench_worker_options,
	.usage		= usage,
	.prepare	= hooks_prepare,
	.run		= slow_run,
	.select		= hooks_select,
};

START_TEST(resume)
{
	const char *argv[] = {
		"hooks", "-t", "2,1", "-r", "2", "-d", "50ms", "--window", "5ms", "-w", "0s", NULL
	};

	nr_variants = _i;
	bench_observer__register(&windows_observer);
	bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &windows_ops);
	ck_assert_int_ge(nr_windows[0], 4 * 10);
	if (nr_variants > 1) {		/* A B B A A B ...: half of them follow on */
		ck_assert_int_eq(nr_windows[0], nr_windows[1]);
		ck_assert_int_ge(nr_resumes, nr_windows[0]);
	}
}
END_TEST

/* ---- pauses ---- */

static u64 due[MAX_TASKS], nr_pauses[MAX_TASKS], first_done[MAX_TASKS], done[MAX_TASKS];
static u64 longest;
static u64 wrong[MAX_TASKS];	/* an assertion in each op would take long */

static u64 pause_after(struct bench_task *t)
{
	u64 ops = 1 + (nr_pauses[t->id]++ * 7919 + t->id) % longest;

	wrong[t->id] += t->ops != due[t->id];
	due[t->id] += ops;
	return ops;
}

static int count_run(struct bench_task *t)
{
	bench_task__for_each_op(t) {
		wrong[t->id] += t->ops != done[t->id];
		if (t->done_ns && !first_done[t->id])
			first_done[t->id] = t->ops;
		done[t->id]++;
		if (!(t->ops & 1023))		/* it is to last, and all are to get some */
			usleep(20);
	}
	return 0;
}

static u64 ops_all, ops_measured;

static int on_result(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused,
		     const struct bench_result *res)
{
	ops_all = res->repeats[0].ops_all;
	ops_measured = res->repeats[0].ops;
	return 0;
}

static struct bench_observer pauses_observer = { .result = on_result };

static const struct bench_ops pauses_ops = {
	.name		= "test/pauses",
	.unit		= "nothing",
	.mode		= BENCH_MODE_THREAD,
	.options	= bench_worker_options,
	.usage		= usage,
	.run		= count_run,
};

static const u64 lengths[] = { 0, 1, 2, 10, 1000, 1000000000000ull };

/* Fixed work stays exact, however often ops are paused; each pause comes when it was asked for. */
START_TEST(total)
{
	const char *argv[] = { "hooks", "-t", "3", "-r", "1", "--total", "300007", NULL };
	int i;

	longest = lengths[_i];
	bench_task__pause = longest ? pause_after : NULL;
	bench_observer__register(&pauses_observer);
	bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &pauses_ops);
	ck_assert_uint_eq(wrong[0] + wrong[1] + wrong[2], 0);
	ck_assert_uint_eq(ops_all, 300007);
	ck_assert_uint_eq(ops_measured, 300007);
	ck_assert_uint_eq(done[0] + done[1] + done[2], 300007);
	for (i = 0; i < 3; i++)
		ck_assert(!longest || nr_pauses[i]);
	if (longest == 1)	/* before each op, and before the one that is not there */
		ck_assert_uint_eq(nr_pauses[0] + nr_pauses[1] + nr_pauses[2], 300007 + 3);
}
END_TEST

START_TEST(loops)
{
	const char *argv[] = { "hooks", "-t", "3", "-r", "1", "--loops", "100003", NULL };
	int i;

	longest = lengths[_i];
	bench_task__pause = longest ? pause_after : NULL;
	bench_observer__register(&pauses_observer);
	bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &pauses_ops);
	ck_assert_uint_eq(wrong[0] + wrong[1] + wrong[2], 0);
	for (i = 0; i < 3; i++) {
		ck_assert_uint_ge(done[i], 100003);
		/* who is not the last one to end goes on */
		ck_assert(!first_done[i] || first_done[i] == 100003);
	}
	ck_assert_uint_eq(ops_all, done[0] + done[1] + done[2]);
}
END_TEST

/* The parent can stop tasks that pause all the time. */
START_TEST(time)
{
	const char *argv[] = {
		"hooks", "-t", "3", "-r", "3", "-d", "60ms", "-w", "1ms", "--window", "5ms", NULL
	};
	int i;

	longest = lengths[_i];
	bench_task__pause = longest ? pause_after : NULL;
	for (i = 0; i < 3; i++) {
		memset(due, 0, sizeof(due));
		memset(done, 0, sizeof(done));
		argv[4] = "1";
		ck_assert_int_ne(bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &pauses_ops),
				 BENCH_EXIT_USAGE);
		ck_assert_uint_gt(done[0] + done[1] + done[2], 0);
	}
	ck_assert_uint_eq(wrong[0] + wrong[1] + wrong[2], 0);
}
END_TEST

Suite *hooks_suite(void)
{
	Suite *s = suite_create("hooks");
	TCase *t = tcase_create("hooks");

	tcase_add_loop_test(t, resume, 0, 3);
	tcase_add_loop_test(t, total, 0, ARRAY_SIZE(lengths));
	tcase_add_loop_test(t, loops, 0, ARRAY_SIZE(lengths));
	tcase_add_loop_test(t, time, 0, ARRAY_SIZE(lengths));
	suite_add_tcase(s, t);
	return s;
}
