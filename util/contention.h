/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Waits for kernel locks, out of lock:contention_begin and lock:contention_end
 *
 * Both say which task and which lock; the begin also has flags, which tell the type of the lock,
 * and a call chain. The kernel's include/trace/events/lock.h has them. What is not to be seen in
 * them: waits that the kernel does not trace, first of all the spinning for a rwsem before a sleep.
 */
#ifndef KBENCH_CONTENTION_H
#define KBENCH_CONTENTION_H

#include <stddef.h>
#include <linux/types.h>

/* Flags of contention_begin: LCB_F_* of the kernel. */
#define CONTENTION_SPIN		1u
#define CONTENTION_READ		2u
#define CONTENTION_WRITE	4u
#define CONTENTION_RT		8u
#define CONTENTION_PERCPU	16u
#define CONTENTION_MUTEX	32u

#define CONTENTION_MAX_DEPTH	32	/* entries of a call chain */
#define CONTENTION_MAX_CHAINS	8192	/* call chains; of the last quarter only the inner part */
#define CONTENTION_MAX_OPEN	65536	/* waits that have begun and not ended, of all tasks */
#define CONTENTION_MAX_BACKLOG	4000000	/* waits that ended in a window that has not ended */
#define CONTENTION_MAX_SUMS	4000000	/* call chains of a window, over all windows */

/* To whom a window belongs; means nothing here. */
struct contention_tag {
	int	point, variant, repeat;
};

/* Waits in a window, of one call chain. */
struct contention_sum {
	u32	chain;
	u64	nr, wait_ns, max_ns;
};

struct contention_window {
	struct contention_tag	tag;
	u64			start_ns, end_ns;
	int			nr;
	struct contention_sum	*sums;
};

/**
 * struct contention_stats - what has become of all events since contention__watch()
 * @begins, @ends: of the tasks that are watched: @begins = @waits + @joined + @replaced +
 *		@unfinished + @forgotten + @no_room_open + @no_room_chain,
 *		@ends = @waits + @no_begin
 * @others:	events of tasks that are not watched
 * @waits:	that have ended: @waits = @counted + @outside + @no_room_backlog + @no_room_sums
 * @joined:	further begins of the same wait: a mutex is spun for, then slept for
 * @replaced:	begins whose end was not seen when the next wait for the same lock began
 * @unfinished:	begins whose end was not seen until contention__finish()
 * @unfinished_ns: how long these had lasted, from the first window to the last one
 * @longest_chain, @longest_ns: the call chain that has the most of it, and how much
 * @forgotten:	begins whose end may have been lost
 * @no_begin:	ends without a begin
 * @counted:	waits that ended in a window
 * @outside:	waits that did not
 * @no_room_open, @no_room_chain, @no_room_backlog, @no_room_sums: what a limit has left out
 */
struct contention_stats {
	u64	begins, ends, others;
	u64	waits, joined, replaced, unfinished, forgotten, no_begin;
	u64	counted, outside;
	u64	no_room_open, no_room_chain, no_room_backlog, no_room_sums;
	u64	unfinished_ns, longest_ns;
	u32	longest_chain;
};

struct contention;

/* NULL without memory. */
struct contention *contention__new(void);
void contention__free(struct contention *c);

/**
 * contention__watch - begin with a new set of tasks
 * @tids:	whose waits are to be counted, in any order; copied
 * @nr:		how many; 0: all tasks
 *
 * Return: 0 or -ENOMEM.
 */
int contention__watch(struct contention *c, const int *tids, int nr);

/*
 * The events, in the order of time (ns). @ips is the chain from the tracepoint outwards, without
 * PERF_CONTEXT_*; what is deeper than CONTENTION_MAX_DEPTH is left out. @tid may be any number but
 * INT_MIN; the idle tasks of all CPUs have 0 in common, so that other numbers must tell them apart.
 */
void contention__begin(struct contention *c, int tid, u64 lock, unsigned int flags, u64 time,
		       const u64 *ips, u64 nr);
void contention__end(struct contention *c, int tid, u64 lock, u64 time);

/* Events have been lost: what has begun may have ended since. */
void contention__lost(struct contention *c);

/**
 * contention__window - a window is over
 * @tag:	kept with it
 * @start_ns, @end_ns: a wait is in it if it ends at @start_ns or later, and before @end_ns
 *
 * Windows come in the order of time and do not overlap.
 *
 * Return: 0 or -ENOMEM.
 */
int contention__window(struct contention *c, struct contention_tag tag, u64 start_ns, u64 end_ns);

/*
 * All events before @until have been given, and all windows that begin before: sum up the windows
 * that end before.
 */
void contention__until(struct contention *c, u64 until);

/* There are no more events and windows of these tasks. */
void contention__finish(struct contention *c, struct contention_stats *stats);

/* All windows so far, in the order of time; *@nr is how many. */
const struct contention_window *contention__windows(const struct contention *c, int *nr);

/* A call chain: its entries, their number, and the flags of its lock's type. */
const u64 *contention__chain(const struct contention *c, u32 chain, int *nr, unsigned int *flags);
int contention__nr_chains(const struct contention *c);

/* Bytes that are used now. */
u64 contention__memory(const struct contention *c);

/* The type of lock as "perf lock contention" names it: "rwsem:W", "mutex". */
const char *contention__type(unsigned int flags);

#endif
