// SPDX-License-Identifier: GPL-2.0
/*
 * test-rounds.c: in which order a run measures what, and what becomes of it if it ends early
 *
 * Whole runs of a benchmark that does nothing, with hooks that write down when they were called.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "bench/bench.h"
#include "bench/worker.h"

static char calls[1024];	/* "s2.0 " is setup of two tasks in the first repeat, "t" teardown */
static char results[1024];	/* "2:on=3 ": three repeats of a variant at two tasks */
static int skip_tasks, skip_repeat, fail_tasks, fail_repeat, signal_tasks, signal_repeat;
static int nr_variants;
static const char *precision, *max_time = "24h";
static enum bench_stop stopped_by = BENCH_STOP_REPEATS;

static void note_call(const char *what, const struct bench_run *run)
{
	size_t len = strlen(calls);

	snprintf(calls + len, sizeof(calls) - len, "%s%d.%d ", what, run->nr_tasks, run->repeat);
}

static int null_prepare(struct bench_run *run)
{
	int i;

	for (i = 0; i < nr_variants; i++)
		bench_run__variant(run, i ? "on" : "off");
	return 0;
}

static int null_setup(struct bench_run *run)
{
	note_call("s", run);
	if (run->nr_tasks == skip_tasks && run->repeat == skip_repeat)
		bench_run__skip_variant(run, 1, "not with %d", skip_tasks);
	if (run->nr_tasks == fail_tasks && run->repeat == fail_repeat)
		return bench_run__fail(run, EIO, "setup");
	if (run->nr_tasks == signal_tasks && run->repeat == signal_repeat)
		raise(SIGINT);
	return 0;
}

static void null_teardown(struct bench_run *run)
{
	note_call("t", run);
}

static int null_run(struct bench_task *t)
{
	bench_task__for_each_op(t)
		usleep(1000);
	return 0;
}

static int null_measure(struct bench_run *run, bool begin)
{
	if (begin)
		bench_run__metric(run, 0, "repeat", "n", run->repeat);
	return 0;
}

static const char * const usage[] = { "null", NULL };

static const struct bench_ops null_ops = {
	.name		= "test/null",
	.unit		= "nothing",
	.mode		= BENCH_MODE_THREAD,
	.options	= bench_worker_options,
	.usage		= usage,
	.prepare	= null_prepare,
	.setup		= null_setup,
	.teardown	= null_teardown,
	.run		= null_run,
	.measure	= null_measure,
};

static int observe_result(struct bench_observer *o __maybe_unused, struct bench_run *run,
			  const struct bench_result *res)
{
	size_t len = strlen(results);
	int r;

	snprintf(results + len, sizeof(results) - len, "%d:%s=%d%s%s ", res->nr_tasks,
		 run->variants[res->variant].name, res->nr_repeats,
		 *res->skip ? "," : "", res->skip);
	ck_assert(!*res->skip || isnan(res->rate));
	ck_assert_int_eq(res->stopped_by, stopped_by);
	ck_assert_int_eq(run->nr_tasks, res->nr_tasks);
	for (r = 0; r < res->nr_metrics * res->nr_repeats; r++)
		ck_assert_double_eq(res->metrics[0].values[r], r);
	for (r = 1; r < res->nr_repeats; r++)
		ck_assert(res->repeats[r].gate_ns > res->repeats[r - 1].gate_ns);
	return 0;
}

static struct bench_observer observer = { .result = observe_result };

static int run_null(int variants, const char *tasks, const char *repeats)
{
	/* work of a fixed size lasts at least 1 ms, however busy the machine is */
	const char *argv[] = {
		"null", "-t", tasks, "-r", repeats, variants > 1 ? "-d" : "--total",
		variants > 1 ? "5ms" : "4", "--window", "1ms", "--max-time", max_time,
		precision ? "--precision" : NULL, precision, NULL
	};
	int argc = ARRAY_SIZE(argv) - (precision ? 1 : 3);

	nr_variants = variants;
	*calls = '\0';
	*results = '\0';
	bench_observer__register(&observer);
	return bench_worker__main(argc, argv, &null_ops);
}

START_TEST(order)
{
	ck_assert_int_eq(run_null(0, "3,1,2", "2"), BENCH_EXIT_OK);
	ck_assert_str_eq(calls, "s3.0 t3.0 s1.0 t1.0 s2.0 t2.0 s3.1 t3.1 s1.1 t1.1 s2.1 t2.1 ");
	ck_assert_str_eq(results, "3:=2 1:=2 2:=2 ");
}
END_TEST

/* Memory for repeats grows, and metrics with it. */
START_TEST(many_repeats)
{
	ck_assert_int_eq(run_null(0, "1", "37"), BENCH_EXIT_OK);
	ck_assert_str_eq(results, "1:=37 ");
}
END_TEST

/* A variant that is skipped at one point is measured at the others. */
START_TEST(skipped_variant)
{
	skip_tasks = 2;
	skip_repeat = 0;
	run_null(2, "1,2,3", "9");
	ck_assert_str_eq(results,
			 "1:off=9 1:on=9 2:off=9 2:on=0,not with 2 3:off=9 3:on=9 ");
}
END_TEST

/* One that is skipped in a later repeat only is not there from then on. */
START_TEST(skipped_later)
{
	skip_tasks = 2;
	skip_repeat = 2;
	run_null(2, "2,1", "9");
	ck_assert_str_eq(results, "2:off=9 2:on=2,not with 2 1:off=9 1:on=9 ");
}
END_TEST

/* The point that failed has no rate; the others keep what they have. */
START_TEST(failed_point)
{
	stopped_by = BENCH_STOP_NONE;
	fail_tasks = 2;
	fail_repeat = 1;
	ck_assert_int_eq(run_null(0, "1,2,3", "3"), BENCH_EXIT_FAILED);
	ck_assert_str_eq(calls, "s1.0 t1.0 s2.0 t2.0 s3.0 t3.0 s1.1 t1.1 s2.1 t2.1 ");
	ck_assert_str_eq(results, "1:=2 2:=1,setup: Input/output error 3:=1 ");
}
END_TEST

/* Nothing is said of points that had not begun. */
START_TEST(failed_early)
{
	stopped_by = BENCH_STOP_NONE;
	fail_tasks = 2;
	fail_repeat = 0;
	ck_assert_int_eq(run_null(0, "1,2,3", "3"), BENCH_EXIT_FAILED);
	ck_assert_str_eq(results, "1:=1 2:=0,setup: Input/output error ");
}
END_TEST

START_TEST(interrupted)
{
	stopped_by = BENCH_STOP_NONE;
	signal_tasks = 2;
	signal_repeat = 1;
	ck_assert_int_eq(run_null(0, "1,2,3", "3"), BENCH_EXIT_INTERRUPTED);
	ck_assert_str_eq(calls, "s1.0 t1.0 s2.0 t2.0 s3.0 t3.0 s1.1 t1.1 s2.1 t2.1 ");
	ck_assert_str_eq(results, "1:=2 2:=1 3:=1 ");
}
END_TEST

/* A mean that is good to 100 % is there with the least number of repeats. */
START_TEST(precision_reached)
{
	precision = "100";
	stopped_by = BENCH_STOP_PRECISION;
	ck_assert_int_eq(run_null(0, "2,1", "1"), BENCH_EXIT_OK);
	ck_assert_str_eq(results, "2:=30 1:=30 ");
}
END_TEST

/* -r is the least number where it is larger; once in each round the time is looked at. */
START_TEST(precision_least)
{
	precision = "100";
	stopped_by = BENCH_STOP_PRECISION;
	ck_assert_int_eq(run_null(0, "1", "41"), BENCH_EXIT_OK);
	ck_assert_str_eq(results, "1:=41 ");
}
END_TEST

/* The first round is made in any case. */
START_TEST(no_time)
{
	precision = "0.0000001";
	max_time = "1ns";
	stopped_by = BENCH_STOP_MAX_TIME;
	ck_assert_int_eq(run_null(0, "2,1", "7"), BENCH_EXIT_OK);
	ck_assert_str_eq(results, "2:=1 1:=1 ");
}
END_TEST

/* --max-time is a bound without --precision, too. */
START_TEST(no_time_for_repeats)
{
	max_time = "1ns";
	stopped_by = BENCH_STOP_MAX_TIME;
	ck_assert_int_eq(run_null(0, "1", "7"), BENCH_EXIT_OK);
	ck_assert_str_eq(results, "1:=1 ");
}
END_TEST

/* What will not be valid is not measured for ever. */
START_TEST(precision_of_invalid)
{
	const char *argv[] = {
		"null", "-t", "1", "-d", "1us", "-w", "0s", "--window", "1ms", "--precision",
		"0.0000001", NULL
	};

	bench_observer__register(&observer);
	ck_assert_int_eq(bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &null_ops),
			 BENCH_EXIT_FAILED);
	ck_assert_str_eq(results, "1:=30 ");
}
END_TEST

Suite *rounds_suite(void)
{
	Suite *s = suite_create("rounds");
	TCase *t = tcase_create("rounds");

	tcase_add_test(t, order);
	tcase_add_test(t, many_repeats);
	tcase_add_test(t, skipped_variant);
	tcase_add_test(t, skipped_later);
	tcase_add_test(t, failed_point);
	tcase_add_test(t, failed_early);
	tcase_add_test(t, interrupted);
	tcase_add_test(t, precision_reached);
	tcase_add_test(t, precision_least);
	tcase_add_test(t, no_time);
	tcase_add_test(t, no_time_for_repeats);
	tcase_add_test(t, precision_of_invalid);
	suite_add_tcase(s, t);
	return s;
}
