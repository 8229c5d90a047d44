// SPDX-License-Identifier: GPL-2.0
/*
 * worker-measure.c: the windows of one repeat, and what follows from them
 *
 * The parent samples the tasks' counters from outside. It writes nothing that a running task
 * reads, and reads each task's line once a window.
 *
 * Several variants are measured in turns of one window, forth and back (A B, B A, ...), while the
 * same tasks run on, so that what drifts slowly falls on all of them alike.
 *
 * Leading windows are dropped by bench_settle()'s rule, and made up for by as many more.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "worker-internal.h"

#define ENTER_MAX_NS	(2 * NSEC_PER_SEC)	/* how long the first window waits for a task */
#define SETTLE_BLOCKS	256			/* as many bench_settle() is to look at */
#define FIXED_WINDOWS	512			/* of fixed work, after which windows double */

struct sample {
	u64	ns;
	u64	*ops;
	bool	torn;
};

static void take_sample(struct bench_run *run, struct sample *s, u64 window)
{
	u64 begin, end;
	int i, tries = 0;

	do {
		begin = bench_now();
		for (i = 0; i < run->nr_tasks; i++)
			s->ops[i] = __atomic_load_n(&run->tasks[i]->ops, __ATOMIC_RELAXED);
		end = bench_now();
		s->torn = end - begin > window / 100;
	} while (s->torn && ++tries < 3);
	s->ns = begin + (end - begin) / 2;
}

/* The sample at the start of a window that does not follow on another. */
static void resume(struct bench_run *run, struct sample *s, u64 window)
{
	struct bench_observer *o;

	take_sample(run, s, window);
	for_each_observer(o) {
		if (o->resume)
			o->resume(o, run);
	}
}

static int add_window(struct bench_run *run, struct bench_repeat *rep, const struct sample *from,
		      const struct sample *to, bool dropped)
{
	struct bench_observer *o;
	struct bench_window *w;
	int i;

	if (!(rep->nr_windows & (rep->nr_windows - 1))) {	/* full: 0, 1, 2, 4, ... */
		w = realloc(rep->windows, max(1, 2 * rep->nr_windows) * sizeof(*w));
		if (!w)
			return bench_run__fail(run, ENOMEM, "samples");
		rep->windows = w;
	}
	w = &rep->windows[rep->nr_windows];
	*w = (struct bench_window){ .start_ns = from->ns, .end_ns = to->ns, .dropped = dropped };
	w->task_ops = malloc(run->nr_tasks * sizeof(u64));
	if (!w->task_ops)
		return bench_run__fail(run, ENOMEM, "samples");
	/* only work of a fixed size can have more windows than were planned */
	run->raw_bytes += sizeof(*w) + run->nr_tasks * sizeof(u64);
	if (run->raw_bytes > BENCH_MAX_RAW_MB * 1000000)
		return bench_run__fail(run, 0,
				       "the raw samples take more than %llu MB: take a longer --window",
				       BENCH_MAX_RAW_MB);
	for (i = 0; i < run->nr_tasks; i++) {
		w->task_ops[i] = to->ops[i] - from->ops[i];
		w->ops += w->task_ops[i];
	}
	rep->nr_windows++;
	if (from->torn || to->torn)
		rep->flags |= BENCH_FLAG_TORN;
	if (dropped)
		rep->flags |= BENCH_FLAG_SUSPENDED;
	if (!bench_plan__has_cpus(run))
		rep->flags |= BENCH_FLAG_CPU_GONE;
	for_each_observer(o) {
		if (o->window)
			o->window(o, run, w);
	}
	return 0;
}

/*
 * Apply bench_settle() to a repeat; marks the windows only if @mark. Returns how many it drops. Of
 * very many windows it sees the means of blocks, since its own time grows with their square.
 */
static int settle(struct bench_repeat *rep, bool mark)
{
	int block = rep->nr_windows / SETTLE_BLOCKS + 1, i, n = 0, kept = 0, drop;
	double *rates = calloc(rep->nr_windows / block + 1, sizeof(*rates));
	bool settled;

	if (!rates)
		return 0;
	for (i = 0; i < rep->nr_windows; i++) {
		struct bench_window *w = &rep->windows[i];

		if (w->dropped)
			continue;
		rates[n] += (double)w->ops / (w->end_ns - w->start_ns) / block;
		n += ++kept % block == 0;
	}
	drop = bench_settle(rates, n, &settled) * block;
	free(rates);
	if (!mark)
		return drop;
	if (!settled)
		rep->flags |= BENCH_FLAG_UNSETTLED;
	for (i = 0, n = drop; i < rep->nr_windows && n; i++) {
		if (!rep->windows[i].dropped) {
			rep->windows[i].dropped = true;
			n--;
		}
	}
	return drop;
}

/* Make @v the current variant; what the change itself costs is not measured. */
int bench_measure__select(struct bench_crew *crew, int v)
{
	struct bench_run *run = crew->run;
	int err;

	if (!bench_run__selects(run) || run->variant == v)
		return 0;
	err = bench_crew__trouble(crew);	/* else a task that is gone is blamed on the hook */
	if (err)
		return err;
	if (bench_worker_params.toggle) {
		bool first = run->variant < 0;

		run->variant = v;
		if (first && run->ops->select)
			err = run->ops->select(run, 0);
		if (!err)
			err = bench_toggle__select(run, v);
		return err ? bench_run__fail(run, -err, "starting state %s",
					     run->variants[v].name) : 0;
	}
	if (run->variant >= 0) {
		err = run->ops->select(run, -1);
		if (err)
			return bench_run__fail(run, -err, "ending variant %s",
					       run->variants[run->variant].name);
	}
	run->variant = v;
	err = run->ops->select(run, v);
	return err ? bench_run__fail(run, -err, "starting variant %s", run->variants[v].name) : 0;
}

/* More rounds needed, since windows were dropped? */
static int rounds_missing(struct bench_run *run)
{
	int v, i, lost, most = 0;

	for (v = 0; v < run->nr_variants; v++) {
		struct bench_repeat *rep = bench_run__repeat(run, v);

		for (lost = settle(rep, false), i = 0; i < rep->nr_windows; i++)
			lost += rep->windows[i].dropped;
		most = max(most, lost);
	}
	return most;
}

/*
 * Were all of us frozen in this window, parent and tasks alike (a paused container, a suspended
 * machine)? Nobody tells; but the sample comes late, and little was done. A sample that is late
 * only because the machine is busy finds the usual rate; an op of each task may be under way, which
 * is much where ops take as long as a window.
 */
static bool was_frozen(const struct bench_repeat *rep, const struct sample *from,
		       const struct sample *to, u64 window, int nr_tasks)
{
	u64 ops = nr_tasks, usual_ops = 0, usual_ns = 0, ns = to->ns - from->ns;
	int i;

	if (ns < window + window / 4 || ns < window + 10 * NSEC_PER_MSEC)
		return false;
	for (i = 0; i < nr_tasks; i++)
		ops += to->ops[i] - from->ops[i];
	for (i = 0; i < rep->nr_windows; i++) {
		if (rep->windows[i].dropped)
			continue;
		usual_ops += rep->windows[i].ops;
		usual_ns += rep->windows[i].end_ns - rep->windows[i].start_ns;
	}
	return (double)ops * usual_ns < 0.8 * usual_ops * ns;
}

/* One window of @v from @prev, which is the sample at its start; it becomes the one at its end. */
static int measure_window(struct bench_crew *crew, int v, u64 window, struct sample *prev,
			  struct sample *cur)
{
	struct bench_run *run = crew->run;
	struct bench_shared *sh = run->shared;
	int continued = bench_parent__continued(), err;
	struct bench_repeat *rep = bench_run__repeat(run, v);
	struct sample swapped;
	bool stopped;

	if (bench_run__selects(run) && run->variant != v) {
		err = bench_measure__select(crew, v);
		if (!err)	/* never counts up to this: waits a little, looking for trouble */
			err = bench_crew__wait(crew, &sh->nr_gone, bench_now() + window / 20);
		if (err)
			return err;
		resume(run, prev, window);
	}
	run->variant = v;
	err = bench_crew__wait(crew, bench_is_fixed() ? &sh->nr_done : &sh->nr_gone,
			       prev->ns + window);
	if (err)
		return err;
	take_sample(run, cur, window);
	stopped = continued != bench_parent__continued() ||
		  was_frozen(rep, prev, cur, window, run->nr_tasks);
	err = add_window(run, rep, prev, cur, stopped);
	swapped = *prev;
	*prev = *cur;
	*cur = swapped;
	return err;
}

static int measure_windows(struct bench_crew *crew, struct sample *prev, struct sample *cur)
{
	const struct bench_worker_params *p = &bench_worker_params;
	struct bench_run *run = crew->run;
	struct bench_shared *sh = run->shared;
	int want = 0, most, round, i, v, err;
	u64 window = p->window, begin = prev->ns;
	bool fixed = bench_is_fixed();

	if (!fixed) {
		want = max((p->duration + p->window / 2) / p->window, (u64)1);
		window = p->duration / want;
		if (run->nr_variants > 1)
			want += want & 1;
	}
	most = 2 * want;
	for (round = 0; fixed || round < want; round++) {
		for (i = 0; i < run->nr_variants; i++) {
			v = round & 1 ? run->nr_variants - 1 - i : i;
			if (*run->variants[v].skip)
				continue;
			err = measure_window(crew, v, window, prev, cur);
			if (err)
				return err;
		}
		if (!fixed && round == want - 1 && want < most) {
			int more = rounds_missing(run) - (want - most / 2);

			if (run->nr_variants > 1)
				more += more & 1;
			want = min(most, want + max(0, more));
			resume(run, prev, window);	/* that took its time */
		}
		if (fixed && __atomic_load_n(&sh->nr_done, __ATOMIC_SEQ_CST) == (u32)sh->nr_tasks)
			break;
		if (fixed && p->duration && prev->ns - begin >= p->duration) {
			bench_run__repeat(run, 0)->flags |= p->loops ? BENCH_FLAG_CUT_LOOPS :
								BENCH_FLAG_CUT_TOTAL;
			break;
		}
		if (fixed && round % FIXED_WINDOWS == FIXED_WINDOWS - 1)
			window *= 2;
	}
	return 0;
}

int bench_measure__repeat(struct bench_crew *crew)
{
	struct bench_run *run = crew->run;
	struct bench_shared *sh = run->shared;
	u64 *ops = calloc(2 * run->nr_tasks, sizeof(*ops));
	struct sample prev = { .ops = ops }, cur = { .ops = ops + run->nr_tasks };
	struct bench_observer *o;
	bool late = false;
	int err = 0, v;

	if (!ops)
		return bench_run__fail(run, ENOMEM, "samples");
	/* nr_gone is not reached here: this is a sleep that looks for trouble */
	if (!bench_is_fixed())
		err = bench_crew__wait(crew, &sh->nr_gone,
				       sh->gate_ns + bench_worker_params.warmup);
	if (!err && !bench_worker_params.total)
		err = bench_crew__wait(crew, &sh->nr_entered, bench_now() + ENTER_MAX_NS);
	if (err)
		goto out;
	if (!bench_worker_params.total &&
	    __atomic_load_n(&sh->nr_entered, __ATOMIC_SEQ_CST) != (u32)sh->nr_tasks)
		late = true;
	bench_watch__begin(run->watch);
	for_each_observer(o) {
		if (o->start)
			o->start(o, run);
	}
	if (run->ops->measure) {
		err = run->ops->measure(run, true);
		if (err)
			goto out;
	}
	resume(run, &prev, bench_worker_params.window);
	err = measure_windows(crew, &prev, &cur);
	if (!err && run->ops->measure)
		err = run->ops->measure(run, false);
	for_each_observer(o) {
		if (o->stop)
			o->stop(o, run);
	}
	for (v = 0; late && v < run->nr_variants; v++)
		bench_run__repeat(run, v)->flags |= BENCH_FLAG_LATE_START;
out:
	free(ops);
	return err;
}

/* What the tasks say of a repeat once they have ended. */
static void collect_tasks(struct bench_run *run, struct bench_repeat *rep, u64 *first, u64 *done)
{
	u64 last = 0;
	int i;

	*first = ULLONG_MAX;
	*done = 0;
	for (i = 0; i < run->nr_tasks; i++) {
		struct bench_task *t = run->tasks[i];
		struct bench_task_result *r = &rep->tasks[i];

		r->ops_all = t->ops;
		rep->ops_all += t->ops;
		r->cpu = t->cpu >= 0 ? t->cpu : t->end_cpu;
		r->nvcsw = t->nvcsw;
		r->nivcsw = t->nivcsw;
		r->start_ns = t->start_ns - rep->gate_ns;
		if (t->done_ns)
			r->done_ns = t->done_ns - rep->gate_ns;
		*first = min(*first, t->start_ns);
		last = max(last, t->start_ns);
		*done = max(*done, t->done_ns);
		if (t->cpu >= 0 && t->end_cpu != t->cpu)
			rep->flags |= BENCH_FLAG_CPU_GONE;
		if (run->nr_tasks <= run->nr_cpus && t->run_delay > NSEC_PER_MSEC &&
		    t->run_delay > (t->end_ns - t->start_ns) / 20)
			rep->flags |= BENCH_FLAG_PREEMPTED;
	}
	rep->skew_ns = last - *first;
}

/* The numbers of one variant's repeat, once the tasks have ended. */
int bench_measure__collect(struct bench_run *run, int v)
{
	struct bench_repeat *rep = bench_run__repeat(run, v);
	u64 first, done;
	int i, w;

	rep->gate_ns = run->shared->gate_ns;
	rep->rate = NAN;
	rep->tasks = calloc(run->nr_tasks, sizeof(*rep->tasks));
	if (!rep->tasks)
		return bench_run__fail(run, ENOMEM, "results");
	if (!bench_is_fixed())
		settle(rep, true);
	for (w = 0; w < rep->nr_windows; w++) {
		struct bench_window *win = &rep->windows[w];

		if (win->dropped) {
			rep->nr_dropped++;
			continue;
		}
		rep->elapsed_ns += win->end_ns - win->start_ns;
		rep->ops += win->ops;
		for (i = 0; i < run->nr_tasks; i++) {
			rep->tasks[i].ops += win->task_ops[i];
			if (!win->task_ops[i] && run->nr_tasks <= run->nr_cpus && !bench_is_fixed())
				rep->flags |= BENCH_FLAG_STALLED;
		}
	}
	collect_tasks(run, rep, &first, &done);
	if (bench_worker_params.total && !(rep->flags & BENCH_FLAG_CUT_TOTAL)) {
		rep->elapsed_ns = done - first;
		rep->ops = rep->ops_all;
		for (i = 0; i < run->nr_tasks; i++)
			rep->tasks[i].ops = rep->tasks[i].ops_all;
		/* how long the work took cannot be told from how long we were stopped */
		if (rep->flags & BENCH_FLAG_SUSPENDED)
			rep->flags |= BENCH_FLAG_STOPPED_TOTAL;
	}
	for (i = 0; i < run->nr_tasks; i++) {
		if (!rep->tasks[i].ops)
			rep->flags |= BENCH_FLAG_IDLE_TASK;
	}
	if (!rep->ops)
		rep->flags |= BENCH_FLAG_ZERO_OPS;
	if (rep->elapsed_ns < BENCH_MIN_NS)
		rep->flags |= BENCH_FLAG_TOO_SHORT;
	if (run->nr_tasks > run->nr_cpus)
		rep->flags |= BENCH_FLAG_OVERSUBSCRIBED;
	if (!(rep->flags & (BENCH_FLAG_ZERO_OPS | BENCH_FLAG_TOO_SHORT)))
		rep->rate = rep->ops * (double)NSEC_PER_SEC / rep->elapsed_ns;
	return 0;
}
