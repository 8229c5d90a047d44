// SPDX-License-Identifier: GPL-2.0
/*
 * perf-kbench ab: two commands in turn, A B B A, and one paired result
 *
 * For what can be switched without a reboot: two builds of the program, two directories, mount
 * options, cgroups. What drifts slowly falls on both alike, and cancels in the ratio of a block.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"
#include "compare/compare.h"
#include "subrun.h"

#define BLOCK		4			/* A B B A */
#define MIN_BLOCKS	2

static const char * const side_names[] = { [BASE] = "A", [PATCHED] = "B" };

static u64 nr_blocks = 10, max_time;
static double same = 3, gate = NAN;
static const char *format_name = "default";
static bool quiet;

static const struct option options[] = {
	OPT_BENCH_COUNT('n', "blocks", &nr_blocks, "blocks of A B B A (default 10)"),
	OPT_BENCH_TIME(0, "max-time", &max_time,
		       "begin no block after this time, with a unit: 60s, 5m (default: no end)"),
	OPT_STRING('f', "format", &format_name, "format",
		   "default, json, csv, markdown or lkp (default: default)"),
	OPT_BENCH_PERCENT(0, "same", &same, COMPARE_HELP_SAME),
	OPT_BENCH_PERCENT(0, "gate", &gate, COMPARE_HELP_GATE),
	OPT_BOOLEAN('q', "quiet", &quiet,
		    "no progress line on standard error (default: there is one on a terminal)"),
	OPT_END()
};

static const char * const usage[] = {
	"perf-kbench ab [<options>] '<command A>' '<command B>'",
	"",
	"Each is a line for /bin/sh in which a perf-kbench is run, without -o:",
	"    perf-kbench ab 'perf-kbench locking vfs -r 1 --dir /mnt/a' \\",
	"                   'perf-kbench locking vfs -r 1 --dir /mnt/b'",
	NULL
};

/* The results of a side, in the order in which they were run. */
struct ab {
	const char	*command[NR_SIDES];
	struct results	**files[NR_SIDES];
	int		nr[NR_SIDES];
};

static void progress(int block, int run, u64 begin)
{
	u64 left;
	int done = block * BLOCK + run;

	if (quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\rab: block %d/%d, run %d/%d", block + 1, (int)nr_blocks, run + 1, BLOCK);
	if (done) {
		left = (bench_now() - begin) / done * (nr_blocks * BLOCK - done) / NSEC_PER_SEC;
		fprintf(stderr, ", %d:%02d left", (int)(left / 60), (int)(left % 60));
	}
	fprintf(stderr, "   \r");
}

static void clear_progress(void)
{
	if (!quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%50s\r", "");
}

/* The file is gone when it is spoken of. */
static void name_run(struct results *res, enum compare_side side, int nr)
{
	char *name;

	if (asprintf(&name, "%s, run %d", side_names[side], nr) < 0)
		return;
	free(res->path);
	res->path = name;
}

/* All blocks, or those until a run fails. 0 or -errno with @why written. */
static int run_blocks(struct ab *ab, char *why, size_t why_size)
{
	static const enum compare_side order[BLOCK] = { BASE, PATCHED, PATCHED, BASE };
	u64 begin = bench_now();
	struct results *res;
	int block, i;

	for (block = 0; block < (int)nr_blocks; block++) {
		if (max_time && bench_now() - begin > max_time && block >= MIN_BLOCKS)
			break;
		for (i = 0; i < BLOCK; i++) {
			enum compare_side side = order[i];

			progress(block, i, begin);
			res = subrun__shell(ab->command[side], why, why_size);
			if (!res)
				return -EIO;
			ab->files[side][ab->nr[side]++] = res;
			name_run(res, side, ab->nr[side]);
		}
	}
	return 0;
}

/* The mean log rate of a file's run of a point; NaN if it has none. */
static double log_rate(const struct verdict_side *side, const struct results *file)
{
	double se, df;
	int i;

	for (i = 0; i < side->nr_runs; i++) {
		if (side->runs[i].file == file)
			return log(verdict_run__mean(&side->runs[i], &se, &df));
	}
	return NAN;
}

/* The ratio of each block that has all four runs. */
static void pair_point(const struct ab *ab, int blocks, struct compare_point *p,
		       const struct verdict_rules *rules)
{
	double *ratios = calloc(blocks + 1, sizeof(*ratios)), x;
	int i, nr = 0;

	if (!ratios)
		return;
	verdict__compare(p->side, rules, &p->v);	/* the rates and their own intervals */
	for (i = 0; i < blocks; i++) {
		x = log_rate(&p->side[PATCHED], ab->files[PATCHED][2 * i]) +
		    log_rate(&p->side[PATCHED], ab->files[PATCHED][2 * i + 1]) -
		    log_rate(&p->side[BASE], ab->files[BASE][2 * i]) -
		    log_rate(&p->side[BASE], ab->files[BASE][2 * i + 1]);
		if (isfinite(x))
			ratios[nr++] = x / 2;
	}
	verdict__paired(ratios, nr, &p->v);
	free(ratios);
}

/* @gated: what is returned is what the gate says. */
static int report(struct ab *ab, enum compare_format format, bool *gated)
{
	struct verdict_rules rules = { .same = same / 100, .noise = NAN };
	int blocks = min(ab->nr[BASE], ab->nr[PATCHED]) / 2, i, ret = BENCH_EXIT_OK;
	const int nr[NR_SIDES] = { 2 * blocks, 2 * blocks };
	struct point_verdict **all = NULL;
	struct comparison *c;

	c = comparison__new(ab->files, nr);
	if (c)
		all = calloc(c->nr_points + 1, sizeof(*all));
	if (!all) {
		comparison__free(c);
		fprintf(stderr, "perf-kbench ab: out of memory\n");
		return BENCH_EXIT_FAILED;
	}
	comparison__allow(c);
	for (i = BASE; i < NR_SIDES; i++) {
		c->name[i] = side_names[i];
		c->command[i] = ab->command[i];
	}
	for (i = 0; i < c->nr_points; i++) {
		pair_point(ab, blocks, &c->points[i], &rules);
		all[i] = &c->points[i].v;
	}
	verdict__holm(all, c->nr_points, &rules);
	if (!c->nr_points) {
		fprintf(stderr, "perf-kbench ab: the two commands have no point in common\n");
		ret = BENCH_EXIT_FAILED;
	} else if (comparison__print(c, format, &rules, stdout)) {
		ret = BENCH_EXIT_FAILED;
	} else if (isfinite(gate)) {
		ret = verdict__gate(all, c->nr_points, gate / 100);
		*gated = true;
		if (format == COMPARE_TEXT)
			comparison__print_gate(gate, ret, stdout);
	}
	free(all);
	comparison__free(c);
	return ret;
}

int cmd_ab(int argc, const char **argv)
{
	enum compare_format format;
	char why[512] = "";
	struct ab ab = { 0 };
	int ret, err, i, side;
	bool gated = false;

	argc = parse_options(argc, argv, options, usage, 0);
	if (argc != NR_SIDES)
		usage_with_options_msg(usage, options, "two commands are to be given, there %s %d",
				       argc == 1 ? "is" : "are", argc);
	if (compare_format__parse(format_name, &format))
		return BENCH_EXIT_USAGE;
	if (nr_blocks < MIN_BLOCKS || nr_blocks > 100000) {
		fprintf(stderr, "perf-kbench ab: --blocks is 2 to 100000\n");
		return BENCH_EXIT_USAGE;
	}
	for (side = BASE; side < NR_SIDES; side++) {
		ab.command[side] = argv[side];
		ab.files[side] = calloc(2 * nr_blocks, sizeof(*ab.files[side]));
	}
	err = ab.files[BASE] && ab.files[PATCHED] ? subrun__begin() : -ENOMEM;
	if (err) {
		fprintf(stderr, "perf-kbench ab: a folder for the results: %s\n", strerror(-err));
		ret = BENCH_EXIT_FAILED;
		goto out;
	}
	err = run_blocks(&ab, why, sizeof(why));
	clear_progress();
	if (err)
		fprintf(stderr, "perf-kbench ab: %s\n", why);
	/* what there is of whole blocks is not lost */
	ret = BENCH_EXIT_FAILED;
	if (!err || min(ab.nr[BASE], ab.nr[PATCHED]) >= 2 * MIN_BLOCKS)
		ret = report(&ab, format, &gated);
	if (subrun__interrupted()) {
		ret = BENCH_EXIT_INTERRUPTED;
	} else if (err || fflush(stdout)) {
		ret = BENCH_EXIT_FAILED;
		gated = false;
	}
	if (isfinite(gate) && ret == BENCH_EXIT_FAILED && !gated)
		ret = GATE_CANNOT_TELL;
	subrun__end();
out:
	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0; i < ab.nr[side]; i++)
			results__free(ab.files[side][i]);
		free(ab.files[side]);
	}
	return ret;
}
