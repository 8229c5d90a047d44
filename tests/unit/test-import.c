// SPDX-License-Identifier: GPL-2.0
/*
 * The parsers of others' output: what they make of it, and what they refuse
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <check.h>
#include <linux/kernel.h>

#include "import/import.h"

Suite *import_suite(void);

static const struct import_options plain = { .per = 1 };
static char why[512];

static struct import *parse_bytes(const char *format, const struct import_options *opt,
				  const char *text, size_t size)
{
	/* a copy of just the bytes, so that a sanitizer sees every read beyond them */
	char *copy = malloc(size ?: 1);
	struct import *im;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, size);
	*why = '\0';
	errno = 0;
	im = import__parse(import__find_format(format), opt, "x", copy, size, why, sizeof(why));
	ck_assert_msg(im || (errno == EINVAL && !strncmp(why, "x:", 2)), "%s: errno %d, \"%s\"",
		      text, errno, why);
	free(copy);
	return im;
}

static struct import *parse_with(const char *format, const struct import_options *opt,
				 const char *text)
{
	return parse_bytes(format, opt, text, strlen(text));
}

static struct import *good_with(const char *format, const struct import_options *opt,
				const char *text)
{
	struct import *im = parse_with(format, opt, text);

	ck_assert_msg(im, "%s", why);
	return im;
}

static struct import *good(const char *format, const char *text)
{
	return good_with(format, &plain, text);
}

static void bad_with(const char *format, const struct import_options *opt, const char *text,
		     const char *message)
{
	struct import *im = parse_with(format, opt, text);

	ck_assert_msg(!im, "taken for good: %s", text);
	ck_assert_msg(!strncmp(why, message, strlen(message)), "\"%s\", not \"%s\"", why, message);
}

static void bad(const char *format, const char *text, const char *message)
{
	bad_with(format, &plain, text, message);
}

static const struct import_point *point(const struct import *im, int bench, int nr, int tasks,
					const char *variant)
{
	const struct import_point *p;

	ck_assert_int_lt(bench, im->nr_benches);
	ck_assert_int_lt(nr, im->benches[bench]->nr_points);
	p = im->benches[bench]->points[nr];
	ck_assert_int_eq(p->tasks, tasks);
	ck_assert_str_eq(p->variant, variant);
	return p;
}

static double rate(const struct import_point *p, int repeat)
{
	ck_assert_int_lt(repeat, p->nr_repeats);
	return p->repeats[repeat].rate;
}

static double given(const struct import_point *p, int repeat, const char *name)
{
	struct json_object *value;

	ck_assert_int_lt(repeat, p->nr_repeats);
	ck_assert_msg(json_object_object_get_ex(p->repeats[repeat].given, name, &value), "%s",
		      name);
	return json_object_get_double(value);
}

static const char *param(const struct import_bench *b, const char *name)
{
	struct json_object *value;

	ck_assert_msg(json_object_object_get_ex(b->parameters, name, &value), "%s", name);
	return json_object_get_string(value);
}

/* ---- numbers ---- */

START_TEST(test_numbers)
{
	static const char * const not_u64[] = {
		"", "-1", "+1", " 1", "x", "18446744073709551616", "99999999999999999999999",
	};
	static const char * const not_real[] = {
		"", "-1", "+1", ".5", "5.", "nan", "inf", "1.", ",5", "0x",
	};
	const char *p = "18446744073709551615,", *q;
	double value;
	u64 n;
	size_t i;

	ck_assert(scan__u64(&p, ~0ULL, &n) && n == ~0ULL && *p == ',');
	for (i = 0; i < ARRAY_SIZE(not_u64); i++) {
		p = not_u64[i];
		ck_assert_msg(!scan__u64(&p, ~0ULL, &n) && p == not_u64[i], "%s", not_u64[i]);
	}
	p = "11";
	ck_assert(!scan__u64(&p, 10, &n));

	p = "479.666572us";
	ck_assert(scan__real(&p, 6, &value) && value == 479.666572 && !strcmp(p, "us"));
	for (i = 0; i < 3; i++) {
		static const int wrong[] = { 5, 7, 0 };

		p = "479.666572us";
		ck_assert(!scan__real(&p, wrong[i], &value));
	}
	/* a comma ends a number; the exponent only where it is asked for */
	p = "1,5";
	ck_assert(scan__real(&p, SCAN_ANY, &value) && value == 1 && *p == ',');
	p = "7.56e+08";
	ck_assert(scan__real(&p, SCAN_ANY, &value) && value == 7.56 && *p == 'e');
	p = "7.56e+08";
	ck_assert(scan__real(&p, SCAN_EXPONENT, &value) && value == 756000000 && !*p);
	p = "1e999";
	ck_assert(!scan__real(&p, SCAN_EXPONENT, &value));
	p = "1e";
	ck_assert(!scan__real(&p, SCAN_EXPONENT, &value));
	p = "00000000000000000000000000000000000000000000000000000000000000001";
	ck_assert(!scan__real(&p, SCAN_ANY, &value));
	for (i = 0; i < ARRAY_SIZE(not_real); i++) {
		p = not_real[i];
		q = p;
		ck_assert_msg(!scan__real(&p, SCAN_EXPONENT, &value) || *p, "%s", q);
	}
}
END_TEST

/* Of all formats: bytes that no text of theirs has. */
START_TEST(test_bytes)
{
	static const char nul[] = "single: total 1.000000ms per 1.000000us\0\n";
	const struct import_format *f;
	struct import_options opt = { .per = 1, .side = IMPORT_SIDE_BASE };
	struct import *im;

	for (f = import_formats; f->name; f++) {
		im = parse_bytes(f->name, &opt, nul, sizeof(nul) - 1);
		ck_assert_ptr_null(im);
		ck_assert_msg(strstr(why, "x:1: text is expected, there is a control character (0x00)"),
			      "%s: %s", f->name, why);
		bad_with(f->name, &opt, "", "x: is empty");
		bad_with(f->name, &opt, "\n\n", "x:");
		bad_with(f->name, &opt, "a\r\n", "x:1: the line ends as on DOS");
		bad_with(f->name, &opt, "\n1", "x:2: the last line has no line feed");
		bad_with(f->name, &opt, "\x1b[31m\n", "x:1: text is expected, there is a control");
	}
	ck_assert_ptr_null(import__find_format("csv"));
}
END_TEST

START_TEST(test_too_big)
{
	size_t size = IMPORT_MAX_SIZE + 1;
	char *text = malloc(size);

	ck_assert_ptr_nonnull(text);
	memset(text, '\n', size);
	ck_assert_ptr_null(import__parse(import__find_format("rates"), &plain, "x", text, size,
					 why, sizeof(why)));
	ck_assert_int_eq(errno, EFBIG);
	ck_assert_str_eq(why, "x: at most 64 MiB are expected");
	free(text);
}
END_TEST

/* ---- sysfs_benchmark ---- */

#define SINGLE	"single: total 37.537578ms per 3.753758us\n"
#define FOUR	"concur: total 4000.000010ms per 400.000001us  CPU 65\n"	\
		"concur: total 5000.000000ms per 500.000000us  CPU 2\n"	\
		"concur: total 7000.000000ms per 700.000000us  CPU 0\n"	\
		"concur: total 9000.000000ms per 900.000000us  CPU 2\n"

START_TEST(test_kernfs)
{
	struct import *im = good("sysfs_benchmark",
				 SINGLE FOUR "times: 10000 threads: 4 cpus: 86\n");
	const struct import_bench *b = im->benches[0];
	const struct import_point *p;
	struct json_object *list;

	ck_assert_int_eq(im->nr_benches, 1);
	ck_assert_str_eq(b->name, "sysfs_benchmark");
	ck_assert_str_eq(b->mode, "thread");
	ck_assert(b->loops == 10000 && !b->total);
	ck_assert_int_eq(b->nr_cpus, 3);
	ck_assert(b->cpus[0] == 0 && b->cpus[1] == 2 && b->cpus[2] == 65);

	p = point(im, 0, 0, 1, "");
	ck_assert_int_eq(p->cpus, 0);
	ck_assert_double_eq(rate(p, 0), 1e6 / 3.753758);
	ck_assert_double_eq(given(p, 0, "us_per_op"), 3.753758);
	ck_assert_double_eq(given(p, 0, "total_ms"), 37.537578);

	/* the median of four: 600 us */
	p = point(im, 0, 1, 4, "");
	ck_assert_int_eq(p->cpus, 86);
	ck_assert_double_eq(rate(p, 0), 4e6 / 600);
	ck_assert_double_eq(given(p, 0, "times"), 10000);
	ck_assert(json_object_object_get_ex(p->repeats[0].given, "cpu", &list));
	ck_assert_str_eq(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
			 "[65,2,0,2]");
	ck_assert(json_object_object_get_ex(p->repeats[0].given, "us_per_op", &list));
	ck_assert_str_eq(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
			 "[400.000001,500,700,900]");
	import__free(im);

	/* two listings: two repeats; three threads have one in the middle */
	im = good("sysfs_benchmark",
		  "single: total 1.000000ms per 1.000000us\n"
		  "concur: total 2.000000ms per 2.000000us  CPU 0\n"
		  "concur: total 3.000000ms per 3.000000us  CPU 1\n"
		  "concur: total 4.000000ms per 4.000000us  CPU 2\n"
		  "times: 1000 threads: 3 cpus: 4\n"
		  "\n"
		  "single: total 4.000000ms per 4.000000us\n"
		  "concur: total 4.000000ms per 4.000000us  CPU 0\n"
		  "concur: total 6.000000ms per 6.000000us  CPU 1\n"
		  "concur: total 8.000000ms per 8.000000us  CPU 2\n"
		  "times: 1000 threads: 3 cpus: 4\n");
	p = point(im, 0, 0, 1, "");
	ck_assert_int_eq(p->nr_repeats, 2);
	ck_assert(rate(p, 0) == 1e6 && rate(p, 1) == 25e4);
	p = point(im, 0, 1, 3, "");
	ck_assert_int_eq(p->nr_repeats, 2);
	ck_assert(rate(p, 0) == 1e6 && rate(p, 1) == 5e5);
	ck_assert(im->benches[0]->loops == 1000);
	import__free(im);
}
END_TEST

/* Ours: a measured time instead of loops, remarks, variants. */
START_TEST(test_kernfs_ours)
{
	struct import *im = good("sysfs_benchmark",
		"# off:\n"
		"# 1 threads: other programs ran on the CPUs of the tasks: so it is\n"
		"single: total 50.000000ms per 10.000000us\n"
		"# on:\n"
		"single: total 50.000000ms per 20.000000us\n"
		"# off:\n"
		"# 3 threads: more tasks than CPUs\n"
		"concur: total 50.000000ms per 10.000000us  CPU 0\n"
		"concur: total 50.000000ms per 25.000000us  CPU 1\n"
		"# CPU 0: no op in the measured time\n"
		"times: 5000 threads: 3 cpus: 2\n"
		"# on:\n"
		"# 3 threads: not valid: too short\n");

	ck_assert_int_eq(im->benches[0]->nr_points, 3);
	ck_assert_double_eq(rate(point(im, 0, 0, 1, "off"), 0), 1e5);
	ck_assert_double_eq(rate(point(im, 0, 1, 1, "on"), 0), 5e4);
	/* of 10, 25 and no end: 25 */
	ck_assert_double_eq(rate(point(im, 0, 2, 3, "off"), 0), 3e6 / 25);
	ck_assert(!im->benches[0]->loops);
	import__free(im);

	im = good("sysfs_benchmark", "single: total 50.000000ms per 10.000000us\n"
				     "times: 5000 threads: 1 cpus: 2\n");
	ck_assert(!im->benches[0]->loops);
	import__free(im);

	bad("sysfs_benchmark", "concur: total 50.000000ms per 10.000000us  CPU 0\n"
			       "# CPU 1: no op in the measured time\n"
			       "times: 5000 threads: 2 cpus: 2\n",
	    "x:3: no rate can be given: half of the threads");
}
END_TEST

START_TEST(test_kernfs_bad)
{
	static const char format[] = "sysfs_benchmark";
	struct import_options opt = { .per = 1, .variant = "v" };

	bad(format, SINGLE "concur: total 4796.665718ms per 479.666572us  CPU\n",
	    "x:2: \"single: total N.NNNNNNms per N.NNNNNNus\", \"concur: ...  CPU N\" or \"times: N threads: N cpus: N\" is expected, there is \"concur: total 4796");
	bad(format, "single: total 37.537578ms per 3.753758u\n", "x:1: ");
	bad(format, "single: total 37.53757ms per 3.753758us\n", "x:1: ");
	bad(format, "single: total 37,537578ms per 3,753758us\n", "x:1: ");
	bad(format, "single: total -37.537578ms per 3.753758us\n", "x:1: ");
	bad(format, "single: total nanms per 3.753758us\n", "x:1: ");
	bad(format, "single: total 0.000000ms per 0.000000us\n", "x:1: ");
	bad(format, "single: total 0.001000ms per 0.300000us\n",
	    "x:1: a total that is a whole number of times");
	/* cut short, and more or fewer than it says */
	bad(format, SINGLE, "x:1: \"times: N threads: N cpus: N\" is expected at the end");
	bad(format, SINGLE FOUR, "x:5: \"times: N threads: N cpus: N\" is expected at the end");
	bad(format, FOUR "times: 10000 threads: 5 cpus: 86\n",
	    "x:5: 4 threads are expected, as there were lines; there are 5");
	bad(format, FOUR "times: 10000 threads: 4 cpus: 8", "x:5: the last line has no line feed");
	bad(format, "times: 10000 threads: 86 cpus: 86\n", "x:1: a line for each thread");
	bad(format, FOUR "times: 0 threads: 4 cpus: 86\n", "x:5: ");
	bad(format, FOUR "times: 99999999999999999999 threads: 4 cpus: 86\n", "x:5: ");
	/* numbers that cannot all be right */
	bad(format, FOUR "times: 1000 threads: 4 cpus: 86\n",
	    "x:5: times is 1000, and by that a line above does not fit: total 4000.000010ms per 400.000001us");
	bad(format, "concur: total 50.000000ms per 10.000000us  CPU 0\n"
		    "concur: total 50.000000ms per 20.000000us  CPU 1\n"
		    "times: 6000 threads: 2 cpus: 2\n",
	    "x:3: times is 6000, but no thread above did as many");
	bad_with(format, &opt, "# on:\n" SINGLE, "x:2: the text names a variant, \"on\"");
	opt = (struct import_options){ .per = 1, .cpus = 8 };
	bad_with(format, &opt, FOUR "times: 10000 threads: 4 cpus: 86\n",
		 "x:5: the text tells of 86 CPUs, --cpus of 8");
	bad(format, "# nothing\n", "x: has no result");
}
END_TEST

/* ---- locking-vfs ---- */

#define ALL	"   100 processes: throughput = 342506 average opts/sec all processes\n"
#define PER	"   100 processes: throughput = 3425 average opts/sec per process\n"

START_TEST(test_locking)
{
	struct import *im = good("locking-vfs", ALL PER
		"   200 processes: throughput = 340000 average opts/sec all processes\n"
		"   200 processes: throughput = 1700 average opts/sec per process\n");
	const struct import_point *p = point(im, 0, 0, 100, "");

	ck_assert_str_eq(im->benches[0]->mode, "process");
	ck_assert_double_eq(rate(p, 0), 342506);
	ck_assert_double_eq(given(p, 0, "all"), 342506);
	ck_assert_double_eq(given(p, 0, "per_task"), 3425);
	ck_assert_double_eq(rate(point(im, 0, 1, 200, ""), 0), 340000);
	import__free(im);

	im = good("locking-vfs", "  8 threads: throughput = 8 average opts/sec all threads\n"
				 "  8 threads: throughput = 1 average opts/sec per thread\n");
	ck_assert_str_eq(im->benches[0]->mode, "thread");
	import__free(im);

	bad("locking-vfs", ALL, "x:1: \"... per process\" is expected at the end");
	bad("locking-vfs", PER, "x:1: \"N processes: throughput = N average opts/sec all");
	bad("locking-vfs", ALL ALL, "x:2: \"N processes: throughput = N average opts/sec per");
	bad("locking-vfs", ALL
	    "   100 processes: throughput = 342 average opts/sec per process\n",
	    "x:2: the rate of one of 100 tasks is expected, 3425; there is 342 of 100");
	bad("locking-vfs", ALL
	    "   10 processes: throughput = 3425 average opts/sec per process\n", "x:2: the rate");
	bad("locking-vfs", ALL PER
	    "   100 threads: throughput = 342506 average opts/sec all threads\n"
	    "   100 threads: throughput = 3425 average opts/sec per thread\n",
	    "x:4: either processes or threads");
	bad("locking-vfs", "0 processes: throughput = 1 average opts/sec all processes\n", "x:1: ");
	bad("locking-vfs", "1 processes: throughput = -1 average opts/sec all processes\n",
	    "x:1: ");
	bad("locking-vfs", "1 processes: throughput = 1,000 average opts/sec all processes\n",
	    "x:1: ");
	bad("locking-vfs", "1 processes: throughput = 0 average opts/sec all processes\n"
			   "1 processes: throughput = 0 average opts/sec per process\n",
	    "x:2: a rate above 0 is expected");
	bad("locking-vfs", "65537 processes: throughput = 9 average opts/sec all processes\n",
	    "x:1: ");
}
END_TEST

/* ---- will-it-scale ---- */

#define TOOL	"testcase:Eventfd read/write\nwarmup\nmin:10 max:20 total:30\nmeasurement\n" \
		"min:100 max:110 total:210\nmin:120 max:125 total:245\n"

START_TEST(test_will_it_scale)
{
	struct import_options opt = { .per = 1, .tasks = 2 };
	struct import *im = good_with("will-it-scale", &opt, TOOL "average:227\n");
	const struct import_point *p = point(im, 0, 0, 2, "");
	struct json_object *list;

	ck_assert_str_eq(im->benches[0]->name, "will-it-scale");
	ck_assert_str_eq(param(im->benches[0], "testcase"), "Eventfd read/write");
	ck_assert_ptr_null(im->benches[0]->mode);
	ck_assert_double_eq(rate(p, 0), 227);
	ck_assert(json_object_object_get_ex(p->repeats[0].given, "measurement", &list));
	ck_assert_str_eq(json_object_to_json_string_ext(list, JSON_C_TO_STRING_PLAIN),
			 "[[100,110,210],[120,125,245]]");
	import__free(im);

	bad("will-it-scale", TOOL "average:227\n", "x:7: the text does not tell how many tasks");
	bad_with("will-it-scale", &opt, TOOL "average:226\n",
		 "x:7: 227 is expected, the average of the lines above; there is 226");
	bad_with("will-it-scale", &opt, TOOL, "x:6: \"average:N\" is expected at the end");
	opt.tasks = 8;
	bad_with("will-it-scale", &opt, TOOL "average:227\n",
		 "x:3: 8 tasks of 10 to 20 do not make a total of 30");

	/* ours */
	im = good("will-it-scale",
		  "# inode:\n"
		  "testcase:fsnotify/pipe, write+read, 2 processes\nwarmup\nmeasurement\n"
		  "min:71282 max:74763 total:146045\naverage:146045\n"
		  "testcase:fsnotify/pipe, write+read, 2 processes\nwarmup\nmeasurement\n"
		  "min:0 max:74763 total:74764\naverage:74763\n"
		  "\n"
		  "Pipe Throughput                              129802.0 lps   (0.1 s, 2 samples)\n"
		  "\n"
		  "System Benchmarks Partial Index              BASELINE       RESULT    INDEX\n"
		  "Pipe Throughput                               12440.0     129802.0    104.3\n"
		  "\n");
	p = point(im, 0, 0, 2, "inode");
	ck_assert_str_eq(im->benches[0]->name, "fsnotify/pipe");
	ck_assert_str_eq(im->benches[0]->unit, "write+read");
	ck_assert_str_eq(im->benches[0]->mode, "process");
	ck_assert_int_eq(p->nr_repeats, 2);
	ck_assert(rate(p, 0) == 146045 && rate(p, 1) == 74763);
	import__free(im);

	bad("will-it-scale", "testcase:\n", "x:1: \"testcase:NAME\"");
	bad("will-it-scale", "warmup\n", "x:1: \"testcase:NAME\"");
	bad("will-it-scale", "testcase:a, b, 1 threads\nmeasurement\n", "x:2: \"warmup\"");
	bad("will-it-scale", "testcase:a, b, 1 threads\nwarmup\nmeasurement\naverage:nan\n",
	    "x:4: \"average:N\"");
	bad("will-it-scale", "testcase:a, b, 1 threads\nwarmup\nmin:-1 max:1 total:1\n",
	    "x:3: \"min:N max:N total:N\"");
	bad("will-it-scale", "testcase:a, b, 1 threads\nwarmup\nmin:2 max:1 total:1\n",
	    "x:3: min up to max");
	bad("will-it-scale", "testcase:a, b, 1 threads\nwarmup\nmin:1 max:1 total:1,5\n", "x:3: ");
	bad("will-it-scale",
	    "testcase:a, b, 1 threads\nwarmup\nmin:1 max:1 total:99999999999999999999\n", "x:3: ");
}
END_TEST

#define CSV	"tasks,processes,processes_idle,threads,threads_idle,linear\n0,0,100,0,100,0\n"

START_TEST(test_will_it_scale_csv)
{
	struct import_options opt = { .per = 1, .series = "threads", .variant = "v" };
	struct import *im = good("will-it-scale", CSV "1,1000,50.12,900,49.99,1000\n"
						      "2,1900,0.25,1500,0.00,2000\n");

	ck_assert_int_eq(im->benches[0]->nr_points, 4);
	ck_assert_double_eq(rate(point(im, 0, 0, 1, "processes"), 0), 1000);
	ck_assert_double_eq(rate(point(im, 0, 1, 1, "threads"), 0), 900);
	ck_assert_double_eq(rate(point(im, 0, 3, 2, "threads"), 0), 1500);
	ck_assert_double_eq(given(point(im, 0, 2, 2, "processes"), 0, "idle_percent"), 0.25);
	import__free(im);

	im = good_with("will-it-scale", &opt, CSV "1,1000,50.12,900,49.99,1000\n");
	ck_assert_int_eq(im->benches[0]->nr_points, 1);
	ck_assert_str_eq(im->benches[0]->mode, "thread");
	ck_assert_double_eq(rate(point(im, 0, 0, 1, "v"), 0), 900);
	import__free(im);

	bad("will-it-scale", CSV "1,-1,50.12,900,49.99,1000\n", "x:3: 6 numbers, none negative");
	bad("will-it-scale", CSV "1,1000,50.12,900,49.99\n", "x:3: 6 numbers, none negative");
	bad("will-it-scale", CSV "1,1000,50,12,900,49,99,1000\n", "x:3: 6 numbers, none negative");
	bad("will-it-scale", CSV "1,1000,101.00,900,49.99,1000\n", "x:3: 6 numbers, none negative");
	bad("will-it-scale", CSV "0,1,1,1,1,1\n", "x:3: no task, but a rate");
	bad("will-it-scale", CSV, "x: has no result");
	opt.series = "linear";
	bad_with("will-it-scale", &opt, CSV, "x:1: there is no column \"linear\"");
	opt.series = NULL;
	bad_with("will-it-scale", &opt, CSV, "x:1: there are two columns: --variant needs");
}
END_TEST

/* ---- unixbench ---- */

#define BANNER	"   BYTE UNIX Benchmarks (Version 5.1.3)\n\n" \
		"8 CPUs in system; running 4 parallel copies of tests\n\n"
#define INDEX	"System Benchmarks Index Values               BASELINE       RESULT    INDEX\n"

START_TEST(test_unixbench)
{
	struct import_options opt = { .per = 1, .tasks = 1 };
	struct import *im = good("unixbench", BANNER
		"Pipe Throughput                            1635960.9 lps   (10.0 s, 7 samples)\n"
		"Shell Scripts (1 concurrent)                  5817.0 lpm   (60.0 s, 2 samples)\n"
		"\n" INDEX
		"Pipe Throughput                               12440.0    1635960.9   1315.1\n"
		"Shell Scripts (1 concurrent)                     42.4       5817.0   1371.9\n"
		"                                                                   ========\n"
		"System Benchmarks Index Score                                        1343.2\n");
	const struct import_point *p = point(im, 0, 0, 4, "");

	ck_assert_int_eq(im->nr_benches, 2);
	ck_assert_str_eq(param(im->benches[0], "test"), "Pipe Throughput");
	ck_assert_str_eq(im->benches[0]->unit, "loop");
	ck_assert_double_eq(rate(p, 0), 1635960.9);
	ck_assert_double_eq(given(p, 0, "index"), 1315.1);
	ck_assert_double_eq(given(p, 0, "samples"), 7);
	ck_assert_double_eq(rate(point(im, 1, 0, 4, ""), 0), 5817.0 / 60);
	import__free(im);

	im = good_with("unixbench", &opt, INDEX
		       "Pipe Throughput                               12440.0    1635960.9   1315.1\n");
	ck_assert_double_eq(rate(point(im, 0, 0, 1, ""), 0), 1635960.9);
	import__free(im);

	bad("unixbench", INDEX "Pipe Throughput     12440.0    1635960.9   1315.1\n",
	    "x:2: the text does not tell how many tasks");
	bad_with("unixbench", &opt, INDEX "Pipe Throughput     12440.0    1635960.9   131.5\n",
		 "x:2: 1315.1 is expected as the index, result / baseline x 10; there is 131.5");
	bad_with("unixbench", &opt, INDEX "Pipe Throughput     12440.0    1635960.9\n",
		 "x:2: \"NAME BASELINE RESULT INDEX\"");
	bad_with("unixbench", &opt, INDEX "Pipe Throughput     12440,0    1635960,9   1315,1\n",
		 "x:2: \"NAME BASELINE RESULT INDEX\"");
	bad_with("unixbench", &opt, INDEX "Pipe Throughput     12440.0    -1.0   1315.1\n",
		 "x:2: \"NAME BASELINE RESULT INDEX\"");
	bad_with("unixbench", &opt, INDEX "Pipe Throughput     12440.0    nan   nan\n", "x:2: ");
	bad_with("unixbench", &opt, INDEX "Grep Throughput     10.0    20.0   20.0\n",
		 "x:2: before the table a line with the unit is expected, \"Grep Throughput");
	bad_with("unixbench", &opt, "Pipe Throughput 1635960.0 lps   (10.0 s, 7 samples)\n" INDEX
		 "Pipe Throughput     12440.0    1635960.9   1315.1\n",
		 "x:3: 1635960.0 is expected as the result");
	bad_with("unixbench", &opt, "Pipe Throughput 1635960.0 ops   (10.0 s, 7 samples)\n",
		 "x:1: \"NAME N.N lps");
	bad_with("unixbench", &opt, INDEX "\n", "x:2: a row of the table is expected");
	bad_with("unixbench", &opt, BANNER, "x:4: a table is expected");
}
END_TEST

/* ---- lkp ---- */

#define HEAD	"945579ec98 e902b4cafb\n---------------- ---------------------------\n" \
		"         %stddev     %change         %stddev\n" \
		"             \\          |                \\  \n"
#define ROWS	" 3.369e+08           +11.6%  3.759e+08        will-it-scale.192.processes\n" \
		"   1754466           +11.6%    1958062        will-it-scale.per_process_ops\n" \
		"      0.97            +3.0%       1.00        perf-stat.i.cpi\n" \
		"      7.26 \xc2\xb1" "  2%      -7.3        0.00        perf-profile.fsnotify\n" \
		"     19.26 \xc2\xb1""160%     +21.0%      23.31 \xc2\xb1" " 12%  sched.wait\n"

START_TEST(test_lkp)
{
	struct import_options opt = { .per = 1, .side = IMPORT_SIDE_BASE };
	struct import *im = good_with("lkp", &opt, HEAD ROWS "\n");
	struct json_object *metric;
	const struct import_point *p = point(im, 0, 0, 192, "");

	ck_assert_str_eq(im->benches[0]->name, "will-it-scale");
	ck_assert_str_eq(im->benches[0]->mode, "process");
	ck_assert_double_eq(rate(p, 0), 3.369e8);
	ck_assert_int_eq(json_object_object_length(p->metrics), 4);
	ck_assert(json_object_object_get_ex(p->metrics, "perf-profile.fsnotify", &metric));
	ck_assert_str_eq(json_object_to_json_string_ext(metric, JSON_C_TO_STRING_PLAIN),
			 "{\"unit\":\"\",\"values\":[7.26]}");
	import__free(im);

	opt.side = IMPORT_SIDE_PATCHED;
	im = good_with("lkp", &opt, HEAD ROWS);
	p = point(im, 0, 0, 192, "");
	ck_assert_double_eq(rate(p, 0), 3.759e8);
	ck_assert(json_object_object_get_ex(p->metrics, "perf-profile.fsnotify", &metric));
	ck_assert_str_eq(json_object_to_json_string_ext(metric, JSON_C_TO_STRING_PLAIN),
			 "{\"unit\":\"\",\"values\":[0]}");
	import__free(im);

	/* another row; of one task, times the tasks */
	opt.row = "will-it-scale.per_process_ops";
	bad_with("lkp", &opt, HEAD ROWS, "x: the text does not tell how many tasks");
	opt.tasks = 192;
	im = good_with("lkp", &opt, HEAD ROWS);
	ck_assert_double_eq(rate(point(im, 0, 0, 192, ""), 0), 192 * 1958062.0);
	import__free(im);
	opt.row = "nothing";
	bad_with("lkp", &opt, HEAD ROWS, "x: there is no row nothing");
}
END_TEST

#define SCORE	"      1557            +6.1%       1652        unixbench.score\n"

START_TEST(test_lkp_job)
{
	struct import_options opt = { .per = 1, .side = IMPORT_SIDE_BASE };
	struct import *im = good_with("lkp", &opt, "Hello,\n=========\n"
		"nr_task/runtime/test/testcase:\n  1/300s/pipe/unixbench\n\n" HEAD SCORE);
	const struct import_bench *b = im->benches[0];

	ck_assert_str_eq(b->name, "unixbench");
	ck_assert_str_eq(param(b, "runtime"), "300s");
	/* 1557 / 10 x 12440 loops a second */
	ck_assert_double_eq_tol(rate(point(im, 0, 0, 1, ""), 0), 1936908, 1e-6);
	ck_assert_double_eq(given(b->points[0], 0, "unixbench.score"), 1557);
	import__free(im);

	bad_with("lkp", &opt, HEAD SCORE, "x: unixbench.score: the test that it is of must be");
	bad_with("lkp", &opt, "===\nnr_task/test:\n 1/pipe/x\n",
		 "x:3: as many values are expected as names");
	bad_with("lkp", &opt, "===\nnr_task/test:\n 1\n",
		 "x:3: as many values are expected as names");
	bad_with("lkp", &opt, "===\nno names\n", "x:2: behind the line of =");

	/* ours: each such row is a point, and metrics are of nobody */
	im = good_with("lkp", &opt, HEAD
		"     10000 \xc2\xb1" "  1%     +50.0%      15000 \xc2\xb1" "  2%  fsnotify/eventfd.none.1.ops_per_sec\n"
		"     20000           -50.0%      10000        fsnotify/eventfd.none.2.ops_per_sec\n"
		"     2.0000          +50.0%     3.0000        nfs/negative-dentry.4.elapsed_sec\n");
	ck_assert_int_eq(im->nr_benches, 2);
	ck_assert_str_eq(im->benches[0]->name, "fsnotify/eventfd.none");
	ck_assert_double_eq(rate(point(im, 0, 0, 1, ""), 0), 10000);
	ck_assert_double_eq(given(im->benches[0]->points[0], 0, "stddev_percent"), 1);
	ck_assert_double_eq(rate(point(im, 0, 1, 2, ""), 0), 20000);
	ck_assert_double_eq(rate(point(im, 1, 0, 4, ""), 0), 0.5);
	ck_assert(im->benches[1]->total == 1 && im->benches[1]->points[0]->timed);
	import__free(im);
}
END_TEST

START_TEST(test_lkp_bad)
{
	struct import_options opt = { .per = 1, .side = IMPORT_SIDE_BASE };

	bad("lkp", HEAD ROWS, "x: a comparison has two sides");
	bad_with("lkp", &opt, "1 +1% 1 x\n", "x: a line \"%stddev %change %stddev\" is expected");
	bad_with("lkp", &opt, HEAD, "x: the table has no row");
	bad_with("lkp", &opt, HEAD "  1 +0.0%  1 some.row\n", "x: no row is known to be the result");
	bad_with("lkp", &opt, "> %stddev %change %stddev\n", "x:1: \"%stddev %change");
	bad_with("lkp", &opt, HEAD "   1557     +6.1%   1652\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   1557     +6.1%   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   1,557     +6.1%   1,652   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   -1557     +6.1%   1652   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   nan     +6.1%   1652   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   1e999     +6.1%   1652   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   1557     6.1%   1652   unixbench.score\n", "x:5: \"N [");
	bad_with("lkp", &opt, HEAD "   1557     +6.1%   165   unixbench.score\n",
		 "x:5: from 1557 to 165 is no change of +6.1%");
	bad_with("lkp", &opt, HEAD "   7.26     -7.3   1.00   unixbench.score\n",
		 "x:5: from 7.26 to 1 is no change of -7.3");
	bad_with("lkp", &opt, HEAD ROWS "\nand so on\n", "x:11: nothing but empty lines");
	bad_with("lkp", &opt, HEAD ROWS ROWS,
		 "x: two rows are results of the same task count");
	/* values with one digit may be far off */
	opt.row = "vm-scalability.median";
	opt.tasks = 1;
	import__free(good_with("lkp", &opt, HEAD
			       "   0.07 \xc2\xb1" "  6%     -64.9%   0.02 \xc2\xb1" " 16%  vm-scalability.median\n"));
}
END_TEST

/* ---- simple ---- */

START_TEST(test_simple)
{
	struct import *im = good("perf-bench-simple",
		"1 none 248887.364 198473.392 fsnotify/file preempted,drift\n"
		"1 inode 195083.997 - fsnotify/file -\n"
		"2 none - - fsnotify/file too-short\n"
		"1 - 151689.250 8460.878 nfs/negative-dentry -\n");
	const struct import_point *p = point(im, 0, 0, 1, "none");

	ck_assert_int_eq(im->nr_benches, 2);
	ck_assert_double_eq(rate(p, 0), 248887.364);
	ck_assert_double_eq(p->ci95, 198473.392);
	ck_assert_str_eq(p->flags, "preempted,drift");
	p = point(im, 0, 1, 1, "inode");
	ck_assert(isnan(p->ci95) && !p->flags && p->valid);
	p = point(im, 0, 2, 2, "none");
	ck_assert(!p->valid && !p->nr_repeats);
	ck_assert_str_eq(p->flags, "too-short");
	ck_assert_double_eq(rate(point(im, 1, 0, 1, ""), 0), 151689.25);
	import__free(im);

	bad("perf-bench-simple", "1 none 1.000 1.000 fsnotify/file\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 none 1.00 1.000 fsnotify/file -\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 none nan 1.000 fsnotify/file -\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 none -1.000 1.000 fsnotify/file -\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 none - 1.000 fsnotify/file -\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "0 none 1.000 1.000 fsnotify/file -\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 none 1.000 1.000 fsnotify/file - x\n", "x:1: \"TASKS VARIANT");
	bad("perf-bench-simple", "1 a 1.000 - b/c -\n1 a 1.000 - b/c -\n", "x:2: a second line");
}
END_TEST

START_TEST(test_simple_perf)
{
	struct import_options opt = { .per = 1, .tasks = 2, .name = "sched/pipe" };
	struct import *im = good_with("perf-bench-simple", &opt, "12.500\n10.000\n");

	ck_assert(im->benches[0]->total == 1 && im->benches[0]->points[0]->timed);
	ck_assert_double_eq(rate(point(im, 0, 0, 2, ""), 0), 0.08);
	ck_assert_double_eq(given(im->benches[0]->points[0], 1, "elapsed_sec"), 10);
	import__free(im);

	opt.name = NULL;
	im = good_with("perf-bench-simple", &opt,
		       "# Running sched/messaging benchmark...\n0.125\n\n"
		       "# Running 'syscall/basic' benchmark:\n4.000\n");
	ck_assert_int_eq(im->nr_benches, 2);
	ck_assert_str_eq(im->benches[1]->name, "syscall/basic");
	ck_assert_double_eq(rate(point(im, 1, 0, 2, ""), 0), 0.25);
	import__free(im);

	bad_with("perf-bench-simple", &opt, "12.500\n", "x:1: a number alone: use --name");
	bad_with("perf-bench-simple", &opt, "# Running mem/memcpy benchmark...\n12.500\n",
		 "x:2: it is not known what the number of \"mem/memcpy\" is");
	bad_with("perf-bench-simple", &opt, "# Running sched/pipes benchmark...\n12.500\n",
		 "x:2: it is not known");
	bad_with("perf-bench-simple", &opt, "# Running sched/pipe benchmark...\n0.000\n",
		 "x:2: a time above 0 is expected, there is 0");
	opt.tasks = 0;
	bad_with("perf-bench-simple", &opt, "# Running sched/pipe benchmark...\n1.000\n",
		 "x:2: the text does not tell how many tasks");
}
END_TEST

/* ---- tables ---- */

START_TEST(test_tables)
{
	struct import_options opt = { .per = 1, .series = "b", .variant = "v" };
	struct import *im = good("make-times", "# note\njobs,a,b\n4,20.0,71\n8,,133.2\n");

	ck_assert(im->benches[0]->total == 1 && im->benches[0]->points[0]->timed);
	ck_assert_int_eq(im->benches[0]->nr_points, 3);
	ck_assert_double_eq(rate(point(im, 0, 0, 4, "a"), 0), 0.05);
	ck_assert_double_eq(given(point(im, 0, 2, 8, "b"), 0, "elapsed_sec"), 133.2);
	import__free(im);

	im = good_with("make-times", &opt, "jobs,a,b\n4,20.0,71\n8,,133.2\n");
	ck_assert_int_eq(im->benches[0]->nr_points, 2);
	ck_assert_double_eq(rate(point(im, 0, 0, 4, "v"), 0), 1 / 71.0);
	import__free(im);

	im = good("make-times", "# off:\njobs,elapsed\n4,1.500\n# on:\n4,2.000\n");
	ck_assert_double_eq(given(point(im, 0, 0, 4, "off"), 0, "elapsed_sec"), 1.5);
	ck_assert_double_eq(given(point(im, 0, 1, 4, "on"), 0, "elapsed_sec"), 2);
	import__free(im);

	opt = (struct import_options){ .per = 60, .series = "jpm" };
	im = good_with("rates", &opt, "tasks,jpm,x\n500,119668.25,1\n");
	ck_assert_double_eq(rate(point(im, 0, 0, 500, "jpm"), 0), 119668.25 / 60);
	ck_assert_double_eq(given(im->benches[0]->points[0], 0, "rate"), 119668.25);
	ck_assert(!im->benches[0]->total && !im->benches[0]->points[0]->timed);
	import__free(im);
}
END_TEST

START_TEST(test_tables_bad)
{
	struct import_options opt = { .per = 1, .series = "c" };

	bad("make-times", "tasks,a\n", "x:1: \"jobs,NAME\" is expected");
	bad("rates", "jobs,a\n", "x:1: \"tasks,NAME\" is expected");
	bad("rates", "tasks\n", "x:1: \"tasks,NAME\" is expected");
	bad("rates", "tasks,a,\n1,2,3\n", "x:1: a name is expected for column 3");
	bad("rates", "tasks,a,a\n", "x:1: two columns have the name \"a\"");
	bad("rates", "tasks,a\n", "x: has no result");
	bad("rates", "tasks,a\n1,2,3\n", "x:2: 2 fields are expected, as in the head; there are 3");
	bad("rates", "tasks,a,b\n1,2\n", "x:2: 3 fields are expected, as in the head; there are 2");
	bad("rates", "tasks,a\n1\n", "x:2: 2 fields");
	bad("rates", "tasks,a\n0,2\n", "x:2: tasks, 1 to 65536, are expected");
	bad("rates", "tasks,a\n-1,2\n", "x:2: tasks, 1 to 65536");
	bad("rates", "tasks,a\n65537,2\n", "x:2: tasks, 1 to 65536");
	bad("rates", "tasks,a\n1,-2\n", "x:2: a number above 0 is expected for a, there is \"-2\"");
	bad("rates", "tasks,a\n1,nan\n", "x:2: a number above 0");
	bad("rates", "tasks,a\n1,inf\n", "x:2: a number above 0");
	bad("rates", "tasks,a\n1,1e5\n", "x:2: a number above 0");
	bad("rates", "tasks,a\n1,0\n", "x:2: a number above 0");
	bad("rates", "tasks,a\n1,2x\n", "x:2: a number above 0");
	bad("rates", "tasks,a\n1, 2\n", "x:2: a number above 0");
	bad_with("rates", &opt, "tasks,a\n1,2\n", "x:1: there is no column \"c\"");
	opt = (struct import_options){ .per = 1, .variant = "v" };
	bad_with("rates", &opt, "tasks,a,b\n1,2,3\n", "x:1: there are 2 columns: --variant needs");
	opt = (struct import_options){ .per = 1, .tasks = 2 };
	bad_with("rates", &opt, "tasks,a\n1,2\n", "x:2: the text tells of 1 tasks, --tasks of 2");
}
END_TEST

/* What goes to a terminal has nothing that it would obey. */
START_TEST(test_message)
{
	char small[8];
	struct import *im = parse_with("rates", &plain, "tasks,a\xc2\x9b""31m,a\xc2\x9b""31m\n");

	ck_assert_ptr_null(im);
	ck_assert_str_eq(why, "x:1: two columns have the name \"a??31m\"");
	im = import__parse(import__find_format("rates"), &plain, "x", "a\n", 2, small,
			   sizeof(small));
	ck_assert_ptr_null(im);
	ck_assert_str_eq(small, "x:1: \"t");
}
END_TEST

Suite *import_suite(void)
{
	Suite *suite = suite_create("import");
	TCase *cases = tcase_create("import");

	tcase_add_test(cases, test_numbers);
	tcase_add_test(cases, test_bytes);
	tcase_add_test(cases, test_too_big);
	tcase_add_test(cases, test_kernfs);
	tcase_add_test(cases, test_kernfs_ours);
	tcase_add_test(cases, test_kernfs_bad);
	tcase_add_test(cases, test_locking);
	tcase_add_test(cases, test_will_it_scale);
	tcase_add_test(cases, test_will_it_scale_csv);
	tcase_add_test(cases, test_unixbench);
	tcase_add_test(cases, test_lkp);
	tcase_add_test(cases, test_lkp_job);
	tcase_add_test(cases, test_lkp_bad);
	tcase_add_test(cases, test_simple);
	tcase_add_test(cases, test_simple_perf);
	tcase_add_test(cases, test_tables);
	tcase_add_test(cases, test_tables_bad);
	tcase_add_test(cases, test_message);
	suite_add_tcase(suite, cases);
	return suite;
}
