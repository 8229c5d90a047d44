// SPDX-License-Identifier: GPL-2.0
/*
 * test-toggle.c: what --toggle makes of its text and of a ratio; tests/shell/toggle.sh runs it
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "bench/worker-internal.h"

static struct bench_run run;
static struct bench_result results[2];

static int plan(const char *text)
{
	memset(&run, 0, sizeof(run));
	bench_worker_params.toggle = text;
	return bench_toggle__plan(&run);
}

static const char *param(const char *name)
{
	int i;

	for (i = 0; i < run.nr_params; i++) {
		if (!strcmp(run.params[i].name, name))
			return run.params[i].value;
	}
	return "";
}

START_TEST(commands)
{
	ck_assert_int_eq(plan("echo 1 >x,echo 0 >x"), 0);
	ck_assert_int_eq(run.nr_variants, 2);
	ck_assert_str_eq(run.variants[0].name, "off");
	ck_assert_str_eq(run.variants[1].name, "on");
	ck_assert_str_eq(param("toggle_on"), "echo 1 >x");
	ck_assert_str_eq(param("toggle_off"), "echo 0 >x");

	/* a comma, and a backslash that stands before none */
	ck_assert_int_eq(plan("a\\,b\\\\c\\,,\\,\\,d\\n,e"), 0);
	ck_assert_str_eq(param("toggle_on"), "a,b\\\\c,");
	ck_assert_str_eq(param("toggle_off"), ",,d\\n");

	/* nothing was asked for */
	ck_assert_int_eq(plan(NULL), 0);
	ck_assert_int_eq(run.nr_variants, 0);
}
END_TEST

START_TEST(refused)
{
	static const char * const bad[] = {
		"", ",", "a", "a,", ",b", "a,,c", "a,b,", "a,b,c,d", "a,b,c,", "a\\,b",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(plan(bad[i]) < 0, "\"%s\"", bad[i]);
		ck_assert_int_eq(run.status, BENCH_EXIT_USAGE);
	}
}
END_TEST

/* The variant of the benchmark's own is put on record, and not lost. */
START_TEST(own_variant)
{
	plan(NULL);
	bench_run__variant(&run, "inode");
	bench_worker_params.toggle = "a,b";
	ck_assert_int_eq(bench_toggle__plan(&run), 0);
	ck_assert_int_eq(run.nr_variants, 2);
	ck_assert_str_eq(param("variant"), "inode");
	ck_assert_int_lt(bench_toggle__plan(&run), 0);	/* two are too many */
}
END_TEST

static void verdict_is(double ratio, double half, const char *text)
{
	memset(results, 0, sizeof(results));
	run.results = results;
	results[1].ratio = ratio;
	results[1].ratio_ci95 = half;
	bench_toggle__verdict(&run);
	ck_assert_int_eq(results[0].nr_notes, 0);
	ck_assert_int_eq(results[1].nr_notes, !!*text);
	ck_assert_str_eq(results[1].notes[0], text);
}

START_TEST(verdict)
{
	plan("a,b");
	verdict_is(1.031, 0.009, "slower than off, us/op +3.1 % (+2.2 to +4.0)");
	verdict_is(0.95, 0.02, "faster than off, us/op -5.0 % (-7.0 to -3.0)");
	verdict_is(1.003, 0.008, "no difference was found: +0.3 % (-0.5 to +1.1)");
	verdict_is(1, 0, "no difference was found: +0.0 % (+0.0 to +0.0)");
	verdict_is(1.03, NAN, "");
	verdict_is(NAN, NAN, "");
	plan(NULL);
	verdict_is(1.031, 0.009, "");
}
END_TEST

Suite *toggle_suite(void)
{
	Suite *s = suite_create("toggle");
	TCase *t = tcase_create("toggle");

	tcase_add_test(t, commands);
	tcase_add_test(t, refused);
	tcase_add_test(t, own_variant);
	tcase_add_test(t, verdict);
	suite_add_tcase(s, t);
	return s;
}
