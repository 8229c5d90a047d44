// SPDX-License-Identifier: GPL-2.0
/*
 * Samples of perf events, read while what they look at goes on
 *
 * Reading goes in rounds. What a round hands out is older than the begin of the round before: by
 * then each CPU had put all of that into its buffer. The rest stays in the buffers, so that these
 * are also the queue in which records of several CPUs are brought into their order.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <internal/evlist.h>
#include <internal/evsel.h>
#include <internal/mmap.h>
#include <internal/xyarray.h>
#include <perf/core.h>
#include <perf/cpumap.h>
#include <perf/event.h>
#include <perf/evlist.h>
#include <perf/evsel.h>
#include <perf/mmap.h>
#include <perf/threadmap.h>

#include "sampler.h"

#define ROUND_NS	(10 * NSEC_PER_MSEC)	/* between two rounds */
#define LEAST_BUFFER_KB	64			/* where the user may not lock more memory */

/* A CPU's buffer, and its oldest record that has not been handed out. */
struct buffer {
	struct perf_mmap	*map;
	struct perf_record	rec;
	bool			pending;
};

struct sampler {
	int			nr_events;
	u64			sample_type;
	void			(*record)(void *data, const struct perf_record *rec);
	void			(*round)(void *data, u64 until);
	void			*data;
	struct perf_evlist	*evlist;
	struct perf_cpu_map	*cpus;
	size_t			buffer_size;
	int			nr_buffers;
	struct buffer		*buffers;
	int			*heap, nr_heap;		/* of buffers, that with the oldest first */
	/* between start and stop */
	bool			started;
	u64			start_ns;
	struct perf_counts_values before[SAMPLER_MAX_EVENTS];
	pthread_t		thread;
	pthread_mutex_t		lock;
	pthread_cond_t		cond;
	bool			stop;			/* under the lock */
	/* the thread's own, until it has ended */
	pid_t			tid;
	u64			newest;
	struct sampler_stats	stats;
};

static u64 now_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static long read_sysctl(const char *name)
{
	char path[128];
	long value = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/sys/kernel/%s", name);
	f = fopen(path, "re");
	if (f && fscanf(f, "%ld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

void sampler__why_not(int err, const char *event, char *why, size_t why_size)
{
	const char *text = strerror(err);

	switch (err) {
	case EACCES:
	case EPERM:
		snprintf(why, why_size,
			 "perf_event_open of %s: %s: kernel.perf_event_paranoid is %ld; as root, or with CAP_PERFMON, it can be done",
			 event, text, read_sysctl("perf_event_paranoid"));
		break;
	case EMFILE:
		snprintf(why, why_size,
			 "perf_event_open of %s: %s: raise the limit of open files (ulimit -n)",
			 event, text);
		break;
	case ENOSYS:
		snprintf(why, why_size,
			 "perf_event_open of %s: %s: this kernel has no perf events (CONFIG_PERF_EVENTS), or a container's seccomp filter forbids them",
			 event, text);
		break;
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
		snprintf(why, why_size, "perf_event_open of %s: %s: this machine has no such event",
			 event, text);
		break;
	case EINVAL:
		snprintf(why, why_size,
			 "perf_event_open of %s: %s: this kernel does not know what is asked for",
			 event, text);
		break;
	default:
		snprintf(why, why_size, "perf_event_open of %s: %s", event, text);
		break;
	}
}

/* ---- opening ---- */

static const char too_much_locked[] =
	": more than kernel.perf_event_mlock_kb and ulimit -l allow: take less, or be root";

static int silent(enum libperf_print_level level __maybe_unused, const char *fmt __maybe_unused,
		  va_list ap __maybe_unused)
{
	return 0;
}

static void close_events(struct sampler *s)
{
	struct perf_evsel *evsel;

	zfree(&s->buffers);
	zfree(&s->heap);
	s->nr_buffers = 0;
	if (!s->evlist)
		return;
	perf_evlist__for_each_evsel(s->evlist, evsel) {	/* which perf_evsel__delete() forgets */
		perf_cpu_map__put(evsel->cpus);
		perf_thread_map__put(evsel->threads);
		evsel->cpus = NULL;
		evsel->threads = NULL;
	}
	perf_evlist__delete(s->evlist);
	s->evlist = NULL;
}

/* libperf opens them so that the programs which a task executes would have them, too. */
static void close_on_exec(struct perf_evsel *evsel)
{
	int i, nr = xyarray__max_x(evsel->fd);

	for (i = 0; i < nr; i++)
		fcntl(*(int *)xyarray__entry(evsel->fd, i, 0), F_SETFD, FD_CLOEXEC);
}

static int open_events(struct sampler *s, const struct sampler_options *opts, int pages,
		       char *why, size_t why_size)
{
	struct perf_thread_map *threads = perf_thread_map__new_dummy();
	struct perf_evsel *evsel;
	struct perf_mmap *map;
	int i, err = -ENOMEM;

	s->evlist = perf_evlist__new();
	if (!s->evlist || !threads)
		goto out;
	perf_thread_map__set_pid(threads, 0, opts->all_tasks ? -1 : 0);
	for (i = 0; i < opts->nr; i++) {
		struct perf_event_attr attr = opts->attrs[i];

		attr.size = sizeof(attr);
		attr.disabled = 1;
		attr.inherit = !opts->all_tasks;
		attr.sample_id_all = 1;
		attr.use_clockid = 1;
		attr.clockid = CLOCK_MONOTONIC;
		attr.read_format = PERF_FORMAT_LOST;
		/* nobody sleeps on a buffer: whom it wakes would only be one more to wait for */
		attr.watermark = 1;
		attr.wakeup_watermark = UINT_MAX;
		evsel = perf_evsel__new(&attr);
		if (!evsel)
			goto out;
		perf_evlist__add(s->evlist, evsel);
	}
	perf_evlist__set_maps(s->evlist, s->cpus, threads);
	i = 0;
	perf_evlist__for_each_evsel(s->evlist, evsel) {
		err = perf_evsel__open(evsel, s->cpus, threads);
		if (err) {
			sampler__why_not(-err, opts->names[i], why, why_size);
			goto out;
		}
		close_on_exec(evsel);
		i++;
	}
	errno = 0;
	if (perf_evlist__mmap(s->evlist, pages)) {
		err = errno ? -errno : -ENOMEM;
		snprintf(why, why_size, "a buffer of %lld KiB for each of %d CPUs: %s%s",
			 (long long)pages * (sysconf(_SC_PAGESIZE) / 1024),
			 perf_cpu_map__nr(s->cpus), strerror(-err),
			 err == -EPERM ? too_much_locked : "");
		goto out;
	}
	s->nr_buffers = perf_cpu_map__nr(s->cpus);
	s->buffers = calloc(s->nr_buffers, sizeof(*s->buffers));
	s->heap = calloc(s->nr_buffers, sizeof(*s->heap));
	err = -ENOMEM;
	if (!s->buffers || !s->heap)
		goto out;
	i = 0;
	perf_evlist__for_each_mmap(s->evlist, map, false) {
		if (i < s->nr_buffers)
			s->buffers[i++].map = map;
	}
	s->nr_buffers = i;
	s->buffer_size = (size_t)pages * sysconf(_SC_PAGESIZE);
	err = 0;
out:
	perf_thread_map__put(threads);
	if (err)
		close_events(s);
	return err;
}

/* With the size that is asked for, or the largest that is allowed. */
static int open_with_buffers(struct sampler *s, const struct sampler_options *opts, char *why,
			     size_t why_size)
{
	u64 page_kb = max(sysconf(_SC_PAGESIZE) / 1024, 1L);
	u64 pages = 1, kb = opts->buffer_kb ?: SAMPLER_BUFFER_KB;
	int err;

	if (kb > SAMPLER_MAX_BUFFER_KB) {
		snprintf(why, why_size, "a buffer of %llu KiB is more than the %d there may be",
			 (unsigned long long)kb, SAMPLER_MAX_BUFFER_KB);
		return -ERANGE;
	}
	while (pages * page_kb < kb)
		pages *= 2;
	for (;;) {
		err = open_events(s, opts, pages, why, why_size);
		if (err != -EPERM || opts->buffer_kb || pages / 2 * page_kb < LEAST_BUFFER_KB)
			return err;
		pages /= 2;
	}
}

int sampler__new(const struct sampler_options *opts, struct sampler **sampler, char *why,
		 size_t why_size)
{
	struct sampler *s = zalloc(sizeof(*s));
	pthread_condattr_t attr;
	int err = -ENOMEM;

	snprintf(why, why_size, "%s", strerror(ENOMEM));	/* unless another reason is found */
	if (!s)
		return err;
	libperf_init(silent);
	s->nr_events = opts->nr;
	s->sample_type = opts->attrs[0].sample_type;
	s->record = opts->record;
	s->round = opts->round;
	s->data = opts->data;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->cond, &attr);
	pthread_condattr_destroy(&attr);
	s->cpus = perf_cpu_map__new(NULL);
	if (s->cpus)
		err = open_with_buffers(s, opts, why, why_size);
	if (err) {
		sampler__free(s);
		return err;
	}
	*why = '\0';
	*sampler = s;
	return 0;
}

void sampler__free(struct sampler *s)
{
	if (!s)
		return;
	sampler__stop(s, NULL);
	close_events(s);
	perf_cpu_map__put(s->cpus);
	pthread_cond_destroy(&s->cond);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

int sampler__nr_cpus(const struct sampler *s)
{
	return s->nr_buffers;
}

u64 sampler__memory(const struct sampler *s)
{
	return s->nr_buffers * (u64)(s->buffer_size + sysconf(_SC_PAGESIZE));
}

u64 sampler__buffer_kb(const struct sampler *s)
{
	return s->buffer_size / 1024;
}

/* ---- the thread that reads ---- */

/* Get the next record of a buffer, if there is one; those that are not good are left out. */
static bool next_record(struct sampler *s, struct buffer *b)
{
	union perf_event *event;

	while (!b->pending) {
		event = perf_mmap__read_event(b->map);
		if (!event)
			return false;
		if (perf_record__parse(event, event->header.size, s->sample_type, &b->rec)) {
			s->stats.bad++;
			perf_mmap__consume(b->map);
			continue;
		}
		b->pending = true;
	}
	return true;
}

static bool older(const struct sampler *s, int a, int b)
{
	return s->buffers[s->heap[a]].rec.time < s->buffers[s->heap[b]].rec.time;
}

/* The first of the heap has changed: let it sink to its place. */
static void heap_sink(struct sampler *s, int i)
{
	int child, first;

	for (; 2 * i + 1 < s->nr_heap; i = first) {
		child = 2 * i + 1;
		first = child + 1 < s->nr_heap && older(s, child + 1, child) ? child + 1 : child;
		if (!older(s, first, i))
			return;
		child = s->heap[first];
		s->heap[first] = s->heap[i];
		s->heap[i] = child;
	}
}

static void hand_out(struct sampler *s, struct buffer *b)
{
	struct perf_record *rec = &b->rec;

	if (rec->time < s->newest)
		s->stats.late++;
	else
		s->newest = rec->time;
	if (rec->type == PERF_RECORD_SAMPLE && (pid_t)rec->tid == s->tid) {
		s->stats.own++;
	} else {
		s->stats.samples += rec->type == PERF_RECORD_SAMPLE;
		s->record(s->data, rec);
	}
	b->pending = false;
	perf_mmap__consume(b->map);
}

/*
 * Hand out all that is older than @until. perf_mmap__read_done() is for buffers that overwrite:
 * here it would skip what has come since the last look.
 */
static void read_round(struct sampler *s, u64 until)
{
	struct buffer *b;
	double fill;
	int i;

	s->nr_heap = 0;
	for (i = 0; i < s->nr_buffers; i++) {
		b = &s->buffers[i];
		if (!b->pending && perf_mmap__read_init(b->map))
			continue;
		fill = (perf_mmap__read_head(b->map) - b->map->prev) / (double)s->buffer_size;
		s->stats.fullest = max(s->stats.fullest, fill);
		if (next_record(s, b) && b->rec.time < until)
			s->heap[s->nr_heap++] = i;
	}
	for (i = s->nr_heap / 2 - 1; i >= 0; i--)
		heap_sink(s, i);
	while (s->nr_heap) {
		b = &s->buffers[s->heap[0]];
		hand_out(s, b);
		if (!next_record(s, b) || b->rec.time >= until)
			s->heap[0] = s->heap[--s->nr_heap];
		heap_sink(s, 0);
	}
	if (s->round)
		s->round(s->data, until);
}

/* Sleep until then, or until told to stop: returns whether that is so. */
static bool sleep_until(struct sampler *s, u64 ns)
{
	struct timespec ts = { .tv_sec = ns / NSEC_PER_SEC, .tv_nsec = ns % NSEC_PER_SEC };
	bool stop;

	pthread_mutex_lock(&s->lock);
	while (!s->stop && pthread_cond_timedwait(&s->cond, &s->lock, &ts) != ETIMEDOUT)
		;
	stop = s->stop;
	pthread_mutex_unlock(&s->lock);
	return stop;
}

static void *reader_main(void *arg)
{
	struct sampler *s = arg;
	u64 before, begin = s->start_ns;

	s->tid = syscall(SYS_gettid);
	do {
		before = begin;
		begin = now_ns(CLOCK_MONOTONIC);
		read_round(s, before);
	} while (!sleep_until(s, begin + ROUND_NS));
	read_round(s, ULLONG_MAX);
	s->stats.reader_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
	return NULL;
}

/* ---- start and stop ---- */

/* The kernel's own counts: how often each event has happened, how many records were lost. */
static int read_counts(struct sampler *s, struct perf_counts_values *sums)
{
	struct perf_counts_values one;
	struct perf_evsel *evsel;
	int i, err, event = 0;

	memset(sums, 0, SAMPLER_MAX_EVENTS * sizeof(*sums));
	perf_evlist__for_each_evsel(s->evlist, evsel) {
		for (i = 0; i < perf_cpu_map__nr(s->cpus); i++) {
			err = perf_evsel__read(evsel, i, 0, &one);
			if (err)
				return err;
			sums[event].val += one.val;
			sums[event].lost += one.lost;
		}
		event++;
	}
	return 0;
}

static void disable(struct sampler *s)
{
	struct perf_evsel *evsel;

	perf_evlist__for_each_entry_reverse(s->evlist, evsel)
		perf_evsel__disable(evsel);
}

/*
 * If we go before all others (where there are many more tasks than CPUs, one must), then so does
 * the thread, from its first moment on: else the buffers get full. If it may not, it is as others.
 */
static int make_reader(struct sampler *s)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK, err = EPERM;
	struct sched_param param;
	pthread_attr_t attr;
	sigset_t all, old;

	s->stop = false;
	s->tid = 0;
	s->newest = 0;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);	/* signals are for the others */
	if ((policy == SCHED_FIFO || policy == SCHED_RR) && !sched_getparam(0, &param)) {
		pthread_attr_init(&attr);
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, policy);
		pthread_attr_setschedparam(&attr, &param);
		err = pthread_create(&s->thread, &attr, reader_main, s);
		pthread_attr_destroy(&attr);
	}
	if (err)
		err = pthread_create(&s->thread, NULL, reader_main, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -err;
}

static void end_reader(struct sampler *s)
{
	pthread_mutex_lock(&s->lock);
	s->stop = true;
	pthread_cond_signal(&s->cond);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
}

int sampler__start(struct sampler *s, char *why, size_t why_size)
{
	struct perf_evsel *evsel;
	int err;

	memset(&s->stats, 0, sizeof(s->stats));
	s->start_ns = now_ns(CLOCK_MONOTONIC);
	err = read_counts(s, s->before);
	if (err) {
		snprintf(why, why_size, "reading perf events: %s", strerror(-err));
		return err;
	}
	err = make_reader(s);
	if (err) {
		snprintf(why, why_size, "a thread that reads perf buffers: %s", strerror(-err));
		return err;
	}
	s->started = true;
	errno = 0;
	perf_evlist__for_each_evsel(s->evlist, evsel) {
		if (!perf_evsel__enable(evsel))
			continue;
		err = errno ? -errno : -EINVAL;
		snprintf(why, why_size, "enabling perf events: %s", strerror(-err));
		sampler__stop(s, NULL);
		return err;
	}
	return 0;
}

static int count_new_cpus(const struct sampler *s)
{
	struct perf_cpu_map *online = perf_cpu_map__new(NULL);
	int i, nr = 0;

	for (i = 0; online && i < perf_cpu_map__nr(online); i++)
		nr += !perf_cpu_map__has(s->cpus, perf_cpu_map__cpu(online, i));
	perf_cpu_map__put(online);
	return nr;
}

int sampler__stop(struct sampler *s, struct sampler_stats *stats)
{
	struct perf_counts_values after[SAMPLER_MAX_EVENTS];
	int i, err;

	if (!s->started)
		return -ENOENT;
	s->started = false;
	disable(s);
	end_reader(s);
	s->stats.ns = now_ns(CLOCK_MONOTONIC) - s->start_ns;
	s->stats.new_cpus = count_new_cpus(s);
	err = read_counts(s, after);
	for (i = 0; !err && i < s->nr_events; i++) {
		s->stats.events[i] = after[i].val - s->before[i].val;
		/* PERF_RECORD_LOST only comes with the next record, which may be in the next run */
		s->stats.lost += after[i].lost - s->before[i].lost;
	}
	if (stats)
		*stats = s->stats;
	return err;
}
