/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Histogram of times: buckets that grow with the value, so that each is within 1 % of what is in it
 *
 * Below 128 ns there is a bucket for each ns. Above, each power of two is split into 64 buckets of
 * equal width: a bucket is at most 1/64 of its values wide, and its middle is less than 1/128 (that
 * is 0.8 %) away from any of them. The last one ends at 2^41 ns (36 minutes), and has what is
 * longer, too.
 */
#ifndef KBENCH_HISTOGRAM_H
#define KBENCH_HISTOGRAM_H

#include <linux/types.h>

#define HISTOGRAM_SUB_BITS	6
#define HISTOGRAM_MAX_NS	2199023255552ull	/* 2^41; less than this is told apart */
#define HISTOGRAM_BUCKETS	(36 << HISTOGRAM_SUB_BITS)	/* 41 - 6 + 1 */

/* The bucket of a value. */
static inline unsigned int histogram__bucket(u64 ns)
{
	int shift;

	if (ns >= HISTOGRAM_MAX_NS)
		return HISTOGRAM_BUCKETS - 1;
	if (ns < 2u << HISTOGRAM_SUB_BITS)
		return ns;
	shift = 63 - __builtin_clzll(ns) - HISTOGRAM_SUB_BITS;
	return (shift << HISTOGRAM_SUB_BITS) + (ns >> shift);
}

/* What a bucket stands for, ns: its middle. */
double histogram__value(unsigned int bucket);

/**
 * struct histogram - how often there was which value
 * @nr:		values in all
 * @sum, @max:	of the values themselves, not of buckets; ns
 * @counts:	of each bucket
 *
 * Those who count into a bare array of buckets fill one of these from it.
 */
struct histogram {
	u64	nr, sum, max;
	u64	counts[HISTOGRAM_BUCKETS];
};

void histogram__add(struct histogram *h, u64 ns);

/* What is in @other, too. */
void histogram__merge(struct histogram *h, const struct histogram *other);

/* Mean, ns; NaN of none. */
double histogram__mean(const struct histogram *h);

/**
 * histogram__percentile - the value that so many are not above
 * @h:		the histogram
 * @q:		which, in hundredths of a per cent: 9999 is p99.99; 1 to 10000
 * @above:	how many values come after it in the order of values, may be NULL
 *
 * By rank: that of the ceil(q / 10000 * nr)-th value in their order, as its bucket's middle, or the
 * largest value if that is less.
 *
 * Return: ns; NaN of none.
 */
double histogram__percentile(const struct histogram *h, unsigned int q, u64 *above);

#endif
