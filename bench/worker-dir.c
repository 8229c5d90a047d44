// SPDX-License-Identifier: GPL-2.0
/*
 * worker-dir.c: the private directory of a run, and what file system it is on
 *
 * BASE/perf-kbench.XXXXXX holds a lock file and the folder "run", which is the current directory
 * while the tasks work. The lock is held (flock) for as long as we live, by whatever means we
 * die, and a later run in the same BASE removes what nobody holds any more. Only a folder of our
 * own user with a lock file of ours in it is ever touched.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "worker.h"

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

static int remove_one(const char *path, const struct stat *st __maybe_unused,
		      int flag __maybe_unused, struct FTW *ftw __maybe_unused)
{
	return remove(path) && errno != ENOENT ? -1 : 0;
}

/* Remove a whole directory, never leaving its file system nor following a link. 0 or -errno. */
static int remove_tree(const char *path)
{
	return nftw(path, remove_one, 32, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) ? -errno : 0;
}

/* A private directory that nobody holds any more? What cannot be removed is left alone. */
static void remove_if_stale(const char *dir)
{
	char path[PATH_MAX], text[sizeof(LOCK_TEXT)];
	struct stat st;
	int fd;

	if (lstat(dir, &st) || !S_ISDIR(st.st_mode) || st.st_uid != geteuid() ||
	    snprintf(path, sizeof(path), "%s/" LOCK_NAME, dir) >= (int)sizeof(path))
		return;
	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text)) == sizeof(LOCK_TEXT) - 1 &&
	    !memcmp(text, LOCK_TEXT, sizeof(LOCK_TEXT) - 1) && !flock(fd, LOCK_EX | LOCK_NB))
		remove_tree(dir);
	close(fd);
}

/* Remove what runs that were killed left in @base. */
static void remove_stale(const char *base)
{
	size_t len = strlen(DIR_NAME "XXXXXX");
	char path[PATH_MAX];
	struct dirent *d;
	DIR *dir = opendir(base);

	while (dir && (d = readdir(dir))) {
		if (!strncmp(d->d_name, DIR_NAME, strlen(DIR_NAME)) && strlen(d->d_name) == len &&
		    snprintf(path, sizeof(path), "%s/%s", base, d->d_name) < (int)sizeof(path))
			remove_if_stale(path);
	}
	if (dir)
		closedir(dir);
}

/* The lock is taken before the text is written: a file without it is nobody's to remove. */
static int make_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600), err;

	if (fd < 0)
		return -errno;
	if (flock(fd, LOCK_EX | LOCK_NB) ||
	    write(fd, LOCK_TEXT, sizeof(LOCK_TEXT) - 1) != sizeof(LOCK_TEXT) - 1) {
		err = -(errno ?: EIO);
		close(fd);
		return err;
	}
	return fd;
}

int bench_dir__enter(struct bench_run *run)
{
	const char *base = run->ops->dir && *run->ops->dir ? *run->ops->dir : ".";
	char *priv = run->privdir.path, real[PATH_MAX];
	size_t size = sizeof(run->privdir.path), len;
	int err;

	if (!realpath(base, real))
		return bench_run__fail(run, errno, "--dir %s", base);
	remove_stale(real);
	len = snprintf(priv, size, "%s/" DIR_NAME "XXXXXX", real);
	if (len + sizeof("/" LOCK_NAME) > size)
		return bench_run__fail(run, ENAMETOOLONG, "--dir %s", base);
	if (!mkdtemp(priv))
		return bench_run__fail(run, errno, "making a private directory in %s", real);
	run->privdir.cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	strcpy(priv + len, "/" LOCK_NAME);
	run->privdir.lock = make_lock(priv);
	if (run->privdir.lock < 0) {
		err = bench_run__fail(run, -run->privdir.lock, "locking %s", priv);
		goto remove;
	}
	strcpy(priv + len, "/" RUN_NAME);
	if (mkdir(priv, 0700) || chdir(priv)) {
		err = bench_run__fail(run, errno, "making %s", priv);
		close(run->privdir.lock);
		goto remove;
	}
	run->dir = priv;
	return 0;
remove:
	priv[len] = '\0';
	remove_tree(priv);
	close(run->privdir.cwd);
	return err;
}

/*
 * Removing is done by a child, since the file system may hang as its tasks did: the parent waits
 * as long as it is not told to hurry (@grace), or sent a signal.
 */
int bench_dir__leave(struct bench_run *run, u64 grace)
{
	u64 deadline = grace ? bench_now() + grace : 0;
	struct timespec nap = { .tv_nsec = NSEC_PER_MSEC };
	pid_t parent = getpid(), pid;
	int status = 0, err = 0;

	if (!run->dir)
		return 0;
	if (run->privdir.cwd < 0 || fchdir(run->privdir.cwd))
		err = chdir("/") ? -errno : 0;
	*strrchr(run->privdir.path, '/') = '\0';
	pid = fork();
	if (!pid) {
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(0);
		_exit(-remove_tree(run->privdir.path) & 0xff);
	}
	if (pid < 0) {
		err = remove_tree(run->privdir.path);
	} else {
		while (!waitpid(pid, &status, WNOHANG)) {
			if (deadline && bench_now() > deadline) {
				kill(pid, SIGKILL);
				status = ETIMEDOUT << 8;
				break;
			}
			if (!nanosleep(&nap, NULL) && nap.tv_nsec < 20 * NSEC_PER_MSEC)
				nap.tv_nsec *= 2;
		}
		err = -WEXITSTATUS(status);
	}
	if (err)
		bench_run__fail(run, -err, "removing %s; the next run there will try again",
				run->privdir.path);
	close(run->privdir.lock);
	close(run->privdir.cwd);
	run->dir = NULL;
	return err;
}
