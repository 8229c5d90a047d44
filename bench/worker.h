/* SPDX-License-Identifier: GPL-2.0 */
/*
 * worker.h: the harness on which the locking, kernfs, fsnotify and nfs benchmarks stand
 *
 * A benchmark is a struct bench_ops: what one op is, and the hooks that prepare and repeat it. The
 * harness does the rest: it parses the shared options, checks the whole plan before anything
 * runs, and then, for each repeat of each task count, makes the tasks, pins them, lets them go
 * together, samples their counters from outside, stops and reaps them. The raw samples of each
 * task count go as one struct bench_result to the observers. Measuring never prints, and printing
 * never measures.
 *
 * A run goes in rounds: the first repeat of each task count (a point), then the second of each, and
 * so on. So a machine that gets slower, or faster, does so for all points alike.
 *
 *	bench/worker.c		one run, from argv to the observers; what workloads may call
 *	bench/worker-task.c	the tasks: made, let go together, ended and reaped
 *	bench/worker-measure.c	sampling, and the measured windows
 *	bench/worker-plan.c	options, lists, CPUs and pinning, limits: all that is checked first
 *	bench/worker-dir.c	the private directory, and what file system it is on
 *	bench/worker-watch.c	what may have spoilt a repeat: throttling, steal, lost CPUs
 *	bench/worker-stat.c	statistics: means and their intervals, the end of the warm-up
 *	bench/worker-toggle.c	--toggle: variants that shell commands make
 *	bench/worker-report.c	the summary of a result, and the text observer
 */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>
#include <subcmd/parse-options.h>

#define BENCH_LINE	128		/* bytes: two lines, as hardware fetches them in pairs */
#define BENCH_MAX_TASKS	65536
#define BENCH_NAME_MAX	32
#define BENCH_TEXT_MAX	256

/* Exit status of a benchmark, standalone and in-tree alike. */
enum bench_exit {
	BENCH_EXIT_OK		= 0,
	BENCH_EXIT_FAILED	= 1,
	BENCH_EXIT_USAGE	= 2,
	BENCH_EXIT_SKIPPED	= 3,	/* this kernel or machine cannot do it */
	BENCH_EXIT_INTERRUPTED	= 130,
};

enum bench_mode { BENCH_MODE_DEFAULT, BENCH_MODE_PROCESS, BENCH_MODE_THREAD };
enum bench_pin { BENCH_PIN_SPREAD, BENCH_PIN_COMPACT, BENCH_PIN_CORE, BENCH_PIN_NONE };

/*
 * What is known against a repeat or a result. Bits up to BENCH_FLAG_INVALID_MASK make the number
 * invalid; the others are said beside it. bench_flag__text() has a sentence for each.
 */
enum bench_flag {
	BENCH_FLAG_ERROR	= 1u << 0,	/* a task or a hook failed */
	BENCH_FLAG_ZERO_OPS	= 1u << 1,	/* nothing was done in the measured time */
	BENCH_FLAG_TOO_SHORT	= 1u << 2,	/* less than BENCH_MIN_NS was measured */
	BENCH_FLAG_THROTTLED	= 1u << 3,	/* a cgroup's CPU quota stopped the tasks */
	BENCH_FLAG_CPU_GONE	= 1u << 4,	/* a pinned task ended on another CPU */
	BENCH_FLAG_CUT_TOTAL	= 1u << 5,	/* --duration ended before --total was done */
	BENCH_FLAG_STOPPED_TOTAL = 1u << 6,	/* we were stopped before --total was done */
	BENCH_FLAG_INVALID_MASK	= (1u << 8) - 1,
	BENCH_FLAG_UNSETTLED	= 1u << 8,	/* the rate has a trend, or half is dropped */
	BENCH_FLAG_OVERSUBSCRIBED = 1u << 9,	/* more tasks than CPUs */
	BENCH_FLAG_STEAL	= 1u << 10,	/* over 1 % of the CPU time went to other guests */
	BENCH_FLAG_SUSPENDED	= 1u << 11,	/* was stopped and continued */
	BENCH_FLAG_LATE_START	= 1u << 12,	/* a task began after the first window */
	BENCH_FLAG_TORN		= 1u << 13,	/* a sample took over 1 % of a window, thrice */
	BENCH_FLAG_CUT_LOOPS	= 1u << 14,	/* --duration ended before --loops were done */
	BENCH_FLAG_IDLE_TASK	= 1u << 15,	/* a task did nothing in the measured time */
	BENCH_FLAG_STALLED	= 1u << 16,	/* a task did nothing in a counted window */
	BENCH_FLAG_PREEMPTED	= 1u << 17,	/* over 5 % of a task's time it waited for a CPU */
	BENCH_FLAG_DRIFT	= 1u << 18,	/* the rate has a trend over the repeats */
};

#define BENCH_MIN_NS	1000000ull	/* below 1 ms of measured time no rate is given */
#define BENCH_PRECISE_REPEATS	30	/* with fewer, no precision is believed */

/* Why a point was not measured further. */
enum bench_stop {
	BENCH_STOP_NONE,		/* the run failed, or was told to end */
	BENCH_STOP_REPEATS,		/* as many as there were to be */
	BENCH_STOP_PRECISION,		/* --precision was reached */
	BENCH_STOP_MAX_TIME,		/* --max-time was over */
};

struct bench_run;

/**
 * struct bench_task - one task: what it shares with the parent, and its workload's own
 * @ops:	ops finished since the gate; written by the task, read by the parent at any time
 * @limit:	ops at which the loop leaves its fast path; 0 once the task is to stop
 * @run:	the run that it belongs to; its fields are not to be written by a task
 * @priv:	the workload's, private to the task
 * @fd:		the workload's; the parent reads them (the fsnotify marks go onto them)
 * @id:		0 to nr_tasks - 1
 * @cpu:	the CPU that it is pinned to, or -1
 * @tid:	its thread ID
 *
 * Each lies on a page that the task itself touched first, so on its own NUMA node, and at a
 * line of its own. Times are CLOCK_MONOTONIC nanoseconds.
 */
struct bench_task {
	u64			ops;
	u64			limit;
	struct bench_run	*run;
	void			*priv;
	int			fd[2];
	int			id;
	int			cpu;
	pid_t			tid;
	/* the harness's own from here on */
	u64			target;		/* --loops: ops asked for, 0 if none */
	u64			due;		/* ops at which next_ops() is to be asked */
	u64			pause_at;	/* and at which bench_task__pause is */
	u64			start_ns;	/* entered its loop */
	u64			done_ns;	/* finished --loops, or the last of --total */
	int			end_cpu;	/* the CPU on which it left its loop */
	long			nvcsw, nivcsw;	/* context switches in the loop */
	u64			run_delay;	/* ns in which it could run, and did not */
	u64			end_ns;		/* left its loop */
} __aligned(BENCH_LINE);

/*
 * The slow side of the loop: --loops reached, --total's pool to be asked, told to stop, or
 * bench_task__pause wants to be called.
 */
bool bench_task__refill(struct bench_task *t);

/*
 * If set before the tasks are made, is called in each of them: before its first op, and again after
 * as many ops as it returned, which is 1 at least. The ops in between cost nothing more.
 */
extern u64 (*bench_task__pause)(struct bench_task *t);

/* A task in its loop, and the ops that it has done; all of it lives in registers. */
struct bench_loop {
	struct bench_task	*t;
	u64			ops;
};

static __always_inline struct bench_loop bench_loop__begin(struct bench_task *t)
{
	return (struct bench_loop){ .t = t, .ops = t->ops };
}

static __always_inline bool bench_loop__more(const struct bench_loop *l)
{
	return likely(l->ops < __atomic_load_n(&l->t->limit, __ATOMIC_RELAXED)) ||
	       bench_task__refill(l->t);
}

static __always_inline void bench_loop__count(struct bench_loop *l)
{
	__atomic_store_n(&l->t->ops, ++l->ops, __ATOMIC_RELAXED);
}

/**
 * bench_task__for_each_op - the loop of every workload: one pass, one op
 * @task: the task
 *
 * A pass that ends by return or break is not counted.
 */
#define bench_task__for_each_op(task)						\
	for (struct bench_loop __loop = bench_loop__begin(task);		\
	     bench_loop__more(&__loop); bench_loop__count(&__loop))

/**
 * bench_task__fail - a system call of a task failed
 * @t:		the task
 * @call:	its name, "openat"
 * @object:	what it was called on: a path, or a few words; copied
 *
 * Takes errno. The first task to fail in a run decides what is reported; the others are silent.
 *
 * Return: -errno, to be returned from the hook.
 */
int bench_task__fail(struct bench_task *t, const char *call, const char *object);

/**
 * struct bench_ops - a benchmark
 * @name:	"collection/benchmark"
 * @unit:	what one op is: "open+read+close"; prepare may put another into run->unit
 * @mode:	processes or threads, when --mode does not say
 * @fds:	file descriptors that one task holds open, for the check of RLIMIT_NOFILE
 * @use_dir:	works in the private directory: it is made before setup, is the current directory
 *		of the parent and of every task (so that paths are as long wherever it lies), and
 *		is removed with all in it after teardown: each repeat has a new one
 * @dir:	where --dir is stored, for those that have it; the default is the current directory
 * @options:	its own options, ended by OPT_PARENT(bench_worker_options)
 * @usage:	lines for its usage
 * @prepare:	once, after the options were parsed: check them, set run->unit, add parameters
 *		and variants. Nothing else has happened yet
 * @setup:	in each repeat of each point, in the parent, before the tasks are made;
 *		run->nr_tasks and run->repeat are set. Where @init may not find it in run->priv
 *		(a process has its own copy), it is to be made here. What takes long and is the
 *		same in all repeats is to be made in the first of them only, or in @prepare
 * @teardown:	after setup was tried, always, also after a signal; the tasks are gone
 * @init:	in the task, pinned, before the gate
 * @run:	the loop: bench_task__for_each_op(t) { one op }
 * @exit:	in the task, after the loop, also when init or run failed
 * @select:	in the parent, the tasks running: make variant @v the current one; v = -1 ends the
 *		last one, and is called once more after the tasks are gone. With --toggle, variant
 *		0 is the current one all the time, and what is said of it is said of both states
 * @measure:	in the parent, the tasks running: right before the measured windows of a repeat
 *		(begin), and right after them; bench_run__ops() tells the ops done so far
 *
 * Every hook returns 0 or -errno. A hook in the parent that fails has said why with
 * bench_run__fail(), bench_run__skip() or bench_run__usage(), one in a task with
 * bench_task__fail(). Only @run is required.
 */
struct bench_ops {
	const char		*name;
	const char		*unit;
	enum bench_mode		mode;
	int			fds;
	bool			use_dir;
	const char		**dir;
	const struct option	*options;
	const char *const	*usage;
	int  (*prepare)(struct bench_run *run);
	int  (*setup)(struct bench_run *run);
	void (*teardown)(struct bench_run *run);
	int  (*init)(struct bench_task *t);
	int  (*run)(struct bench_task *t);
	void (*exit)(struct bench_task *t);
	int  (*select)(struct bench_run *run, int v);
	int  (*measure)(struct bench_run *run, bool begin);
};

/* The shared options, as given; one set for the process. Times in ns, 0 where not given. */
struct bench_worker_params {
	const char	*tasks;		/* -t, as text */
	const char	*cpus;		/* -C, as text; NULL: those of the affinity mask */
	enum bench_mode	mode;
	enum bench_pin	pin;
	u64		duration;	/* measured time a repeat */
	u64		warmup;
	u64		window;
	u64		grace;
	u64		loops;		/* ops a task, 0: not asked for */
	u64		total;		/* ops of all tasks, 0: not asked for */
	double		precision;	/* per cent, 0: not asked for */
	u64		max_time;	/* of all rounds, 0: no limit */
	const char	*toggle;	/* as text */
	bool		duration_set, warmup_set, max_time_set;
};

extern struct bench_worker_params bench_worker_params;
extern const struct option bench_worker_options[];

/* Callbacks for numeric options: strict, whole and in range, or a usage error naming the option. */
int bench_opt__time(const struct option *opt, const char *arg, int unset);	/* u64 * of ns */
int bench_opt__count(const struct option *opt, const char *arg, int unset);	/* u64 *, 1 … */
int bench_opt__percent(const struct option *opt, const char *arg, int unset);	/* double * */

/*
 * OPT_BENCH_COUNT(0, "names", &names, "help"): a u64 from 1 to 2^53; OPT_BENCH_TIME: ns;
 * OPT_BENCH_PERCENT: a double, per cent, more than 0 and at most 100.
 */
#define OPT_BENCH_COUNT(s, l, v, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, u64 *), .argh = "n", .help = (h), \
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__count }
#define OPT_BENCH_PERCENT(s, l, v, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, double *), .argh = "pct", .help = (h), \
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__percent }
#define OPT_BENCH_TIME(s, l, v, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, u64 *), .argh = "time", .help = (h), \
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__time }
#define OPT_BENCH_TIME_SET(s, l, v, os, h) \
	{ .type = OPTION_CALLBACK, .short_name = (s), .long_name = (l), \
	  .value = check_vtype(v, u64 *), .argh = "time", .help = (h), \
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__time, .set = check_vtype(os, bool *) }

/**
 * bench_list__parse - "1,2,4-16:4,max" to numbers
 * @text:	the list; a range may have a step, "max" stands for @max
 * @min:	smallest value allowed
 * @limit:	largest value allowed
 * @max:	what "max" means, or -1 where the word is not allowed
 * @list:	the values in the order given, without duplicates; the caller frees
 * @why:	BENCH_TEXT_MAX bytes for what is wrong with it
 *
 * Return: how many, or -EINVAL, -ERANGE, -ENOMEM with @why written.
 */
int bench_list__parse(const char *text, int min, int limit, int max, int **list, char *why);

/* What a variant, a result or a run has to say beside its numbers. */
struct bench_param {
	char	name[BENCH_NAME_MAX];
	char	value[BENCH_TEXT_MAX];
};

/* A number of the workload's own beside the rate ("LOOKUP", 1.0, "RPC/op"); one value a repeat. */
struct bench_metric {
	char	name[BENCH_NAME_MAX];
	char	unit[BENCH_NAME_MAX];
	double	*values;		/* [nr_repeats of the result]; NaN where not known */
};

struct bench_variant {
	char	name[BENCH_NAME_MAX];
	char	skip[BENCH_TEXT_MAX];	/* why it is not measured; "" if it is */
};

#define BENCH_MAX_PARAMS	24
#define BENCH_MAX_VARIANTS	8
#define BENCH_MAX_METRICS	16
#define BENCH_MAX_NOTES		16

/**
 * struct bench_window - one stretch of time in which all tasks ran
 * @start_ns, @end_ns:	CLOCK_MONOTONIC, of the samples at both ends
 * @ops:	what all tasks finished in it
 * @task_ops:	[nr_tasks], each task's share
 * @dropped:	not counted: a leading window that differs, or one in which we were stopped
 */
struct bench_window {
	u64	start_ns, end_ns;
	u64	ops;
	u64	*task_ops;
	bool	dropped;
};

/* One task in one repeat. Times are relative to bench_repeat::gate_ns. */
struct bench_task_result {
	u64	ops;		/* in the counted windows */
	u64	ops_all;	/* from the gate to the end */
	u64	start_ns;	/* entered its loop */
	u64	done_ns;	/* finished --loops or --total; 0 if it did not */
	int	cpu;		/* pinned to, or where it ended */
	long	nvcsw, nivcsw;	/* context switches, voluntary and not, in its loop */
};

/* One repeat of one variant. @rate is NaN where no number can be given. */
struct bench_repeat {
	u64			gate_ns;	/* CLOCK_MONOTONIC, when it opened to all */
	u64			elapsed_ns;	/* of the counted windows; --total: of the work */
	u64			ops;		/* in that time */
	u64			ops_all;	/* all that was done, from the gate to the end */
	double			rate;		/* ops a second of all tasks together */
	u64			skew_ns;	/* from the first task in its loop to the last */
	unsigned int		flags;		/* enum bench_flag */
	int			nr_windows, nr_dropped;
	struct bench_window	*windows;
	struct bench_task_result *tasks;	/* [nr_tasks] */
};

/**
 * struct bench_result - one point: a variant at a task count
 * @nr_repeats:	repeats that were finished, in the order of time
 * @rate:	mean over the repeats of ops a second, NaN where there is none
 * @ci95:	half of the 95 % confidence interval of @rate over repeats, NaN below two repeats
 * @us_op:	task-microseconds an op: nr_tasks / rate
 * @ratio, @ratio_ci95:	time an op against the first variant, paired by repeat; NaN for the first
 * @task_min, @task_max: slowest and fastest task's ops a second, over all repeats
 * @jain:	Jain's fairness index of the tasks' ops, 1 / nr_tasks to 1
 * @elapsed:	mean seconds of a repeat's work, for --total
 * @flags:	all that is known against any of the repeats
 * @stopped_by:	why there are no more repeats
 * @skip:	why there is nothing, or ""
 */
struct bench_result {
	int			variant;
	int			nr_tasks, nr_cpus;
	int			nr_repeats;
	int			room;		/* repeats that there is memory for */
	struct bench_repeat	*repeats;
	double			rate, ci95, us_op;
	double			ratio, ratio_ci95;
	double			task_min, task_max, jain;
	double			elapsed;
	u64			skew_ns;	/* largest of the repeats */
	u64			nr_windows, nr_dropped;	/* of all repeats */
	unsigned int		flags;
	enum bench_stop		stopped_by;
	char			skip[BENCH_TEXT_MAX];
	int			nr_notes, nr_metrics;
	char			notes[BENCH_MAX_NOTES][BENCH_TEXT_MAX];
	struct bench_metric	metrics[BENCH_MAX_METRICS];
};

struct bench_shared;
struct bench_watch;

/**
 * struct bench_run - a whole invocation: the plan, and where it stands
 *
 * Workloads read what stands above the line and own @priv and @unit.
 */
struct bench_run {
	const struct bench_ops		*ops;
	const char			*unit;
	void				*priv;
	enum bench_mode			mode;
	int				nr_tasks;	/* of this point */
	int				point, nr_points;
	int				repeat, nr_repeats;	/* the least, with --precision */
	int				variant, nr_variants;
	struct bench_variant		variants[BENCH_MAX_VARIANTS];
	const char			*dir;		/* the private directory, absolute */
	int				nr_params;
	struct bench_param		params[BENCH_MAX_PARAMS];
	/* ---- the harness's own from here on ---- */
	int				*points;	/* [nr_points] task counts */
	int				nr_cpus;
	int				*cpus;		/* [nr_cpus] in the order of pinning */
	char				fs[BENCH_NAME_MAX];	/* type of the file system of dir */
	enum bench_exit			status;
	char				message[3 * BENCH_TEXT_MAX];
	int				max_repeats;	/* of a point, the most there may be */
	int				nr_invalid;	/* results that are not valid, so far */
	unsigned int			first_invalid;	/* the flag of the first of them */
	struct bench_shared		*shared;
	struct bench_task		**tasks;	/* [nr_tasks] */
	struct bench_result		*all_results;	/* [nr_points][nr_variants] */
	struct bench_result		*results;	/* [nr_variants] of this point */
	u64				raw_bytes;	/* of samples, so far */
	struct bench_watch		*watch;
	struct {
		pid_t	keeper;		/* removes it when it may */
		int	alive;		/* a pipe to it: closed once nobody needs the directory */
		int	cwd;		/* to come back to */
		char	path[4096];
	} privdir;
};

/* Add to the parameters that identify the benchmark in a result ("op", "creat"). */
int bench_run__param(struct bench_run *run, const char *name, const char *fmt, ...) __printf(3, 4);

/* Add a variant, in prepare; returns its number or -ENOSPC. Without any there is one, "". */
int bench_run__variant(struct bench_run *run, const char *name);

/* Say something beside the result of a variant of this point (-1: of each); said once if equal. */
void bench_run__note(struct bench_run *run, int variant, const char *fmt, ...) __printf(3, 4);

/* Set this repeat's value of a metric of a variant of this point. */
void bench_run__metric(struct bench_run *run, int variant, const char *name, const char *unit,
		       double value);

/* Ops finished so far in this repeat, all tasks together. */
u64 bench_run__ops(const struct bench_run *run);

/*
 * The signal that told us to end, or 0. What takes long in the parent asks, and gives up with
 * -EINTR.
 */
int bench_run__interrupted(void);

/* A path by which the parent reaches a descriptor of a task, "/proc/PID/fd/N". */
void bench_task__fd_path(const struct bench_task *t, int fd, char *path, size_t size);

/*
 * How a hook in the parent ends the run. The first text is what is printed: say what failed, on
 * what, and what to do about it. @err is an errno (its text is appended), or 0 for none. All
 * return a negative errno to be passed on.
 */
int bench_run__fail(struct bench_run *run, int err, const char *fmt, ...) __printf(3, 4);
int bench_run__usage(struct bench_run *run, const char *fmt, ...) __printf(2, 3);
int bench_run__skip(struct bench_run *run, const char *fmt, ...) __printf(2, 3);

/*
 * In setup: this variant cannot be measured at this point, for that reason; others go on. It is
 * left out in later repeats of the point, too.
 */
int bench_run__skip_variant(struct bench_run *run, int variant, const char *fmt, ...)
	__printf(3, 4);

/**
 * struct bench_observer - who is told of a run
 * @begin:	the plan is valid; nothing has run
 * @ready:	the tasks of a repeat are at the gate; their tid is known
 * @start:	the measured time of a repeat begins, the tasks running
 * @resume:	a window begins that does not follow on the one before (if there is one): what was
 *		done in between is of no variant; called right after the sample at its start
 * @window:	a window of @variant has ended; called right after the sample at its end, which may
 *		be that at the start of the next
 * @stop:	the measured time of a repeat has ended, the tasks still running
 * @result:	all is measured: called for each point in their order, and for each of its variants;
 *		@res is valid during the call only, and is not to be changed
 * @end:	all is over; @status as the run will exit, run->message says why it is not 0; not
 *		called if begin failed, here or in an earlier observer
 *
 * Hooks may be NULL. A negative errno from begin, result or end fails the run; who returns it
 * has said why with bench_run__fail().
 */
struct bench_observer {
	struct list_head node;
	int  (*begin)(struct bench_observer *o, struct bench_run *run);
	void (*ready)(struct bench_observer *o, struct bench_run *run);
	void (*start)(struct bench_observer *o, struct bench_run *run);
	void (*resume)(struct bench_observer *o, struct bench_run *run);
	void (*window)(struct bench_observer *o, struct bench_run *run,
		       const struct bench_window *w);
	void (*stop)(struct bench_observer *o, struct bench_run *run);
	int  (*result)(struct bench_observer *o, struct bench_run *run,
		       const struct bench_result *res);
	int  (*end)(struct bench_observer *o, struct bench_run *run, enum bench_exit status);
};

/* Observers are called in the order of registration; with none, the text report is one. */
void bench_observer__register(struct bench_observer *o);
extern struct bench_observer bench_text_observer;

/* If set, is called with each benchmark in place of running it; what it returns is the status. */
extern int (*bench_worker__describe)(const struct bench_ops *ops);
/* If set, stands in for each benchmark's own usage lines, which name perf. */
extern const char *const *bench_worker__usage;

/**
 * bench_worker__main - what each bench_<collection>_<name>() is
 * @argc, @argv: as the collection's table passes them
 * @ops: the benchmark
 *
 * Return: an enum bench_exit; 129 is never returned, but libsubcmd may exit with it on --help.
 */
int bench_worker__main(int argc, const char **argv, const struct bench_ops *ops);

/* A sentence for one flag, and its one-word name for files. */
const char *bench_flag__text(enum bench_flag flag);
const char *bench_flag__name(enum bench_flag flag);

const char *bench_mode__name(enum bench_mode mode);
const char *bench_pin__name(enum bench_pin pin);
const char *bench_stop__name(enum bench_stop stop);	/* NULL if none */

/* worker-stat.c. Two-sided 95 % quantile of Student's t with @df degrees of freedom, df >= 1. */
double bench_t95(double df);

/**
 * bench_mean - mean of a series, and how sure it is
 * @x:	the values in the order of time; those that are not finite are left out
 * @n:	how many
 * @se:	standard error of the mean, which knows that neighbours are alike; NaN below two values
 * @df:	degrees of freedom of @se: the mean +- bench_t95(df) * se covers with 95 %
 *
 * Return: the mean, NaN if no value is finite.
 */
double bench_mean(const double *x, int n, double *se, double *df);
/* The same, with half of the 95 % interval. */
double bench_mean_ci(const double *x, int n, double *ci95);

/* Is the half of that interval at most @percent of the mean, which is that of @least or more? */
bool bench_precise(const double *x, int n, int least, double percent);
/*
 * Do the finite ones of the rates of repeats have a trend? At 1 %, and the later half differs from
 * the earlier by over 3 %. Below eight it is never said.
 */
bool bench_drifts(const double *rates, int n);
/* Number of leading windows of n rates that differ from the rest, at most n / 2. */
int bench_settle(const double *rates, int n, bool *settled);

/* Fill in everything of a result that follows from its repeats; @first: of the first variant. */
void bench_result__summarise(struct bench_result *res, const struct bench_result *first,
			     bool total);

/* Monotonic clock, ns. */
u64 bench_now(void);

/* worker-plan.c: all that is checked before anything runs; memory, once the variants are known. */
int bench_plan__make(struct bench_run *run);
int bench_plan__memory(struct bench_run *run);
void bench_plan__free(struct bench_run *run);
/* Why making another task failed with @err: which limit it was, and how to raise it. */
void bench_plan__why_no_task(int nr_tasks, int made, int err, char *why, size_t size);
/* Bind the calling task to one CPU, or to all of the plan with cpu = -1. 0 or -errno. */
int bench_plan__bind(const struct bench_run *run, int cpu);
/* The folder of our cgroup that has @controller's files (v1 or v2), or -ENOENT. */
int bench_cgroup__dir(const char *controller, char *dir, size_t size);

/* worker-dir.c. Type name ("ext4") and mount options of the file system that @path is on. */
int bench_fs__of(const char *path, char *type, size_t type_size, char *opts, size_t opts_size);
int bench_dir__enter(struct bench_run *run);
/* Leave and remove the private directory; waits @grace ns at most, with 0 as long as it takes. */
int bench_dir__leave(struct bench_run *run, u64 grace);

/* worker-watch.c. Flags for what happened to the machine between begin and end. */
struct bench_watch *bench_watch__new(void);
void bench_watch__begin(struct bench_watch *w);
unsigned int bench_watch__end(struct bench_watch *w);
void bench_watch__free(struct bench_watch *w);

#endif
