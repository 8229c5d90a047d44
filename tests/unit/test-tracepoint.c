// SPDX-License-Identifier: GPL-2.0
/*
 * test-tracepoint.c: fields are found by their names, wherever they are; or it is said which is not
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/tracepoint.h"

Suite *tracepoint_suite(void);

static const char begin[] =
	"name: contention_begin\n"
	"ID: 408\n"
	"format:\n"
	"\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n"
	"\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n"
	"\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n"
	"\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n"
	"\n"
	"\tfield:void * lock_addr;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int flags;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\n"
	"print fmt: \"%p (flags=%s)\", REC->lock_addr, __print_flags(REC->flags, \"|\", "
	"{ (1U << 0), \"SPIN\" }, { (1U << 1), \"READ\" })\n";

/* Other common fields, other places, other sizes, and a print fmt that nobody understands. */
static const char moved[] =
	"name: contention_begin\n"
	"ID: 1234\n"
	"format:\n"
	"\tfield:unsigned int common_type;\toffset:4;\tsize:4;\tsigned:0;\n"
	"\tfield:u64 common_new;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\n"
	"\tfield:char comm[16];\toffset:16;\tsize:16;\tsigned:0;\n"
	"\tfield:__data_loc char[] name;\toffset:32;\tsize:4;\tsigned:0;\n"
	"\tfield:short flags;\toffset:36;\tsize:2;\tsigned:1;\n"
	"\tfield:unsigned long lock_addr;\toffset:40;\tsize:8;\tsigned:0;\n"
	"\n"
	"print fmt: \"%s\", ({ void *p = ((((((( [[[ \n";

static struct tracepoint_field fields[3];
static char why[256];
static u64 id;

static int parse(const char *text)
{
	fields[0].name = "common_type";
	fields[1].name = "lock_addr";
	fields[2].name = "flags";
	strcpy(why, "-");
	return tracepoint__parse(text, strlen(text), &id, fields, 3, why, sizeof(why));
}

static void assert_field(int i, unsigned int offset, unsigned int size, bool is_signed)
{
	ck_assert_uint_eq(fields[i].offset, offset);
	ck_assert_uint_eq(fields[i].size, size);
	ck_assert_int_eq(fields[i].is_signed, is_signed);
}

/* Built without libtraceevent? Then that is what is said, and there is nothing else to test. */
static bool without_library(void)
{
	if (parse(begin) != -ENOTSUP)
		return false;
	ck_assert_str_eq(why,
			 "built without libtraceevent: install libtraceevent-dev and build again");
	return true;
}

START_TEST(test_format)
{
	if (without_library())
		return;
	ck_assert_int_eq(parse(begin), 0);
	ck_assert_uint_eq(id, 408);
	assert_field(0, 0, 2, false);
	assert_field(1, 8, 8, false);
	assert_field(2, 16, 4, false);
}
END_TEST

START_TEST(test_moved)
{
	if (without_library())
		return;
	ck_assert_int_eq(parse(moved), 0);
	ck_assert_uint_eq(id, 1234);
	assert_field(0, 4, 4, false);
	assert_field(1, 40, 8, false);
	assert_field(2, 36, 2, true);
}
END_TEST

/* @text with all of @from replaced by @to; to be freed. */
static char *replace(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);
	char *copy;

	ck_assert_ptr_nonnull(at);
	ck_assert_int_gt(asprintf(&copy, "%.*s%s%s", (int)(at - text), text, to,
				  at + strlen(from)), 0);
	return copy;
}

static const struct {
	const char	*from, *to;
	int		err;
	const char	*why;
} bad[] = {
	{ "flags;\toffset:16", "flag;\toffset:16", -ENODATA, "the tracepoint has no field flags" },
	{ "lock_addr;", "lock;", -ENODATA, "the tracepoint has no field lock_addr" },
	{ "common_type", "common_typ", -ENODATA, "the tracepoint has no field common_type" },
	{ "unsigned int flags;", "char flags[4];", -ENODATA,
	  "the tracepoint's field flags is no number" },
	{ "unsigned int flags;", "__data_loc char[] flags;", -ENODATA,
	  "the tracepoint's field flags is no number" },
	{ "offset:16;\tsize:4", "offset:16;\tsize:3", -ENODATA,
	  "the tracepoint's field flags is no number" },
	{ "offset:16;\tsize:4", "offset:99999999;\tsize:4", -ENODATA,
	  "the tracepoint's field flags is no number" },
	{ "offset:16;\tsize:4", "offset:-16;\tsize:4", -ENODATA,
	  "the tracepoint has no field flags" },
	{ "print fmt", "print", -EINVAL, NULL },
	{ "name:", "nam:", -EINVAL, NULL },
	{ "ID: 408", "ID: x", -EINVAL, NULL },
	{ "format:", "\1", -EINVAL, NULL },
};

START_TEST(test_bad)
{
	char *text;

	if (without_library())
		return;
	text = replace(begin, bad[_i].from, bad[_i].to);
	ck_assert_int_eq(parse(text), bad[_i].err);
	ck_assert_str_eq(why, bad[_i].why ?: "that is no format file of a tracepoint");
	free(text);
}
END_TEST

/* Cut anywhere there are fewer fields, or it is none. */
START_TEST(test_cut)
{
	size_t end = strstr(begin, "\nprint fmt:") - begin, cut;

	if (without_library())
		return;
	for (cut = 0; cut < sizeof(begin) - 1; cut++) {
		char *text = strndup(begin, cut);
		int err = parse(text);

		ck_assert_int_eq(err, cut < end + strlen("\nprint fmt:") ? -EINVAL : 0);
		free(text);
	}
}
END_TEST

START_TEST(test_huge)
{
	char *text = malloc(TRACEPOINT_MAX_FORMAT + 2);

	if (without_library()) {
		free(text);
		return;
	}
	memset(text, '(', TRACEPOINT_MAX_FORMAT + 1);
	memcpy(text, begin, strlen(begin));
	text[TRACEPOINT_MAX_FORMAT + 1] = '\0';
	ck_assert_int_eq(parse(text), -EINVAL);
	text[TRACEPOINT_MAX_FORMAT] = '\0';
	ck_assert_int_eq(parse(text), 0);
	free(text);
}
END_TEST

START_TEST(test_get)
{
	static const unsigned char raw[] = { 0xfe, 0xff, 1, 0x80, 0xf0, 0, 0, 0, 0, 1 };
	struct tracepoint_field f = { .offset = 0, .size = 2 };
	u64 value;

	ck_assert(tracepoint_field__get(&f, raw, sizeof(raw), &value));
	ck_assert_uint_eq(value, 0xfffe);
	f.is_signed = true;
	ck_assert(tracepoint_field__get(&f, raw, sizeof(raw), &value));
	ck_assert_uint_eq(value, (u64)-2);
	f = (struct tracepoint_field){ .offset = 3, .size = 1, .is_signed = true };
	ck_assert(tracepoint_field__get(&f, raw, sizeof(raw), &value));
	ck_assert_uint_eq(value, (u64)-128);
	f = (struct tracepoint_field){ .offset = 2, .size = 8 };
	ck_assert(tracepoint_field__get(&f, raw, sizeof(raw), &value));
	ck_assert_uint_eq(value, 0x0100000000f08001ull);
	ck_assert(!tracepoint_field__get(&f, raw, sizeof(raw) - 1, &value));
	f.offset = 3;
	ck_assert(!tracepoint_field__get(&f, raw, sizeof(raw), &value));
	f.offset = ~0u;
	ck_assert(!tracepoint_field__get(&f, raw, sizeof(raw), &value));
	f = (struct tracepoint_field){ .offset = 0, .size = 3 };
	ck_assert(!tracepoint_field__get(&f, raw, sizeof(raw), &value));
}
END_TEST

START_TEST(test_names)
{
	static const char * const names[] = { "", "..", "a/b", "../../x", "a b", "lock\n" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		ck_assert_int_eq(tracepoint__id(names[i], "x", &id, why, sizeof(why)), -EINVAL);
		ck_assert_int_eq(tracepoint__id("x", names[i], &id, why, sizeof(why)), -EINVAL);
	}
	ck_assert_ptr_nonnull(strstr(why, "is no name of a tracepoint"));
}
END_TEST

/* The kernel that we run on: the same ID from both files. */
START_TEST(test_running_kernel)
{
	u64 other;
	char *text;
	size_t size;
	int err = tracepoint__id("lock", "contention_begin", &other, why, sizeof(why));

	if (err) {	/* an ordinary user, or a kernel without; not our error */
		ck_assert_str_ne(why, "-");
		return;
	}
	ck_assert_int_eq(tracepoint__format("lock", "contention_begin", &text, &size, why,
					    sizeof(why)), 0);
	if (!without_library()) {
		ck_assert_int_eq(parse(text), 0);
		ck_assert_uint_eq(id, other);
	}
	free(text);
	ck_assert_int_eq(tracepoint__id("lock", "no-such", &other, why, sizeof(why)), -ENOENT);
	ck_assert_str_eq(why, "this kernel has no tracepoint lock:no-such");
}
END_TEST

Suite *tracepoint_suite(void)
{
	Suite *s = suite_create("tracepoint");
	TCase *tc = tcase_create("format");

	tcase_add_test(tc, test_format);
	tcase_add_test(tc, test_moved);
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_huge);
	tcase_add_test(tc, test_get);
	suite_add_tcase(s, tc);
	tc = tcase_create("files");
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_running_kernel);
	suite_add_tcase(s, tc);
	return s;
}
