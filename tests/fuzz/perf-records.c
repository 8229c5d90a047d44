// SPDX-License-Identifier: GPL-2.0
/*
 * perf-records.c: whatever bytes a perf buffer has, what is taken from them lies within them
 *
 * The first 8 bytes choose the sample_type, the others are records, one after the other.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/perf-record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

static uint64_t sum;

/* Touch all that was found. */
static void check_record(const struct perf_record *rec, const char *buf, size_t size)
{
	uint32_t i;

	must(rec->size >= sizeof(struct perf_event_header) && rec->size <= size);
	must(rec->ips || !rec->nr_ips);
	if (rec->ips)
		must((const char *)rec->ips >= buf &&
		     (const char *)(rec->ips + rec->nr_ips) <= buf + rec->size);
	for (i = 0; rec->ips && i < rec->nr_ips; i++)
		sum += rec->ips[i];
	for (i = 0; i < rec->raw_size; i++)
		sum += ((const unsigned char *)rec->raw)[i];
	must(!rec->raw_size || (const char *)rec->raw + rec->raw_size <= buf + rec->size);
	must(rec->type == PERF_RECORD_SAMPLE || (!rec->nr_ips && !rec->raw));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_record rec;
	uint64_t type;
	char *buf;
	int err;

	if (size < sizeof(type))
		return 0;
	memcpy(&type, data, sizeof(type));
	data += sizeof(type);
	size -= sizeof(type);
	while (size) {
		buf = malloc(size);		/* aligned, and of just that size */
		if (!buf)
			return 0;
		memcpy(buf, data, size);
		err = perf_record__parse(buf, size, type, &rec);
		must(err == 0 || err == -EINVAL || err == -EOPNOTSUPP);
		must((err == -EOPNOTSUPP) == !!(type & ~(uint64_t)PERF_RECORD_SAMPLE_TYPES));
		if (!err)
			check_record(&rec, buf, size);
		free(buf);
		if (err)
			return 0;
		data += rec.size;
		size -= rec.size;
	}
	return 0;
}
