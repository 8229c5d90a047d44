// SPDX-License-Identifier: GPL-2.0
/*
 * fsnotify-pipe.c: write and read of a few bytes through the task's own pipe
 *
 * Like fsnotify eventfd, what fsnotify adds to vfs_write() and vfs_read(), on objects that have an
 * inode each: marks on one task's pipe are not found by the others, but all pipes of the system
 * are on one super block, and share what is counted there. Newer kernels keep events on pipes,
 * while they leave out other pseudo files.
 *
 * Not stressed: waiting and waking, as the pipe never runs full or empty in the middle of an op;
 * --size is at most PIPE_BUF, so that each write is one buffer. The pipe's mutex is taken by its
 * own task only.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>
#include <sys/inotify.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "fsnotify-marks.h"
#include "worker.h"

static u64 size = 512;

static const struct option options[] = {
	OPT_BENCH_COUNT(0, "size", &size, "bytes a write and a read, 1 to 4096 (default 512)"),
	OPT_PARENT(fsnotify_marks_options)
};

static const char * const usage[] = {
	"perf bench fsnotify pipe <options>",
	NULL
};

static int object_open(int fd[2], const char *name __maybe_unused)
{
	return pipe2(fd, O_CLOEXEC) ? -errno : 0;
}

static __always_inline const char *once(int in, int out, char *buf, ssize_t len)
{
	ssize_t ret;

	ret = write(in, buf, len);
	if (unlikely(ret != len))
		return fsnotify_object__failed("write", ret);
	ret = read(out, buf, len);
	if (unlikely(ret != len))
		return fsnotify_object__failed("read", ret);
	return NULL;
}

static const char *object_op(const int fd[2])
{
	char buf[PIPE_BUF] = "";

	return once(fd[1], fd[0], buf, size);
}

static const struct fsnotify_object object = {
	.name	= "pipe",
	.make	= "pipe2",
	.mask	= IN_ACCESS | IN_MODIFY,
	.open	= object_open,
	.op	= object_op,
};

static int prepare(struct bench_run *run)
{
	int err;

	if (size > PIPE_BUF)
		return bench_run__usage(run, "--size: %llu is more than %d bytes",
					(unsigned long long)size, PIPE_BUF);
	err = bench_run__param(run, "size", "%llu", (unsigned long long)size);
	return err ?: fsnotify_marks__prepare(run, &object);
}

static int run(struct bench_task *t)
{
	const int in = t->fd[1], out = t->fd[0];
	const ssize_t len = size;
	char buf[PIPE_BUF] = "";
	const char *call;

	bench_task__for_each_op(t) {
		call = once(in, out, buf, len);
		if (unlikely(call))
			return bench_task__fail(t, call, object.name);
	}
	return 0;
}

static const struct bench_ops fsnotify_pipe_ops = {
	.name		= "fsnotify/pipe",
	.unit		= "write+read",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 2,
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

int bench_fsnotify_pipe(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &fsnotify_pipe_ops);
}
