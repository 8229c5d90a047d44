// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of /proc/self/mountstats. The text is taken as bytes with a length, and nothing is
 * believed about it. An entry is
 *
 *	device SERVER:/EXPORT mounted on POINT with fstype nfs4 statvers=1.1
 *		opts:	...
 *		per-op statistics
 *		        NULL: 1 1 0 44 24 0 0 0 0
 *		      LOOKUP: 12 12 0 1968 2784 0 3 4 7
 *
 * and ends with an empty line. The first number is how many RPCs were answered.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/zalloc.h>

#include "nfs-mountstats.h"

/* A stretch of the text. */
struct slice {
	const char	*p;
	size_t		len;
};

/* Take the next line off the text; false at its end, and for a line that is cut off. */
static bool slice__line(struct slice *text, struct slice *line)
{
	const char *nl = text->len && text->p ? memchr(text->p, '\n', text->len) : NULL;

	if (!nl)
		return false;
	line->p = text->p;
	line->len = nl - text->p;
	text->p += line->len + 1;
	text->len -= line->len + 1;
	return true;
}

/* Take all up to the first of @delim off the text, and that with it. */
static bool slice__until(struct slice *text, const char *delim, struct slice *out)
{
	size_t size = strlen(delim);
	const char *at = memmem(text->p, text->len, delim, size);

	if (!at)
		return false;
	out->p = text->p;
	out->len = at - text->p;
	text->p += out->len + size;
	text->len -= out->len + size;
	return true;
}

static bool slice__prefix(const struct slice *text, const char *prefix)
{
	return text->len >= strlen(prefix) && !memcmp(text->p, prefix, strlen(prefix));
}

static bool slice__is(const struct slice *text, const char *what)
{
	return text->len == strlen(what) && slice__prefix(text, what);
}

/* All of the text must be a number. */
static bool slice__number(const struct slice *text, u64 *value)
{
	size_t i;

	*value = 0;
	for (i = 0; i < text->len; i++) {
		if (text->p[i] < '0' || text->p[i] > '9' ||
		    __builtin_mul_overflow(*value, (u64)10, value) ||
		    __builtin_add_overflow(*value, (u64)(text->p[i] - '0'), value))
			return false;
	}
	return text->len > 0;
}

int nfs_mount__find(const char *text, size_t len, int id, struct nfs_mount *mount)
{
	struct slice all = { text, len }, rest, line, field, point;
	bool found = false;
	int i;

	/* The line comes first, then how many of those before it have the same mount point. */
	while (!found && slice__line(&all, &line)) {
		u64 value;

		if (!slice__until(&line, " ", &field) || !slice__number(&field, &value))
			return -EINVAL;
		if (value != (u64)id)
			continue;
		for (i = 0; i < 4; i++) {
			if (!slice__until(&line, " ", &point))
				return -EINVAL;
		}
		found = true;
	}
	if (!found)
		return -ENODATA;
	if (!point.len || point.len >= sizeof(mount->point) || memchr(point.p, 0, point.len))
		return -EINVAL;
	memcpy(mount->point, point.p, point.len);
	mount->point[point.len] = 0;

	mount->nth = 0;
	rest = (struct slice){ text, point.p - text };
	while (slice__line(&rest, &line)) {
		for (i = 0; i < 5; i++) {
			if (!slice__until(&line, " ", &field))
				return -EINVAL;
		}
		mount->nth += slice__is(&field, mount->point);
	}
	return 0;
}

/* Find the mount's entry: @text is then what follows its first line, and @type all after fstype. */
static bool find_device(struct slice *text, const struct nfs_mount *mount, struct slice *type)
{
	struct slice device, point;
	int nth = 0;

	while (slice__line(text, type)) {
		if (!slice__prefix(type, "device ") && !slice__prefix(type, "no device "))
			continue;
		if (slice__until(type, " mounted on ", &device) &&
		    slice__until(type, " with fstype ", &point) &&
		    slice__is(&point, mount->point) && nth++ == mount->nth)
			return true;
	}
	return false;
}

static int parse_op(struct slice line, struct nfs_mountstats *stats)
{
	struct slice name, count;
	u64 ops;

	while (line.len && (*line.p == '\t' || *line.p == ' ')) {
		line.p++;
		line.len--;
	}
	if (stats->nr == NFS_MOUNTSTATS_MAX || !slice__until(&line, ": ", &name) ||
	    !name.len || name.len >= NFS_MOUNTSTATS_NAME || memchr(name.p, 0, name.len) ||
	    !slice__until(&line, " ", &count) || !slice__number(&count, &ops))
		return -EINVAL;
	memcpy(stats->op[stats->nr].name, name.p, name.len);
	stats->op[stats->nr].name[name.len] = 0;
	stats->op[stats->nr++].ops = ops;
	return 0;
}

int nfs_mountstats__parse(const char *text, size_t len, const struct nfs_mount *mount,
			  struct nfs_mountstats *stats)
{
	struct slice all = { text, len }, line, type;
	bool per_op = false;
	int err;

	stats->nr = 0;
	if (!find_device(&all, mount, &line))
		return -ENODATA;
	if (!slice__until(&line, " ", &type) ||
	    (!slice__is(&type, "nfs") && !slice__is(&type, "nfs4")))
		return -ENODATA;
	if (!slice__prefix(&line, "statvers=1."))
		return -EINVAL;
	while (slice__line(&all, &line)) {
		if (!line.len || *line.p != '\t')
			return stats->nr ? 0 : -ENODATA;
		if (per_op) {
			err = parse_op(line, stats);
			if (err)
				return err;
		}
		if (slice__is(&line, "\tper-op statistics"))
			per_op = true;
	}
	return -EINVAL;
}

/* All of a text file of /proc; the caller frees. */
static int read_text(const char *path, char **text, size_t *len)
{
	size_t size = 0;
	ssize_t got;
	FILE *file;
	int err;

	*text = NULL;
	*len = 0;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	errno = 0;
	got = getdelim(text, &size, 0, file);
	err = got < 0 ? -(errno ?: ENODATA) : 0;
	fclose(file);
	if (err)
		zfree(text);
	else
		*len = got;
	return err;
}

int nfs_mount__of_cwd(struct nfs_mount *mount)
{
	char path[48], *text, *at;
	size_t len;
	int fd, id, err;

	fd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	err = read_text(path, &text, &len);
	close(fd);
	if (!text)
		return err;
	at = strstr(text, "mnt_id:");
	id = at ? atoi(at + strlen("mnt_id:")) : -1;
	free(text);
	err = read_text("/proc/self/mountinfo", &text, &len);
	if (!text)
		return err;
	err = nfs_mount__find(text, len, id, mount);
	free(text);
	return err;
}

int nfs_mountstats__read(const struct nfs_mount *mount, struct nfs_mountstats *stats)
{
	char *text;
	size_t len;
	int err;

	err = read_text("/proc/self/mountstats", &text, &len);
	if (!text)
		return err;
	err = nfs_mountstats__parse(text, len, mount, stats);
	free(text);
	return err;
}

double nfs_mountstats__per_op(const struct nfs_mountstats *begin, const struct nfs_mountstats *end,
			      int i, u64 ops)
{
	int j;

	for (j = 0; j < begin->nr; j++) {
		if (!strcmp(begin->op[j].name, end->op[i].name))
			break;
	}
	if (!ops || j == begin->nr || begin->op[j].ops > end->op[i].ops)
		return NAN;
	return (double)(end->op[i].ops - begin->op[j].ops) / ops;
}
