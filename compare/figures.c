// SPDX-License-Identifier: GPL-2.0
/*
 * What instruments have found out, of both sides side by side
 *
 * A value is that of a file, the mean over its repeats, where both sides have several files; else
 * that of a repeat. The interval of a difference is Welch's (B. L. Welch, "The generalization of
 * 'Student's' problem when several different population variances are involved", Biometrika 34,
 * 1947). It is of each quantity by itself: with many of them, some leave out 0 by chance.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "bench/worker.h"
#include "compare/figures.h"

const char *const compare_figure_kinds[] = {
	"counters", "contention", "profile", "latency", NULL
};

/* The tables of one side. */
struct tables {
	int			nr;
	const struct figures	**list;
	double			time;	/* sum, ns of task time an op */
	int			nr_time;
};

/* Does a file of that side count for the point? */
static bool counts(const struct compare_point *p, int side, const struct results *file)
{
	int i;

	for (i = 0; i < p->side[side].nr_runs; i++) {
		if (p->side[side].runs[i].file == file)
			return true;
	}
	return false;
}

static int add_table(struct tables *t, const struct results_point *point)
{
	const struct figures **list = reallocarray(t->list, t->nr + 1, sizeof(*list));
	int r;

	if (!list)
		return -ENOMEM;
	t->list = list;
	list[t->nr++] = point->figures;
	/* of each repeat, as the figures are: the mean of 1 / rate is not 1 / the mean of rates */
	for (r = 0; r < point->nr_repeats; r++) {
		if (!(point->repeats[r].rate > 0))
			continue;
		t->time += point->tasks * 1e9 / point->repeats[r].rate;
		t->nr_time++;
	}
	return 0;
}

/* The benchmark that a side's point is of: with --force, the sides may differ in parameters. */
static const struct results_bench *bench_of(const struct comparison *c,
					    const struct compare_point *p, int side)
{
	int f, b;

	for (f = 0; f < c->nr_files[side]; f++) {
		for (b = 0; b < c->files[side][f]->nr_benches; b++) {
			const struct results_bench *bench = &c->files[side][f]->benches[b];

			if (p->point[side] >= bench->points &&
			    p->point[side] < bench->points + bench->nr_points)
				return bench;
		}
	}
	return p->bench;
}

static int find_tables(const struct comparison *c, const struct compare_point *p, int side,
		       const char *kind, struct tables *t)
{
	const struct results_bench *bench = bench_of(c, p, side);
	int f, b, i, err = 0;

	for (f = 0; f < c->nr_files[side]; f++) {
		const struct results *file = c->files[side][f];

		for (b = 0; b < file->nr_passes && counts(p, side, file); b++) {
			const struct results_bench *pass = &file->passes[b];

			if (!pass->instrument || strcmp(pass->instrument, kind) ||
			    strcmp(pass->name, p->bench->name) ||
			    !json_object_equal(pass->parameters, bench->parameters))
				continue;
			for (i = 0; i < pass->nr_points && !err; i++) {
				const struct results_point *point = &pass->points[i];

				if (point->tasks == p->point[side]->tasks && point->figures &&
				    !strcmp(point->variant, p->point[side]->variant))
					err = add_table(t, point);
			}
		}
	}
	return err;
}

/* Is a row that is not there one in which nothing was seen, so 0? */
static bool absent_is_zero(const char *kind)
{
	return !strcmp(kind, "contention") || !strcmp(kind, "profile");
}

/*
 * Was all seen of repeat @r (-1: of any), so that a row that is not there had nothing? Not where
 * the instrument has failed, no repeat has ended, or this one is not known.
 */
static bool is_known(const struct figures *f, const char *row, int column, int r)
{
	bool known = !f->nr;
	int i, k;

	if (!f->nr_repeats || column < 0 || (f->nr && !strcmp(row, FIGURES_ALL_LOCKS)))
		return false;
	for (i = 0; i < f->nr; i++) {
		const double *values = figures__column(f, &f->list[i], column);

		if (!values)
			return false;
		for (k = r < 0 ? 0 : r; !known && k < (r < 0 ? f->nr_repeats : r + 1); k++)
			known = isfinite(values[k]);
	}
	return known;
}

static int find_column(const struct figures *f, const char *name)
{
	int i;

	for (i = 0; i < f->nr_columns; i++) {
		if (!strcmp(f->columns[i].name, name))
			return i;
	}
	return -1;
}

/* Mean and variance of the mean of @n values. */
static double mean_of(const double *x, int n, double *var)
{
	double sum = 0, squares = 0, mean;
	int i;

	for (i = 0; i < n; i++)
		sum += x[i];
	mean = n ? sum / n : NAN;
	for (i = 0; i < n; i++)
		squares += (x[i] - mean) * (x[i] - mean);
	*var = n > 1 ? squares / (n - 1) / n : NAN;
	return mean;
}

/* The values of a table into @x; how many are known. */
static int table_values(const struct figures *f, const struct figure_change *ch, const char *kind,
			bool of_files, double *x)
{
	int r, n = 0, column = find_column(f, ch->column), nr = of_files ? 1 : f->nr_repeats;
	struct figure *row = figures__find(f, ch->row);
	const double *values = row && column >= 0 ? figures__column(f, row, column) : NULL;
	double value = 0;

	if (!row && !(absent_is_zero(kind) && ch->key))
		return 0;
	if (row && !values)
		return 0;
	for (r = 0; r < nr; r++) {
		if (!row && !is_known(f, ch->row, column, of_files ? -1 : r))
			continue;
		if (values)
			value = of_files ? figures__value(f, row, column) : values[r];
		if (isfinite(value))
			x[n++] = value;
	}
	return n;
}

/* The values of one side into @x, of room for all. */
static int collect(const struct tables *t, const struct figure_change *ch, const char *kind,
		   bool of_files, double *x)
{
	int i, n = 0;

	for (i = 0; i < t->nr; i++)
		n += table_values(t->list[i], ch, kind, of_files, x + n);
	return n;
}

static const char *find_reason(const struct tables *t, const char *name)
{
	int i;

	for (i = 0; i < t->nr; i++) {
		struct figure *row = figures__find(t->list[i], name);

		if (row && row->reason)
			return row->reason;
	}
	return NULL;
}

static void fill(struct figure_change *ch, const struct tables t[NR_SIDES], const char *kind,
		 bool of_files, double *x)
{
	double var[NR_SIDES], df, half;
	int side, i;

	for (side = BASE; side < NR_SIDES; side++) {
		ch->n[side] = collect(&t[side], ch, kind, of_files, x);
		ch->value[side] = mean_of(x, ch->n[side], &var[side]);
		if (ch->of == FIGURE_MAX) {
			for (i = 0; i < ch->n[side]; i++)
				ch->value[side] = fmax(ch->value[side], x[i]);
		}
		ch->reason = ch->reason ?: find_reason(&t[side], ch->row);
	}
	ch->diff = ch->value[PATCHED] - ch->value[BASE];
	ch->low = NAN;
	ch->high = NAN;
	if (ch->of == FIGURE_MAX || ch->n[BASE] < 2 || ch->n[PATCHED] < 2)
		return;
	half = var[BASE] + var[PATCHED];
	df = half * half / (var[BASE] * var[BASE] / (ch->n[BASE] - 1) +
			    var[PATCHED] * var[PATCHED] / (ch->n[PATCHED] - 1));
	if (!(half > 0))
		half = 0;	/* counts that are the same every time */
	else
		half = bench_t95(df) * sqrt(half);
	ch->low = ch->diff - half;
	ch->high = ch->diff + half;
}

/* By what a table is sorted, and what text shows: the first column, and what is waited. */
static bool is_key(const char *kind, int column, const char *name)
{
	if (strcmp(kind, "contention"))
		return !column;
	return !strcmp(name, "waits/op") || !strcmp(name, "wait ns/op");
}

static bool has_change(const struct figure_changes *all, const char *row)
{
	int i;

	for (i = 0; i < all->nr; i++) {
		if (!strcmp(all->list[i].row, row))
			return true;
	}
	return false;
}

/* All columns of a row, if they are not there yet. */
static int add_row(struct figure_changes *all, const struct figures *f, const struct figure *row)
{
	struct figure_change *list;
	int c;

	if (has_change(all, row->name))
		return 0;
	list = reallocarray(all->list, all->nr + f->nr_columns, sizeof(*list));
	if (!list)
		return -ENOMEM;
	all->list = list;
	for (c = 0; c < f->nr_columns; c++)
		list[all->nr++] = (struct figure_change){
			.row = row->name, .column = f->columns[c].name, .of = f->columns[c].of,
			.decimals = f->columns[c].decimals,
			.key = is_key(all->kind, c, f->columns[c].name),
		};
	return 0;
}

/* How much a row explains, the larger the more. */
static double weight(const struct figure_changes *all, int first, int nr)
{
	const struct figure_change *ch = &all->list[first];
	int i;

	if (!strcmp(ch->row, FIGURES_ALL_LOCKS))
		return INFINITY;
	if (!strcmp(all->kind, "latency"))
		return 0;	/* percentiles have an order of their own */
	if (!strcmp(all->kind, "counters"))
		return isfinite(ch->diff) && ch->value[BASE] && ch->value[PATCHED] ?
		       fabs(log(ch->value[PATCHED] / ch->value[BASE])) : -1;
	for (i = first; i < first + nr; i++) {
		if (!strcmp(all->list[i].column, "wait ns/op"))
			return fabs(all->list[i].diff);
	}
	return isfinite(ch->diff) ? fabs(ch->diff) : -1;
}

/* A row of the list while it is sorted. */
struct group {
	double	weight;
	int	first, nr;
};

static int by_weight(const void *a, const void *b)
{
	const struct group *g = a, *h = b;

	if (g->weight != h->weight)
		return g->weight < h->weight ? 1 : -1;
	return g->first < h->first ? -1 : 1;
}

static int sort(struct figure_changes *all)
{
	struct figure_change *sorted = calloc(all->nr + 1, sizeof(*sorted));
	struct group *groups = calloc(all->nr + 1, sizeof(*groups));
	int i, n, nr = 0, at = 0;

	if (!sorted || !groups) {
		free(sorted);
		free(groups);
		return -ENOMEM;
	}
	for (i = 0; i < all->nr; i += n) {
		for (n = 1; i + n < all->nr && !strcmp(all->list[i + n].row, all->list[i].row); n++)
			;
		groups[nr++] = (struct group){ weight(all, i, n), i, n };
	}
	qsort(groups, nr, sizeof(*groups), by_weight);
	for (i = 0; i < nr; i++) {
		memcpy(sorted + at, all->list + groups[i].first, groups[i].nr * sizeof(*sorted));
		at += groups[i].nr;
	}
	free(groups);
	free(all->list);
	all->list = sorted;
	return 0;
}

/* What is waited an op in all: the row that says so, or the sum of all others. */
static double total_wait(const struct figure_changes *all, int side)
{
	double sum = 0;
	int i;

	for (i = 0; i < all->nr; i++) {
		const struct figure_change *ch = &all->list[i];

		if (strcmp(ch->column, "wait ns/op"))
			continue;
		if (!strcmp(ch->row, FIGURES_ALL_LOCKS) && (ch->n[side] || ch->reason))
			return ch->value[side];
		if (isfinite(ch->value[side]))
			sum += ch->value[side];
	}
	return sum;
}

/* Whose waits are they: ours only, or those of all tasks (--all-tasks)? */
static void find_whose(struct figure_changes *all, const struct tables t[NR_SIDES])
{
	int side, i, nr = 0, nr_all = 0;

	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0; i < t[side].nr; i++, nr++)
			nr_all += figures__has_note(t[side].list[i], FIGURES_ALL_TASKS);
	}
	all->all_tasks = nr_all;
	all->differ = nr_all && nr_all < nr;
}

static int make(struct figure_changes *all, const struct tables t[NR_SIDES])
{
	int side, i, r, n, room = 0;
	double *x;

	find_whose(all, t);
	if (all->differ)
		return 0;
	for (side = BASE; side < NR_SIDES; side++) {
		for (i = 0, n = 1; i < t[side].nr; i++) {
			const struct figures *f = t[side].list[i];

			all->lower_bound[side] |= f->lower_bound;
			n += f->nr_repeats + 1;
			for (r = 0; r < f->nr; r++) {
				if (add_row(all, f, &f->list[r]))
					return -ENOMEM;
			}
		}
		room = max(room, n);
		all->time[side] = t[side].nr_time ? t[side].time / t[side].nr_time : NAN;
	}
	x = calloc(room, sizeof(*x));
	if (!x)
		return -ENOMEM;
	all->of_files = t[BASE].nr > 1 && t[PATCHED].nr > 1;
	for (i = 0; i < all->nr; i++)
		fill(&all->list[i], t, all->kind, all->of_files, x);
	for (side = BASE; side < NR_SIDES; side++)
		all->total[side] = total_wait(all, side);
	free(x);
	return sort(all);
}

struct figure_changes *compare_figures__new(const struct comparison *c,
					    const struct compare_point *p, const char *kind)
{
	struct figure_changes *all = zalloc(sizeof(*all));
	struct tables t[NR_SIDES] = { { 0 }, { 0 } };
	int err;

	if (!all)
		return NULL;
	all->kind = kind;
	err = find_tables(c, p, BASE, kind, &t[BASE]) ?:
	      find_tables(c, p, PATCHED, kind, &t[PATCHED]);
	if (!err && (!t[BASE].nr || !t[PATCHED].nr))
		err = -ENOENT;
	if (!err)
		err = make(all, t);
	free(t[BASE].list);
	free(t[PATCHED].list);
	if (err) {
		compare_figures__free(all);
		errno = -err;
		return NULL;
	}
	return all;
}

void compare_figures__free(struct figure_changes *changes)
{
	if (!changes)
		return;
	free(changes->list);
	free(changes);
}
