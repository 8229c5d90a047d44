/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One record of a perf ring buffer
 *
 * The layout is that of perf_event_open(2), and of the kernel's include/uapi/linux/perf_event.h.
 */
#ifndef KBENCH_PERF_RECORD_H
#define KBENCH_PERF_RECORD_H

#include <stddef.h>
#include <linux/perf_event.h>
#include <linux/types.h>

/* What a sample may have. All records of a buffer have the same, and sample_id_all. */
#define PERF_RECORD_SAMPLE_TYPES						\
	(PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |	\
	 PERF_SAMPLE_ADDR | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_CPU |	\
	 PERF_SAMPLE_PERIOD | PERF_SAMPLE_CALLCHAIN | PERF_SAMPLE_RAW)

/**
 * struct perf_record - what one has in it; what it has not is zero
 * @type:	PERF_RECORD_SAMPLE, _LOST, _LOST_SAMPLES, or another, of which only @time and the
 *		like are known
 * @misc:	PERF_RECORD_MISC_*
 * @size:	bytes in the buffer
 * @time:	by the clock that was asked for, ns
 * @lost:	records that did not fit in, before this one: _LOST, _LOST_SAMPLES
 * @nr_ips:	entries of the call chain, the innermost first; PERF_CONTEXT_* are among them
 * @ips:	these, in the buffer
 * @raw_size:	bytes of the tracepoint's own record
 * @raw:	that, in the buffer; of no known alignment
 */
struct perf_record {
	u32		type;
	u16		misc, size;
	u32		pid, tid, cpu;
	u64		time, id, ip, addr, period;
	u64		lost;
	u64		nr_ips;
	const u64	*ips;
	u32		raw_size;
	const void	*raw;
};

/**
 * perf_record__parse - take a record apart
 * @buf:	its bytes, of whatever content, aligned to 8 bytes
 * @size:	how many there are
 * @sample_type: of the event that wrote it: some of PERF_RECORD_SAMPLE_TYPES
 * @rec:	what was found; points into @buf
 *
 * Return: 0; -EINVAL if its parts do not fill just the size that it has, or that is beyond @size;
 * -EOPNOTSUPP for other bits in @sample_type.
 */
int perf_record__parse(const void *buf, size_t size, u64 sample_type, struct perf_record *rec);

#endif
