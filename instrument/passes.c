// SPDX-License-Identifier: GPL-2.0
/*
 * The passes of the instruments
 *
 * The order of the observers is what makes a pass: first the head, which cuts the plan down; the
 * instrument; those that print and store what it has found; and last a gate, which leaves the pass
 * out if the instrument has said that it cannot look here.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "bench/worker.h"
#include "instrument/passes.h"
#include "report/figures-text.h"
#include "util/counters.h"

#define PASS_REPEATS	3

static struct instrument_options options;
static bool verbose;

static int opt_counters(const struct option *opt __maybe_unused, const char *arg,
			int unset __maybe_unused)
{
	options.counters = true;
	options.counter_list = arg;
	return 0;
}

static int opt_latency(const struct option *opt, const char *arg, int unset)
{
	struct option value = { .long_name = opt->long_name, .value = &options.latency_every };

	options.latency = true;
	return arg ? bench_opt__count(&value, arg, unset) : 0;
}

const struct option pass_options[] = {
	OPT_GROUP("Why, each in a pass of its own after the clean run:"),
	{ .type = OPTION_CALLBACK, .long_name = "counters", .argh = "list",
	  .help =
	  "events an op: hardware and software ones, tracepoints (default: cycles, instructions and others)",
	  .flags = PARSE_OPT_NONEG | PARSE_OPT_OPTARG, .callback = opt_counters },
	OPT_BOOLEAN(0, "contention", &options.contention,
		    "what is waited for: locks, and the functions that take them"),
	OPT_BOOLEAN(0, "profile", &options.profile, "where the time goes: kernel functions"),
	{ .type = OPTION_CALLBACK, .long_name = "latency", .argh = "n",
	  .help = "of single ops, one in n of them (default: so many that it costs under 2 %)",
	  .flags = PARSE_OPT_NONEG | PARSE_OPT_OPTARG, .callback = opt_latency },
	OPT_BOOLEAN(0, "all-tasks", &options.all_tasks,
		    "with --contention: all tasks of the machine, not ours only"),
	{ .type = OPTION_CALLBACK, .long_name = "buffer-kb", .argh = "n",
	  .value = &options.buffer_kb,
	  .help = "with --contention, --profile: KiB a CPU for records that are not yet read",
	  .flags = PARSE_OPT_NONEG, .callback = bench_opt__count },
	OPT_BOOLEAN('v', "verbose", &verbose, "all that was found, with call chains"),
	OPT_END()
};

int passes__join_arguments(int argc, const char **argv)
{
	static const char * const names[] = { "--counters", "--latency" };
	int i, left = 0;
	char *joined;
	size_t n;

	for (i = 0; i < argc; i++) {
		argv[left++] = argv[i];
		if (!strcmp(argv[i], "--")) {
			while (++i < argc)
				argv[left++] = argv[i];
			break;
		}
		for (n = 0; n < ARRAY_SIZE(names); n++) {
			if (strcmp(argv[i], names[n]) || i + 1 == argc || argv[i + 1][0] == '-')
				continue;
			if (asprintf(&joined, "%s=%s", argv[i], argv[i + 1]) > 0)
				argv[left - 1] = joined;
			i++;
			break;
		}
	}
	argv[left] = NULL;
	return left;
}

int passes__check(void)
{
	char why[COUNTERS_REASON_MAX];

	if (options.counter_list && counters__check(options.counter_list, why, sizeof(why))) {
		fprintf(stderr, "  Error: --counters: %s\n", why);
		return -EINVAL;
	}
	if (options.all_tasks && !options.contention) {
		fprintf(stderr, "  Error: --all-tasks goes with --contention\n");
		return -EINVAL;
	}
	if (options.buffer_kb && !options.contention && !options.profile) {
		fprintf(stderr, "  Error: --buffer-kb goes with --contention or --profile\n");
		return -EINVAL;
	}
	return 0;
}

bool passes__wanted(void)
{
	return options.counters || options.contention || options.profile || options.latency;
}

/* ---- rates of the clean runs ---- */

struct clean_rate {
	const struct bench_ops	*ops;
	char			variant[BENCH_NAME_MAX];
	int			nr_tasks;
	double			rate, ci95;
};

static struct clean_rate *clean;
static int nr_clean;

static int clean_result(struct bench_observer *o __maybe_unused, struct bench_run *run,
			const struct bench_result *res)
{
	struct clean_rate *more;

	if (*res->skip || !(res->rate > 0))
		return 0;
	more = reallocarray(clean, nr_clean + 1, sizeof(*clean));
	if (!more)
		return 0;	/* then nothing is said of what looking has cost */
	clean = more;
	clean[nr_clean].ops = run->ops;
	clean[nr_clean].nr_tasks = res->nr_tasks;
	clean[nr_clean].rate = res->rate;
	clean[nr_clean].ci95 = res->ci95;
	strcpy(clean[nr_clean++].variant, run->variants[res->variant].name);
	return 0;
}

struct bench_observer passes_clean_observer = { .result = clean_result };

/* A point of a clean run, or NULL. @variant may be NULL: is there any? */
static const struct clean_rate *find_clean(const struct bench_ops *ops, int nr_tasks,
					   const char *variant)
{
	int i;

	for (i = 0; i < nr_clean; i++) {
		if (clean[i].ops == ops && (!variant || (clean[i].nr_tasks == nr_tasks &&
							 !strcmp(clean[i].variant, variant))))
			return &clean[i];
	}
	return NULL;
}

/* ---- the observers of a pass ---- */

static struct instrument *current;

const struct instrument *passes__instrument(void)
{
	return current;
}

static int head_begin(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	if (!find_clean(run->ops, 0, NULL))
		return bench_run__skip(run, "no pass for %s: the run had no result",
				       current->name);
	run->nr_repeats = min(run->nr_repeats, PASS_REPEATS);
	run->max_repeats = run->nr_repeats;
	bench_worker_params.precision = 0;
	return 0;
}

static int gate_begin(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	if (!*current->unavailable)
		return 0;
	return bench_run__skip(run, "%s: %s", current->name, current->unavailable);
}

static bool headed;

static int text_begin(struct bench_observer *o __maybe_unused,
		      struct bench_run *run __maybe_unused)
{
	headed = false;
	return 0;
}

static int text_result(struct bench_observer *o __maybe_unused, struct bench_run *run,
		       const struct bench_result *res)
{
	const char *variant = run->variants[res->variant].name;
	const struct clean_rate *of = find_clean(run->ops, res->nr_tasks, variant);
	struct figures_heading heading = {
		.variant = variant,
		.tasks = res->nr_tasks,
		.rate = res->rate,
		.ci95 = res->ci95,
		.clean = of ? of->rate : NAN,
		.clean_ci95 = of ? of->ci95 : NAN,
		.verbose = verbose,
	};

	if (*res->skip)
		return 0;
	if (!headed)
		printf("\n# %s, %s: a pass of its own, means of %d repeat%s\n", run->ops->name,
		       current->name, res->nr_repeats, res->nr_repeats == 1 ? "" : "s");
	headed = true;
	figures__print(&current->figures, &heading, stdout);
	return 0;
}

static struct bench_observer head_observer = { .begin = head_begin };
static struct bench_observer gate_observer = { .begin = gate_begin };
static struct bench_observer text_observer = { .begin = text_begin, .result = text_result };

/* Who has been registered for this pass. */
static struct bench_observer *registered[16];
static size_t nr_registered;

static void add(struct bench_observer *o)
{
	if (nr_registered < ARRAY_SIZE(registered)) {
		registered[nr_registered++] = o;
		bench_observer__register(o);
	}
}

static int run_pass(struct instrument *ins, bool text, struct bench_observer *const *keep,
		    int (*run)(void *data), void *data)
{
	int status;

	if (*keep)
		add(*keep++);
	add(&head_observer);
	add(&ins->observer);
	while (*keep)
		add(*keep++);
	if (text)
		add(&text_observer);
	add(&gate_observer);
	current = ins;
	status = run(data);
	current = NULL;
	while (nr_registered)
		list_del(&registered[--nr_registered]->node);
	return status == BENCH_EXIT_SKIPPED ? BENCH_EXIT_OK : status;
}

static const struct {
	const bool *wanted;
	struct instrument *(*new)(const struct instrument_options *opts);
} instruments[] = {
	{ &options.counters,	counters_instrument__new },
	{ &options.contention,	contention_instrument__new },
	{ &options.profile,	profile_instrument__new },
	{ &options.latency,	latency_instrument__new },
};

int passes__run(bool text, struct bench_observer *const *keep, int (*run)(void *data), void *data)
{
	int status = BENCH_EXIT_OK, worst = BENCH_EXIT_OK;
	struct instrument *ins;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(instruments) && status != BENCH_EXIT_INTERRUPTED; i++) {
		if (!*instruments[i].wanted)
			continue;
		ins = instruments[i].new(&options);
		if (!ins) {
			fprintf(stderr, "perf-kbench: out of memory\n");
			return BENCH_EXIT_FAILED;
		}
		status = run_pass(ins, text, keep, run, data);
		ins->free(ins);
		worst = max(worst, status);
	}
	return worst;
}

void passes__finish(void)
{
	zfree(&clean);
	nr_clean = 0;
}
