// SPDX-License-Identifier: GPL-2.0
/*
 * test-results-read.c: results files are read as they were written, and what is wrong is found
 *
 * Most tests change one place of a small file whose every number is asserted here.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
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

/* What is not finite, a sum of more than 64 bits, a time before the gate: the extremes that are. */
START_TEST(numbers_are_exact)
{
	static const struct {
		const char *from, *to;
	} changes[] = {
		{ "\"total\":null", "\"total\":18446744073709551557" },
		{ "\"ops\":30", "\"ops\":18446744073709551557" },
		{ "\"rate\":150000000", "\"rate\":9.2233720368547757785e25" },
		{ "\"task_ops\":[20,10]", "\"task_ops\":[18446744073709551556,1]" },
		{ "\"gate_ns\":2000", "\"gate_ns\":18446744073709551615" },
		{ "[-20,80,10,true]", "[-9223372036854775808,-7,18446744073709551615,true]" },
		{ "[190,290,16,false]", "[190,9223372036854775807,16,false]" },
		{ "\"elapsed_sec\":null", "\"elapsed_sec\":2e-7" },
		{ "\"rate\":1.5e8", "\"rate\":1.7976931348623157e308" },
		{ "\"tasks\":2,\"cpus\":1", "\"tasks\":2,\"cpus\":0" },
	};
	char *text = strdup(small), *next;
	const struct results_repeat *rep;
	struct results *res;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(changes); i++) {
		next = change(text, changes[i].from, changes[i].to);
		free(text);
		text = next;
	}
	res = parse(text);
	ck_assert_msg(res, "%s", why);
	rep = res->benches[0].points[0].repeats;
	ck_assert(res->benches[0].total == 18446744073709551557ull);
	ck_assert(rep[0].ops == 18446744073709551557ull);
	ck_assert(rep[0].rate == 9.2233720368547757785e25);
	ck_assert(rep[0].windows[0].ops == ULLONG_MAX);
	ck_assert(rep[0].windows[0].start_ns == LLONG_MIN);
	ck_assert(rep[0].windows[0].end_ns == -7);
	ck_assert(rep[0].windows[2].end_ns == LLONG_MAX);
	ck_assert(rep[1].gate_ns == ULLONG_MAX);
	ck_assert(fabs(rep[0].jain - 0.5) < 1e-15);
	ck_assert(res->benches[0].points[0].rate == 1.7976931348623157e308);
	ck_assert(res->benches[0].points[0].elapsed_sec == 2e-7);
	results__free(res);
	free(text);
}
END_TEST

#define NOT_OURS	"is no perf-kbench results file: "
#define NO_FORMAT	NOT_OURS "it has no format \"perf-kbench-results\""
#define NO_BRACE	NOT_OURS "'{' is expected first"

START_TEST(other_files)
{
	static const struct {
		const char *text, *want;
	} files[] = {
		{ "", "is empty" },
		{ "{}", NO_FORMAT },
		{ "{\"format\":\"other\"}", NO_FORMAT },
		{ "{\"format\":[7]}", NO_FORMAT },
		{ "[1]", NO_BRACE },
		{ "\177ELF", NO_BRACE },
		{ "\xef\xbb\xbf{}", NO_BRACE },
		{ "{\"format\":\"perf-kbench-results\"}",
		  "version: a whole number is expected, it is missing" },
	};
	char want[256];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(files); i++) {
		errno = 0;
		ck_assert_ptr_null(parse(files[i].text));
		ck_assert_int_eq(errno, EINVAL);
		snprintf(want, sizeof(want), "x.json: %s", files[i].want);
		ck_assert_str_eq(why, want);
	}
}
END_TEST

START_TEST(versions)
{
	char *text = change(small, "\"version\":1", "\"version\":2");

	ck_assert_ptr_null(parse(text));
	ck_assert_int_eq(errno, ENOTSUP);
	ck_assert_str_eq(why, "x.json: version: up to 1 is expected, there is 2: "
			 "update perf-kbench to read this file");
	free(text);
	assert_wrong("\"version\":1", "\"version\":0",
		     "x.json: version: at least 1 is expected, there is 0");
	assert_wrong("\"version\":1", "\"version\":1.5",
		     "x.json: version: a whole number is expected, there is 1.5");
}
END_TEST

#define PT	"x.json: benchmarks[0].points[0]"
#define REP	PT ".repeats[0]"

START_TEST(ranges)
{
	assert_wrong("\"tasks\":2", "\"tasks\":0", PT ".tasks: 1 to 65536 is expected, there is 0");
	assert_wrong("\"tasks\":2", "\"tasks\":65537",
		     PT ".tasks: 1 to 65536 is expected, there is 65537");
	assert_wrong("\"tasks\":2", "\"tasks\":-1",
		     PT ".tasks: 1 to 65536 is expected, there is -1");
	assert_wrong("[0,2]", "[0,-2]",
		     "x.json: benchmarks[0].cpus[1]: 0 to 2147483647 is expected, there is -2");
	assert_wrong("\"ops\":30", "\"ops\":-30",
		     REP ".ops: at least 0 is expected, there is -30");
	assert_wrong("[20,10]", "[40,-10]",
		     REP ".task_ops[1]: at least 0 is expected, there is -10");
	assert_wrong("\"rate\":1.5e8", "\"rate\":-1",
		     PT ".rate: at least 0 is expected, there is -1");
	assert_wrong("\"rate\":1.5e8", "\"rate\":1e999",
		     PT ".rate: a number up to 1.8e308 is expected, there is 1e999");
	assert_wrong("[null,0.25]", "[null,-1e999]",
		     PT ".metrics.M.values[1]: "
		     "a number up to 1.8e308 is expected, there is -1e999");
	assert_wrong("[80,180,14,false]", "[80,9223372036854775808,14,false]",
		     REP ".windows[1][1]: at most 9223372036854775807 is expected, "
		     "there is 9223372036854775808");
	assert_wrong("\"mode\":\"process\"", "\"mode\":\"processes\"",
		     "x.json: benchmarks[0].mode: "
		     "\"process\" or \"thread\" is expected, there is \"processes\"");
	assert_wrong("\"pin\":\"core\"", "\"pin\":\"\"",
		     "x.json: benchmarks[0].pin: text is expected, there is none");
	assert_wrong("\"status\":\"ok\"", "\"status\":\"okay\"", "x.json: benchmarks[0].status: "
		     "\"ok\", \"failed\", \"usage\", \"skipped\" or \"interrupted\" is expected, "
		     "there is \"okay\"");
	assert_wrong("\"torn\"", "\"to rn\"", PT ".flags[1]: one word is expected");
	assert_wrong("\"torn\"", "\"\"", PT ".flags[1]: text is expected, there is none");
	assert_wrong("\"a/b\"", "\"a\\u001b[2J\"",
		     "x.json: benchmarks[0].name: text without control characters is expected");
}
END_TEST

START_TEST(sizes)
{
	assert_wrong("[80,180,14,false]", "[80,180,14]",
		     REP ".windows[1]: 4 values are expected, there are 3");
	assert_wrong("[80,180,14,false]", "[80]",
		     REP ".windows[1]: 4 values are expected, there is 1");
	assert_wrong("\"task_ops\":[20,10]", "\"task_ops\":[20,10,0]",
		     REP ".task_ops: 2 values are expected, there are 3");
	assert_wrong("\"task_cpu\":[0,-1]", "\"task_cpu\":[]",
		     REP ".task_cpu: 2 values are expected, there are 0");
	assert_wrong("[null,0.25]", "[0.25]",
		     PT ".metrics.M.values: 2 values are expected, there is 1");
}
END_TEST

START_TEST(consistency)
{
	char *text;

	assert_wrong("\"ops\":30", "\"ops\":31",
		     REP ".ops: 30 is expected, the sum of the windows; there is 31");
	assert_wrong("\"elapsed_ns\":200", "\"elapsed_ns\":100",
		     REP ".elapsed_ns: 200 is expected, the sum of the windows; there is 100");
	assert_wrong("180,14,false", "180,14,true",
		     REP ".ops: 16 is expected, the sum of the windows; there is 30");
	assert_wrong("180,14,false", "180,18446744073709551615,false",
		     REP ".windows: sums of up to 64 bits are expected");
	assert_wrong("[80,180,14,false]", "[79,180,14,false]", REP ".windows[1][0]: "
		     "at least 80 is expected, the end of the window before; there is 79");
	assert_wrong("[80,180,14,false]", "[180,80,14,false]",
		     REP ".windows[1][1]: at least 180, its start, is expected; there is 80");
	assert_wrong("[20,10]", "[20,11]",
		     REP ".task_ops: they are expected to add up to 30, as ops says");
	assert_wrong("[20,10]", "[18446744073709551615,31]",
		     REP ".task_ops: they are expected to add up to 30, as ops says");
	assert_wrong("\"rate\":150000000", "\"rate\":150000200", REP ".rate: "
		     "150000000 is expected, ops a second of elapsed_ns; there is 150000200");
	assert_wrong("\"rate\":150000000", "\"rate\":0", REP ".rate: "
		     "150000000 is expected, ops a second of elapsed_ns; there is 0");
	assert_wrong("\"ops_all\":0,\"rate\":null", "\"ops_all\":0,\"rate\":0",
		     PT ".repeats[1].rate: null is expected, as elapsed_ns is 0");
	assert_wrong("\"gate_ns\":2000", "\"gate_ns\":1000", PT ".repeats[1].gate_ns: "
		     "more than 1000 is expected, that of the repeat before; there is 1000");
	assert_wrong("\"rate\":1.5e8", "\"rate\":null",
		     PT ".rate: a number is expected, as the point is valid");
	assert_wrong("\"skip\":null", "\"skip\":\"why\"",
		     PT ".skip: null is expected, as the point is valid");

	/* close enough */
	text = change(small, "\"rate\":150000000", "\"rate\":150000100");
	ck_assert_ptr_nonnull(strstr(text, "150000100"));
	results__free(parse(text));
	ck_assert_str_eq(why, "");
	free(text);
}
END_TEST

/* With a total, neither ops nor time are the windows'; but tasks and rate still agree with them. */
START_TEST(total_is_apart)
{
	char *total = change(small, "\"total\":null", "\"total\":31");
	char *more = change(total, "\"elapsed_ns\":200,\"ops\":30",
			    "\"elapsed_ns\":310,\"ops\":31");
	char *tasks = change(more, "[20,10]", "[20,11]");
	char *good = change(tasks, "\"rate\":150000000", "\"rate\":1e8");
	struct results *res;

	ck_assert_ptr_null(parse(more));
	ck_assert_str_eq(why, REP ".task_ops: they are expected to add up to 31, as ops says");
	ck_assert_ptr_null(parse(tasks));
	ck_assert_str_eq(why, REP ".rate: 100000000 is expected, ops a second of elapsed_ns; "
			 "there is 150000000");
	res = parse(good);
	ck_assert_msg(res, "%s", why);
	ck_assert_uint_eq(res->benches[0].total, 31);
	ck_assert_uint_eq(res->benches[0].points[0].repeats[0].elapsed_ns, 310);
	results__free(res);
	free(total);
	free(more);
	free(tasks);
	free(good);
}
END_TEST

/* The tasks' samples are passed over, but only where they are such, and not in a text. */
/* Of others' output that was imported, all but a rate may be unknown; of ours, nothing may. */
static const char * const unknown[][2] = {
	{ "\"mode\":\"process\"", "\"mode\":null" },
	{ "\"pin\":\"core\"", "\"pin\":null" },
	{ "\"cpus\":[0,2]", "\"cpus\":null" },
	{ "\"warmup_ns\":7", "\"warmup_ns\":null" },
	{ "\"window_ns\":100", "\"window_ns\":null" },
	{ "\"repeats\":2", "\"repeats\":null" },
	{ "\"tasks\":2,\"cpus\":1", "\"tasks\":2,\"cpus\":null" },
	{ "\"gate_ns\":1000", "\"gate_ns\":null" },
	{ "\"gate_ns\":2000", "\"gate_ns\":null" },
	{ "\"task_ops\":[20,10]", "\"task_ops\":null" },
	{ "\"windows\":[[-20,80,10,true],[80,180,14,false],[190,290,16,false]]",
	  "\"windows\":null" },
};

#define ORIGIN	"\"version\":1,\"origin\":{\"format\":\"f\",\"file\":null,\"imported\":\"d\"},"

static void change_it(char **text, const char *from, const char *to)
{
	char *next = change(*text, from, to);

	free(*text);
	*text = next;
}

START_TEST(imported)
{
	char *text = change(small, "\"version\":1,", ORIGIN), *wrong;
	const struct results_repeat *rep;
	const struct results_bench *bench;
	struct results *res;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		wrong = change(small, unknown[i][0], unknown[i][1]);
		ck_assert_msg(!parse(wrong), "%s passes without an origin", unknown[i][1]);
		free(wrong);
		change_it(&text, unknown[i][0], unknown[i][1]);
		res = parse(text);
		ck_assert_msg(res, "%s", why);
		results__free(res);
	}
	/* sums are checked where they can be: ops and time of a repeat only go together */
	wrong = change(text, "\"elapsed_ns\":200", "\"elapsed_ns\":null");
	ck_assert_ptr_null(parse(wrong));
	ck_assert_str_eq(why, "x.json: benchmarks[0].points[0].repeats[0].elapsed_ns: a whole number is expected, there is null");
	free(wrong);
	wrong = change(text, "\"rate\":150000000", "\"rate\":150000001000");
	ck_assert_ptr_null(parse(wrong));
	free(wrong);
	wrong = change(text, "\"task_ops\":null", "\"task_ops\":[20,11]");
	ck_assert_ptr_null(parse(wrong));
	free(wrong);

	change_it(&text, "\"elapsed_ns\":200,\"ops\":30", "\"elapsed_ns\":null,\"ops\":null");
	res = parse(text);
	ck_assert_msg(res, "%s", why);
	ck_assert_str_eq(res->origin, "f");
	ck_assert_ptr_null(res->origin_file);
	ck_assert_str_eq(res->imported, "d");
	bench = res->benches;
	ck_assert(!bench->mode && !bench->pin && !bench->cpus && !bench->repeats);
	ck_assert_int_eq(bench->points[0].cpus, 0);
	rep = bench->points[0].repeats;
	ck_assert(rep->rate == 1.5e8 && isnan(rep->jain) && !rep->nr_windows && !rep->ops);
	results__free(res);

	/* what is known must be what it should be, all the same */
	wrong = change(text, "\"mode\":null", "\"mode\":\"fibre\"");
	ck_assert_ptr_null(parse(wrong));
	free(wrong);
	wrong = change(text, "\"windows\":null", "\"windows\":[[80,70,14,false]]");
	ck_assert_ptr_null(parse(wrong));
	free(wrong);
	wrong = change(text, "\"rate\":150000000", "\"rate\":-1");
	ck_assert_ptr_null(parse(wrong));
	free(wrong);
	wrong = change(text, "\"format\":\"f\"", "\"format\":null");
	ck_assert_ptr_null(parse(wrong));
	ck_assert_str_eq(why, "x.json: origin.format: a string is expected, there is null");
	free(wrong);
	free(text);
	/* a rate alone is for imported files only */
	text = change(small, "\"elapsed_ns\":200,\"ops\":30", "\"elapsed_ns\":null,\"ops\":null");
	ck_assert_ptr_null(parse(text));
	free(text);
}
END_TEST

START_TEST(samples)
{
	char *text;

	assert_wrong("[[2],5]", "[[2],x]", "x.json:16:6: digits, commas and brackets are expected "
		     "in \"window_ops\"");
	assert_wrong("[[2],5]", "[[2],\"5\"]",
		     "x.json:16:6: digits, commas and brackets are expected in \"window_ops\"");
	assert_wrong("[[2],5]", "[[[2]],5]",
		     "x.json:16:3: \"window_ops\" may have 3 levels of brackets");
	text = change(small, "[[2],5]", "[[2],5]]");
	ck_assert_ptr_null(parse(text));
	ck_assert_int_eq(strncmp(why, "x.json:16:9: ", 13), 0);
	free(text);
	assert_wrong("\"window_ops\":[]", "\"window_ops\":{}", PT ".repeats[1].window_ops: "
		     "an array is expected, there is an object");
	assert_wrong("\"window_ops\":[]", "\"window_ops\":1", PT ".repeats[1].window_ops: "
		     "an array is expected, there is a whole number");
	assert_wrong("\"k\":\"v\"", "\"window_ops\":[1]",
		     "x.json: benchmarks[0].parameters.window_ops: "
		     "a string is expected, there is null");

	text = change(small, "\"k\":\"v\"",
		      "\"k\":\"\\\"window_ops\\\":[x\","
		      "\"window_ops\":\"[[[[\",\"l\" : \"window_ops\"");
	results__free(parse(text));
	ck_assert_str_eq(why, "");
	free(text);
	text = change(small, ",\"window_ops\":[]", "");
	results__free(parse(text));
	ck_assert_str_eq(why, "");
	free(text);
	text = change(small, "\"window_ops\":[]", "\"window_ops\":null");
	results__free(parse(text));
	ck_assert_str_eq(why, "");
	free(text);
	text = change(small, "\"window_ops\":[]", "\"window_ops\"\n:\t[ [1 , 2]\r\n]\n");
	results__free(parse(text));
	ck_assert_str_eq(why, "");
	free(text);
}
END_TEST

START_TEST(unknown_members_are_skipped)
{
	char *text = change(small, "\"gate_ns\"", "\"round\":[{\"deep\":1e999}],\"gate_ns\"");
	char *more = change(text, "\"valid\"", "\"dropped\":{\"window_opss\":[1]},\"valid\"");

	results__free(parse(more));
	ck_assert_str_eq(why, "");
	free(text);
	free(more);
}
END_TEST

START_TEST(not_complete)
{
	char *text = change(small, "\"complete\":true", "\"complete\":false");
	struct results *res = parse(text);

	ck_assert_msg(res, "%s", why);
	ck_assert(!res->complete);
	results__free(res);
	free(text);
}
END_TEST

/* Nothing that is cut off is taken for a file, but for the line feed behind all. */
START_TEST(cut_short)
{
	size_t size;
	char *copy;

	for (size = 0; size < strlen(small) - 1; size++) {
		/* exactly as large, for those who look for reads beyond it */
		copy = malloc(size ?: 1);
		memcpy(copy, small, size);
		errno = 0;
		ck_assert_ptr_null(results__parse("x.json", copy, size, why, sizeof(why)));
		ck_assert_int_eq(errno, EINVAL);
		ck_assert_msg(size ? !!strstr(why, ": ends early: some of it is missing") :
			      !!strstr(why, "is empty"), "%zu: %s", size, why);
		free(copy);
	}
	results__free(results__parse("x.json", small, size, why, sizeof(why)));
	ck_assert_str_eq(why, "");
}
END_TEST

/* Is @word one of @list, which has blanks around each? */
static bool is_in(const char *list, const char *word)
{
	char padded[80];

	snprintf(padded, sizeof(padded), " %s ", word);
	return strstr(list, padded);
}

#define MAY_BE_NULL	" rate path fs duration_ns message environment dir "
#define REALS	" rate us_per_op task_min task_max jain values "
#define MAY_MISS								\
	" ops_all start_skew_ns task_ops_all task_start_ns task_done_ns task_cpu task_nvcsw "	\
	"task_nivcsw window_ops us_per_op ratio ratio_ci95 task_min task_max jain notes "	\
	"task_counts variants "

static bool passes(struct json_object *root)
{
	const char *text = json_object_to_json_string(root);
	struct results *res = results__parse("x.json", text, strlen(text), why, sizeof(why));

	results__free(res);
	if (!res)
		ck_assert_int_eq(errno, EINVAL);
	return res;
}

static struct json_object *replacements[7];

enum { TEXT, REAL, WHOLE, TRUTH, ARRAY, OBJECT, NOTHING };

static void make_replacements(void)
{
	replacements[TEXT] = json_object_new_string("x");
	replacements[REAL] = json_object_new_double(1.5);
	replacements[WHOLE] = json_object_new_int64(-7);
	replacements[TRUTH] = json_object_new_boolean(true);
	replacements[ARRAY] = json_object_new_array();
	replacements[OBJECT] = json_object_new_object();
}

static int kind_of(struct json_object *value)
{
	switch (json_object_get_type(value)) {
	case json_type_string:
		return TEXT;
	case json_type_double:
		return REAL;
	case json_type_int:
		return WHOLE;
	case json_type_boolean:
		return TRUTH;
	case json_type_array:
		return ARRAY;
	case json_type_object:
		return OBJECT;
	case json_type_null:
	default:
		return NOTHING;
	}
}

static void set(struct json_object *in, const char *name, int index, struct json_object *value)
{
	if (json_object_is_type(in, json_type_object))
		json_object_object_add(in, name, value);
	else
		json_object_array_put_idx(in, index, value);
}

/* Put all wrong types in the place of one value, which is a member, or an element of @name. */
static void misplace_one(struct json_object *root, struct json_object *in, const char *name,
			 int index)
{
	struct json_object *old = json_object_is_type(in, json_type_object) ?
				  json_object_object_get(in, name) :
				  json_object_array_get_idx(in, index);
	int kind = kind_of(old), other, nr_good = 0;

	json_object_get(old);
	for (other = TEXT; other <= NOTHING; other++) {
		bool good;

		if (other == kind)
			continue;
		set(in, name, index, json_object_get(replacements[other]));
		good = passes(root);
		nr_good += good;
		if (is_in(REALS, name) && (other == REAL || other == WHOLE))
			good = false;
		else if (kind == NOTHING)
			good &= other == ARRAY || (other == OBJECT && strcmp(name, "dir")) ||
				other == TRUTH;
		else if (other == NOTHING)
			good &= !is_in(MAY_BE_NULL MAY_MISS, name) && strcmp(name, "values");
		ck_assert_msg(!good, "%s[%d]: %s passes", name, index,
			      json_object_to_json_string(replacements[other]));
		set(in, name, index, json_object_get(old));
	}
	ck_assert_int_le(nr_good, 2);
	json_object_put(old);
}

static void misplace(struct json_object *root, struct json_object *in, const char *name)
{
	size_t i;

	if (json_object_is_type(in, json_type_object)) {
		json_object_object_foreach(in, key, value) {
			misplace_one(root, in, key, 0);
			if (strcmp(key, "environment"))
				misplace(root, value, key);
		}
	} else if (json_object_is_type(in, json_type_array) && strcmp(name, "window_ops")) {
		for (i = 0; i < json_object_array_length(in); i++) {
			misplace_one(root, in, name, i);
			misplace(root, json_object_array_get_idx(in, i), name);
		}
	}
}

START_TEST(wrong_types)
{
	struct json_object *root = json_tokener_parse(small);
	size_t i;

	make_replacements();
	ck_assert(passes(root));
	misplace(root, root, "");
	ck_assert(passes(root));
	for (i = 0; i < ARRAY_SIZE(replacements); i++)
		json_object_put(replacements[i]);
	json_object_put(root);
}
END_TEST

/* Each member under another name is one that is missing. */
START_TEST(missing_members)
{
	char name[64], *text;
	struct results *good;
	const char *p, *end;
	int nr = 0;

	for (p = strstr(small, "\":"); p; p = strstr(p + 1, "\":")) {
		for (end = p; p[-1] != '"'; p--)
			;
		snprintf(name, sizeof(name), "%.*s", (int)(end - p), p);
		ck_assert_int_ge(asprintf(&text, "%.*s_%s", (int)(end - small), small, end), 0);
		good = parse(text);
		if (is_in(MAY_MISS " k cpu model cores governors lsm M ", name))
			ck_assert_msg(good, "%s: %s", name, why);
		else
			ck_assert_msg(!good && (strstr(why, "it is missing") ||
						!strcmp(name, "format")), "%s", name);
		results__free(good);
		free(text);
		p = end;
		nr++;
	}
	ck_assert_int_gt(nr, 60);
}
END_TEST

static void assert_env(const char *name, const char *want)
{
	struct results *res = parse(small);
	char *text = results__env(res, name);

	ck_assert_str_eq(text, want);
	free(text);
	results__free(res);
}

START_TEST(environment)
{
	struct results *res;
	char *text;

	assert_env("cpu.model", "A CPU");
	assert_env("cpu.cores", "4");
	assert_env("cpu.governors", "a b");
	assert_env("cpu.none", "");
	assert_env("cpu.model.none", "");
	assert_env("cpu", "{\"model\":\"A CPU\",\"cores\":4,\"governors\":[\"a\",\"b\"]}");
	assert_env("lsm", "");
	assert_env("none.model", "");
	assert_env(".", "");
	text = change(small, "\"lsm\":null", "\"lsm\":[null,1.5,{\"a\":[true]},\"/\"]");
	res = parse(text);
	free(text);
	text = results__env(res, "lsm");
	ck_assert_str_eq(text, "1.5 {\"a\":[true]} /");
	free(text);
	results__free(res);

	text = change(small, "\"environment\":{\"cpu\"", "\"environment\":null,\"x\":{\"cpu\"");
	res = parse(text);
	free(text);
	ck_assert_ptr_null(res->environment);
	text = results__env(res, "cpu.model");
	ck_assert_str_eq(text, "");
	free(text);
	results__free(res);
}
END_TEST

static void assert_command(const char *list, const char *want)
{
	char *text = change(small, "[\"perf-kbench\",\"-o\",\"it's x.json\"]", list);
	struct results *res = parse(text);

	ck_assert_msg(res, "%s", why);
	ck_assert_str_eq(res->command, want);
	results__free(res);
	free(text);
}

START_TEST(command_for_a_shell)
{
	assert_command("[]", "");
	assert_command("[\"\",\"\"]", "'' ''");
	assert_command("[\"/a/b-c_d.e\",\"--x=1,2:3%@+\"]", "/a/b-c_d.e --x=1,2:3%@+");
	assert_command("[\"A=b\",\"A=b\"]", "'A=b' A=b");
	assert_command("[\"~\",\"$x\",\"a\\nb\",\"*\",\"#\",\"\\u00e4\"]",
		       "'~' '$x' 'a\nb' '*' '#' '\xc3\xa4'");
	assert_command("[\"'\",\"\\\\\",\"`\\\"\"]", "''\\''' '\\' '`\"'");
}
END_TEST

/* What a file says cannot move a terminal's cursor, and what is too long for @why is cut. */
START_TEST(messages)
{
	char *text = change(small, "\"M\":{\"unit\"", "\"\\u001b[2J\\n\":{\"unyt\"");

	ck_assert_ptr_null(parse(text));
	ck_assert_str_eq(why, PT ".metrics.?[2J?: text without control characters is expected");
	strcpy(why, "not touched");
	ck_assert_ptr_null(results__parse("x.json", text, strlen(text), why, 0));
	ck_assert_str_eq(why, "not touched");
	ck_assert_ptr_null(results__parse("x.json", text, strlen(text), NULL, 0));
	ck_assert_ptr_null(results__parse("x.json", text, strlen(text), why, 1));
	ck_assert_str_eq(why, "");
	ck_assert_ptr_null(results__parse("x.json", text, strlen(text), why, 12));
	ck_assert_str_eq(why, "x.json: ben");
	ck_assert_ptr_null(results__parse("x.json", "{!", 2, why, 6));
	ck_assert_str_eq(why, "x.jso");
	ck_assert_ptr_null(results__parse("a\x1b", "", 0, why, sizeof(why)));
	ck_assert_str_eq(why, "a?: is empty");
	free(text);
}
END_TEST

static char dir[] = "/tmp/kbench-results-read-XXXXXX";

static void make_dir(void)
{
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void assert_unreadable(const char *path, int err, const char *want)
{
	errno = 0;
	ck_assert_ptr_null(results__read(path, why, sizeof(why)));
	ck_assert_int_eq(errno, err);
	ck_assert_str_eq(why, want);
}

START_TEST(files)
{
	struct results *res;
	struct stat st;

	write_file("x.json", small);
	res = results__read("x.json", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_str_eq(why, "");
	ck_assert_str_eq(res->path, "x.json");
	results__free(res);

	assert_unreadable("none", ENOENT, "none: No such file or directory");
	assert_unreadable("", ENOENT, ": No such file or directory");
	assert_unreadable(".", EISDIR, ".: Is a directory");
	assert_unreadable("x.json/y", ENOTDIR, "x.json/y: Not a directory");
	assert_unreadable("/dev/zero", EINVAL,
			  "/dev/zero: is a device, a results file is expected");
	assert_unreadable("/dev/null", EINVAL,
			  "/dev/null: is a device, a results file is expected");
	write_file("empty", "");
	assert_unreadable("empty", EINVAL, "empty: is empty");
	write_file("blank", " \r\n\t");
	assert_unreadable("blank", EINVAL, "blank:2:2: ends early: some of it is missing");
	/* has no size before it is read */
	ck_assert_int_eq(stat("/proc/self/maps", &st), 0);
	ck_assert_int_eq(st.st_size, 0);
	assert_unreadable("/proc/self/maps", EINVAL, "/proc/self/maps: "
			  "is no perf-kbench results file: '{' is expected first");
}
END_TEST

START_TEST(huge_files)
{
	write_file("huge", "{");
	ck_assert_int_eq(truncate("huge", 1ll << 31), 0);
	assert_unreadable("huge", EFBIG, "huge: less than 2 GiB is expected");
	write_file("huge", "");
	ck_assert_int_eq(truncate("huge", (1ll << 31) - 1), 0);
	assert_unreadable("huge", EINVAL, "huge: "
			  "is no perf-kbench results file: '{' is expected first");
}
END_TEST

START_TEST(standard_input)
{
	int saved = dup(STDIN_FILENO), fds[2], i;
	struct results *res;
	FILE *pipe;
	pid_t pid;

	write_file("x.json", "[]");
	ck_assert_ptr_nonnull(freopen("x.json", "re", stdin));
	assert_unreadable("-", EINVAL, "standard input: "
			  "is no perf-kbench results file: '{' is expected first");

	/* a pipe, in many pieces, of more than is read at once */
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		pipe = fdopen(fds[1], "w");
		for (i = 0; i < 1500; i++)
			fprintf(pipe, "%1000s", "");
		fputs(small, pipe);
		fclose(pipe);
		_exit(0);
	}
	close(fds[1]);
	dup2(fds[0], STDIN_FILENO);
	close(fds[0]);
	res = results__read("-", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_str_eq(res->path, "-");
	ck_assert_str_eq(res->benches[0].name, "a/b");
	results__free(res);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);

	close(STDIN_FILENO);
	assert_unreadable("-", EBADF, "standard input: Bad file descriptor");
	dup2(saved, STDIN_FILENO);
	close(saved);
}
END_TEST

/* The program of the same build, which lies beside the tests. */
static void run_program(const char *options)
{
	char self[PATH_MAX], command[PATH_MAX + 256];
	ssize_t len = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ck_assert_int_gt(len, 0);
	self[len] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(command, sizeof(command), "%s/perf-kbench -q -o real.json %s >/dev/null 2>&1",
		 self, options);
	ck_assert_int_ge(system(command), 0);
}

/* Whatever comes of it on a busy machine: what the program wrote can be read. */
START_TEST(real_files)
{
	const struct results_bench *bench;
	const struct results_point *pt;
	struct results *res;
	char *text;
	int i;

	run_program("-r 3 fsnotify eventfd -t 1,2 -d 20ms -w 1ms --window 5ms");
	res = results__read("real.json", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_int_eq(res->nr_benches, 1);
	bench = res->benches;
	/* a task that got no CPU in 20 ms fails the run */
	ck_assert_int_eq(res->complete, !strcmp(bench->status, "ok"));
	ck_assert_str_eq(bench->name, "fsnotify/eventfd");
	ck_assert_uint_eq(bench->duration_ns, 20000000);
	ck_assert_uint_eq(bench->window_ns, 5000000);
	ck_assert_int_eq(bench->nr_points, 2);
	for (i = 0; i < 2; i++) {
		pt = &bench->points[i];
		ck_assert_int_eq(pt->tasks, i + 1);
		ck_assert_int_eq(pt->nr_repeats, 3);
		ck_assert_int_ge(pt->repeats[0].nr_windows, 4);
	}
	text = results__env(res, "perf_kbench");
	ck_assert_str_ne(text, "");
	free(text);
	results__free(res);

	run_program("-r 2 fsnotify pipe -t 2 --mode thread --total 20000 --window 1ms");
	res = results__read("real.json", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_uint_eq(res->benches[0].total, 20000);
	ck_assert_str_eq(res->benches[0].mode, "thread");
	ck_assert_uint_eq(res->benches[0].points[0].repeats[0].ops, 20000);
	ck_assert(res->benches[0].points[0].elapsed_sec > 0);
	results__free(res);

	run_program("-r 2 fsnotify file -t 2 --marks none,inode -d 20ms -w 1ms --window 2ms");
	res = results__read("real.json", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_int_eq(res->benches[0].nr_points, 2);
	ck_assert_str_eq(res->benches[0].points[0].variant, "none");
	ck_assert_str_eq(res->benches[0].points[1].variant, "inode");
	results__free(res);

	run_program("-r 2 kernfs lookup -t 2 --loops 1000 --window 1ms");
	res = results__read("real.json", why, sizeof(why));
	ck_assert_msg(res, "%s", why);
	ck_assert_uint_eq(res->benches[0].loops, 1000);
	ck_assert_uint_eq(res->benches[0].duration_ns, 0);
	results__free(res);
}
END_TEST

Suite *results_read_suite(void)
{
	Suite *s = suite_create("results-read");
	TCase *tc = tcase_create("results-read");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, all_is_read);
	tcase_add_test(tc, numbers_are_exact);
	tcase_add_test(tc, other_files);
	tcase_add_test(tc, versions);
	tcase_add_test(tc, ranges);
	tcase_add_test(tc, sizes);
	tcase_add_test(tc, consistency);
	tcase_add_test(tc, total_is_apart);
	tcase_add_test(tc, imported);
	tcase_add_test(tc, samples);
	tcase_add_test(tc, unknown_members_are_skipped);
	tcase_add_test(tc, not_complete);
	tcase_add_test(tc, cut_short);
	tcase_add_test(tc, wrong_types);
	tcase_add_test(tc, missing_members);
	tcase_add_test(tc, environment);
	tcase_add_test(tc, command_for_a_shell);
	tcase_add_test(tc, messages);
	suite_add_tcase(s, tc);

	tc = tcase_create("results-files");
	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, files);
	tcase_add_test(tc, huge_files);
	tcase_add_test(tc, standard_input);
	tcase_add_test(tc, real_files);
	suite_add_tcase(s, tc);
	return s;
}
