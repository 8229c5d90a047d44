// SPDX-License-Identifier: GPL-2.0
/*
 * notes.c: walk ELF notes, with libelf
 */
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "notes.h"

#define NOTES_MAX	65536		/* bytes; a kernel has some hundreds */

int notes__find(const void *notes, size_t size, const char *name, u32 type, const void **desc,
		size_t *desc_size)
{
	Elf_Data data = {
		.d_buf = (void *)notes, .d_size = size, .d_type = ELF_T_NHDR,
		.d_version = EV_CURRENT,
	};
	size_t pos = 0, name_at, desc_at, len = strlen(name) + 1;
	GElf_Nhdr note;

	while (pos < size) {
		pos = gelf_getnote(&data, pos, &note, &name_at, &desc_at);
		if (!pos)
			return -EINVAL;
		if (note.n_type != type || note.n_namesz != len ||
		    memcmp((const char *)notes + name_at, name, len))
			continue;
		*desc = (const char *)notes + desc_at;
		*desc_size = note.n_descsz;
		return 0;
	}
	return -ENOENT;
}

int notes__build_id(const void *notes, size_t size, char *hex, size_t hex_size)
{
	const void *id;
	size_t i, len;
	int err = notes__find(notes, size, ELF_NOTE_GNU, NT_GNU_BUILD_ID, &id, &len);

	if (err)
		return err;
	if (!len || len > (hex_size - 1) / 2)
		return -EINVAL;
	for (i = 0; i < len; i++)
		sprintf(hex + 2 * i, "%02x", ((const unsigned char *)id)[i]);
	return 0;
}

int notes__kernel_build_id(const char *root, char *hex, size_t hex_size)
{
	char path[PATH_MAX], *notes;
	FILE *file;
	int err;

	if (snprintf(path, sizeof(path), "%s/sys/kernel/notes", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	notes = malloc(NOTES_MAX);
	if (!notes)
		return -ENOMEM;
	file = fopen(path, "re");
	err = file ? notes__build_id(notes, fread(notes, 1, NOTES_MAX, file), hex, hex_size) :
		     -errno;
	if (file)
		fclose(file);
	free(notes);
	return err;
}
