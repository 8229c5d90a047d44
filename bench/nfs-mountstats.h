/* SPDX-License-Identifier: GPL-2.0 */
/*
 * RPCs by type, from the text of /proc/self/mountstats
 *
 * The counters belong to the RPC client of a superblock: mounts that share a superblock (two
 * mounts of one export with the same options, bind mounts) share them. Each type is counted when
 * its reply has been dealt with. On NFS v4 one RPC carries several operations and counts as the
 * one after which the kernel names it; SEQUENCE is the renewal of the lease, sent by the client of
 * the server and so seen by all mounts of it.
 */
#ifndef BENCH_NFS_MOUNTSTATS_H
#define BENCH_NFS_MOUNTSTATS_H

#include <stddef.h>
#include <linux/types.h>

#define NFS_MOUNTSTATS_MAX	128	/* NFS v4.2 has some 70 types in Linux 6.18 */
#define NFS_MOUNTSTATS_NAME	24

/**
 * struct nfs_mount - which entry of mountstats is meant
 * @point:	mount point, with the octal escapes of /proc ("\040" for a space)
 * @nth:	how many mounts at the same point come before it, as mounts may be stacked
 */
struct nfs_mount {
	char	point[4096];
	int	nth;
};

/* RPCs of one mount since it was mounted, in the order of the text. */
struct nfs_mountstats {
	int	nr;
	struct {
		char	name[NFS_MOUNTSTATS_NAME];
		u64	ops;
	} op[NFS_MOUNTSTATS_MAX];
};

/**
 * nfs_mount__find - find a mount by its ID
 * @text:	what /proc/self/mountinfo holds
 * @len:	bytes of it
 * @id:		the mount ID, as in /proc/self/fdinfo
 * @mount:	is filled in
 *
 * Return: 0, -ENODATA if there is no such mount, -EINVAL if the text is not as it should be.
 */
int nfs_mount__find(const char *text, size_t len, int id, struct nfs_mount *mount);

/**
 * nfs_mount__of_cwd - find the mount that the current directory is on
 * @mount:	is filled in
 *
 * Return: 0, or a negative errno.
 */
int nfs_mount__of_cwd(struct nfs_mount *mount);

/**
 * nfs_mountstats__parse - the RPC counters of one mount
 * @text:	what /proc/self/mountstats holds; need not end in a NUL
 * @len:	bytes of it
 * @mount:	which mount
 * @stats:	is filled in; undefined after an error
 *
 * Return: 0; -ENODATA if the mount is not there, is not NFS, or has no counters; -EINVAL if its
 * entry is cut off or not of a version that we know.
 */
int nfs_mountstats__parse(const char *text, size_t len, const struct nfs_mount *mount,
			  struct nfs_mountstats *stats);

/**
 * nfs_mountstats__read - the RPC counters of one mount, now
 * @mount:	which mount
 * @stats:	is filled in; undefined after an error
 *
 * Return: 0, or a negative errno.
 */
int nfs_mountstats__read(const struct nfs_mount *mount, struct nfs_mountstats *stats);

/**
 * nfs_mountstats__per_op - RPCs of one type for each op
 * @begin:	counters at the beginning
 * @end:	counters at the end
 * @i:		which type of @end
 * @ops:	ops done between them
 *
 * Return: a number from 0; NaN if there were no ops, or if the counter is new or went backwards,
 * as it does when the file system was mounted anew.
 */
double nfs_mountstats__per_op(const struct nfs_mountstats *begin, const struct nfs_mountstats *end,
			      int i, u64 ops);

#endif
