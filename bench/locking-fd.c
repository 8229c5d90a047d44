// SPDX-License-Identifier: GPL-2.0
/*
 * locking fd: tasks use a descriptor, or lock its file, which they share or not
 *
 * What is stressed, by --op:
 *
 *   dup	dup(2) and close(2): the reference count of struct file, one cache line for all with
 *		--share file; with --mode thread the lock of the one table of descriptors, too.
 *   lseek	lseek(2) to the begin: where others have the struct file too, its count is
 *		taken and put, and f_pos_lock is held.
 *   fstat	fstat(2): the count as with lseek, and the inode's attributes.
 *   fcntl	F_SETLK of one byte for each task, and unlocked: the inode's list of locks and its
 *		flc_lock, one for all with --share inode or file. No task waits for another.
 *   flock	flock(2), exclusive, and unlocked: with --share inode one task has it, the others
 *		sleep until it is theirs, in turn. With --share file all are one owner: nobody
 *		waits, and nobody is kept out.
 *
 * With --share none each task has a file of its own; with inode all have one file, and each an open
 * of its own (a struct file); with file all use one open. Threads are one owner of fcntl locks.
 *
 * Not stressed: path walks (see locking vfs), the data (see locking data).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "worker.h"

struct fd_op {
	const char	*name, *unit;
	int		(*run)(struct bench_task *t);
};

static const char *dir;
static const char *op_name = "dup";
static const char *share = "none";
static const struct fd_op *op;
static int shared_fd = -1;		/* of --share file */

static const struct option options[] = {
	OPT_STRING(0, "op", &op_name, "op", "dup, lseek, fstat, fcntl or flock (default: dup)"),
	OPT_STRING(0, "share", &share, "what",
		   "what tasks share: none, inode, or file, one open(2) for all (default: none)"),
	OPT_STRING(0, "dir", &dir, "dir",
		   "where the files are made, in a directory of their own (default: .)"),
	OPT_PARENT(bench_worker_options),
};

static const char * const usage[] = {
	"perf bench locking fd [<options>]",
	NULL
};

static int failed(struct bench_task *t, const char *call)
{
	return bench_task__fail(t, call, "the task's descriptor");
}

static int run_dup(struct bench_task *t)
{
	const int fd = t->fd[0];

	bench_task__for_each_op(t) {
		int copy = dup(fd);

		if (unlikely(copy < 0))
			return failed(t, "dup");
		if (unlikely(close(copy)))
			return failed(t, "close");
	}
	return 0;
}

static int run_lseek(struct bench_task *t)
{
	const int fd = t->fd[0];

	bench_task__for_each_op(t) {
		if (unlikely(lseek(fd, 0, SEEK_SET)))
			return failed(t, "lseek");
	}
	return 0;
}

static int run_fstat(struct bench_task *t)
{
	const int fd = t->fd[0];
	struct stat st;

	bench_task__for_each_op(t) {
		if (unlikely(fstat(fd, &st)))
			return failed(t, "fstat");
	}
	return 0;
}

static int run_fcntl(struct bench_task *t)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = t->id, .l_len = 1,
	}, unlock = lock;
	const int fd = t->fd[0];

	unlock.l_type = F_UNLCK;
	bench_task__for_each_op(t) {
		if (unlikely(fcntl(fd, F_SETLK, &lock)))
			return failed(t, "fcntl F_SETLK");
		if (unlikely(fcntl(fd, F_SETLK, &unlock)))
			return failed(t, "fcntl F_UNLCK");
	}
	return 0;
}

static int run_flock(struct bench_task *t)
{
	const int fd = t->fd[0];

	bench_task__for_each_op(t) {
		if (unlikely(flock(fd, LOCK_EX)))
			return failed(t, "flock LOCK_EX");
		if (unlikely(flock(fd, LOCK_UN)))
			return failed(t, "flock LOCK_UN");
	}
	return 0;
}

static const struct fd_op fd_ops_table[] = {
	{ "dup",	"dup+close",	run_dup },
	{ "lseek",	"lseek",	run_lseek },
	{ "fstat",	"fstat",	run_fstat },
	{ "fcntl",	"lock+unlock",	run_fcntl },
	{ "flock",	"lock+unlock",	run_flock },
};

static bool share_is(const char *what)
{
	return !strcmp(share, what);
}

static int fd_prepare(struct bench_run *run)
{
	unsigned int i;

	op = NULL;
	for (i = 0; i < ARRAY_SIZE(fd_ops_table); i++) {
		if (!strcmp(op_name, fd_ops_table[i].name))
			op = &fd_ops_table[i];
	}
	if (!op)
		return bench_run__usage(run, "--op %s is unknown, see --help", op_name);
	if (!share_is("none") && !share_is("inode") && !share_is("file"))
		return bench_run__usage(run, "--share %s: it is none, inode or file", share);
	run->unit = op->unit;
	return bench_run__param(run, "op", "%s", op->name) ?:
	       bench_run__param(run, "share", "%s", share);
}

static int fd_setup(struct bench_run *run)
{
	if (!share_is("file"))
		return 0;
	shared_fd = open("shared", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return shared_fd < 0 ? bench_run__fail(run, errno, "open shared") : 0;
}

static void fd_teardown(struct bench_run *run __maybe_unused)
{
	if (shared_fd >= 0)
		close(shared_fd);
	shared_fd = -1;
}

static int fd_init(struct bench_task *t)
{
	char path[40];

	t->fd[0] = shared_fd;
	if (shared_fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%05d", share_is("none") ? t->id : 0);
	t->fd[0] = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	return t->fd[0] < 0 ? bench_task__fail(t, "open", path) : 0;
}

static void fd_exit(struct bench_task *t)
{
	if (t->fd[0] >= 0 && t->fd[0] != shared_fd)
		close(t->fd[0]);
}

static int fd_run(struct bench_task *t)
{
	return op->run(t);
}

static const struct bench_ops fd_ops = {
	.name		= "locking/fd",
	.unit		= "dup+close",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 2,
	.use_dir	= true,
	.dir		= &dir,
	.options	= options,
	.usage		= usage,
	.prepare	= fd_prepare,
	.setup		= fd_setup,
	.teardown	= fd_teardown,
	.init		= fd_init,
	.run		= fd_run,
	.exit		= fd_exit,
};

int bench_locking_fd(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &fd_ops);
}
