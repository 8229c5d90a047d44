// SPDX-License-Identifier: GPL-2.0
/*
 * locking data: tasks read, write, append to, cut, sync or map files that they share or not
 *
 * What is stressed, by --op:
 *
 *   read	pread(2) of --size bytes that are cached: the page cache is walked under RCU, the
 *		folio's reference count is taken and put, one cache line for all with --share block.
 *		xfs takes the file's i_rwsem, shared, for it; ext4 and tmpfs do not.
 *   write	pwrite(2) over bytes that are there: the file's i_rwsem, exclusive, so that with
 *		--share file one task writes at a time, wherever; the folio's lock; once a tick
 *		the time of modification, which takes a handle of the journal.
 *   append	as write, with O_APPEND: blocks are reserved, and the size grows. Each task cuts its
 *		file to nothing every APPEND_OPS ops.
 *   truncate	pwrite(2) into the empty file, ftruncate(2) to nothing: the page is allocated and
 *		freed; i_rwsem twice, mapping->invalidate_lock, the list of orphans on ext4.
 *   fsync	as write, and fsync(2): the journal's commit, for which all tasks wait together.
 *		Nothing to tmpfs.
 *   fault	each page of the task's mapping is dropped by madvise(2) and read again: mmap_lock,
 *		which threads share, the lock of the page table, the folio's map count.
 *
 * With --share none each task has a file of its own, with file one file of which each has a block
 * of its own, with block one file and one block.
 *
 * Not stressed: the disk (but for fsync), readahead, the file position (see locking fd), path
 * walks (see locking vfs).
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "worker.h"

#define APPEND_OPS	1024
#define MAX_SIZE	1048576u

struct data_op {
	const char	*name, *unit;
	int		(*run)(struct bench_task *t);
	int		flags;		/* of open(2), beside O_RDWR | O_CREAT */
	bool		one_block;	/* --share block makes sense */
};

/* A task's own; its file is t->fd[0]. */
struct data_task {
	off_t		at;		/* where in the file its block is */
	char		*map;		/* the block, of --op fault */
	char		buf[];		/* [size] */
};

static const char *dir;
static const char *op_name = "read";
static const char *share = "none";
static u64 size = 4096;
static const struct data_op *op;

static const struct option options[] = {
	OPT_STRING(0, "op", &op_name, "op",
		   "read, write, append, truncate, fsync or fault (default: read)"),
	OPT_STRING(0, "share", &share, "what",
		   "what tasks share: none, file, or block, one part of a file (default: none)"),
	OPT_BENCH_COUNT(0, "size", &size, "bytes an op, up to 1048576 (default: 4096)"),
	OPT_STRING(0, "dir", &dir, "dir",
		   "where the files are made, in a directory of their own (default: .)"),
	OPT_PARENT(bench_worker_options),
};

static const char * const usage[] = {
	"perf bench locking data [<options>]",
	NULL
};

enum what { DO_READ, DO_WRITE, DO_APPEND, DO_TRUNCATE, DO_FSYNC };

/* One op; NULL, or the name of the call that did not do what it should, with errno set. */
static __always_inline const char *once(int fd, char *buf, size_t len, off_t at, enum what what)
{
	ssize_t ret;

	if (what == DO_READ)
		ret = pread(fd, buf, len, at);
	else if (what == DO_APPEND)
		ret = write(fd, buf, len);
	else
		ret = pwrite(fd, buf, len, at);
	if (unlikely(ret != (ssize_t)len)) {
		if (ret >= 0)	/* fewer bytes than asked for set no errno */
			errno = what == DO_READ ? ENODATA : ENOSPC;
		return what == DO_READ ? "pread" : what == DO_APPEND ? "write" : "pwrite";
	}
	if (what == DO_TRUNCATE && unlikely(ftruncate(fd, 0)))
		return "ftruncate";
	return what == DO_FSYNC && unlikely(fsync(fd)) ? "fsync" : NULL;
}

static int failed(struct bench_task *t, const char *call)
{
	return bench_task__fail(t, call, "the task's file");
}

static __always_inline int loop(struct bench_task *t, enum what what)
{
	struct data_task *d = t->priv;
	const int fd = t->fd[0];
	const off_t at = d->at;
	const size_t len = size;
	unsigned int left = APPEND_OPS;
	const char *call;

	bench_task__for_each_op(t) {
		call = once(fd, d->buf, len, at, what);
		if (unlikely(call))
			return failed(t, call);
		if (what == DO_APPEND && unlikely(!--left)) {
			if (ftruncate(fd, 0))
				return failed(t, "ftruncate");
			left = APPEND_OPS;
		}
	}
	return 0;
}

/* Each loop is compiled for its op, and alone, so that it has all registers. */
static noinline int run_read(struct bench_task *t)
{
	return loop(t, DO_READ);
}

static noinline int run_write(struct bench_task *t)
{
	return loop(t, DO_WRITE);
}

static noinline int run_append(struct bench_task *t)
{
	return loop(t, DO_APPEND);
}

static noinline int run_truncate(struct bench_task *t)
{
	return loop(t, DO_TRUNCATE);
}

static noinline int run_fsync(struct bench_task *t)
{
	return loop(t, DO_FSYNC);
}

static int run_fault(struct bench_task *t)
{
	struct data_task *d = t->priv;
	const size_t len = size, page = sysconf(_SC_PAGESIZE);
	size_t i;

	bench_task__for_each_op(t) {
		if (unlikely(madvise(d->map, len, MADV_DONTNEED)))
			return failed(t, "madvise");
		for (i = 0; i < len; i += page)
			(void)READ_ONCE(d->map[i]);
	}
	return 0;
}

static const struct data_op data_ops_table[] = {
	{ "read",	"pread",	    run_read,	  0,	    true },
	{ "write",	"pwrite",	    run_write,	  0,	    true },
	{ "append",	"write (append)",   run_append,	  O_APPEND, false },
	{ "truncate",	"pwrite+ftruncate", run_truncate, 0,	    false },
	{ "fsync",	"pwrite+fsync",	    run_fsync,	  0,	    true },
	{ "fault",	"madvise+fault",    run_fault,	  0,	    true },
};

static bool share_is(const char *what)
{
	return !strcmp(share, what);
}

static int data_prepare(struct bench_run *run)
{
	unsigned int i;

	op = NULL;
	for (i = 0; i < ARRAY_SIZE(data_ops_table); i++) {
		if (!strcmp(op_name, data_ops_table[i].name))
			op = &data_ops_table[i];
	}
	if (!op)
		return bench_run__usage(run, "--op %s is unknown, see --help", op_name);
	if (!share_is("none") && !share_is("file") && !share_is("block"))
		return bench_run__usage(run, "--share %s: it is none, file or block", share);
	if (share_is("block") && !op->one_block)
		return bench_run__usage(run,
					"--share block: not with --op %s, which cuts its file",
					op->name);
	if (size > MAX_SIZE)
		return bench_run__usage(run, "--size: %llu is more than %u",
					(unsigned long long)size, MAX_SIZE);
	if (op->run == run_fault && size % sysconf(_SC_PAGESIZE))
		return bench_run__usage(run, "--size: with --op fault whole pages, of %ld bytes",
					sysconf(_SC_PAGESIZE));
	run->unit = op->unit;
	return bench_run__param(run, "op", "%s", op->name) ?:
	       bench_run__param(run, "share", "%s", share) ?:
	       bench_run__param(run, "size", "%llu", (unsigned long long)size);
}

static int data_init(struct bench_task *t)
{
	struct data_task *d = zalloc(sizeof(*d) + size);
	char path[40];
	const char *call;

	if (!d) {
		errno = ENOMEM;
		return bench_task__fail(t, "malloc", "a task's buffer of --size bytes");
	}
	t->priv = d;
	d->map = MAP_FAILED;
	d->at = share_is("file") ? (off_t)t->id * size : 0;
	snprintf(path, sizeof(path), "%d.%05d", t->run->repeat, share_is("none") ? t->id : 0);
	t->fd[0] = open(path, O_RDWR | O_CREAT | O_CLOEXEC | op->flags, 0600);
	if (t->fd[0] < 0)
		return bench_task__fail(t, "open", path);
	call = once(t->fd[0], d->buf, size, d->at, DO_WRITE);
	if (call)
		return failed(t, call);
	if (op->run != run_fault)
		return 0;
	d->map = mmap(NULL, size, PROT_READ, MAP_SHARED, t->fd[0], d->at);
	return d->map == MAP_FAILED ? bench_task__fail(t, "mmap", path) : 0;
}

static void data_exit(struct bench_task *t)
{
	struct data_task *d = t->priv;

	if (!d)
		return;
	if (d->map != MAP_FAILED)
		munmap(d->map, size);
	if (t->fd[0] >= 0)
		close(t->fd[0]);
	zfree(&t->priv);
}

static int data_run(struct bench_task *t)
{
	return op->run(t);
}

static const struct bench_ops data_ops = {
	.name		= "locking/data",
	.unit		= "pread",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 1,
	.use_dir	= true,
	.dir		= &dir,
	.options	= options,
	.usage		= usage,
	.prepare	= data_prepare,
	.init		= data_init,
	.run		= data_run,
	.exit		= data_exit,
};

int bench_locking_data(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &data_ops);
}
