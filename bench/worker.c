// SPDX-License-Identifier: GPL-2.0
/*
 * worker.c: one run of a benchmark, from argv to the observers
 *
 * Options and plan first (worker-plan.c); then rounds, in each of which every point of the sweep
 * has one repeat: a private directory, setup, and new tasks (worker-task.c) that are measured
 * (worker-measure.c). Here is also what a workload may add to a result, and how it fails a run.
 */
#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "worker-internal.h"

int (*bench_worker__describe)(const struct bench_ops *ops);
const char *const *bench_worker__usage;

LIST_HEAD(bench_observers);

void bench_observer__register(struct bench_observer *o)
{
	list_add_tail(&o->node, &bench_observers);
}

/* ---- how a run is said to have failed: the first text stands ---- */

/* What a user can do about an errno, where that does not depend on the call. */
static const char *hint(int err)
{
	switch (err) {
	case EMFILE:
		return "; raise ulimit -n";
	case ENFILE:
		return "; raise fs.file-max";
	case ENOSPC:
		return "; free space or inodes, or give another --dir";
	case EDQUOT:
		return "; raise the quota, or give another --dir";
	case EROFS:
		return "; give a --dir that can be written to";
	case EACCES:
	case EPERM:
		return "; run as a user who may";
	case ENOMEM:
		return "; free memory, or raise the cgroup's limit";
	default:
		return "";
	}
}

static int set_status(struct bench_run *run, enum bench_exit status, int err, const char *fmt,
		      va_list ap)
{
	int len;

	if (run->status == BENCH_EXIT_OK) {
		run->status = status;
		len = vsnprintf(run->message, sizeof(run->message), fmt, ap);
		if (err && len >= 0 && (size_t)len < sizeof(run->message))
			snprintf(run->message + len, sizeof(run->message) - len, ": %s%s",
				 strerror(err), hint(err));
	}
	return -(err ?: EINVAL);
}

int bench_run__fail(struct bench_run *run, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err = set_status(run, BENCH_EXIT_FAILED, err, fmt, ap);
	va_end(ap);
	return err;
}

int bench_run__usage(struct bench_run *run, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = set_status(run, BENCH_EXIT_USAGE, 0, fmt, ap);
	va_end(ap);
	return err;
}

int bench_run__skip(struct bench_run *run, const char *fmt, ...)
{
	va_list ap;
	int err;

	va_start(ap, fmt);
	err = set_status(run, BENCH_EXIT_SKIPPED, 0, fmt, ap);
	va_end(ap);
	return err;
}

/* ---- what workloads add to the plan and to a result ---- */

int bench_run__param(struct bench_run *run, const char *name, const char *fmt, ...)
{
	struct bench_param *p = &run->params[run->nr_params];
	va_list ap;

	if (run->nr_params == BENCH_MAX_PARAMS)
		return -ENOSPC;
	snprintf(p->name, sizeof(p->name), "%s", name);
	va_start(ap, fmt);
	vsnprintf(p->value, sizeof(p->value), fmt, ap);
	va_end(ap);
	run->nr_params++;
	return 0;
}

int bench_run__variant(struct bench_run *run, const char *name)
{
	if (run->nr_variants == BENCH_MAX_VARIANTS)
		return -ENOSPC;
	snprintf(run->variants[run->nr_variants].name, BENCH_NAME_MAX, "%s", name);
	return run->nr_variants++;
}

int bench_run__skip_variant(struct bench_run *run, int variant, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(run->variants[variant].skip, BENCH_TEXT_MAX, fmt, ap);
	va_end(ap);
	if (bench_worker_params.toggle)		/* the benchmark's own is there in both states */
		memcpy(run->variants[!variant].skip, run->variants[variant].skip, BENCH_TEXT_MAX);
	return 0;
}

static void add_note(struct bench_result *res, const char *text)
{
	int i;

	for (i = 0; i < res->nr_notes; i++) {
		if (!strcmp(res->notes[i], text))
			return;
	}
	if (res->nr_notes < BENCH_MAX_NOTES)
		snprintf(res->notes[res->nr_notes++], BENCH_TEXT_MAX, "%s", text);
}

void bench_run__note(struct bench_run *run, int variant, const char *fmt, ...)
{
	char text[BENCH_TEXT_MAX];
	va_list ap;
	int v;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (v = 0; v < run->nr_variants; v++) {
		if (variant < 0 || v == variant)
			add_note(&run->results[v], text);
	}
}

void bench_run__metric(struct bench_run *run, int variant, const char *name, const char *unit,
		       double value)
{
	struct bench_result *res = &run->results[variant];
	struct bench_metric *m = res->metrics;
	int i, r;

	for (i = 0; i < res->nr_metrics; i++, m++) {
		if (!strcmp(m->name, name))
			break;
	}
	if (i == res->nr_metrics) {
		if (i == BENCH_MAX_METRICS)
			return;
		m->values = calloc(res->room, sizeof(double));
		if (!m->values)
			return;
		for (r = 0; r < res->room; r++)
			m->values[r] = NAN;
		snprintf(m->name, sizeof(m->name), "%s", name);
		snprintf(m->unit, sizeof(m->unit), "%s", unit);
		res->nr_metrics++;
	}
	m->values[run->repeat] = value;
}

u64 bench_run__ops(const struct bench_run *run)
{
	u64 sum = 0;
	int i;

	for (i = 0; i < run->nr_tasks; i++)
		sum += __atomic_load_n(&run->tasks[i]->ops, __ATOMIC_RELAXED);
	return sum;
}

void bench_task__fd_path(const struct bench_task *t, int fd, char *path, size_t size)
{
	snprintf(path, size, "/proc/%d/fd/%d", t->tid, fd);
}

/* Wait until all tasks are at the gate; not for ever, should a file system hang in their init. */
static int wait_ready(struct bench_crew *crew)
{
	u64 limit = max((u64)(60 * NSEC_PER_SEC), 10 * bench_worker_params.grace);
	u32 *ready = &crew->run->shared->nr_ready, before, now = 0;
	int err;

	do {
		before = now;
		err = bench_crew__wait(crew, ready, bench_now() + limit);
		now = __atomic_load_n(ready, __ATOMIC_SEQ_CST);
		if (err || now == (u32)crew->run->nr_tasks)
			return err;
	} while (now != before);
	return bench_run__fail(crew->run, 0, "only %u of %d tasks got ready, none for %llu s", now,
			       crew->run->nr_tasks, (unsigned long long)(limit / NSEC_PER_SEC));
}

/* Is our directory still there? In one that was removed, each open ends in ENOENT. */
static int check_dir(struct bench_run *run)
{
	struct stat here, there;

	if (!run->dir)
		return 0;
	if (stat(run->dir, &there))
		return bench_run__fail(run, errno, "the private directory %s", run->dir);
	if (stat(".", &here) || here.st_ino != there.st_ino || here.st_dev != there.st_dev)
		return bench_run__fail(run, 0, "the private directory %s was replaced", run->dir);
	return 0;
}

static int run_repeat(struct bench_run *run, bool *stuck)
{
	struct bench_crew crew = { .run = run };
	struct bench_observer *o;
	unsigned int flags;
	int err, v, sel;

	err = bench_crew__map(run);
	if (err)
		return err;
	crew.pids = calloc(run->nr_tasks, sizeof(*crew.pids));
	crew.threads = calloc(run->nr_tasks, sizeof(*crew.threads));
	if (!crew.pids || !crew.threads) {
		err = bench_run__fail(run, ENOMEM, "%d tasks", run->nr_tasks);
		goto out;
	}
	run->variant = -1;
	err = bench_crew__make(&crew);
	if (!err)
		err = wait_ready(&crew);
	for (v = 0; !err && v < run->nr_variants; v++) {
		if (!*run->variants[v].skip) {
			err = bench_measure__select(&crew, v);
			break;
		}
	}
	if (!err) {
		for_each_observer(o) {
			if (o->ready)
				o->ready(o, run);
		}
		bench_crew__open_gate(&crew);
		err = bench_measure__repeat(&crew);
	}
	bench_crew__end(&crew);
	if (!err && !crew.stuck)
		err = bench_crew__trouble(&crew);
	if (!err && run->status != BENCH_EXIT_OK)
		err = -ECHILD;
	if (run->ops->select && run->variant >= 0) {
		sel = run->ops->select(run, -1);
		if (sel && !err)
			err = bench_run__fail(run, -sel, "ending variant %s",
					      run->variants[run->variant].name);
	}
	if (crew.stuck)
		err = -ETIMEDOUT;
	else if (!err)
		err = check_dir(run);
	/* only now: a quota's count is kept by a timer, and throttled tasks do not end */
	flags = bench_watch__end(run->watch);
	for (v = 0; v < run->nr_variants; v++)
		flags |= bench_run__repeat(run, v)->flags & BENCH_FLAG_CPU_GONE;
	for (v = 0; !err && v < run->nr_variants; v++) {
		if (*run->variants[v].skip)
			continue;
		bench_run__repeat(run, v)->flags |= flags;	/* all ran on the same tasks */
		err = bench_measure__collect(run, v);
		if (!err)
			run->results[v].nr_repeats++;
	}
out:
	free(crew.pids);
	free(crew.threads);
	if (crew.stuck)		/* they may still write to what is shared */
		*stuck = true;
	else
		bench_crew__unmap(run);
	return err;
}

static void free_results(struct bench_run *run)
{
	int k, r, i;

	for (k = 0; run->all_results && k < run->nr_points * run->nr_variants; k++) {
		struct bench_result *res = &run->all_results[k];

		for (r = 0; r < res->room; r++) {
			for (i = 0; i < res->repeats[r].nr_windows; i++)
				free(res->repeats[r].windows[i].task_ops);
			free(res->repeats[r].windows);
			free(res->repeats[r].tasks);
		}
		free(res->repeats);
		for (i = 0; i < res->nr_metrics; i++)
			free(res->metrics[i].values);
	}
	zfree(&run->all_results);
	zfree(&run->tasks);
}

static int alloc_results(struct bench_run *run)
{
	int p, v, most = 0;

	run->all_results = calloc((size_t)run->nr_points * run->nr_variants,
				  sizeof(*run->all_results));
	for (p = 0; run->all_results && p < run->nr_points; p++) {
		most = max(most, run->points[p]);
		for (v = 0; v < run->nr_variants; v++) {
			struct bench_result *res = &run->all_results[p * run->nr_variants + v];

			res->variant = v;
			res->nr_tasks = run->points[p];
			res->nr_cpus = run->nr_cpus;
		}
	}
	run->tasks = calloc(most, sizeof(*run->tasks));
	if (!run->all_results || !run->tasks)
		return bench_run__fail(run, ENOMEM, "results");
	return 0;
}

/* Room for repeat @repeat of a result, and of its metrics. */
static int grow_result(struct bench_result *res, int repeat)
{
	int i, r, room = max(4, 2 * res->room);
	struct bench_repeat *repeats;
	double *values;

	if (repeat < res->room)
		return 0;
	for (i = 0; i < res->nr_metrics; i++) {
		values = realloc(res->metrics[i].values, room * sizeof(*values));
		if (!values)
			return -ENOMEM;
		for (r = res->room; r < room; r++)
			values[r] = NAN;
		res->metrics[i].values = values;
	}
	repeats = realloc(res->repeats, room * sizeof(*repeats));
	if (!repeats)
		return -ENOMEM;
	memset(repeats + res->room, 0, (room - res->room) * sizeof(*repeats));
	res->repeats = repeats;
	res->room = room;
	return 0;
}

/* Make @p the current point: what is set of it in struct bench_run is what workloads look at. */
static void enter_point(struct bench_run *run, int p)
{
	int v;

	run->point = p;
	run->nr_tasks = run->points[p];
	run->results = &run->all_results[p * run->nr_variants];
	for (v = 0; v < run->nr_variants; v++)
		memcpy(run->variants[v].skip, run->results[v].skip, BENCH_TEXT_MAX);
}

static bool all_skipped(const struct bench_run *run)
{
	int v;

	for (v = 0; v < run->nr_variants; v++) {
		if (!*run->variants[v].skip)
			return false;
	}
	return true;
}

/* The next repeat of the current point. */
static int run_point(struct bench_run *run, bool *stuck)
{
	const struct bench_ops *ops = run->ops;
	int v, err = 0;

	for (v = 0; !err && v < run->nr_variants; v++)
		err = grow_result(&run->results[v], run->repeat);
	if (err)
		return bench_run__fail(run, -err, "results");
	if (ops->setup) {
		err = ops->setup(run);
		if (err && !bench_run__interrupted())
			bench_run__fail(run, -err, "setting up");
	}
	for (v = 0; v < run->nr_variants; v++)
		memcpy(run->results[v].skip, run->variants[v].skip, BENCH_TEXT_MAX);
	if (!err && all_skipped(run))
		err = bench_run__skip(run, "%s", run->variants[0].skip);
	if (!err)
		err = run_repeat(run, stuck);
	if (ops->teardown && !*stuck)
		ops->teardown(run);
	return err;
}

/* Is what --precision asks for reached at the current point, in all its variants? */
static bool is_precise(const struct bench_run *run)
{
	double percent = bench_worker_params.precision, *rates;
	bool precise = percent > 0;
	int v, r;

	rates = calloc(run->repeat + 1, sizeof(*rates));
	for (v = 0; rates && v < run->nr_variants; v++) {
		const struct bench_result *res = &run->results[v];

		if (*res->skip)
			continue;
		for (r = 0; r < res->nr_repeats; r++)
			rates[r] = res->repeats[r].rate;
		precise &= bench_precise(rates, r, run->nr_repeats, percent);
	}
	free(rates);
	return rates && precise;
}

/* Will more repeats of the current point make no number, whatever they give? */
static bool is_spoilt(const struct bench_run *run)
{
	unsigned int flags = 0;
	int v, r;

	for (v = 0; v < run->nr_variants; v++) {
		for (r = 0; r < run->results[v].nr_repeats; r++)
			flags |= run->results[v].repeats[r].flags;
	}
	return flags & BENCH_FLAG_INVALID_MASK;
}

/* After a repeat of the current point: is it the last, and why? */
static enum bench_stop last_repeat(const struct bench_run *run)
{
	if (run->repeat + 1 < run->nr_repeats)
		return BENCH_STOP_NONE;
	if (is_precise(run))
		return BENCH_STOP_PRECISION;
	if (run->repeat + 1 >= run->max_repeats || is_spoilt(run))
		return BENCH_STOP_REPEATS;
	return BENCH_STOP_NONE;
}

/* One repeat of the current point in its directory. @point_err is the point's own failure. */
static int run_point_in_dir(struct bench_run *run, bool *stuck, int *point_err)
{
	int ret, err;

	if (bench_run__interrupted())
		return -EINTR;
	if (run->ops->use_dir) {
		err = bench_dir__enter(run);
		if (err)
			return err;
	}
	*point_err = run_point(run, stuck);
	if (!run->ops->use_dir)
		return *point_err;
	ret = bench_dir__leave(run, *stuck || bench_run__interrupted() ?
			       bench_worker_params.grace : 0);
	return *point_err ?: ret;
}

/* All rounds. Returns 0, or why they ended early: at the current point, if @point_err is not 0. */
static int run_rounds(struct bench_run *run, bool *stuck, int *point_err)
{
	u64 until = bench_worker_params.max_time ? bench_now() + bench_worker_params.max_time : 0;
	int p, v, nr_done = 0, err = alloc_results(run);
	enum bench_stop stop;

	for (run->repeat = 0; !err && nr_done < run->nr_points; run->repeat++) {
		for (p = 0; !err && p < run->nr_points; p++) {
			enter_point(run, p);
			if (run->results[0].stopped_by)
				continue;
			if (until && run->repeat && bench_now() >= until) {
				stop = BENCH_STOP_MAX_TIME;
			} else {
				err = run_point_in_dir(run, stuck, point_err);
				stop = err ? BENCH_STOP_NONE : last_repeat(run);
			}
			for (v = 0; v < run->nr_variants; v++)
				run->results[v].stopped_by = stop;
			nr_done += stop != BENCH_STOP_NONE;
		}
	}
	return err;
}

/* Hand the current point over to the observers; a failure leaves its repeats without a rate. */
static int report_point(struct bench_run *run, bool failed)
{
	struct bench_observer *o;
	int v, first = 0, ret = 0;

	while (first < run->nr_variants - 1 && *run->variants[first].skip)
		first++;
	for (v = 0; v < run->nr_variants; v++) {
		struct bench_result *res = &run->results[v];

		if (failed) {
			res->flags |= BENCH_FLAG_ERROR;
			if (!*res->skip)
				snprintf(res->skip, sizeof(res->skip), "%.*s",
					 (int)sizeof(res->skip) - 1, run->message);
		}
		bench_result__summarise(res, v > first ? &run->results[first] : NULL,
					bench_worker_params.total);
		if (res->flags & BENCH_FLAG_INVALID_MASK && !run->nr_invalid++)
			run->first_invalid = res->flags & -res->flags;
	}
	bench_toggle__verdict(run);
	for (v = 0; v < run->nr_variants; v++) {
		for_each_observer(o) {
			int err = o->result ? o->result(o, run, &run->results[v]) : 0;

			ret = ret ?: err;	/* one that failed does not keep it from the rest */
		}
	}
	return ret;
}

/* Has any variant of the current point a repeat that was finished? */
static bool has_repeats(const struct bench_run *run)
{
	int v;

	for (v = 0; v < run->nr_variants; v++) {
		if (run->results[v].nr_repeats)
			return true;
	}
	return false;
}

/*
 * Report all points that have something, and the one at which the rounds ended: with @err it has
 * failed, or is the one that was being measured as a signal came. One that was skipped, or that
 * cannot be run like this, is not reported: the message is all there is to say.
 */
static int report_points(struct bench_run *run, int ended, int err)
{
	bool silent = run->status == BENCH_EXIT_SKIPPED || run->status == BENCH_EXIT_USAGE;
	bool failed = err && err != -EINTR;
	bool ended_here;
	int p, ret = 0, told;

	for (p = 0; run->all_results && p < run->nr_points; p++) {
		enter_point(run, p);
		ended_here = err && p == ended;
		if (ended_here ? silent : !has_repeats(run))
			continue;
		told = report_point(run, failed && p == ended);
		ret = ret ?: told;
	}
	return ret;
}

static int run_sweep(struct bench_run *run, bool *stuck)
{
	int err = 0, begun = 0, point_err = 0, ret, sig;
	struct bench_observer *o;

	if (run->ops->use_dir)
		bench_fs__of(run->ops->dir && *run->ops->dir ? *run->ops->dir : ".", run->fs,
			     sizeof(run->fs), NULL, 0);
	for_each_observer(o) {
		if (!err && o->begin)
			err = o->begin(o, run);
		begun += !err;
	}
	if (!err) {
		err = run_rounds(run, stuck, &point_err);
		bench_toggle__end(run);
		ret = report_points(run, run->point, point_err);
		err = err ?: ret;
	}
	sig = bench_run__interrupted();
	if (sig && run->status == BENCH_EXIT_OK) {
		run->status = BENCH_EXIT_INTERRUPTED;
		snprintf(run->message, sizeof(run->message), "interrupted by signal %d (%s)",
			 sig, strsignal(sig));
	} else if (err) {
		bench_run__fail(run, -err, "running");
	} else if (run->nr_invalid) {
		bench_run__fail(run, 0, "%d of %d results: %s", run->nr_invalid,
				run->nr_points * run->nr_variants,
				bench_flag__text(run->first_invalid));
	}
	for_each_observer(o) {
		if (begun-- <= 0)
			break;
		if (o->end && o->end(o, run, run->status) && run->status == BENCH_EXIT_OK)
			run->status = BENCH_EXIT_FAILED;
	}
	free_results(run);
	return run->status;
}

int bench_worker__main(int argc, const char **argv, const struct bench_ops *ops)
{
	const char *const *usage;
	locale_t c_locale, old_locale;
	struct bench_run *run;
	bool stuck = false;
	int status;

	if (bench_worker__describe)
		return bench_worker__describe(ops);
	usage = bench_worker__usage ?: ops->usage;
	argc = parse_options(argc, argv, ops->options, usage, 0);
	if (argc)
		usage_with_options_msg(usage, ops->options, "\"%s\" is not an option",
				       argv[0]);
	run = zalloc(sizeof(*run));
	if (!run)
		return BENCH_EXIT_FAILED;
	if (list_empty(&bench_observers))
		bench_observer__register(&bench_text_observer);
	run->ops = ops;
	run->unit = ops->unit;
	run->watch = bench_watch__new();
	if (!bench_plan__make(run) && (!ops->prepare || !ops->prepare(run)) &&
	    !bench_toggle__plan(run)) {
		if (!run->nr_variants)
			bench_run__variant(run, "");
		if (run->nr_variants > 1 && bench_is_fixed())
			bench_run__usage(run, "--%s goes with one variant only",
					 bench_worker_params.loops ? "loops" : "total");
		else
			bench_plan__memory(run);
	} else if (run->status == BENCH_EXIT_OK) {
		bench_run__fail(run, 0, "the plan could not be made");
	}
	if (run->status == BENCH_EXIT_OK) {
		/* numbers look the same in every locale */
		c_locale = newlocale(LC_NUMERIC_MASK, "C", (locale_t)0);
		old_locale = uselocale(c_locale);
		bench_parent__begin();
		run_sweep(run, &stuck);
		bench_parent__end();
		uselocale(old_locale);
		if (c_locale)
			freelocale(c_locale);
	}
	status = run->status;
	if (status)
		fprintf(stderr, "%s: %s%s\n", ops->name,
			status == BENCH_EXIT_SKIPPED ? "skipped: " : "", run->message);
	bench_watch__free(run->watch);
	if (!stuck) {		/* stuck tasks still read it */
		bench_plan__free(run);
		free(run);
	}
	return status;
}
