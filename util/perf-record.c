// SPDX-License-Identifier: GPL-2.0
/*
 * Records of perf ring buffers, taken apart
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "perf-record.h"

/* What of a record has not been read yet: whole u64s. */
struct rest {
	const u64	*next;
	size_t		nr;
};

static bool take(struct rest *rest, u64 *value)
{
	if (!rest->nr)
		return false;
	*value = *rest->next++;
	rest->nr--;
	return true;
}

static bool take_two(struct rest *rest, u32 *first, u32 *second)
{
	u64 value;
	u32 both[2];

	if (!take(rest, &value))
		return false;
	memcpy(both, &value, sizeof(both));
	*first = both[0];
	*second = both[1];
	return true;
}

static bool take_chain(struct rest *rest, struct perf_record *rec)
{
	if (!take(rest, &rec->nr_ips) || rec->nr_ips > rest->nr)
		return false;
	rec->ips = rest->next;
	rest->next += rec->nr_ips;
	rest->nr -= rec->nr_ips;
	return true;
}

/* A u32 with the size of what follows; both together are filled up to a u64. */
static bool take_raw(struct rest *rest, struct perf_record *rec)
{
	u64 nr;

	if (!rest->nr)
		return false;
	memcpy(&rec->raw_size, rest->next, sizeof(u32));
	nr = ((u64)rec->raw_size + sizeof(u32) + sizeof(u64) - 1) / sizeof(u64);
	if (nr > rest->nr)
		return false;
	rec->raw = (const char *)rest->next + sizeof(u32);
	rest->next += nr;
	rest->nr -= nr;
	return true;
}

static bool parse_sample(struct rest *rest, u64 type, struct perf_record *rec)
{
	u64 other;
	u32 unused;

	return (!(type & PERF_SAMPLE_IDENTIFIER) || take(rest, &rec->id)) &&
	       (!(type & PERF_SAMPLE_IP) || take(rest, &rec->ip)) &&
	       (!(type & PERF_SAMPLE_TID) || take_two(rest, &rec->pid, &rec->tid)) &&
	       (!(type & PERF_SAMPLE_TIME) || take(rest, &rec->time)) &&
	       (!(type & PERF_SAMPLE_ADDR) || take(rest, &rec->addr)) &&
	       (!(type & PERF_SAMPLE_ID) || take(rest, &rec->id)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || take(rest, &other)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_two(rest, &rec->cpu, &unused)) &&
	       (!(type & PERF_SAMPLE_PERIOD) || take(rest, &rec->period)) &&
	       (!(type & PERF_SAMPLE_CALLCHAIN) || take_chain(rest, rec)) &&
	       (!(type & PERF_SAMPLE_RAW) || take_raw(rest, rec)) && !rest->nr;
}

/* What sample_id_all puts behind every other record. */
static bool parse_sample_id(struct rest *rest, u64 type, struct perf_record *rec)
{
	const u64 in_id = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID |
			  PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	size_t nr = __builtin_popcountll(type & in_id);
	u64 other;
	u32 unused;

	if (nr > rest->nr)
		return false;
	rest->next += rest->nr - nr;
	rest->nr = nr;
	return (!(type & PERF_SAMPLE_TID) || take_two(rest, &rec->pid, &rec->tid)) &&
	       (!(type & PERF_SAMPLE_TIME) || take(rest, &rec->time)) &&
	       (!(type & PERF_SAMPLE_ID) || take(rest, &rec->id)) &&
	       (!(type & PERF_SAMPLE_STREAM_ID) || take(rest, &other)) &&
	       (!(type & PERF_SAMPLE_CPU) || take_two(rest, &rec->cpu, &unused)) &&
	       (!(type & PERF_SAMPLE_IDENTIFIER) || take(rest, &rec->id));
}

int perf_record__parse(const void *buf, size_t size, u64 sample_type, struct perf_record *rec)
{
	struct perf_event_header header;
	struct rest rest;
	u64 unused;
	bool good;

	memset(rec, 0, sizeof(*rec));
	if (sample_type & ~(u64)PERF_RECORD_SAMPLE_TYPES)
		return -EOPNOTSUPP;
	if (size < sizeof(header))
		return -EINVAL;
	memcpy(&header, buf, sizeof(header));
	if (header.size > size || header.size < sizeof(header) || header.size % sizeof(u64))
		return -EINVAL;
	rec->type = header.type;
	rec->misc = header.misc;
	rec->size = header.size;
	rest.next = (const u64 *)buf + 1;
	rest.nr = header.size / sizeof(u64) - 1;

	switch (header.type) {
	case PERF_RECORD_SAMPLE:
		return parse_sample(&rest, sample_type, rec) ? 0 : -EINVAL;
	case PERF_RECORD_LOST:
		good = take(&rest, &unused) && take(&rest, &rec->lost);
		break;
	case PERF_RECORD_LOST_SAMPLES:
		good = take(&rest, &rec->lost);
		break;
	default:
		good = true;
		break;
	}
	return good && parse_sample_id(&rest, sample_type, rec) ? 0 : -EINVAL;
}
