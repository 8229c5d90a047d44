// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of figures, and how they are read back
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <string.h>
#include <json-c/json.h>
#include <linux/kernel.h>

#include "util/figures.h"
#include "util/results-figures.h"

static const struct figure_column columns[] = {
	{ "waits/op", FIGURE_MEAN, 4 },
	{ "max us", FIGURE_MAX, 1 },
};

START_TEST(values)
{
	struct figures f = { 0 };
	struct figure *row;

	figures__reset(&f, "contention", columns, 2, 3);
	row = figures__add(&f, "rwsem:W path_openat");
	ck_assert_ptr_nonnull(row);
	ck_assert(isnan(figures__value(&f, row, 0)));
	figures__set(&f, row, 0, 0, 1);
	figures__set(&f, row, 0, 2, 4);
	figures__set(&f, row, 1, 0, 7);
	figures__set(&f, row, 1, 1, 3);
	figures__set(&f, row, 2, 0, 9);		/* out of range: no such column, no such repeat */
	figures__set(&f, row, 0, 3, 9);
	/* the repeat that is not known is left out */
	ck_assert_double_eq(figures__value(&f, row, 0), 2.5);
	ck_assert_double_eq(figures__value(&f, row, 1), 7);
	ck_assert_ptr_eq(figures__find(&f, "rwsem:W path_openat"), row);
	ck_assert_ptr_null(figures__find(&f, "rwsem:W"));
	ck_assert_ptr_null(figures__column(&f, row, 2));
	row = figures__add_missing(&f, "cycles", "no PMU");
	ck_assert_ptr_null(figures__column(&f, row, 0));
	ck_assert(isnan(figures__value(&f, row, 0)));
	figures__set(&f, row, 0, 0, 1);
	figures__free(&f);
}
END_TEST

START_TEST(notes_once)
{
	struct figures f = { 0 };

	figures__reset(&f, "latency", columns, 1, 1);
	ck_assert_int_eq(figures__note(&f, "lost: %d", 12), 0);
	ck_assert_int_eq(figures__note(&f, "lost: 1"), 0);
	ck_assert_int_eq(figures__note(&f, "lost: 12"), 0);
	ck_assert_str_eq(f.notes, "lost: 12\nlost: 1");
	figures__free(&f);
}
END_TEST

START_TEST(long_names)
{
	char name[FIGURES_NAME_MAX + 50];
	struct figures f = { 0 };
	struct figure *row;

	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	figures__reset(&f, "profile", columns, 1, 1);
	row = figures__add(&f, name);
	ck_assert_uint_eq(strlen(row->name), FIGURES_NAME_MAX - 1);
	ck_assert_ptr_eq(figures__find(&f, name), row);
	figures__free(&f);
}
END_TEST

static const char good[] =
	"{\"lower_bound\": true, \"columns\": [{\"name\": \"per op\", \"of_repeats\": \"mean\", \"decimals\": 3}],"
	" \"notes\": [\"one\", \"two\"], \"rows\": ["
	"{\"name\": \"page-faults\", \"reason\": null, \"detail\": [\"a\", \"b\"], \"values\": [[1, 2.5, null]]},"
	"{\"name\": \"cycles\", \"reason\": \"no PMU\", \"detail\": [], \"values\": []}]}";

START_TEST(read_back)
{
	struct json_object *obj = json_tokener_parse(good);
	char where[64], what[128];
	struct figures *f = results_figures__read(obj, 3, where, sizeof(where), what, sizeof(what));

	ck_assert_ptr_nonnull(f);
	ck_assert(f->lower_bound);
	ck_assert_int_eq(f->nr, 2);
	ck_assert_str_eq(f->columns[0].name, "per op");
	ck_assert_int_eq(f->columns[0].decimals, 3);
	ck_assert_str_eq(f->notes, "one\ntwo");
	ck_assert_str_eq(f->list[0].detail, "a\nb");
	ck_assert_double_eq(figures__value(f, &f->list[0], 0), 1.75);
	ck_assert_str_eq(f->list[1].reason, "no PMU");
	ck_assert_ptr_null(f->list[1].values);
	json_object_put(obj);
	results_figures__free(f);
}
END_TEST

static const struct {
	const char *from, *to, *where, *what;
} bad[] = {
	{ "\"mean\"", "\"sum\"", "columns[0]", "\"mean\" or \"max\"" },
	{ "\"decimals\": 3", "\"decimals\": 7", "columns[0]", "decimals" },
	{ "\"decimals\": 3", "\"decimals\": \"3\"", "columns[0]", "int \"decimals\"" },
	{ "\"per op\"", "\"\"", "columns[0]", "1 to 12 bytes" },
	{ "\"per op\"", "\"per\\u001bop\"", "columns[0]", "control" },
	{ "\"per op\"", "\"per op per op\"", "columns[0]", "1 to 12 bytes" },
	{ "[[1, 2.5, null]]", "[[1, 2.5]]", "rows[0]", "3 repeats" },
	{ "[[1, 2.5, null]]", "[[1, 2.5, \"x\"]]", "rows[0]", "numbers or null" },
	{ "[[1, 2.5, null]]", "[]", "rows[0]", "1 columns" },
	{ "[[1, 2.5, null]]", "null", "rows[0]", "values" },
	{ "\"cycles\"", "\"page-faults\"", "rows[1]", "two rows" },
	{ "\"values\": []", "\"values\": [[1, 2, 3]]", "rows[1]", "beside a reason" },
	{ "\"no PMU\"", "\"no\\u0007PMU\"", "rows[1]", "reason" },
	{ "\"lower_bound\": true", "\"lower_bound\": 1", "lower_bound", "boolean" },
	{ "\"two\"", "2", "notes", "lines" },
	{ "\"rows\": [", "\"row\": [", "rows", "array" },
};

START_TEST(not_believed)
{
	const char *at = strstr(good, bad[_i].from);
	char text[sizeof(good) + 64], where[64] = "", what[128] = "";
	struct json_object *obj;

	ck_assert_ptr_nonnull(at);
	snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, bad[_i].to,
		 at + strlen(bad[_i].from));
	obj = json_tokener_parse(text);
	ck_assert_ptr_nonnull(obj);
	ck_assert_ptr_null(results_figures__read(obj, 3, where, sizeof(where), what, sizeof(what)));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(where, bad[_i].where);
	ck_assert_msg(strstr(what, bad[_i].what), "%s", what);
	json_object_put(obj);
}
END_TEST

Suite *figures_suite(void)
{
	Suite *s = suite_create("figures");
	TCase *tc = tcase_create("figures");

	tcase_add_test(tc, values);
	tcase_add_test(tc, notes_once);
	tcase_add_test(tc, long_names);
	tcase_add_test(tc, read_back);
	tcase_add_loop_test(tc, not_believed, 0, ARRAY_SIZE(bad));
	suite_add_tcase(s, tc);
	return s;
}
