// SPDX-License-Identifier: GPL-2.0
/*
 * test-histogram.c: buckets are as exact as they are said to be, percentiles those of sorted values
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "util/histogram.h"

#define NR_VALUES	20011

static struct histogram h;

static void assert_within(u64 ns)
{
	unsigned int bucket = histogram__bucket(ns);
	double value = histogram__value(bucket);

	/* an assertion that holds takes time, too */
	if (bucket >= HISTOGRAM_BUCKETS || fabs(value - ns) > 0.0079 * ns ||
	    (ns < 128 && value != (double)ns))
		ck_abort_msg("%llu is told as %.1f", (unsigned long long)ns, value);
}

START_TEST(error)
{
	unsigned int last = 0, bucket;
	u64 ns;
	int i, k;

	for (ns = 0; ns < 1 << 20; ns++) {
		assert_within(ns);
		bucket = histogram__bucket(ns);
		if (bucket != last && bucket != last + 1)	/* none is left out */
			ck_abort_msg("%llu: from %u to %u", (unsigned long long)ns, last, bucket);
		last = bucket;
	}
	for (i = 20; i < 41; i++) {
		for (k = -3; k <= 3; k++)
			assert_within(min((1ull << i) + k, HISTOGRAM_MAX_NS - 1));
		for (k = 0; k < 10000; k++)
			assert_within((1ull << i) + random() % (1ull << i));
	}
	assert_within(1000000000000ull);		/* 1000 s */
	ck_assert_uint_eq(histogram__bucket(HISTOGRAM_MAX_NS - 1), HISTOGRAM_BUCKETS - 1);
	ck_assert_uint_eq(histogram__bucket(HISTOGRAM_MAX_NS), HISTOGRAM_BUCKETS - 1);
	ck_assert_uint_eq(histogram__bucket(~0ull), HISTOGRAM_BUCKETS - 1);
}
END_TEST

/* The middle of each bucket lies in it. */
START_TEST(round_trip)
{
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		u64 value = histogram__value(i);

		ck_assert_uint_eq(histogram__bucket(value), i);
	}
}
END_TEST

static int compare(const void *a, const void *b)
{
	const u64 *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

START_TEST(percentiles)
{
	static const unsigned int qs[] = { 1, 100, 5000, 9000, 9900, 9990, 9999, 10000 };
	static u64 values[NR_VALUES];
	u64 sum = 0, above, rank;
	struct histogram *half = calloc(1, sizeof(*half));
	size_t i;

	for (i = 0; i < NR_VALUES; i++) {
		values[i] = exp(random() / (double)RAND_MAX * 27);	/* 1 ns to 530 s */
		sum += values[i];
		histogram__add(i & 1 ? half : &h, values[i]);
	}
	histogram__merge(&h, half);
	free(half);
	qsort(values, NR_VALUES, sizeof(*values), compare);
	ck_assert_uint_eq(h.nr, NR_VALUES);
	ck_assert_uint_eq(h.max, values[NR_VALUES - 1]);
	ck_assert(histogram__mean(&h) == (double)sum / NR_VALUES);
	for (i = 0; i < ARRAY_SIZE(qs); i++) {
		double value = histogram__percentile(&h, qs[i], &above);

		rank = ((u64)NR_VALUES * qs[i] + 9999) / 10000;
		ck_assert_uint_eq(above, NR_VALUES - rank);
		ck_assert_msg(fabs(value - values[rank - 1]) <= 0.0079 * values[rank - 1],
			      "%u: %.1f is not %llu", qs[i], value,
			      (unsigned long long)values[rank - 1]);
		ck_assert(value <= h.max);
	}
}
END_TEST

/* By hand: of 1, 2, ..., 10 the median is 5, with five above it. */
START_TEST(ranks)
{
	u64 above, i;

	ck_assert(isnan(histogram__percentile(&h, 5000, &above)));
	ck_assert(isnan(histogram__mean(&h)));
	for (i = 1; i <= 10; i++)
		histogram__add(&h, i);
	ck_assert(histogram__percentile(&h, 5000, &above) == 5);
	ck_assert_uint_eq(above, 5);
	ck_assert(histogram__percentile(&h, 5001, &above) == 6);
	ck_assert_uint_eq(above, 4);
	ck_assert(histogram__percentile(&h, 9000, &above) == 9);
	ck_assert_uint_eq(above, 1);
	ck_assert(histogram__percentile(&h, 9999, &above) == 10);
	ck_assert_uint_eq(above, 0);
	ck_assert(histogram__mean(&h) == 5.5);
}
END_TEST

/* Counts beyond what a product with 10000 would hold, and values beyond the last bucket. */
START_TEST(large)
{
	u64 above;

	h.counts[5] = 1ull << 60;
	h.counts[9] = 1ull << 60;
	h.nr = 1ull << 61;
	h.max = 9;
	ck_assert(histogram__percentile(&h, 5000, &above) == 5);
	ck_assert_uint_eq(above, 1ull << 60);
	ck_assert(histogram__percentile(&h, 5001, NULL) == 9);
	memset(&h, 0, sizeof(h));
	histogram__add(&h, ~0ull);
	ck_assert_uint_eq(h.max, ~0ull);
	ck_assert(histogram__percentile(&h, 5000, NULL) > 2.18e12);
}
END_TEST

Suite *histogram_suite(void)
{
	Suite *s = suite_create("histogram");
	TCase *t = tcase_create("histogram");

	tcase_add_test(t, error);
	tcase_add_test(t, round_trip);
	tcase_add_test(t, percentiles);
	tcase_add_test(t, ranks);
	tcase_add_test(t, large);
	suite_add_tcase(s, t);
	return s;
}
