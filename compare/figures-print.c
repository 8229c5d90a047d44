// SPDX-License-Identifier: GPL-2.0
/*
 * What instruments have found out, of both sides: as text, and for programs
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <linux/kernel.h>

#include "compare/figures.h"
#include "compare/figures-print.h"
#include "util/json-stream.h"

#define NAME_WIDTH	26
#define MOST_ROWS	8

static const char *number(char *buf, size_t size, double x, int decimals)
{
	if (!isfinite(x))
		snprintf(buf, size, "-");
	else if (fabs(x) >= 1e8)
		snprintf(buf, size, "%.3e", x);
	else if (fabs(x) >= 1e5)
		snprintf(buf, size, "%.0f", x);
	else
		snprintf(buf, size, "%.*f", decimals, x);
	return buf;
}

/* The difference in per cent of base, or as it is where base has nothing. */
static void change(const struct figure_change *ch, char *diff, char *interval, size_t size)
{
	double base = ch->value[BASE];
	char b[2][32];

	snprintf(diff, size, "-");
	*interval = '\0';
	if (!isfinite(ch->diff))
		return;
	if (base > 0 && fabs(ch->diff) < 10 * base) {
		snprintf(diff, size, "%+.1f%%", 100 * ch->diff / base);
		if (isfinite(ch->low))	/* none of them can be negative */
			snprintf(interval, size, "%+.1f to %+.1f%%",
				 fmax(100 * ch->low / base, -100), 100 * ch->high / base);
		return;
	}
	if (base > 0)
		snprintf(diff, size, "x%.1f", ch->value[PATCHED] / base);
	else
		snprintf(diff, size, "+%s", number(b[0], sizeof(b[0]), ch->diff, ch->decimals));
	if (isfinite(ch->low))
		snprintf(interval, size, "%s to %s",
			 number(b[0], sizeof(b[0]), ch->low, ch->decimals),
			 number(b[1], sizeof(b[1]), ch->high, ch->decimals));
}

/* @name: of the row; or of the column, where the row's name stands above */
static void put_change(const struct figure_change *ch, const char *name, FILE *f)
{
	char b[4][40];

	if ((int)strlen(name) > NAME_WIDTH)
		fprintf(f, "    %s\n%*s", name, NAME_WIDTH + 4, "");
	else
		fprintf(f, "    %-*s", NAME_WIDTH, name);
	change(ch, b[2], b[3], sizeof(b[2]));
	fprintf(f, " %9s %9s %8s %s\n",
		number(b[0], sizeof(b[0]), ch->value[BASE], ch->decimals),
		number(b[1], sizeof(b[1]), ch->value[PATCHED], ch->decimals), b[2], b[3]);
}

/* What is waited for is a part of the time that an op takes: where has that gone? */
static void put_waiting(const struct figure_changes *all, FILE *f)
{
	if (strcmp(all->kind, "contention") || all->all_tasks || !isfinite(all->time[BASE]) ||
	    !isfinite(all->time[PATCHED]) || !isfinite(all->total[BASE]) ||
	    !isfinite(all->total[PATCHED]))
		return;
	fprintf(f, "    of an op's time, ns: waiting %.0f -> %.0f, all else %.0f -> %.0f\n",
		all->total[BASE], all->total[PATCHED], all->time[BASE] - all->total[BASE],
		all->time[PATCHED] - all->total[PATCHED]);
}

/* Indented, below its row. */
static const char *text_of_column(const struct figure_change *ch, char *buf, size_t size)
{
	snprintf(buf, size, "  %s", ch->column);
	return buf;
}

static const char not_compared[] =
	"not compared: of all tasks of the machine (--all-tasks), and of ours only";

static void put_changes(const struct figure_changes *all, FILE *f)
{
	bool columns = !strcmp(all->kind, "contention");
	int i, rows = 0, missing = 0;
	const char *row = NULL;
	char b[32];

	if (all->differ) {
		fprintf(f, "    %s\n", not_compared);
		return;
	}
	fprintf(f, "    %-*s %9s %9s %8s %s\n", NAME_WIDTH, "", "base", "patched", "change",
		"95 %, of itself");
	for (i = 0; i < all->nr; i++) {
		const struct figure_change *ch = &all->list[i];

		if (!ch->key)
			continue;
		if (!isfinite(ch->value[BASE]) && !isfinite(ch->value[PATCHED])) {
			missing++;
			continue;
		}
		if (ch->value[BASE] == 0 && ch->value[PATCHED] == 0)
			continue;
		if (!row || strcmp(row, ch->row)) {
			if (rows++ < MOST_ROWS && columns)
				fprintf(f, "    %s\n", ch->row);
		}
		row = ch->row;
		if (rows <= MOST_ROWS && columns)
			put_change(ch, text_of_column(ch, b, sizeof(b)), f);
		else if (rows <= MOST_ROWS)
			put_change(ch, ch->row, f);
	}
	if (rows > MOST_ROWS)
		fprintf(f, "    %d more: -f json has them\n", rows - MOST_ROWS);
	if (missing)
		fprintf(f, "    %d not known on either side\n", missing);
	put_waiting(all, f);
	if (all->all_tasks)
		fprintf(f, "    %s\n", FIGURES_ALL_TASKS);
	for (i = BASE; i < NR_SIDES; i++) {
		if (all->lower_bound[i])
			fprintf(f, "    %s: not all was seen, the figures are lower bounds\n",
				i == BASE ? "base" : "patched");
	}
}

void comparison__print_figures(const struct comparison *c, FILE *f)
{
	static const char heading[] =
		"why, from passes with instruments; each interval is of one figure alone";
	const char *const *kind;
	bool first = true;
	int i;

	for (kind = compare_figure_kinds; *kind; kind++) {
		for (i = 0; i < c->nr_points; i++) {
			const struct compare_point *p = &c->points[i];
			const char *variant = p->point[BASE]->variant;
			struct figure_changes *all = compare_figures__new(c, p, *kind);

			if (!all)
				continue;
			if (first)
				fprintf(f, "\n%s\n", heading);
			first = false;
			fprintf(f, "\n  %s of %s%s%s, %d task%s, over %s\n", *kind, p->bench->name,
				*variant ? " " : "", variant, p->point[BASE]->tasks,
				p->point[BASE]->tasks > 1 ? "s" : "",
				all->of_files ? "files" : "repeats");
			put_changes(all, f);
			compare_figures__free(all);
		}
	}
}

static struct json_object *json_change(const struct figure_change *ch)
{
	struct json_object *o = json_object_new_object();
	struct json_object *interval = json_object_new_array();

	json_object_object_add(o, "row", json_text(ch->row));
	json_object_object_add(o, "column", json_text(ch->column));
	json_object_object_add(o, "base", json_real(ch->value[BASE]));
	json_object_object_add(o, "patched", json_real(ch->value[PATCHED]));
	json_object_object_add(o, "difference", json_real(ch->diff));
	json_object_array_add(interval, json_real(ch->low));
	json_object_array_add(interval, json_real(ch->high));
	json_object_object_add(o, "difference_ci95", interval);
	json_object_object_add(o, "reason", json_text(ch->reason));
	return o;
}

struct json_object *comparison__json_figures(const struct comparison *c,
					     const struct compare_point *p)
{
	struct json_object *o = json_object_new_object(), *table, *list;
	const char *const *kind;
	int i;

	for (kind = compare_figure_kinds; *kind; kind++) {
		struct figure_changes *all = compare_figures__new(c, p, *kind);

		if (!all)
			continue;
		table = json_object_new_object();
		list = json_object_new_array();
		for (i = 0; i < all->nr; i++)
			json_object_array_add(list, json_change(&all->list[i]));
		json_object_object_add(table, "interval_over",
				       json_text(all->of_files ? "files" : "repeats"));
		json_object_object_add(table, "all_tasks_differ",
				       json_object_new_boolean(all->differ));
		json_object_object_add(table, "base_lower_bound",
				       json_object_new_boolean(all->lower_bound[BASE]));
		json_object_object_add(table, "patched_lower_bound",
				       json_object_new_boolean(all->lower_bound[PATCHED]));
		json_object_object_add(table, "changes", list);
		json_object_object_add(o, *kind, table);
		compare_figures__free(all);
	}
	return o;
}

void comparison__each_figure(const struct comparison *c, const struct compare_point *p,
			     void (*fn)(const char *kind, const struct figure_change *ch,
					void *data), void *data)
{
	const char *const *kind;
	int i;

	for (kind = compare_figure_kinds; *kind; kind++) {
		struct figure_changes *all = compare_figures__new(c, p, *kind);

		for (i = 0; all && i < all->nr; i++)
			fn(*kind, &all->list[i], data);
		compare_figures__free(all);
	}
}
