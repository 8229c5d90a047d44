// SPDX-License-Identifier: GPL-2.0
/*
 * locking vfs: tasks create, open, remove, rename or look up files, by default creat(2) and
 * close(2), each task on a file of its own in one directory that all share.
 *
 * What is stressed, by --op, with --share dir:
 *
 *   creat	the directory's i_rwsem, exclusive, while the file is new. The first pass over a
 *		task's files makes them, later passes truncate them: these take that lock before
 *		Linux 6.12, and since then only where the dentry is not cached. Truncating takes
 *		the file's own i_rwsem and starts a transaction of the file system.
 *   open	the walk under RCU, the file's own d_lockref, allocating and freeing struct file.
 *		Nothing of the directory is written, so this should scale.
 *   unlink	the directory's i_rwsem, exclusive, twice; making and freeing an inode, with the
 *		lists and allocators of the superblock (s_inode_list_lock, orphans, group locks).
 *   rename	the directory's i_rwsem, and rename_lock, which is one for the whole system:
 *		--share none does not remove it. s_vfs_rename_mutex is not taken, as no rename
 *		leaves its directory.
 *   move	rename(2) into a directory below and back: as rename, with the locks of both
 *		directories and s_vfs_rename_mutex, which is one for the whole file system.
 *   link	link(2) in the same directory, unlink(2): the directory's i_rwsem, exclusive, twice,
 *		and the file's, with its link count.
 *   symlink	symlink(2), unlink(2): as unlink.
 *   readlink	the walk under RCU, and the link's content, from the inode where it is short.
 *   readdir	open(2) of the directory, getdents64(2) to its end, close(2): the directory's
 *		i_rwsem, shared. Its length is --jobs for each task that shares it.
 *   tmpfile	open(2) with O_TMPFILE, close(2): an inode without a name is made and freed, so what
 *		unlink has of the superblock, and nothing of the directory.
 *   mkdir	as unlink, and the directory's link count.
 *   stat, access	the walk under RCU, and the file's own d_lockref.
 *
 * With --share none each task has a directory of its own, which leaves what is the superblock's
 * or the system's. With --share file all tasks use the same files, so their d_lockref and
 * i_rwsem are shared too. --depth puts directories between, so that each name is walked through
 * them: they are shared as the working directory is. What is not stressed in any of these: reading
 * and writing data, more than one mount, and, as tasks are processes
 * unless --mode says otherwise, the table of file descriptors. Threads get their own working
 * directory by unshare(CLONE_FS).
 *
 * Each repeat has new directories and new files. There are --jobs times tasks of them at a time
 * (rename: one name more a task, none of that for unlink and mkdir), each with an inode; no limit
 * is set here, as the file system's own is part of what may be measured. With --share file there
 * are --jobs of them a repeat, which stay until the last repeat is done.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "worker.h"

#define MAX_DEPTH	16

/* A task's names, a ring: the next one costs a load, and neither a compare nor a jump. */
struct vfs_name {
	const struct vfs_name	*next;
	char			path[28 + 2 * MAX_DEPTH];
	/* move, link: the file's second name; else that of its directory */
	char			other[28 + 2 * MAX_DEPTH];
};

struct vfs_files {
	u64			nr;
	struct vfs_name		names[];
};

struct vfs_op {
	const char	*name, *unit;
	int		(*run)(struct bench_task *t);
	int		made;		/* the first name that init makes a file of, or -1 */
	bool		removes;	/* takes names away, so tasks cannot share a file */
	bool		symlinks;	/* init makes symbolic links */
};

static const char *dir;
static const char *op_name = "creat";
static const char *share = "dir";
static u64 jobs = 1;
static u64 depth;
static const struct vfs_op *op;

static const struct option options[] = {
	{ .type = OPTION_STRING, .long_name = "op", .value = &op_name, .argh = "op",
	  .help =
	  "creat, open, unlink, rename, move, link, symlink, readlink, mkdir, readdir, tmpfile, stat or access (default: creat)",
	},
	OPT_STRING(0, "share", &share, "what",
		   "what tasks share: none, dir, or file, which is both (default: dir)"),
	OPT_BENCH_COUNT('j', "jobs", &jobs, "files that each task cycles over (default: 1)"),
	OPT_BENCH_COUNT(0, "depth", &depth,
			"directories above each file, up to 16 (default: none)"),
	OPT_STRING(0, "dir", &dir, "dir",
		   "where the files are made, in a directory of their own (default: .)"),
	OPT_PARENT(bench_worker_options),
};

static const char * const usage[] = {
	"perf bench locking vfs [<options>]",
	NULL
};

static inline const struct vfs_name *first_name(const struct bench_task *t)
{
	const struct vfs_files *f = t->priv;

	return f->names;
}

static int run_creat(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		int fd = creat(n->path, 0600);

		if (unlikely(fd < 0))
			return bench_task__fail(t, "creat", n->path);
		if (unlikely(close(fd)))
			return bench_task__fail(t, "close", n->path);
		n = n->next;
	}
	return 0;
}

static int run_open(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		int fd = open(n->path, O_RDONLY);

		if (unlikely(fd < 0))
			return bench_task__fail(t, "open", n->path);
		if (unlikely(close(fd)))
			return bench_task__fail(t, "close", n->path);
		n = n->next;
	}
	return 0;
}

static int run_unlink(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		int fd = creat(n->path, 0600);

		if (unlikely(fd < 0))
			return bench_task__fail(t, "creat", n->path);
		if (unlikely(close(fd)))
			return bench_task__fail(t, "close", n->path);
		if (unlikely(unlink(n->path)))
			return bench_task__fail(t, "unlink", n->path);
		n = n->next;
	}
	return 0;
}

/* One name is free; the next file takes it and frees its own. With one file: there and back. */
static int run_rename(struct bench_task *t)
{
	const struct vfs_name *to = first_name(t), *from = to->next;

	bench_task__for_each_op(t) {
		if (unlikely(rename(from->path, to->path)))
			return bench_task__fail(t, "rename", from->path);
		to = from;
		from = from->next;
	}
	return 0;
}

/* The ring has each name twice, so that the second pass brings the files back. */
static int run_move(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		if (unlikely(rename(n->path, n->other)))
			return bench_task__fail(t, "rename", n->path);
		n = n->next;
	}
	return 0;
}

static int run_link(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		if (unlikely(link(n->path, n->other)))
			return bench_task__fail(t, "link", n->path);
		if (unlikely(unlink(n->other)))
			return bench_task__fail(t, "unlink", n->other);
		n = n->next;
	}
	return 0;
}

static int run_symlink(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		if (unlikely(symlink("target", n->path)))
			return bench_task__fail(t, "symlink", n->path);
		if (unlikely(unlink(n->path)))
			return bench_task__fail(t, "unlink", n->path);
		n = n->next;
	}
	return 0;
}

static int run_readlink(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);
	char buf[64];

	bench_task__for_each_op(t) {
		if (unlikely(readlink(n->path, buf, sizeof(buf)) < 0))
			return bench_task__fail(t, "readlink", n->path);
		n = n->next;
	}
	return 0;
}

/* The directory of the task's files, or of all tasks' */
static int run_readdir(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);
	const char *path = n->other;
	char buf[32768];
	ssize_t len;

	bench_task__for_each_op(t) {
		int fd = open(path, O_RDONLY | O_DIRECTORY);

		if (unlikely(fd < 0))
			return bench_task__fail(t, "open", path);
		do {
			len = getdents64(fd, buf, sizeof(buf));
		} while (len > 0);
		if (unlikely(len < 0))
			return bench_task__fail(t, "getdents64", path);
		if (unlikely(close(fd)))
			return bench_task__fail(t, "close", path);
	}
	return 0;
}

static int run_tmpfile(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);
	const char *path = n->other;

	bench_task__for_each_op(t) {
		int fd = open(path, O_TMPFILE | O_WRONLY, 0600);

		if (unlikely(fd < 0))
			return bench_task__fail(t, "open O_TMPFILE", path);
		if (unlikely(close(fd)))
			return bench_task__fail(t, "close", path);
	}
	return 0;
}

static int run_mkdir(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		if (unlikely(mkdir(n->path, 0700)))
			return bench_task__fail(t, "mkdir", n->path);
		if (unlikely(rmdir(n->path)))
			return bench_task__fail(t, "rmdir", n->path);
		n = n->next;
	}
	return 0;
}

static int run_stat(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);
	struct stat st;

	bench_task__for_each_op(t) {
		if (unlikely(stat(n->path, &st)))
			return bench_task__fail(t, "stat", n->path);
		n = n->next;
	}
	return 0;
}

static int run_access(struct bench_task *t)
{
	const struct vfs_name *n = first_name(t);

	bench_task__for_each_op(t) {
		if (unlikely(access(n->path, R_OK)))
			return bench_task__fail(t, "access", n->path);
		n = n->next;
	}
	return 0;
}

static const struct vfs_op vfs_ops_table[] = {
	{ "creat",    "creat+close",	      run_creat,    -1, false, false },
	{ "open",     "open+close",	      run_open,	     0, false, false },
	{ "unlink",   "creat+close+unlink",   run_unlink,   -1, true,  false },
	{ "rename",   "rename",		      run_rename,    1, true,  false },
	{ "move",     "rename",		      run_move,	     0, true,  false },
	{ "link",     "link+unlink",	      run_link,	     0, true,  false },
	{ "symlink",  "symlink+unlink",	      run_symlink,  -1, true,  false },
	{ "readlink", "readlink",	      run_readlink,  0, false, true },
	{ "mkdir",    "mkdir+rmdir",	      run_mkdir,    -1, true,  false },
	{ "readdir",  "open+getdents+close",  run_readdir,   0, false, false },
	{ "tmpfile",  "open+close (unnamed)", run_tmpfile,  -1, false, false },
	{ "stat",     "stat",		      run_stat,	     0, false, false },
	{ "access",   "access",		      run_access,    0, false, false },
};

static bool share_is(const char *what)
{
	return !strcmp(share, what);
}

static int vfs_prepare(struct bench_run *run)
{
	unsigned int i;

	op = NULL;
	for (i = 0; i < ARRAY_SIZE(vfs_ops_table); i++) {
		if (!strcmp(op_name, vfs_ops_table[i].name))
			op = &vfs_ops_table[i];
	}
	if (!op)
		return bench_run__usage(run, "--op %s is unknown, see --help", op_name);
	if (!share_is("none") && !share_is("dir") && !share_is("file"))
		return bench_run__usage(run, "--share %s: it is none, dir or file", share);
	if (share_is("file") && op->removes)
		return bench_run__usage(run, "--share file: --op %s takes the file from the others",
					op->name);
	if (depth > MAX_DEPTH)
		return bench_run__usage(run, "--depth: %llu is more than %d",
					(unsigned long long)depth, MAX_DEPTH);
	run->unit = op->unit;
	if (depth && bench_run__param(run, "depth", "%llu", (unsigned long long)depth))
		return -ENOMEM;
	return bench_run__param(run, "op", "%s", op->name) ?:
	       bench_run__param(run, "share", "%s", share) ?:
	       bench_run__param(run, "jobs", "%llu", (unsigned long long)jobs);
}

/* "d/d/", as many as --depth says; "" for 0 */
static const char *below(char *buf)
{
	u64 i;

	for (i = 0; i < depth; i++)
		memcpy(buf + 2 * i, "d/", 2);
	buf[2 * depth] = '\0';
	return buf;
}

/* The directories of --depth, and the one that move goes to. Other tasks may make them as well. */
static int make_below(struct bench_task *t)
{
	char path[2 * MAX_DEPTH + 8];
	u64 i;

	below(path);
	for (i = 0; i < depth; i++) {
		path[2 * i + 1] = '\0';
		if (mkdir(path, 0700) && errno != EEXIST)
			return bench_task__fail(t, "mkdir", path);
		path[2 * i + 1] = '/';
	}
	strcat(path, "to");
	if (op->run == run_move && mkdir(path, 0700) && errno != EEXIST)
		return bench_task__fail(t, "mkdir", path);
	return 0;
}

/* A task's working directory is new in each repeat: all tasks' or, with --share none, its own. */
static int vfs_enter(struct bench_task *t)
{
	bool own = share_is("none");
	char path[40];

	snprintf(path, sizeof(path), "%d.%05d", t->run->repeat, own ? t->id : 0);
	if (t->run->mode == BENCH_MODE_THREAD && unshare(CLONE_FS))
		return bench_task__fail(t, "unshare", "CLONE_FS, which --mode thread needs");
	if (mkdir(path, 0700) && (own || errno != EEXIST))
		return bench_task__fail(t, "mkdir", path);
	if (chdir(path))
		return bench_task__fail(t, "chdir", path);
	return make_below(t);
}

/* The two names of a file; the second half of move's ring goes the other way. */
static void name_file(struct vfs_name *n, int id, u64 i)
{
	bool back = op->run == run_move && i >= jobs;
	unsigned long long nr = back ? i - jobs : i;
	char dirs[2 * MAX_DEPTH + 1];

	below(dirs);
	snprintf(n->path, sizeof(n->path), "%s%s%05d.%06llu", dirs, back ? "to/" : "", id, nr);
	if (op->run == run_move)
		snprintf(n->other, sizeof(n->other), "%s%s%05d.%06llu", dirs, back ? "" : "to/",
			 id, nr);
	else if (op->run == run_link)
		snprintf(n->other, sizeof(n->other), "%sl%05d.%06llu", dirs, id, nr);
	else
		snprintf(n->other, sizeof(n->other), "%s.", dirs);
}

static int make_file(struct bench_task *t, const char *path)
{
	int fd;

	if (op->symlinks)
		return symlink("target", path) && errno != EEXIST ?
		       bench_task__fail(t, "symlink", path) : 0;
	fd = creat(path, 0600);
	return fd < 0 || close(fd) ? bench_task__fail(t, "creat", path) : 0;
}

static int vfs_init(struct bench_task *t)
{
	u64 i, nr_files = op->made == 1 ? jobs + 1 : jobs;
	u64 nr = op->run == run_move ? 2 * jobs : nr_files;
	struct vfs_files *f = NULL;
	int err;

	if (nr < SIZE_MAX / 2 / sizeof(f->names[0]))
		f = zalloc(sizeof(*f) + nr * sizeof(f->names[0]));
	if (!f) {
		errno = ENOMEM;
		return bench_task__fail(t, "malloc", "a task's table of --jobs names");
	}
	err = vfs_enter(t);
	if (err) {
		free(f);
		return err;
	}
	t->priv = f;
	f->nr = nr;
	for (i = 0; i < nr; i++) {
		f->names[i].next = &f->names[i + 1 < nr ? i + 1 : 0];
		name_file(&f->names[i], share_is("file") ? 0 : t->id, i);
	}
	for (i = op->made; op->made >= 0 && i < nr_files && !err; i++)
		err = make_file(t, f->names[i].path);
	return err;
}

/*
 * So that the next repeat starts as this one did. What others may still be using, directories,
 * and what would take longer than the harness waits is left for it to remove.
 */
static void vfs_exit(struct bench_task *t)
{
	u64 until = bench_now() + bench_worker_params.grace / 2;
	struct vfs_files *f = t->priv;
	u64 i;

	if (!f)
		return;
	for (i = 0; i < f->nr && !share_is("file") && bench_now() < until; i++)
		unlink(f->names[i].path);
	free(f);
	t->priv = NULL;
}

static int vfs_run(struct bench_task *t)
{
	return op->run(t);
}

static const struct bench_ops vfs_ops = {
	.name		= "locking/vfs",
	.unit		= "creat+close",
	.mode		= BENCH_MODE_PROCESS,
	.fds		= 1,
	.use_dir	= true,
	.dir		= &dir,
	.options	= options,
	.usage		= usage,
	.prepare	= vfs_prepare,
	.init		= vfs_init,
	.run		= vfs_run,
	.exit		= vfs_exit,
};

int bench_locking_vfs(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &vfs_ops);
}
