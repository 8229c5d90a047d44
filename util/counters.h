/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counters of the kernel's perf events, opened on tasks with libperf
 *
 * What there is: hardware and cache events of the CPU's PMU, raw ones ("r01c2"), the kernel's
 * software events, and its tracepoints ("sched:sched_switch"). Whatever cannot be counted has a
 * reason in the place of a number.
 *
 * A machine with several PMUs (cores of two kinds) has each hardware event once for each of them.
 * It is opened on those tasks only that are bound to that PMU's CPUs: of a task that had been
 * elsewhere, the kernel would say that the event had not been counted all the time.
 */
#ifndef KBENCH_COUNTERS_H
#define KBENCH_COUNTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <linux/perf_event.h>
#include <linux/types.h>

#include "figures.h"

#define COUNTERS_MAX		64	/* events that may be asked for */
#define COUNTERS_MAX_PMUS	4
#define COUNTER_PMU_NAME_MAX	32
#define COUNTERS_REASON_MAX	256

/**
 * counters__check - is it a list of what can be counted?
 * @list:	names with commas between: as in "perf list", with :u or :k if only user space or
 *		only the kernel is to be counted
 * @why:	what is wrong with it, and what was probably meant
 *
 * A tracepoint is looked for only if tracefs can be read. Whether this machine and this user can
 * count it all is not known before it is tried.
 *
 * Return: 0; -EINVAL or -ENOMEM with @why written.
 */
int counters__check(const char *list, char *why, size_t size);

/* A PMU that counts the cycles of CPUs. */
struct counter_pmu {
	char	name[COUNTER_PMU_NAME_MAX];
	u32	type;
	char	cpus[256];	/* a list as "0-7,16"; "" for all CPUs */
};

/**
 * counters__pmus - the PMUs of the CPUs
 * @devices:	the folder that has them: "/sys/bus/event_source/devices"
 * @pmus:	[COUNTERS_MAX_PMUS], in the order of their names
 *
 * Return: how many; 0 if there is none, and none of the hardware's events.
 */
int counters__pmus(const char *devices, struct counter_pmu *pmus);

enum counter_class { COUNTER_HARDWARE, COUNTER_SOFTWARE, COUNTER_TRACEPOINT };

struct counter_set;
struct perf_evsel;

/**
 * struct counter - one event
 * @name:	as it was asked for, with the PMU before it if there are several
 * @modifier:	"", "u", "k" or "uk"
 * @ns:		it counts nanoseconds
 * @pmu:	which of the PMUs, -1 if there are not several
 * @partner:	the one that it is to be counted together with, an index below its own; or -1
 * @reason:	why it is not counted, since counters__open(); "" if it is
 */
struct counter {
	char			name[FIGURES_NAME_MAX];
	char			modifier[4];
	enum counter_class	class;
	bool			ns;
	int			pmu, partner;
	struct perf_event_attr	attr;
	char			reason[COUNTERS_REASON_MAX];
	char			no_id[COUNTERS_REASON_MAX];	/* why a tracepoint has none */
	struct perf_evsel	*evsel;
};

struct counters {
	int			nr, nr_pmus;
	struct counter		*list;			/* [nr] */
	struct counter_pmu	pmus[COUNTERS_MAX_PMUS];
	struct counter_set	*sets;			/* of tasks: all, then those of each PMU */
};

/**
 * counters__new - prepare for counting
 * @list:	as for counters__check(), or NULL for the default; what is there twice counts once
 * @devices:	as for counters__pmus()
 *
 * Return: to be freed with counters__free(), or NULL with @why written.
 */
struct counters *counters__new(const char *list, const char *devices, char *why, size_t size);
void counters__free(struct counters *cs);

/* A task to be counted: @cpu is the one that it is bound to, or -1. */
struct counter_task {
	pid_t	tid;
	int	cpu;
};

/**
 * counters__open - begin to count, everything on each task
 * @tasks:	[@nr]
 *
 * A counter that cannot be opened on one of its tasks is opened on none, and has a reason. What was
 * open is closed. Needs a descriptor for each counter and task.
 *
 * Return: 0 or -ENOMEM.
 */
int counters__open(struct counters *cs, const struct counter_task *tasks, int nr);
void counters__close(struct counters *cs);

/* Is @task (an index of the last counters__open()) one that this counter is for? */
bool counters__has(const struct counters *cs, int counter, int task);

/* What was counted; how long (ns) the task ran, and for how long of that this was counted. */
struct counter_value {
	u64	val, enabled, running;
};

/**
 * counters__read - what was counted since counters__open()
 * @v:		all zero if the counter is not open, or not for this task
 *
 * Return: 0 or -errno. A task may have ended; its counts stay.
 */
int counters__read(const struct counters *cs, int counter, int task, struct counter_value *v);

/**
 * counters__sum - what several tasks have done
 * @v:		[@nr], each of a task, of the same stretch of time
 * @share:	made the least share of its time for which any of them was counted, if that is less
 *
 * With more events than the PMU has counters, the kernel counts them in turns: what each task did
 * is taken to have gone on at the same rate while it was not counted.
 *
 * Return: the sum; NaN if a task ran and was never counted.
 */
double counters__sum(const struct counter_value *v, int nr, double *share);

#endif
