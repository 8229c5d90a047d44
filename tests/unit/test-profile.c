// SPDX-License-Identifier: GPL-2.0
/*
 * test-profile.c: samples become shares of functions in the windows that count
 */
#include <check.h>
#include <math.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "util/profile.h"

Suite *profile_suite(void);

static const char kernel[] =
	"1000 T vfs_read\n"
	"1100 T vfs_write\n"
	"1200 t helper\n"
	"1300 T between\n"
	"1400 t helper\n"
	"1500 T _etext\n"
	"9000 t ext4_open\t[ext4]\n";

static struct ksyms *k;
static struct profile *p;
static struct figures table;

static void begin(void)
{
	char why[64];

	k = ksyms__parse_kallsyms(kernel, strlen(kernel), why, sizeof(why));
	p = profile__new();
	ck_assert(k && p);
	memset(&table, 0, sizeof(table));
}

static void end(void)
{
	figures__free(&table);
	profile__free(p);
	ksyms__free(k);
}

/* @nr samples of one address, all at one time. */
static void sample(u64 time, u64 ip, int nr)
{
	while (nr--)
		profile__sample(p, time, ip);
}

static void assert_row(int i, const char *name, double first, double second)
{
	const double values[] = { first, second };
	int r;

	ck_assert_int_lt(i, table.nr);
	ck_assert_int_le(table.nr_repeats, 2);
	ck_assert_str_eq(table.list[i].name, name);
	for (r = 0; r < min(table.nr_repeats, 2); r++) {
		double got = figures__column(&table, &table.list[i], 0)[r];

		ck_assert_msg(isnan(values[r]) ? isnan(got) : fabs(got - values[r]) < 1e-9,
			      "%s in repeat %d: %g, not %g", name, r, got, values[r]);
	}
}

START_TEST(test_shares)
{
	static const u64 starts[] = { 100, 200, 400 }, ends[] = { 200, 300, 500 };
	static const struct profile_window all[] = { { 100, 0 }, { 200, 0 }, { 400, 0 } };
	static const struct profile_window some[] = { { 400, 0 }, { 100, 0 } };

	/* in no order, as of several CPUs */
	sample(450, 0x1010, 1);			/* vfs_read */
	sample(100, 0x1000, 2);
	sample(199, 0x10ff, 3);
	sample(200, 0x1100, 4);			/* vfs_write, in the second window */
	sample(150, PROFILE_USER, 5);
	sample(499, 0x9004, 5);
	sample(99, 0x1000, 100);		/* in no window */
	sample(300, 0x1000, 100);
	sample(399, 0x1000, 100);
	sample(500, 0x1000, 100);
	profile__fold(p, k, starts, ends, 3);

	ck_assert_int_eq(profile__table(p, k, all, 3, 1, &table), 20);
	ck_assert_str_eq(table.kind, "profile");
	ck_assert_int_eq(table.nr_columns, 1);
	ck_assert_str_eq(table.columns[0].name, "%");
	ck_assert_int_eq(table.nr, 4);
	ck_assert(!table.lower_bound);
	assert_row(0, "vfs_read", 30, NAN);
	assert_row(1, "[user]", 25, NAN);	/* of equal ones, by name */
	assert_row(2, "ext4_open [ext4]", 25, NAN);
	assert_row(3, "vfs_write", 20, NAN);

	/* the second window is dropped */
	ck_assert_int_eq(profile__table(p, k, some, 2, 1, &table), 16);
	ck_assert_int_eq(table.nr, 3);
	assert_row(0, "vfs_read", 37.5, NAN);
	assert_row(1, "[user]", 31.25, NAN);
	assert_row(2, "ext4_open [ext4]", 31.25, NAN);
	ck_assert_uint_eq(profile__left_out(p), 0);
}
END_TEST

/* Repeats are folded one by one; their shares stand side by side, however many samples they have. */
START_TEST(test_repeats)
{
	static const u64 starts[][1] = { { 100 }, { 1100 }, { 2100 } };
	static const u64 ends[][1] = { { 200 }, { 1200 }, { 2200 } };
	static const struct profile_window windows[] = { { 100, 0 }, { 2100, 1 } };

	sample(110, 0x1000, 9);
	sample(110, 0x1100, 1);
	profile__fold(p, k, starts[0], ends[0], 1);
	sample(1110, 0x1300, 7);		/* of another point */
	profile__fold(p, k, starts[1], ends[1], 1);
	sample(2110, 0x1100, 300);
	sample(2110, 0x1200, 100);
	profile__fold(p, k, starts[2], ends[2], 1);

	ck_assert_int_eq(profile__table(p, k, windows, 2, 2, &table), 410);
	ck_assert_int_eq(table.nr, 3);
	assert_row(0, "vfs_read", 90, 0);
	assert_row(1, "vfs_write", 10, 75);
	assert_row(2, "helper", 0, 25);
	ck_assert(fabs(figures__value(&table, &table.list[1], 0) - 42.5) < 1e-9);
}
END_TEST

/* A repeat without samples has no shares, which is not 0, and no weight in the order. */
START_TEST(test_empty_repeat)
{
	static const u64 starts[] = { 100, 200 }, ends[] = { 200, 300 };
	static const struct profile_window windows[] = { { 100, 0 }, { 200, 1 }, { 300, 1 } };

	sample(250, 0x1000, 3);
	sample(250, 0x1100, 1);
	profile__fold(p, k, starts, ends, 2);
	ck_assert_int_eq(profile__table(p, k, windows, 3, 2, &table), 4);
	assert_row(0, "vfs_read", NAN, 75);
	assert_row(1, "vfs_write", NAN, 25);

	ck_assert_int_eq(profile__table(p, k, windows, 1, 1, &table), 0);
	ck_assert_int_eq(table.nr, 0);
	ck_assert_int_eq(profile__table(p, k, NULL, 0, 0, &table), 0);
	/* of repeats that there are not */
	ck_assert_int_eq(profile__table(p, k, windows, 2, 1, &table), 0);
}
END_TEST

/* Two functions of one name are one row; addresses without a name are rows of their own. */
START_TEST(test_names)
{
	static const u64 starts[] = { 0 }, ends[] = { 1000 };
	static const struct profile_window windows[] = { { 0, 0 } };

	sample(1, 0x1204, 2);
	sample(1, 0x1404, 3);
	sample(1, 0x1300, 1);
	sample(1, 0x5004, 2);
	sample(1, 0xffffffff81234567, 2);
	profile__fold(p, k, starts, ends, 1);
	ck_assert_int_eq(profile__table(p, k, windows, 1, 1, &table), 10);
	ck_assert_int_eq(table.nr, 4);
	assert_row(0, "helper", 50, NAN);
	assert_row(1, "0x5004", 20, NAN);
	assert_row(2, "0xffffffff81234567", 20, NAN);
	assert_row(3, "between", 10, NAN);
}
END_TEST

/* So many functions that the last ones are one row; the shares add up to all. */
START_TEST(test_other)
{
	static const u64 starts[] = { 0 }, ends[] = { 1000 };
	static const struct profile_window windows[] = { { 0, 0 } };
	double sum = 0;
	int i;

	for (i = 0; i < PROFILE_ROWS + 1; i++)
		sample(1, 0x100000 + i, 50 - i);
	profile__fold(p, k, starts, ends, 1);
	profile__table(p, k, windows, 1, 1, &table);
	ck_assert_int_eq(table.nr, PROFILE_ROWS + 1);	/* still all of them */
	assert_row(0, "0x100000", 100 * 50.0 / 1230, NAN);
	ck_assert_ptr_null(figures__find(&table, "[other]"));

	profile__free(p);
	p = profile__new();
	for (i = 0; i < PROFILE_ROWS; i++)
		sample(1, 0x100000 + i, 50 - i);
	sample(1, 0x200000, 9);
	sample(1, 0x200001, 7);
	profile__fold(p, k, starts, ends, 1);
	ck_assert_int_eq(profile__table(p, k, windows, 1, 1, &table), 1236);
	ck_assert_int_eq(table.nr, PROFILE_ROWS + 1);
	assert_row(PROFILE_ROWS, "[other]", 100 * 16.0 / 1236, NAN);
	for (i = 0; i < table.nr; i++)
		sum += figures__value(&table, &table.list[i], 0);
	ck_assert(fabs(sum - 100) < 1e-9);
}
END_TEST

/* There is an end to it, and what is beyond is counted. */
START_TEST(test_room)
{
	static const u64 starts[] = { 0, 1000 }, ends[] = { 1000, 2000 };
	static const struct profile_window windows[] = { { 0, 0 }, { 1000, 0 } };

	sample(1, 0x1000, PROFILE_MAX_SAMPLES);
	ck_assert_uint_eq(profile__left_out(p), 0);
	sample(1, 0x1100, 3);
	ck_assert_uint_eq(profile__left_out(p), 3);
	profile__fold(p, k, starts, ends, 1);
	/* a new repeat has room */
	sample(1001, 0x1100, PROFILE_MAX_SAMPLES);
	profile__fold(p, k, starts + 1, ends + 1, 1);
	ck_assert_uint_eq(profile__left_out(p), 3);
	ck_assert_int_eq(profile__table(p, k, windows, 2, 1, &table), 2ll * PROFILE_MAX_SAMPLES);
	assert_row(0, "vfs_read", 50, NAN);
	assert_row(1, "vfs_write", 50, NAN);
}
END_TEST

/* A repeat of no window, no sample. */
START_TEST(test_nothing)
{
	static const u64 starts[] = { 0 }, ends[] = { 1000 };
	static const struct profile_window windows[] = { { 0, 0 } };

	profile__fold(p, k, NULL, NULL, 0);
	sample(1, 0x1000, 3);
	profile__fold(p, k, NULL, NULL, 0);	/* forgotten */
	profile__fold(p, k, starts, ends, 1);
	ck_assert_int_eq(profile__table(p, k, windows, 1, 1, &table), 0);
	profile__free(NULL);
}
END_TEST

Suite *profile_suite(void)
{
	Suite *suite = suite_create("profile");
	TCase *tcase = tcase_create("profile");

	tcase_add_checked_fixture(tcase, begin, end);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, test_shares);
	tcase_add_test(tcase, test_repeats);
	tcase_add_test(tcase, test_empty_repeat);
	tcase_add_test(tcase, test_names);
	tcase_add_test(tcase, test_other);
	tcase_add_test(tcase, test_room);
	tcase_add_test(tcase, test_nothing);
	suite_add_tcase(suite, tcase);
	return suite;
}
