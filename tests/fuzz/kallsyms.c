// SPDX-License-Identifier: GPL-2.0
/*
 * kallsyms.c: whatever /proc/kallsyms holds, it is refused with a reason, or each address has one
 * name at most, the same in any order of the lines
 */
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <linux/types.h>

#include "util/ksyms.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

static void check_address(const struct ksyms *k, const struct ksyms *other, u64 ip)
{
	u64 offset = 0, offset2 = 0;
	const char *name = ksyms__name(k, ip, &offset), *name2 = ksyms__name(other, ip, &offset2);
	const char *p;

	must(!name == !name2);
	must(ksyms__is_lock_function(k, ip) == ksyms__is_lock_function(other, ip));
	if (!name)
		return;
	must(!strcmp(name, name2) && offset == offset2 && offset <= ip);
	must(*name);
	for (p = name; *p; p++)
		must(!iscntrl((unsigned char)*p));
	/* the function begins there */
	must(ksyms__name(k, ip - offset, &offset2) == name && !offset2);
}

/* Lines from the last to the first; the caller frees. */
static char *reverse(const char *text, size_t size)
{
	char *out = malloc(size ?: 1), *to = out;
	const char *end = text + size, *begin;

	for (; end > text; end = begin) {
		for (begin = end - 1; begin > text && begin[-1] != '\n';)
			begin--;
		to = (char *)memcpy(to, begin, end - begin) + (end - begin);
	}
	return out;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *p, *line_end;
	char why[256] = "", *reversed;
	struct ksyms *k, *other;

	errno = 0;
	k = ksyms__parse_kallsyms(text, size, why, size % 3 ? sizeof(why) : size % 32);
	if (!k) {
		must(errno == EINVAL);
		return 0;
	}
	must(!ksyms__warning(k));
	reversed = reverse(text, size);
	other = ksyms__parse_kallsyms(reversed, size, why, sizeof(why));
	must(other && ksyms__nr(k) == ksyms__nr(other));
	for (p = text; p < text + size; p = line_end + 1) {
		u64 ip = strtoull(p, NULL, 16);

		line_end = memchr(p, '\n', text + size - p);
		check_address(k, other, ip);
		check_address(k, other, ip - 1);
		check_address(k, other, ip + 1);
		check_address(k, other, ip + 5000);
	}
	check_address(k, other, 0);
	check_address(k, other, ~0ull);
	free(reversed);
	ksyms__free(other);
	ksyms__free(k);
	return 0;
}
