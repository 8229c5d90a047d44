// SPDX-License-Identifier: GPL-2.0
/*
 * Stands in for instruments that are not there yet
 */
#include <stdio.h>
#include <stdlib.h>
#include <linux/compiler.h>
#include <linux/zalloc.h>

#include "instrument.h"

static int begin(struct bench_observer *o, struct bench_run *run __maybe_unused)
{
	struct instrument *ins = container_of(o, struct instrument, observer);

	snprintf(ins->unavailable, sizeof(ins->unavailable), "not built");
	return 0;
}

static void none_free(struct instrument *ins)
{
	free(ins);
}

static struct instrument *none(const char *name)
{
	struct instrument *ins = zalloc(sizeof(*ins));

	if (ins) {
		ins->name = name;
		ins->free = none_free;
		ins->observer.begin = begin;
	}
	return ins;
}

struct instrument *counters_instrument__new(const struct instrument_options *opts __maybe_unused)
{
	return none("counters");
}

struct instrument *latency_instrument__new(const struct instrument_options *opts __maybe_unused)
{
	return none("latency");
}
