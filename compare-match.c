// SPDX-License-Identifier: GPL-2.0
/*
 * Which points of two sides belong together, and what else differs
 *
 * A point is found again by its benchmark, the benchmark's parameters, variant and task count. Two
 * points that were not measured in the same way (in another unit, mode, on other CPUs, another
 * kind of file system, by another version of the program) are not to be compared: each such
 * difference becomes a note, and the caller refuses.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "compare.h"

static const char * const side_names[] = { [BASE] = "base", [PATCHED] = "patched" };

/* Once each; a text that is longer than the buffer is cut. */
static int add_note(struct comparison *c, int kind, const char *fmt, ...) __printf(3, 4);
static int add_note(struct comparison *c, int kind, const char *fmt, ...)
{
	struct compare_note *notes;
	char text[1024];
	va_list ap;
	int i;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	for (i = 0; i < c->nr_notes; i++) {
		if (!strcmp(c->notes[i].text, text))
			return 0;
	}
	notes = reallocarray(c->notes, c->nr_notes + 1, sizeof(*notes));
	if (!notes)
		return -ENOMEM;
	c->notes = notes;
	notes[c->nr_notes].kind = kind;
	notes[c->nr_notes].text = strdup(text);
	if (!notes[c->nr_notes].text)
		return -ENOMEM;
	c->nr_notes++;
	return 0;
}

int comparison__count(const struct comparison *c, int kind)
{
	int i, nr = 0;

	for (i = 0; i < c->nr_notes; i++)
		nr += (int)c->notes[i].kind == kind;
	return nr;
}

void comparison__allow(struct comparison *c)
{
	int i;

	for (i = 0; i < c->nr_notes; i++) {
		if (c->notes[i].kind == NOTE_REFUSED)
			c->notes[i].kind = NOTE_ENV;
	}
}

static const char *text_or(const char *text)
{
	return text ?: "(not known)";
}

/* ---- what belongs together ---- */

static bool same_params(const struct results_bench *a, const struct results_bench *b)
{
	return json_object_equal(a->parameters, b->parameters);
}

/* Has a side a benchmark of this name; if @like, one with its parameters? */
static const struct results_bench *find_bench(const struct comparison *c, enum compare_side side,
					      const char *name, const struct results_bench *like)
{
	int f, b;

	for (f = 0; f < c->nr_files[side]; f++) {
		for (b = 0; b < c->files[side][f]->nr_benches; b++) {
			const struct results_bench *bench = &c->files[side][f]->benches[b];

			if (!strcmp(bench->name, name) && (!like || same_params(bench, like)))
				return bench;
		}
	}
	return NULL;
}

/* Have all of a side's benchmarks of this name the same parameters? */
static bool one_set(const struct comparison *c, enum compare_side side, const char *name)
{
	const struct results_bench *first = find_bench(c, side, name, NULL);
	int f, b;

	for (f = 0; f < c->nr_files[side]; f++) {
		for (b = 0; b < c->files[side][f]->nr_benches; b++) {
			const struct results_bench *bench = &c->files[side][f]->benches[b];

			if (!strcmp(bench->name, name) && !same_params(bench, first))
				return false;
		}
	}
	return true;
}

/*
 * The benchmark of the other side that @bench, of @side, is to be compared with. If either has one
 * set of parameters, and not the same, they are meant to be compared, and must not be.
 */
static const struct results_bench *counterpart(const struct comparison *c, enum compare_side side,
					       const struct results_bench *bench)
{
	const struct results_bench *other = find_bench(c, !side, bench->name, bench);

	if (!other && one_set(c, BASE, bench->name) && one_set(c, PATCHED, bench->name))
		other = find_bench(c, !side, bench->name, NULL);
	return other;
}

static bool same_point(const struct compare_point *p, const struct results_bench *bench,
		       const struct results_point *point)
{
	return p->point[BASE]->tasks == point->tasks &&
	       !strcmp(p->point[BASE]->variant, point->variant) &&
	       !strcmp(p->bench->name, bench->name);
}

static int add_run(struct verdict_side *side, const struct results *file,
		   const struct results_point *point)
{
	struct verdict_run *runs, *run;
	int r;

	if (!point->valid)
		return 0;
	runs = reallocarray(side->runs, side->nr_runs + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	side->runs = runs;
	run = &runs[side->nr_runs];
	run->file = file;
	run->nr = 0;
	run->repeats = calloc(point->nr_repeats + 1, sizeof(*run->repeats));
	if (!run->repeats)
		return -ENOMEM;
	for (r = 0; r < point->nr_repeats; r++) {
		if (point->repeats[r].rate > 0)
			run->repeats[run->nr++] = &point->repeats[r];
	}
	if (run->nr)
		side->nr_runs++;
	else
		zfree(&run->repeats);
	return 0;
}

/* Take a point of a file into the comparison: a new one of base, or one that base has. */
static int add_point(struct comparison *c, enum compare_side side, const struct results *file,
		     const struct results_bench *bench, const struct results_point *point)
{
	const struct results_bench *other = counterpart(c, side, bench);
	struct compare_point *p, *points;
	int i;

	for (i = 0; i < c->nr_points; i++) {
		p = &c->points[i];
		if (same_point(p, bench, point) &&
		    (same_params(p->bench, bench) || (other && same_params(p->bench, other))))
			break;
	}
	if (i == c->nr_points && side == PATCHED)
		return add_note(c, NOTE_LEFT_OUT, "%s%s%s, %d task%s: only in patched",
				bench->name, *point->variant ? " " : "", point->variant,
				point->tasks, point->tasks > 1 ? "s" : "");
	if (i == c->nr_points) {
		points = reallocarray(c->points, c->nr_points + 1, sizeof(*points));
		if (!points)
			return -ENOMEM;
		c->points = points;
		c->nr_points++;
		points[i] = (struct compare_point){ .bench = bench, .point[BASE] = point };
	}
	p = &c->points[i];
	if (!p->point[side])
		p->point[side] = point;
	return add_run(&p->side[side], file, point);
}

static void free_point(struct compare_point *p)
{
	int side, i;

	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0; i < p->side[side].nr_runs; i++)
			free(p->side[side].runs[i].repeats);
		free(p->side[side].runs);
	}
}

static int add_points(struct comparison *c)
{
	int side, f, b, i, kept = 0, err = 0;

	for (side = BASE; side < NR_SIDES; side++) {
		for (f = 0; f < c->nr_files[side]; f++) {
			const struct results *file = c->files[side][f];

			for (b = 0; b < file->nr_benches; b++) {
				const struct results_bench *bench = &file->benches[b];

				for (i = 0; !err && bench->points && i < bench->nr_points; i++)
					err = add_point(c, side, file, bench, &bench->points[i]);
			}
		}
	}
	for (i = 0; i < c->nr_points; i++) {
		struct compare_point *p = &c->points[i];

		if (p->point[PATCHED]) {
			c->points[kept++] = *p;
			continue;
		}
		err = err ?: add_note(c, NOTE_LEFT_OUT, "%s%s%s, %d task%s: only in base",
				      p->bench->name, *p->point[BASE]->variant ? " " : "",
				      p->point[BASE]->variant, p->point[BASE]->tasks,
				      p->point[BASE]->tasks > 1 ? "s" : "");
		free_point(p);
	}
	c->nr_points = kept;
	return err;
}

/* ---- what differs ---- */

static int differ(struct comparison *c, int kind, const char *bench, const char *what,
		  const char *a, const char *b, const char *file)
{
	if (!strcmp(text_or(a), text_or(b)))
		return 0;
	return add_note(c, kind, "%s%s%s: %.300s here, %.300s in %s", bench, *bench ? " " : "",
			what, text_or(a), text_or(b), file);
}

static int differ_u64(struct comparison *c, int kind, const char *bench, const char *what, u64 a,
		      u64 b, const char *file)
{
	if (a == b)
		return 0;
	return add_note(c, kind, "%s %s: %llu here, %llu in %s", bench, what,
			(unsigned long long)a, (unsigned long long)b, file);
}

static int check_params(struct comparison *c, const struct results_bench *a,
			const struct results_bench *b, const char *file)
{
	struct json_object_iter i;
	struct json_object *val;
	int err = 0;

	json_object_object_foreachC(a->parameters, i) {
		val = NULL;
		json_object_object_get_ex(b->parameters, i.key, &val);
		err = err ?: differ(c, NOTE_REFUSED, a->name, i.key, json_object_get_string(i.val),
				    val ? json_object_get_string(val) : "(none)", file);
	}
	json_object_object_foreachC(b->parameters, i) {
		if (!json_object_object_get_ex(a->parameters, i.key, &val))
			err = err ?: differ(c, NOTE_REFUSED, a->name, i.key, "(none)",
					    json_object_get_string(i.val), file);
	}
	return err;
}

/* @a is of the first file, @b of @file; they are to be compared, or pooled. */
static int check_bench(struct comparison *c, const struct results_bench *a,
		       const struct results_bench *b, const char *file)
{
	return check_params(c, a, b, file) ?:
	       differ(c, NOTE_REFUSED, a->name, "unit", a->unit, b->unit, file) ?:
	       differ(c, NOTE_REFUSED, a->name, "mode", a->mode, b->mode, file) ?:
	       differ(c, NOTE_REFUSED, a->name, "pin", a->pin, b->pin, file) ?:
	       differ(c, NOTE_REFUSED, a->name, "CPUs", a->cpus, b->cpus, file) ?:
	       differ(c, NOTE_REFUSED, a->name, "file system", a->dir_fs, b->dir_fs, file) ?:
	       differ_u64(c, NOTE_REFUSED, a->name, "--loops", a->loops, b->loops, file) ?:
	       differ_u64(c, NOTE_REFUSED, a->name, "--total", a->total, b->total, file) ?:
	       differ_u64(c, NOTE_ENV, a->name, "--duration, ns", a->duration_ns, b->duration_ns,
			  file) ?:
	       differ_u64(c, NOTE_ENV, a->name, "--warmup, ns", a->warmup_ns, b->warmup_ns, file) ?:
	       differ_u64(c, NOTE_ENV, a->name, "--window, ns", a->window_ns, b->window_ns, file) ?:
	       differ(c, NOTE_ENV, a->name, "mount options", a->dir_options, b->dir_options, file);
}

static int check_env(struct comparison *c, const struct results *a, const struct results *b,
		     int kind, const char *member, const char *what)
{
	char *x = results__env(a, member), *y = results__env(b, member);
	int err = x && y ? differ(c, kind, "", what, *x ? x : NULL, *y ? y : NULL, b->path) :
		  -ENOMEM;

	free(x);
	free(y);
	return err;
}

static int check_file(struct comparison *c, const struct results *a, const struct results *b,
		      bool same_side)
{
	static const struct {
		const char *member, *what;
	} env[] = {
		{ "cpu.model",		"CPU" },
		{ "cpu.online",		"CPUs online" },
		{ "cpu.governors",	"governor" },
		{ "mitigations",	"mitigations" },
		{ "virtualization",	"virtualization" },
		{ "cgroup.cpu_max",	"cgroup cpu.max" },
		{ "lsm",		"security modules" },
		{ "page_size",		"page size" },
	};
	size_t i;
	int err;

	err = check_env(c, a, b, NOTE_REFUSED, "clock_source", "clock") ?:
	      check_env(c, a, b, NOTE_REFUSED, "perf_kbench", "perf-kbench");
	for (i = 0; i < ARRAY_SIZE(env); i++)
		err = err ?: check_env(c, a, b, NOTE_ENV, env[i].member, env[i].what);
	if (same_side)
		err = err ?: check_env(c, a, b, NOTE_ENV, "kernel.version", "kernel (one side)");
	if (!b->complete)
		err = err ?: add_note(c, NOTE_ENV, "%s was cut short", b->path);
	return err;
}

static int check_files(struct comparison *c)
{
	const struct results *first = c->files[BASE][0];
	const struct results_bench *a;
	int side, f, b, err;

	err = check_file(c, first, first, true);
	for (side = BASE; side < NR_SIDES; side++) {
		for (f = 0; f < c->nr_files[side]; f++) {
			const struct results *file = c->files[side][f];

			err = err ?: check_file(c, first, file, false);
			if (f)
				err = err ?: check_file(c, c->files[side][0], file, true);
			for (b = 0; b < file->nr_benches; b++) {
				/* the first that has it */
				a = find_bench(c, BASE, file->benches[b].name, &file->benches[b]);
				if (!a && side == PATCHED)
					a = counterpart(c, side, &file->benches[b]);
				if (a)
					err = err ?: check_bench(c, a, &file->benches[b],
								 file->path);
			}
			if (!file->nr_benches)
				err = err ?: add_note(c, NOTE_ENV, "%s (%s) has no benchmark",
						      file->path, side_names[side]);
		}
	}
	return err;
}

struct comparison *comparison__new(struct results **files[NR_SIDES],
				   const int nr_files[NR_SIDES])
{
	struct comparison *c = zalloc(sizeof(*c));
	int side;

	if (!c)
		return NULL;
	for (side = BASE; side < NR_SIDES; side++) {
		c->name[side] = side_names[side];
		c->files[side] = files[side];
		c->nr_files[side] = nr_files[side];
	}
	if (add_points(c) || check_files(c)) {
		comparison__free(c);
		return NULL;
	}
	return c;
}

void comparison__free(struct comparison *c)
{
	int i;

	if (!c)
		return;
	for (i = 0; i < c->nr_points; i++)
		free_point(&c->points[i]);
	for (i = 0; i < c->nr_notes; i++)
		free(c->notes[i].text);
	free(c->points);
	free(c->notes);
	free(c);
}
