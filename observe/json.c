// SPDX-License-Identifier: GPL-2.0
/*
 * The writer of results files
 *
 * Documentation/results-format.txt has the format. It is written piece by piece, so that the raw
 * samples, of which there may be millions, are never there a second time.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "instrument/passes.h"
#include "observe/observe.h"
#include "report/figures-json.h"
#include "util/env.h"
#include "util/json-stream.h"
#include "util/outfile.h"

#define FORMAT_NAME	"perf-kbench-results"
#define FORMAT_VERSION	1
#define ZERO_RUN	4	/* zeros in a row from which on they are counted instead */

struct json_observer {
	struct bench_observer	observer;
	struct observe_file	file;
	struct json_stream	json;
	struct json_object	*command;
	bool			begun;		/* in between begin and end of a benchmark */
	bool			passes;		/* in the list of those with an instrument */
};

static struct json_observer *to_json(struct bench_observer *o)
{
	return container_of(o, struct json_observer, observer);
}

static void write_head(struct json_observer *j)
{
	struct json_stream *s = &j->json;
	struct json_object *env = env__collect("");
	struct json_object_iter member;

	json_stream__open(s, NULL, '{');
	json_stream__text(s, "format", FORMAT_NAME);
	json_stream__u64(s, "version", FORMAT_VERSION);
	json_stream__line(s);
	json_stream__value(s, "command", json_object_get(j->command));
	json_stream__line(s);
	if (env) {
		json_stream__open(s, "environment", '{');
		json_object_object_foreachC(env, member) {
			json_stream__line(s);
			json_stream__value(s, member.key, json_object_get(member.val));
		}
		json_stream__close(s, '}');
		json_object_put(env);
	} else {
		json_stream__value(s, "environment", NULL);
	}
	json_stream__line(s);
	json_stream__open(s, "benchmarks", '[');
}

/* A number for which 0 means that there is none. */
static void write_some(struct json_stream *s, const char *name, u64 value)
{
	if (value)
		json_stream__u64(s, name, value);
	else
		json_stream__value(s, name, NULL);
}

/* Where the files under test are, for those that have any. */
static void write_dir(struct json_stream *s, const struct bench_run *run)
{
	const struct bench_ops *ops = run->ops;
	const char *dir = ops->dir ? *ops->dir : NULL;
	char fs[BENCH_NAME_MAX], opts[4096];

	if (!ops->dir && !ops->use_dir) {
		json_stream__value(s, "dir", NULL);
		return;
	}
	json_stream__open(s, "dir", '{');
	json_stream__text(s, "path", dir);
	if (bench_fs__of(dir ?: ".", fs, sizeof(fs), opts, sizeof(opts))) {
		json_stream__value(s, "fs", NULL);
		json_stream__value(s, "mount_options", NULL);
	} else {
		json_stream__text(s, "fs", fs);
		json_stream__text(s, "mount_options", opts);
	}
	json_stream__close(s, '}');
}

static void write_ints(struct json_stream *s, const char *name, const int *values, int nr)
{
	int i;

	json_stream__open(s, name, '[');
	for (i = 0; values && i < nr; i++)
		json_stream__s64(s, NULL, values[i]);
	json_stream__close(s, ']');
}

static void write_plan(struct json_stream *s, const struct bench_run *run)
{
	const struct bench_worker_params *p = &bench_worker_params;
	struct json_object *params = json_object_new_object();
	int i;

	json_stream__text(s, "name", run->ops->name);
	json_stream__text(s, "unit", run->unit);
	for (i = 0; params && i < run->nr_params; i++)
		json_object_object_add(params, run->params[i].name,
				       json_text(run->params[i].value));
	json_stream__value(s, "parameters", params);
	json_stream__text(s, "mode", bench_mode__name(run->mode));
	json_stream__text(s, "pin", bench_pin__name(p->pin));
	write_ints(s, "cpus", run->cpus, run->nr_cpus);
	json_stream__line(s);
	write_dir(s, run);
	write_some(s, "duration_ns", p->duration);
	json_stream__u64(s, "warmup_ns", p->warmup);
	json_stream__u64(s, "window_ns", p->window);
	write_some(s, "loops", p->loops);
	write_some(s, "total", p->total);
	json_stream__s64(s, "repeats", run->nr_repeats);
	write_some(s, "max_time_ns", p->max_time);
	write_ints(s, "task_counts", run->points, run->nr_points);
	json_stream__open(s, "variants", '[');
	for (i = 0; i < run->nr_variants; i++)
		json_stream__text(s, NULL, run->variants[i].name);
	json_stream__close(s, ']');
}

/* From the clean runs to those with an instrument: all of these come after all of those. */
static void begin_passes(struct json_observer *j)
{
	json_stream__close(&j->json, ']');
	json_stream__line(&j->json);
	json_stream__open(&j->json, "passes", '[');
	j->passes = true;
}

static int json_begin(struct bench_observer *o, struct bench_run *run)
{
	const struct instrument *ins = passes__instrument();
	struct json_observer *j = to_json(o);
	bool first = !j->file.opened;
	int err = observe_file__open(&j->file, run);

	if (err)
		return err;
	if (first)
		write_head(j);
	if (ins && !j->passes)
		begin_passes(j);
	json_stream__line(&j->json);
	json_stream__open(&j->json, NULL, '{');
	if (ins)
		json_stream__text(&j->json, "instrument", ins->name);
	write_plan(&j->json, run);
	json_stream__line(&j->json);
	json_stream__open(&j->json, "points", '[');
	j->begun = true;
	return observe_file__flush(&j->file, run);
}

static void write_flags(struct json_stream *s, unsigned int flags)
{
	unsigned int flag;

	json_stream__open(s, "flags", '[');
	while ((flag = observe__next_flag(&flags)))
		json_stream__text(s, NULL, bench_flag__name(flag));
	json_stream__close(s, ']');
}

/* One field of all tasks. */
#define write_column(s, name, rep, nr, kind, field)					\
	do {										\
		const struct bench_repeat *__rep = (rep);				\
		struct json_stream *__s = (s);						\
		int __i, __nr = __rep->tasks ? (nr) : 0;				\
											\
		json_stream__line(__s);							\
		json_stream__open(__s, name, '[');					\
		for (__i = 0; __i < __nr; __i++)					\
			json_stream__##kind(__s, NULL, __rep->tasks[__i].field);	\
		json_stream__close(__s, ']');						\
	} while (0)

/*
 * A task's ops in each window. A longer run of n zeros is put as [n]: most of the samples of many
 * tasks on few CPUs are zeros.
 */
static void write_row(struct json_stream *s, const struct bench_repeat *rep, int task)
{
	int w, nr;

	json_stream__open(s, NULL, '[');
	for (w = 0; w < rep->nr_windows; w += nr) {
		for (nr = 0; w + nr < rep->nr_windows; nr++) {
			if (rep->windows[w + nr].task_ops[task])
				break;
		}
		if (nr >= ZERO_RUN) {
			write_ints(s, NULL, &nr, 1);
		} else {
			json_stream__u64(s, NULL, rep->windows[w].task_ops[task]);
			nr = 1;
		}
	}
	json_stream__close(s, ']');
}

static void write_windows(struct json_stream *s, const struct bench_repeat *rep, int nr_tasks)
{
	int i, w;

	json_stream__line(s);
	json_stream__open(s, "windows", '[');
	for (w = 0; w < rep->nr_windows; w++) {
		const struct bench_window *win = &rep->windows[w];

		json_stream__open(s, NULL, '[');
		json_stream__s64(s, NULL, win->start_ns - rep->gate_ns);
		json_stream__s64(s, NULL, win->end_ns - rep->gate_ns);
		json_stream__u64(s, NULL, win->ops);
		json_stream__bool(s, NULL, win->dropped);
		json_stream__close(s, ']');
	}
	json_stream__close(s, ']');
	json_stream__line(s);
	json_stream__open(s, "window_ops", '[');
	for (i = 0; rep->nr_windows && i < nr_tasks; i++) {
		json_stream__line(s);
		write_row(s, rep, i);
	}
	json_stream__close(s, ']');
}

static void write_repeat(struct json_stream *s, const struct bench_repeat *rep, int nr_tasks)
{
	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__u64(s, "gate_ns", rep->gate_ns);
	json_stream__u64(s, "elapsed_ns", rep->elapsed_ns);
	json_stream__u64(s, "ops", rep->ops);
	json_stream__u64(s, "ops_all", rep->ops_all);
	json_stream__real(s, "rate", rep->rate);
	json_stream__u64(s, "start_skew_ns", rep->skew_ns);
	write_flags(s, rep->flags);
	write_column(s, "task_ops", rep, nr_tasks, u64, ops);
	write_column(s, "task_ops_all", rep, nr_tasks, u64, ops_all);
	write_column(s, "task_start_ns", rep, nr_tasks, s64, start_ns);
	write_column(s, "task_done_ns", rep, nr_tasks, s64, done_ns);
	write_column(s, "task_cpu", rep, nr_tasks, s64, cpu);
	write_column(s, "task_nvcsw", rep, nr_tasks, s64, nvcsw);
	write_column(s, "task_nivcsw", rep, nr_tasks, s64, nivcsw);
	write_windows(s, rep, nr_tasks);
	json_stream__close(s, '}');
}

static void write_metrics(struct json_stream *s, const struct bench_result *res)
{
	struct json_object *metrics = json_object_new_object();
	int i, r;

	for (i = 0; metrics && i < res->nr_metrics; i++) {
		const struct bench_metric *m = &res->metrics[i];
		struct json_object *metric = json_object_new_object();
		struct json_object *values = json_object_new_array();

		for (r = 0; values && m->values && r < res->nr_repeats; r++)
			json_object_array_add(values, json_real(m->values[r]));
		if (metric) {
			json_object_object_add(metric, "unit", json_text(m->unit));
			json_object_object_add(metric, "values", values);
		} else {
			json_object_put(values);
		}
		json_object_object_add(metrics, m->name, metric);
	}
	json_stream__value(s, "metrics", metrics);
}

static int json_result(struct bench_observer *o, struct bench_run *run,
		       const struct bench_result *res)
{
	struct json_observer *j = to_json(o);
	struct json_stream *s = &j->json;
	double asked = bench_worker_params.precision;
	int i;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "variant", run->variants[res->variant].name);
	json_stream__s64(s, "tasks", res->nr_tasks);
	json_stream__s64(s, "cpus", res->nr_cpus);
	json_stream__real(s, "rate", res->rate);
	json_stream__real(s, "ci95", res->ci95);
	json_stream__real(s, "us_per_op", res->us_op);
	json_stream__real(s, "ratio", res->ratio);
	json_stream__real(s, "ratio_ci95", res->ratio_ci95);
	json_stream__real(s, "task_min", res->task_min);
	json_stream__real(s, "task_max", res->task_max);
	json_stream__real(s, "jain", res->jain);
	json_stream__real(s, "elapsed_sec", res->elapsed);
	json_stream__u64(s, "start_skew_ns", res->skew_ns);
	json_stream__u64(s, "windows", res->nr_windows);
	json_stream__u64(s, "windows_dropped", res->nr_dropped);
	json_stream__real(s, "precision_asked", asked > 0 ? asked : NAN);
	json_stream__real(s, "precision_reached", 100 * res->ci95 / res->rate);
	json_stream__text(s, "stopped_by", bench_stop__name(res->stopped_by));
	json_stream__bool(s, "valid", observe__valid(res));
	write_flags(s, res->flags);
	json_stream__text(s, "skip", *res->skip ? res->skip : NULL);
	json_stream__open(s, "notes", '[');
	for (i = 0; i < res->nr_notes; i++)
		json_stream__text(s, NULL, res->notes[i]);
	json_stream__close(s, ']');
	write_metrics(s, res);
	if (passes__instrument() && passes__instrument()->figures.kind)
		figures__write_json(&passes__instrument()->figures, s);
	json_stream__line(s);
	json_stream__open(s, "repeats", '[');
	for (i = 0; i < res->nr_repeats; i++)
		write_repeat(s, &res->repeats[i], res->nr_tasks);
	json_stream__close(s, ']');
	json_stream__close(s, '}');
	return observe_file__flush(&j->file, run);
}

static const char *status_name(enum bench_exit status)
{
	switch (status) {
	case BENCH_EXIT_OK:
		return "ok";
	case BENCH_EXIT_USAGE:
		return "usage";
	case BENCH_EXIT_SKIPPED:
		return "skipped";
	case BENCH_EXIT_INTERRUPTED:
		return "interrupted";
	case BENCH_EXIT_FAILED:
	default:
		return "failed";
	}
}

static int json_end(struct bench_observer *o, struct bench_run *run, enum bench_exit status)
{
	struct json_observer *j = to_json(o);
	struct json_stream *s = &j->json;

	if (!j->begun)
		return 0;
	j->begun = false;
	json_stream__close(s, ']');
	json_stream__line(s);
	json_stream__text(s, "status", status_name(status));
	json_stream__text(s, "message", *run->message ? run->message : NULL);
	json_stream__close(s, '}');
	return observe_file__flush(&j->file, run);
}

struct bench_observer *json_observer__new(const char *path, int argc, const char **argv)
{
	struct json_observer *j = calloc(1, sizeof(*j));
	int i;

	if (!j)
		return NULL;
	j->observer.begin = json_begin;
	j->observer.result = json_result;
	j->observer.end = json_end;
	j->file.out = outfile__new(path);
	j->json.out = j->file.out;
	j->command = json_object_new_array();
	if (!j->file.out || !j->command) {
		outfile__free(j->file.out);
		json_object_put(j->command);
		free(j);
		return NULL;
	}
	for (i = 0; i < argc; i++)
		json_object_array_add(j->command, json_text(argv[i]));
	return &j->observer;
}

int json_observer__finish(struct bench_observer *o, bool complete)
{
	struct json_observer *j = to_json(o);
	int err;

	if (j->file.opened) {
		json_stream__close(&j->json, ']');
		json_stream__line(&j->json);
		json_stream__bool(&j->json, "complete", complete);
		json_stream__close(&j->json, '}');
		outfile__puts(j->file.out, "\n");
	}
	err = observe_file__finish(&j->file);
	json_object_put(j->command);
	free(j);
	return err;
}
