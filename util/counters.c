// SPDX-License-Identifier: GPL-2.0
/*
 * Counters of the kernel's perf events, opened on tasks with libperf
 *
 * The names are those of "perf list"; what they mean to the kernel is in its perf_event.h.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>
#include <internal/evsel.h>
#include <internal/xyarray.h>
#include <perf/evsel.h>
#include <perf/threadmap.h>

#include "counters.h"
#include "nearest.h"
#include "tracepoint.h"

static const char * const default_list[] = {
	"cycles", "cycles:u", "cycles:k", "instructions", "instructions:u", "instructions:k",
	"branches", "branch-misses", "cache-references", "cache-misses",
	"L1-dcache-load-misses", "dTLB-load-misses", "iTLB-load-misses",
	"task-clock", "context-switches", "cpu-migrations", "page-faults",
};

static const struct event {
	const char	*name;
	u32		type;
	u64		config;
	bool		split;	/* may be split into user space and kernel */
} events[] = {
	{ "cycles",			PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "cpu-cycles",			PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, true },
	{ "instructions",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, true },
	{ "branches",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true },
	{ "branch-instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_INSTRUCTIONS, true },
	{ "branch-misses",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES, true },
	{ "cache-references",	PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_REFERENCES, true },
	{ "cache-misses",		PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES, true },
	{ "bus-cycles",			PERF_TYPE_HARDWARE, PERF_COUNT_HW_BUS_CYCLES, true },
	{ "ref-cycles",			PERF_TYPE_HARDWARE, PERF_COUNT_HW_REF_CPU_CYCLES, true },
	{ "stalled-cycles-frontend",
	  PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, true },
	{ "idle-cycles-frontend",
	  PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_FRONTEND, true },
	{ "stalled-cycles-backend",
	  PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, true },
	{ "idle-cycles-backend",
	  PERF_TYPE_HARDWARE, PERF_COUNT_HW_STALLED_CYCLES_BACKEND, true },
	/* of the software events, a fault only is told from which side it came */
	{ "task-clock",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, false },
	{ "cpu-clock",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, false },
	{ "context-switches",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cs",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CONTEXT_SWITCHES, false },
	{ "cpu-migrations",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
	{ "migrations",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_MIGRATIONS, false },
	{ "cgroup-switches",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CGROUP_SWITCHES, false },
	{ "page-faults",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true },
	{ "faults",			PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, true },
	{ "minor-faults",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MIN, true },
	{ "major-faults",		PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS_MAJ, true },
	{ "alignment-faults",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_ALIGNMENT_FAULTS, true },
	{ "emulation-faults",	PERF_TYPE_SOFTWARE, PERF_COUNT_SW_EMULATION_FAULTS, true },
};

enum { LOAD = 1, STORE = 2, PREFETCH = 4 };

static const struct {
	const char	*name;
	u32		id;
	int		ops;	/* those that there may be */
} caches[] = {
	{ "L1-dcache",	PERF_COUNT_HW_CACHE_L1D,	LOAD | STORE | PREFETCH },
	{ "L1-icache",	PERF_COUNT_HW_CACHE_L1I,	LOAD | PREFETCH },
	{ "LLC",	PERF_COUNT_HW_CACHE_LL,		LOAD | STORE | PREFETCH },
	{ "dTLB",	PERF_COUNT_HW_CACHE_DTLB,	LOAD | STORE | PREFETCH },
	{ "iTLB",	PERF_COUNT_HW_CACHE_ITLB,	LOAD },
	{ "branch",	PERF_COUNT_HW_CACHE_BPU,	LOAD },
	{ "node",	PERF_COUNT_HW_CACHE_NODE,	LOAD | STORE | PREFETCH },
};

static const struct {
	const char	*all, *misses;
	u32		id;
	int		bit;
} cache_ops[] = {
	{ "loads",	"load-misses",		PERF_COUNT_HW_CACHE_OP_READ,	 LOAD },
	{ "stores",	"store-misses",		PERF_COUNT_HW_CACHE_OP_WRITE,	 STORE },
	{ "prefetches",	"prefetch-misses",	PERF_COUNT_HW_CACHE_OP_PREFETCH, PREFETCH },
};

#define NR_CACHE_EVENTS	(2 * ARRAY_SIZE(cache_ops) * ARRAY_SIZE(caches))

/* The n-th cache event; false if there is none of this number. @name has 64 bytes. */
static bool cache_event(unsigned int n, char *name, u64 *config)
{
	unsigned int miss = n % 2, op = n / 2 % ARRAY_SIZE(cache_ops);
	unsigned int cache = n / 2 / ARRAY_SIZE(cache_ops);

	if (!(caches[cache].ops & cache_ops[op].bit))
		return false;
	snprintf(name, 64, "%s-%s", caches[cache].name,
		 miss ? cache_ops[op].misses : cache_ops[op].all);
	*config = caches[cache].id | (u64)cache_ops[op].id << 8 |
		  (u64)(miss ? PERF_COUNT_HW_CACHE_RESULT_MISS :
			PERF_COUNT_HW_CACHE_RESULT_ACCESS) << 16;
	return true;
}

/* "r" and 1 to 16 hex digits. */
static bool raw_event(const char *name, u64 *config)
{
	size_t digits = strlen(name + 1);

	if (*name != 'r' || !digits || digits > 16 ||
	    strspn(name + 1, "0123456789abcdefABCDEF") != digits)
		return false;
	*config = strtoull(name + 1, NULL, 16);
	return true;
}

/* An event of that name, without modifiers; what is no tracepoint. */
static bool find_event(const char *name, struct event *ev)
{
	char cache[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++) {
		if (!strcmp(name, events[i].name)) {
			*ev = events[i];
			return true;
		}
	}
	*ev = (struct event){ .name = name, .split = true, .type = PERF_TYPE_HW_CACHE };
	for (i = 0; i < NR_CACHE_EVENTS; i++) {
		if (cache_event(i, cache, &ev->config) && !strcmp(name, cache))
			return true;
	}
	ev->type = PERF_TYPE_RAW;
	return raw_event(name, &ev->config);
}

static void no_such_event(const char *name, char *why, size_t size)
{
	static char names[NR_CACHE_EVENTS][64];
	struct nearest near = { .word = name };
	u64 config;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(events); i++)
		nearest__try(&near, NULL, events[i].name);
	for (i = 0; i < NR_CACHE_EVENTS; i++) {
		if (cache_event(i, names[i], &config))
			nearest__try(&near, NULL, names[i]);
	}
	if (near.name)
		snprintf(why, size, "there is no event \"%s\"; did you mean \"%s\"?", name,
			 near.name);
	else
		snprintf(why, size,
			 "there is no event \"%s\": give names as in \"perf list\", rNNN with hex digits for a raw one, or system:event for a tracepoint",
			 name);
}

static int parse_modifiers(struct counter *c, const struct event *ev, const char *text, char *why,
			   size_t size)
{
	bool user = strchr(text, 'u'), kernel = strchr(text, 'k');
	size_t len = strlen(text);

	if (!len || strspn(text, "uk") != len || len != (size_t)user + kernel) {
		snprintf(why, size,
			 "\"%s:%s\": after the colon there may be u (user space) or k (kernel)",
			 ev->name, text);
		return -EINVAL;
	}
	if (!ev->split) {
		snprintf(why, size,
			 "\"%s:%s\": the kernel does not count this event apart for user space: leave \":%s\" out",
			 ev->name, text, text);
		return -EINVAL;
	}
	strcpy(c->modifier, text);
	c->attr.exclude_user = !user;
	c->attr.exclude_kernel = !kernel;
	c->attr.exclude_hv = !(user && kernel);
	return 0;
}

/* "system:event". Without tracefs it may be there or not: then it has a reason, not a number. */
static int parse_tracepoint(struct counter *c, const char *name, char *why, size_t size)
{
	char system[FIGURES_NAME_MAX], *event;
	u64 id;
	int err;

	strcpy(system, name);
	event = strchr(system, ':');
	*event++ = '\0';
	if (strchr(event, ':')) {
		snprintf(why, size, "\"%s\": a tracepoint has no modifiers", name);
		return -EINVAL;
	}
	c->class = COUNTER_TRACEPOINT;
	c->attr.type = PERF_TYPE_TRACEPOINT;
	err = tracepoint__id(system, event, &id, why, size);
	if (err == -ENOENT || err == -EINVAL)
		return -EINVAL;
	if (err)
		snprintf(c->no_id, sizeof(c->no_id), "%s", why);
	else
		c->attr.config = id;
	return 0;
}

/* One name of the list. 0 or -EINVAL with @why. */
static int parse(struct counter *c, const char *name, char *why, size_t size)
{
	char text[FIGURES_NAME_MAX], *modifiers;
	struct event ev;
	int err = 0;

	if (!*name) {
		snprintf(why, size, "a name is empty");
		return -EINVAL;
	}
	if (strlen(name) >= sizeof(text)) {
		snprintf(why, size, "the name \"%.40s...\" is too long", name);
		return -EINVAL;
	}
	*c = (struct counter){
		.pmu = -1, .partner = -1,
		.attr = {
			.size		= sizeof(c->attr),
			.read_format	= PERF_FORMAT_TOTAL_TIME_ENABLED |
					  PERF_FORMAT_TOTAL_TIME_RUNNING,
		},
	};
	strcpy(c->name, name);
	strcpy(text, name);
	modifiers = strchr(text, ':');
	if (modifiers)
		*modifiers = '\0';
	if (find_event(text, &ev)) {
		c->attr.type = ev.type;
		c->attr.config = ev.config;
		c->class = ev.type == PERF_TYPE_SOFTWARE ? COUNTER_SOFTWARE : COUNTER_HARDWARE;
		c->ns = c->class == COUNTER_SOFTWARE && (ev.config == PERF_COUNT_SW_TASK_CLOCK ||
							 ev.config == PERF_COUNT_SW_CPU_CLOCK);
		if (modifiers)
			err = parse_modifiers(c, &ev, modifiers + 1, why, size);
	} else if (modifiers) {
		err = parse_tracepoint(c, name, why, size);
	} else {
		no_such_event(text, why, size);
		err = -EINVAL;
	}
	return err;
}

/* Append @c, unless one of that name is there. */
static int append(struct counters *cs, const struct counter *c, char *why, size_t size)
{
	struct counter *list;
	int i;

	for (i = 0; i < cs->nr; i++) {
		if (!strcmp(cs->list[i].name, c->name))
			return 0;
	}
	if (cs->nr == COUNTERS_MAX * max(cs->nr_pmus, 1)) {
		snprintf(why, size, "more than %d events", COUNTERS_MAX);
		return -EINVAL;
	}
	list = reallocarray(cs->list, cs->nr + 1, sizeof(*list));
	if (!list) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	cs->list = list;
	list[cs->nr++] = *c;
	return 0;
}

/* The same event of each of several PMUs. */
static int append_for_pmus(struct counters *cs, const struct counter *c, char *why, size_t size)
{
	int i, err = 0;

	if (cs->nr_pmus < 2 || c->class != COUNTER_HARDWARE)
		return append(cs, c, why, size);
	for (i = 0; i < cs->nr_pmus && !err; i++) {
		struct counter one = *c;

		one.pmu = i;
		if (snprintf(one.name, sizeof(one.name), "%s/%s", cs->pmus[i].name, c->name) >=
		    (int)sizeof(one.name)) {
			snprintf(why, size, "the name \"%.40s...\" is too long", c->name);
			return -EINVAL;
		}
		if (one.attr.type == PERF_TYPE_RAW)
			one.attr.type = cs->pmus[i].type;
		else
			one.attr.config |= (u64)cs->pmus[i].type << PERF_PMU_TYPE_SHIFT;
		err = append(cs, &one, why, size);
	}
	return err;
}

/* Instructions are counted in a group with the cycles of the same mode and PMU. */
static void find_partners(struct counters *cs)
{
	int i, k;

	for (i = 0; i < cs->nr; i++) {
		struct counter *c = &cs->list[i];
		u64 id = c->attr.config & 0xffffffff;

		if (c->attr.type != PERF_TYPE_HARDWARE ||
		    (id != PERF_COUNT_HW_INSTRUCTIONS && id != PERF_COUNT_HW_CPU_CYCLES))
			continue;
		for (k = 0; k < i; k++) {
			const struct counter *o = &cs->list[k];

			if (o->attr.type == c->attr.type && o->pmu == c->pmu && o->partner < 0 &&
			    !strcmp(o->modifier, c->modifier) &&
			    (o->attr.config & 0xffffffff) == (u64)(PERF_COUNT_HW_CPU_CYCLES +
							PERF_COUNT_HW_INSTRUCTIONS) - id)
				c->partner = k;
		}
	}
}

static int add_name(struct counters *cs, const char *name, char *why, size_t size)
{
	struct counter c;

	return parse(&c, name, why, size) ?: append_for_pmus(cs, &c, why, size);
}

/* @list may be NULL for the default. */
static int parse_list(struct counters *cs, const char *list, char *why, size_t size)
{
	char *copy, *rest, *name;
	int err = 0;
	size_t i;

	for (i = 0; !list && !err && i < ARRAY_SIZE(default_list); i++)
		err = add_name(cs, default_list[i], why, size);
	if (!list)
		return err;
	copy = strdup(list);
	rest = copy;
	if (!copy) {
		snprintf(why, size, "out of memory");
		return -ENOMEM;
	}
	while (!err && (name = strsep(&rest, ",")))
		err = add_name(cs, name, why, size);
	free(copy);
	return err;
}

int counters__check(const char *list, char *why, size_t size)
{
	struct counters cs = { 0 };
	int err = parse_list(&cs, list, why, size);

	free(cs.list);
	return err;
}

/* ---- PMUs ---- */

/* The first line of a file in a folder. 0 or -errno. */
static int read_line(const char *dir, const char *name, const char *file, char *line, int size)
{
	char path[PATH_MAX];
	FILE *f;
	int err = 0;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, name, file);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (!fgets(line, size, f))
		err = -EIO;
	fclose(f);
	line[err ? 0 : strcspn(line, "\n")] = '\0';
	return err;
}

static int may_be_pmu(const struct dirent *entry)
{
	return *entry->d_name != '.' && strlen(entry->d_name) < COUNTER_PMU_NAME_MAX;
}

int counters__pmus(const char *devices, struct counter_pmu *pmus)
{
	struct dirent **entries;
	char type[32];
	int i, nr = 0, nr_entries = scandir(devices, &entries, may_be_pmu, alphasort);

	for (i = 0; i < nr_entries; i++) {
		const char *name = entries[i]->d_name;
		struct counter_pmu *p = &pmus[nr];

		if (nr < COUNTERS_MAX_PMUS &&
		    !read_line(devices, name, "type", type, sizeof(type))) {
			*p = (struct counter_pmu){ .type = strtoul(type, NULL, 10) };
			strcpy(p->name, name);
			/* "cpu" is the one of all CPUs; else it says of which it is */
			if (!read_line(devices, name, "cpus", p->cpus, sizeof(p->cpus)) ||
			    !strcmp(name, "cpu"))
				nr++;
		}
		free(entries[i]);
	}
	if (nr_entries >= 0)
		free(entries);
	return nr;
}

/* Is @cpu in a list as "0-7,16"? */
static bool list_has(const char *list, int cpu)
{
	char *end;
	long from, to;

	while (isdigit((unsigned char)*list)) {
		from = strtol(list, &end, 10);
		to = *end == '-' ? strtol(end + 1, &end, 10) : from;
		if (cpu >= from && cpu <= to)
			return true;
		if (*end != ',')
			return false;
		list = end + 1;
	}
	return false;
}

/* ---- opening and reading ---- */

/* The tasks that a counter is opened on. */
struct counter_set {
	int			nr;
	int			*thread;	/* [of all tasks]: its place in @map, or -1 */
	struct perf_thread_map	*map;
};

static struct counter_set *set_of(const struct counters *cs, int counter)
{
	return cs->sets ? &cs->sets[cs->list[counter].pmu + 1] : NULL;
}

static void free_sets(struct counters *cs)
{
	int i;

	for (i = 0; cs->sets && i <= cs->nr_pmus; i++) {
		free(cs->sets[i].thread);
		perf_thread_map__put(cs->sets[i].map);
	}
	zfree(&cs->sets);
}

struct counters *counters__new(const char *list, const char *devices, char *why, size_t size)
{
	struct counters *cs = zalloc(sizeof(*cs));

	if (!cs) {
		snprintf(why, size, "out of memory");
		return NULL;
	}
	cs->nr_pmus = counters__pmus(devices, cs->pmus);
	if (parse_list(cs, list, why, size)) {
		counters__free(cs);
		return NULL;
	}
	find_partners(cs);
	return cs;
}

void counters__free(struct counters *cs)
{
	if (!cs)
		return;
	counters__close(cs);
	free_sets(cs);
	free(cs->list);
	free(cs);
}

static int make_sets(struct counters *cs, const struct counter_task *tasks, int nr)
{
	pid_t *tids = calloc(max(nr, 1), sizeof(*tids));
	int s, i;

	cs->sets = calloc(cs->nr_pmus + 1, sizeof(*cs->sets));
	for (s = 0; tids && cs->sets && s <= cs->nr_pmus; s++) {
		struct counter_set *set = &cs->sets[s];

		set->thread = calloc(max(nr, 1), sizeof(*set->thread));
		if (!set->thread)
			break;
		for (i = 0; i < nr; i++) {
			set->thread[i] = -1;
			if (s && !list_has(cs->pmus[s - 1].cpus, tasks[i].cpu))
				continue;
			set->thread[i] = set->nr;
			tids[set->nr++] = tasks[i].tid;
		}
		set->map = perf_thread_map__new_array(max(set->nr, 1), set->nr ? tids : NULL);
		if (!set->map)
			break;
	}
	free(tids);
	return cs->sets && s > cs->nr_pmus ? 0 : -ENOMEM;
}

static int paranoid(void)
{
	char line[32];

	return read_line("/proc/sys", "kernel", "perf_event_paranoid", line, sizeof(line)) ? -2 :
	       (int)strtol(line, NULL, 10);
}

/* Why a counter could not be opened, with @err (positive), and what is to be done about it. */
static void why_not(const struct counters *cs, struct counter *c, int err)
{
	int level = paranoid(), least = c->attr.exclude_kernel ? 2 : 1;
	bool hardware = c->class == COUNTER_HARDWARE;
	size_t size = sizeof(c->reason);
	struct rlimit rl = { 0 };

	switch (err) {
	case ENOENT:
		if (hardware && !cs->nr_pmus)
			snprintf(c->reason, size, "no PMU: this machine has no hardware counters");
		else
			snprintf(c->reason, size, "%s has no such event",
				 hardware ? "this CPU" : "this kernel");
		break;
	case ENODEV:
	case EOPNOTSUPP:
		snprintf(c->reason, size, "not supported by this %s (%s)",
			 hardware ? "CPU or hypervisor" : "kernel", strerror(err));
		break;
	case EACCES:
	case EPERM:
		if (level > least)
			snprintf(c->reason, size,
				 "not permitted: kernel.perf_event_paranoid is %d; sysctl kernel.perf_event_paranoid=%d permits it, as does CAP_PERFMON",
				 level, least);
		else
			snprintf(c->reason, size,
				 "not permitted (%s), though kernel.perf_event_paranoid is %d: by a container's seccomp or a security module",
				 strerror(err), level);
		break;
	case EMFILE:
		getrlimit(RLIMIT_NOFILE, &rl);
		snprintf(c->reason, size, "too many open files: ulimit -n is %llu; raise it",
			 (unsigned long long)rl.rlim_cur);
		break;
	case ENOSYS:
		snprintf(c->reason, size,
			 "this kernel has no perf_event_open (CONFIG_PERF_EVENTS)");
		break;
	default:
		snprintf(c->reason, size, "perf_event_open: %s", strerror(err));
	}
}

static int *descriptor(const struct counter *c, int thread)
{
	return xyarray__entry(c->evsel->fd, 0, thread);
}

/* With @leader, in a group with that one. 0 or -errno. */
static int open_evsel(struct counter *c, struct perf_evsel *leader, struct perf_thread_map *map)
{
	int err;

	c->evsel = perf_evsel__new(&c->attr);
	if (!c->evsel)
		return -ENOMEM;
	if (leader)
		c->evsel->leader = leader;
	err = perf_evsel__open(c->evsel, NULL, map);
	if (err) {
		perf_evsel__delete(c->evsel);
		c->evsel = NULL;
	}
	return err;
}

static void open_counter(struct counters *cs, int n)
{
	struct counter *c = &cs->list[n];
	struct counter_set *set = set_of(cs, n);
	int i, err = -ENOENT;

	*c->reason = '\0';
	if (*c->no_id) {
		strcpy(c->reason, c->no_id);
		return;
	}
	if (!set->nr) {
		snprintf(c->reason, sizeof(c->reason),
			 "no task is bound to a CPU of %s (see --cpus and --pin)",
			 cs->pmus[c->pmu].name);
		return;
	}
	/* a PMU may have room for each of a group, but not for both at once */
	if (c->partner >= 0 && cs->list[c->partner].evsel)
		err = open_evsel(c, cs->list[c->partner].evsel, set->map);
	if (!c->evsel)
		err = open_evsel(c, NULL, set->map);
	if (err) {
		why_not(cs, c, -err);
		return;
	}
	for (i = 0; i < set->nr; i++)	/* which libperf does not do: for what --toggle runs */
		fcntl(*descriptor(c, i), F_SETFD, FD_CLOEXEC);
}

int counters__open(struct counters *cs, const struct counter_task *tasks, int nr)
{
	int i, err;

	counters__close(cs);
	free_sets(cs);
	err = make_sets(cs, tasks, nr);
	if (err) {
		free_sets(cs);
		return err;
	}
	for (i = 0; i < cs->nr; i++)
		open_counter(cs, i);
	return 0;
}

void counters__close(struct counters *cs)
{
	int i;

	for (i = cs->nr - 1; i >= 0; i--) {
		if (!cs->list[i].evsel)
			continue;
		perf_evsel__close(cs->list[i].evsel);
		perf_evsel__delete(cs->list[i].evsel);
		cs->list[i].evsel = NULL;
	}
}

bool counters__has(const struct counters *cs, int counter, int task)
{
	const struct counter_set *set = set_of(cs, counter);

	return set && set->thread[task] >= 0;
}

int counters__read(const struct counters *cs, int counter, int task, struct counter_value *v)
{
	const struct counter *c = &cs->list[counter];
	struct perf_counts_values counts = { 0 };
	int err;

	*v = (struct counter_value){ 0 };
	if (!c->evsel || !counters__has(cs, counter, task))
		return 0;
	err = perf_evsel__read(c->evsel, 0, set_of(cs, counter)->thread[task], &counts);
	if (err)
		return err;
	*v = (struct counter_value){ counts.val, counts.ena, counts.run };
	return 0;
}

double counters__sum(const struct counter_value *v, int nr, double *share)
{
	double sum = 0;
	int i;

	for (i = 0; i < nr; i++) {
		if (!v[i].enabled && !v[i].running && !v[i].val)
			continue;
		if (!v[i].running)
			return NAN;
		if (v[i].running < v[i].enabled) {
			double part = (double)v[i].running / v[i].enabled;

			sum += v[i].val / part;
			*share = fmin(*share, part);
		} else {
			sum += v[i].val;
		}
	}
	return sum;
}
