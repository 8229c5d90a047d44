// SPDX-License-Identifier: GPL-2.0
/*
 * Which points of two sides belong together, and what else differs
 *
 * A point is found again by its benchmark, the benchmark's parameters, variant and task count. Two
 * points that were not measured in the same way (in another unit, mode, on other CPUs, another
 * kind of file system, by another version of the program) are not to be compared: each such
 * difference becomes a note, and the caller refuses.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "compare/compare.h"

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
	for (i = 0; text[i]; i++) {
		if (iscntrl((unsigned char)text[i]))
			text[i] = '?';
	}
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

/* The benchmarks of a file, as they stand there. */
static struct json_object *benchmarks(const struct results *file)
{
	struct json_object *list = NULL;

	json_object_object_get_ex(file->root, "benchmarks", &list);
	return list;
}

/* Are two files known to be of two boots? */
static bool other_boot(const struct results *file, const struct results *other)
{
	char *a = results__env(file, "boot_id"), *b = results__env(other, "boot_id");
	bool known = a && b && *a && *b && strcmp(a, b);

	free(a);
	free(b);
	return known;
}

/*
 * Are two runs the same, under two names? Each of ours has a time of its own, and, where
 * instructions are the clock, which may be the same in two boots, a boot. Of two that were
 * imported, all numbers are the same if they are from the same text.
 */
static bool same_run(const struct verdict_run *run, const struct results *file,
		     const struct results_point *point)
{
	const struct results_repeat *a = &run->point->repeats[0], *b = &point->repeats[0];

	if (run->file->origin || file->origin)
		return run->file->origin && file->origin &&
		       json_object_equal(benchmarks(run->file), benchmarks(file));
	return run->point->nr_repeats == point->nr_repeats && a->gate_ns == b->gate_ns &&
	       a->ops == b->ops && a->elapsed_ns == b->elapsed_ns &&
	       !other_boot(run->file, file);
}

static int add_repeats(struct verdict_run *run, const struct results_point *point)
{
	const struct results_repeat **repeats;
	int r;

	repeats = reallocarray(run->repeats, run->nr + point->nr_repeats + 1, sizeof(*repeats));
	if (!repeats)
		return -ENOMEM;
	run->repeats = repeats;
	for (r = 0; r < point->nr_repeats; r++) {
		if (point->repeats[r].rate > 0)
			repeats[run->nr++] = &point->repeats[r];
	}
	return 0;
}

/* A benchmark that is twice in a file was run twice, but it is one file, of one time. */
static int add_run(struct comparison *c, struct compare_point *p, enum compare_side side,
		   const struct results *file, const struct results_point *point)
{
	struct verdict_side *s = &p->side[side];
	struct verdict_run *runs;
	int i, err;

	if (!point->valid || !point->nr_repeats)
		return add_note(c, NOTE_ENV, "%s %s%s%d task%s of %s does not count: %s",
				p->bench->name, point->variant, *point->variant ? ", " : "",
				point->tasks, point->tasks > 1 ? "s" : "", file->path,
				point->skip ?: *point->flags ? point->flags : "not valid");
	for (i = 0; i < s->nr_runs; i++) {
		if (s->runs[i].file == file)
			return add_repeats(&s->runs[i], point);
		if (same_run(&s->runs[i], file, point))
			return add_note(c, NOTE_ENV, "%s is the same run as %s: it counts once",
					file->path, s->runs[i].file->path);
	}
	runs = reallocarray(s->runs, s->nr_runs + 1, sizeof(*runs));
	if (!runs)
		return -ENOMEM;
	s->runs = runs;
	runs[s->nr_runs] = (struct verdict_run){ .file = file, .point = point };
	err = add_repeats(&runs[s->nr_runs], point);
	if (runs[s->nr_runs].nr)
		s->nr_runs++;
	else
		free(runs[s->nr_runs].repeats);
	return err;
}

/* Add those words of @flags to *@all that it does not have. */
static int add_flags(char **all, const char *flags)
{
	char *word, *copy = strdup(flags), *save = NULL, *longer;

	if (!copy)
		return -ENOMEM;
	for (word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (*all && strstr(*all, word))
			continue;
		if (asprintf(&longer, "%s%s%s", *all ?: "", *all ? " " : "", word) < 0) {
			free(copy);
			return -ENOMEM;
		}
		free(*all);
		*all = longer;
	}
	free(copy);
	return 0;
}

/* Make room for a point behind those of its benchmark, which is to be the same for all of them. */
static struct compare_point *insert_point(struct comparison *c, const struct results_bench *bench)
{
	struct compare_point *points;
	int i, at = c->nr_points;

	points = reallocarray(c->points, c->nr_points + 1, sizeof(*points));
	if (!points)
		return NULL;
	c->points = points;
	for (i = 0; i < c->nr_points; i++) {
		if (!strcmp(points[i].bench->name, bench->name) &&
		    same_params(points[i].bench, bench)) {
			bench = points[i].bench;
			at = i + 1;
		}
	}
	memmove(&points[at + 1], &points[at], (c->nr_points - at) * sizeof(*points));
	c->nr_points++;
	points[at] = (struct compare_point){ .bench = bench };
	return &points[at];
}

static int left_out(struct comparison *c, const struct results_bench *bench,
		    const struct results_point *point, enum compare_side side)
{
	c->nr_lost += side == BASE;
	return add_note(c, NOTE_LEFT_OUT, "%s%s%s, %d task%s: only in %s", bench->name,
			*point->variant ? " " : "", point->variant, point->tasks,
			point->tasks > 1 ? "s" : "", side_names[side]);
}

/* Take a point of a file into the comparison: a new one of base, or one that base has. */
static int add_point(struct comparison *c, enum compare_side side, const struct results *file,
		     const struct results_bench *bench, const struct results_point *point)
{
	const struct results_bench *other = counterpart(c, side, bench);
	struct compare_point *p = NULL;
	int i;

	for (i = 0; i < c->nr_points && !p; i++) {
		if (same_point(&c->points[i], bench, point) &&
		    (same_params(c->points[i].bench, bench) ||
		     (other && same_params(c->points[i].bench, other))))
			p = &c->points[i];
	}
	if (!p && side == PATCHED)
		return left_out(c, bench, point, PATCHED);
	if (!p)
		p = insert_point(c, bench);
	if (!p)
		return -ENOMEM;
	if (!p->point[side])
		p->point[side] = point;
	return add_flags(&p->flags[side], point->flags) ?: add_run(c, p, side, file, point);
}

static void free_point(struct compare_point *p)
{
	int side, i;

	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0; i < p->side[side].nr_runs; i++)
			free(p->side[side].runs[i].repeats);
		free(p->side[side].runs);
		free(p->flags[side]);
	}
}

/* Are the files that count for a side of more than one boot? Not known is one. */
static bool several_boots(const struct verdict_side *side)
{
	char *first, *boot;
	bool several = false;
	int i;

	first = side->nr_runs ? results__env(side->runs[0].file, "boot_id") : NULL;
	for (i = 1; first && i < side->nr_runs && !several; i++) {
		boot = results__env(side->runs[i].file, "boot_id");
		several = boot && strcmp(boot, first);
		free(boot);
	}
	free(first);
	return several;
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
			p->side[BASE].several_boots = several_boots(&p->side[BASE]);
			p->side[PATCHED].several_boots = several_boots(&p->side[PATCHED]);
			c->points[kept++] = *p;
			continue;
		}
		err = err ?: left_out(c, p->bench, p->point[BASE], BASE);
		free_point(p);
	}
	c->nr_points = kept;
	return err;
}

/* ---- what differs ---- */

/* What differs between two files. */
struct pair {
	struct comparison	*c;
	const char		*file[NR_SIDES];
	const char		*bench;		/* whose, or "" */
};

static int differ(const struct pair *p, int kind, const char *what, const char *a, const char *b)
{
	if (!strcmp(text_or(a), text_or(b)))
		return 0;
	return add_note(p->c, kind, "%s%s%s: %.300s in %s, %.300s in %s", p->bench,
			*p->bench ? " " : "", what, text_or(a), p->file[0], text_or(b), p->file[1]);
}

static int differ_u64(const struct pair *p, int kind, const char *what, u64 a, u64 b)
{
	char text[NR_SIDES][32];

	snprintf(text[0], sizeof(text[0]), "%llu", (unsigned long long)a);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)b);
	return differ(p, kind, what, text[0], text[1]);
}

static int check_params(const struct pair *p, const struct results_bench *a,
			const struct results_bench *b)
{
	struct json_object_iter i;
	struct json_object *val;
	int err = 0;

	json_object_object_foreachC(a->parameters, i) {
		val = NULL;
		json_object_object_get_ex(b->parameters, i.key, &val);
		err = err ?: differ(p, NOTE_REFUSED, i.key, json_object_get_string(i.val),
				    val ? json_object_get_string(val) : "(none)");
	}
	json_object_object_foreachC(b->parameters, i) {
		if (!json_object_object_get_ex(a->parameters, i.key, &val))
			err = err ?: differ(p, NOTE_REFUSED, i.key, "(none)",
					    json_object_get_string(i.val));
	}
	return err;
}

/* Two that are to be compared, or pooled. */
static int check_bench(const struct pair *p, const struct results_bench *a,
		       const struct results_bench *b)
{
	return check_params(p, a, b) ?:
	       differ(p, NOTE_REFUSED, "unit", a->unit, b->unit) ?:
	       differ(p, NOTE_REFUSED, "mode", a->mode, b->mode) ?:
	       differ(p, NOTE_REFUSED, "pin", a->pin, b->pin) ?:
	       differ(p, NOTE_REFUSED, "CPUs", a->cpus, b->cpus) ?:
	       differ(p, NOTE_REFUSED, "file system", a->dir_fs, b->dir_fs) ?:
	       differ_u64(p, NOTE_REFUSED, "--loops", a->loops, b->loops) ?:
	       differ_u64(p, NOTE_REFUSED, "--total", a->total, b->total) ?:
	       differ_u64(p, NOTE_ENV, "--duration, ns", a->duration_ns, b->duration_ns) ?:
	       differ_u64(p, NOTE_ENV, "--warmup, ns", a->warmup_ns, b->warmup_ns) ?:
	       differ_u64(p, NOTE_ENV, "--window, ns", a->window_ns, b->window_ns) ?:
	       differ(p, NOTE_ENV, "mount options", a->dir_options, b->dir_options);
}

static int check_env(const struct pair *p, const struct results *a, const struct results *b,
		     int kind, const char *member, const char *what)
{
	char *x = results__env(a, member), *y = results__env(b, member);
	int err = x && y ? differ(p, kind, what, *x ? x : NULL, *y ? y : NULL) : -ENOMEM;

	free(x);
	free(y);
	return err;
}

/* A file against the first of base. */
static int check_file(const struct pair *p, const struct results *a, const struct results *b)
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

	err = check_env(p, a, b, NOTE_REFUSED, "clock_source", "clock") ?:
	      check_env(p, a, b, NOTE_REFUSED, "emulated", "emulated by") ?:
	      check_env(p, a, b, NOTE_REFUSED, "perf_kbench", "perf-kbench");
	for (i = 0; i < ARRAY_SIZE(env); i++)
		err = err ?: check_env(p, a, b, NOTE_ENV, env[i].member, env[i].what);
	if (!b->complete)
		err = err ?: add_note(p->c, NOTE_ENV, "%s was cut short", b->path);
	if (!b->nr_benches)
		err = err ?: add_note(p->c, NOTE_ENV, "%s has no benchmark", b->path);
	return err;
}

/* What the benchmarks of a file are to be like: the first of base that has them. */
static int check_benches(struct comparison *c, enum compare_side side, const struct results *file)
{
	const struct results_bench *a;
	int f, b, i, err = 0;

	for (b = 0; b < file->nr_benches && !err; b++) {
		const struct results_bench *bench = &file->benches[b];
		struct pair p = { .c = c, .file[1] = file->path, .bench = bench->name };

		a = find_bench(c, BASE, bench->name, bench);
		if (!a && side == PATCHED)
			a = counterpart(c, side, bench);
		if (!a)
			continue;
		for (f = 0; f < c->nr_files[BASE]; f++) {
			for (i = 0; i < c->files[BASE][f]->nr_benches; i++) {
				if (a == &c->files[BASE][f]->benches[i])
					p.file[0] = c->files[BASE][f]->path;
			}
		}
		err = check_bench(&p, a, bench);
	}
	return err;
}

static int check_files(struct comparison *c)
{
	const struct results *first = c->files[BASE][0];
	int side, f, err = 0;

	for (side = BASE; side < NR_SIDES; side++) {
		for (f = 0; f < c->nr_files[side]; f++) {
			const struct results *file = c->files[side][f];
			struct pair p = { c, { first->path, file->path }, "" };

			err = err ?: check_file(&p, first, file);
			p.file[0] = c->files[side][0]->path;
			err = err ?: check_env(&p, c->files[side][0], file, NOTE_ENV,
					       "kernel.version", "kernel (of one side)");
			err = err ?: check_benches(c, side, file);
			c->nr_lost += side == PATCHED && !file->complete;
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
