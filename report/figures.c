// SPDX-License-Identifier: GPL-2.0
/*
 * What instruments have found, in reports of results files
 */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <json-c/json.h>

#include "report/figures-json.h"
#include "report/figures-text.h"
#include "report/report.h"
#include "util/json-stream.h"

/* The clean rate of a pass's point and half of its interval, NaN if the file has none. */
static double clean_rate(const struct results *res, const struct results_bench *pass,
			 const struct results_point *point, double *ci95)
{
	int b, i;

	*ci95 = NAN;

	for (b = 0; b < res->nr_benches; b++) {
		const struct results_bench *bench = &res->benches[b];

		if (strcmp(bench->name, pass->name) ||
		    !json_object_equal(bench->parameters, pass->parameters))
			continue;
		for (i = 0; i < bench->nr_points; i++) {
			if (bench->points[i].tasks == point->tasks && bench->points[i].valid &&
			    !strcmp(bench->points[i].variant, point->variant)) {
				*ci95 = bench->points[i].ci95;
				return bench->points[i].rate;
			}
		}
	}
	return NAN;
}

static void print_pass(const struct results *res, const struct results_bench *pass, bool verbose)
{
	int i;

	printf("\n%s, %s: a pass of its own", pass->name, pass->instrument);
	if (pass->nr_points)
		printf(", means of %d repeat%s", pass->points[0].nr_repeats,
		       pass->points[0].nr_repeats == 1 ? "" : "s");
	printf("\n");
	if (!pass->nr_points)
		figures__print_wrapped(pass->message ?: pass->status, 2, stdout);
	for (i = 0; i < pass->nr_points; i++) {
		const struct results_point *p = &pass->points[i];
		struct figures_heading heading = {
			.variant = p->variant, .tasks = p->tasks, .verbose = verbose,
			.rate = p->rate, .ci95 = p->ci95,
		};

		heading.clean = clean_rate(res, pass, p, &heading.clean_ci95);
		if (p->figures && !p->skip)
			figures__print(p->figures, &heading, stdout);
	}
}

void report__print_figures(const struct results *res, bool markdown, bool verbose)
{
	int i;

	if (markdown && res->nr_passes)
		printf("\n```");
	for (i = 0; i < res->nr_passes; i++) {
		if (res->passes[i].instrument)
			print_pass(res, &res->passes[i], verbose);
	}
	if (markdown && res->nr_passes)
		printf("```\n");
}

void report__json_figures(struct json_stream *s, const struct results *res)
{
	double ci95;
	int i, k;

	json_stream__open(s, "passes", '[');
	for (i = 0; i < res->nr_passes; i++) {
		const struct results_bench *pass = &res->passes[i];

		json_stream__line(s);
		json_stream__open(s, NULL, '{');
		json_stream__text(s, "name", pass->name);
		json_stream__text(s, "instrument", pass->instrument);
		json_stream__text(s, "status", pass->status);
		json_stream__text(s, "message", pass->message);
		json_stream__open(s, "points", '[');
		for (k = 0; k < pass->nr_points; k++) {
			const struct results_point *p = &pass->points[k];

			json_stream__line(s);
			json_stream__open(s, NULL, '{');
			json_stream__text(s, "variant", p->variant);
			json_stream__s64(s, "tasks", p->tasks);
			json_stream__real(s, "rate", p->rate);
			json_stream__real(s, "clean_rate", clean_rate(res, pass, p, &ci95));
			if (p->figures)
				figures__write_json(p->figures, s);
			json_stream__close(s, '}');
		}
		json_stream__close(s, ']');
		json_stream__close(s, '}');
	}
	json_stream__close(s, ']');
}
