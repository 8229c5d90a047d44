// SPDX-License-Identifier: GPL-2.0
/*
 * A line on standard error that tells how far a run is
 *
 * It is written over in place, never wider than the terminal, a few times a second, and cleared
 * before others print. The time left is that of the repeats still to come, each taken to be as
 * long as those so far; in the first one, as long as --warmup and --duration say. It is at most
 * what is left of --max-time, which is all that is known with --precision.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "observe/observe.h"

#define UPDATE_NS	(NSEC_PER_SEC / 4)
#define LINE_MAX_LEN	160

struct progress_observer {
	struct bench_observer	observer;
	u64			begin_ns;	/* the first repeat was made */
	u64			repeat_ns;	/* this one was */
	u64			update_ns;
	int			nr_begun;	/* repeats */
	int			len;		/* of what stands on the terminal */
};

static struct progress_observer *to_progress(struct bench_observer *o)
{
	return container_of(o, struct progress_observer, observer);
}

/*
 * Put @text in place of what stands there; a column is left free, so that nothing wraps. A terminal
 * that is stopped, or another job's, is left alone: the tasks are running, and we must not wait.
 */
static void show(struct progress_observer *p, const char *text)
{
	struct pollfd poll_out = { .fd = STDERR_FILENO, .events = POLLOUT };
	pid_t owner = tcgetpgrp(STDERR_FILENO);
	struct winsize ws = { .ws_col = 0 };
	char line[LINE_MAX_LEN + 8];
	int width, len, n;

	if ((owner > 0 && owner != getpgrp()) || poll(&poll_out, 1, 0) <= 0)
		return;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) || !ws.ws_col)
		ws.ws_col = 80;
	width = min(ws.ws_col - 1, LINE_MAX_LEN);
	len = min_t(int, strlen(text), width);
	/* Blanks clear what a longer text left: every terminal can do that. */
	n = snprintf(line, sizeof(line), "\r%-*.*s\r", min(max(len, p->len), width), len, text);
	if (write(STDERR_FILENO, line, n) == n)
		p->len = len;
}

static void clear(struct progress_observer *p)
{
	if (p->len)
		show(p, "");
}

/* Nanoseconds left of --max-time, or -1 without one. */
static s64 max_time_left(const struct progress_observer *p, u64 now)
{
	u64 max_time = bench_worker_params.max_time, used = now - p->begin_ns;

	if (!max_time)
		return -1;
	return max_time > used ? max_time - used : 0;
}

/* Nanoseconds left until all repeats are done, or -1 if there is no telling. */
static s64 time_left(const struct progress_observer *p, const struct bench_run *run, u64 now)
{
	const struct bench_worker_params *params = &bench_worker_params;
	int left = run->nr_points * run->nr_repeats - p->nr_begun;
	u64 each, used = now - p->repeat_ns;

	if (p->nr_begun < 2 && (params->loops || params->total))
		return -1;
	if (p->nr_begun < 2)
		each = params->warmup + params->duration * run->nr_variants;
	else
		each = (p->repeat_ns - p->begin_ns) / (p->nr_begun - 1);
	return each * max(left, 0) + (each > used ? each - used : 0);
}

static void update(struct progress_observer *p, const struct bench_run *run)
{
	u64 now = bench_now();
	char text[LINE_MAX_LEN], eta[48] = "", of[16] = "";
	bool precision = bench_worker_params.precision > 0;
	s64 left, most;

	if (now - p->update_ns < UPDATE_NS)
		return;
	p->update_ns = now;
	left = precision ? -1 : time_left(p, run, now);
	most = max_time_left(p, now);
	if (left < 0 || (most >= 0 && most < left))
		left = most;
	if (!precision)
		snprintf(of, sizeof(of), "/%d", run->nr_repeats);
	if (left >= 0) {
		left = (left + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
		snprintf(eta, sizeof(eta), ", %s%lld:%02lld left", precision ? "at most " : "",
			 (long long)left / 60, (long long)left % 60);
	}
	snprintf(text, sizeof(text), "%s: repeat %d%s, point %d/%d (%d task%s)%s", run->ops->name,
		 run->repeat + 1, of, run->point + 1, run->nr_points, run->nr_tasks,
		 run->nr_tasks > 1 ? "s" : "", eta);
	show(p, text);
}

static int progress_begin(struct bench_observer *o, struct bench_run *run __maybe_unused)
{
	to_progress(o)->nr_begun = 0;
	return 0;
}

static void progress_ready(struct bench_observer *o, struct bench_run *run)
{
	struct progress_observer *p = to_progress(o);

	p->repeat_ns = bench_now();
	if (!p->nr_begun++)
		p->begin_ns = p->repeat_ns;
	update(p, run);
}

static void progress_window(struct bench_observer *o, struct bench_run *run,
			    const struct bench_window *w __maybe_unused)
{
	update(to_progress(o), run);
}

static int progress_result(struct bench_observer *o, struct bench_run *run __maybe_unused,
			   const struct bench_result *res __maybe_unused)
{
	clear(to_progress(o));
	return 0;
}

static int progress_end(struct bench_observer *o, struct bench_run *run __maybe_unused,
			enum bench_exit status __maybe_unused)
{
	clear(to_progress(o));
	return 0;
}

struct bench_observer *progress_observer__new(bool quiet)
{
	struct progress_observer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	if (!quiet && isatty(STDERR_FILENO)) {
		p->observer.begin = progress_begin;
		p->observer.ready = progress_ready;
		p->observer.window = progress_window;
		p->observer.result = progress_result;
		p->observer.end = progress_end;
	}
	return &p->observer;
}

void progress_observer__finish(struct bench_observer *o)
{
	struct progress_observer *p = to_progress(o);

	clear(p);
	free(p);
}
