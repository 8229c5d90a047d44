// SPDX-License-Identifier: GPL-2.0
/*
 * test-contention.c: waits are found in sequences of events that are known
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/contention.h"

Suite *contention_suite(void);

#define LOCK_A	0xffff888000001000ull
#define LOCK_B	0xffff888000002000ull

static const u64 chain_x[] = { 0x100, 0x200, 0x300 };
static const u64 chain_y[] = { 0x100, 0x250, 0x300 };

static struct contention *c;
static struct contention_stats stats;

static void start_with(const int *tids, int nr)
{
	c = contention__new();
	ck_assert_ptr_nonnull(c);
	ck_assert_int_eq(contention__watch(c, tids, nr), 0);
}

static void start(void)
{
	static const int tids[] = { 30, 10, 20 };

	start_with(tids, ARRAY_SIZE(tids));
}

static void end(void)
{
	contention__free(c);
	c = NULL;
}

/* Everything that was given is somewhere. */
static void finish(void)
{
	contention__finish(c, &stats);
	ck_assert_uint_eq(stats.begins, stats.waits + stats.joined + stats.replaced +
			  stats.unfinished + stats.forgotten + stats.no_room_open +
			  stats.no_room_chain);
	ck_assert_uint_eq(stats.ends, stats.waits + stats.no_begin);
	ck_assert_uint_eq(stats.waits, stats.counted + stats.outside + stats.no_room_backlog +
			  stats.no_room_sums);
}

static void window(int repeat, u64 from, u64 to)
{
	struct contention_tag tag = { .repeat = repeat };

	ck_assert_int_eq(contention__window(c, tag, from, to), 0);
}

static void begin_x(int tid, u64 lock, unsigned int flags, u64 time)
{
	contention__begin(c, tid, lock, flags, time, chain_x, ARRAY_SIZE(chain_x));
}

static void begin_y(int tid, u64 lock, unsigned int flags, u64 time)
{
	contention__begin(c, tid, lock, flags, time, chain_y, ARRAY_SIZE(chain_y));
}

static void assert_sum(int window, int i, unsigned int flags, u64 second_ip, u64 nr, u64 wait,
		       u64 most)
{
	const struct contention_window *win;
	unsigned int chain_flags;
	int nr_windows, depth;
	const u64 *ips;

	win = contention__windows(c, &nr_windows);
	ck_assert_int_lt(window, nr_windows);
	ck_assert_int_lt(i, win[window].nr);
	ips = contention__chain(c, win[window].sums[i].chain, &depth, &chain_flags);
	ck_assert_uint_eq(chain_flags, flags);
	ck_assert_int_eq(depth, 3);
	ck_assert_uint_eq(ips[1], second_ip);
	ck_assert_uint_eq(win[window].sums[i].nr, nr);
	ck_assert_uint_eq(win[window].sums[i].wait_ns, wait);
	ck_assert_uint_eq(win[window].sums[i].max_ns, most);
}

static void assert_window(int window, int nr_sums)
{
	int nr;
	const struct contention_window *win = contention__windows(c, &nr);

	ck_assert_int_lt(window, nr);
	ck_assert_int_eq(win[window].nr, nr_sums);
}

START_TEST(test_sums)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 1000);
	begin_x(20, LOCK_A, CONTENTION_WRITE, 1100);
	contention__end(c, 10, LOCK_A, 1500);		/* 500 */
	begin_y(10, LOCK_A, CONTENTION_READ, 1600);
	contention__end(c, 20, LOCK_A, 1800);		/* 700 */
	contention__end(c, 10, LOCK_A, 1900);		/* 300 */
	window(0, 500, 2000);
	finish();
	assert_window(0, 2);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 2, 1200, 700);
	assert_sum(0, 1, CONTENTION_READ, 0x250, 1, 300, 300);
	ck_assert_uint_eq(stats.counted, 3);
	ck_assert_uint_eq(stats.begins, 3);
	end();
}
END_TEST

/* The same chain on another type of lock is another row. */
START_TEST(test_type_is_part_of_chain)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_SPIN, 100);
	contention__end(c, 10, LOCK_A, 110);
	begin_x(10, LOCK_B, CONTENTION_WRITE, 200);
	contention__end(c, 10, LOCK_B, 230);
	window(0, 0, 1000);
	finish();
	assert_window(0, 2);
	assert_sum(0, 0, CONTENTION_SPIN, 0x200, 1, 10, 10);
	assert_sum(0, 1, CONTENTION_WRITE, 0x200, 1, 30, 30);
	end();
}
END_TEST

/* A mutex is spun for, then slept for: one wait, from the first begin on. */
START_TEST(test_mutex_joined)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_MUTEX | CONTENTION_SPIN, 100);
	begin_y(10, LOCK_A, CONTENTION_MUTEX, 150);
	contention__end(c, 10, LOCK_A, 400);
	window(0, 0, 1000);
	finish();
	assert_window(0, 1);
	assert_sum(0, 0, CONTENTION_MUTEX, 0x200, 1, 300, 300);
	ck_assert_uint_eq(stats.joined, 1);
	ck_assert_uint_eq(stats.no_begin, 0);
	end();
}
END_TEST

/* Of other types that cannot be: an end was missed, and no wait is made longer by that. */
START_TEST(test_begin_again)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	begin_x(10, LOCK_A, CONTENTION_WRITE, 5000);
	contention__end(c, 10, LOCK_A, 5100);
	window(0, 0, 10000);
	finish();
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 100, 100);
	ck_assert_uint_eq(stats.replaced, 1);
	end();
}
END_TEST

/* Waiting for A, an interrupt on the same CPU waits for B. */
START_TEST(test_nested)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	begin_y(10, LOCK_B, CONTENTION_SPIN, 120);
	contention__end(c, 10, LOCK_B, 150);
	contention__end(c, 10, LOCK_A, 300);
	window(0, 0, 1000);
	finish();
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 200, 200);
	assert_sum(0, 1, CONTENTION_SPIN, 0x250, 1, 30, 30);
	end();
}
END_TEST

START_TEST(test_unpaired)
{
	start();
	contention__end(c, 10, LOCK_A, 50);		/* began before we looked */
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	contention__end(c, 10, LOCK_B, 200);		/* not that one */
	contention__end(c, 20, LOCK_A, 300);		/* not that task */
	begin_x(30, LOCK_B, CONTENTION_READ, 400);	/* which then dies */
	window(0, 0, 1000);
	finish();
	assert_window(0, 0);
	ck_assert_uint_eq(stats.no_begin, 3);
	ck_assert_uint_eq(stats.unfinished, 2);
	ck_assert_uint_eq(stats.waits, 0);
	end();
}
END_TEST

/* What lasts longer than all windows is at least known to be there. */
START_TEST(test_unfinished)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	begin_y(20, LOCK_A, CONTENTION_WRITE, 400);
	begin_y(30, LOCK_A, CONTENTION_WRITE, 300);
	begin_x(30, LOCK_B, CONTENTION_WRITE, 1200);	/* behind the last window */
	window(0, 200, 500);
	window(0, 500, 1000);
	finish();
	assert_window(0, 0);
	ck_assert_uint_eq(stats.unfinished, 4);
	ck_assert_uint_eq(stats.unfinished_ns, 800 + 600 + 700);
	ck_assert_uint_eq(stats.longest_ns, 600 + 700);
	ck_assert_uint_eq(stats.longest_chain, 1);
	end();
}
END_TEST

START_TEST(test_only_ours)
{
	start();
	begin_x(11, LOCK_A, CONTENTION_WRITE, 100);
	contention__end(c, 11, LOCK_A, 200);
	window(0, 0, 1000);
	finish();
	assert_window(0, 0);
	ck_assert_uint_eq(stats.others, 2);
	ck_assert_uint_eq(stats.begins, 0);
	end();
}
END_TEST

START_TEST(test_all_tasks)
{
	start_with(NULL, 0);
	begin_x(1, LOCK_A, CONTENTION_WRITE, 100);
	begin_x(-1, LOCK_A, CONTENTION_SPIN, 110);	/* an idle task */
	contention__end(c, -1, LOCK_A, 130);
	contention__end(c, 1, LOCK_A, 200);
	window(0, 0, 1000);
	finish();
	assert_window(0, 2);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 100, 100);
	assert_sum(0, 1, CONTENTION_SPIN, 0x200, 1, 20, 20);
	end();
}
END_TEST

/* A wait is of the window in which it ends: its first nanosecond is in, its last one is not. */
START_TEST(test_windows)
{
	static const u64 ends[] = { 99, 100, 199, 200, 250, 299, 300, 349, 350, 500 };
	size_t i;

	start();
	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		begin_x(10, LOCK_A, CONTENTION_WRITE, ends[i] - 10);
		contention__end(c, 10, LOCK_A, ends[i]);
		if (ends[i] == 250) {
			window(1, 100, 200);
			contention__until(c, 240);
		}
	}
	window(2, 200, 300);
	window(3, 350, 500);
	finish();
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 2, 20, 10);	/* 100, 199 */
	assert_sum(1, 0, CONTENTION_WRITE, 0x200, 3, 30, 10);	/* 200, 250, 299 */
	assert_sum(2, 0, CONTENTION_WRITE, 0x200, 1, 10, 10);	/* 350 */
	ck_assert_uint_eq(stats.outside, 4);
	ck_assert_uint_eq(stats.counted, 6);
	end();
}
END_TEST

/* A window whose last events are not there yet has to wait for them. */
START_TEST(test_window_waits)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	window(0, 0, 1000);
	contention__until(c, 999);
	contention__end(c, 10, LOCK_A, 999);
	contention__until(c, 1000);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 899, 899);
	finish();
	end();
}
END_TEST

START_TEST(test_lost)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	begin_x(20, LOCK_A, CONTENTION_WRITE, 110);
	contention__lost(c);
	contention__end(c, 10, LOCK_A, 900);
	begin_x(20, LOCK_A, CONTENTION_WRITE, 910);
	contention__end(c, 20, LOCK_A, 920);
	window(0, 0, 1000);
	finish();
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 10, 10);
	ck_assert_uint_eq(stats.forgotten, 2);
	ck_assert_uint_eq(stats.no_begin, 1);
	end();
}
END_TEST

/* The tasks of the next repeat are others, and what the last ones began is over. */
START_TEST(test_next_repeat)
{
	static const int tids[] = { 40 };

	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	contention__end(c, 10, LOCK_A, 150);
	begin_x(20, LOCK_A, CONTENTION_WRITE, 160);
	window(0, 0, 1000);
	finish();
	ck_assert_uint_eq(stats.unfinished, 1);
	ck_assert_int_eq(contention__watch(c, tids, 1), 0);
	begin_x(40, LOCK_A, CONTENTION_WRITE, 2000);
	begin_x(10, LOCK_A, CONTENTION_WRITE, 2010);
	contention__end(c, 40, LOCK_A, 2100);
	contention__end(c, 20, LOCK_A, 2100);
	window(1, 1500, 3000);
	finish();
	ck_assert_uint_eq(stats.begins, 1);
	ck_assert_uint_eq(stats.others, 2);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 50, 50);
	assert_sum(1, 0, CONTENTION_WRITE, 0x200, 1, 100, 100);
	end();
}
END_TEST

START_TEST(test_clock_goes_back)
{
	start();
	begin_x(10, LOCK_A, CONTENTION_WRITE, 100);
	contention__end(c, 10, LOCK_A, 99);
	window(0, 0, 1000);
	finish();
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, 1, 0, 0);
	end();
}
END_TEST

START_TEST(test_too_many_open)
{
	u64 i;

	start();
	for (i = 0; i < CONTENTION_MAX_OPEN + 5; i++)
		begin_x(10, LOCK_A + i, CONTENTION_WRITE, i);
	for (i = 0; i < CONTENTION_MAX_OPEN + 5; i++)
		contention__end(c, 10, LOCK_A + i, i + 1000000);
	begin_x(10, LOCK_A, CONTENTION_WRITE, 2000000);		/* there is room again */
	contention__end(c, 10, LOCK_A, 2000001);
	window(0, 0, 3000000);
	finish();
	ck_assert_uint_eq(stats.no_room_open, 5);
	ck_assert_uint_eq(stats.no_begin, 5);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, CONTENTION_MAX_OPEN + 1,
		   1000000ull * CONTENTION_MAX_OPEN + 1, 1000000);
	end();
}
END_TEST

/* When there are very many chains, those that differ far out only become one. */
START_TEST(test_too_many_chains)
{
	u64 ips[CONTENTION_MAX_DEPTH + 8] = { 1, 2, 3 };
	u64 i;

	start();
	for (i = 0; i < 2 * CONTENTION_MAX_CHAINS; i++) {
		ips[20] = i;
		contention__begin(c, 10, LOCK_A, CONTENTION_WRITE, 10 * i, ips, ARRAY_SIZE(ips));
		contention__end(c, 10, LOCK_A, 10 * i + 1);
	}
	ck_assert_int_eq(contention__nr_chains(c), CONTENTION_MAX_CHAINS / 4 * 3 + 1);
	for (i = 0; i < 2 * CONTENTION_MAX_CHAINS; i++) {
		ips[0] = i + 10;
		contention__begin(c, 10, LOCK_A, CONTENTION_WRITE, 10 * i, ips, ARRAY_SIZE(ips));
		contention__end(c, 10, LOCK_A, 10 * i + 1);
	}
	ck_assert_int_eq(contention__nr_chains(c), CONTENTION_MAX_CHAINS);
	window(0, 0, 100 * CONTENTION_MAX_CHAINS);
	finish();
	ck_assert_uint_eq(stats.no_room_chain,
			  2 * CONTENTION_MAX_CHAINS - (CONTENTION_MAX_CHAINS / 4 - 1));
	assert_window(0, CONTENTION_MAX_CHAINS);
	end();
}
END_TEST

START_TEST(test_full_backlog)
{
	u64 i;

	start();
	for (i = 0; i < CONTENTION_MAX_BACKLOG + 3; i++) {
		begin_x(10, LOCK_A, CONTENTION_WRITE, i);
		contention__end(c, 10, LOCK_A, i + 1);
	}
	window(0, 0, 2 * CONTENTION_MAX_BACKLOG);
	finish();
	ck_assert_uint_eq(stats.no_room_backlog, 3);
	assert_sum(0, 0, CONTENTION_WRITE, 0x200, CONTENTION_MAX_BACKLOG, CONTENTION_MAX_BACKLOG,
		   1);
	ck_assert_uint_lt(contention__memory(c), 128 << 20);
	end();
}
END_TEST

/* Many tasks and few locks, against the plainest way to do the same. */
START_TEST(test_random)
{
	u64 since[3][4] = { { 0 } }, time = 1, nr = 0, ns = 0, no_begin = 0, replaced = 0;
	static const int tids[] = { 10, 20, 30 };
	int i, t, k;

	srand(1);
	start();
	for (i = 0; i < 20000; i++) {
		t = rand() % 3;
		k = rand() % 4;
		time += rand() % 50;
		if (rand() % 2) {
			begin_x(tids[t], LOCK_A + k, CONTENTION_READ, time);
			replaced += !!since[t][k];
			since[t][k] = time;
		} else {
			contention__end(c, tids[t], LOCK_A + k, time);
			no_begin += !since[t][k];
			nr += !!since[t][k];
			ns += since[t][k] ? time - since[t][k] : 0;
			since[t][k] = 0;
		}
	}
	window(0, 0, time + 1);
	finish();
	ck_assert_uint_eq(stats.no_begin, no_begin);
	ck_assert_uint_eq(stats.replaced, replaced);
	ck_assert_uint_gt(nr, 4000);
	{
		int windows;
		const struct contention_window *win = contention__windows(c, &windows);

		ck_assert_int_eq(win->nr, 1);
		ck_assert_uint_eq(win->sums[0].nr, nr);
		ck_assert_uint_eq(win->sums[0].wait_ns, ns);
	}
	end();
}
END_TEST

START_TEST(test_types)
{
	static const struct {
		unsigned int	flags;
		const char	*name;
	} types[] = {
		{ 0, "semaphore" }, { 1, "spinlock" }, { 3, "rwlock:R" }, { 5, "rwlock:W" },
		{ 2, "rwsem:R" }, { 4, "rwsem:W" }, { 8, "rt-mutex" }, { 10, "rwlock-rt:R" },
		{ 12, "rwlock-rt:W" }, { 18, "pcpu-sem:R" }, { 20, "pcpu-sem:W" }, { 32, "mutex" },
		{ 33, "mutex" }, { 6, "unknown" }, { 0x100, "semaphore" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		ck_assert_str_eq(contention__type(types[i].flags), types[i].name);
}
END_TEST

Suite *contention_suite(void)
{
	Suite *s = suite_create("contention");
	TCase *tc = tcase_create("pairs");

	tcase_add_test(tc, test_sums);
	tcase_add_test(tc, test_type_is_part_of_chain);
	tcase_add_test(tc, test_mutex_joined);
	tcase_add_test(tc, test_begin_again);
	tcase_add_test(tc, test_nested);
	tcase_add_test(tc, test_unpaired);
	tcase_add_test(tc, test_unfinished);
	tcase_add_test(tc, test_only_ours);
	tcase_add_test(tc, test_all_tasks);
	tcase_add_test(tc, test_lost);
	tcase_add_test(tc, test_clock_goes_back);
	tcase_add_test(tc, test_random);
	tcase_add_test(tc, test_types);
	suite_add_tcase(s, tc);
	tc = tcase_create("windows");
	tcase_add_test(tc, test_windows);
	tcase_add_test(tc, test_window_waits);
	tcase_add_test(tc, test_next_repeat);
	suite_add_tcase(s, tc);
	tc = tcase_create("limits");
	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, test_too_many_open);
	tcase_add_test(tc, test_too_many_chains);
	tcase_add_test(tc, test_full_backlog);
	suite_add_tcase(s, tc);
	return s;
}
