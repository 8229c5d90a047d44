// SPDX-License-Identifier: GPL-2.0
/*
 * The instrument behind --counters: events an op, of all tasks, in the windows that count
 *
 * The counters run on from the gate to the end of a repeat. They are read right after the samples
 * of the harness, and the ops once more with them, task by task, so that events and ops are of the
 * same time even where reading takes long. What was done in a window is kept, for each task apart,
 * until it is known whether that window counts.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "instrument/instrument.h"
#include "util/counters.h"

#define OWN_FDS		64			/* beside those of counters and tasks */
#define MAX_MB		1024ull			/* of windows that may yet be dropped */
#define READ_NS		10000			/* a counter is read in, usually less */

static const char devices[] = "/sys/bus/event_source/devices";
static const char never[] =
	"never scheduled in: other events had the counters all the time; ask for fewer";
static const char lost[] = "a counter could not be read";

static const struct figure_column columns[] = {
	{ .name = "per op", .of = FIGURE_MEAN, .decimals = 3 },
};

/* What was done in a window, or up to a reading: [nr_tasks] ops, and [nr_tasks] of each counter. */
struct reading {
	u64			*ops;
	struct counter_value	*values;
};

/* One that may yet be dropped: the @index-th of its variant. */
struct kept_window {
	int		variant, index;
	struct reading	r;
};

/* The finished repeats of one point and variant. */
struct counted {
	int	nr;		/* repeats */
	double	*per_op;	/* [nr][counters]; NaN where not known */
	double	share;		/* the least for which any was counted */
	char	(*reasons)[COUNTERS_REASON_MAX]; /* [counters]: of those not known, the last */
};

struct counters_instrument {
	struct instrument	ins;
	const char		*list;
	struct counters		*cs;
	struct counted		*counted;	/* [points][variants] */
	int			nr_counted;
	/* of the repeat being measured */
	bool			active;
	int			point, repeat, nr_tasks;
	struct reading		last, now, sum[BENCH_MAX_VARIANTS];
	int			nr_windows[BENCH_MAX_VARIANTS];
	struct kept_window	*kept;
	int			nr_kept, room;
	bool			*bad;		/* [counters]: could not be read once */
	bool			out_of_memory;
};

static bool is_fixed(void)
{
	return bench_worker_params.loops || bench_worker_params.total;
}

static int reading__alloc(struct reading *r, int nr_tasks, int nr_counters)
{
	r->ops = calloc(nr_tasks, sizeof(*r->ops));
	r->values = calloc((size_t)nr_tasks * nr_counters, sizeof(*r->values));
	return r->ops && r->values ? 0 : -ENOMEM;
}

static void reading__free(struct reading *r)
{
	zfree(&r->ops);
	zfree(&r->values);
}

/* The values of one counter: [nr_tasks]. */
static struct counter_value *values_of(const struct counters_instrument *ci, struct reading *r,
				       int c)
{
	return &r->values[(size_t)c * ci->nr_tasks];
}

static void add_reading(const struct counters_instrument *ci, struct reading *sum,
			const struct reading *r)
{
	size_t i, nr = (size_t)ci->nr_tasks * ci->cs->nr;

	for (i = 0; i < (size_t)ci->nr_tasks; i++)
		sum->ops[i] += r->ops[i];
	for (i = 0; i < nr; i++) {
		sum->values[i].val += r->values[i].val;
		sum->values[i].enabled += r->values[i].enabled;
		sum->values[i].running += r->values[i].running;
	}
}

/* The ops and counters of one task; once more if it took long, since something came between. */
static void read_task(struct counters_instrument *ci, const struct bench_task *task, int t,
		      struct reading *r)
{
	u64 begin, before, after, usual = ci->cs->nr * (u64)READ_NS;
	int c, tries = 0;

	do {
		begin = bench_now();
		before = __atomic_load_n(&task->ops, __ATOMIC_RELAXED);
		for (c = 0; c < ci->cs->nr; c++) {
			if (counters__read(ci->cs, c, t, &values_of(ci, r, c)[t]))
				ci->bad[c] = true;
		}
		after = __atomic_load_n(&task->ops, __ATOMIC_RELAXED);
	} while (bench_now() - begin > usual && ++tries < 3);
	r->ops[t] = before + (after - before) / 2;
}

static void read_all(struct counters_instrument *ci, struct bench_run *run, struct reading *r)
{
	int t;

	for (t = 0; t < ci->nr_tasks; t++)
		read_task(ci, run->tasks[t], t, r);
}

/* @now becomes what was done from @last to it. What goes back cannot have been read. */
static void difference(struct counters_instrument *ci, struct reading *now,
		       const struct reading *last)
{
	size_t i, nr = (size_t)ci->nr_tasks * ci->cs->nr;

	for (i = 0; i < (size_t)ci->nr_tasks; i++)
		now->ops[i] -= last->ops[i];
	for (i = 0; i < nr; i++) {
		struct counter_value *v = &now->values[i];
		const struct counter_value *o = &last->values[i];

		if (v->val < o->val || v->enabled < o->enabled || v->running < o->running)
			ci->bad[i / ci->nr_tasks] = true;
		v->val -= o->val;
		v->enabled -= o->enabled;
		v->running -= o->running;
	}
}

/* ---- a repeat is over ---- */

/* What counter @c has counted an op, in the windows of @sum; NaN with the reason kept in @done. */
static double per_op(struct counters_instrument *ci, struct counted *done, struct reading *sum,
		     int c)
{
	const char *reason = ci->cs->list[c].reason;
	double value = NAN;
	u64 ops = 0;
	int t;

	if (!*reason && ci->out_of_memory)
		reason = "out of memory";
	else if (!*reason && ci->bad[c])
		reason = lost;
	for (t = 0; t < ci->nr_tasks; t++) {
		if (counters__has(ci->cs, c, t))
			ops += sum->ops[t];
	}
	if (!*reason && !ops)
		reason = "no op was counted";
	if (!*reason) {
		value = counters__sum(values_of(ci, sum, c), ci->nr_tasks, &done->share);
		reason = isnan(value) ? never : reason;
	}
	if (*reason)
		snprintf(done->reasons[c], sizeof(done->reasons[c]), "%s", reason);
	return value / ops;
}

static void count_repeat(struct counters_instrument *ci, const struct bench_run *run, int v)
{
	struct counted *done = &ci->counted[ci->point * run->nr_variants + v];
	int c, nr = ci->cs->nr;
	double *more;

	if (done->nr != ci->repeat)	/* one before it is missing: memory was */
		return;
	more = reallocarray(done->per_op, (size_t)(done->nr + 1) * nr, sizeof(*more));
	if (!more)
		return;
	done->per_op = more;
	done->reasons = done->reasons ?: calloc(nr, sizeof(*done->reasons));
	if (!done->reasons)
		return;
	for (c = 0; c < nr; c++)
		more[done->nr * nr + c] = per_op(ci, done, &ci->sum[v], c);
	done->nr++;
}

static void free_repeat(struct counters_instrument *ci)
{
	int i;

	for (i = 0; i < ci->nr_kept; i++)
		reading__free(&ci->kept[i].r);
	ci->nr_kept = 0;
	reading__free(&ci->last);
	reading__free(&ci->now);
	for (i = 0; i < BENCH_MAX_VARIANTS; i++)
		reading__free(&ci->sum[i]);
}

/* Take the sums of the last repeat, if there is one: by now it is known which windows count. */
static void end_repeat(struct counters_instrument *ci, const struct bench_run *run)
{
	const struct bench_result *results = &run->all_results[ci->point * run->nr_variants];
	int i, v;

	if (!ci->active)
		return;
	ci->active = false;
	for (i = 0; i < ci->nr_kept; i++) {
		const struct kept_window *k = &ci->kept[i];
		const struct bench_repeat *rep = &results[k->variant].repeats[ci->repeat];

		if (k->index < rep->nr_windows && !rep->windows[k->index].dropped)
			add_reading(ci, &ci->sum[k->variant], &k->r);
	}
	for (v = 0; v < run->nr_variants; v++) {
		if (results[v].nr_repeats > ci->repeat)
			count_repeat(ci, run, v);
	}
	free_repeat(ci);
	counters__close(ci->cs);
}

/* All that belongs to one benchmark: a pass may be of several. */
static void end_run(struct counters_instrument *ci)
{
	int i;

	free_repeat(ci);
	zfree(&ci->kept);
	ci->room = 0;
	ci->active = false;
	for (i = 0; ci->counted && i < ci->nr_counted; i++) {
		free(ci->counted[i].per_op);
		free(ci->counted[i].reasons);
	}
	zfree(&ci->counted);
	zfree(&ci->bad);
	counters__free(ci->cs);
	ci->cs = NULL;
}

/* ---- hooks ---- */

/* Raise the soft limit of descriptors as far as needed; false if it cannot be. */
static bool raise_fds(struct bench_run *run, int most_tasks, int nr_counters, char *why,
		      size_t size)
{
	bool threads = run->mode == BENCH_MODE_THREAD;
	rlim_t need = OWN_FDS + (rlim_t)run->ops->fds * (threads ? most_tasks : 1) +
		      (rlim_t)most_tasks * nr_counters;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= need)
		return true;
	if (rl.rlim_max >= need) {
		rl.rlim_cur = need;
		if (!setrlimit(RLIMIT_NOFILE, &rl))
			return true;
	}
	snprintf(why, size,
		 "%d counters on %d tasks need %llu file descriptors, have %llu: raise the hard limit (ulimit -Hn), or count fewer events",
		 nr_counters, most_tasks, (unsigned long long)need,
		 (unsigned long long)rl.rlim_max);
	return false;
}

/* Is there memory for all windows of a repeat? Of fixed work, none of them waits for its end. */
static bool check_memory(struct bench_run *run, int most_tasks, int nr_counters, char *why,
			 size_t size)
{
	const struct bench_worker_params *p = &bench_worker_params;
	u64 windows = is_fixed() ? 0 : 2 * (p->duration / p->window + 2) * run->nr_variants;
	double mb = windows * ((double)most_tasks * (nr_counters * sizeof(struct counter_value) +
						     sizeof(u64))) / 1e6;

	if (mb <= MAX_MB)
		return true;
	snprintf(why, size,
		 "the windows of a repeat would take %.0f MB, more than %llu: take a longer --window or count fewer events",
		 mb, MAX_MB);
	return false;
}

static int begin(struct bench_observer *o, struct bench_run *run)
{
	struct instrument *ins = container_of(o, struct instrument, observer);
	struct counters_instrument *ci = container_of(ins, struct counters_instrument, ins);
	char why[COUNTERS_REASON_MAX];
	int p, i, most = 0;

	end_run(ci);
	*ins->unavailable = '\0';
	ci->cs = counters__new(ci->list, devices, why, sizeof(why));
	if (!ci->cs) {
		snprintf(ins->unavailable, sizeof(ins->unavailable), "%s", why);
		return 0;
	}
	for (p = 0; p < run->nr_points; p++)
		most = max(most, run->points[p]);
	if (!raise_fds(run, most, ci->cs->nr, ins->unavailable, sizeof(ins->unavailable)) ||
	    !check_memory(run, most, ci->cs->nr, ins->unavailable, sizeof(ins->unavailable)))
		return 0;
	ci->nr_counted = run->nr_points * run->nr_variants;
	ci->counted = calloc(ci->nr_counted, sizeof(*ci->counted));
	ci->bad = calloc(ci->cs->nr, sizeof(*ci->bad));
	if (!ci->counted || !ci->bad)
		return bench_run__fail(run, ENOMEM, "counters");
	for (i = 0; i < ci->nr_counted; i++)
		ci->counted[i].share = 1;
	return 0;
}

static void ready(struct bench_observer *o, struct bench_run *run)
{
	struct counters_instrument *ci = container_of(o, struct counters_instrument, ins.observer);
	struct counter_task *tasks = calloc(run->nr_tasks, sizeof(*tasks));
	int i, err = tasks ? 0 : -ENOMEM;

	end_repeat(ci, run);
	ci->active = true;
	ci->point = run->point;
	ci->repeat = run->repeat;
	ci->nr_tasks = run->nr_tasks;
	memset(ci->nr_windows, 0, sizeof(ci->nr_windows));
	memset(ci->bad, 0, ci->cs->nr * sizeof(*ci->bad));
	err = err ?: reading__alloc(&ci->last, run->nr_tasks, ci->cs->nr);
	err = err ?: reading__alloc(&ci->now, run->nr_tasks, ci->cs->nr);
	for (i = 0; i < run->nr_variants && !err; i++)
		err = reading__alloc(&ci->sum[i], run->nr_tasks, ci->cs->nr);
	for (i = 0; i < run->nr_tasks && !err; i++)
		tasks[i] = (struct counter_task){ run->tasks[i]->tid, run->tasks[i]->cpu };
	err = err ?: counters__open(ci->cs, tasks, run->nr_tasks);
	free(tasks);
	ci->out_of_memory = err;
}

static void resume(struct bench_observer *o, struct bench_run *run)
{
	struct counters_instrument *ci = container_of(o, struct counters_instrument, ins.observer);

	if (!ci->out_of_memory)
		read_all(ci, run, &ci->last);
}

/* Keep what was done in a window until it is known whether it counts. */
static int keep(struct counters_instrument *ci, int variant, int index)
{
	struct kept_window *more;

	if (ci->nr_kept == ci->room) {
		more = reallocarray(ci->kept, ci->room + 64, sizeof(*more));
		if (!more)
			return -ENOMEM;
		ci->kept = more;
		ci->room += 64;
	}
	ci->kept[ci->nr_kept++] = (struct kept_window){ variant, index, ci->now };
	ci->now = (struct reading){ 0 };
	return reading__alloc(&ci->now, ci->nr_tasks, ci->cs->nr);
}

static void window(struct bench_observer *o, struct bench_run *run, const struct bench_window *w)
{
	struct counters_instrument *ci = container_of(o, struct counters_instrument, ins.observer);
	int v = run->variant, index = ci->nr_windows[v]++;
	struct reading next;

	if (ci->out_of_memory)
		return;
	if (reading__alloc(&next, ci->nr_tasks, ci->cs->nr)) {
		reading__free(&next);
		ci->out_of_memory = true;
		return;
	}
	read_all(ci, run, &ci->now);
	memcpy(next.ops, ci->now.ops, ci->nr_tasks * sizeof(*next.ops));
	memcpy(next.values, ci->now.values,
	       (size_t)ci->nr_tasks * ci->cs->nr * sizeof(*next.values));
	difference(ci, &ci->now, &ci->last);
	reading__free(&ci->last);
	ci->last = next;
	if (w->dropped)
		return;
	if (is_fixed())
		add_reading(ci, &ci->sum[v], &ci->now);
	else if (keep(ci, v, index))
		ci->out_of_memory = true;
}

static void stop(struct bench_observer *o, struct bench_run *run __maybe_unused)
{
	struct counters_instrument *ci = container_of(o, struct counters_instrument, ins.observer);

	counters__close(ci->cs);	/* or the tasks of the next repeat would inherit them */
}

/* Rows for cycles an instruction, where both were counted. */
static int add_ipc(struct counters_instrument *ci, const struct counted *done)
{
	struct figures *f = &ci->ins.figures;
	int i, r, nr = ci->cs->nr;

	for (i = 0; i < nr; i++) {
		const struct counter *c = &ci->cs->list[i];
		bool cycles = (c->attr.config & 0xffffffff) == PERF_COUNT_HW_CPU_CYCLES;
		int cyc = cycles ? i : c->partner, ins = cycles ? c->partner : i;
		char name[FIGURES_NAME_MAX];
		struct figure *row = NULL;

		if (c->partner < 0)
			continue;
		snprintf(name, sizeof(name), "%s%sIPC%s%s",
			 c->pmu >= 0 ? ci->cs->pmus[c->pmu].name : "", c->pmu >= 0 ? "/" : "",
			 *c->modifier ? ":" : "", c->modifier);
		for (r = 0; r < f->nr_repeats && r < done->nr; r++) {
			double ratio = done->per_op[r * nr + ins] / done->per_op[r * nr + cyc];

			if (!isfinite(ratio))
				continue;
			row = row ?: figures__add(f, name);
			if (!row)
				return -ENOMEM;
			figures__set(f, row, 0, r, ratio);
		}
		if (row && figures__note(f, "IPC is instructions a cycle"))
			return -ENOMEM;
	}
	return 0;
}

static int add_notes(struct counters_instrument *ci, const struct counted *done)
{
	struct figures *f = &ci->ins.figures;
	int i, err = 0;

	if (done->share < 1)
		err = figures__note(f,
				    "multiplexed: there are more events than counters; each was counted for %.0f %% of a task's time at least, and scaled up",
				    floor(100 * done->share));
	for (i = 0; i < ci->cs->nr && !err; i++) {
		const struct counter *c = &ci->cs->list[i];

		if (c->class == COUNTER_TRACEPOINT && !*c->reason)
			err = figures__note(f, "counting tracepoints slows what it counts");
		else if (c->ns)
			err = figures__note(f, "%s is in ns", c->name);
		else if (c->pmu >= 0)
			err = figures__note(f,
					    "with a PMU's name: per op of the tasks on its CPUs");
	}
	return err;
}

static int add_row(struct counters_instrument *ci, const struct counted *done, int c)
{
	struct figures *f = &ci->ins.figures;
	const char *name = ci->cs->list[c].name;
	int r, nr = ci->cs->nr;
	bool known = false;
	struct figure *row;

	for (r = 0; r < done->nr && r < f->nr_repeats; r++)
		known |= isfinite(done->per_op[r * nr + c]);
	if (!known)
		return figures__add_missing(f, name, done->nr ? done->reasons[c] :
					    "out of memory") ? 0 : -ENOMEM;
	row = figures__add(f, name);
	for (r = 0; row && r < done->nr; r++)
		figures__set(f, row, 0, r, done->per_op[r * nr + c]);
	return row ? 0 : -ENOMEM;
}

static int result(struct bench_observer *o, struct bench_run *run,
		  const struct bench_result *res)
{
	struct counters_instrument *ci = container_of(o, struct counters_instrument, ins.observer);
	const struct counted *done = &ci->counted[run->point * run->nr_variants + res->variant];
	int c, err = 0;

	end_repeat(ci, run);
	figures__reset(&ci->ins.figures, "counters", columns, ARRAY_SIZE(columns), res->nr_repeats);
	for (c = 0; c < ci->cs->nr && !err && res->nr_repeats; c++)
		err = add_row(ci, done, c);
	err = err ?: add_ipc(ci, done);
	err = err ?: add_notes(ci, done);
	return err ? bench_run__fail(run, -err, "counters") : 0;
}

static int end(struct bench_observer *o, struct bench_run *run __maybe_unused,
	       enum bench_exit status __maybe_unused)
{
	end_run(container_of(o, struct counters_instrument, ins.observer));
	return 0;
}

static void counters_free(struct instrument *ins)
{
	struct counters_instrument *ci = container_of(ins, struct counters_instrument, ins);

	end_run(ci);
	figures__free(&ins->figures);
	free(ci);
}

struct instrument *counters_instrument__new(const struct instrument_options *opts)
{
	struct counters_instrument *ci = zalloc(sizeof(*ci));

	if (!ci)
		return NULL;
	ci->list = opts->counter_list;
	ci->ins.name = "counters";
	ci->ins.free = counters_free;
	ci->ins.observer.begin = begin;
	ci->ins.observer.ready = ready;
	ci->ins.observer.resume = resume;
	ci->ins.observer.window = window;
	ci->ins.observer.stop = stop;
	ci->ins.observer.result = result;
	ci->ins.observer.end = end;
	return &ci->ins;
}
