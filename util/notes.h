/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ELF notes: what the kernel, its vmlinux and /proc/kcore tell of themselves
 */
#ifndef KBENCH_NOTES_H
#define KBENCH_NOTES_H

#include <stddef.h>
#include <linux/types.h>

/* Room for any build ID in hexadecimal: 64 bytes of it, and the zero. */
#define BUILD_ID_HEX	129

/**
 * notes__find - a note by its name and type
 * @notes:	the notes one after another, aligned to 4 bytes; not trusted
 * @size:	bytes of all of them
 * @name:	"GNU"
 * @type:	NT_GNU_BUILD_ID
 * @desc:	its descriptor, within @notes
 * @desc_size:	bytes of that
 *
 * Return: 0, -ENOENT if there is none, -EINVAL for notes that end early before it.
 */
int notes__find(const void *notes, size_t size, const char *name, u32 type, const void **desc,
		size_t *desc_size);

/**
 * notes__build_id - the GNU build ID in ELF notes
 * @notes, @size: as above
 * @hex:	where the ID goes, in hexadecimal
 * @hex_size:	room there
 *
 * Return: 0, -ENOENT if there is none, -EINVAL for notes that end early or an ID that is empty or
 * has no room in @hex.
 */
int notes__build_id(const void *notes, size_t size, char *hex, size_t hex_size);

/**
 * notes__kernel_build_id - that of the running kernel, from /sys/kernel/notes
 * @root: "" for the machine itself; a directory in place of / for a test
 *
 * Return: as notes__build_id(), or another -errno if the file cannot be read.
 */
int notes__kernel_build_id(const char *root, char *hex, size_t hex_size);

#endif
