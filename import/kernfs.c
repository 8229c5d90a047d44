// SPDX-License-Identifier: GPL-2.0
/*
 * The listing of sysfs_benchmark, which came with the kernfs patches of 2020 and 2021, and of our
 * kernfs/lookup
 *
 *	single: total 37.537578ms per 3.753758us
 *	concur: total 4796.665718ms per 479.666572us  CPU 65
 *	times: 10000 threads: 86 cpus: 86
 *
 * A line of one thread alone; a line for each of several that ran at once; and what the run was.
 * The rate of a point is the number of threads by the median of their times an op: that is how the
 * reports sum them up, and one thread that came late does not change it.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "import/import.h"

#define MAX_TIMES	1000000000000000ULL	/* a double holds all up to it */
#define LINES	"\"single: total N.NNNNNNms per N.NNNNNNus\", \"concur: ...  CPU N\" or " \
		"\"times: N threads: N cpus: N\""

struct thread {
	double	total_ms, us_per_op;	/* us_per_op: infinite if it did no op */
	int	cpu;
};

struct listing {
	struct import		*im;
	struct import_bench	*bench;
	int			nr, room, singles;
	struct thread		*threads;	/* of the concur: lines since the last times: */
	u64			loops;		/* of each thread in all of the listing */
	bool			any, no_loops;
};

static bool scan_times(const char **p, struct thread *t)
{
	return scan__text(p, "total ") && scan__real(p, 6, &t->total_ms) &&
	       scan__text(p, "ms per ") && scan__real(p, 6, &t->us_per_op) &&
	       scan__text(p, "us") && t->us_per_op > 0 && t->total_ms > 0;
}

/* In ns, what @ops ops took by the time of one, and how far off rounding may bring that. */
static bool is_total(const struct thread *t, double ops)
{
	return fabs(ops * t->us_per_op * 1e3 - t->total_ms * 1e6) <= 0.51 + ops * 0.00051;
}

static int add_single(struct listing *l, const char *p)
{
	struct thread t = { .cpu = -1 };
	struct json_object *given;
	struct import_point *point;

	if (!scan_times(&p, &t) || *p)
		return import__expected(l->im, LINES);
	if (!is_total(&t, round(t.total_ms * 1e3 / t.us_per_op)))
		return import__expected(l->im, "a total that is a whole number of times an op");
	given = json_object_new_object();
	import__give(given, "total_ms", t.total_ms);
	import__give(given, "us_per_op", t.us_per_op);
	point = import__point(l->im, l->bench, NULL, 1);
	l->singles++;
	return import__repeat(l->im, point, 1e6 / t.us_per_op, given);
}

static int add_thread(struct listing *l, const struct thread *t)
{
	if (l->nr == l->room) {
		struct thread *more = reallocarray(l->threads, 2 * l->room + 64, sizeof(*more));

		if (!more)
			return import__no_memory(l->im);
		l->threads = more;
		l->room = 2 * l->room + 64;
	}
	if (l->nr == IMPORT_MAX_TASKS)
		return import__fail(l->im, "at most %d threads are expected", IMPORT_MAX_TASKS);
	l->threads[l->nr++] = *t;
	return 0;
}

static int add_concur(struct listing *l, const char *p)
{
	struct thread t;
	u64 cpu;

	if (!scan_times(&p, &t) || !scan__text(&p, "  CPU ") || !scan__u64(&p, 65535, &cpu) || *p)
		return import__expected(l->im, LINES);
	t.cpu = cpu;
	return add_thread(l, &t);
}

/* Our own remark about a thread that has no line. */
static int add_idle(struct listing *l)
{
	struct thread t = { .us_per_op = INFINITY };
	const char *p = l->im->line;
	u64 cpu;

	if (!scan__text(&p, "# CPU ") || !scan__u64(&p, 65535, &cpu) ||
	    strcmp(p, ": no op in the measured time"))
		return 0;
	t.cpu = cpu;
	return add_thread(l, &t);
}

static int cmp_us(const void *va, const void *vb)
{
	const struct thread *a = va, *b = vb;

	return (a->us_per_op > b->us_per_op) - (a->us_per_op < b->us_per_op);
}

/*
 * Threads that each did @times ops took different times for them, and times is total by per. With
 * the same time for all, they did different numbers of ops, and the most of these is times.
 */
static int check_times(struct listing *l, u64 times, bool *loops)
{
	int i, first = -1, nr = 0;
	bool same = true;

	for (i = 0; i < l->nr; i++) {
		if (isinf(l->threads[i].us_per_op))
			continue;
		first = first < 0 ? i : first;
		same &= l->threads[i].total_ms == l->threads[first].total_ms;
	}
	*loops = !same;
	for (i = 0; i < l->nr; i++) {
		const struct thread *t = &l->threads[i];

		if (is_total(t, times))
			nr++;
		else if (!same || times * t->us_per_op < t->total_ms * 1e3)
			return import__fail(l->im,
					    "times is %llu, and by that a line above does not fit: total %.6fms per %.6fus",
					    (unsigned long long)times, t->total_ms, t->us_per_op);
	}
	if (!nr)
		return import__fail(l->im, "times is %llu, but no thread above did as many ops",
				    (unsigned long long)times);
	return 0;
}

static struct json_object *give_threads(const struct listing *l, u64 times, u64 cpus)
{
	struct json_object *given = json_object_new_object();
	struct json_object *total = json_object_new_array(), *per = json_object_new_array();
	struct json_object *cpu = json_object_new_array();
	int i;

	for (i = 0; i < l->nr; i++) {
		if (isinf(l->threads[i].us_per_op))
			continue;
		import__give(total, NULL, l->threads[i].total_ms);
		import__give(per, NULL, l->threads[i].us_per_op);
		import__give(cpu, NULL, l->threads[i].cpu);
	}
	json_object_object_add(given, "total_ms", total);
	json_object_object_add(given, "us_per_op", per);
	json_object_object_add(given, "cpu", cpu);
	import__give(given, "times", times);
	import__give(given, "cpus", cpus);
	return given;
}

static int cmp_int(const void *va, const void *vb)
{
	const int *a = va, *b = vb;

	return (*a > *b) - (*a < *b);
}

/* Those that threads ran on, ascending, each once. */
static int add_cpus(struct listing *l)
{
	struct import_bench *b = l->bench;
	int *cpus = reallocarray(b->cpus, b->nr_cpus + l->nr, sizeof(*cpus));
	int i, nr = b->nr_cpus, kept = 0;

	if (!cpus)
		return import__no_memory(l->im);
	b->cpus = cpus;
	for (i = 0; i < l->nr; i++)
		cpus[nr++] = l->threads[i].cpu;
	qsort(cpus, nr, sizeof(*cpus), cmp_int);
	for (i = 0; i < nr; i++) {
		if (!i || cpus[i] != cpus[kept - 1])
			cpus[kept++] = cpus[i];
	}
	b->nr_cpus = kept;
	return 0;
}

static int end_concur(struct listing *l, u64 times, u64 threads, u64 cpus)
{
	struct json_object *given;
	struct import_point *point;
	double median;
	bool loops;
	int err;

	if (threads != (u64)l->nr)
		return import__fail(l->im,
				    "%d threads are expected, as there were lines; there are %llu",
				    l->nr, (unsigned long long)threads);
	if (l->im->opt->cpus && cpus != (u64)l->im->opt->cpus)
		return import__fail(l->im, "the text tells of %llu CPUs, --cpus of %d",
				    (unsigned long long)cpus, l->im->opt->cpus);
	err = check_times(l, times, &loops) ?: add_cpus(l);
	if (err)
		return err;
	given = give_threads(l, times, cpus);
	qsort(l->threads, l->nr, sizeof(*l->threads), cmp_us);
	median = (l->threads[(l->nr - 1) / 2].us_per_op + l->threads[l->nr / 2].us_per_op) / 2;
	if (!isfinite(median)) {
		json_object_put(given);
		return import__fail(l->im,
				    "no rate can be given: half of the threads, or more, did no op");
	}
	if (!loops || (l->loops && l->loops != times))
		l->no_loops = true;
	l->loops = times;
	point = import__point(l->im, l->bench, NULL, threads);
	if (point)
		point->cpus = cpus;
	l->nr = 0;
	return import__repeat(l->im, point, threads * 1e6 / median, given);
}

static int add_times(struct listing *l, const char *p)
{
	u64 times, threads, cpus;

	if (!scan__u64(&p, MAX_TIMES, &times) || !scan__text(&p, " threads: ") ||
	    !scan__u64(&p, IMPORT_MAX_TASKS, &threads) || !scan__text(&p, " cpus: ") ||
	    !scan__u64(&p, 65536, &cpus) || *p || !times || !cpus)
		return import__expected(l->im, LINES);
	l->any = true;
	if (l->nr)
		return end_concur(l, times, threads, cpus);
	if (threads != 1 || !l->singles)
		return import__fail(l->im, "a line for each thread is expected before");
	l->no_loops = true;
	return 0;
}

static int add_line(struct listing *l)
{
	const char *p = l->im->line;

	if (import__skip(l->im))
		return add_idle(l);
	if (scan__text(&p, "single: "))
		return add_single(l, p);
	if (scan__text(&p, "concur: "))
		return add_concur(l, p);
	if (scan__text(&p, "times: "))
		return add_times(l, p);
	return import__expected(l->im, LINES);
}

int import_kernfs(struct import *im)
{
	struct listing l = { .im = im };

	l.bench = import__bench(im, "sysfs_benchmark", "loop", NULL, NULL);
	if (!l.bench)
		return im->err;
	while (import__line(im) && !add_line(&l))
		;
	if (!im->err && (l.nr || (l.singles && !l.any)))
		import__fail(im,
			     "\"times: N threads: N cpus: N\" is expected at the end: is it cut short?");
	if (!im->err) {
		l.bench->mode = "thread";
		l.bench->loops = l.no_loops ? 0 : l.loops;
	}
	free(l.threads);
	return im->err;
}
