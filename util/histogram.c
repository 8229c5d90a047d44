// SPDX-License-Identifier: GPL-2.0
/*
 * Histogram of times: buckets that grow with the value
 */
#include <math.h>
#include <linux/kernel.h>

#include "histogram.h"

double histogram__value(unsigned int bucket)
{
	unsigned int shift = bucket >> HISTOGRAM_SUB_BITS;
	u64 low, width;

	if (shift < 2)		/* one for each value */
		return bucket;
	shift--;
	width = 1ull << shift;
	low = (u64)(bucket - (shift << HISTOGRAM_SUB_BITS)) << shift;
	return low + (width - 1) / 2.0;
}

void histogram__add(struct histogram *h, u64 ns)
{
	h->counts[histogram__bucket(ns)]++;
	h->nr++;
	h->sum += ns;
	h->max = max(h->max, ns);
}

void histogram__merge(struct histogram *h, const struct histogram *other)
{
	int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->counts[i] += other->counts[i];
	h->nr += other->nr;
	h->sum += other->sum;
	h->max = max(h->max, other->max);
}

double histogram__mean(const struct histogram *h)
{
	return h->nr ? (double)h->sum / h->nr : NAN;
}

double histogram__percentile(const struct histogram *h, unsigned int q, u64 *above)
{
	u64 rank = h->nr / 10000 * q + (h->nr % 10000 * q + 9999) / 10000, seen = 0;
	int i;

	if (above)
		*above = h->nr - rank;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		seen += h->counts[i];
		if (h->nr && seen >= rank)
			return fmin(histogram__value(i), h->max);
	}
	return NAN;
}
