// SPDX-License-Identifier: GPL-2.0
/*
 * The profile instrument: in which functions of the kernel the tasks spend their time
 *
 * Each task's CPU time is sampled (util/sampler.c) by the hardware's cycles, or where there is no
 * PMU by the timer cpu-clock. A sample is the function that was running; its callers are not looked
 * at. util/profile.c makes shares of the samples in the windows that count.
 *
 * The thread of the sampler fills the profile between start and stop; all else happens when that
 * thread is not there.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/zalloc.h>

#include "instrument/instrument.h"
#include "util/ksyms.h"
#include "util/profile.h"
#include "util/sampler.h"

/* Not a round number: nothing that happens 1000 times a second is to be hit each time, or never. */
#define SAMPLE_HZ	997

/* What was lost in the repeats of a point. */
struct point_loss {
	u64	lost, throttled, new_cpus;
};

struct profile_instrument {
	struct instrument	ins;
	u64			buffer_kb;
	struct ksyms		*syms;
	struct sampler		*sampler;
	struct profile		*profile;
	bool			cycles;		/* else cpu-clock */
	unsigned int		hz;
	/* of the repeat */
	int			nr_tids;
	u32			*tids;		/* sorted */
	u64			throttled;
	int			nr_windows, room_windows;
	u64			*starts, *ends;
	/* of the run */
	int			nr_points;
	struct point_loss	*losses;
	char			failed[2 * BENCH_TEXT_MAX];
};

static struct profile_instrument *to_profile(struct bench_observer *o)
{
	return container_of(o, struct profile_instrument, ins.observer);
}

/* ---- in the thread of the sampler ---- */

static bool is_ours(const struct profile_instrument *p, u32 tid)
{
	int low = 0, high = p->nr_tids, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (p->tids[mid] < tid)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->nr_tids && p->tids[low] == tid;
}

static void on_record(void *data, const struct perf_record *rec)
{
	struct profile_instrument *p = data;

	if (rec->type == PERF_RECORD_THROTTLE)
		p->throttled++;
	if (rec->type != PERF_RECORD_SAMPLE || !is_ours(p, rec->tid))
		return;
	switch (rec->misc & PERF_RECORD_MISC_CPUMODE_MASK) {
	case PERF_RECORD_MISC_KERNEL:
		profile__sample(p->profile, rec->time, rec->ip);
		break;
	case PERF_RECORD_MISC_USER:
		profile__sample(p->profile, rec->time, PROFILE_USER);
		break;
	default:
		break;
	}
}

/* ---- the hooks ---- */

/* As often as we want, or as the kernel allows (kernel.perf_event_max_sample_rate). */
static unsigned int sample_rate(void)
{
	unsigned int most = SAMPLE_HZ;
	FILE *f = fopen("/proc/sys/kernel/perf_event_max_sample_rate", "re");

	if (f && fscanf(f, "%u", &most) != 1)
		most = SAMPLE_HZ;
	if (f)
		fclose(f);
	return max(1u, min(most, (unsigned int)SAMPLE_HZ));
}

static int open_event(struct profile_instrument *p, bool cycles)
{
	struct perf_event_attr attr = {
		.type = cycles ? PERF_TYPE_HARDWARE : PERF_TYPE_SOFTWARE,
		.config = cycles ? PERF_COUNT_HW_CPU_CYCLES : PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = p->hz,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
		.exclude_hv = 1,
		.exclude_guest = 1,
	};
	const char *name = cycles ? "cycles" : "cpu-clock";
	struct sampler_options opts = {
		.attrs = &attr, .names = &name, .nr = 1, .buffer_kb = p->buffer_kb,
		.record = on_record, .data = p,
	};

	p->cycles = cycles;
	return sampler__new(&opts, &p->sampler, p->ins.unavailable, sizeof(p->ins.unavailable));
}

/* What concerns the user's rights or limits is the same for both events. */
static void open_sampler(struct profile_instrument *p)
{
	int err;

	p->hz = sample_rate();
	err = open_event(p, true);
	if (err && err != -EACCES && err != -EPERM && err != -ENOMEM && err != -EMFILE)
		err = open_event(p, false);
	if (!err)
		*p->ins.unavailable = '\0';
}

/* Forget an earlier benchmark. */
static void reset(struct profile_instrument *p)
{
	sampler__free(p->sampler);
	p->sampler = NULL;
	profile__free(p->profile);
	p->profile = NULL;
	zfree(&p->losses);
	p->nr_points = 0;
	p->nr_windows = 0;
	*p->failed = '\0';
	*p->ins.unavailable = '\0';
}

static int profile_begin(struct bench_observer *o, struct bench_run *run)
{
	struct profile_instrument *p = to_profile(o);

	reset(p);
	p->profile = profile__new();
	p->losses = calloc(run->nr_points, sizeof(*p->losses));
	if (!p->syms)
		p->syms = ksyms__new();
	if (!p->profile || !p->losses || !p->syms) {
		snprintf(p->ins.unavailable, sizeof(p->ins.unavailable), "%s", strerror(ENOMEM));
		return 0;
	}
	p->nr_points = run->nr_points;
	open_sampler(p);
	return 0;
}

static int compare_tids(const void *va, const void *vb)
{
	const u32 *a = va, *b = vb;

	return *a < *b ? -1 : *a > *b;
}

static void no_memory(struct profile_instrument *p)
{
	snprintf(p->failed, sizeof(p->failed), "%s", strerror(ENOMEM));
}

static void profile_ready(struct bench_observer *o, struct bench_run *run)
{
	struct profile_instrument *p = to_profile(o);
	u32 *tids = reallocarray(p->tids, run->nr_tasks, sizeof(*tids));
	int i;

	p->nr_tids = 0;
	p->nr_windows = 0;
	p->throttled = 0;
	if (!tids) {
		no_memory(p);
		return;
	}
	p->tids = tids;
	for (i = 0; i < run->nr_tasks; i++)
		tids[i] = run->tasks[i]->tid;
	qsort(tids, run->nr_tasks, sizeof(*tids), compare_tids);
	p->nr_tids = run->nr_tasks;
}

static void profile_start(struct bench_observer *o, struct bench_run *run __maybe_unused)
{
	struct profile_instrument *p = to_profile(o);

	if (!*p->failed)
		sampler__start(p->sampler, p->failed, sizeof(p->failed));
}

static void profile_window(struct bench_observer *o, struct bench_run *run __maybe_unused,
			   const struct bench_window *w)
{
	struct profile_instrument *p = to_profile(o);
	int room = max(2 * p->room_windows, 64);
	u64 *starts, *ends;

	if (p->nr_windows == p->room_windows) {
		starts = reallocarray(p->starts, room, sizeof(*starts));
		if (starts)
			p->starts = starts;
		ends = reallocarray(p->ends, room, sizeof(*ends));
		if (ends)
			p->ends = ends;
		if (!starts || !ends) {
			no_memory(p);
			return;
		}
		p->room_windows = room;
	}
	p->starts[p->nr_windows] = w->start_ns;
	p->ends[p->nr_windows++] = w->end_ns;
}

static void profile_stop(struct bench_observer *o, struct bench_run *run)
{
	struct profile_instrument *p = to_profile(o);
	struct sampler_stats stats = { 0 };
	struct point_loss *loss = &p->losses[run->point];

	if (sampler__stop(p->sampler, &stats) == -ENOENT)
		return;
	loss->lost += stats.lost + stats.bad;
	loss->throttled += p->throttled;
	loss->new_cpus += stats.new_cpus;
	profile__fold(p->profile, p->syms, p->starts, p->ends, p->nr_windows);
}

static int profile_end(struct bench_observer *o, struct bench_run *run __maybe_unused,
		       enum bench_exit status __maybe_unused)
{
	reset(to_profile(o));
	return 0;
}

/* ---- the table ---- */

static int add_notes(struct profile_instrument *p, const struct bench_run *run, long long nr)
{
	const struct point_loss *loss = &p->losses[run->point];
	const char *warning = ksyms__warning(p->syms);
	u64 left_out = profile__left_out(p->profile);
	struct figures *f = &p->ins.figures;
	int err;

	err = figures__note(f, "%lld sample%s of %s, %u a second of a task's CPU time%s", nr,
			    nr == 1 ? "" : "s", p->cycles ? "cycles" : "cpu-clock", p->hz,
			    nr && nr < PROFILE_FEW ? ": too few for more than a hint" : "");
	if (!err && !p->cycles)
		err = figures__note(f,
				    "cpu-clock is no NMI: what runs with interrupts off is seen where they are turned on again");
	if (!err && warning)
		err = figures__note(f, "%s", warning);
	if (!err && *p->failed)
		err = figures__note(f, "not all repeats were looked at: %s", p->failed);
	if (!err && loss->lost)
		err = figures__note(f,
				    "lost: %llu samples at this task count: the shares may be off",
				    (unsigned long long)loss->lost);
	if (!err && loss->throttled)
		err = figures__note(f,
				    "the kernel held back sampling %llu times (kernel.perf_event_max_sample_rate): the shares may be off",
				    (unsigned long long)loss->throttled);
	if (!err && loss->new_cpus)
		err = figures__note(f, "not looked at: CPUs that came online while it ran");
	if (!err && left_out)
		err = figures__note(f,
				    "no memory for %llu samples of all points together: the shares may be off",
				    (unsigned long long)left_out);
	return err;
}

/* The windows of @res that count; the caller frees. Returns how many, or -ENOMEM. */
static int counted_windows(const struct bench_result *res, struct profile_window **list)
{
	struct profile_window *w;
	int r, i, nr = 0;

	for (r = 0; r < res->nr_repeats; r++)
		nr += res->repeats[r].nr_windows;
	w = calloc(max(nr, 1), sizeof(*w));
	if (!w)
		return -ENOMEM;
	for (r = 0, nr = 0; r < res->nr_repeats; r++) {
		for (i = 0; i < res->repeats[r].nr_windows; i++) {
			if (res->repeats[r].windows[i].dropped)
				continue;
			w[nr].start = res->repeats[r].windows[i].start_ns;
			w[nr++].repeat = r;
		}
	}
	*list = w;
	return nr;
}

static int profile_result(struct bench_observer *o, struct bench_run *run,
			  const struct bench_result *res)
{
	struct profile_instrument *p = to_profile(o);
	struct profile_window *windows = NULL;
	int nr = counted_windows(res, &windows);
	long long samples = -ENOMEM;
	bool good;

	if (nr >= 0)
		samples = profile__table(p->profile, p->syms, windows, nr, res->nr_repeats,
					 &p->ins.figures);
	free(windows);
	if (!samples && *p->failed)
		good = figures__add_missing(&p->ins.figures, "samples", p->failed);
	else
		good = samples >= 0 && !add_notes(p, run, samples);
	return good ? 0 : bench_run__fail(run, ENOMEM, "the profile");
}

static void profile_free(struct instrument *ins)
{
	struct profile_instrument *p = container_of(ins, struct profile_instrument, ins);

	reset(p);
	ksyms__free(p->syms);
	figures__free(&ins->figures);
	free(p->tids);
	free(p->starts);
	free(p->ends);
	free(p);
}

struct instrument *profile_instrument__new(const struct instrument_options *opts)
{
	struct profile_instrument *p = zalloc(sizeof(*p));

	if (!p)
		return NULL;
	p->buffer_kb = opts->buffer_kb;
	p->ins = (struct instrument){
		.name = "profile",
		.free = profile_free,
		.observer = {
			.begin = profile_begin, .ready = profile_ready, .start = profile_start,
			.window = profile_window, .stop = profile_stop, .result = profile_result,
			.end = profile_end,
		},
	};
	return &p->ins;
}
