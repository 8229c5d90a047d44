// SPDX-License-Identifier: GPL-2.0
/*
 * import.c: whatever a text of another program has, it is refused with a reason, or makes rates that
 * a results file may have; the first byte says which format, and what the user says of it
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The sanitizers cannot know of these. */
static void must(bool good)
{
	if (!good)
		abort();
}

static void check_label(const char *text)
{
	for (; *text; text++)
		must(!iscntrl((unsigned char)*text));
}

static void check_point(const struct import_point *point)
{
	int i;

	must(point->tasks >= 1 && point->tasks <= IMPORT_MAX_TASKS && point->cpus >= 0);
	must(!point->valid || point->nr_repeats);
	must(!isinf(point->ci95) && !(point->ci95 < 0));
	check_label(point->variant);
	check_label(point->flags ?: "");
	for (i = 0; i < point->nr_repeats; i++)
		must(point->repeats[i].rate > 0 && isfinite(point->repeats[i].rate) &&
		     json_object_is_type(point->repeats[i].given, json_type_object));
}

static void check_bench(const struct import_bench *bench)
{
	int i;

	must(*bench->name && *bench->unit);
	check_label(bench->name);
	check_label(bench->unit);
	must(json_object_is_type(bench->parameters, json_type_object));
	for (i = 0; i < bench->nr_cpus; i++)
		must(bench->cpus[i] >= 0 && (!i || bench->cpus[i - 1] < bench->cpus[i]));
	for (i = 0; i < bench->nr_points; i++)
		check_point(bench->points[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options opt = { .per = 1 };
	size_t room = size % 3 ? 256 : size % 32;	/* for messages; little at times */
	char why[256] = "";
	struct import *im;
	int i, points = 0;

	if (!size)
		return 0;
	opt.side = data[0] & 0x40 ? IMPORT_SIDE_PATCHED : IMPORT_SIDE_BASE;
	opt.tasks = data[0] & 0x20 ? 2 : 0;
	opt.series = data[0] & 0x10 ? "a" : NULL;
	opt.variant = data[0] & 0x08 ? "v" : NULL;
	errno = 0;
	im = import__parse(&import_formats[data[0] & 7], &opt, "x", (const char *)data + 1, size - 1,
			   why, room);
	check_label(why);
	if (!im) {
		must(errno == EINVAL);
		must(room < 4 || !strncmp(why, "x:", 2));
		return 0;
	}
	must(!*why);
	for (i = 0; i < im->nr_benches; i++) {
		check_bench(im->benches[i]);
		points += im->benches[i]->nr_points;
	}
	must(points);
	import__free(im);
	return 0;
}
