// SPDX-License-Identifier: GPL-2.0
/*
 * perf-kbench noise: by how much does the rate of the same thing differ from run to run, here?
 *
 * A against A, several times. What the runs differ by beyond what the repeats of each explain is
 * the floor below which one run against another says nothing; compare takes it from the file.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"
#include "compare/compare.h"
#include "compare/noise.h"
#include "subrun.h"

#define MIN_RUNS	3
#define MAX_RUNS	1000

static u64 nr_runs = 8;
static const char *path;
static bool quiet;

static const struct option options[] = {
	OPT_BENCH_COUNT('n', "runs", &nr_runs, "runs of the same (default 8)"),
	OPT_STRING('o', "output", &path, "file",
		   "where floors are kept (default ~/.local/state/perf-kbench/noise.json)"),
	OPT_BOOLEAN('q', "quiet", &quiet,
		    "no progress line on standard error (default: there is one on a terminal)"),
	OPT_END()
};

static const char * const usage[] = {
	"perf-kbench noise [<options>] [<collection> <benchmark> [<its options>]]",
	"",
	"Measures the same thing several times (default: all benchmarks, --any-fs, 10 minutes),",
	"and keeps by how much it differs from run to run for \"compare\" to use.",
	NULL
};

static void progress(int run, u64 begin)
{
	u64 left;

	if (quiet || !isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\rnoise: run %d/%d", run + 1, (int)nr_runs);
	if (run) {
		left = (bench_now() - begin) / run * (nr_runs - run) / NSEC_PER_SEC;
		fprintf(stderr, ", %d:%02d left", (int)(left / 60), (int)(left % 60));
	}
	fprintf(stderr, "   \r");
}

/*
 * The standard deviation of the runs' means beyond what their repeats explain, of log rates; and
 * the total one. Return: how many runs there were.
 */
static int floor_of(const struct verdict_side *side, double *rate, double *sd, double *total)
{
	double squares = 0, sum = 0, inner = 0, mean, se, df;
	int i, nr = side->nr_runs;

	for (i = 0; i < nr; i++) {
		mean = verdict_run__mean(&side->runs[i], &se, &df);
		sum += log(mean);
		squares += log(mean) * log(mean);
		inner += isfinite(se) ? se * se / (mean * mean) : 0;
	}
	if (nr < 2)
		return nr;
	squares = fmax(squares - sum * sum / nr, 0) / (nr - 1);
	*rate = exp(sum / nr);
	*total = sqrt(squares);
	*sd = sqrt(fmax(squares - inner / nr, 0));
	return nr;
}

static int keep_floors(struct results **files, int nr)
{
	struct results **sides[NR_SIDES] = { files, files };
	const int nrs[NR_SIDES] = { nr, nr };
	struct noise *noise = NULL;
	char why[512] = "out of memory", when[32], *machine = noise__machine(files[0]);
	char *own = path ? NULL : noise__path();
	struct comparison *c = comparison__new(sides, nrs);
	time_t now = time(NULL);
	double rate, sd, total;
	int i, runs, err = -ENOMEM;
	struct tm tm;

	strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
	if (!path && !own)
		snprintf(why, sizeof(why), "there is no HOME to keep it in: give -o FILE");
	if (!c || !machine || (!path && !own))
		goto out;
	noise = noise__read(path ?: own, why, sizeof(why));
	if (!noise && errno != ENOENT)
		goto out;
	noise = noise ?: noise__new();
	if (!noise)
		goto out;
	printf("%-36s %6s %13s %8s %8s\n", "benchmark", "tasks", "ops/s", "stddev", "floor");
	for (err = 0, i = 0; i < c->nr_points && !err; i++) {
		struct compare_point *p = &c->points[i];
		char name[64];

		snprintf(name, sizeof(name), "%s%s%s", p->bench->name,
			 *p->point[BASE]->variant ? " " : "", p->point[BASE]->variant);
		runs = floor_of(&p->side[BASE], &rate, &sd, &total);
		if (runs < MIN_RUNS) {
			printf("%-36s %6d %13s\n", name, p->point[BASE]->tasks, "too few");
			continue;
		}
		printf("%-36s %6d %13.0f %7.2f%% %7.2f%%\n", name, p->point[BASE]->tasks, rate,
		       100 * total, 100 * sd);
		err = noise__set(noise, machine, p->bench, p->point[BASE], sd, runs - 1, when);
	}
	printf("\nstddev: of the means of %d runs; floor: what their repeats do not explain\n", nr);
	if (!err)
		err = noise__write(noise, path ?: own);
	if (err)
		snprintf(why, sizeof(why), "%s: %s", path ?: own, strerror(-err));
	else
		printf("kept in %s\n", path ?: own);
out:
	if (err)
		fprintf(stderr, "perf-kbench noise: %s\n", why);
	noise__free(noise);
	comparison__free(c);
	free(machine);
	free(own);
	return err ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

/* Can what is found be kept? */
static int check_file(void)
{
	char why[512] = "there is no HOME to keep it in: give -o FILE";
	char *own = path ? NULL : noise__path();
	struct noise *noise = NULL;
	int err = -ENOENT;

	if (path || own) {
		noise = noise__read(path ?: own, why, sizeof(why));
		err = -EINVAL;
		if (noise || errno == ENOENT) {
			err = noise__check_folder(path ?: own);
			snprintf(why, sizeof(why), "%s: %s", path ?: own, strerror(-err));
		}
	}
	if (err)
		fprintf(stderr, "perf-kbench noise: %s\n", why);
	noise__free(noise);
	free(own);
	return err ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

int cmd_noise(int argc, const char **argv)
{
	static const char * const all[] = { "-q", "all", "--any-fs", NULL };
	struct results **files;
	u64 begin = bench_now();
	char why[512] = "";
	int nr = 0, i, ret;

	argc = parse_options(argc, argv, options, usage, PARSE_OPT_STOP_AT_NON_OPTION);
	if (nr_runs < MIN_RUNS || nr_runs > MAX_RUNS) {
		fprintf(stderr, "perf-kbench noise: --runs is %d to %d\n", MIN_RUNS, MAX_RUNS);
		return BENCH_EXIT_USAGE;
	}
	files = calloc(nr_runs, sizeof(*files));
	ret = files ? subrun__begin() : -ENOMEM;
	if (ret) {
		fprintf(stderr, "perf-kbench noise: a folder for the results: %s\n",
			strerror(-ret));
		free(files);
		return BENCH_EXIT_FAILED;
	}
	/* what would stop us at the end stops us now */
	ret = check_file();
	if (ret) {
		subrun__end();
		free(files);
		return ret;
	}
	for (; nr < (int)nr_runs; nr++) {
		progress(nr, begin);
		files[nr] = subrun__argv(argc ? argv : (const char **)all, why, sizeof(why));
		if (!files[nr])
			break;
	}
	if (!quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%50s\r", "");
	ret = BENCH_EXIT_FAILED;
	if (nr == (int)nr_runs)
		ret = keep_floors(files, nr);
	else
		fprintf(stderr, "perf-kbench noise: %s; nothing was kept\n", why);
	if (subrun__interrupted())
		ret = BENCH_EXIT_INTERRUPTED;
	subrun__end();
	for (i = 0; i < nr; i++)
		results__free(files[i]);
	free(files);
	return ret;
}
