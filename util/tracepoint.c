// SPDX-License-Identifier: GPL-2.0
/*
 * Tracepoints: their IDs, and where in their records which field is
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>
#ifdef HAVE_LIBTRACEEVENT
#include <traceevent/event-parse.h>
#endif

#include "tracepoint.h"

/* New system calls have one number everywhere; not every libc knows them. */
#define KBENCH_SYS_FSOPEN	430
#define KBENCH_SYS_FSCONFIG	431
#define KBENCH_SYS_FSMOUNT	432
#define KBENCH_FSOPEN_CLOEXEC	1
#define KBENCH_FSCONFIG_CREATE	6
#define KBENCH_FSMOUNT_CLOEXEC	1
#define KBENCH_MOUNT_ATTR_RDONLY 1

/* ---- the files ---- */

/* Where it is mounted: a folder's descriptor; -ENODEV if nowhere. */
static int open_mounted(void)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent m;
	char buf[4096];
	int fd = -ENODEV;

	if (!f)
		return -errno;
	while (fd < 0 && getmntent_r(f, &m, buf, sizeof(buf))) {
		if (strcmp(m.mnt_type, "tracefs"))
			continue;
		fd = open(m.mnt_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			fd = -errno;
	}
	endmntent(f);
	return fd;
}

/* A tracefs of our own, which has no place in any folder, and goes with its descriptor. */
static int open_unmounted(void)
{
	int fs = syscall(KBENCH_SYS_FSOPEN, "tracefs", KBENCH_FSOPEN_CLOEXEC);
	int fd;

	if (fs < 0)
		return -errno;
	fd = syscall(KBENCH_SYS_FSCONFIG, fs, KBENCH_FSCONFIG_CREATE, NULL, NULL, 0);
	if (!fd)
		fd = syscall(KBENCH_SYS_FSMOUNT, fs, KBENCH_FSMOUNT_CLOEXEC,
			     KBENCH_MOUNT_ATTR_RDONLY);
	if (fd < 0)
		fd = -errno;
	close(fs);
	return fd;
}

static long paranoid(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	long value = -1;

	if (f && fscanf(f, "%ld", &value) != 1)
		value = -1;
	if (f)
		fclose(f);
	return value;
}

static int no_tracefs(int err, const char *what, char *why, size_t why_size)
{
	const char *text = strerror(-err);

	if (err == -EACCES || err == -EPERM)
		snprintf(why, why_size,
			 "%s: %s: be root; tracepoints also need CAP_PERFMON, or kernel.perf_event_paranoid at -1 (it is %ld)",
			 what, text, paranoid());
	else if (err == -ENODEV)
		snprintf(why, why_size, "%s: %s: this kernel has no tracepoints (CONFIG_TRACING)",
			 what, text);
	else
		snprintf(why, why_size, "%s: %s", what, text);
	return err;
}

static int open_tracefs(char *why, size_t why_size)
{
	int fd = open_mounted();

	if (fd >= 0)
		return fd;
	if (fd != -ENODEV)
		return no_tracefs(fd, "opening tracefs", why, why_size);
	fd = open_unmounted();
	return fd >= 0 ? fd : no_tracefs(fd, "tracefs is not mounted, mounting it", why, why_size);
}

static bool is_name(const char *name)
{
	size_t len = strlen(name), i;

	for (i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("_-", name[i]))
			return false;
	}
	return len && len < 128;
}

/* Read a small file of a tracepoint whole; its size, or -errno. */
static ssize_t read_file(const char *sys, const char *name, const char *file, char *buf,
			 size_t room, char *why, size_t why_size)
{
	char path[512], what[600];
	size_t size = 0;
	int dir, fd, err;
	ssize_t nr;

	if (!is_name(sys) || !is_name(name)) {
		snprintf(why, why_size, "%s:%s is no name of a tracepoint", sys, name);
		return -EINVAL;
	}
	dir = open_tracefs(why, why_size);
	if (dir < 0)
		return dir;
	snprintf(path, sizeof(path), "events/%s/%s/%s", sys, name, file);
	fd = openat(dir, path, O_RDONLY | O_CLOEXEC);
	err = fd < 0 ? -errno : 0;
	close(dir);
	while (!err && size < room) {
		nr = read(fd, buf + size, room - size);
		if (nr <= 0) {
			err = nr && errno != EINTR ? -errno : 0;
			if (!nr)
				break;
			continue;
		}
		size += nr;
	}
	if (fd >= 0)
		close(fd);
	if (err == -ENOENT) {
		snprintf(why, why_size, "this kernel has no tracepoint %s:%s", sys, name);
		return err;
	}
	if (err) {
		snprintf(what, sizeof(what), "tracefs: %s", path);
		return no_tracefs(err, what, why, why_size);
	}
	return size;
}

int tracepoint__id(const char *sys, const char *name, u64 *id, char *why, size_t why_size)
{
	char text[32], *end;
	ssize_t size = read_file(sys, name, "id", text, sizeof(text) - 1, why, why_size);

	if (size < 0)
		return size;
	text[size] = '\0';
	errno = 0;
	*id = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end != '\n' || errno) {
		snprintf(why, why_size, "tracefs: events/%s/%s/id is no number", sys, name);
		return -EINVAL;
	}
	return 0;
}

int tracepoint__format(const char *sys, const char *name, char **text, size_t *size, char *why,
		       size_t why_size)
{
	char *buf = malloc(TRACEPOINT_MAX_FORMAT + 1);
	ssize_t nr = -ENOMEM;

	if (buf)
		nr = read_file(sys, name, "format", buf, TRACEPOINT_MAX_FORMAT + 1, why, why_size);
	else
		snprintf(why, why_size, "%s", strerror(ENOMEM));
	if (nr > TRACEPOINT_MAX_FORMAT) {
		nr = -EFBIG;
		snprintf(why, why_size, "tracefs: events/%s/%s/format is larger than %d bytes", sys,
			 name, TRACEPOINT_MAX_FORMAT);
	}
	if (nr < 0) {
		free(buf);
		return nr;
	}
	buf[nr] = '\0';
	*text = buf;
	*size = nr;
	return 0;
}

/* ---- the format ---- */

#ifdef HAVE_LIBTRACEEVENT

/* Does it look like one, so that the library may be given it? */
static bool is_text(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++) {
		if (!isprint((unsigned char)text[i]) && text[i] != '\n' && text[i] != '\t')
			return false;
	}
	return size && size <= TRACEPOINT_MAX_FORMAT;
}

/*
 * What stands before "print fmt:", with one that prints nothing: how the kernel prints a record is
 * a C expression, which the library might not understand, and we do not need.
 */
static char *without_print_fmt(const char *text, size_t size)
{
	static const char mark[] = "\nprint fmt:", nothing[] = "\nprint fmt: \"\"\n";
	const char *end = memmem(text, size, mark, sizeof(mark) - 1);
	size_t len = end ? (size_t)(end - text) : 0;
	char *copy = end ? malloc(len + sizeof(nothing)) : NULL;

	if (copy) {
		memcpy(copy, text, len);
		memcpy(copy + len, nothing, sizeof(nothing));
	}
	return copy;
}

static bool is_number(const struct tep_format_field *f)
{
	const unsigned long not = TEP_FIELD_IS_ARRAY | TEP_FIELD_IS_DYNAMIC | TEP_FIELD_IS_STRING;

	return !(f->flags & not) && f->offset >= 0 && f->offset < TRACEPOINT_MAX_FORMAT &&
	       (f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8);
}

static int find_fields(struct tep_event *event, struct tracepoint_field *fields, int nr, char *why,
		       size_t why_size)
{
	struct tep_format_field *found;
	int i;

	for (i = 0; i < nr; i++) {
		found = tep_find_any_field(event, fields[i].name);
		if (!found) {
			snprintf(why, why_size, "the tracepoint has no field %s", fields[i].name);
			return -ENODATA;
		}
		if (!is_number(found)) {
			snprintf(why, why_size, "the tracepoint's field %s is no number",
				 fields[i].name);
			return -ENODATA;
		}
		fields[i].offset = found->offset;
		fields[i].size = found->size;
		fields[i].is_signed = found->flags & TEP_FIELD_IS_SIGNED;
	}
	return 0;
}

int tracepoint__parse(const char *text, size_t size, u64 *id, struct tracepoint_field *fields,
		      int nr, char *why, size_t why_size)
{
	char *copy = is_text(text, size) ? without_print_fmt(text, size) : NULL;
	struct tep_handle *tep = tep_alloc();
	struct tep_event *event = NULL;
	int err;

	if (tep)
		tep_set_loglevel(TEP_LOG_NONE);
	if (copy && tep && !tep_parse_event(tep, copy, strlen(copy), "kbench"))
		event = tep_get_first_event(tep);
	if (!event || event->id <= 0) {		/* what is no number becomes 0 */
		snprintf(why, why_size, "that is no format file of a tracepoint");
		err = -EINVAL;
	} else {
		*id = event->id;
		err = find_fields(event, fields, nr, why, why_size);
	}
	tep_free(tep);
	free(copy);
	return err;
}

#else

int tracepoint__parse(const char *text __maybe_unused, size_t size __maybe_unused,
		      u64 *id __maybe_unused, struct tracepoint_field *fields __maybe_unused,
		      int nr __maybe_unused, char *why, size_t why_size)
{
	snprintf(why, why_size,
		 "built without libtraceevent: install libtraceevent-dev and build again");
	return -ENOTSUP;
}

#endif

bool tracepoint_field__get(const struct tracepoint_field *field, const void *raw, size_t size,
			   u64 *value)
{
	const char *at = (const char *)raw + field->offset;
	u8 one;
	u16 two;
	u32 four;

	if (field->offset > size || field->size > size - field->offset)
		return false;
	switch (field->size) {
	case 1:
		memcpy(&one, at, 1);
		*value = field->is_signed ? (u64)(s8)one : one;
		return true;
	case 2:
		memcpy(&two, at, 2);
		*value = field->is_signed ? (u64)(s16)two : two;
		return true;
	case 4:
		memcpy(&four, at, 4);
		*value = field->is_signed ? (u64)(s32)four : four;
		return true;
	case 8:
		memcpy(value, at, 8);
		return true;
	default:
		return false;
	}
}
