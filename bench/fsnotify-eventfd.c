// SPDX-License-Identifier: GPL-2.0
/*
 * fsnotify-eventfd.c: write and read of 8 bytes of the task's own eventfd
 *
 * The shortest way through vfs_write() and vfs_read(), so what fsnotify adds to every file
 * operation shows most: without marks, the test of whether anybody watches; with them, the look-up
 * of marks under SRCU and the event. What tasks share is the pseudo file system: all eventfds of
 * the system are one inode on one super block, so the counters of what is watched on it, and one
 * mark, are common to all.
 *
 * Not stressed: the file system (there is none), path walks, and the eventfd's own lock, which
 * only its task takes. Newer kernels leave pseudo files such as this one out of fsnotify; then a
 * mark has no effect, which is said in the result.
 */
#include <errno.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "fsnotify-marks.h"
#include "worker.h"

static const struct option options[] = {
	OPT_PARENT(fsnotify_marks_options)
};

static const char * const usage[] = {
	"perf bench fsnotify eventfd <options>",
	NULL
};

static int object_open(int fd[2], const char *name __maybe_unused)
{
	fd[0] = eventfd(0, EFD_CLOEXEC);
	return fd[0] < 0 ? -errno : 0;
}

static __always_inline const char *once(int fd)
{
	u64 val = 1;
	ssize_t ret;

	ret = write(fd, &val, sizeof(val));
	if (unlikely(ret != sizeof(val)))
		return fsnotify_object__failed("write", ret);
	ret = read(fd, &val, sizeof(val));
	if (unlikely(ret != sizeof(val)))
		return fsnotify_object__failed("read", ret);
	return NULL;
}

static const char *object_op(const int fd[2])
{
	return once(fd[0]);
}

static const struct fsnotify_object object = {
	.name	= "eventfd",
	.make	= "eventfd",
	.mask	= IN_ACCESS | IN_MODIFY,
	.open	= object_open,
	.op	= object_op,
};

static int prepare(struct bench_run *run)
{
	return fsnotify_marks__prepare(run, &object);
}

static int run(struct bench_task *t)
{
	const int fd = t->fd[0];
	const char *call;

	bench_task__for_each_op(t) {
		call = once(fd);
		if (unlikely(call))
			return bench_task__fail(t, call, object.name);
	}
	return 0;
}

static const struct bench_ops fsnotify_eventfd_ops = {
	.name		= "fsnotify/eventfd",
	.unit		= "write+read",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 1,
	.options	= options,
	.usage		= usage,
	.prepare	= prepare,
	.setup		= fsnotify_marks__setup,
	.teardown	= fsnotify_marks__teardown,
	.init		= fsnotify_marks__init,
	.run		= run,
	.exit		= fsnotify_marks__exit,
	.select		= fsnotify_marks__select,
};

int bench_fsnotify_eventfd(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &fsnotify_eventfd_ops);
}
