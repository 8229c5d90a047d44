// SPDX-License-Identifier: GPL-2.0
/*
 * worker-plan.c: all that is checked before anything runs
 *
 * The shared options, lists of numbers, the CPUs that we may use and in which order tasks are
 * pinned to them, and the limits of the machine that the largest task count would hit.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <perf/cpumap.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "worker-internal.h"

#define MAX_CPUS	1048576
#define MAX_COUNT	9007199254740992ull	/* 2^53: a double, and so JSON, tells it apart */
#define MAX_TIME	(24ull * 3600 * NSEC_PER_SEC)
#define MAX_REPEAT	10000
#define OWN_FDS		12			/* of the parent, beside those of the tasks */

struct bench_worker_params bench_worker_params = {
	.window	= 100 * NSEC_PER_MSEC,
	.grace	= 5 * NSEC_PER_SEC,
};

static const char *mode_str, *pin_str;

static int opt_error(const struct option *opt, const char *arg, const char *why)
{
	fprintf(stderr, "  Error: --%s: \"%s\" %s\n", opt->long_name, arg, why);
	return -1;
}

/* Digits only, so that neither signs, blanks nor a locale are accepted; 0 or -errno. */
static int parse_u64(const char **s, u64 *val)
{
	const char *p = *s;

	for (*val = 0; *p >= '0' && *p <= '9'; p++) {
		if (__builtin_mul_overflow(*val, 10, val) ||
		    __builtin_add_overflow(*val, *p - '0', val))
			return -ERANGE;
	}
	if (p == *s)
		return -EINVAL;
	*s = p;
	return 0;
}

int bench_opt__count(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const char *p = arg;
	u64 val;
	int err = parse_u64(&p, &val);

	if (err == -ERANGE || (!err && !*p && val > MAX_COUNT))
		return opt_error(opt, arg, "is more than 2^53");
	if (err || *p)
		return opt_error(opt, arg, "is not a whole number");
	if (!val)
		return opt_error(opt, arg, "is less than 1");
	*(u64 *)opt->value = val;
	return 0;
}

static int opt_repeat(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const char *p = arg;
	u64 val;

	if (parse_u64(&p, &val) || *p || !val || val > MAX_REPEAT)
		return opt_error(opt, arg, "is not a whole number from 1 to 10000");
	bench_repeat = val;
	return 0;
}

int bench_opt__percent(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const char *p = arg;
	u64 whole = 0;
	int err = parse_u64(&p, &whole);
	double val = whole, scale = 1;

	if (!err && *p == '.') {
		if (!p[1])
			err = -EINVAL;
		for (p++; *p >= '0' && *p <= '9'; p++, scale *= 10)
			val = 10 * val + (*p - '0');
		val /= scale;
	}
	if (err || *p || !(val > 0) || val > 100)
		return opt_error(opt, arg, "is not a number above 0, up to 100, such as 1 or 0.5");
	*(double *)opt->value = val;
	return 0;
}

int bench_opt__time(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	static const struct { const char *name; u64 ns; } units[] = {
		{ "ns", 1 }, { "us", NSEC_PER_USEC }, { "ms", NSEC_PER_MSEC },
		{ "s", NSEC_PER_SEC }, { "m", 60 * NSEC_PER_SEC }, { "h", 3600 * NSEC_PER_SEC },
	};
	u64 val, scale, ns, frac = 0;
	const char *p = arg;
	size_t i;
	int err = parse_u64(&p, &val);
	const char *point = p;

	if (err == -EINVAL)
		return opt_error(opt, arg, "is not a time such as 500ms, 2s or 1.5m");
	if (!err && *p == '.') {
		const char *digits = ++p;

		while (*p >= '0' && *p <= '9')
			p++;
		if (p == digits)
			return opt_error(opt, arg, "is not a time such as 500ms, 2s or 1.5m");
	}
	for (i = 0; i < ARRAY_SIZE(units); i++) {
		if (!err && !strcmp(p, units[i].name))
			break;
	}
	if (!err && i == ARRAY_SIZE(units))
		return opt_error(opt, arg, *p ? "has no unit that is known: ns, us, ms, s, m or h" :
				 "has no unit: say ns, us, ms, s, m or h");
	if (!err && *point == '.') {
		for (scale = units[i].ns / 10; ++point < p && scale; scale /= 10)
			frac += (*point - '0') * scale;
	}
	if (err || __builtin_mul_overflow(val, units[i].ns, &ns) || ns > MAX_TIME - frac)
		return opt_error(opt, arg, "is more than 24h");
	*(u64 *)opt->value = ns + frac;
	return 0;
}

const struct option bench_worker_options[] = {
	OPT_GROUP("Options of every benchmark; a time has a unit: ns us ms s m h"),
	OPT_STRING('t', "tasks", &bench_worker_params.tasks, "list",
		   "task counts, 1,2,4-16:4,max; max is as many as CPUs (default 1,max)"),
	OPT_STRING(0, "mode", &mode_str, "process|thread",
		   "what a task is (default: each benchmark's own)"),
	OPT_STRING('C', "cpus", &bench_worker_params.cpus, "list",
		   "CPU numbers to run on, 0-3,8 (default: the affinity mask)"),
	OPT_STRING(0, "pin", &pin_str, "spread|compact|core|none",
		   "siblings last; siblings first; one a core; anywhere (default spread)"),
	OPT_BENCH_TIME_SET('d', "duration", &bench_worker_params.duration,
			   &bench_worker_params.duration_set,
			   "measured time a repeat (default 500ms; none with -l or --total)"),
	OPT_BENCH_TIME_SET('w', "warmup", &bench_worker_params.warmup,
			   &bench_worker_params.warmup_set,
			   "time before the first measured window (default 100ms)"),
	OPT_BENCH_TIME(0, "window", &bench_worker_params.window,
		       "length of a sampling window (default 100ms)"),
	OPT_BENCH_TIME(0, "grace", &bench_worker_params.grace,
		       "how long a task may take to stop (default 5s)"),
	OPT_BENCH_COUNT('l', "loops", &bench_worker_params.loops,
			"ops that each task is to do, in place of a duration (default none)"),
	OPT_BENCH_COUNT(0, "total", &bench_worker_params.total,
			"ops of all tasks together; elapsed time is the result (default none)"),
	{ .type = OPTION_CALLBACK, .short_name = 'r', .long_name = "repeat", .argh = "n",
	  .help = "repeats of each point, each with new tasks and files (default 10)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_repeat },
	{ .type = OPTION_CALLBACK, .long_name = "precision", .argh = "percent",
	  .value = &bench_worker_params.precision,
	  .help = "repeat, 30 times and -r at least, until +-95% is at most this (default none)",
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__percent },
	OPT_BENCH_TIME_SET(0, "max-time", &bench_worker_params.max_time,
			   &bench_worker_params.max_time_set,
			   "no repeat begins later (default 5m with --precision, else none)"),
	OPT_STRING(0, "toggle", &bench_worker_params.toggle, "on,off[,restore]",
		   "measure both states of what these shell commands change (default none)"),
	OPT_END()
};

static int list_error(char *why, int err, const char *fmt, ...) __printf(3, 4);
static int list_error(char *why, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, BENCH_TEXT_MAX, fmt, ap);
	va_end(ap);
	return err;
}

/* One number or "max" of a list; 0 or -errno with @why written. */
static int list_number(const char **p, int min, int limit, int max, u64 *val, char *why)
{
	const char *start = *p;
	int err;

	if (max >= 0 && !strncmp(*p, "max", 3)) {
		*p += 3;
		*val = max;
		return 0;
	}
	err = parse_u64(p, val);
	if (err == -EINVAL)
		return list_error(why, err, "a number%s is missing at \"%.32s\"",
				  max >= 0 ? " or \"max\"" : "", *p);
	if (err || *val > (u64)limit)
		return list_error(why, -ERANGE, "%.*s is more than %d",
				  min((int)strspn(start, "0123456789"), 32), start, limit);
	if (*val < (u64)min)
		return list_error(why, -ERANGE, "%llu is less than %d", (unsigned long long)*val,
				  min);
	return 0;
}

int bench_list__parse(const char *text, int min, int limit, int max, int **list, char *why)
{
	u64 from, to, step, i;
	const char *p = text;
	int nr = 0, err;
	char *seen;

	*list = calloc(limit - min + 1, sizeof(**list));
	seen = calloc(limit + 1, 1);
	if (!*list || !seen) {
		err = list_error(why, -ENOMEM, "out of memory");
		goto out;
	}
	do {
		const char *token = p;

		step = 1;
		err = list_number(&p, min, limit, max, &from, why);
		to = from;
		if (!err && *p == '-') {
			p++;
			err = list_number(&p, min, limit, max, &to, why);
			if (!err && *p == ':') {
				p++;
				err = list_number(&p, 1, limit, -1, &step, why);
			}
		}
		if (err)
			goto out;
		if (*p && *p != ',') {
			err = list_error(why, -EINVAL, "\"%.32s\" is not understood", token);
			goto out;
		}
		if (to < from) {
			err = list_error(why, -EINVAL, "the range \"%.32s\" runs backwards", token);
			goto out;
		}
		for (i = from; i <= to; i += step) {
			if (!seen[i])
				(*list)[nr++] = i;
			seen[i] = 1;
		}
	} while (*p++ == ',');
	err = nr;
out:
	free(seen);
	if (err < 0) {
		free(*list);
		*list = NULL;
	}
	return err;
}

/* The affinity mask, with room for as many CPUs as the kernel wants; NULL and errno on failure. */
static cpu_set_t *affinity(int *nr)
{
	cpu_set_t *set;
	int n;

	for (n = 1024; n <= MAX_CPUS; n *= 2) {
		set = CPU_ALLOC(n);
		if (!set)
			return NULL;
		if (!sched_getaffinity(0, CPU_ALLOC_SIZE(n), set)) {
			*nr = n;
			return set;
		}
		CPU_FREE(set);
		if (errno != EINVAL)
			break;
	}
	return NULL;
}

struct topology {
	int cpu, package, die, core;
	int core_rank;		/* of the core in its package */
	int thread_rank;	/* of the CPU in its core */
};

static int read_topology(int cpu, const char *name)
{
	char path[96];
	int val = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	f = fopen(path, "re");
	if (f) {
		if (fscanf(f, "%d", &val) != 1)
			val = 0;
		fclose(f);
	}
	return val;
}

static int cmp_int(int a, int b)
{
	return (a > b) - (a < b);
}

static int cmp_compact(const void *va, const void *vb)
{
	const struct topology *a = va, *b = vb;

	return cmp_int(a->package, b->package) ?: cmp_int(a->die, b->die) ?:
	       cmp_int(a->core, b->core) ?: cmp_int(a->cpu, b->cpu);
}

static int cmp_spread(const void *va, const void *vb)
{
	const struct topology *a = va, *b = vb;

	return cmp_int(a->thread_rank, b->thread_rank) ?: cmp_int(a->core_rank, b->core_rank) ?:
	       cmp_int(a->package, b->package) ?: cmp_int(a->cpu, b->cpu);
}

/* Bring @cpus into the order in which tasks are pinned; returns how many of them are used. */
static int pin_order(int *cpus, int nr, enum bench_pin pin)
{
	struct topology *t = calloc(nr, sizeof(*t));
	int i, used = 0;

	if (!t)
		return -ENOMEM;
	for (i = 0; i < nr; i++) {
		t[i].cpu = cpus[i];
		t[i].package = read_topology(cpus[i], "physical_package_id");
		t[i].die = read_topology(cpus[i], "die_id");
		t[i].core = read_topology(cpus[i], "core_id");
	}
	qsort(t, nr, sizeof(*t), cmp_compact);
	for (i = 1; i < nr; i++) {
		struct topology *prev = &t[i - 1];

		if (t[i].package != prev->package)
			continue;
		if (t[i].die == prev->die && t[i].core == prev->core) {
			t[i].core_rank = prev->core_rank;
			t[i].thread_rank = prev->thread_rank + 1;
		} else {
			t[i].core_rank = prev->core_rank + 1;
		}
	}
	if (pin != BENCH_PIN_COMPACT)
		qsort(t, nr, sizeof(*t), cmp_spread);
	for (i = 0; i < nr; i++) {
		if (pin != BENCH_PIN_CORE || !t[i].thread_rank)
			cpus[used++] = t[i].cpu;
	}
	free(t);
	return used;
}

/* Is @cpu online? Asks libperf's map once; without sysfs we believe the affinity mask. */
static bool cpu_in_map(const struct perf_cpu_map *map, int cpu)
{
	int i;

	for (i = 0; i < perf_cpu_map__nr(map); i++) {
		if (perf_cpu_map__cpu(map, i).cpu == cpu)
			return true;
	}
	return false;
}

static int check_cpu(struct bench_run *run, int cpu, const cpu_set_t *mask, int nr_mask)
{
	struct perf_cpu_map *online;
	char path[64];
	bool on;

	if (cpu < nr_mask && CPU_ISSET_S(cpu, CPU_ALLOC_SIZE(nr_mask), mask))
		return 0;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d", cpu);
	if (access(path, F_OK))
		return bench_run__usage(run, "--cpus: CPU %d is not present", cpu);
	online = perf_cpu_map__new(NULL);
	on = !online || cpu_in_map(online, cpu);
	perf_cpu_map__put(online);
	if (!on)
		return bench_run__usage(run, "--cpus: CPU %d is offline; echo 1 > %s/online", cpu,
					path);
	return bench_run__usage(run, "--cpus: CPU %d is not in our affinity mask (taskset, cpuset)",
				cpu);
}

static int plan_cpus(struct bench_run *run)
{
	char why[BENCH_TEXT_MAX];
	cpu_set_t *mask;
	int nr_mask, i, err = 0;

	mask = affinity(&nr_mask);
	if (!mask)
		return bench_run__fail(run, errno, "sched_getaffinity");
	if (bench_worker_params.cpus) {
		run->nr_cpus = bench_list__parse(bench_worker_params.cpus, 0, MAX_CPUS - 1, -1,
						 &run->cpus, why);
		if (run->nr_cpus < 0)
			err = bench_run__usage(run, "--cpus: %s", why);
		for (i = 0; !err && i < run->nr_cpus; i++)
			err = check_cpu(run, run->cpus[i], mask, nr_mask);
	} else {
		run->cpus = calloc(CPU_COUNT_S(CPU_ALLOC_SIZE(nr_mask), mask), sizeof(int));
		if (!run->cpus)
			err = bench_run__fail(run, ENOMEM, "list of CPUs");
		for (i = 0; !err && i < nr_mask; i++) {
			if (CPU_ISSET_S(i, CPU_ALLOC_SIZE(nr_mask), mask))
				run->cpus[run->nr_cpus++] = i;
		}
	}
	CPU_FREE(mask);
	if (err)
		return err;
	run->nr_cpus = pin_order(run->cpus, run->nr_cpus, bench_worker_params.pin);
	if (run->nr_cpus < 0)
		return bench_run__fail(run, ENOMEM, "list of CPUs");
	return 0;
}

bool bench_plan__has_cpus(const struct bench_run *run)
{
	int nr_mask, i = 0;
	cpu_set_t *mask = affinity(&nr_mask);

	if (!mask)
		return true;
	while (i < run->nr_cpus && CPU_ISSET_S(run->cpus[i], CPU_ALLOC_SIZE(nr_mask), mask))
		i++;
	CPU_FREE(mask);
	return i == run->nr_cpus;
}

int bench_plan__bind(const struct bench_run *run, int cpu)
{
	int i, nr = 0, err = 0;
	cpu_set_t *set;

	for (i = 0; i < run->nr_cpus; i++)
		nr = max(nr, run->cpus[i] + 1);
	set = CPU_ALLOC(nr);
	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(CPU_ALLOC_SIZE(nr), set);
	for (i = 0; i < run->nr_cpus; i++) {
		if (cpu < 0 || run->cpus[i] == cpu)
			CPU_SET_S(run->cpus[i], CPU_ALLOC_SIZE(nr), set);
	}
	if (sched_setaffinity(0, CPU_ALLOC_SIZE(nr), set))
		err = -errno;
	CPU_FREE(set);
	return err;
}

int bench_cgroup__dir(const char *controller, char *dir, size_t size)
{
	static const char * const v2[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	char line[PATH_MAX + 64], *ctrl, *path, *name;
	int err = -ENOENT;
	size_t i;
	FILE *f = fopen("/proc/self/cgroup", "re");

	while (f && err && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		ctrl = strchr(line, ':');
		path = ctrl ? strchr(ctrl + 1, ':') : NULL;
		if (!path)
			continue;
		*path++ = '\0';
		ctrl++;
		/* v2 has no list of controllers here, v1 one or several in a row */
		for (i = 0; err && !*ctrl && i < ARRAY_SIZE(v2); i++) {
			char test[PATH_MAX + 128];

			snprintf(test, sizeof(test), "%s%s/%s.stat", v2[i], path, controller);
			if (!strcmp(controller, "pids"))
				snprintf(test, sizeof(test), "%s%s/pids.max", v2[i], path);
			if (!access(test, R_OK))
				err = snprintf(dir, size, "%s%s", v2[i], path) < 0;
		}
		while (err && (name = strsep(&ctrl, ","))) {
			if (!strcmp(name, controller))
				err = snprintf(dir, size, "/sys/fs/cgroup/%s%s", name, path) < 0;
		}
	}
	if (f)
		fclose(f);
	return err;
}

/* A number from a file, or @otherwise ("max", or no such file). */
static long long read_number(const char *dir, const char *name, long long otherwise)
{
	char path[PATH_MAX + 64];
	long long val;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "re");
	if (!f)
		return otherwise;
	if (fscanf(f, "%lld", &val) != 1)
		val = otherwise;
	fclose(f);
	return val;
}

static long long nr_threads_now(void)
{
	long long nr = 0;
	FILE *f = fopen("/proc/loadavg", "re");

	if (f && fscanf(f, "%*s %*s %*s %*d/%lld", &nr) != 1)
		nr = 0;
	if (f)
		fclose(f);
	return nr;
}

/*
 * Does a limit stand in the way of @more tasks? Looks at what can be read without making them:
 * the cgroup and its parents, the user's limit (which root is not bound by), and the system's.
 */
static bool task_limit(long long more, char *why, size_t size)
{
	char dir[PATH_MAX];
	long long lim, now;
	struct rlimit rl;

	if (!bench_cgroup__dir("pids", dir, sizeof(dir))) {
		do {
			lim = read_number(dir, "pids.max", LLONG_MAX);
			now = read_number(dir, "pids.current", 0);
			if (more > lim - now) {
				snprintf(why, size,
					 "pids.max of %.160s is %lld, %lld are in use: raise it",
					 dir, lim, now);
				return true;
			}
			*strrchr(dir, '/') = '\0';
		} while (strlen(dir) > strlen("/sys/fs/cgroup"));
	}
	now = nr_threads_now();
	lim = read_number("/proc/sys/kernel", "threads-max", LLONG_MAX);
	if (more > lim - now) {
		snprintf(why, size, "kernel.threads-max is %lld: raise it with sysctl", lim);
		return true;
	}
	lim = read_number("/proc/sys/kernel", "pid_max", LLONG_MAX);
	if (more > lim - now) {
		snprintf(why, size, "kernel.pid_max is %lld: raise it with sysctl", lim);
		return true;
	}
	if (geteuid() && !getrlimit(RLIMIT_NPROC, &rl) && rl.rlim_cur != RLIM_INFINITY &&
	    more > (long long)rl.rlim_cur) {
		snprintf(why, size, "the user may have %llu processes (ulimit -u): raise it",
			 (unsigned long long)rl.rlim_cur);
		return true;
	}
	return false;
}

void bench_plan__why_no_task(int nr_tasks, int made, int err, char *why, size_t size)
{
	struct rlimit rl = { 0 };

	if (task_limit(nr_tasks - made, why, size))
		return;
	if (err == EAGAIN && !getrlimit(RLIMIT_NPROC, &rl) && rl.rlim_cur != RLIM_INFINITY)
		snprintf(why, size, "the user may have %llu processes in all (ulimit -u): raise it",
			 (unsigned long long)rl.rlim_cur);
	else if (err == EAGAIN || err == ENOMEM)
		snprintf(why, size, "look at ulimit -u, pids.max of the cgroups and free memory");
	else
		*why = '\0';
}

/* Raise the soft limit of descriptors as far as we may, and say so if that is not enough. */
static int plan_fds(struct bench_run *run, int nr_tasks)
{
	bool threads = run->mode == BENCH_MODE_THREAD;
	rlim_t need = OWN_FDS + (rlim_t)run->ops->fds * (threads ? nr_tasks : 1);
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= need)
		return 0;
	if (rl.rlim_max < need)
		return bench_run__fail(run, 0,
			"%d %s need %llu file descriptors and may have %llu: raise the hard limit (ulimit -Hn)%s",
			nr_tasks, threads ? "threads" : "tasks", (unsigned long long)need,
			(unsigned long long)rl.rlim_max, threads ? ", or take --mode process" : "");
	rl.rlim_cur = need;
	if (setrlimit(RLIMIT_NOFILE, &rl))
		return bench_run__fail(run, errno, "raising RLIMIT_NOFILE to %llu",
				       (unsigned long long)need);
	return 0;
}

static int plan_tasks(struct bench_run *run)
{
	const char *list = bench_worker_params.tasks ?: "1,max";
	char why[BENCH_TEXT_MAX];
	int i, most = 0;

	run->nr_points = bench_list__parse(list, 1, BENCH_MAX_TASKS, run->nr_cpus, &run->points,
					   why);
	if (run->nr_points < 0)
		return bench_run__usage(run, "--tasks: %s", why);
	for (i = 0; i < run->nr_points; i++)
		most = max(most, run->points[i]);
	if (task_limit(most, why, sizeof(why)))
		return bench_run__fail(run, 0, "%d tasks are too many: %s", most, why);
	return plan_fds(run, most);
}

static int plan_times(struct bench_run *run)
{
	struct bench_worker_params *p = &bench_worker_params;
	bool fixed = p->loops || p->total;

	if (p->loops && p->total)
		return bench_run__usage(run, "--loops and --total cannot be used together");
	if (fixed && p->warmup_set)
		return bench_run__usage(run, "--warmup: with --loops and --total all work counts");
	if (p->duration_set && !p->duration)
		return bench_run__usage(run, "--duration must be more than 0");
	if (!p->duration && !fixed)
		p->duration = 500 * NSEC_PER_MSEC;
	if (!p->warmup_set && !fixed)
		p->warmup = 100 * NSEC_PER_MSEC;
	if (p->window < NSEC_PER_MSEC)
		return bench_run__usage(run, "--window must be at least 1ms");
	if (p->grace < NSEC_PER_MSEC)
		return bench_run__usage(run, "--grace must be at least 1ms");
	if (p->max_time_set && !p->max_time)
		return bench_run__usage(run, "--max-time must be more than 0");
	if (p->precision && !p->max_time_set)
		p->max_time = 300 * NSEC_PER_SEC;
	run->nr_repeats = bench_repeat;
	if (p->precision)
		run->nr_repeats = max(run->nr_repeats, BENCH_PRECISE_REPEATS);
	return 0;
}

int bench_plan__memory(struct bench_run *run)
{
	const struct bench_worker_params *p = &bench_worker_params;
	/* twice, since dropped windows are made up for; rounded up, and to an even number */
	u64 windows = 2 * (p->duration / p->window + 2) * run->nr_variants, round = 0;
	double mb;	/* which does not overflow */
	int i;

	for (i = 0; i < run->nr_points; i++)
		round += sizeof(struct bench_window) + run->points[i] * sizeof(u64);
	mb = (double)windows * round * run->nr_repeats / 1000000;
	if (mb > BENCH_MAX_RAW_MB)
		return bench_run__usage(run,
			"the raw samples would take %.0f MB, more than %llu: take a longer --window, or fewer points or repeats",
			mb, BENCH_MAX_RAW_MB);
	run->max_repeats = run->nr_repeats;
	if (p->precision)
		run->max_repeats = fmin(MAX_REPEAT, run->nr_repeats * (BENCH_MAX_RAW_MB / mb));
	return 0;
}

int bench_plan__make(struct bench_run *run)
{
	struct bench_worker_params *p = &bench_worker_params;
	int err;

	if (!mode_str)
		run->mode = run->ops->mode ?: BENCH_MODE_PROCESS;
	else if (!strcmp(mode_str, "process"))
		run->mode = BENCH_MODE_PROCESS;
	else if (!strcmp(mode_str, "thread"))
		run->mode = BENCH_MODE_THREAD;
	else
		return bench_run__usage(run, "--mode: \"%s\" is neither process nor thread",
					mode_str);

	for (p->pin = BENCH_PIN_SPREAD; pin_str && p->pin <= BENCH_PIN_NONE; p->pin++) {
		if (!strcmp(pin_str, bench_pin__name(p->pin)))
			break;
	}
	if (p->pin > BENCH_PIN_NONE)
		return bench_run__usage(run, "--pin: \"%s\" is not spread, compact, core or none",
					pin_str);
	err = plan_cpus(run);
	if (!err)
		err = plan_tasks(run);
	if (!err)
		err = plan_times(run);
	return err;
}

void bench_plan__free(struct bench_run *run)
{
	free(run->points);
	free(run->cpus);
}

const char *bench_mode__name(enum bench_mode mode)
{
	return mode == BENCH_MODE_THREAD ? "thread" : "process";
}

const char *bench_stop__name(enum bench_stop stop)
{
	static const char * const names[] = {
		[BENCH_STOP_REPEATS]	= "repeats",
		[BENCH_STOP_PRECISION]	= "precision",
		[BENCH_STOP_MAX_TIME]	= "max-time",
	};

	return names[stop];
}

const char *bench_pin__name(enum bench_pin pin)
{
	static const char * const names[] = { "spread", "compact", "core", "none" };

	return names[pin];
}
