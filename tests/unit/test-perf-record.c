// SPDX-License-Identifier: GPL-2.0
/*
 * test-perf-record.c: records of perf ring buffers, whole, cut and wrong
 */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/perf-record.h"

Suite *perf_record_suite(void);

#define SAMPLE	(PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/* A record of u64s; the first is the header. */
static u64 header(u32 type, u16 misc, u16 size)
{
	struct perf_event_header h = { .type = type, .misc = misc, .size = size };
	u64 value;

	memcpy(&value, &h, sizeof(value));
	return value;
}

static u64 two(u32 first, u32 second)
{
	u32 both[2] = { first, second };
	u64 value;

	memcpy(&value, both, sizeof(value));
	return value;
}

static struct perf_record rec;

/* From memory of just this size, so that a sanitizer sees what is read beyond. */
static int parse(const u64 *words, size_t size, u64 type)
{
	void *copy = malloc(size ?: 1);
	int err;

	memcpy(copy, words, size);
	err = perf_record__parse(copy, size, type, &rec);
	if (!err && rec.raw_size) {
		ck_assert(rec.raw >= copy);
		ck_assert((char *)rec.raw + rec.raw_size <= (char *)copy + size);
	}
	if (!err && rec.nr_ips) {
		ck_assert((void *)rec.ips >= copy);
		ck_assert((char *)(rec.ips + rec.nr_ips) <= (char *)copy + size);
		ck_assert_uint_eq(rec.ips[rec.nr_ips - 1], words[3 + rec.nr_ips]);
	}
	free(copy);
	return err;
}

/* TID, TIME, a chain of two, 12 bytes of a tracepoint. */
static const u64 chain[] = { 0xffffffff81000001, 0xffffffff81000002 };

static size_t make_sample(u64 *w)
{
	w[0] = header(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, 8 * 8);
	w[1] = two(7, 8);
	w[2] = 123456789012345;
	w[3] = 2;
	w[4] = chain[0];
	w[5] = chain[1];
	w[6] = two(12, 0x11223344);
	w[7] = two(0x55667788, 0x99aabbcc);
	return 8 * 8;
}

START_TEST(test_sample)
{
	u64 w[8];
	size_t size = make_sample(w);

	ck_assert_int_eq(parse(w, size, SAMPLE), 0);
	ck_assert_uint_eq(rec.type, PERF_RECORD_SAMPLE);
	ck_assert_uint_eq(rec.misc, PERF_RECORD_MISC_KERNEL);
	ck_assert_uint_eq(rec.size, 64);
	ck_assert_uint_eq(rec.pid, 7);
	ck_assert_uint_eq(rec.tid, 8);
	ck_assert_uint_eq(rec.time, 123456789012345);
	ck_assert_uint_eq(rec.nr_ips, 2);
	ck_assert_uint_eq(rec.raw_size, 12);
	ck_assert_uint_eq(rec.lost, 0);
}
END_TEST

START_TEST(test_raw_bytes)
{
	static const u32 expected[] = { 0x11223344, 0x55667788, 0x99aabbcc };
	u64 w[8];
	size_t size = make_sample(w);

	ck_assert_int_eq(perf_record__parse(w, size, SAMPLE, &rec), 0);
	ck_assert_mem_eq(rec.raw, expected, sizeof(expected));
	ck_assert_mem_eq(rec.ips, chain, sizeof(chain));
}
END_TEST

/* In the order of the manual page, whatever the order of the bits. */
START_TEST(test_all_fields)
{
	const u64 w[] = {
		header(PERF_RECORD_SAMPLE, 0, 12 * 8), 101, 102, two(1, 2), 103, 104, 101, 105,
		two(3, 0), 106, 0, two(4, 9),
	};

	ck_assert_int_eq(parse(w, sizeof(w), PERF_RECORD_SAMPLE_TYPES), 0);
	ck_assert_uint_eq(rec.id, 101);
	ck_assert_uint_eq(rec.ip, 102);
	ck_assert_uint_eq(rec.pid, 1);
	ck_assert_uint_eq(rec.tid, 2);
	ck_assert_uint_eq(rec.time, 103);
	ck_assert_uint_eq(rec.addr, 104);
	ck_assert_uint_eq(rec.cpu, 3);
	ck_assert_uint_eq(rec.period, 106);
	ck_assert_uint_eq(rec.nr_ips, 0);
	ck_assert_uint_eq(rec.raw_size, 4);
}
END_TEST

START_TEST(test_lost)
{
	const u64 lost[] = { header(PERF_RECORD_LOST, 0, 5 * 8), 77, 1000, two(1, 2), 50 };
	const u64 samples[] = { header(PERF_RECORD_LOST_SAMPLES, 0, 4 * 8), 30, two(1, 2), 60 };

	ck_assert_int_eq(parse(lost, sizeof(lost), SAMPLE), 0);
	ck_assert_uint_eq(rec.lost, 1000);
	ck_assert_uint_eq(rec.time, 50);
	ck_assert_int_eq(parse(samples, sizeof(samples), SAMPLE), 0);
	ck_assert_uint_eq(rec.lost, 30);
	ck_assert_uint_eq(rec.time, 60);
}
END_TEST

/* Of records that are of no use for us, the time is known. */
START_TEST(test_other)
{
	const u64 w[] = { header(PERF_RECORD_THROTTLE, 0, 6 * 8), 1, 2, 3, two(4, 5), 99 };

	ck_assert_int_eq(parse(w, sizeof(w), SAMPLE), 0);
	ck_assert_uint_eq(rec.time, 99);
	ck_assert_uint_eq(rec.tid, 5);
}
END_TEST

/* Cut anywhere: never read beyond. With a size in the header that says so, and one that lies. */
START_TEST(test_cut)
{
	u64 w[8];
	size_t size = make_sample(w), cut;

	for (cut = 0; cut < size; cut++) {
		ck_assert_int_eq(parse(w, cut, SAMPLE), -EINVAL);
		w[0] = header(PERF_RECORD_SAMPLE, 0, cut);
		ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
		make_sample(w);
	}
	w[0] = header(PERF_RECORD_SAMPLE, 0, size + 8);
	ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
}
END_TEST

START_TEST(test_wrong)
{
	u64 w[9] = { 0 };
	size_t size = make_sample(w);

	w[3] = 5;				/* a chain beyond the end */
	ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
	w[3] = ~0ull;
	ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
	make_sample(w);
	w[6] = two(13, 0);			/* raw, beyond the end */
	ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
	w[6] = two(~0u, 0);
	ck_assert_int_eq(parse(w, size, SAMPLE), -EINVAL);
	make_sample(w);
	w[0] = header(PERF_RECORD_SAMPLE, 0, 9 * 8);	/* more than there should be */
	ck_assert_int_eq(parse(w, 9 * 8, SAMPLE), -EINVAL);
	make_sample(w);
	ck_assert_int_eq(parse(w, size, SAMPLE | PERF_SAMPLE_REGS_USER), -EOPNOTSUPP);
	w[0] = header(PERF_RECORD_LOST, 0, 4 * 8);	/* without its time */
	ck_assert_int_eq(parse(w, 4 * 8, SAMPLE), -EINVAL);
}
END_TEST

Suite *perf_record_suite(void)
{
	Suite *s = suite_create("perf-record");
	TCase *tc = tcase_create("parse");

	tcase_add_test(tc, test_sample);
	tcase_add_test(tc, test_raw_bytes);
	tcase_add_test(tc, test_all_fields);
	tcase_add_test(tc, test_lost);
	tcase_add_test(tc, test_other);
	tcase_add_test(tc, test_cut);
	tcase_add_test(tc, test_wrong);
	suite_add_tcase(s, tc);
	return s;
}
