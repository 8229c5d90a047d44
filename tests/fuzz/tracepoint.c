// SPDX-License-Identifier: GPL-2.0
/*
 * tracepoint.c: whatever text a format file has, a field is found within a record, or is said to be
 * missing
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "util/tracepoint.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct tracepoint_field fields[] = { { .name = "common_type" }, { .name = "flags" } };
	char why[256] = "", raw[32] = "";
	u64 id = 0, value;
	int err, i;

	err = tracepoint__parse((const char *)data, size, &id, fields, 2, why, sizeof(why));
	must(err == 0 || err == -EINVAL || err == -ENODATA || err == -ENOTSUP);
	must(!err == !*why);
	for (i = 0; why[i]; i++)
		must(isprint((unsigned char)why[i]));
	for (i = 0; !err && i < 2; i++) {
		must(id && fields[i].size && fields[i].size <= 8);
		must(fields[i].offset < TRACEPOINT_MAX_FORMAT);
		if (tracepoint_field__get(&fields[i], raw, sizeof(raw), &value))
			must(!value && fields[i].offset + fields[i].size <= sizeof(raw));
	}
	return 0;
}
