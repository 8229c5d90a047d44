// SPDX-License-Identifier: GPL-2.0
/*
 * nfs-rpc.c: what the benchmarks of the nfs collection share
 *
 * RPCs are counted by /proc/self/mountstats right before and right after the measured windows. They
 * are those of all users of the mount.
 */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "nfs-rpc.h"

#define MIN_RPC_PER_OP	0.0005	/* types that are rarer than this are not worth a column */

static bool is_nfs(const char *type)
{
	return !strcmp(type, "nfs") || !strcmp(type, "nfs4");
}

int nfs_dir__check(struct bench_run *run, const char *dir, bool any_fs)
{
	char type[BENCH_NAME_MAX], opts[BENCH_TEXT_MAX];
	int err;

	if (any_fs)
		return 0;
	err = bench_fs__of(dir ?: ".", type, sizeof(type), opts, sizeof(opts));
	if (err)
		return bench_run__fail(run, -err, "--dir %s", dir ?: ".");
	if (!is_nfs(type))
		return bench_run__skip(run, "--dir %s is on %s: %s", dir ?: ".", type,
				       "name a directory on NFS, or add --any-fs");
	return 0;
}

static void no_counts(struct bench_run *run, struct nfs_rpc *rpc, int err)
{
	rpc->have_mount = false;
	bench_run__note(run, -1, "no RPC counts: mountstats: %s", strerror(-err));
}

void nfs_rpc__setup(struct bench_run *run, struct nfs_rpc *rpc)
{
	char type[BENCH_NAME_MAX], opts[BENCH_TEXT_MAX];
	int err;

	rpc->have_mount = false;
	if (bench_fs__of(".", type, sizeof(type), opts, sizeof(opts)) || !is_nfs(type))
		return;
	err = nfs_mount__of_cwd(&rpc->mount) ?: nfs_mountstats__read(&rpc->mount, &rpc->begin);
	rpc->have_mount = !err;
	if (err)
		no_counts(run, rpc, err);
}

/* Types that are told of even where there are none. */
static bool is_core(const char *name)
{
	return !strcmp(name, "LOOKUP") || !strcmp(name, "ACCESS") || !strcmp(name, "GETATTR") ||
	       !strcmp(name, "OPEN");
}

void nfs_rpc__measure(struct bench_run *run, struct nfs_rpc *rpc, bool begin)
{
	u64 ops = bench_run__ops(run);
	int i, err;

	if (!rpc->have_mount)
		return;
	err = nfs_mountstats__read(&rpc->mount, begin ? &rpc->begin : &rpc->end);
	if (err) {
		no_counts(run, rpc, err);
		return;
	}
	if (begin) {
		rpc->ops = ops;
		return;
	}
	for (i = 0; i < rpc->end.nr; i++) {
		const char *name = rpc->end.op[i].name;
		double x = nfs_mountstats__per_op(&rpc->begin, &rpc->end, i, ops - rpc->ops);

		rpc->shown[i] |= is_core(name) || isnan(x) || x > MIN_RPC_PER_OP;
		if (!rpc->shown[i])
			continue;
		if (!strcmp(name, "SEQUENCE"))
			name = "SEQUENCE (lease)";
		bench_run__metric(run, 0, name, "RPC/op", x);
	}
}
