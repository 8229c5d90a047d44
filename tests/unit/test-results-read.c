// SPDX-License-Identifier: GPL-2.0
/*
 * test-results-read.c: results files are read as they were written, and what is wrong is found
 *
 * Most tests change one place of a small file whose every number is asserted here.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "util/results.h"

Suite *results_read_suite(void);

static const char small[] =
	"{\"format\":\"perf-kbench-results\",\"version\":1,\n"
	"\"command\":[\"perf-kbench\",\"-o\",\"it's x.json\"],\n"
	"\"environment\":{\"cpu\":{\"model\":\"A CPU\",\"cores\":4,\"governors\":[\"a\",\"b\"]},"
	"\"lsm\":null},\n"
	"\"benchmarks\":[\n"
	"{\"name\":\"a/b\",\"unit\":\"op\",\"parameters\":{\"k\":\"v\"},\"mode\":\"process\","
	"\"pin\":\"core\",\"cpus\":[0,2],\n"
	"\"dir\":{\"path\":\"/d\",\"fs\":\"ext4\",\"mount_options\":null},\"duration_ns\":200,"
	"\"warmup_ns\":7,\"window_ns\":100,\n"
	"\"loops\":null,\"total\":null,\"repeats\":2,\"task_counts\":[2],\"variants\":[\"v\"],\n"
	"\"points\":[\n"
	"{\"variant\":\"v\",\"tasks\":2,\"cpus\":1,\"rate\":1.5e8,\"ci95\":null,\"us_per_op\":0.1,"
	"\"ratio\":null,\"ratio_ci95\":null,\"task_min\":1,\"task_max\":2,\"jain\":0.5,"
	"\"elapsed_sec\":null,\"start_skew_ns\":3,\"valid\":true,\"flags\":[\"steal\",\"torn\"],"
	"\"skip\":null,\"notes\":[\"n\"],"
	"\"metrics\":{\"M\":{\"unit\":\"u\",\"values\":[null,0.25]}},\n"
	"\"repeats\":[\n"
	"{\"gate_ns\":1000,\"elapsed_ns\":200,\"ops\":30,\"ops_all\":40,\"rate\":150000000,"
	"\"start_skew_ns\":3,\"flags\":[],\n"
	"\"task_ops\":[20,10],\"task_ops_all\":[25,15],\"task_start_ns\":[-5,6],"
	"\"task_done_ns\":[0,0],\"task_cpu\":[0,-1],\"task_nvcsw\":[1,2],\"task_nivcsw\":[3,4],\n"
	"\"windows\":[[-20,80,10,true],[80,180,14,false],[190,290,16,false]],\n"
	"\"window_ops\":[\n[5,9,11],\n[[2],5]]},\n"
	"{\"gate_ns\":2000,\"elapsed_ns\":0,\"ops\":0,\"ops_all\":0,\"rate\":null,"
	"\"start_skew_ns\":0,\"flags\":[\"zero-ops\"],\"task_ops\":[0,0],\"windows\":[],"
	"\"window_ops\":[]}]}],\n"
	"\"status\":\"ok\",\"message\":\"\"}],\n"
	"\"complete\":true}\n";

static char why[512];

static struct results *parse(const char *text)
{
	strcpy(why, "not written");
	return results__parse("x.json", text, strlen(text), why, sizeof(why));
}

/* @text with the first @from changed to @to; the caller frees. */
static char *change(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *changed;

	ck_assert_msg(at, "%s is not there", from);
	ck_assert_int_ge(asprintf(&changed, "%.*s%s%s", (int)(at - text), text, to,
				  at + strlen(from)), 0);
	return changed;
}

/* That change makes it wrong, and this is what is said. */
static void assert_wrong(const char *from, const char *to, const char *want)
{
	char *text = change(small, from, to);

	errno = 0;
	ck_assert_msg(!parse(text), "%s for %s passes", to, from);
	ck_assert_str_eq(why, want);
	ck_assert_int_eq(errno, EINVAL);
	free(text);
}

START_TEST(all_is_read)
{
	struct results *res = parse(small);
	const struct results_bench *bench;
	const struct results_point *pt;
	const struct results_repeat *rep;

	ck_assert_msg(res, "%s", why);
	ck_assert_str_eq(why, "");
	ck_assert_str_eq(res->path, "x.json");
	ck_assert_str_eq(res->command, "perf-kbench -o 'it'\\''s x.json'");
	ck_assert(res->complete);
	ck_assert_ptr_nonnull(res->environment);
	ck_assert_int_eq(res->nr_benches, 1);
	bench = res->benches;
	ck_assert_str_eq(bench->name, "a/b");
	ck_assert_str_eq(bench->unit, "op");
	ck_assert_str_eq(bench->mode, "process");
	ck_assert_str_eq(bench->pin, "core");
	ck_assert_str_eq(bench->cpus, "0,2");
	ck_assert_str_eq(bench->status, "ok");
	ck_assert_str_eq(bench->message, "");
	ck_assert_str_eq(json_object_get_string(json_object_object_get(bench->parameters, "k")),
			 "v");
	ck_assert_str_eq(bench->dir_path, "/d");
	ck_assert_str_eq(bench->dir_fs, "ext4");
	ck_assert_ptr_null(bench->dir_options);
	ck_assert_uint_eq(bench->duration_ns, 200);
	ck_assert_uint_eq(bench->warmup_ns, 7);
	ck_assert_uint_eq(bench->window_ns, 100);
	ck_assert_uint_eq(bench->loops, 0);
	ck_assert_uint_eq(bench->total, 0);
	ck_assert_int_eq(bench->repeats, 2);
	ck_assert_int_eq(bench->nr_points, 1);
	pt = bench->points;
	ck_assert_str_eq(pt->variant, "v");
	ck_assert_int_eq(pt->tasks, 2);
	ck_assert_int_eq(pt->cpus, 1);
	ck_assert(pt->valid);
	ck_assert(pt->rate == 1.5e8);
	ck_assert(isnan(pt->ci95));
	ck_assert(isnan(pt->elapsed_sec));
	ck_assert_str_eq(pt->flags, "steal torn");
	ck_assert_ptr_null(pt->skip);
	ck_assert_int_eq(pt->nr_metrics, 1);
	ck_assert_str_eq(pt->metrics[0].name, "M");
	ck_assert_str_eq(pt->metrics[0].unit, "u");
	ck_assert(isnan(pt->metrics[0].values[0]));
	ck_assert(pt->metrics[0].values[1] == 0.25);
	ck_assert_int_eq(pt->nr_repeats, 2);
	rep = pt->repeats;
	ck_assert_uint_eq(rep->gate_ns, 1000);
	ck_assert_uint_eq(rep->elapsed_ns, 200);
	ck_assert_uint_eq(rep->ops, 30);
	ck_assert(rep->rate == 1.5e8);
	ck_assert(fabs(rep->jain - 0.9) < 1e-15);	/* 30^2 / (2 * 500) */
	ck_assert_str_eq(rep->flags, "");
	ck_assert_int_eq(rep->nr_windows, 3);
	ck_assert_int_eq(rep->windows[0].start_ns, -20);
	ck_assert_int_eq(rep->windows[0].end_ns, 80);
	ck_assert_uint_eq(rep->windows[0].ops, 10);
	ck_assert(rep->windows[0].dropped);
	ck_assert_int_eq(rep->windows[2].start_ns, 190);
	ck_assert_uint_eq(rep->windows[2].ops, 16);
	ck_assert(!rep->windows[2].dropped);
	rep++;
	ck_assert(isnan(rep->rate));
	ck_assert(isnan(rep->jain));
	ck_assert_str_eq(rep->flags, "zero-ops");
	ck_assert_int_eq(rep->nr_windows, 0);
	results__free(res);
	results__free(NULL);
}
END_TEST

START_TEST(one_is_wrong)
{
	assert_wrong("[80,180,14,false]", "[80,180,14]",
		     "x.json: benchmarks[0].points[0].repeats[0].windows[1]: "
		     "4 values are expected, there are 3");
	assert_wrong("\"mode\":\"process\",", "\"mode\":\"process\";", "x.json:5:66: "
		     "byte 0x3b is not expected here");
}
END_TEST

Suite *results_read_suite(void)
{
	Suite *s = suite_create("results-read");
	TCase *tc = tcase_create("results-read");

	tcase_add_test(tc, all_is_read);
	tcase_add_test(tc, one_is_wrong);
	suite_add_tcase(s, tc);
	return s;
}
