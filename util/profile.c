// SPDX-License-Identifier: GPL-2.0
/*
 * profile.c: from samples to counts in windows, and from these to shares of functions
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "profile.h"

/* A sample; once sorted into a window, @where is that window's number. */
struct sample {
	u64	where;
	u64	ip;
};

/* So many samples of the function that begins at @key; of the address, if it has no name. */
struct count {
	u64	key;
	u64	nr;
};

/* Its counts are [first] to the first one of the next window. */
struct window {
	u64	start;
	size_t	first;
};

struct profile {
	struct sample	*samples;
	size_t		nr_samples, room_samples;
	struct count	*counts;
	size_t		nr_counts, room_counts;
	struct window	*windows;	/* in the order of time, over all repeats */
	size_t		nr_windows, room_windows;
	u64		left_out;
};

struct profile *profile__new(void)
{
	return zalloc(sizeof(struct profile));
}

void profile__free(struct profile *p)
{
	if (!p)
		return;
	free(p->samples);
	free(p->counts);
	free(p->windows);
	free(p);
}

u64 profile__left_out(const struct profile *p)
{
	return p->left_out;
}

/*
 * Room for one more of @size bytes, up to @most of them. Return: the list, which may have moved, or
 * NULL: then it is as it was.
 */
static void *grow(void *list, size_t nr, size_t *room, size_t size, size_t most)
{
	size_t want = min(max((size_t)64, 2 * *room), most);
	void *more;

	if (nr < *room)
		return list;
	more = nr < want ? reallocarray(list, want, size) : NULL;
	if (more)
		*room = want;
	return more;
}

void profile__sample(struct profile *p, u64 time, u64 ip)
{
	struct sample *list = grow(p->samples, p->nr_samples, &p->room_samples, sizeof(*list),
				   PROFILE_MAX_SAMPLES);

	if (!list) {
		p->left_out++;
		return;
	}
	p->samples = list;
	p->samples[p->nr_samples++] = (struct sample){ .where = time, .ip = ip };
}

/* ---- folding ---- */

static int compare_samples(const void *va, const void *vb)
{
	const struct sample *a = va, *b = vb;

	if (a->where != b->where)
		return a->where < b->where ? -1 : 1;
	return a->ip < b->ip ? -1 : a->ip > b->ip;
}

/* The window that a time is in, or -1. The sample at the end of one is that of the next. */
static int find_window(const u64 *starts, const u64 *ends, int nr, u64 time)
{
	int low = 0, high = nr, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (starts[mid] <= time)
			low = mid + 1;
		else
			high = mid;
	}
	return low && time < ends[low - 1] ? low - 1 : -1;
}

static u64 function_of(const struct ksyms *k, u64 ip)
{
	u64 offset = 0;

	return ip != PROFILE_USER && ksyms__name(k, ip, &offset) ? ip - offset : ip;
}

static bool add_window(struct profile *p, u64 start)
{
	struct window *list = grow(p->windows, p->nr_windows, &p->room_windows, sizeof(*list),
				   SIZE_MAX / sizeof(*list));

	if (!list)
		return false;
	p->windows = list;
	p->windows[p->nr_windows++] = (struct window){ .start = start, .first = p->nr_counts };
	return true;
}

/* @nr samples of one function in the window that was added last. */
static void add_count(struct profile *p, u64 key, u64 nr)
{
	struct count *list = grow(p->counts, p->nr_counts, &p->room_counts, sizeof(*list),
				  PROFILE_MAX_COUNTS);

	if (!list) {
		p->left_out += nr;
		return;
	}
	p->counts = list;
	p->counts[p->nr_counts++] = (struct count){ .key = key, .nr = nr };
}

void profile__fold(struct profile *p, const struct ksyms *k, const u64 *starts, const u64 *ends,
		   int nr)
{
	size_t i, n, kept = 0;
	int at, w;

	for (i = 0; i < p->nr_samples; i++) {
		at = find_window(starts, ends, nr, p->samples[i].where);
		if (at < 0)
			continue;
		p->samples[kept].where = at;
		p->samples[kept++].ip = function_of(k, p->samples[i].ip);
	}
	if (kept)
		qsort(p->samples, kept, sizeof(*p->samples), compare_samples);
	for (w = 0, i = 0; w < nr; w++) {
		bool added = add_window(p, starts[w]);

		for (; i < kept && p->samples[i].where == (u64)w; i += n) {
			n = 1;
			while (i + n < kept &&
			       !compare_samples(&p->samples[i], &p->samples[i + n]))
				n++;
			if (added)
				add_count(p, p->samples[i].ip, n);
			else
				p->left_out += n;
		}
	}
	p->nr_samples = 0;
}

/* ---- the table ---- */

/* Samples of one function in one window; and, once put together, in all of them. */
struct cell {
	u64		key;
	const char	*name;		/* NULL: the key is shown */
	int		repeat;
	u64		nr;
};

static int compare_u64(u64 a, u64 b)
{
	return a < b ? -1 : a > b;
}

/*
 * The same row? Those without a name come last. A table cuts names: what is behind that is not
 * compared.
 */
static int compare_rows(const struct cell *a, const struct cell *b)
{
	if (!a->name || !b->name)
		return a->name ? -1 : b->name ? 1 : compare_u64(a->key, b->key);
	return strncmp(a->name, b->name, FIGURES_NAME_MAX - 1);
}

static int compare_cells(const void *va, const void *vb)
{
	return compare_rows(va, vb);
}

/* A row in the making: its cells are side by side. */
struct row {
	const struct cell	*cells;
	size_t			nr;
	double			share;		/* mean over the repeats */
};

static int compare_shares(const void *va, const void *vb)
{
	const struct row *a = va, *b = vb;

	if (a->share != b->share)
		return a->share > b->share ? -1 : 1;
	return compare_rows(a->cells, b->cells);
}

static const struct window *find_start(const struct profile *p, u64 start)
{
	size_t low = 0, high = p->nr_windows, mid;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (p->windows[mid].start < start)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->nr_windows && p->windows[low].start == start ? &p->windows[low] : NULL;
}

static size_t counts_end(const struct profile *p, const struct window *w)
{
	return w + 1 < p->windows + p->nr_windows ? w[1].first : p->nr_counts;
}

static const char *name_of(const struct ksyms *k, u64 key)
{
	return key == PROFILE_USER ? "[user]" : ksyms__name(k, key, NULL);
}

/* All cells of those windows, row by row, and the samples of each repeat; -1 without memory. */
static ssize_t collect_cells(const struct profile *p, const struct ksyms *k,
			     const struct profile_window *windows, int nr_windows, int nr_repeats,
			     struct cell **cells, u64 *totals)
{
	size_t nr = 0, room = 0, c;
	struct cell *list = NULL, *more;
	const struct window *w;
	int i;

	for (i = 0; i < nr_windows; i++) {
		w = find_start(p, windows[i].start);
		if (!w || windows[i].repeat < 0 || windows[i].repeat >= nr_repeats)
			continue;
		for (c = w->first; c < counts_end(p, w); c++) {
			more = grow(list, nr, &room, sizeof(*list), SIZE_MAX / sizeof(*list));
			if (!more) {
				free(list);
				return -1;
			}
			list = more;
			list[nr].key = p->counts[c].key;
			list[nr].name = name_of(k, p->counts[c].key);
			list[nr].repeat = windows[i].repeat;
			list[nr++].nr = p->counts[c].nr;
			totals[windows[i].repeat] += p->counts[c].nr;
		}
	}
	if (nr)
		qsort(list, nr, sizeof(*list), compare_cells);
	*cells = list;
	return nr;
}

/* Where each row begins, with its mean share; the caller frees. NULL without memory. */
static struct row *make_rows(const struct cell *cells, size_t nr_cells, const u64 *totals,
			     int nr_repeats, size_t *nr_rows)
{
	struct row *rows = calloc(nr_cells ?: 1, sizeof(*rows));
	int i, nr_known = 0;
	size_t c, nr = 0;

	if (!rows)
		return NULL;
	for (i = 0; i < nr_repeats; i++)
		nr_known += totals[i] > 0;
	for (c = 0; c < nr_cells; c++) {
		if (!c || compare_rows(&cells[c - 1], &cells[c]))
			rows[nr++].cells = &cells[c];
		rows[nr - 1].nr++;
		rows[nr - 1].share += (double)cells[c].nr / totals[cells[c].repeat] / nr_known;
	}
	if (nr)
		qsort(rows, nr, sizeof(*rows), compare_shares);
	*nr_rows = nr;
	return rows;
}

/* Append a row that has the samples of @nr ones. */
static int add_figure(struct figures *f, const char *name, const struct row *rows, size_t nr,
		      const u64 *totals)
{
	struct figure *figure = figures__add(f, name);
	int i;

	if (!figure)
		return -ENOMEM;
	for (i = 0; i < f->nr_repeats; i++) {
		u64 sum = 0;
		size_t r, c;

		for (r = 0; r < nr; r++) {
			for (c = 0; c < rows[r].nr; c++) {
				if (rows[r].cells[c].repeat == i)
					sum += rows[r].cells[c].nr;
			}
		}
		if (totals[i])
			figures__set(f, figure, 0, i, 100.0 * sum / totals[i]);
	}
	return 0;
}

static int add_figures(struct figures *f, const struct row *rows, size_t nr, const u64 *totals)
{
	/* one more than there is room for is better shown than called the rest */
	size_t i, shown = nr > PROFILE_ROWS + 1 ? PROFILE_ROWS : nr;
	char hex[24];
	int err = 0;

	for (i = 0; i < shown && !err; i++) {
		snprintf(hex, sizeof(hex), "0x%llx", (unsigned long long)rows[i].cells->key);
		err = add_figure(f, rows[i].cells->name ?: hex, &rows[i], 1, totals);
	}
	if (!err && shown < nr)
		err = add_figure(f, "[other]", rows + shown, nr - shown, totals);
	return err;
}

long long profile__table(const struct profile *p, const struct ksyms *k,
			 const struct profile_window *windows, int nr_windows, int nr_repeats,
			 struct figures *f)
{
	static const struct figure_column column = { "%", FIGURE_MEAN, 2 };
	u64 *totals = calloc(max(nr_repeats, 1), sizeof(*totals));
	struct cell *cells = NULL;
	struct row *rows = NULL;
	long long sum = -ENOMEM;
	size_t nr_rows = 0;
	ssize_t nr;
	int i;

	figures__reset(f, "profile", &column, 1, nr_repeats);
	if (!totals)
		return sum;
	nr = collect_cells(p, k, windows, nr_windows, nr_repeats, &cells, totals);
	if (nr >= 0)
		rows = make_rows(cells, nr, totals, nr_repeats, &nr_rows);
	if (rows && !add_figures(f, rows, nr_rows, totals)) {
		for (i = 0, sum = 0; i < nr_repeats; i++)
			sum += totals[i];
	}
	free(rows);
	free(cells);
	free(totals);
	return sum;
}
