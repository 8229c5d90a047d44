/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tracepoints: their IDs, and where in their records which field is
 *
 * As the running kernel tells it in tracefs (Documentation/trace/events.rst of the kernel). Where
 * that is mounted nowhere and we may mount it, it is opened without being mounted at any place, so
 * that nothing is to be seen of it, or left behind.
 */
#ifndef KBENCH_TRACEPOINT_H
#define KBENCH_TRACEPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

#define TRACEPOINT_MAX_FORMAT	65536	/* bytes of a format file; the kernel's are below 8192 */

/**
 * tracepoint__id - the number by which perf_event_open() knows a tracepoint
 * @sys:	its subsystem, "lock"
 * @name:	"contention_begin"
 * @id:		for perf_event_attr::config, with PERF_TYPE_TRACEPOINT
 * @why:	what failed, on what, and what to do about it
 * @why_size:	room there
 *
 * Needs no libtraceevent.
 *
 * Return: 0; -ENOENT if this kernel has no such tracepoint, -EINVAL if that can be no name of one,
 * -EACCES, -EPERM or -ENODEV if there is no tracefs for us, or another -errno; @why is written.
 */
int tracepoint__id(const char *sys, const char *name, u64 *id, char *why, size_t why_size);

/**
 * tracepoint__format - read a tracepoint's format file
 * @text:	its text, ended by a zero; the caller frees
 * @size:	bytes of it, without the zero
 *
 * The other arguments, and what is returned: as for tracepoint__id(); -EFBIG beyond
 * TRACEPOINT_MAX_FORMAT.
 */
int tracepoint__format(const char *sys, const char *name, char **text, size_t *size, char *why,
		       size_t why_size);

/**
 * struct tracepoint_field - a number in the records of a tracepoint
 * @name:	to be set by the caller
 * @offset, @size: bytes; the size is 1, 2, 4 or 8
 * @is_signed:	of less than 8 bytes, its sign is to be extended
 */
struct tracepoint_field {
	const char	*name;
	unsigned int	offset, size;
	bool		is_signed;
};

/**
 * tracepoint__parse - look up fields in the text of a format file
 * @text:	the bytes, of whatever content
 * @size:	how many
 * @id:		the tracepoint's ID as it stands there
 * @fields:	their names are set, the rest is filled in
 * @nr:		how many
 * @why:	what is wrong with it: names the field that is not there
 * @why_size:	room there
 *
 * Return: 0; -EINVAL if that is no format file, -ENODATA if a field is missing or no number,
 * -ENOTSUP if we are built without libtraceevent, -ENOMEM; @why is written.
 */
int tracepoint__parse(const char *text, size_t size, u64 *id, struct tracepoint_field *fields,
		      int nr, char *why, size_t why_size);

/* A field of a record of @size bytes: false if that is too short. */
bool tracepoint_field__get(const struct tracepoint_field *field, const void *raw, size_t size,
			   u64 *value);

#endif
