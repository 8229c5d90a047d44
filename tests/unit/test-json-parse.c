// SPDX-License-Identifier: GPL-2.0
/*
 * test-json-parse.c: JSON as RFC 8259 has it passes, all else is found where it is
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <linux/kernel.h>

#include "util/json-parse.h"

Suite *json_parse_suite(void);

#define ANYWHERE	" "

static char why[256];

/* The text is copied to where reads beyond its end are found by those who look for them. */
static struct json_object *parse_bytes(const char *text, size_t size)
{
	char *copy = malloc(size ?: 1);
	struct json_object *value;

	memcpy(copy, text, size);
	*why = '\0';
	errno = 0;
	value = json_parse(copy, size, "skip", why, sizeof(why));
	free(copy);
	return value;
}

static void assert_good(const char *text, const char *want)
{
	struct json_object *value = parse_bytes(text, strlen(text));

	ck_assert_msg(value, "%s: %s", text, why);
	ck_assert_str_eq(why, "");
	ck_assert_str_eq(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
							JSON_C_TO_STRING_NOSLASHESCAPE), want);
	json_object_put(value);
}

static void assert_bad_bytes(const char *text, size_t size, const char *want)
{
	struct json_object *value = parse_bytes(text, size);

	ck_assert_msg(!value, "%s passes", text);
	ck_assert_int_eq(errno, EINVAL);
	if (!strcmp(want, ANYWHERE))
		ck_assert_int_eq(strncmp(why, "1:", 2), 0);
	else if (want[strlen(want) - 1] == ' ')	/* json-c's words, which are not always the same */
		ck_assert_msg(!strncmp(why, want, strlen(want)), "%s: %s", text, why);
	else
		ck_assert_str_eq(why, want);
}

static void assert_bad(const char *text, const char *want)
{
	assert_bad_bytes(text, strlen(text), want);
}

START_TEST(good)
{
	assert_good("{}", "{}");
	assert_good(" \t\r\n{ } \n\n", "{}");
	assert_good("{\"\":[]}", "{\"\":[]}");
	assert_good("{\"a\" :\n{ \"b\" : [ true , false,null , \"x\" ] }}",
		    "{\"a\":{\"b\":[true,false,null,\"x\"]}}");
	assert_good("{\"a\":[0,-0,1.5,-1e-2,1E+2,2e2]}", "{\"a\":[0,0,1.5,-1e-2,1E+2,2e2]}");
	assert_good("{\"a\":[18446744073709551615,-9223372036854775808,9223372036854775808]}",
		    "{\"a\":[18446744073709551615,-9223372036854775808,9223372036854775808]}");
	assert_good("{\"a\":[1e999,123456789012345678901234567890.0]}",
		    "{\"a\":[1e999,123456789012345678901234567890.0]}");
	assert_good("{\"\\u00e4\\\"\\\\\\/\":\"\\b\\f\\n\\r\\t\"}",
		    "{\"\xc3\xa4\\\"\\\\/\":\"\\b\\f\\n\\r\\t\"}");
	assert_good("{\"\xc3\xa4\":\"\xe2\x82\xac\xf0\x9f\x90\xa7\"}",
		    "{\"\xc3\xa4\":\"\xe2\x82\xac\xf0\x9f\x90\xa7\"}");
	assert_good("{\"a\":\"\\ud83d\\udc27\"}", "{\"a\":\"\xf0\x9f\x90\xa7\"}");
	/* half of a pair is no character */
	assert_good("{\"a\":\"\\ud83d-\"}", "{\"a\":\"\xef\xbf\xbd-\"}");
	assert_good("{\"a\":{\"a\":1},\"b\":{\"a\":1},\"aa\":2,\"A\":3}",
		    "{\"a\":{\"a\":1},\"b\":{\"a\":1},\"aa\":2,\"A\":3}");
}
END_TEST

START_TEST(skipped)
{
	assert_good("{\"skip\":[]}", "{\"skip\":null}");
	assert_good("{\"skip\" : [ [[1],2,\n3],\t[]\r],\"a\":[1]}", "{\"skip\":null,\"a\":[1]}");
	assert_good("{\"a\":{\"skip\":[1]},\"skip\":[2]}", "{\"a\":{\"skip\":null},\"skip\":null}");
	assert_good("{\"a\":[{\"skip\":[1,,2]},{\"skip\":[99999999999999999999]}]}",
		    "{\"a\":[{\"skip\":null},{\"skip\":null}]}");
	assert_good("{\"skip\":1,\"a\":[\"skip\",[7]],\"b\":\"skip\",\"skipped\":[1],\"ski\":[1]}",
		    "{\"skip\":1,\"a\":[\"skip\",[7]],\"b\":\"skip\",\"skipped\":[1],\"ski\":[1]}");
	assert_good("{\"a\":\"\\\"skip\\\":[x]\",\"\\\"skip\":[1]}",
		    "{\"a\":\"\\\"skip\\\":[x]\",\"\\\"skip\":[1]}");
	assert_bad("{\"skip\":[1.5]}",
		   "1:11: digits, commas and brackets are expected in \"skip\"");
	assert_bad("{\"skip\":[\n1,\n-1]}",
		   "3:1: digits, commas and brackets are expected in \"skip\"");
	assert_bad("{\"skip\":[1}]",
		   "1:11: digits, commas and brackets are expected in \"skip\"");
	assert_bad("{\"skip\":[[[[]]]]}", "1:12: \"skip\" may have 3 levels of brackets");
	assert_bad("{\"skip\":[1]", "1:12: ends early: some of it is missing");
	assert_bad("{\"skip\":[1", "1:11: ends early: some of it is missing");
	assert_bad("{\"skip\":[1]]", "1:12: ");
	assert_bad("{\"skip\":[1]}]", "1:13: nothing is expected behind the object");
	assert_bad("{\"skip\":[1]1}", "1:12: ");
	assert_bad("{\"skip\":[1],\"skip\":[2]}", "1:13: another member has the same name");
	assert_bad("{1,\"skip\":[1]}", "1:2: ");
	assert_bad("{\"a\",\"skip\":[1]}", "1:5: ");
	assert_bad("{\"a\" \"skip\":[1]}", "1:6: ");
	assert_bad("{\"a\":\"skip\":[1]}", "1:12: ");
}
END_TEST

START_TEST(numbers)
{
	static const char * const bad[] = {
		"01", "-01", "00", "-", "+1", ".5", "1.", "1.e1", "1e", "1e+", "1e-", "--1", "0x10",
		"1a", "1_", "NaN", "nan", "Infinity", "-Infinity", "1.5.5", "1e5.5", "1e5e5", "1-",
		"18446744073709551616", "-9223372036854775809", "100000000000000000000", "1\"a\"",
		"1[", "1{",
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "{\"a\":[%s]}", bad[i]);
		assert_bad(text, ANYWHERE);
		snprintf(text, sizeof(text), "{\"a\":%s}", bad[i]);
		assert_bad(text, ANYWHERE);
	}
	assert_bad("{\"a\":[7,18446744073709551616]}",
		   "1:9: whole numbers of up to 64 bits are expected");
	assert_bad("{\"a\":[\n\n01]}", "3:1: is not a number as JSON has them");
	assert_bad("{\"a\":1.x}", "1:8: digits are expected behind the decimal point");
	assert_bad("{\"a\":1e+x}", "1:9: digits are expected in the exponent");
}
END_TEST

START_TEST(words)
{
	static const char * const bad[] = {
		"True", "TRUE", "nul", "nulll", "falsee", "truefalse", "t", "undefined", "null1",
	};
	char text[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		snprintf(text, sizeof(text), "{\"\xc3\xa4\":%s}", bad[i]);
		assert_bad(text, "1:6: a value is expected: words are true, false and null");
	}
}
END_TEST

START_TEST(strings)
{
	static const char * const not_utf8[] = {
		"\xff", "\x80", "\xc0\xaf", "\xe0\x80\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80",
		"\xf8\x88\x80\x80\x80", "\xc3", "\xe2\x82", "\xf0\x9f\x90",
	};
	char text[64], want[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_utf8); i++) {
		snprintf(text, sizeof(text), "{\"a\":\"b%s\"}", not_utf8[i]);
		snprintf(want, sizeof(want), "1:8: is not UTF-8: byte 0x%02x",
			 (unsigned char)not_utf8[i][0]);
		assert_bad(text, want);
		snprintf(text, sizeof(text), "{\"b%s\":1}", not_utf8[i]);
		want[2] = '4';
		assert_bad(text, want);
	}
	assert_bad("{\"a\":\"\n\"}", "1:7: control characters must be escaped: byte 0x0a");
	assert_bad("{\"a\":\"\x1f\"}", "1:7: control characters must be escaped: byte 0x1f");
	assert_bad_bytes("{\"a\":\"\0\"}", 9, "1:7: control characters must be escaped: byte 0x00");
	assert_bad("{\"a\":\"\\u0000\"}", "1:7: U+0000 is not allowed");
	assert_bad("{\"a\\u0000\":1}", "1:4: U+0000 is not allowed");
	assert_bad("{\"a\":\"\\x41\"}", "1:7: is no escape that JSON has");
	assert_bad("{\"a\":\"\\u12g4\"}", "1:7: is no escape that JSON has");
	assert_bad("{\"a\":\"\\u00\"}", "1:7: is no escape that JSON has");
	assert_bad_bytes("{\"a\":\"\\\0\"}", 10, "1:7: is no escape that JSON has");
	assert_bad_bytes("{\"a\":\"\\u00\0" "0\"}", 14, "1:7: is no escape that JSON has");
}
END_TEST

START_TEST(grammar)
{
	static const char * const bad[] = {
		"{\"a\":1,}", "{,\"a\":1}", "{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":[1,,2]}",
		"{\"a\"}", "{\"a\":}", "{\"a\"::1}", "{:1}", "{1:1}", "{\"a\":1 \"b\":2}",
		"{\"a\":[1 2]}", "{\"a\":[1:2]}", "{a:1}", "{'a':1}", "{\"a\":'b'}", "{\"a\":1}}",
		"{\"a\":1}{}", "{\"a\":1},", "{\"a\":1}1", "{\"a\":[1}", "{\"a\":{]}", "{]",
		"{\"a\":1};", "{\"a\":1}x", "{\"a\":/**/1}", "{\"a\":1}//", "{\"a\":[1];}",
		"{\"a\":\"b\"\"c\"}", "{{}}", "{[]}", "{\"a\" 1}", "{\"a\":1:2}",
		"{\"a\":[\"b\":1]}", "{}\xef\xbb\xbf", "[]", "\"a\"", "1", "null", "}", "]", ",",
		"\xef\xbb\xbf{}", "{\"a\":[{}{}]}", "{\"a\":{}{}}",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_bad(bad[i], ANYWHERE);
	assert_bad_bytes("{}\0", 3, "1:3: nothing is expected behind the object");
	assert_bad_bytes("{\0}", 3, "1:2: byte 0x00 is not expected here");
	assert_bad_bytes("\0{}", 3, "1:1: '{' is expected");
	assert_bad("{}\n\n x", "3:2: nothing is expected behind the object");
	assert_bad("{\"a\":1,\n\"\xc3\xa4\":2 ;}", "2:7: byte 0x3b is not expected here");
	/* what comes first in the text is told, whoever finds it */
	assert_bad("{\"a\":1,,\"b\":01}", "1:8: ");
	assert_bad("{\"a\":01,,\"b\":1}", "1:6: is not a number as JSON has them");
}
END_TEST

START_TEST(same_names)
{
	assert_bad("{\"a\":1,\"b\":2,\"a\":3}", "1:14: another member has the same name");
	assert_bad("{\"a\":[{\"b\":1,\n\"c\":2,\"c\":3}]}",
		   "2:7: another member has the same name");
	assert_bad("{\"\":1,\"\":2}", "1:7: another member has the same name");
	assert_bad("{\"a\":{\"a\":1},\"b\":{},\"a\":2}", "1:21: another member has the same name");
}
END_TEST

START_TEST(cut_short)
{
	static const char text[] = " {\"a\":[true,-1.5e+3,\"\\u00e4\xf0\x9f\x90\xa7\\n\",null,0],"
				   "\"skip\":[[1],2],\"b\":{}}";
	size_t size;
	char want[64];

	for (size = 0; size < strlen(text); size++) {
		/* the columns behind the one character of four bytes */
		size_t column = size + 1 - (size > 28 ? min(size - 28, (size_t)3) : 0);

		snprintf(want, sizeof(want), "1:%zu: ends early: some of it is missing", column);
		assert_bad_bytes(text, size, want);
	}
	json_object_put(parse_bytes(text, size));
	ck_assert_str_eq(why, "");
}
END_TEST

/* @nr times @unit between others; the caller frees. */
static char *repeat(const char *begin, const char *unit, size_t nr, const char *end)
{
	char *text = malloc(strlen(begin) + nr * strlen(unit) + strlen(end) + 1), *p;

	for (p = stpcpy(text, begin); nr; nr--)
		p = stpcpy(p, unit);
	strcpy(p, end);
	return text;
}

START_TEST(deep)
{
	char *text = repeat("{\"a\":", "[", 31, ""), *close = repeat(text, "]", 31, "}");

	json_object_put(parse_bytes(close, strlen(close)));
	ck_assert_str_eq(why, "");
	free(text);
	free(close);
	text = repeat("{\"a\":", "[", 32, "");
	assert_bad(text, "1:37: brackets are nested more than 32 deep");
	free(text);
	text = repeat("", "{\"a\":", 1000000, "");
	assert_bad(text, "1:161: brackets are nested more than 32 deep");
	free(text);
	text = repeat("{\"skip\":", "[", 1000000, "");
	assert_bad(text, "1:12: \"skip\" may have 3 levels of brackets");
	free(text);
}
END_TEST

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

/* No text takes time that grows faster than its size: these of some MB are quick. */
START_TEST(long_texts)
{
	double begin = now();
	struct json_object *value;
	char *text, *p, digits[16];
	int i;

	text = repeat("{\"a\":0.", "1", 2000000, "}");
	json_object_put(parse_bytes(text, strlen(text)));
	free(text);
	text = repeat("{\"a\":", "1", 2000000, "}");
	assert_bad(text, "1:6: whole numbers of up to 64 bits are expected");
	free(text);
	text = repeat("{\"a\":\"", "\\u00e4", 300000, "\"}");
	json_object_put(parse_bytes(text, strlen(text)));
	free(text);
	text = repeat("{", "\n", 2000000, "}");
	json_object_put(parse_bytes(text, strlen(text)));
	free(text);
	text = repeat("{\"a\":[", "{\"skip\":[1]},", 100000, "0]}");
	json_object_put(parse_bytes(text, strlen(text)));
	free(text);
	text = repeat("{", "\"a\":1,", 300000, "\"b\":1}");
	assert_bad(text, ANYWHERE);
	free(text);

	text = repeat("{", "\"abcdefgh\":1,", 100000, "\"b\":1}");
	for (i = 0, p = text + 1; i < 100000; i++, p += 13) {
		snprintf(digits, sizeof(digits), "%08d", i);
		memcpy(p + 1, digits, 8);
	}
	value = parse_bytes(text, strlen(text));
	ck_assert_msg(value, "%s", why);
	ck_assert_int_eq(json_object_object_length(value), 100001);
	json_object_put(value);
	free(text);
	ck_assert(now() - begin < 10);
}
END_TEST

START_TEST(little_room)
{
	ck_assert_ptr_null(json_parse("{x", 2, NULL, NULL, 0));
	ck_assert_ptr_null(json_parse("{x", 2, NULL, why, 3));
	ck_assert_str_eq(why, "1:");
	ck_assert_ptr_null(json_parse("{x", 2, NULL, why, 8));
	ck_assert_str_eq(why, "1:2: a ");
}
END_TEST

Suite *json_parse_suite(void)
{
	Suite *s = suite_create("json-parse");
	TCase *tc = tcase_create("json-parse");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, good);
	tcase_add_test(tc, skipped);
	tcase_add_test(tc, numbers);
	tcase_add_test(tc, words);
	tcase_add_test(tc, strings);
	tcase_add_test(tc, grammar);
	tcase_add_test(tc, same_names);
	tcase_add_test(tc, cut_short);
	tcase_add_test(tc, deep);
	tcase_add_test(tc, long_texts);
	tcase_add_test(tc, little_room);
	suite_add_tcase(s, tc);
	return s;
}
