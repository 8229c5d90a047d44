// SPDX-License-Identifier: GPL-2.0
/*
 * test-latency.c: latencies of ops that take a known time, and how many of them are timed
 *
 * A sleep is never shorter than it is to be, so there are bounds from below only; how many samples
 * there are is exact: no op ends before the parent has taken its first reading.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "instrument/instrument.h"

static struct instrument_options opts;
static struct instrument *ins;
static struct figures *f;
static int nr_variants, nr_results;
static bool frozen;		/* so it seemed, as on a very busy machine: then windows are missing */
static u64 window_ops;		/* of the windows that count, of all repeats */
static int go;			/* ops may end */
static int us_op[2], slow_every, slow_us;

static int latency_prepare(struct bench_run *run)
{
	int i;

	for (i = 0; i < nr_variants; i++)
		bench_run__variant(run, i ? "on" : "off");
	return 0;
}

static int latency_setup(struct bench_run *run __maybe_unused)
{
	go = nr_variants > 1;
	return 0;
}

static int current;

static int latency_select(struct bench_run *run __maybe_unused, int v)
{
	__atomic_store_n(&current, max(v, 0), __ATOMIC_RELAXED);
	return 0;
}

static int latency_run(struct bench_task *t)
{
	bench_task__for_each_op(t) {
		int us = us_op[__atomic_load_n(&current, __ATOMIC_RELAXED)];

		while (!__atomic_load_n(&go, __ATOMIC_RELAXED))
			usleep(100);
		if (slow_every && t->ops % slow_every == 0)
			us = slow_us;
		if (us)
			usleep(us);
		else if (!(t->ops & 16383))		/* it is to last some ms */
			usleep(500);
	}
	return 0;
}

static const char * const usage[] = { "latency", NULL };

static struct bench_ops latency_ops = {
	.name		= "test/latency",
	.unit		= "a sleep",
	.mode		= BENCH_MODE_THREAD,
	.options	= bench_worker_options,
	.usage		= usage,
	.prepare	= latency_prepare,
	.setup		= latency_setup,
	.run		= latency_run,
};

/* Registered after the instrument, so that it has taken its reading. */
static void on_resume(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused)
{
	__atomic_store_n(&go, 1, __ATOMIC_RELAXED);
}

static void (*check_result)(const struct bench_result *res);

static int on_result(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused,
		     const struct bench_result *res)
{
	int r, w;

	nr_results++;
	for (r = 0, window_ops = 0; r < res->nr_repeats; r++) {
		for (w = 0; w < res->repeats[r].nr_windows; w++) {
			if (!res->repeats[r].windows[w].dropped)
				window_ops += res->repeats[r].windows[w].ops;
		}
	}
	ck_assert_str_eq(f->kind, "latency");
	if (res->flags & BENCH_FLAG_SUSPENDED)
		frozen = true;
	else
		check_result(res);
	return 0;
}

static struct bench_observer observer = { .resume = on_resume, .result = on_result };

static int run_it(int argc, const char **argv, void (*check)(const struct bench_result *res))
{
	int ret;

	check_result = check;
	ins = latency_instrument__new(&opts);
	f = &ins->figures;
	bench_observer__register(&ins->observer);
	bench_observer__register(&observer);
	ret = bench_worker__main(argc, argv, &latency_ops);
	ck_assert_int_gt(nr_results, 0);
	ck_assert_str_eq(ins->unavailable, "");
	ins->free(ins);
	ck_assert(!bench_task__pause);
	return frozen ? BENCH_EXIT_OK : ret;
}

static double value(const char *name, int column, int repeat)
{
	const struct figure *row = figures__find(f, name);

	ck_assert_msg(row && row->values, "%s: %s", name, row ? row->reason : "no row");
	return figures__column(f, row, column)[repeat];
}

static void assert_missing(const char *name, const char *reason)
{
	const struct figure *row = figures__find(f, name);

	ck_assert_msg(row && row->reason && !strcmp(row->reason, reason), "%s: %s", name,
		      row && row->reason ? row->reason : "not missing");
}

/* ---- sleeps ---- */

static void check_sleeps(const struct bench_result *res)
{
	int r;

	ck_assert_int_eq(f->nr_repeats, res->nr_repeats);
	ck_assert_uint_eq(window_ops, (u64)400 * res->nr_repeats);
	for (r = 0; r < res->nr_repeats; r++) {
		ck_assert(value("p50", 0, r) >= 200 * 0.992);
		/* a quarter of the ops are slow ones */
		ck_assert(value("p90", 0, r) >= 2000 * 0.992);
		ck_assert(value("max", 0, r) >= value("p90", 0, r));
		ck_assert(value("mean", 0, r) >= 0.75 * 200 + 0.25 * 2000);
		ck_assert(value("mean", 0, r) <= value("max", 0, r));
		/* each op of each task is one sample */
		ck_assert(value("p50", 1, r) == 200);
		ck_assert(value("p90", 1, r) == 40);
		ck_assert(value("max", 1, r) == 0);
	}
	assert_missing("p99", "needs 1000 samples a repeat, there are 400");
	assert_missing("p99.9", "needs 10000 samples a repeat, there are 400");
	assert_missing("p99.99", "needs 100000 samples a repeat, there are 400");
	ck_assert(strstr(f->notes, "one op in 1 was timed, "));
}

START_TEST(sleeps)
{
	const char *argv[] = { "latency", "-t", _i ? "2" : "1", "-r", "2", "--total", "400", NULL };

	opts.latency_every = 1;
	us_op[0] = 200;
	slow_every = 4;
	slow_us = 2000;
	ck_assert_int_eq(run_it(ARRAY_SIZE(argv) - 1, argv, check_sleeps), BENCH_EXIT_OK);
}
END_TEST

/* A task's ops with --loops are all there, too. */
static void check_loops(const struct bench_result *res __maybe_unused)
{
	ck_assert_uint_ge(window_ops, 100);
	ck_assert(value("p50", 1, 0) >= 50);
	ck_assert(value("p50", 0, 0) >= 200 * 0.992);
}

START_TEST(loops)
{
	const char *argv[] = { "latency", "-t", "1", "-r", "1", "--loops", "100", NULL };

	opts.latency_every = 1;
	us_op[0] = 200;
	ck_assert_int_eq(run_it(ARRAY_SIZE(argv) - 1, argv, check_loops), BENCH_EXIT_OK);
}
END_TEST

/* ---- how many ---- */

/*
 * The distances are uniform in 1 ... 2 N - 1, with a variance of (N^2 - N) / 3, so that the number of
 * samples in n ops has one of n (N - 1) / (3 N^2). Six standard deviations are exceeded once in 500
 * million runs.
 */
static void check_rate(const struct bench_result *res __maybe_unused)
{
	double every = opts.latency_every, nr = 2 * value("p50", 1, 0);

	ck_assert_uint_eq(window_ops, 200000);
	ck_assert_msg(fabs(nr - 200000 / every) <= 3 + 6 * sqrt(200000 * (every - 1) / 3) / every,
		      "%.0f samples of 200000 ops, one in %.0f", nr, every);
}

static const int everies[] = { 1, 2, 3, 10, 100 };

START_TEST(rate)
{
	const char *argv[] = { "latency", "-t", "2", "-r", "1", "--total", "200000", NULL };

	opts.latency_every = everies[_i];
	run_it(ARRAY_SIZE(argv) - 1, argv, check_rate);
}
END_TEST

/* By itself it times each op of those that are slow. */
static void check_slow(const struct bench_result *res)
{
	ck_assert_int_ge(res->nr_repeats, 1);
	ck_assert(strstr(f->notes, "one op in 1 was timed, "));
	ck_assert(strstr(f->notes, "not subtracted: timing adds "));
}

START_TEST(slow)
{
	const char *argv[] = {
		"latency", "-t", "1", "-r", "2", "-d", "100ms", "-w", "20ms", "--window", "10ms",
		NULL
	};

	us_op[0] = 1000;
	run_it(ARRAY_SIZE(argv) - 1, argv, check_slow);
}
END_TEST

/* From the first repeat on: what was drawn before it was known that they are slow does not hold. */
static void check_slow_at_once(const struct bench_result *res __maybe_unused)
{
	const struct figure *row = figures__find(f, "p99.99");
	u64 nr = 0, late = 4 * (8 + 1);	/* of each task, until it has looked again */

	ck_assert(row && row->reason);
	ck_assert(sscanf(row->reason, "needs 100000 samples a repeat, there are %llu",
			 (unsigned long long *)&nr) == 1 || window_ops <= late);
	ck_assert_uint_ge(nr + late, window_ops);
	ck_assert_uint_le(nr, window_ops);
}

START_TEST(slow_at_once)
{
	const char *argv[] = {
		"latency", "-t", "4", "-r", "1", "-d", "200ms", "-w", "20ms", "--window", "200ms",
		NULL
	};

	us_op[0] = 1000;
	run_it(ARRAY_SIZE(argv) - 1, argv, check_slow_at_once);
}
END_TEST

/* And few of those that are fast. */
static void check_fast(const struct bench_result *res)
{
	unsigned int least, most;
	double share = 1;
	int r;

	ck_assert_int_ge(sscanf(strstr(f->notes, "one op in "), "one op in %u to %u", &least,
				&most), 1);
	ck_assert_uint_gt(least, 5);
	ck_assert_int_eq(sscanf(strstr(f->notes, "all of them "), "all of them %lf", &share), 1);
	ck_assert(share > 0 && share < 100);
	for (r = 0; r < res->nr_repeats; r++)
		ck_assert(2 * value("p50", 1, r) < window_ops / 3.0);
}

START_TEST(fast)
{
	const char *argv[] = { "latency", "-t", "1", "-r", "1", "--total", "3000000", NULL };

	run_it(ARRAY_SIZE(argv) - 1, argv, check_fast);
}
END_TEST

/* ---- variants, points ---- */

static void check_variants(const struct bench_result *res)
{
	int r;

	for (r = 0; r < res->nr_repeats; r++)
		ck_assert(value("p50", 0, r) >= us_op[res->variant] * 0.992);
	/* what the first of them had cannot have been counted for the second */
	ck_assert(value("p50", 1, 0) > 0);
}

START_TEST(variants)
{
	const char *argv[] = {
		"latency", "-t", "2,1", "-r", "2", "-d", "80ms", "-w", "5ms", "--window", "20ms",
		NULL
	};

	nr_variants = 2;
	latency_ops.select = latency_select;
	opts.latency_every = 1;
	us_op[0] = 100;
	us_op[1] = 1500;
	run_it(ARRAY_SIZE(argv) - 1, argv, check_variants);
	ck_assert_int_eq(nr_results, 4);
}
END_TEST

/* One instrument sees several benchmarks one after the other. */
START_TEST(again)
{
	const char *argv[] = { "latency", "-t", "1", "-r", "1", "--total", "400", NULL };
	const char *args[ARRAY_SIZE(argv)];
	int i, ret;

	opts.latency_every = 1;
	us_op[0] = 200;
	slow_every = 4;
	slow_us = 2000;
	check_result = check_sleeps;
	ins = latency_instrument__new(&opts);
	f = &ins->figures;
	bench_observer__register(&ins->observer);
	bench_observer__register(&observer);
	for (i = 0; i < 3; i++) {
		memcpy(args, argv, sizeof(argv));
		frozen = false;
		ret = bench_worker__main(ARRAY_SIZE(argv) - 1, args, &latency_ops);
		ck_assert(frozen || ret == BENCH_EXIT_OK);
	}
	ck_assert_int_eq(nr_results, 3);
	ins->free(ins);
}
END_TEST

/* What needs too much memory says so when it begins; the next observer leaves it alone. */
static int gate_begin(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	return bench_run__skip(run, "%s", ins->unavailable);
}

START_TEST(memory)
{
	const char *argv[] = {
		"latency", "-t", "1", "-r", "1", "-d", "100s", "--window", "1ms", NULL
	};
	struct bench_observer gate = { .begin = gate_begin };

	ins = latency_instrument__new(&opts);
	bench_observer__register(&ins->observer);
	bench_observer__register(&gate);
	ck_assert_int_eq(bench_worker__main(ARRAY_SIZE(argv) - 1, argv, &latency_ops),
			 BENCH_EXIT_SKIPPED);
	ck_assert_str_eq(ins->unavailable,
			 "the windows of a repeat would take 1848 MB, more than 1024: take a longer --window");
	ck_assert(!bench_task__pause);
	ins->free(ins);
}
END_TEST

Suite *latency_suite(void)
{
	Suite *s = suite_create("latency");
	TCase *t = tcase_create("latency");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, sleeps, 0, 2);
	tcase_add_test(t, loops);
	tcase_add_loop_test(t, rate, 0, ARRAY_SIZE(everies));
	tcase_add_test(t, slow);
	tcase_add_test(t, slow_at_once);
	tcase_add_test(t, fast);
	tcase_add_test(t, variants);
	tcase_add_test(t, again);
	tcase_add_test(t, memory);
	suite_add_tcase(s, t);
	return s;
}
