// SPDX-License-Identifier: GPL-2.0
/*
 * Which name was meant by one that there is not?
 */
#include <stdint.h>
#include <string.h>
#include <linux/kernel.h>

#include "nearest.h"

#define NAME_MAX_LEN	64

/* Insertions, deletions, replacements and swaps of neighbours that make @b of @a. */
static size_t edit_distance(const char *a, const char *b)
{
	size_t d[NAME_MAX_LEN][NAME_MAX_LEN];
	size_t la = strlen(a), lb = strlen(b), i, j;

	if (la >= NAME_MAX_LEN || lb >= NAME_MAX_LEN)
		return SIZE_MAX;
	for (i = 0; i <= la; i++) {
		for (j = 0; j <= lb; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = min(d[i][j], d[i - 1][j] + 1);
			d[i][j] = min(d[i][j], d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[la][lb];
}

void nearest__try(struct nearest *n, const char *prefix, const char *name)
{
	size_t len = strlen(n->word), dist = edit_distance(n->word, name);

	if (len > 1 && !strncmp(name, n->word, len))
		dist = min(dist, (size_t)1);
	if (dist > max(len / 3, (size_t)1) || (n->name && dist >= n->dist))
		return;
	n->prefix = prefix;
	n->name = name;
	n->dist = dist;
}
