/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_OUTFILE_H
#define KBENCH_OUTFILE_H

#include <stddef.h>
#include <linux/compiler.h>

/*
 * A file that appears whole or not at all. What is put goes to a temporary file beside the target,
 * which takes the target's place when it is committed. A target that is no regular file (a device,
 * a FIFO), and standard output, are written to as they are. A symbolic link stays; the file that
 * it leads to is replaced.
 *
 * The first error is kept, and all that is put after it is dropped, so that a writer need check
 * only at the end of a piece. Text is held in a buffer of the object, in no FILE, so that a child
 * that is forked between two pieces writes nothing. Numbers are written as in the "C" locale.
 */
struct outfile;

/**
 * outfile__new - say where to write
 * @path:	the target, made absolute now, so that the current directory may change later;
 *		NULL, "-" and "/dev/stdout" are standard output
 *
 * Opens the directory only; what is wrong with it is what outfile__open() will return.
 *
 * Return: the object, to be freed with outfile__free(), or NULL if out of memory.
 */
struct outfile *outfile__new(const char *path);

/**
 * outfile__open - make the temporary file, or open the device
 * @f: the file
 *
 * Also removes the temporary files that earlier, killed writers of the same target left behind.
 *
 * Return: 0, or -errno as of open(2) and flock(2): -EACCES, -ENOENT, -EISDIR, -EROFS, -ENOSPC.
 */
int outfile__open(struct outfile *f);

void outfile__put(struct outfile *f, const char *data, size_t len);
void outfile__puts(struct outfile *f, const char *s);
void outfile__printf(struct outfile *f, const char *fmt, ...) __printf(2, 3);

/* A field of CSV, in quotes where RFC 4180 wants them, after @sep ("," or ""). */
void outfile__csv(struct outfile *f, const char *sep, const char *text);

/* Write out what was put so far. Return: 0, or the first error of all that was done, -errno. */
int outfile__flush(struct outfile *f);

/**
 * outfile__commit - all has been put: flush, sync, close, and put the file in the target's place
 * @f: the file, open; it takes no more
 *
 * Return: 0, or -errno; the target is then as it was, and the temporary file is gone.
 */
int outfile__commit(struct outfile *f);

/* Close and free; without outfile__commit(), the target is as it was. NULL is allowed. */
void outfile__free(struct outfile *f);

/* The target as messages name it: an absolute path, or "standard output". */
const char *outfile__path(const struct outfile *f);

/* What a user can do about an error of one of the above, to go into a message; never NULL. */
const char *outfile__hint(int err);

#endif
