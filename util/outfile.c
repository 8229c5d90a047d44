// SPDX-License-Identifier: GPL-2.0
/*
 * outfile.c: a file that appears whole or not at all
 *
 * The temporary file, ".NAME.XXXXXX.tmp", is locked (flock(2)) for as long as a process has it
 * open, tasks included. So one that is not locked belongs to nobody and may be removed.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include "outfile.h"

#define NR_LINKS	40	/* as many as the kernel follows */
#define NR_TRIES	100	/* for a temporary name that is free */
#define NAME_KEEP	200	/* of the target's name in the temporary one, so that it fits */
#define NR_RANDOM	6	/* hexadecimal digits */

struct outfile {
	char	*path;		/* for messages */
	char	*name;		/* of the target, in dir */
	int	dir;		/* -1: standard output */
	int	fd;
	int	err;		/* the first, -errno */
	char	temp[NAME_MAX + 1];	/* in dir; "" if written to as it is */
	size_t	used;
	char	buf[1 << 16];
};

static int keep_error(struct outfile *f, int err)
{
	if (!f->err)
		f->err = err;
	return f->err;
}

/* Follow the links that @path ends in, also where the last leads nowhere yet. Takes @path. */
static char *follow_links(char *path)
{
	char link[PATH_MAX], *next;
	int i;

	for (i = 0; path && i < NR_LINKS; i++) {
		ssize_t len = readlink(path, link, sizeof(link) - 1);
		char *slash = strrchr(path, '/');
		int dir_len = slash ? slash + 1 - path : 0;

		if (len < 0)
			break;
		link[len] = '\0';
		if (asprintf(&next, "%.*s%s", link[0] == '/' ? 0 : dir_len, path, link) < 0)
			next = NULL;
		free(path);
		path = next;
	}
	return path;
}

/* Split the target into an open directory and a name. */
static int find_target(struct outfile *f, const char *path)
{
	char *target, *slash, *dir, *real;
	struct stat st;
	int err = 0;

	/* What a link of /proc leads to may have no name; it can be opened all the same. */
	target = strdup(path);
	if (target && (stat(path, &st) || S_ISREG(st.st_mode)))
		target = follow_links(target);
	if (!target)
		return -ENOMEM;

	slash = strrchr(target, '/');
	f->name = strdup(slash ? slash + 1 : target);
	if (slash)
		slash[slash == target] = '\0';		/* "/name" leaves "/" */
	dir = slash ? target : (char *)".";

	f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		err = -errno;
	real = realpath(dir, NULL);
	if (!f->name || asprintf(&f->path, "%s%s%s", real ?: dir,
				 real && !real[1] ? "" : "/", f->name) < 0) {
		f->path = NULL;
		err = -ENOMEM;
	} else if (!err && !*f->name) {
		err = *path ? -EISDIR : -ENOENT;
	}
	free(real);
	free(target);
	return err;
}

struct outfile *outfile__new(const char *path)
{
	struct outfile *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->dir = -1;
	f->fd = -1;
	if (!path || !strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
		f->path = strdup("standard output");
	else
		keep_error(f, find_target(f, path));
	if (!f->path) {
		outfile__free(f);
		return NULL;
	}
	return f;
}

/* Is @name one that open_temp() makes for this target? */
static bool is_temp(const struct outfile *f, const char *name)
{
	char prefix[NAME_MAX + 1];
	size_t len = snprintf(prefix, sizeof(prefix), ".%.*s.", NAME_KEEP, f->name);

	return !strncmp(name, prefix, len) &&
	       strspn(name + len, "0123456789abcdef") == NR_RANDOM &&
	       !strcmp(name + len + NR_RANDOM, ".tmp");
}

static void remove_stale(const struct outfile *f)
{
	int fd = openat(f->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	struct stat st;

	while (dir && (entry = readdir(dir))) {
		if (!is_temp(f, entry->d_name))
			continue;
		fd = openat(f->dir, entry->d_name,
			    O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && S_ISREG(st.st_mode) && !flock(fd, LOCK_EX | LOCK_NB))
			unlinkat(f->dir, entry->d_name, 0);
		close(fd);
	}
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
}

/* One try to make the temporary file. -EEXIST: try another name. */
static int open_temp(struct outfile *f)
{
	unsigned int random;
	struct stat st;
	int err;

	if (getrandom(&random, sizeof(random), 0) < 0)
		return -errno;
	snprintf(f->temp, sizeof(f->temp), ".%.*s.%0*x.tmp", NAME_KEEP, f->name, NR_RANDOM,
		 random & 0xffffff);
	f->fd = openat(f->dir, f->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (f->fd < 0) {
		err = -errno;
		f->temp[0] = '\0';
		return err;
	}
	/* Not every file system has locks; until it is locked, another writer may remove it. */
	if (flock(f->fd, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK)
		err = -EEXIST;
	else
		err = fstat(f->fd, &st) ? -errno : st.st_nlink ? 0 : -EEXIST;
	if (err == -EEXIST) {
		close(f->fd);
		f->fd = -1;
		f->temp[0] = '\0';
	}
	return err;
}

/*
 * Is the target a regular file that a rename will replace? What could fail then is asked now,
 * before anybody has worked for what is to be written: 1 yes, 0 no, or -errno.
 */
static int can_replace(const struct outfile *f)
{
	struct statx target;
	struct stat dir;

	if (statx(f->dir, f->name, 0, STATX_BASIC_STATS, &target))
		return errno == ENOENT ? 1 : -errno;
	if (!S_ISREG(target.stx_mode))
		return 0;
	if (target.stx_attributes & STATX_ATTR_MOUNT_ROOT)
		return -EBUSY;
	if (!fstat(f->dir, &dir) && dir.st_mode & S_ISVTX && geteuid() &&
	    geteuid() != dir.st_uid && geteuid() != target.stx_uid)
		return -EPERM;
	return 1;
}

int outfile__open(struct outfile *f)
{
	int i, err;

	if (f->err)
		return f->err;
	if (f->dir < 0) {
		f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		return f->fd < 0 ? keep_error(f, -errno) : 0;
	}
	err = can_replace(f);
	if (err < 0)
		return keep_error(f, err);
	if (!err) {
		f->fd = openat(f->dir, f->name, O_WRONLY | O_NOCTTY | O_CLOEXEC);
		return f->fd < 0 ? keep_error(f, -errno) : 0;
	}
	remove_stale(f);
	err = -EEXIST;
	for (i = 0; i < NR_TRIES && err == -EEXIST; i++)
		err = open_temp(f);
	return keep_error(f, err);
}

static int write_all(int fd, const char *data, size_t len)
{
	while (len) {
		ssize_t n = write(fd, data, len);

		if (n >= 0) {
			data += n;
			len -= n;
		} else if (errno == EAGAIN) {
			struct pollfd p = { .fd = fd, .events = POLLOUT };

			poll(&p, 1, -1);
		} else if (errno != EINTR) {
			return -errno;
		}
	}
	return 0;
}

int outfile__flush(struct outfile *f)
{
	if (!f->err && f->fd < 0)
		f->err = -EBADF;
	if (!f->err)
		f->err = write_all(f->fd, f->buf, f->used);
	f->used = 0;
	return f->err;
}

void outfile__put(struct outfile *f, const char *data, size_t len)
{
	while (len) {
		size_t n = min(len, sizeof(f->buf) - f->used);

		memcpy(f->buf + f->used, data, n);
		f->used += n;
		data += n;
		len -= n;
		if (f->used == sizeof(f->buf))
			outfile__flush(f);
	}
}

void outfile__puts(struct outfile *f, const char *s)
{
	outfile__put(f, s, strlen(s));
}

void outfile__csv(struct outfile *f, const char *sep, const char *text)
{
	const char *quote = text[strcspn(text, "\",\r\n")] ? "\"" : "";

	outfile__puts(f, sep);
	outfile__puts(f, quote);
	for (; *text; text++) {
		if (*text == '"')
			outfile__put(f, text, 1);
		outfile__put(f, text, 1);
	}
	outfile__puts(f, quote);
}

void outfile__printf(struct outfile *f, const char *fmt, ...)
{
	locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
	locale_t old = uselocale(c);
	va_list ap;
	char *text;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	uselocale(old);
	if (c)
		freelocale(c);
	if (len < 0) {
		keep_error(f, -ENOMEM);
		return;
	}
	outfile__put(f, text, len);
	free(text);
}

int outfile__commit(struct outfile *f)
{
	outfile__flush(f);
	if (!f->err && f->temp[0] && fsync(f->fd) && errno != EINVAL)
		f->err = -errno;
	if (f->fd >= 0 && close(f->fd))
		keep_error(f, -errno);
	f->fd = -1;
	if (!f->err && f->temp[0]) {
		if (renameat(f->dir, f->temp, f->dir, f->name))
			f->err = -errno;
		else
			f->temp[0] = '\0';
	}
	if (f->temp[0])
		unlinkat(f->dir, f->temp, 0);
	f->temp[0] = '\0';
	return f->err;
}

void outfile__free(struct outfile *f)
{
	if (!f)
		return;
	if (f->temp[0])
		unlinkat(f->dir, f->temp, 0);
	if (f->fd >= 0)
		close(f->fd);
	if (f->dir >= 0)
		close(f->dir);
	free(f->name);
	free(f->path);
	free(f);
}

const char *outfile__path(const struct outfile *f)
{
	return f->path;
}

const char *outfile__hint(int err)
{
	switch (err < 0 ? -err : err) {
	case ENOSPC:
	case EDQUOT:
	case EFBIG:
		return "make room, or name a file elsewhere";
	case ENOENT:
	case ENOTDIR:
		return "make its directory first, or name a file elsewhere";
	case EISDIR:
		return "name a file, not a directory";
	case EPIPE:
		return "its reader is gone";
	case EBADF:
		return "it is closed";
	case EBUSY:
		return "it is a mount point; name a file in a directory";
	default:
		return "name a file in a directory that you may write to";
	}
}
