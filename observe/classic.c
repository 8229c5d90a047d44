// SPDX-License-Identifier: GPL-2.0
/*
 * Results in the formats of the reports that the benchmarks come from
 *
 *	kernfs/lookup		the listing of the 2020 kernfs patches: a line a task
 *	locking/vfs		the two throughput lines of the 2014 patches
 *	nfs/negative-dentry	with --total, seconds by tasks, as of "make -j"
 *	fsnotify/pipe		as all others, then UnixBench's index
 *	all others		will-it-scale: a line a window
 *
 * Lines that begin with # are ours: what a format has no place for. A point that is not valid has
 * only such a line. Documentation/results-format.txt tells what each number is.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "observe/observe.h"
#include "util/outfile.h"

#define UNIXBENCH_PIPE	12440.0		/* loops a second that make an index of 10 */
#define UNIXBENCH_SIZE	"512"		/* bytes written and read by one loop */

struct classic_observer {
	struct bench_observer	observer;
	struct observe_file	file;
	u64			times;	/* kernfs: of the last point, 0 if there is none */
	bool			many;	/* kernfs: there was a point of several tasks */
	bool			jobs;	/* nfs: the header was written */
};

static struct classic_observer *to_classic(struct bench_observer *o)
{
	return container_of(o, struct classic_observer, observer);
}

static bool is(const struct bench_run *run, const char *name)
{
	return !strcmp(run->ops->name, name);
}

/* The repeat whose rate is the median, the lower of two. Some rate is finite in a valid result. */
static const struct bench_repeat *median_repeat(const struct bench_result *res)
{
	int i, k, below, same, nr = 0;

	for (i = 0; i < res->nr_repeats; i++)
		nr += isfinite(res->repeats[i].rate);
	for (i = 0; i < res->nr_repeats; i++) {
		double rate = res->repeats[i].rate;

		for (k = below = same = 0; k < res->nr_repeats; k++) {
			below += res->repeats[k].rate < rate;
			same += res->repeats[k].rate == rate;
		}
		if (below <= (nr - 1) / 2 && below + same > (nr - 1) / 2)
			return &res->repeats[i];
	}
	return NULL;
}

/* A line of the kernfs listing. */
struct line {
	double	total;		/* ns */
	double	per;		/* ns, infinite if there was no op */
	int	cpu;
};

static int compare_lines(const void *a, const void *b)
{
	const struct line *x = a, *y = b;

	if (x->total != y->total)
		return x->total < y->total ? -1 : 1;
	return x->per < y->per ? -1 : x->per > y->per;
}

/*
 * With --loops, total is the task's own time for them. Else, total is the measured time, of all
 * tasks, and times is the most ops that a task did in it. Per is a task's time an op.
 */
static u64 fill_lines(struct line *lines, const struct bench_repeat *rep, int nr)
{
	u64 loops = bench_worker_params.loops, times = 0;
	int i;

	for (i = 0; i < nr; i++) {
		if (!rep->tasks[i].done_ns)
			loops = 0;
		times = max(times, rep->tasks[i].ops);
	}
	for (i = 0; i < nr; i++) {
		const struct bench_task_result *t = &rep->tasks[i];
		u64 ops = loops ?: t->ops;

		lines[i].cpu = t->cpu;
		lines[i].total = loops ? t->done_ns - t->start_ns : rep->elapsed_ns;
		lines[i].per = ops ? lines[i].total / ops : INFINITY;
	}
	qsort(lines, nr, sizeof(*lines), compare_lines);
	return loops ?: times;
}

static int put_kernfs(struct classic_observer *c, const struct bench_result *res)
{
	const struct bench_repeat *rep = median_repeat(res);
	struct line *lines = calloc(res->nr_tasks, sizeof(*lines));
	struct outfile *f = c->file.out;
	int i, nr = res->nr_tasks;
	u64 times;

	if (!lines)
		return -ENOMEM;
	times = fill_lines(lines, rep, nr);
	for (i = 0; i < nr; i++) {
		const struct line *l = &lines[i];

		if (!isfinite(l->per))
			outfile__printf(f, "# CPU %d: no op in the measured time\n", l->cpu);
		else if (nr == 1)
			outfile__printf(f, "single: total %.6fms per %.6fus\n", l->total / 1e6,
					l->per / 1e3);
		else
			outfile__printf(f, "concur: total %.6fms per %.6fus  CPU %d\n",
					l->total / 1e6, l->per / 1e3, l->cpu);
	}
	if (nr > 1) {
		outfile__printf(f, "times: %llu threads: %d cpus: %d\n", (unsigned long long)times,
				nr, res->nr_cpus);
		c->many = true;
	}
	c->times = times;
	free(lines);
	return 0;
}

static const char *task_word(const struct bench_run *run)
{
	return run->mode == BENCH_MODE_THREAD ? "threads" : "processes";
}

static void put_locking(struct classic_observer *c, const struct bench_run *run,
			const struct bench_result *res)
{
	struct outfile *f = c->file.out;
	bool threads = run->mode == BENCH_MODE_THREAD;
	u64 rate = res->rate;

	outfile__printf(f, "%6d %s: throughput = %llu average opts/sec all %s\n", res->nr_tasks,
			task_word(run), (unsigned long long)rate, task_word(run));
	outfile__printf(f, "%6d %s: throughput = %llu average opts/sec per %s\n", res->nr_tasks,
			task_word(run), (unsigned long long)(rate / res->nr_tasks),
			threads ? "thread" : "process");
}

/* Windows of a kind, as rates a second: the slowest task's, the fastest's, that of all. */
static void put_windows(struct outfile *f, const struct bench_repeat *rep, int nr_tasks,
			bool dropped)
{
	int i, w;

	for (w = 0; w < rep->nr_windows; w++) {
		const struct bench_window *win = &rep->windows[w];
		double sec = (win->end_ns - win->start_ns) / (double)NSEC_PER_SEC;
		u64 least = win->task_ops[0], most = least;

		if (win->dropped != dropped || !(sec > 0))
			continue;
		for (i = 1; i < nr_tasks; i++) {
			least = min(least, win->task_ops[i]);
			most = max(most, win->task_ops[i]);
		}
		outfile__printf(f, "min:%.0f max:%.0f total:%.0f\n", least / sec, most / sec,
				win->ops / sec);
	}
}

/* Each repeat as a run of its own. */
static void put_will_it_scale(struct classic_observer *c, const struct bench_run *run,
			      const struct bench_result *res)
{
	struct outfile *f = c->file.out;
	int i;

	for (i = 0; i < res->nr_repeats; i++) {
		const struct bench_repeat *rep = &res->repeats[i];

		outfile__printf(f, "testcase:%s, %s, %d %s\nwarmup\n", run->ops->name, run->unit,
				res->nr_tasks, task_word(run));
		put_windows(f, rep, res->nr_tasks, true);
		outfile__puts(f, "measurement\n");
		put_windows(f, rep, res->nr_tasks, false);
		outfile__printf(f, "average:%.0f\n", rep->rate);
	}
}

static void put_unixbench(struct classic_observer *c, const struct bench_result *res)
{
	static const char name[] = "Pipe Throughput";
	struct outfile *f = c->file.out;
	double sec = 0;
	int i;

	for (i = 0; i < res->nr_repeats; i++)
		sec += res->repeats[i].elapsed_ns / (double)NSEC_PER_SEC / res->nr_repeats;
	outfile__printf(f, "\n%-40s %12.1f lps   (%.1f s, %d samples)\n", name, res->rate, sec,
			res->nr_repeats);
	outfile__printf(f, "\n%-40s %12s %12s %8s\n", "System Benchmarks Partial Index", "BASELINE",
			"RESULT", "INDEX");
	outfile__printf(f, "%-40s %12.1f %12.1f %8.1f\n\n", name, UNIXBENCH_PIPE, res->rate,
			res->rate / UNIXBENCH_PIPE * 10);
}

static bool is_unixbench(const struct bench_run *run)
{
	int i;

	for (i = 0; i < run->nr_params; i++) {
		if (!strcmp(run->params[i].name, "size"))
			return !strcmp(run->params[i].value, UNIXBENCH_SIZE);
	}
	return false;
}

static void put_jobs(struct classic_observer *c, const struct bench_result *res)
{
	if (!c->jobs)
		outfile__puts(c->file.out, "jobs,elapsed\n");
	c->jobs = true;
	outfile__printf(c->file.out, "%d,%.3f\n", res->nr_tasks, res->elapsed);
}

/* What is known against a result, a line each. */
static void put_comments(struct classic_observer *c, const struct bench_run *run,
			 const struct bench_result *res)
{
	const char *variant = run->variants[res->variant].name;
	unsigned int flag, left = res->flags;
	struct outfile *f = c->file.out;
	int i;

	if (run->nr_variants > 1)
		outfile__printf(f, "# %s:\n", variant);
	if (*res->skip)
		outfile__printf(f, "# %d %s: %s\n", res->nr_tasks, task_word(run), res->skip);
	while ((flag = observe__next_flag(&left))) {
		if (flag != BENCH_FLAG_ERROR || !*res->skip)
			outfile__printf(f, "# %d %s: %s\n", res->nr_tasks, task_word(run),
					bench_flag__text(flag));
	}
	for (i = 0; i < res->nr_notes; i++)
		outfile__printf(f, "# %d %s: %s\n", res->nr_tasks, task_word(run), res->notes[i]);
}

static int classic_begin(struct bench_observer *o, struct bench_run *run)
{
	struct classic_observer *c = to_classic(o);

	c->times = 0;
	c->many = false;
	c->jobs = false;
	return observe_file__open(&c->file, run);
}

static int classic_result(struct bench_observer *o, struct bench_run *run,
			  const struct bench_result *res)
{
	struct classic_observer *c = to_classic(o);
	int err = 0;

	put_comments(c, run, res);
	if (!observe__valid(res))
		goto out;
	if (is(run, "kernfs/lookup")) {
		err = put_kernfs(c, res);
	} else if (is(run, "locking/vfs")) {
		put_locking(c, run, res);
	} else if (is(run, "nfs/negative-dentry") && bench_worker_params.total) {
		put_jobs(c, res);
	} else {
		put_will_it_scale(c, run, res);
		if (is(run, "fsnotify/pipe") && is_unixbench(run))
			put_unixbench(c, res);
	}
	if (err)
		return bench_run__fail(run, -err, "printing the results");
out:
	return observe_file__flush(&c->file, run);
}

static int classic_end(struct bench_observer *o, struct bench_run *run,
		       enum bench_exit status __maybe_unused)
{
	struct classic_observer *c = to_classic(o);

	if (c->times && !c->many)
		outfile__printf(c->file.out, "times: %llu threads: 1 cpus: %d\n",
				(unsigned long long)c->times, run->nr_cpus);
	return c->file.opened ? observe_file__flush(&c->file, run) : 0;
}

struct bench_observer *classic_observer__new(const char *path)
{
	struct classic_observer *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->observer.begin = classic_begin;
	c->observer.result = classic_result;
	c->observer.end = classic_end;
	c->file.out = outfile__new(path);
	if (!c->file.out) {
		free(c);
		return NULL;
	}
	return &c->observer;
}

int classic_observer__finish(struct bench_observer *o)
{
	struct classic_observer *c = to_classic(o);
	int err = observe_file__finish(&c->file);

	free(c);
	return err;
}
