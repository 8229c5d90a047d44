/* SPDX-License-Identifier: GPL-2.0 */
/*
 * kernfs-files.h: files on kernfs that are safe and cheap to read
 */
#ifndef BENCH_KERNFS_FILES_H
#define BENCH_KERNFS_FILES_H

#include "worker.h"

/**
 * kernfs_files__find - find files by the rule of kernfs-files.c
 * @run:	the run
 * @root:	where to look: a kernfs mount or a directory on one, or one that holds such mounts
 * @nr:		how many are wanted
 *
 * Return: @nr paths, for kernfs_files__free(); or NULL, having said why the run fails or is
 * skipped.
 */
const char **kernfs_files__find(struct bench_run *run, const char *root, int nr);
void kernfs_files__free(const char **files, int nr);

/**
 * kernfs_files__check - is a path on kernfs?
 * @run:	the run
 * @path:	a file or directory that exists
 *
 * Return: 0, or -errno, having said why the run fails or is skipped.
 */
int kernfs_files__check(struct bench_run *run, const char *path);

#endif
