// SPDX-License-Identifier: GPL-2.0
/*
 * harness empty: the loop of every benchmark, around nothing
 *
 * What it takes is the harness's own share of each op: a load, a comparison, a jump, an addition
 * and a store. tools/kbench-lab takes it off the path lengths that it counts. It is no benchmark
 * of the kernel: no list has it, and "all" leaves it out.
 */
#include <linux/compiler.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"

static const struct option options[] = {
	OPT_PARENT(bench_worker_options)
};

static const char * const usage[] = {
	"perf-kbench harness empty <options>",
	NULL
};

static int empty_run(struct bench_task *t)
{
	bench_task__for_each_op(t)
		barrier();
	return 0;
}

static const struct bench_ops empty_ops = {
	.name		= "harness/empty",
	.unit		= "nothing",
	.options	= options,
	.usage		= usage,
	.run		= empty_run,
};

int bench_harness_empty(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &empty_ops);
}
