// SPDX-License-Identifier: GPL-2.0
/*
 * notes.c: ELF notes of any bytes: what is found in them lies within them
 */
#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

static void check_find(const char *notes, size_t size, const char *name, u32 type)
{
	const void *desc = NULL;
	size_t len = 0;
	int err = notes__find(notes, size, name, type, &desc, &len);

	must(!err || err == -ENOENT || err == -EINVAL);
	if (err)
		return;
	must((const char *)desc >= notes && len <= size &&
	     (size_t)((const char *)desc - notes) <= size - len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *notes = malloc(size ?: 1), hex[BUILD_ID_HEX];
	size_t room = size % 5 ? sizeof(hex) : 1 + size % 32;
	int err;

	memcpy(notes, data, size);		/* aligned, and of no more bytes */
	err = notes__build_id(notes, size, hex, room);
	must(!err || err == -ENOENT || err == -EINVAL);
	if (!err)
		must(strlen(hex) >= 2 && strlen(hex) < room && strlen(hex) % 2 == 0 &&
		     strspn(hex, "0123456789abcdef") == strlen(hex));
	check_find(notes, size, ELF_NOTE_GNU, NT_GNU_BUILD_ID);
	check_find(notes, size, "VMCOREINFO", 0);
	check_find(notes, size, "", 0);
	free(notes);
	return 0;
}
