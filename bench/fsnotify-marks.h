/* SPDX-License-Identifier: GPL-2.0 */
/*
 * fsnotify-marks.h: what the fsnotify benchmarks share, the marks and the groups that they are in
 */
#ifndef BENCH_FSNOTIFY_MARKS_H
#define BENCH_FSNOTIFY_MARKS_H

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>
#include <linux/types.h>

#include "worker.h"

/**
 * struct fsnotify_object - the kind of object that a benchmark works on, one for each task
 * @name:	what it is, "pipe"
 * @make:	the call that makes one, for error texts
 * @mask:	events that its op makes: IN_ACCESS, IN_MODIFY, which are FAN_ACCESS, FAN_MODIFY
 * @in_dir:	is a file in the private directory, so has a parent there
 * @open:	make one and store its descriptors, those not used staying at -1; @name is the
 *		file's, if it is one. 0, or -errno with errno set as well
 * @op:		do the op once; NULL, or the name of the call that failed, with errno set
 */
struct fsnotify_object {
	const char	*name;
	const char	*make;
	u32		mask;
	bool		in_dir;
	int		(*open)(int fd[2], const char *name);
	const char	*(*op)(const int fd[2]);
};

/* --marks and --group, ended by OPT_PARENT(bench_worker_options). */
extern const struct option fsnotify_marks_options[];

/**
 * fsnotify_marks__prepare - to be called from a benchmark's prepare hook
 * @run:	the run; gets a variant for each of --marks, and the parameter "group"
 * @object:	stays the caller's, and must outlive the run
 *
 * Return: 0 or -errno, the reason having been said.
 */
int fsnotify_marks__prepare(struct bench_run *run, const struct fsnotify_object *object);

/* Hooks of struct bench_ops, the same for every object. */
int fsnotify_marks__setup(struct bench_run *run);
void fsnotify_marks__teardown(struct bench_run *run);
int fsnotify_marks__select(struct bench_run *run, int v);
int fsnotify_marks__init(struct bench_task *t);
void fsnotify_marks__exit(struct bench_task *t);

/* For @op: a read or write returned @ret and not what it was asked for; less is EIO. */
static inline const char *fsnotify_object__failed(const char *call, ssize_t ret)
{
	if (ret >= 0)
		errno = EIO;
	return call;
}

#endif
