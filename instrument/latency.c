// SPDX-License-Identifier: GPL-2.0
/*
 * The instrument behind --latency: how long single ops take, of those that are sampled
 *
 * The tasks time ops themselves: the loop's slow path calls pause_op() before and after an op that
 * is to be timed, and not for the others. Which ones is random, so that nothing periodic in what is
 * measured is hit always or never; one in @every in the mean, which is set such that sampling takes
 * a small part of the tasks' time (COST). Each task counts in a histogram of its own, in memory
 * that it shares with the parent, and only ever adds. The parent reads it at both ends of each
 * window, and keeps what has come in between until it is known whether that window counts.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "instrument/instrument.h"
#include "util/histogram.h"

#define COST		0.005			/* of the ops' time, by calculation */
#define GUESSED_OP_NS	250			/* as long as nothing is known of an op */
#define GUESSED_OPS		8		/* so many ops at most until a task looks again */
#define MAX_EVERY		0x40000000		/* for distance() */
#define MIN_ABOVE	10			/* samples above a percentile */
#define MAX_MB		1024ull
#define TRY_CALLS		200			/* to find out what a sample costs */
#define TRIES		50
#define TRY_EVERY	1000

static const struct figure_column columns[] = {
	{ .name = "us", .of = FIGURE_MEAN, .decimals = 3 },
	{ .name = "above", .of = FIGURE_MEAN, .decimals = 0 },	/* samples */
};

static const struct {
	const char	*name;
	unsigned int	q;	/* hundredths of a per cent; 0: no percentile */
} rows[] = {
	{ "p50", 5000 }, { "p90", 9000 }, { "p99", 9900 }, { "p99.9", 9990 }, { "p99.99", 9999 },
	{ "max", 0 }, { "mean", 0 },
};

#define NR_ROWS		((int)ARRAY_SIZE(rows))
#define ROW_MAX		(NR_ROWS - 2)
#define ROW_MEAN	(NR_ROWS - 1)

/* One task's; written by that task alone, but for @max, which the parent takes. */
struct task_latency {
	u64	begun_ns;	/* of the op being timed, 0 if none is */
	u64	random;		/* state of the generator; 0 before the first call */
	u64	every, left;	/* @left ops to the next that is timed, drawn by @every */
	u64	sum, max;
	u32	full;		/* counts that came to the end of a u32 */
	u32	counts[HISTOGRAM_BUCKETS];
} __aligned(BENCH_LINE);

struct shared {
	u64			every, seed;
	bool			guessed;	/* @every: as nothing is known of an op yet */
	struct task_latency	tasks[] __aligned(BENCH_LINE);	/* and one for the parent to try */
};

/* The difference between two readings: a window. */
struct kept_window {
	int	variant, index;
	u64	sum, max;
	u32	counts[HISTOGRAM_BUCKETS];
};

/* A finished repeat. */
struct timed_repeat {
	u64	nr;
	double	ns[ARRAY_SIZE(rows)], above[ARRAY_SIZE(rows)];
};

/* Those of one point and variant. */
struct timed {
	int			nr;
	struct timed_repeat	*repeats;	/* [nr] */
	u64			every;		/* 0 as long as an op's time is not known */
	u64			least, most;	/* of what @every was in its windows */
	double			cost;		/* calculated share of the time, the highest */
	bool			full, beyond;
};

struct latency_instrument {
	struct instrument	ins;
	u64			fixed_every;
	size_t			size;		/* of @shared */
	int			nr_slots;	/* tasks that there is room for */
	double			sample_ns, added_ns, clock_ns;
	struct timed		*timed;		/* [points][variants] */
	int			nr_timed;
	/* of the repeat being measured */
	bool			active, out_of_memory;
	int			point, repeat, nr_tasks;
	u64			ready_ns, last_sum;
	u64			last[HISTOGRAM_BUCKETS];
	struct histogram	*sum[BENCH_MAX_VARIANTS];
	int			nr_windows[BENCH_MAX_VARIANTS];
	struct kept_window	**kept;
	int			nr_kept, room;
};

/* Of the pass that is running: it is found from within the tasks. */
static struct shared *shared;

static bool is_fixed(void)
{
	return bench_worker_params.loops || bench_worker_params.total;
}

/* ---- in the task ---- */

/* Marsaglia 2003, "Xorshift RNGs", Journal of Statistical Software 8(14): 13, 7, 17. */
static u64 next_random(u64 *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* Ops from the begin of one that is timed to the next: 1 to 2 * @every - 1, all alike. */
static u64 distance(struct task_latency *tl, u64 every)
{
	/* the upper half of the product: as good as a remainder, and no division */
	return 1 + ((next_random(&tl->random) >> 32) * (2 * every - 1) >> 32);
}

static void count(struct task_latency *tl, u64 ns)
{
	u32 *n = &tl->counts[histogram__bucket(ns)];

	if (*n == UINT32_MAX)
		tl->full = 1;
	else
		__atomic_store_n(n, *n + 1, __ATOMIC_RELAXED);
	__atomic_store_n(&tl->sum, tl->sum + ns, __ATOMIC_RELAXED);
	if (ns > __atomic_load_n(&tl->max, __ATOMIC_RELAXED))
		__atomic_store_n(&tl->max, ns, __ATOMIC_RELAXED);
}

/* Between two ops: one that was timed has ended, or one is to be timed. When to be called again. */
static u64 pause_op(struct bench_task *t)
{
	struct task_latency *tl = &shared->tasks[t->id];
	u64 every, ops;

	if (tl->begun_ns)
		count(tl, bench_now() - tl->begun_ns);
	every = __atomic_load_n(&shared->every, __ATOMIC_RELAXED);
	if (!tl->random)	/* times the golden ratio's bits: no two tasks begin alike */
		tl->random = (shared->seed ^ (t->id + 1) * 0x9e3779b97f4a7c15ull) ?: 1;
	if (tl->begun_ns || tl->every != every) {	/* 0 at first */
		tl->every = every;
		tl->left = distance(tl, every) - 1;
	}
	ops = tl->left;
	if (__atomic_load_n(&shared->guessed, __ATOMIC_RELAXED))
		ops = min(ops, (u64)GUESSED_OPS);	/* or slow ops would be long done before */
	tl->left -= ops;
	tl->begun_ns = ops ? 0 : bench_now();
	return ops ?: 1;
}

/* ---- in the parent: what sampling costs, and how much of it there may be ---- */

/* ns of a call of @what, in the best of many short tries: others may want the CPU, too. */
static double time_calls(void (*what)(void *data), void *data)
{
	u64 begin, best = ~0ull;
	int i, k;

	for (i = 0; i < TRIES; i++) {
		begin = bench_now();
		for (k = 0; k < TRY_CALLS; k++)
			what(data);
		best = min(best, bench_now() - begin);
	}
	return (double)best / TRY_CALLS;
}

static void read_clock(void *data __maybe_unused)
{
	bench_now();
}

static void system_call(void *data __maybe_unused)
{
	getppid();
}

/*
 * A task's loop whose op is a system call, with its slow path at each. Where system calls flush the
 * TLB, most of what the slow path costs is that what it touches has to be looked up again.
 */
static void system_call_refill(void *data)
{
	struct bench_task *t = data;

	getppid();
	bench_task__refill(t);
	t->ops = t->limit;
}

/* ns; NaN of none. */
static double median(const u64 *counts)
{
	u64 nr = 0, seen = 0;
	int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		nr += counts[i];
	for (i = 0; nr && i < HISTOGRAM_BUCKETS; i++) {
		seen += counts[i];
		if (seen >= (nr + 1) / 2)
			return histogram__value(i);
	}
	return NAN;
}

/* With the tasks still at the gate: what does a sample cost, and what does it add to a latency? */
static void try_sampling(struct latency_instrument *li, struct bench_run *run)
{
	struct bench_task t = { .run = run, .id = li->nr_slots, .due = ~0ull };
	double call_ns = time_calls(system_call, NULL);
	u64 counts[HISTOGRAM_BUCKETS];
	int i;

	shared->every = TRY_EVERY;
	li->clock_ns = time_calls(read_clock, NULL);
	li->sample_ns = 2 * (time_calls(system_call_refill, &t) - call_ns);
	li->sample_ns = fmax(li->sample_ns, 2 * li->clock_ns);
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		counts[i] = shared->tasks[t.id].counts[i];
	li->added_ns = fmax(median(counts) - call_ns, li->clock_ns);
}

/*
 * How long an op takes, ns, if the tasks did @ops in @ns, and those that were timed are in @counts:
 * the mean, or the median if that is less. Where other programs take the CPUs, or some ops wait for
 * long, the mean says more than what an op costs.
 */
static double op_time(const struct bench_run *run, const u64 *counts, u64 ops, u64 ns)
{
	return fmin((double)ns * min(run->nr_tasks, run->nr_cpus) / ops, median(counts));
}

/* One op in how many may be timed, if one takes so long? */
static u64 every_for(const struct latency_instrument *li, double op_ns)
{
	return fmax(1, ceil(li->sample_ns / (COST * op_ns)));
}

/* ---- what the tasks have counted ---- */

/* All tasks' counts so far; returns their sum, and the maximum since the last call. */
static u64 read_counts(struct latency_instrument *li, u64 *counts, u64 *most)
{
	u64 sum = 0;
	int t, i;

	memset(counts, 0, HISTOGRAM_BUCKETS * sizeof(*counts));
	*most = 0;
	for (t = 0; t < li->nr_tasks; t++) {
		struct task_latency *tl = &shared->tasks[t];

		for (i = 0; i < HISTOGRAM_BUCKETS; i++)
			counts[i] += __atomic_load_n(&tl->counts[i], __ATOMIC_RELAXED);
		sum += __atomic_load_n(&tl->sum, __ATOMIC_RELAXED);
		*most = max(*most, __atomic_exchange_n(&tl->max, 0, __ATOMIC_RELAXED));
	}
	return sum;
}

static void add_window(struct histogram *h, const struct kept_window *k)
{
	int i;

	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		h->counts[i] += k->counts[i];
		h->nr += k->counts[i];
	}
	h->sum += k->sum;
	h->max = max(h->max, k->max);
}

/* ---- a repeat is over ---- */

static void time_repeat(struct latency_instrument *li, const struct bench_run *run, int v)
{
	const struct bench_result *res = &run->all_results[li->point * run->nr_variants + v];
	struct timed *td = &li->timed[li->point * run->nr_variants + v];
	const struct histogram *h = li->sum[v];
	struct timed_repeat *more, *rep;
	const struct bench_repeat *measured = &res->repeats[li->repeat];
	double op_ns = op_time(run, h->counts, measured->ops, measured->elapsed_ns);
	u64 above;
	int i;

	if (td->nr != li->repeat || li->out_of_memory)
		return;
	more = reallocarray(td->repeats, td->nr + 1, sizeof(*more));
	if (!more)
		return;
	td->repeats = more;
	rep = &more[td->nr++];
	rep->nr = h->nr;
	for (i = 0; i < ROW_MAX; i++) {
		rep->ns[i] = histogram__percentile(h, rows[i].q, &above);
		rep->above[i] = above;
		if (above < MIN_ABOVE)
			rep->ns[i] = NAN;
	}
	rep->ns[ROW_MAX] = h->nr ? h->max : NAN;
	rep->above[ROW_MAX] = 0;
	rep->ns[ROW_MEAN] = histogram__mean(h);
	rep->above[ROW_MEAN] = NAN;
	td->cost = fmax(td->cost, h->nr * li->sample_ns / (measured->ops * op_ns));
	td->beyond |= h->max >= HISTOGRAM_MAX_NS;
	for (i = 0; i < li->nr_tasks; i++)
		td->full |= shared->tasks[i].full;
}

static void free_repeat(struct latency_instrument *li)
{
	int i;

	for (i = 0; i < li->nr_kept; i++)
		free(li->kept[i]);
	li->nr_kept = 0;
	for (i = 0; i < BENCH_MAX_VARIANTS; i++)
		zfree(&li->sum[i]);
}

/* Take the percentiles of the last repeat, if there is one: now it is known which windows count. */
static void end_repeat(struct latency_instrument *li, const struct bench_run *run)
{
	const struct bench_result *results = &run->all_results[li->point * run->nr_variants];
	int i, v;

	if (!li->active)
		return;
	li->active = false;
	for (i = 0; i < li->nr_kept; i++) {
		const struct kept_window *k = li->kept[i];
		const struct bench_repeat *rep = &results[k->variant].repeats[li->repeat];

		if (k->index < rep->nr_windows && !rep->windows[k->index].dropped)
			add_window(li->sum[k->variant], k);
	}
	for (v = 0; v < run->nr_variants; v++) {
		if (results[v].nr_repeats > li->repeat)
			time_repeat(li, run, v);
	}
	free_repeat(li);
}

static void end_run(struct latency_instrument *li)
{
	int i;

	bench_task__pause = NULL;
	free_repeat(li);
	zfree(&li->kept);
	li->room = 0;
	li->active = false;
	for (i = 0; li->timed && i < li->nr_timed; i++)
		free(li->timed[i].repeats);
	zfree(&li->timed);
	if (shared)
		munmap(shared, li->size);
	shared = NULL;
}

/* ---- hooks ---- */

/* Windows of work of a fixed time wait for its end. */
static bool check_memory(const struct bench_run *run, char *why, size_t size)
{
	const struct bench_worker_params *p = &bench_worker_params;
	u64 windows = is_fixed() ? 0 : 2 * (p->duration / p->window + 2) * run->nr_variants;
	double mb = (double)windows * sizeof(struct kept_window) / 1e6;

	if (mb <= MAX_MB)
		return true;
	snprintf(why, size,
		 "the windows of a repeat would take %.0f MB, more than %llu: take a longer --window",
		 mb, MAX_MB);
	return false;
}

static int begin(struct bench_observer *o, struct bench_run *run)
{
	struct instrument *ins = container_of(o, struct instrument, observer);
	struct latency_instrument *li = container_of(ins, struct latency_instrument, ins);
	int p, most = 0;

	end_run(li);
	*ins->unavailable = '\0';
	if (!check_memory(run, ins->unavailable, sizeof(ins->unavailable)))
		return 0;
	for (p = 0; p < run->nr_points; p++)
		most = max(most, run->points[p]);
	li->nr_slots = most;
	li->size = sizeof(*shared) + (size_t)(most + 1) * sizeof(struct task_latency);
	shared = mmap(NULL, li->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED) {
		shared = NULL;
		snprintf(ins->unavailable, sizeof(ins->unavailable),
			 "%zu MB of shared memory for %d tasks: %s", li->size / 1000000, most,
			 strerror(errno));
		return 0;
	}
	madvise(shared, li->size, MADV_NOHUGEPAGE);
	li->nr_timed = run->nr_points * run->nr_variants;
	li->timed = calloc(li->nr_timed, sizeof(*li->timed));
	if (!li->timed)
		return bench_run__fail(run, ENOMEM, "latencies");
	li->sample_ns = 0;
	bench_task__pause = pause_op;
	return 0;
}

static void set_every(const struct latency_instrument *li, u64 every, bool guessed)
{
	every = min(li->fixed_every ?: every, (u64)MAX_EVERY);
	__atomic_store_n(&shared->every, every, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->guessed, guessed && !li->fixed_every, __ATOMIC_RELAXED);
}

static struct timed *timed_of(struct latency_instrument *li, const struct bench_run *run)
{
	return &li->timed[run->point * run->nr_variants + max(run->variant, 0)];
}

static void ready(struct bench_observer *o, struct bench_run *run)
{
	struct latency_instrument *li = container_of(o, struct latency_instrument, ins.observer);
	int v;

	end_repeat(li, run);
	li->active = true;
	li->out_of_memory = false;
	li->point = run->point;
	li->repeat = run->repeat;
	li->nr_tasks = run->nr_tasks;
	memset(li->nr_windows, 0, sizeof(li->nr_windows));
	for (v = 0; v < run->nr_variants; v++) {
		li->sum[v] = zalloc(sizeof(*li->sum[v]));
		li->out_of_memory |= !li->sum[v];
	}
	/* zeros again; each page is to come from the node of the task that touches it first */
	if (madvise(shared, li->size, MADV_REMOVE))
		memset(shared, 0, li->size);
	shared->seed = bench_now();
	if (!li->sample_ns)
		try_sampling(li, run);
	set_every(li, timed_of(li, run)->every ?: every_for(li, GUESSED_OP_NS),
		  !timed_of(li, run)->every);
	li->ready_ns = bench_now();
}

/* A first guess at how long an op takes, from the warm-up, if there was one. */
static void start(struct bench_observer *o, struct bench_run *run)
{
	struct latency_instrument *li = container_of(o, struct latency_instrument, ins.observer);
	u64 counts[HISTOGRAM_BUCKETS], most, ops = bench_run__ops(run);

	if (is_fixed() || timed_of(li, run)->every)
		return;
	read_counts(li, counts, &most);
	set_every(li, ops ? every_for(li, op_time(run, counts, ops, bench_now() - li->ready_ns)) :
		      1, false);
}

static void resume(struct bench_observer *o, struct bench_run *run)
{
	struct latency_instrument *li = container_of(o, struct latency_instrument, ins.observer);
	u64 most;

	if (timed_of(li, run)->every)
		set_every(li, timed_of(li, run)->every, false);
	li->last_sum = read_counts(li, li->last, &most);
}

/* Keep what was counted in a window until it is known whether that counts. 0 or -ENOMEM. */
static int keep(struct latency_instrument *li, struct kept_window *k)
{
	struct kept_window **more;

	if (li->nr_kept == li->room) {
		more = reallocarray(li->kept, li->room + 64, sizeof(*more));
		if (!more)
			return -ENOMEM;
		li->kept = more;
		li->room += 64;
	}
	li->kept[li->nr_kept++] = k;
	return 0;
}

static void window(struct bench_observer *o, struct bench_run *run, const struct bench_window *w)
{
	struct latency_instrument *li = container_of(o, struct latency_instrument, ins.observer);
	int i, v = run->variant, index = li->nr_windows[v]++;
	struct kept_window *k = malloc(sizeof(*k));
	struct timed *td = timed_of(li, run);
	u64 now[HISTOGRAM_BUCKETS], counts[HISTOGRAM_BUCKETS], most, sum;

	sum = read_counts(li, now, &most);
	td->least = td->least ? min(td->least, shared->every) : shared->every;
	td->most = max(td->most, shared->every);
	if (!td->every && w->ops) {
		for (i = 0; i < HISTOGRAM_BUCKETS; i++)
			counts[i] = now[i] - li->last[i];
		td->every = every_for(li, op_time(run, counts, w->ops, w->end_ns - w->start_ns));
		set_every(li, td->every, false);
	}
	if (!k) {
		li->out_of_memory = true;
	} else {
		k->variant = v;
		k->index = index;
		k->max = most;
		k->sum = sum - li->last_sum;
		for (i = 0; i < HISTOGRAM_BUCKETS; i++)
			k->counts[i] = now[i] - li->last[i];
	}
	memcpy(li->last, now, sizeof(now));
	li->last_sum = sum;
	if (!k || w->dropped || is_fixed() || li->out_of_memory) {
		if (k && !w->dropped && !li->out_of_memory)
			add_window(li->sum[v], k);
		free(k);
	} else if (keep(li, k)) {
		free(k);
		li->out_of_memory = true;
	}
}

static int add_notes(const struct latency_instrument *li, struct figures *f, const struct timed *td)
{
	char every[64];
	int err;

	if (td->least < td->most)
		snprintf(every, sizeof(every), "%llu to %llu", (unsigned long long)td->least,
			 (unsigned long long)td->most);
	else
		snprintf(every, sizeof(every), "%llu", (unsigned long long)td->most);
	err = figures__note(f,
			    "one op in %s was timed, at random distances; a sample takes %.0f ns, all of them %.2f %% of the ops' time",
			    every, li->sample_ns, 100 * td->cost);
	err = err ?: figures__note(f,
				   "not subtracted: timing adds %.3f us to each, of which reading the clock is %.3f us",
				   li->added_ns / 1000, li->clock_ns / 1000);
	if (!err && f->nr_repeats > 1)
		err = figures__note(f, "max is the mean of the repeats' largest");
	if (!err && td->full)
		err = figures__note(f,
				    "a task had more than 2^32 - 1 samples of one length: the rest is not counted");
	if (!err && td->beyond)
		err = figures__note(f, "ops of over %llu s are in one bucket; only max tells more",
				    HISTOGRAM_MAX_NS / NSEC_PER_SEC);
	return err;
}

static int add_row(struct figures *f, const struct timed *td, int i)
{
	struct figure *row = NULL;
	char reason[128];
	u64 most = 0;
	int r;

	for (r = 0; r < td->nr && r < f->nr_repeats; r++) {
		const struct timed_repeat *rep = &td->repeats[r];

		most = max(most, rep->nr);
		if (isnan(rep->ns[i]))
			continue;
		row = row ?: figures__add(f, rows[i].name);
		if (!row)
			return -ENOMEM;
		figures__set(f, row, 0, r, rep->ns[i] / 1000);
		figures__set(f, row, 1, r, rep->above[i]);
	}
	if (row)
		return 0;
	if (!rows[i].q || !most)
		snprintf(reason, sizeof(reason), "no op was timed");
	else
		snprintf(reason, sizeof(reason), "needs %u samples a repeat, there are %llu",
			 MIN_ABOVE * 10000 / (10000 - rows[i].q), (unsigned long long)most);
	return figures__add_missing(f, rows[i].name, reason) ? 0 : -ENOMEM;
}

static int result(struct bench_observer *o, struct bench_run *run,
		  const struct bench_result *res)
{
	struct latency_instrument *li = container_of(o, struct latency_instrument, ins.observer);
	const struct timed *td = &li->timed[run->point * run->nr_variants + res->variant];
	struct figures *f = &li->ins.figures;
	int i, err = 0;

	end_repeat(li, run);
	figures__reset(f, "latency", columns, ARRAY_SIZE(columns), res->nr_repeats);
	if (!res->nr_repeats)
		return 0;
	for (i = 0; i < NR_ROWS && !err; i++)
		err = add_row(f, td, i);
	err = err ?: add_notes(li, f, td);
	return err ? bench_run__fail(run, -err, "latencies") : 0;
}

static int end(struct bench_observer *o, struct bench_run *run __maybe_unused,
	       enum bench_exit status __maybe_unused)
{
	end_run(container_of(o, struct latency_instrument, ins.observer));
	return 0;
}

static void latency_free(struct instrument *ins)
{
	struct latency_instrument *li = container_of(ins, struct latency_instrument, ins);

	end_run(li);
	figures__free(&ins->figures);
	free(li);
}

struct instrument *latency_instrument__new(const struct instrument_options *opts)
{
	struct latency_instrument *li = zalloc(sizeof(*li));

	if (!li)
		return NULL;
	li->fixed_every = opts->latency_every;
	li->ins.name = "latency";
	li->ins.free = latency_free;
	li->ins.observer.begin = begin;
	li->ins.observer.ready = ready;
	li->ins.observer.start = start;
	li->ins.observer.resume = resume;
	li->ins.observer.window = window;
	li->ins.observer.result = result;
	li->ins.observer.end = end;
	return &li->ins;
}
