/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the benchmarks of the nfs collection share: that --dir is on NFS, and RPCs for each op
 */
#ifndef BENCH_NFS_RPC_H
#define BENCH_NFS_RPC_H

#include <stdbool.h>
#include <linux/types.h>

#include "nfs-mountstats.h"
#include "worker.h"

/* The RPCs of one mount around the measured windows; all zero before its first use in a run. */
struct nfs_rpc {
	bool			have_mount;
	bool			shown[NFS_MOUNTSTATS_MAX];
	u64			ops;
	struct nfs_mount	mount;
	struct nfs_mountstats	begin, end;
};

/**
 * nfs_dir__check - in prepare: is the directory that the user names on NFS?
 * @run:	the run
 * @dir:	the value of --dir, or NULL for the current directory
 * @any_fs:	the user takes any file system
 *
 * Return: 0, or -errno with the run failed, or skipped where it is on another file system.
 */
int nfs_dir__check(struct bench_run *run, const char *dir, bool any_fs);

/**
 * nfs_rpc__setup - in setup: find the mount that the private directory is on
 * @run:	the run
 * @rpc:	is filled in
 *
 * On other file systems nothing will be counted; nor where the counters of a mount of NFS cannot be
 * read, which is said beside the result.
 */
void nfs_rpc__setup(struct bench_run *run, struct nfs_rpc *rpc);

/**
 * nfs_rpc__measure - in measure: the RPCs an op by type become metrics of the repeat
 * @run:	the run
 * @rpc:	as nfs_rpc__setup() has left it
 * @begin:	before the measured windows, else after them
 */
void nfs_rpc__measure(struct bench_run *run, struct nfs_rpc *rpc, bool begin);

#endif
