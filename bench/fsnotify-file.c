// SPDX-License-Identifier: GPL-2.0
/*
 * fsnotify-file.c: read of one byte at offset 0 of the task's own regular file
 *
 * Every kind of mark has effect on a regular file, so this is where their costs can be compared:
 * the test of whether anybody watches; for a mark on the parent, the way from the file to its
 * directory and the reference that is taken on it, which all tasks share; and the event, whose
 * queue and its lock are shared by all tasks that are watched.
 *
 * Not stressed: the disk and the page cache's insertion (the page is there), the offset's lock
 * (pread), path walks. The time of access is updated at most once in a run (relatime), except on
 * a mount with strictatime.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "fsnotify-marks.h"
#include "worker.h"

static const char *dir;

static const struct option options[] = {
	OPT_STRING(0, "dir", &dir, "path",
		   "the files lie in a directory of our own in this one (default the current one)"),
	OPT_PARENT(fsnotify_marks_options)
};

static const char * const usage[] = {
	"perf bench fsnotify file <options>",
	NULL
};

static int object_open(int fd[2], const char *name)
{
	ssize_t ret;

	fd[0] = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd[0] < 0)
		return -errno;
	ret = write(fd[0], "", 1);
	if (ret != 1)
		fsnotify_object__failed("write", ret);
	return ret != 1 ? -errno : 0;
}

static __always_inline const char *once(int fd)
{
	ssize_t ret;
	char c;

	ret = pread(fd, &c, 1, 0);
	if (unlikely(ret != 1))
		return fsnotify_object__failed("pread", ret);
	return NULL;
}

static const char *object_op(const int fd[2])
{
	return once(fd[0]);
}

static const struct fsnotify_object object = {
	.name	= "file",
	.make	= "open+write",
	.mask	= IN_ACCESS,
	.in_dir	= true,
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

static const struct bench_ops fsnotify_file_ops = {
	.name		= "fsnotify/file",
	.unit		= "pread",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 1,
	.use_dir	= true,
	.dir		= &dir,
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

int bench_fsnotify_file(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &fsnotify_file_ops);
}
