// SPDX-License-Identifier: GPL-2.0
/*
 * perf-kbench report: tables, the scaling law and plots of results files
 */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"
#include "report/report.h"
#include "util/outfile.h"
#include "util/plot.h"

enum report_format { FORMAT_DEFAULT, FORMAT_JSON, FORMAT_CSV, FORMAT_MARKDOWN };

static const char * const formats[] = { "default", "json", "csv", "markdown" };

static int format;
static const char *plot;
static bool quiet, verbose;

static int opt_format(const struct option *opt, const char *arg, int unset);
static int opt_plot(const struct option *opt, const char *arg, int unset);

static const struct option report_options[] = {
	{ .type = OPTION_CALLBACK, .short_name = 'f', .long_name = "format", .argh = "format",
	  .help = "default, json, csv or markdown (default: default)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_format },
	{ .type = OPTION_CALLBACK, .long_name = "plot", .argh = "file",
	  .help = "draw, too: NAME.svg, NAME.png or - (default: no)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_plot },
	OPT_BOOLEAN('q', "quiet", &quiet, "no remarks on standard error (default: remarks)"),
	OPT_BOOLEAN('v', "verbose", &verbose, "all that instruments found, with call chains"),
	OPT_END()
};

static const char * const report_usage[] = {
	"perf-kbench report [<options>] <results file>...",
	"",
	"Shows what -o of a run has written: a table for each benchmark, and how",
	"it scales. The results file - is standard input.",
	NULL
};

static int opt_format(const struct option *opt __maybe_unused, const char *arg,
		      int unset __maybe_unused)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(arg, formats[i])) {
			format = i;
			return 0;
		}
	}
	fprintf(stderr, "  Error: --format: there is no \"%s\"; there are:", arg);
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		fprintf(stderr, " %s", formats[i]);
	fprintf(stderr, "\n");
	return -1;
}

static int opt_plot(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	char why[256];

	if (plot__check_path(arg, why, sizeof(why))) {
		fprintf(stderr, "  Error: --%s: %s\n", opt->long_name, why);
		return -1;
	}
	plot = arg;
	return 0;
}

/* ---- the plot ---- */

static int compare_tasks(const void *a, const void *b)
{
	const struct plot_point *p = a, *q = b;

	return p->tasks < q->tasks ? -1 : p->tasks > q->tasks;
}

/* What a curve is called: no more than tells it from the others. The caller frees. */
static char *curve_title(const struct report *rep, const struct report_curve *c)
{
	bool files = rep->nr_files > 1, benches = false;
	char *title;
	int i;

	for (i = 0; i < rep->nr_curves; i++)
		benches |= strcmp(rep->curves[i].bench->name, c->bench->name) != 0;
	if (asprintf(&title, "%s%s%s%s%s", files ? c->res->path : "",
		     files && (benches || *c->variant) ? ": " : "",
		     benches || !(files || *c->variant) ? c->bench->name : "",
		     benches && *c->variant ? ", " : "", c->variant) < 0)
		return NULL;
	return title;
}

/* The benchmark and machine, where they are the same for all; the rest is in the curves' titles. */
static char *plot_title(const struct report *rep)
{
	const struct report_curve *c = &rep->curves[0];
	char *model, *release, *title = NULL;
	const char *what = c->bench->name, *colon = ": ", *unit = c->bench->unit;
	bool same_kernel = true;
	int i, ret;

	model = results__env(c->res, "cpu.model");
	release = results__env(c->res, "kernel.release");
	for (i = 1; i < rep->nr_curves; i++) {
		if (strcmp(rep->curves[i].bench->name, c->bench->name)) {
			what = "perf-kbench";
			colon = "";
			unit = "";
		}
	}
	for (i = 0; i < rep->nr_files; i++) {
		char *other = results__env(rep->files[i], "kernel.release");

		same_kernel &= other && release && *release && !strcmp(other, release);
		free(other);
	}
	if (!same_kernel)
		ret = asprintf(&title, "%s%s%s", what, colon, unit);
	else
		ret = asprintf(&title, "%s%s%s; Linux %s%s%s", what, colon, unit, release,
			       model && *model ? "; " : "", model ?: "");
	if (ret < 0)
		title = NULL;
	free(model);
	free(release);
	return title;
}

/* The points of a curve; how many of them can be drawn, or -ENOMEM. */
static int plot_points(const struct report_curve *c, struct plot_curve *curve)
{
	int i, nr = 0;

	curve->points = calloc(c->nr ?: 1, sizeof(*curve->points));
	if (!curve->points)
		return -ENOMEM;
	for (i = 0; i < c->nr; i++) {
		const struct results_point *p = c->points[i];
		bool valid = report__valid(p);

		curve->points[i] = (struct plot_point){
			.tasks = p->tasks,
			.y = valid ? p->rate : NAN,
			.low = valid ? p->rate - p->ci95 : NAN,
			.high = valid ? p->rate + p->ci95 : NAN,
		};
		nr += valid;
	}
	curve->nr = c->nr;
	qsort(curve->points, curve->nr, sizeof(*curve->points), compare_tasks);
	return nr;
}

static int draw(const struct report *rep)
{
	struct plot_curve *curves = calloc(rep->nr_curves + 1, sizeof(*curves));
	char *title = rep->nr_curves ? plot_title(rep) : NULL, why[512];
	int i, ret, nr = 0, err = curves ? 0 : -ENOMEM;

	snprintf(why, sizeof(why), "out of memory");
	for (i = 0; !err && i < rep->nr_curves; i++) {
		char *name = curve_title(rep, &rep->curves[i]);

		curves[nr].title = name;
		ret = name ? plot_points(&rep->curves[i], &curves[nr]) : -ENOMEM;
		if (ret > 0) {
			nr++;
			continue;
		}
		err = ret;
		if (!ret && !quiet)
			fprintf(stderr, "perf-kbench: %s: no valid point, not in the plot\n", name);
		free(name);
		free(curves[nr].points);
		curves[nr] = (struct plot_curve){ 0 };
	}
	if (!err)
		err = plot__draw(plot, title ?: "", curves, nr, why, sizeof(why));
	if (err)
		fprintf(stderr, "perf-kbench: --plot: %s\n", why);
	for (i = 0; i < nr; i++) {
		free((char *)curves[i].title);
		free(curves[i].points);
	}
	free(curves);
	free(title);
	return err ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

/* ---- all together ---- */

static int out_of_memory(void)
{
	fprintf(stderr, "perf-kbench: out of memory\n");
	return BENCH_EXIT_FAILED;
}

/* Each file that cannot be read is named, not only the first. */
static int read_files(struct report *rep, int nr, const char **paths)
{
	int i, ret = BENCH_EXIT_OK;
	char why[1024];

	rep->files = calloc(nr, sizeof(*rep->files));
	if (!rep->files)
		return out_of_memory();
	for (i = 0; i < nr; i++) {
		struct results *res = results__read(paths[i], why, sizeof(why));

		if (!res) {
			fprintf(stderr, "perf-kbench: %s\n", why);
			ret = BENCH_EXIT_FAILED;
			continue;
		}
		rep->files[rep->nr_files++] = res;
		if (!res->complete && !quiet)
			fprintf(stderr, "perf-kbench: %s: not complete: the run was cut short\n",
				res->path);
	}
	return ret;
}

static int print(const struct report *rep)
{
	int err = 0;

	switch (format) {
	case FORMAT_JSON:
		err = report__write_json(rep);
		break;
	case FORMAT_CSV:
		err = report__write_csv(rep);
		break;
	case FORMAT_DEFAULT:
	case FORMAT_MARKDOWN:
	default:
		report__print(rep, format == FORMAT_MARKDOWN, verbose);
		break;
	}
	if (!err)
		return BENCH_EXIT_OK;
	fprintf(stderr, "perf-kbench: writing standard output: %s; %s\n", strerror(-err),
		outfile__hint(err));
	return BENCH_EXIT_FAILED;
}

int cmd_report(int argc, const char **argv)
{
	struct report rep = { 0 };
	int ret;

	argc = parse_options(argc, argv, report_options, report_usage, 0);
	if (!argc)
		usage_with_options_msg(report_usage, report_options, "no results file is named");
	if (plot && !strcmp(plot, "-") && (format == FORMAT_JSON || format == FORMAT_CSV))
		usage_with_options_msg(report_usage, report_options,
				       "--plot - would be in the midst of -f %s: name a file",
				       formats[format]);
	ret = read_files(&rep, argc, argv);
	if (ret == BENCH_EXIT_OK && report__make(&rep))
		ret = out_of_memory();
	if (ret == BENCH_EXIT_OK)
		ret = print(&rep);
	if (ret == BENCH_EXIT_OK && plot)
		ret = draw(&rep);
	report__free(&rep);
	return ret;
}
