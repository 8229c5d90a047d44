// SPDX-License-Identifier: GPL-2.0
/*
 * perf-kbench compare: are the patched results better than those of base, or worse?
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"
#include "compare/compare.h"
#include "util/plot.h"

/*
 * The noise from run to run that is assumed where nobody has measured it: the rate of one thing on
 * a shared machine moves by 1 to 3 % from one minute to the next (Documentation/verdict.txt).
 */
#define ASSUMED_NOISE	0.03
#define PROGRAM		"perf-kbench compare: "

static const char *format_name = "default", *noise_path, *plot_path;
static bool force, no_floor;
static double gate = NAN, same = 3;

static const struct option options[] = {
	OPT_STRING('f', "format", &format_name, "format",
		   "default, json, csv, markdown, or lkp: the kernel test robot's layout"),
	OPT_BENCH_PERCENT(0, "gate", &gate, COMPARE_HELP_GATE),
	OPT_BENCH_PERCENT(0, "same", &same, COMPARE_HELP_SAME),
	OPT_BOOLEAN(0, "force", &force,
		    "compare what was not measured in the same way, and say so"),
	OPT_STRING(0, "noise", &noise_path, "file",
		   "what \"perf-kbench noise\" found on this machine (default: its own file)"),
	OPT_STRING(0, "plot", &plot_path, "file",
		   "also draw the curves: NAME.svg, NAME.png, or - for the terminal"),
	OPT_BOOLEAN(0, "no-floor", &no_floor, "take no notice of what \"noise\" found"),
	OPT_END()
};

static const char * const usage[] = {
	"perf-kbench compare [<options>] <base.json>... -- <patched.json>...",
	"perf-kbench compare [<options>] <base.json> <patched.json>",
	NULL
};

static struct results **read_files(const char **paths, int nr)
{
	struct results **files = calloc(nr + 1, sizeof(*files));
	char why[512];
	int i, failed = 0;

	for (i = 0; files && i < nr; i++) {
		files[i] = results__read(paths[i], why, sizeof(why));
		if (!files[i]) {
			fprintf(stderr, PROGRAM "%s\n", why);
			failed++;
		}
	}
	if (!failed)
		return files;
	for (i = 0; i < nr; i++)
		results__free(files[i]);
	free(files);
	return NULL;
}

static void free_files(struct results **files, int nr)
{
	int i;

	for (i = 0; files && i < nr; i++)
		results__free(files[i]);
	free(files);
}

/* Is what was read fit for a verdict? Says what is not. */
static int check(const struct comparison *c)
{
	int i, refused = comparison__count(c, NOTE_REFUSED);

	if (refused && !force) {
		fprintf(stderr, PROGRAM "not comparable (--force compares all the same), %s:\n",
			c->files[BASE][0]->path);
		for (i = 0; i < c->nr_notes; i++) {
			if (c->notes[i].kind == NOTE_REFUSED)
				fprintf(stderr, "  %s\n", c->notes[i].text);
		}
		return BENCH_EXIT_FAILED;
	}
	if (!c->nr_points) {
		fprintf(stderr, PROGRAM "the two sides have no point in common\n");
		for (i = 0; i < c->nr_notes; i++)
			fprintf(stderr, "  %s\n", c->notes[i].text);
		return BENCH_EXIT_FAILED;
	}
	return BENCH_EXIT_OK;
}

static int read_noise(struct noise **noise)
{
	char why[512];

	*noise = no_floor ? NULL : noise__read(noise_path, why, sizeof(why));
	if (*noise || no_floor)
		return BENCH_EXIT_OK;
	if (!noise_path && (errno == ENOENT || errno == ENOTDIR || errno == EACCES))
		return BENCH_EXIT_OK;
	fprintf(stderr, PROGRAM "%s\n", why);
	return BENCH_EXIT_FAILED;
}

static bool any_imported(const struct comparison *c)
{
	int side, i;

	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0; i < c->nr_files[side]; i++) {
			if (c->files[side][i]->origin)
				return true;
		}
	}
	return false;
}

/* @gated: what is returned is what the gate says. */
static int compare(struct comparison *c, const struct noise *noise, enum compare_format format,
		   bool *gated)
{
	struct point_verdict **all = calloc(c->nr_points + 1, sizeof(*all));
	struct verdict_rules rules = { .same = same / 100, .assumed = ASSUMED_NOISE };
	bool imported = any_imported(c);
	char why[512];
	int i, ret;

	if (!all)
		return BENCH_EXIT_FAILED;
	if (imported)
		rules.assumed = NAN;
	for (i = 0; i < c->nr_points; i++) {
		struct compare_point *p = &c->points[i];

		/* what was measured here says nothing of others' machines */
		rules.noise = imported ? NAN :
			      noise__find(noise, c->files[BASE][0], p->bench, p->point[BASE],
					  &rules.noise_df);
		verdict__compare(p->side, &rules, &p->v);
		all[i] = &p->v;
	}
	verdict__holm(all, c->nr_points, &rules);
	ret = comparison__print(c, format, &rules, stdout) ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
	if (!ret && plot_path && comparison__plot(c, plot_path, why, sizeof(why))) {
		fprintf(stderr, PROGRAM "--plot %s: %s\n", plot_path, why);
		ret = BENCH_EXIT_FAILED;
	}
	if (!ret && isfinite(gate)) {
		ret = verdict__gate(all, c->nr_points, gate / 100);
		/* what patched has lost is not known to be as good as it was */
		if (!ret && c->nr_lost)
			ret = GATE_CANNOT_TELL;
		*gated = true;
		if (format == COMPARE_TEXT)
			comparison__print_gate(gate, ret, stdout);
	}
	if (fflush(stdout)) {
		ret = BENCH_EXIT_FAILED;
		*gated = false;
	}
	free(all);
	return ret;
}

int cmd_compare(int argc, const char **argv)
{
	struct results **files[NR_SIDES] = { NULL };
	int nr[NR_SIDES] = { 0 }, ret, i;
	struct comparison *c = NULL;
	struct noise *noise = NULL;
	enum compare_format format;
	const char **patched;
	bool gated = false;
	char why[512];

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++)
		;
	patched = argv + i + 1;
	nr[PATCHED] = max(argc - i - 1, 0);
	nr[BASE] = parse_options(i, argv, options, usage, 0);
	if (i == argc && nr[BASE] == 2) {
		patched = argv + 1;
		nr[BASE] = 1;
		nr[PATCHED] = 1;
	}
	if (!nr[BASE] || !nr[PATCHED])
		usage_with_options_msg(usage, options,
				       "name files of both sides, with -- between them");
	if (compare_format__parse(format_name, &format))
		return BENCH_EXIT_USAGE;
	if (plot_path && plot__check_path(plot_path, why, sizeof(why))) {
		fprintf(stderr, PROGRAM "--plot %s: %s\n", plot_path, why);
		return BENCH_EXIT_USAGE;
	}
	if (plot_path && !strcmp(plot_path, "-") && format != COMPARE_TEXT) {
		fprintf(stderr, PROGRAM "--plot - goes with the default format only\n");
		return BENCH_EXIT_USAGE;
	}
	files[BASE] = read_files(argv, nr[BASE]);
	files[PATCHED] = read_files(patched, nr[PATCHED]);
	ret = BENCH_EXIT_FAILED;
	if (files[BASE] && files[PATCHED]) {
		c = comparison__new(files, nr);
		if (!c)
			fprintf(stderr, PROGRAM "out of memory\n");
	}
	if (c)
		ret = check(c) ?: read_noise(&noise) ?: compare(c, noise, format, &gated);
	/* a failure is no regression: to bisect, 1 would be one */
	if (isfinite(gate) && ret == BENCH_EXIT_FAILED && !gated)
		ret = GATE_CANNOT_TELL;
	comparison__free(c);
	noise__free(noise);
	free_files(files[BASE], nr[BASE]);
	free_files(files[PATCHED], nr[PATCHED]);
	return ret;
}
