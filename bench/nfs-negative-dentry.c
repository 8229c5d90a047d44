// SPDX-License-Identifier: GPL-2.0
/*
 * nfs negative-dentry: tasks open(2) files that do not exist, as the search for a library or a
 * module along a path of many directories does. ENOENT is the success of an op.
 *
 * There are --dirs empty directories and --names names; each name is searched in one directory
 * after the other. All tasks go over all of the paths, in the same order.
 *
 * What is stressed: the walk to a negative dentry and its revalidation (nfs_lookup_revalidate()
 * and, on NFS v4, nfs4_lookup_revalidate()), which asks whether the cached attributes of the
 * directory may still be believed. While they may, the op ends under RCU and no RPC is sent. When
 * they may not (acdirmax=0, noac, lookupcache=none or pos), the directory's d_lockref, its i_rwsem
 * (shared) and the RPC client come into it, and the op is a question to the server. Which of the
 * two was measured is told by the RPCs per op, from /proc/self/mountstats before and after the
 * measured windows: near 0 where the dentries were believed. These are the RPCs of all users of
 * the mount. Warm-up covers the first pass, which always asks.
 *
 * What is not: opening a file that exists, the first lookup of a name, changes to the directory,
 * more than one mount. On other file systems (--any-fs) it is the plain dcache.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "nfs-rpc.h"
#include "worker.h"

#define MAX_PATHS	1000000

struct negative_path {
	char	path[40];
};

/* The paths are read by all tasks, the rest is the parent's. */
struct negative {
	const struct negative_path *last;
	struct nfs_rpc		rpc;
	struct negative_path	paths[];
};

static const char *dir;
static u64 dirs = 10, names = 10;
static bool any_fs;
static struct negative *negative;

static const struct option options[] = {
	OPT_BENCH_COUNT(0, "dirs", &dirs, "empty directories that are searched (default: 10)"),
	OPT_BENCH_COUNT(0, "names", &names, "names searched in each directory (default: 10)"),
	OPT_STRING(0, "dir", &dir, "dir",
		   "where the directories are made, on NFS, in one of their own (default: .)"),
	OPT_BOOLEAN(0, "any-fs", &any_fs, "take any file system, not only NFS"),
	OPT_PARENT(bench_worker_options),
};

static const char * const usage[] = {
	"perf bench nfs negative-dentry [<options>]",
	NULL
};

static int negative_prepare(struct bench_run *run)
{
	int err;

	if (dirs > MAX_PATHS || names > MAX_PATHS || dirs * names > MAX_PATHS)
		return bench_run__usage(run, "--dirs times --names is more than %d", MAX_PATHS);
	err = nfs_dir__check(run, dir, any_fs);
	if (err)
		return err;
	zfree(&negative);
	return bench_run__param(run, "dirs", "%llu", (unsigned long long)dirs) ?:
	       bench_run__param(run, "names", "%llu", (unsigned long long)names);
}

/* The paths are the same in all repeats. */
static int make_paths(struct bench_run *run)
{
	int i = 0, in_dir, name;

	negative = zalloc(sizeof(*negative) + dirs * names * sizeof(negative->paths[0]));
	if (!negative)
		return bench_run__fail(run, ENOMEM, "table of paths");
	negative->last = &negative->paths[dirs * names - 1];
	for (name = 0; name < (int)names; name++) {
		for (in_dir = 0; in_dir < (int)dirs; in_dir++, i++)
			snprintf(negative->paths[i].path, sizeof(negative->paths[i].path),
				 "d%d/n%d", in_dir, name);
	}
	return 0;
}

/* The directories are removed by the harness, which cannot hang on it. */
static int negative_setup(struct bench_run *run)
{
	char path[24];
	int i, err = 0;

	if (!negative)
		err = make_paths(run);
	if (err)
		return err;
	run->priv = negative;
	for (i = 0; i < (int)dirs; i++) {
		snprintf(path, sizeof(path), "d%d", i);
		if (mkdir(path, 0700))
			return bench_run__fail(run, errno, "mkdir %s/%s", run->dir, path);
		if (bench_run__interrupted())
			return -EINTR;
	}
	nfs_rpc__setup(run, &negative->rpc);
	return 0;
}

static int negative_run(struct bench_task *t)
{
	const struct negative *n = t->run->priv;
	const struct negative_path *p = n->paths;
	const int *err = &errno;	/* a call, behind the macro */

	bench_task__for_each_op(t) {
		int fd = open(p->path, O_RDONLY);

		if (unlikely(fd >= 0)) {
			close(fd);
			errno = EEXIST;
		}
		if (unlikely(*err != ENOENT))
			return bench_task__fail(t, "open", p->path);
		p = p == n->last ? n->paths : p + 1;
	}
	return 0;
}

static int negative_measure(struct bench_run *run, bool begin)
{
	struct negative *n = run->priv;
	bool fixed = bench_worker_params.loops || bench_worker_params.total;

	/* where each task has done all of them, each file has been asked for */
	if (begin && !fixed && bench_run__ops(run) < run->nr_tasks * dirs * names)
		bench_run__note(run, -1,
				"the first pass over the files, which asks for each, was not over: take a longer --warmup, or fewer --dirs");
	nfs_rpc__measure(run, &n->rpc, begin);
	return 0;
}

static const struct bench_ops negative_dentry_ops = {
	.name		= "nfs/negative-dentry",
	.unit		= "open (ENOENT)",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 1,
	.use_dir	= true,
	.dir		= &dir,
	.options	= options,
	.usage		= usage,
	.prepare	= negative_prepare,
	.setup		= negative_setup,
	.run		= negative_run,
	.measure	= negative_measure,
};

int bench_nfs_negative_dentry(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &negative_dentry_ops);
}
