/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Instruments: what looks into a run to say why it is as fast as it is
 *
 * Whatever looks, costs. So each instrument has a pass of its own: once a benchmark has been run
 * clean, it is run again with the same options, with fewer repeats, and with one instrument. The
 * rate of that pass is shown beside its findings, so that a reader sees what looking has cost, and
 * is never taken for the rate of the benchmark.
 *
 * An instrument is an observer (bench/worker.h) and a table of figures. passes.c runs the passes,
 * and puts the observers into this order: the instrument, then those who print and store; in the
 * result hook of the instrument, @figures is to be filled for that result, for the others to read.
 */
#ifndef INSTRUMENT_H
#define INSTRUMENT_H

#include <stdbool.h>
#include "bench/worker.h"
#include "util/figures.h"

/**
 * struct instrument - one that looks
 * @observer:	its hooks; those that are NULL are not called
 * @name:	"counters", "contention", "profile", "latency": the name of its pass
 * @unavailable: set by the begin hook, if it cannot look here: why, and what to do about it. Then
 *		the pass is left out with that reason, and the run is none the worse
 * @figures:	of the result being reported; set by the result hook
 * @free:	ends and frees it, whatever had been begun
 */
struct instrument {
	struct bench_observer	observer;
	const char		*name;
	char			unavailable[3 * BENCH_TEXT_MAX];
	struct figures		figures;
	void			(*free)(struct instrument *ins);
};

/* What is asked for on the command line. */
struct instrument_options {
	bool		counters, contention, profile, latency;
	const char	*counter_list;	/* NULL: the default list */
	bool		all_tasks;	/* contention: of the machine, not of our tasks only */
	u64		buffer_kb;	/* a CPU, of records not yet read; 0: the default */
	u64		latency_every;	/* one op in so many, 0: by the rule of the instrument */
};

/*
 * Each makes one, or returns NULL if out of memory. A list of counters with a wrong name is not
 * found out here but by counters__check(), before anything runs.
 */
struct instrument *counters_instrument__new(const struct instrument_options *opts);
struct instrument *contention_instrument__new(const struct instrument_options *opts);
struct instrument *profile_instrument__new(const struct instrument_options *opts);
struct instrument *latency_instrument__new(const struct instrument_options *opts);

#endif
