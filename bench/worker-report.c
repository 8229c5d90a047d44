// SPDX-License-Identifier: GPL-2.0
/*
 * worker-report.c: the summary of a result, and the text observer
 *
 * The interval is bench_mean()'s over the means of the repeats: what it covers is the spread from
 * one repeat to the next on this boot, not that of the tasks, whose extremes stand beside it.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "bench.h"
#include "worker.h"

static const struct {
	const char *name, *text;
} flags[] = {
	{ "error",	"failed" },
	{ "zero-ops",	"not valid: no op was done in the measured time" },
	{ "too-short",	"not valid: less than 1 ms was measured" },
	{ "throttled",	"not valid: a cgroup's CPU quota (cpu.max) stopped the tasks" },
	{ "cpu-gone",	"not valid: a task was moved off its CPU (offline? cpuset?)" },
	{ "cut-total",	"not valid: --duration ended before --total was done" },
	{ "stopped-total", "not valid: was stopped and continued before --total was done" },
	{ "", "" },
	{ "unsettled",	"did not settle: the rate drifts within over a fifth of the repeats" },
	{ "oversubscribed", "more tasks than CPUs" },
	{ "steal",	"the hypervisor took over 1 % of the CPU time (steal)" },
	{ "suspended",	"was stopped, or frozen, and continued; those windows are dropped" },
	{ "late-start",	"some tasks began after the first measured window" },
	{ "torn",	"reading the counters took over 1 % of a window" },
	{ "cut-loops",	"--duration ended before --loops were done" },
	{ "idle-task",	"some tasks got nothing done in the measured time" },
	{ "stalled",	"a task got nothing done in some of the windows" },
	{ "preempted",	"other programs ran on the CPUs of the tasks (over 5 % of the time)" },
	{ "drift",	"the rate drifts over the run" },
};

static int flag_index(enum bench_flag flag)
{
	int i = __builtin_ctz(flag);

	return i < (int)ARRAY_SIZE(flags) ? i : 0;
}

const char *bench_flag__text(enum bench_flag flag)
{
	return flags[flag_index(flag)].text;
}

const char *bench_flag__name(enum bench_flag flag)
{
	return flags[flag_index(flag)].name;
}

/* Jain, Chiu and Hawe 1984: (sum x)^2 / (n sum x^2), from 1/n (one has all) to 1 (all alike). */
static double jain(const struct bench_repeat *rep, int nr_tasks)
{
	double sum = 0, squares = 0;
	int i;

	for (i = 0; i < nr_tasks; i++) {
		double x = rep->tasks[i].ops;

		sum += x;
		squares += x * x;
	}
	return squares > 0 ? sum * sum / (nr_tasks * squares) : NAN;
}

void bench_result__summarise(struct bench_result *res, const struct bench_result *first, bool total)
{
	int n = res->nr_repeats, r, i, unsettled = 0;
	double *x = calloc(n + 1, sizeof(*x)), unused;

	res->rate = NAN;
	res->ci95 = NAN;
	res->ratio = NAN;
	res->ratio_ci95 = NAN;
	res->task_min = NAN;
	res->task_max = NAN;
	res->jain = NAN;
	res->elapsed = NAN;
	res->us_op = NAN;
	if (!x)
		return;
	for (r = 0; r < n; r++) {
		const struct bench_repeat *rep = &res->repeats[r];

		res->flags |= rep->flags & ~BENCH_FLAG_UNSETTLED;
		unsettled += !!(rep->flags & BENCH_FLAG_UNSETTLED);
		res->skew_ns = max(res->skew_ns, rep->skew_ns);
		res->nr_windows += rep->nr_windows;
		res->nr_dropped += rep->nr_dropped;
		for (i = 0; i < res->nr_tasks && isfinite(rep->rate); i++) {
			double rate = rep->tasks[i].ops * (double)NSEC_PER_SEC / rep->elapsed_ns;

			res->task_min = fmin(res->task_min, rate);
			res->task_max = fmax(res->task_max, rate);
		}
		x[r] = jain(rep, res->nr_tasks);
	}
	/* the rule errs in up to one of fifty repeats: one alone among many says nothing */
	if (unsettled * 5 > n)
		res->flags |= BENCH_FLAG_UNSETTLED;
	res->jain = bench_mean_ci(x, n, &unused);
	for (r = 0; r < n; r++)
		x[r] = res->repeats[r].rate;
	if (!(res->flags & BENCH_FLAG_ERROR) && !*res->skip)
		res->rate = bench_mean_ci(x, n, &res->ci95);
	if (bench_drifts(x, n))
		res->flags |= BENCH_FLAG_DRIFT;
	res->us_op = res->nr_tasks * 1e6 / res->rate;
	for (r = 0; r < n && total; r++)
		x[r] = res->repeats[r].elapsed_ns / (double)NSEC_PER_SEC;
	if (total)
		res->elapsed = bench_mean_ci(x, n, &unused);
	for (r = 0; first && r < n && r < first->nr_repeats; r++)
		x[r] = first->repeats[r].rate / res->repeats[r].rate;
	if (first && r && !((first->flags | res->flags) & BENCH_FLAG_INVALID_MASK))
		res->ratio = bench_mean_ci(x, r, &res->ratio_ci95);
	free(x);
}

/* ---- the text observer: a table to be pasted into a mail, at most 78 columns ---- */

#define MAX_FOOTNOTES	64

static double first_rate;
static int nr_footnotes;
static struct {
	char	text[BENCH_TEXT_MAX + BENCH_NAME_MAX];
	char	tasks[64];		/* the task counts that it was said of */
} footnotes[MAX_FOOTNOTES];

static const char *time_text(char *text, size_t size, u64 ns)
{
	if (ns % NSEC_PER_SEC == 0)
		snprintf(text, size, "%llus", (unsigned long long)(ns / NSEC_PER_SEC));
	else if (ns % NSEC_PER_MSEC == 0)
		snprintf(text, size, "%llums", (unsigned long long)(ns / NSEC_PER_MSEC));
	else if (ns % NSEC_PER_USEC == 0)
		snprintf(text, size, "%lluus", (unsigned long long)(ns / NSEC_PER_USEC));
	else
		snprintf(text, size, "%lluns", (unsigned long long)ns);
	return text;
}

/* The parameters, at most 78 columns a line. */
static void print_params(const struct bench_run *run)
{
	int i, len, column = 0;

	for (i = 0; i < run->nr_params; i++) {
		len = strlen(run->params[i].name) + strlen(run->params[i].value) + 3;
		if (!column || column + len > 78)
			column = printf("%s#", column ? "\n" : "");
		column += printf(" %s=%s%s", run->params[i].name, run->params[i].value,
				 i + 1 < run->nr_params ? "," : "");
	}
	if (column)
		putchar('\n');
}

static int text_begin(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	const struct bench_worker_params *p = &bench_worker_params;
	char text[32];

	first_rate = NAN;
	nr_footnotes = 0;
	if (bench_format != BENCH_FORMAT_DEFAULT)
		return 0;
	printf("# one op: %s\n", run->unit);
	printf("# %s tasks, pin %s, %d CPU%s; %s%d repeat%s of ", bench_mode__name(run->mode),
	       bench_pin__name(p->pin), run->nr_cpus, run->nr_cpus > 1 ? "s" : "",
	       p->precision ? "at least " : "", run->nr_repeats, run->nr_repeats > 1 ? "s" : "");
	if (p->loops)
		printf("%llu ops a task\n", (unsigned long long)p->loops);
	else if (p->total)
		printf("%llu ops in all\n", (unsigned long long)p->total);
	else
		printf("%s\n", time_text(text, sizeof(text), p->duration));
	if (p->precision)
		printf("# until +-95%% is at most %.10g%%, or for %s\n", p->precision,
		       time_text(text, sizeof(text), p->max_time));
	else if (p->max_time)
		printf("# as many of them as begin in %s\n",
		       time_text(text, sizeof(text), p->max_time));
	print_params(run);
	if (*run->fs)
		printf("# directory on %s\n", run->fs);
	printf("\n%6s ", "tasks");
	if (run->nr_variants > 1)
		printf("%-9s %12s %7s %10s %9s %7s %8s\n", "variant", "ops/s", "+-95%",
		       "us/op", "us/op vs", "+-95%", "fairness");
	else
		printf("%13s %7s %11s %9s %8s %8s %8s\n", "ops/s", "+-95%",
		       p->total ? "seconds" : "us/op", "speed-up", "slowest", "fastest",
		       "fairness");
	return 0;
}

/* One line for each text, with the task counts that it was said of. */
static void footnote(const struct bench_run *run, const struct bench_result *res, const char *text)
{
	const char *variant = run->nr_variants > 1 ? run->variants[res->variant].name : "";
	char line[sizeof(footnotes[0].text)];
	size_t len;
	int i;

	snprintf(line, sizeof(line), "%s%s%s", variant, *variant ? ": " : "", text);
	for (i = 0; i < nr_footnotes && strcmp(footnotes[i].text, line); i++)
		;
	if (i == MAX_FOOTNOTES)
		return;
	if (i == nr_footnotes) {
		snprintf(footnotes[i].text, sizeof(footnotes[i].text), "%s", line);
		footnotes[i].tasks[0] = '\0';
		nr_footnotes++;
	}
	len = strlen(footnotes[i].tasks);
	if (len + 16 < sizeof(footnotes[i].tasks))
		snprintf(footnotes[i].tasks + len, sizeof(footnotes[i].tasks) - len, "%s%d",
			 len ? "," : "", res->nr_tasks);
	else if (footnotes[i].tasks[len - 1] != '.')
		strcat(footnotes[i].tasks, " ...");
}

static void print_number(int width, double x)
{
	int decimals = fabs(x) < 10 ? 4 : fabs(x) < 1000 ? 2 : 0;

	if (isfinite(x))
		printf(" %*.*f", width, decimals, x);
	else
		printf(" %*s", width, "-");
}

static void print_percent(int width, double x, const char *sign)
{
	char text[32];

	snprintf(text, sizeof(text), strchr(sign, '+') ? "%+.1f%%" : "%.1f%%", 100 * x);
	printf(" %*s", width, isfinite(x) ? text : "-");
}

static void print_row(const struct bench_run *run, const struct bench_result *res)
{
	double mean = res->rate / res->nr_tasks;
	bool invalid = res->flags & BENCH_FLAG_INVALID_MASK || *res->skip;

	if (!res->variant && !run->point)
		first_rate = invalid ? NAN : res->rate;
	printf("%6d", res->nr_tasks);
	if (run->nr_variants > 1)
		printf(" %-9s", run->variants[res->variant].name);
	if (invalid) {
		printf(" %*s\n", run->nr_variants > 1 ? 12 : 13,
		       *res->skip && !(res->flags & BENCH_FLAG_ERROR) ? "skipped" : "invalid");
		return;
	}
	if (run->nr_variants > 1) {
		print_number(12, res->rate);
		print_percent(7, res->ci95 / res->rate, "");
		print_number(10, res->us_op);
		print_percent(9, res->ratio - 1, "+");
		print_percent(7, res->ratio_ci95, "");
	} else {
		print_number(13, res->rate);
		print_percent(7, res->ci95 / res->rate, "");
		print_number(11, bench_worker_params.total ? res->elapsed : res->us_op);
		print_number(9, res->rate / first_rate);
		print_percent(8, res->task_min / mean - 1, "+");
		print_percent(8, res->task_max / mean - 1, "+");
	}
	print_number(8, res->jain);
	putchar('\n');
}

static void print_metrics(const struct bench_result *res)
{
	double ci95, mean;
	int i;

	for (i = 0; i < res->nr_metrics; i++) {
		mean = bench_mean_ci(res->metrics[i].values, res->nr_repeats, &ci95);
		/* a count that stayed 0 is not worth a line; a ratio that did may be the point */
		if (mean == 0 && !strchr(res->metrics[i].unit, '/'))
			continue;
		printf("        %s: ", res->metrics[i].name);
		print_number(0, mean);
		printf(" %s\n", res->metrics[i].unit);
	}
}

static int text_result(struct bench_observer *o __maybe_unused, struct bench_run *run,
		       const struct bench_result *res)
{
	const struct bench_worker_params *p = &bench_worker_params;
	const char *variant = run->variants[res->variant].name;
	bool valid = !(res->flags & BENCH_FLAG_INVALID_MASK) && isfinite(res->rate);
	char text[128], limit[32];
	int i, said;

	if (bench_format == BENCH_FORMAT_SIMPLE) {
		printf("%d %s", res->nr_tasks, *variant ? variant : "-");
		if (valid)
			printf(" %.3f", res->rate);
		else
			printf(" -");
		if (valid && isfinite(res->ci95))
			printf(" %.3f", res->ci95);
		else
			printf(" -");
		printf(" %s ", run->ops->name);
		for (said = 0, i = 0; i < (int)ARRAY_SIZE(flags); i++) {
			if (res->flags & (1u << i))
				said += printf("%s%s", said ? "," : "", flags[i].name);
		}
		printf("%s\n", said ? "" : "-");
		return 0;
	}
	print_row(run, res);
	print_metrics(res);
	fflush(stdout);
	if (*res->skip)
		footnote(run, res, res->skip);
	for (i = 0; i < (int)ARRAY_SIZE(flags); i++) {
		if (res->flags & (1u << i) && (1u << i) != BENCH_FLAG_ERROR)
			footnote(run, res, flags[i].text);
	}
	if (valid && res->nr_repeats < run->nr_repeats) {
		snprintf(text, sizeof(text), "only %d of %d repeats", res->nr_repeats,
			 run->nr_repeats);
		footnote(run, res, text);
	}
	if (valid && p->precision && !(100 * res->ci95 <= p->precision * res->rate)) {
		time_text(limit, sizeof(limit), p->max_time);
		snprintf(text, sizeof(text), "--precision %.10g was not reached%s%s", p->precision,
			 res->stopped_by == BENCH_STOP_MAX_TIME ? " within --max-time " :
			 res->stopped_by == BENCH_STOP_REPEATS ?
					    " by as many repeats as there may be" : "",
			 res->stopped_by == BENCH_STOP_MAX_TIME ? limit : "");
		footnote(run, res, text);
	}
	for (i = 0; i < res->nr_notes; i++)
		footnote(run, res, res->notes[i]);
	return 0;
}

/* Broken at blanks into lines of at most 78 columns, where there is a blank. */
static void print_footnote(const char *tasks, const char *text, bool first)
{
	int len, column = printf("%s# %s:", first ? "\n" : "", tasks) - first;

	for (; *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		if (column + 1 + len > 78)
			column = printf("\n#  ") - 1;
		column += printf(" %.*s", len, text);
	}
	putchar('\n');
}

static int text_end(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused,
		    enum bench_exit status __maybe_unused)
{
	int i;

	if (bench_format == BENCH_FORMAT_DEFAULT) {
		for (i = 0; i < nr_footnotes; i++)
			print_footnote(footnotes[i].tasks, footnotes[i].text, !i);
		putchar('\n');
	}
	return 0;
}

struct bench_observer bench_text_observer = {
	.begin	= text_begin,
	.result	= text_result,
	.end	= text_end,
};
