// SPDX-License-Identifier: GPL-2.0
/*
 * results.c: whatever bytes a results file has, they are refused with a reason, or are what they
 * should be; libFuzzer calls this with bytes that it makes from those that it knows
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

static void check_label(const char *text)
{
	for (; *text; text++)
		must(!iscntrl((unsigned char)*text));
}

/* Others may not tell when, how long and how much; a rate may stand alone. */
static bool is_bare(const struct results_repeat *rep)
{
	return !rep->elapsed_ns && !rep->ops && !rep->nr_windows && isnan(rep->jain);
}

static void check_repeat(const struct results_repeat *rep, int nr_tasks, bool total, bool imported)
{
	u64 ns = 0, ops = 0;
	int i;

	for (i = 0; i < rep->nr_windows; i++) {
		const struct results_window *win = &rep->windows[i];

		must(win->start_ns <= win->end_ns);
		must(!i || win[-1].end_ns <= win->start_ns);
		ns += win->dropped ? 0 : (u64)win->end_ns - (u64)win->start_ns;
		ops += win->dropped ? 0 : win->ops;
	}
	must(total || (imported && !rep->nr_windows) ||
	     (ns == rep->elapsed_ns && ops == rep->ops));
	must(!isinf(rep->rate) && !(rep->rate < 0));
	must(!rep->elapsed_ns ? isnan(rep->rate) || (imported && is_bare(rep)) : true);
	must((imported && isnan(rep->jain)) ||
	     (rep->ops ? rep->jain > 0.99 / nr_tasks && rep->jain < 1.01 : isnan(rep->jain)));
	check_label(rep->flags);
}

static void check_point(const struct results_point *pt, bool total, bool imported)
{
	int i, r;

	must(pt->tasks >= 1 && pt->tasks <= 65536 && pt->cpus >= 0);
	must(!pt->valid || (pt->rate >= 0 && pt->nr_repeats && !pt->skip));
	must(!isinf(pt->rate) && !isinf(pt->ci95) && !isinf(pt->elapsed_sec));
	check_label(pt->variant);
	check_label(pt->flags);
	for (i = 0; i < pt->nr_repeats; i++) {
		must(!i || pt->repeats[i - 1].gate_ns < pt->repeats[i].gate_ns ||
		     (imported && !pt->repeats[i].gate_ns));
		check_repeat(&pt->repeats[i], pt->tasks, total, imported);
	}
	for (i = 0; i < pt->nr_metrics; i++) {
		must(*pt->metrics[i].name);
		check_label(pt->metrics[i].name);
		check_label(pt->metrics[i].unit);
		for (r = 0; r < pt->nr_repeats; r++)
			must(!isinf(pt->metrics[i].values[r]));
	}
}

static void check_bench(const struct results_bench *bench, bool imported)
{
	int i;

	must(*bench->name && *bench->unit && *bench->status);
	must(imported || (bench->mode && bench->pin && bench->cpus));
	must((!bench->mode || *bench->mode) && (!bench->pin || *bench->pin));
	must(bench->repeats >= 0 && bench->parameters);
	check_label(bench->name);
	check_label(bench->unit);
	must(!bench->cpus || strspn(bench->cpus, "0123456789,") == strlen(bench->cpus));
	for (i = 0; i < bench->nr_points; i++)
		check_point(&bench->points[i], bench->total, imported);
}

static void check_env(const struct results *res)
{
	static const char * const names[] = { "", "kernel", "cpu.model", "cpu.governors", "a.b.c" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char *text = results__env(res, names[i]);

		must(text);
		free(text);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t room = size % 3 ? 256 : size % 32;	/* for messages; little at times */
	char why[256] = "";
	struct results *res;
	int i;

	errno = 0;
	res = results__parse("x", (const char *)data, size, why, room);
	check_label(why);
	if (!res) {
		must(errno == EINVAL || errno == ENOTSUP);
		must(room < 4 || !strncmp(why, "x:", 2));
		return 0;
	}
	must(!strcmp(res->path, "x") && !*why && res->command);
	for (i = 0; i < res->nr_benches; i++)
		check_bench(&res->benches[i], res->origin);
	check_env(res);
	results__free(res);
	return 0;
}
