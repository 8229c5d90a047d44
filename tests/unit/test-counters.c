// SPDX-License-Identifier: GPL-2.0
/*
 * test-counters.c: names of events, what they mean to the kernel, and counts of what is known
 *
 * What is counted here are software events, which need no PMU: page faults of a task that takes a
 * known number of them, and its context switches.
 */
#include <check.h>
#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "instrument/instrument.h"
#include "util/counters.h"

#define DEVICES	"/sys/bus/event_source/devices"

static char why[COUNTERS_REASON_MAX];
static struct counters *cs;

/* ---- names ---- */

static const struct {
	const char	*name;
	u32		type;
	u64		config;
	int		no_user, no_kernel;
} good[] = {
	{ "cycles",			0, 0,		0, 0 },
	{ "cpu-cycles:u",		0, 0,		0, 1 },
	{ "instructions:k",		0, 1,		1, 0 },
	{ "instructions:uk",		0, 1,		0, 0 },
	{ "cache-references",		0, 2,		0, 0 },
	{ "cache-misses",		0, 3,		0, 0 },
	{ "branches",			0, 4,		0, 0 },
	{ "branch-misses",		0, 5,		0, 0 },
	{ "bus-cycles",			0, 6,		0, 0 },
	{ "stalled-cycles-frontend",	0, 7,		0, 0 },
	{ "idle-cycles-backend",	0, 8,		0, 0 },
	{ "ref-cycles",			0, 9,		0, 0 },
	{ "cpu-clock",			1, 0,		0, 0 },
	{ "task-clock",			1, 1,		0, 0 },
	{ "page-faults:k",		1, 2,		1, 0 },
	{ "cs",				1, 3,		0, 0 },
	{ "cpu-migrations",		1, 4,		0, 0 },
	{ "minor-faults",		1, 5,		0, 0 },
	{ "major-faults",		1, 6,		0, 0 },
	{ "L1-dcache-loads",		3, 0x000000,	0, 0 },
	{ "L1-dcache-load-misses",	3, 0x010000,	0, 0 },
	{ "L1-icache-load-misses",	3, 0x010001,	0, 0 },
	{ "LLC-store-misses:u",		3, 0x010102,	0, 1 },
	{ "LLC-prefetches",		3, 0x000202,	0, 0 },
	{ "dTLB-load-misses",		3, 0x010003,	0, 0 },
	{ "iTLB-load-misses",		3, 0x010004,	0, 0 },
	{ "branch-load-misses",		3, 0x010005,	0, 0 },
	{ "node-prefetch-misses",	3, 0x010206,	0, 0 },
	{ "r1c2",			4, 0x1c2,	0, 0 },
	{ "rFFFFffffFFFFffff:u",	4, ~0ull,	0, 1 },
	{ "r0",				4, 0,		0, 0 },
};

START_TEST(names)
{
	const struct perf_event_attr *attr;

	ck_assert_msg(!counters__check(good[_i].name, why, sizeof(why)), "%s", why);
	cs = counters__new(good[_i].name, "/nowhere", why, sizeof(why));
	ck_assert_int_eq(cs->nr, 1);
	ck_assert_str_eq(cs->list[0].name, good[_i].name);
	attr = &cs->list[0].attr;
	ck_assert_uint_eq(attr->type, good[_i].type);
	ck_assert_uint_eq(attr->config, good[_i].config);
	ck_assert_int_eq(attr->exclude_user, good[_i].no_user);
	ck_assert_int_eq(attr->exclude_kernel, good[_i].no_kernel);
	ck_assert_uint_eq(attr->size, sizeof(*attr));
	counters__free(cs);
}
END_TEST

static const struct {
	const char *list, *why;
} bad[] = {
	{ "", "a name is empty" },
	{ "cycles,", "a name is empty" },
	{ ",cycles", "a name is empty" },
	{ "cycles,,cs", "a name is empty" },
	{ "instrctions", "there is no event \"instrctions\"; did you mean \"instructions\"?" },
	{ "cs,pagefaults", "there is no event \"pagefaults\"; did you mean \"page-faults\"?" },
	{ "L1-dcache-load-mises",
	  "there is no event \"L1-dcache-load-mises\"; did you mean \"L1-dcache-load-misses\"?" },
	{ "task", "there is no event \"task\"; did you mean \"task-clock\"?" },
	{ "iTLB-stores", "there is no event \"iTLB-stores\"; did you mean \"dTLB-stores\"?" },
	{ "zzzzzzzzzzzz", "there is no event \"zzzzzzzzzzzz\": give names as in \"perf list\", " },
	{ " cycles", "there is no event \" cycles\"; did you mean \"cycles\"?" },
	{ "r", "there is no event \"r\": " },
	{ "rxyz", "there is no event \"rxyz\": " },
	{ "r12345678901234567", "there is no event \"r12345678901234567\": " },
	{ "cycles:", "\"cycles:\": after the colon there may be u (user space) or k (kernel)" },
	{ "cycles:x", "\"cycles:x\": after the colon" },
	{ "cycles:uu", "\"cycles:uu\": after the colon" },
	{ "cycles:uuuuuuuuuu", "\"cycles:uuuuuuuuuu\": after the colon" },
	{ "cycles:u:k", "\"cycles:u:k\": after the colon" },
	{ "cs:u", "\"cs:u\": the kernel does not count this event apart for user space" },
	{ "task-clock:k", "\"task-clock:k\": the kernel does not count this event apart" },
	{ "sched:sched_switch:u", "\"sched:sched_switch:u\": a tracepoint has no modifiers" },
	{ "../../etc:passwd", "" },
	{ ":", "" },
	{ "sched:", "" },
	{ ":sched_switch", "" },
};

START_TEST(wrong_names)
{
	int err = counters__check(bad[_i].list, why, sizeof(why));

	ck_assert_int_eq(err, -EINVAL);
	ck_assert_msg(!strncmp(why, bad[_i].why, strlen(bad[_i].why)), "%s", why);
	ck_assert_str_ne(why, "");
	ck_assert(!counters__new(bad[_i].list, DEVICES, why, sizeof(why)));
	counters__check(bad[_i].list, why, 5);	/* it fits in any room */
	ck_assert_uint_lt(strlen(why), 5);
}
END_TEST

START_TEST(lists)
{
	char list[100000] = "cs";
	int i;

	cs = counters__new("cs,cycles,cs,cycles:u,cycles", "/nowhere", why, sizeof(why));
	ck_assert_int_eq(cs->nr, 3);
	ck_assert_str_eq(cs->list[0].name, "cs");
	ck_assert_str_eq(cs->list[2].name, "cycles:u");
	counters__free(cs);
	for (i = 0; i < 63; i++)
		sprintf(list + strlen(list), ",r%x", i);
	ck_assert_int_eq(counters__check(list, why, sizeof(why)), 0);
	strcat(list, ",rfff");
	ck_assert_int_eq(counters__check(list, why, sizeof(why)), -EINVAL);
	ck_assert_str_eq(why, "more than 64 events");
	memset(list, 'x', sizeof(list) - 1);
	ck_assert_int_eq(counters__check(list, why, sizeof(why)), -EINVAL);
	ck_assert(strstr(why, "is too long"));
	/* by default: cycles and instructions of the same mode are counted together */
	cs = counters__new(NULL, "/nowhere", why, sizeof(why));
	ck_assert_int_eq(cs->nr, 17);
	for (i = 0; i < cs->nr; i++)
		ck_assert_int_eq(cs->list[i].partner, i >= 3 && i < 6 ? i - 3 : -1);
	counters__free(cs);
}
END_TEST

/* ---- PMUs ---- */

static char root[] = "/tmp/perf-kbench-test-XXXXXX";

static void write_file(const char *dir, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, dir);
	mkdir(path, 0755);
	snprintf(path, sizeof(path), "%s/%s/%s", root, dir, name);
	f = fopen(path, "w");
	ck_assert(f && fputs(text, f) >= 0 && !fclose(f));
}

static void make_root(void)
{
	ck_assert(mkdtemp(root));
	write_file("software", "type", "1\n");
	write_file("uncore_imc", "type", "20\n");
	write_file("uncore_imc", "cpumask", "0\n");
}

static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(pmus)
{
	struct counter_pmu p[COUNTERS_MAX_PMUS];

	ck_assert_int_eq(counters__pmus("/nowhere", p), 0);
	ck_assert_int_eq(counters__pmus(root, p), 0);
	write_file("cpu", "type", "4\n");
	ck_assert_int_eq(counters__pmus(root, p), 1);
	ck_assert_str_eq(p[0].name, "cpu");
	ck_assert_uint_eq(p[0].type, 4);
	ck_assert_str_eq(p[0].cpus, "");
	cs = counters__new("cycles", root, why, sizeof(why));
	ck_assert_str_eq(cs->list[0].name, "cycles");
	ck_assert_int_eq(cs->list[0].pmu, -1);
	counters__free(cs);
}
END_TEST

/* Cores of two kinds: each hardware event twice, the others once. */
START_TEST(hybrid)
{
	struct counter_task tasks[4] = { { 0, 0 }, { 0, 5 }, { 0, -1 }, { 0, 16 } };
	struct counter_value v;
	int i;

	write_file("cpu_core", "type", "4\n");
	write_file("cpu_core", "cpus", "0-3,5\n");
	write_file("cpu_atom", "type", "10\n");
	write_file("cpu_atom", "cpus", "4,6-7\n");
	cs = counters__new("cycles:u,instructions:u,LLC-loads,r1c2,page-faults", root, why,
			   sizeof(why));
	ck_assert_int_eq(cs->nr_pmus, 2);
	ck_assert_int_eq(cs->nr, 9);
	ck_assert_str_eq(cs->list[0].name, "cpu_atom/cycles:u");
	ck_assert_uint_eq(cs->list[0].attr.config, 10ull << 32);
	ck_assert_int_eq(cs->list[0].pmu, 0);
	ck_assert_str_eq(cs->list[1].name, "cpu_core/cycles:u");
	ck_assert_uint_eq(cs->list[1].attr.config, 4ull << 32);
	ck_assert_str_eq(cs->list[3].name, "cpu_core/instructions:u");
	ck_assert_uint_eq(cs->list[3].attr.config, 4ull << 32 | 1);
	ck_assert_int_eq(cs->list[2].partner, 0);
	ck_assert_int_eq(cs->list[3].partner, 1);
	ck_assert_uint_eq(cs->list[4].attr.config, 10ull << 32 | 2);
	ck_assert_uint_eq(cs->list[4].attr.type, PERF_TYPE_HW_CACHE);
	ck_assert_str_eq(cs->list[6].name, "cpu_atom/r1c2");
	ck_assert_uint_eq(cs->list[6].attr.type, 10);
	ck_assert_uint_eq(cs->list[6].attr.config, 0x1c2);
	ck_assert_str_eq(cs->list[8].name, "page-faults");
	/* each on the tasks that are on its CPUs only; of the atoms there is none */
	ck_assert_int_eq(counters__open(cs, tasks, 4), 0);
	for (i = 0; i < 4; i++) {
		ck_assert(!counters__has(cs, 0, i));
		ck_assert_int_eq(counters__has(cs, 1, i), i < 2);
		ck_assert(counters__has(cs, 8, i));
	}
	ck_assert_str_eq(cs->list[0].reason,
			 "no task is bound to a CPU of cpu_atom (see --cpus and --pin)");
	ck_assert_int_eq(counters__read(cs, 0, 0, &v), 0);
	ck_assert(!v.val && !v.enabled && !v.running);
	counters__free(cs);
}
END_TEST

/* ---- sums ---- */

START_TEST(sums)
{
	struct counter_value v[] = {
		{ 1000, 50, 50 },	/* counted all the time */
		{ 300, 100, 25 },	/* a quarter of it */
		{ 0, 0, 0 },		/* has not run */
		{ 0, 80, 40 },		/* nothing to be counted */
	};
	struct counter_value unknown = { 0, 80, 0 };
	double share = 1;

	ck_assert(counters__sum(v, 1, &share) == 1000);
	ck_assert(share == 1);
	ck_assert(counters__sum(v, 4, &share) == 1000 + 1200);
	ck_assert(share == 0.25);
	ck_assert(counters__sum(v + 2, 1, &share) == 0);
	ck_assert(share == 0.25);
	ck_assert(isnan(counters__sum(&unknown, 1, &share)));
	v[2] = unknown;
	ck_assert(isnan(counters__sum(v, 4, &share)));
	ck_assert(counters__sum(v, 0, &share) == 0);
}
END_TEST

/* ---- counts of a task ---- */

#define PAGES	100

static char *area;

/* A page fault for each of them. */
static void take_faults(int pages)
{
	size_t size = sysconf(_SC_PAGESIZE);
	int i;

	madvise(area, PAGES * size, MADV_DONTNEED);
	for (i = 0; i < pages; i++)
		__atomic_store_n(area + i * size, 1, __ATOMIC_RELAXED);
}

static bool permitted(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int level = -1;

	if (f && fscanf(f, "%d", &level) != 1)
		level = -1;
	if (f)
		fclose(f);
	if (geteuid() && level > 1) {
		printf("counters: not tested further: kernel.perf_event_paranoid is %d\n", level);
		return false;
	}
	return true;
}

static void map_area(void)
{
	size_t size = PAGES * sysconf(_SC_PAGESIZE);

	/* shared: the pages stay, and are only mapped again; new ones can take 100 us each */
	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(area != MAP_FAILED);
	madvise(area, size, MADV_NOHUGEPAGE);
}

/* A child that waits for a byte before each turn of work, and answers with one. */
static pid_t child;
static int to_child[2], from_child[2];

static void child_main(void)
{
	cpu_set_t all, one;
	struct rusage ru;
	char turn;
	int cpu = 0;

	sched_getaffinity(0, sizeof(all), &all);
	map_area();
	take_faults(PAGES);
	getrusage(RUSAGE_SELF, &ru);
	while (read(to_child[0], &turn, 1) == 1) {
		if (turn == 'x')
			_exit(0);
		if (turn == 'm') {	/* on the next CPU from here on */
			do
				cpu = (cpu + 1) % CPU_SETSIZE;
			while (!CPU_ISSET(cpu, &all));
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
		}
		take_faults(PAGES);
		if (write(from_child[1], &turn, 1) != 1)
			_exit(1);
	}
}

static void make_child(void)
{
	ck_assert(!pipe(to_child) && !pipe(from_child));
	child = fork();
	if (!child) {
		child_main();
		_exit(0);
	}
}

static void child_turn(char turn)
{
	ck_assert_int_eq(write(to_child[1], &turn, 1), 1);
	ck_assert_int_eq(read(from_child[0], &turn, 1), 1);
}

static u64 count_of(int counter)
{
	struct counter_value v;

	ck_assert_int_eq(counters__read(cs, counter, 0, &v), 0);
	ck_assert_uint_eq(v.enabled, v.running);
	return v.val;
}

START_TEST(one_task)
{
	struct counter_task task;
	u64 faults, switches;
	int i;

	if (!permitted())
		return;
	make_child();
	child_turn('w');
	task = (struct counter_task){ child, -1 };
	cs = counters__new("page-faults,cs,cpu-migrations,page-faults:k,page-faults:u", DEVICES,
			   why, sizeof(why));
	ck_assert_int_eq(counters__open(cs, &task, 1), 0);
	for (i = 0; i < cs->nr; i++)
		ck_assert_str_eq(cs->list[i].reason, "");
	ck_assert_uint_eq(count_of(0), 0);
	child_turn('w');
	faults = count_of(0);
	/* it may have others, of its stack or the C library, but not many */
	ck_assert_uint_ge(faults, PAGES);
	ck_assert_uint_le(faults, PAGES + 5);
	ck_assert_uint_ge(count_of(4), PAGES);
	ck_assert_uint_eq(count_of(3) + count_of(4), faults);
	for (i = 0; i < 10; i++)
		child_turn('w');
	ck_assert_uint_ge(count_of(0), faults + 10 * PAGES);
	ck_assert_uint_le(count_of(0), faults + 10 * PAGES + 5);
	/* it waited eleven times, unless it found the next byte there already */
	switches = count_of(1);
	ck_assert_uint_ge(switches, 1);
	/* on other CPUs it is counted on */
	for (i = 0; i < 10; i++)
		child_turn('m');
	ck_assert_uint_ge(count_of(0), faults + 20 * PAGES);
	ck_assert_uint_le(count_of(0), faults + 20 * PAGES + 10);
	if (sysconf(_SC_NPROCESSORS_ONLN) > 1)
		ck_assert_uint_ge(count_of(2), 1);
	/* and its counts outlive it */
	faults = count_of(0);
	ck_assert_int_eq(write(to_child[1], "x", 1), 1);
	ck_assert_int_eq(waitpid(child, NULL, 0), child);
	ck_assert_uint_ge(count_of(0), faults);
	ck_assert_uint_le(count_of(0), faults + 50);
	faults = count_of(0);
	usleep(1000);
	ck_assert_uint_eq(count_of(0), faults);
	ck_assert_uint_ge(count_of(1), switches);
	/* but it cannot be opened any more */
	ck_assert_int_eq(counters__open(cs, &task, 1), 0);
	ck_assert_str_eq(cs->list[0].reason, "perf_event_open: No such process");
	ck_assert_uint_eq(count_of(0), 0);
	counters__free(cs);
}
END_TEST

/* One of several tasks is gone: then nothing is counted of the others, either. */
START_TEST(one_of_several)
{
	struct counter_task tasks[2] = { { getpid(), -1 } };
	struct counter_value v;

	if (!permitted())
		return;
	tasks[1].tid = fork();
	if (!tasks[1].tid)
		_exit(0);
	waitpid(tasks[1].tid, NULL, 0);
	cs = counters__new("page-faults", DEVICES, why, sizeof(why));
	ck_assert_int_eq(counters__open(cs, tasks, 2), 0);
	ck_assert_str_eq(cs->list[0].reason, "perf_event_open: No such process");
	ck_assert_int_eq(counters__read(cs, 0, 0, &v), 0);
	ck_assert(!v.val && !v.enabled);
	counters__free(cs);
}
END_TEST

/* ---- windows ---- */

/*
 * Each op of a variant takes so many faults. What is done while the variant is changed takes fifty,
 * and so does what is done in the first windows, which may be found to differ and be dropped.
 */
static int faults_of[2], first_windows, nr_variants, nr_results;
static int faults_now, seen_windows;
static struct instrument *ins;

static int faults_prepare(struct bench_run *run)
{
	int i;

	for (i = 0; i < nr_variants; i++)
		bench_run__variant(run, i ? "on" : "off");
	return 0;
}

static int faults_init(struct bench_task *t __maybe_unused)
{
	take_faults(PAGES);
	return 0;
}

static int faults_setup(struct bench_run *run __maybe_unused)
{
	if (!area)
		map_area();
	seen_windows = 0;
	faults_now = first_windows ? 50 : faults_of[0];
	return 0;
}

static int faults_select(struct bench_run *run __maybe_unused, int v)
{
	__atomic_store_n(&faults_now, 50, __ATOMIC_RELAXED);
	usleep(3000);
	__atomic_store_n(&faults_now, faults_of[max(v, 0)], __ATOMIC_RELAXED);
	return 0;
}

static int faults_run(struct bench_task *t)
{
	bench_task__for_each_op(t)
		take_faults(__atomic_load_n(&faults_now, __ATOMIC_RELAXED));
	return 0;
}

static const char * const usage[] = { "faults", NULL };

static struct bench_ops faults_ops = {
	.name		= "test/faults",
	.unit		= "page faults",
	.mode		= BENCH_MODE_PROCESS,
	.options	= bench_worker_options,
	.usage		= usage,
	.prepare	= faults_prepare,
	.setup		= faults_setup,
	.init		= faults_init,
	.run		= faults_run,
};

static void on_window(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused,
		      const struct bench_window *w __maybe_unused)
{
	if (first_windows && ++seen_windows == first_windows)
		__atomic_store_n(&faults_now, faults_of[0], __ATOMIC_RELAXED);
}

/* Are the first windows dropped? It is likely, but not sure. */
static bool are_dropped(const struct bench_repeat *rep)
{
	int i;

	for (i = 0; i < first_windows; i++) {
		if (!rep->windows[i].dropped)
			return false;
	}
	return true;
}

static int on_result(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused,
		     const struct bench_result *res)
{
	const struct figure *row = figures__find(&ins->figures, "page-faults");
	const double *x;
	double y = faults_of[res->variant], off;
	int r;

	nr_results++;
	ck_assert_str_eq(ins->figures.kind, "counters");
	ck_assert_int_eq(ins->figures.nr_repeats, res->nr_repeats);
	ck_assert_msg(row && row->values, "%s", row ? row->reason : "no row");
	x = figures__column(&ins->figures, row, 0);
	for (r = 0; r < res->nr_repeats; r++) {
		const struct bench_repeat *rep = &res->repeats[r];

		/* at both ends of a window, each task is within an op, which may be one with 50 */
		off = 2 * 50.0 * rep->nr_windows * res->nr_tasks / rep->ops;
		if (!rep->ops || !are_dropped(rep))
			continue;
		ck_assert_msg(fabs(x[r] - y) <= 0.01 * y + off, "%s, repeat %d: %.4f is not %.4f",
			      run->variants[res->variant].name, r, x[r], y);
	}
	row = figures__find(&ins->figures, "task-clock");
	ck_assert(row && figures__value(&ins->figures, row, 0) > 0);
	ck_assert(strstr(ins->figures.notes, "task-clock is in ns"));
	return 0;
}

/* The windows' end comes here before the instrument reads, so that no op of more is in the next. */
static struct bench_observer first_observer = { .window = on_window };
static struct bench_observer observer = { .result = on_result };

static void run_faults(int argc, const char **argv)
{
	struct instrument_options opts = { .counter_list = "page-faults,task-clock" };

	ins = counters_instrument__new(&opts);
	bench_observer__register(&first_observer);
	bench_observer__register(&ins->observer);
	bench_observer__register(&observer);
	bench_worker__main(argc, argv, &faults_ops);
	ck_assert_str_eq(ins->unavailable, "");
	ins->free(ins);
}

START_TEST(per_op)
{
	const char *argv[] = {
		"faults", "-t", "2,1", "-r", "3", "-d", "100ms", "-w", "5ms", "--window", "10ms",
		NULL
	};

	if (!permitted())
		return;
	faults_of[0] = 3;
	run_faults(ARRAY_SIZE(argv) - 1, argv);
	ck_assert_int_eq(nr_results, 2);
}
END_TEST

START_TEST(fixed)
{
	const char *argv[] = {
		"faults", "-t", "2,1", "-r", "3", _i ? "--loops" : "--total", "3000", "--window",
		"10ms", NULL
	};

	if (!permitted())
		return;
	faults_of[0] = 3;
	run_faults(ARRAY_SIZE(argv) - 1, argv);
	ck_assert_int_eq(nr_results, 2);
}
END_TEST

START_TEST(variants)
{
	const char *argv[] = {
		"faults", "-t", "1", "-r", "3", "-d", "100ms", "-w", "5ms", "--window", "10ms",
		"--mode", "thread", NULL
	};

	if (!permitted())
		return;
	faults_of[0] = 2;
	faults_of[1] = 7;
	nr_variants = 2;
	faults_ops.select = faults_select;
	run_faults(ARRAY_SIZE(argv) - 1, argv);
	ck_assert_int_eq(nr_results, 2);
}
END_TEST

START_TEST(dropped)
{
	const char *argv[] = {
		"faults", "-t", "1", "-r", "3", "-d", "100ms", "-w", "5ms", "--window", "10ms",
		"--mode", "thread", NULL
	};

	if (!permitted())
		return;
	faults_of[0] = 2;
	first_windows = 2;
	run_faults(ARRAY_SIZE(argv) - 1, argv);
	ck_assert_int_eq(nr_results, 1);
}
END_TEST

/* Too many descriptors are said, with numbers; the soft limit is raised as far as needed. */
START_TEST(descriptors)
{
	struct instrument_options opts = { .counter_list = "page-faults,cs,task-clock" };
	struct rlimit rl = { 100, 1000 };
	struct bench_ops ops = { .fds = 2 };
	int points[] = { 1, 300, 312 };
	struct bench_run run = {
		.ops = &ops, .mode = BENCH_MODE_PROCESS, .points = points, .nr_variants = 1,
	};

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
	ins = counters_instrument__new(&opts);
	run.nr_points = 2;
	ck_assert_int_eq(ins->observer.begin(&ins->observer, &run), 0);
	ck_assert_str_eq(ins->unavailable, "");
	getrlimit(RLIMIT_NOFILE, &rl);
	ck_assert_uint_eq(rl.rlim_cur, 64 + 2 + 3 * 300);
	run.nr_points = 3;
	ck_assert_int_eq(ins->observer.begin(&ins->observer, &run), 0);
	ck_assert_str_eq(ins->unavailable,
			 "3 counters on 312 tasks need 1002 file descriptors, have 1000: raise the hard limit (ulimit -Hn), or count fewer events");
	ins->free(ins);
}
END_TEST

Suite *counters_suite(void)
{
	Suite *s = suite_create("counters");
	TCase *names_case = tcase_create("names");
	TCase *pmus_case = tcase_create("pmus");
	TCase *counts = tcase_create("counts");

	tcase_add_loop_test(names_case, names, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(names_case, wrong_names, 0, ARRAY_SIZE(bad));
	tcase_add_test(names_case, lists);
	suite_add_tcase(s, names_case);
	tcase_add_checked_fixture(pmus_case, make_root, remove_root);
	tcase_add_test(pmus_case, pmus);
	tcase_add_test(pmus_case, hybrid);
	suite_add_tcase(s, pmus_case);
	tcase_set_timeout(counts, 60);
	tcase_add_test(counts, sums);
	tcase_add_test(counts, one_task);
	tcase_add_test(counts, one_of_several);
	tcase_add_test(counts, per_op);
	tcase_add_loop_test(counts, fixed, 0, 2);
	tcase_add_test(counts, variants);
	tcase_add_test(counts, dropped);
	tcase_add_test(counts, descriptors);
	suite_add_tcase(s, counts);
	return s;
}
