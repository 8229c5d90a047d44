/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Samples of perf events, read while what they look at goes on
 *
 * The events are opened on the calling thread, with inherit, one for each online CPU: whatever
 * processes and threads it makes from then on have them, too, and there are no more descriptors
 * than events times CPUs. They count and sample from sampler__start() to sampler__stop() only; in
 * between, a thread reads the buffers, one for each CPU.
 *
 * The kernel's part is explained in perf_event_open(2).
 */
#ifndef KBENCH_SAMPLER_H
#define KBENCH_SAMPLER_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "perf-record.h"

#define SAMPLER_BUFFER_KB	2048		/* a CPU, unless another size is asked for */
#define SAMPLER_MAX_BUFFER_KB	(1024 * 1024)
#define SAMPLER_MAX_EVENTS	4

/**
 * struct sampler_options - what to sample, and what to do with it
 * @attrs:	[nr] the events, copied. To be set by the caller: type, config, sample_period (or
 *		freq), exclude_*, and sample_type, the same in all of them, of
 *		PERF_RECORD_SAMPLE_TYPES with PERF_SAMPLE_TID and PERF_SAMPLE_TIME. Times of records
 *		are CLOCK_MONOTONIC. They are enabled in this order and disabled in the reverse one
 * @names:	[nr] for messages
 * @all_tasks:	of the whole machine, not only of what the caller makes
 * @buffer_kb:	of each CPU, rounded up to a power of two; 0: SAMPLER_BUFFER_KB, or what the user is
 *		allowed, should that be less
 * @record:	called with each record, in the thread that reads: of all CPUs in the order of time,
 *		but for struct sampler_stats::late; @rec is valid during the call
 * @round:	called in the same thread when all records older than @until (ns) have been
 *		handed out; ULLONG_MAX at the end. May be NULL
 * @data:	for both
 */
struct sampler_options {
	const struct perf_event_attr	*attrs;
	const char *const		*names;
	int				nr;
	bool				all_tasks;
	u64				buffer_kb;
	void				(*record)(void *data, const struct perf_record *rec);
	void				(*round)(void *data, u64 until);
	void				*data;
};

/**
 * struct sampler_stats - from a start to the stop after it
 * @events:	[nr] times that each event happened, by the kernel's own count; with a sample_period
 *		of 1, @samples + @own + @lost is their sum
 * @samples:	samples handed out
 * @own:	samples of the thread that reads, which are not handed out
 * @lost:	records that found the buffer full
 * @late:	records handed out after younger ones
 * @bad:	records that could not be understood
 * @ns:		how long that was
 * @reader_ns:	CPU time of the thread that reads
 * @fullest:	share of a buffer that was filled, the most that was seen, 0 to 1
 * @new_cpus:	CPUs that are online now and are not looked at
 */
struct sampler_stats {
	u64	events[SAMPLER_MAX_EVENTS];
	u64	samples, own, lost, late, bad;
	u64	ns, reader_ns;
	double	fullest;
	int	new_cpus;
};

struct sampler;

/**
 * sampler__new - open the events
 * @opts:	as above; not kept
 * @sampler:	to be freed with sampler__free()
 * @why:	what failed, on what, and what to do about it
 * @why_size:	room there
 *
 * Nothing is to be forked between here and sampler__free() that should not be looked at; nothing at
 * all between start and stop.
 *
 * Return: 0, or -errno with @why written.
 */
int sampler__new(const struct sampler_options *opts, struct sampler **sampler, char *why,
		 size_t why_size);

/* Ends it, whatever had been begun. */
void sampler__free(struct sampler *s);

/*
 * Begin to look; end it, and hand out all that is left. Stopping what was not started does nothing.
 * Return: 0, or -errno, -ENOENT where there is nothing to be said.
 */
int sampler__start(struct sampler *s, char *why, size_t why_size);
int sampler__stop(struct sampler *s, struct sampler_stats *stats);

/* CPUs that are looked at, bytes of all buffers, KiB of one. */
int sampler__nr_cpus(const struct sampler *s);
u64 sampler__memory(const struct sampler *s);
u64 sampler__buffer_kb(const struct sampler *s);

/* Why perf_event_open() of @event failed with @err (> 0), and what to do: one line, into @why. */
void sampler__why_not(int err, const char *event, char *why, size_t why_size);

#endif
