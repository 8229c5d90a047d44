// SPDX-License-Identifier: GPL-2.0
/*
 * The private directory of a run, and what file system it is on
 *
 * BASE/perf-kbench.XXXXXX holds a lock file and the folder "run", which is the current directory
 * while the tasks work. A process of its own, the keeper, makes it, holds the lock (flock) and
 * removes it all once the parent and the tasks have closed a pipe, by whatever means they ended.
 * So nothing is left if they are killed, and a file system that hangs does not hang the parent,
 * which has no file open there. What a keeper that was killed has left is removed by a later run
 * in the same BASE: only a folder of our own user is, with a lock file of ours that nobody holds.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "worker-internal.h"

#define DIR_NAME	"perf-kbench."
#define LOCK_NAME	"lock"
#define LOCK_TEXT	"private directory of a perf-kbench run\n"
#define RUN_NAME	"run"

/* Does a line of mountinfo, by its ID and device numbers, describe what @path was found on? */
static bool same_mount(const struct statx *st, unsigned long long id, unsigned int major,
		       unsigned int minor)
{
#ifdef STATX_MNT_ID
	if (st->stx_mask & STATX_MNT_ID)
		return st->stx_mnt_id == id;
#endif
	return st->stx_dev_major == major && st->stx_dev_minor == minor && id;
}

int bench_fs__of(const char *path, char *type, size_t type_size, char *opts, size_t opts_size)
{
	char *line = NULL, *sep, *name, *super, *mnt_opts, *save;
	unsigned int major, minor;
	size_t line_size = 0;
	unsigned long long id;
	int i, err = -ENOENT;
	struct statx st;
	FILE *f;

#ifdef STATX_MNT_ID
	if (statx(AT_FDCWD, path, 0, STATX_MNT_ID, &st))
#else
	if (statx(AT_FDCWD, path, 0, 0, &st))
#endif
		return -errno;
	f = fopen("/proc/self/mountinfo", "re");
	if (!f)
		return -errno;
	/* id parent major:minor root mount-point options [tags] - type source super-options */
	while (err && getline(&line, &line_size, f) > 0) {
		if (sscanf(line, "%llu %*d %u:%u", &id, &major, &minor) != 3)
			continue;
		if (!same_mount(&st, id, major, minor))
			continue;
		sep = strstr(line, " - ");
		if (!sep)
			continue;
		*sep = '\0';
		mnt_opts = strtok_r(line, " ", &save);
		for (i = 0; mnt_opts && i < 5; i++)
			mnt_opts = strtok_r(NULL, " ", &save);
		name = strtok_r(sep + 3, " ", &save);
		strtok_r(NULL, " ", &save);
		super = strtok_r(NULL, "\n", &save);
		snprintf(type, type_size, "%s", name ?: "unknown");
		if (opts)
			snprintf(opts, opts_size, "%s,%s", mnt_opts ?: "", super ?: "");
		err = 0;
	}
	free(line);
	fclose(f);
	return err;
}

/* An ID of the mount that @fd is on, 0 where the kernel has none. */
static u64 mount_id(int fd __maybe_unused)
{
#ifdef STATX_MNT_ID
	struct statx st;

	if (!statx(fd, "", AT_EMPTY_PATH, STATX_MNT_ID, &st) && st.stx_mask & STATX_MNT_ID)
		return st.stx_mnt_id;
#endif
	return 0;
}

/*
 * Remove the directory @name of @parent with all in it, following no link and entering nothing
 * that is mounted there. 0 or -errno; what cannot be removed does not keep the rest.
 */
static int remove_tree(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;
	int err = 0, ret;

	if (!dir) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	while (mount_id(fd) == mount_id(parent) && (d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, ".."))
			continue;
		ret = unlinkat(fd, d->d_name, 0) ? -errno : 0;
		if (ret == -EISDIR || ret == -EPERM)
			ret = remove_tree(fd, d->d_name);
		if (ret && ret != -ENOENT)
			err = ret;
	}
	closedir(dir);
	if (unlinkat(parent, name, AT_REMOVEDIR) && errno != ENOENT && !err)
		err = -errno;
	return err;
}

/*
 * Remove the private directory @name of @base, of which @lock is held. The lock goes last, so that
 * what is left, should we be killed, is still known to be ours. It is closed before it goes, since
 * network file systems only rename a file that is open.
 */
static int remove_private(int base, const char *name, int lock)
{
	int fd = openat(base, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int err = fd < 0 ? -errno : remove_tree(fd, RUN_NAME);

	close(fd);
	close(lock);
	return err && err != -ENOENT ? err : remove_tree(base, name);
}

/* Take the lock of the private directory @name of @base, if it is one: its descriptor, or -1. */
static int lock_stale(int base, const char *name)
{
	char path[NAME_MAX + sizeof("/" LOCK_NAME)], text[sizeof(LOCK_TEXT)];
	struct stat st;
	int fd;

	if (fstatat(base, name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid())
		return -1;
	snprintf(path, sizeof(path), "%s/" LOCK_NAME, name);
	fd = openat(base, path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -1;
	if (read(fd, text, sizeof(text)) == sizeof(LOCK_TEXT) - 1 &&
	    !memcmp(text, LOCK_TEXT, sizeof(LOCK_TEXT) - 1) && !flock(fd, LOCK_EX | LOCK_NB))
		return fd;
	close(fd);
	return -1;
}

/* Remove what keepers that were killed left in @base. */
static void remove_stale(int base)
{
	int fd = openat(base, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), lock;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d;

	while (dir && (d = readdir(dir))) {
		if (strncmp(d->d_name, DIR_NAME, strlen(DIR_NAME)) ||
		    strlen(d->d_name) != strlen(DIR_NAME "XXXXXX"))
			continue;
		lock = lock_stale(base, d->d_name);
		if (lock >= 0)
			remove_private(base, d->d_name, lock);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* The lock is taken before the text is written: a file without it is nobody's to remove. */
static int make_lock(int base, const char *name)
{
	char path[NAME_MAX + sizeof("/" LOCK_NAME)];
	int fd, err;

	snprintf(path, sizeof(path), "%s/" LOCK_NAME, name);
	fd = openat(base, path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* where there are no locks, it stays without the text, and nobody takes it for left over */
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno == ENOLCK || errno == EOPNOTSUPP)
			return fd;
		err = -errno;
		close(fd);
		unlinkat(base, path, 0);
		return err;
	}
	errno = 0;
	if (write(fd, LOCK_TEXT, sizeof(LOCK_TEXT) - 1) != sizeof(LOCK_TEXT) - 1) {
		err = -(errno ?: EIO);
		close(fd);
		unlinkat(base, path, 0);
		return err;
	}
	return fd;
}

/* Make what belongs into the directory @name of @base. The lock's descriptor, or -errno. */
static int make_private(int base, const char *name)
{
	char path[NAME_MAX + sizeof("/" RUN_NAME)];
	int lock = make_lock(base, name), err;

	snprintf(path, sizeof(path), "%s/" RUN_NAME, name);
	if (lock >= 0 && mkdirat(base, path, 0700)) {
		err = -errno;
		remove_private(base, name, lock);
		return err;
	}
	if (lock < 0)
		unlinkat(base, name, AT_REMOVEDIR);
	return lock;
}

/*
 * The keeper: make the directory @name of @base, say so in @ready, wait until nobody has the other
 * end of @alive, remove it. Exits with the errno of that.
 */
static void keep(int base, const char *name, int ready, int alive)
{
	int lock, err, null = open("/dev/null", O_RDWR), i;
	char c;

	/* whoever reads what we print is not to wait for us */
	for (i = 0; null >= 0 && i < 3; i++)
		dup2(null, i);
	setpgid(0, 0);			/* nor does a terminal's signal reach us */
	remove_stale(base);
	lock = make_private(base, name);
	err = lock < 0 ? lock : 0;
	if (write(ready, &err, sizeof(err)) != sizeof(err) && !err)
		err = -EPIPE;
	close(ready);
	if (lock < 0)
		_exit(-err & 0xff);
	while (!err && read(alive, &c, 1) < 0 && errno == EINTR)
		;
	_exit(-remove_private(base, name, lock) & 0xff);
}

static int start_keeper(struct bench_run *run, int base, const char *name)
{
	int ready[2], alive[2], err = -EIO;
	ssize_t got;

	if (pipe2(ready, O_CLOEXEC))
		return -errno;
	if (pipe2(alive, O_CLOEXEC)) {
		err = -errno;
		goto close_ready;
	}
	run->privdir.keeper = fork();
	if (!run->privdir.keeper) {
		close(ready[0]);
		close(alive[1]);
		keep(base, name, ready[1], alive[0]);
	}
	close(alive[0]);
	run->privdir.alive = alive[1];
	if (run->privdir.keeper < 0) {
		err = -errno;
		close(ready[1]);
	} else {
		close(ready[1]);
		do {
			got = read(ready[0], &err, sizeof(err));
		} while (got < 0 && errno == EINTR && !bench_run__interrupted());
		if (got != sizeof(err))
			err = bench_run__interrupted() ? -EINTR : -EIO;
	}
	if (err)
		close(alive[1]);
	if (err && err != -EINTR && run->privdir.keeper > 0)
		waitpid(run->privdir.keeper, NULL, 0);
	close(ready[0]);
	return err;
close_ready:
	close(ready[0]);
	close(ready[1]);
	return err;
}

int bench_dir__enter(struct bench_run *run)
{
	const char *dir = run->ops->dir && *run->ops->dir ? *run->ops->dir : ".";
	size_t size = sizeof(run->privdir.path), len;
	char *path = run->privdir.path, real[PATH_MAX];
	int base, err;

	if (!realpath(dir, real))
		return bench_run__fail(run, errno, "--dir %s", dir);
	len = snprintf(path, size, "%s/" DIR_NAME "XXXXXX", real);
	if (len + sizeof("/" RUN_NAME) > size)
		return bench_run__fail(run, ENAMETOOLONG, "--dir %s", dir);
	base = open(real, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return bench_run__fail(run, errno, "--dir %s", dir);
	if (!mkdtemp(path)) {
		err = bench_run__fail(run, errno, "making a private directory in %s", real);
		goto out;
	}
	err = start_keeper(run, base, strrchr(path, '/') + 1);
	if (err) {
		rmdir(path);
		if (err != -EINTR)
			bench_run__fail(run, -err, "making the private directory %s", path);
		goto out;
	}
	run->privdir.cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	snprintf(path + len, size - len, "/" RUN_NAME);
	run->dir = path;
	if (chdir(path)) {
		err = bench_run__fail(run, errno, "entering %s", path);
		bench_dir__leave(run, bench_worker_params.grace);
	}
out:
	close(base);
	return err;
}

int bench_dir__leave(struct bench_run *run, u64 grace)
{
	u64 deadline = grace ? bench_now() + grace : 0;
	struct timespec nap = { .tv_nsec = NSEC_PER_MSEC };
	int status = 0, err = 0;
	pid_t pid = -1;

	if (!run->dir)
		return 0;
	if (run->privdir.cwd < 0 || fchdir(run->privdir.cwd))
		err = chdir("/") ? -errno : 0;
	*strrchr(run->privdir.path, '/') = '\0';
	close(run->privdir.alive);
	/* -1 if it was killed, which to waitpid() is any child */
	while (run->privdir.keeper > 0 &&
	       !(pid = waitpid(run->privdir.keeper, &status, WNOHANG))) {
		if (deadline && bench_now() > deadline)
			break;
		if (!nanosleep(&nap, NULL) && nap.tv_nsec < 20 * NSEC_PER_MSEC)
			nap.tv_nsec *= 2;
	}
	if (!pid)		/* the keeper goes on; who pressed Ctrl-C is not to wait */
		err = bench_run__interrupted() ? err : -ETIMEDOUT;
	else if (pid < 0 || !WIFEXITED(status))
		err = -ECHILD;
	else if (WEXITSTATUS(status))
		err = -WEXITSTATUS(status);
	if (err)
		bench_run__fail(run, -err, "removing %s; the next run there will try again",
				run->privdir.path);
	close(run->privdir.cwd);
	run->dir = NULL;
	return err;
}
