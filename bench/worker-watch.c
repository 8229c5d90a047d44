// SPDX-License-Identifier: GPL-2.0
/*
 * worker-watch.c: what may have spoilt a repeat from outside
 *
 * A cgroup's CPU quota that stopped the tasks (nr_throttled of cpu.stat, v1 and v2), and CPU time
 * that the hypervisor gave to other guests (steal of /proc/stat).
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/zalloc.h>

#include "worker.h"

struct bench_watch {
	char	dir[PATH_MAX];		/* of our cgroup, "" if there is none */
	u64	throttled;
	u64	steal, busy;		/* clock ticks */
};

/* How often our cgroup, or one above it, ran out of its quota. */
static u64 read_throttled(const struct bench_watch *w)
{
	char dir[PATH_MAX], path[PATH_MAX + 16], name[64];
	unsigned long long val, sum = 0;
	FILE *f;

	snprintf(dir, sizeof(dir), "%s", w->dir);
	while (strlen(dir) > strlen("/sys/fs/cgroup")) {
		snprintf(path, sizeof(path), "%s/cpu.stat", dir);
		f = fopen(path, "re");
		while (f && fscanf(f, "%63s %llu", name, &val) == 2) {
			if (!strcmp(name, "nr_throttled"))
				sum += val;
		}
		if (f)
			fclose(f);
		*strrchr(dir, '/') = '\0';
	}
	return sum;
}

static void read_cpu_time(u64 *steal, u64 *busy)
{
	unsigned long long t[8] = { 0 };	/* user nice system idle iowait irq softirq steal */
	FILE *f = fopen("/proc/stat", "re");

	if (f && fscanf(f, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &t[0], &t[1], &t[2],
			&t[3], &t[4], &t[5], &t[6], &t[7]) != 8)
		t[7] = 0;
	if (f)
		fclose(f);
	*steal = t[7];
	*busy = t[0] + t[1] + t[2] + t[5] + t[6] + t[7];
}

struct bench_watch *bench_watch__new(void)
{
	struct bench_watch *w = zalloc(sizeof(*w));

	if (w && bench_cgroup__dir("cpu", w->dir, sizeof(w->dir)))
		*w->dir = '\0';
	return w;
}

void bench_watch__begin(struct bench_watch *w)
{
	if (!w)
		return;
	w->throttled = read_throttled(w);
	read_cpu_time(&w->steal, &w->busy);
}

unsigned int bench_watch__end(struct bench_watch *w)
{
	unsigned int flags = 0;
	u64 steal, busy;

	if (!w)
		return 0;
	if (read_throttled(w) != w->throttled)
		flags |= BENCH_FLAG_THROTTLED;
	read_cpu_time(&steal, &busy);
	/* one tick is no evidence */
	if (steal > w->steal + 1 && (steal - w->steal) * 100 > busy - w->busy)
		flags |= BENCH_FLAG_STEAL;
	return flags;
}

void bench_watch__free(struct bench_watch *w)
{
	free(w);
}
