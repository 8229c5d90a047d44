/* SPDX-License-Identifier: GPL-2.0 */
/*
 * worker-internal.h: what the parts of the harness share, and no workload uses
 */
#ifndef BENCH_WORKER_INTERNAL_H
#define BENCH_WORKER_INTERNAL_H

#include <pthread.h>

#include "worker.h"

enum { GATE_CLOSED, GATE_OPEN, GATE_ABORT };

/* What the tasks and the parent share beside the tasks' own lines; parts that move apart. */
struct bench_shared {
	u32	gate;			/* futex of the tasks */
	u32	stop;
	u64	gate_ns;
	int	nr_tasks;
	size_t	map_size;
	u64	chunk;			/* --total: ops taken from the pool at once, 0 without */
	struct {	/* the futex of the parent, and what it waits for */
		u32	wake;
		u32	nr_ready, nr_entered, nr_done, nr_gone;
	} __aligned(BENCH_LINE);
	struct {	/* --total: ops left to take */
		u64	pool;
	} __aligned(BENCH_LINE);
	struct {	/* the first task to fail: 1 claimed, 2 written */
		u32	failed;
		int	failed_task, failed_errno;
		char	failed_call[BENCH_NAME_MAX];
		char	failed_object[BENCH_TEXT_MAX];
	} __aligned(BENCH_LINE);
};

/* The tasks of one repeat, as the parent knows them. */
struct bench_crew {
	struct bench_run	*run;
	pid_t			*pids;		/* processes; 0 once reaped */
	pthread_t		*threads;
	int			nr;		/* made */
	int			stuck;		/* that did not end */
};

#define BENCH_MAX_RAW_MB	1024ull		/* raw samples of a run */

extern struct list_head bench_observers;

#define for_each_observer(o)	list_for_each_entry(o, &bench_observers, node)

/* Work of a fixed size, and not of a fixed time? */
static inline bool bench_is_fixed(void)
{
	return bench_worker_params.loops || bench_worker_params.total;
}

static inline struct bench_repeat *bench_run__repeat(struct bench_run *run, int v)
{
	return &run->results[v].repeats[run->repeat];
}

/*
 * worker-task.c. All return 0 or -errno; of failures, what is to be printed has been set.
 *
 * map:		the shared pages of a repeat, for run->nr_tasks; unmap gives them back
 * make:	the tasks, which then come to the gate
 * trouble:	whatever ends a repeat early: a signal (-EINTR), a failed task, a dead one
 * wait:	for *@count to come to the number of tasks, for trouble, or for @until (ns)
 * end:		all tasks; those that do not end within the grace time are counted in stuck
 */
int bench_crew__map(struct bench_run *run);
void bench_crew__unmap(struct bench_run *run);
int bench_crew__make(struct bench_crew *crew);
int bench_crew__trouble(struct bench_crew *crew);
int bench_crew__wait(struct bench_crew *crew, const u32 *count, u64 until);
void bench_crew__open_gate(struct bench_crew *crew);
void bench_crew__end(struct bench_crew *crew);

/* Signals are caught, and the parent goes before the tasks, between these two. */
void bench_parent__begin(void);
void bench_parent__end(void);
int bench_parent__continued(void);	/* how often we were stopped and went on */

/* Can all CPUs of the plan still be used? Not those that went offline, or out of our cpuset. */
bool bench_plan__has_cpus(const struct bench_run *run);

/*
 * worker-toggle.c: --toggle. All do nothing without it.
 *
 * plan:	after prepare: its variants, and what is wrong with it
 * select:	run the command of a variant, unless it was the last to be run
 * verdict:	a note on what came out at the current point, which has been summarised
 * end:		restore; may fail the run
 */
int bench_toggle__plan(struct bench_run *run);
int bench_toggle__select(struct bench_run *run, int v);
void bench_toggle__verdict(struct bench_run *run);
void bench_toggle__end(struct bench_run *run);

/* Is there something to be done when the variant changes? */
static inline bool bench_run__selects(const struct bench_run *run)
{
	return run->ops->select || bench_worker_params.toggle;
}

/* worker-measure.c: the windows of one repeat, the tasks running; then its numbers. */
int bench_measure__repeat(struct bench_crew *crew);
int bench_measure__collect(struct bench_run *run, int v);
int bench_measure__select(struct bench_crew *crew, int v);

#endif
