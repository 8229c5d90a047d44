// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of figures as text
 */
#include <math.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>

#include "bench/worker.h"
#include "report/figures-text.h"

#define WIDTH		78
#define INDENT		2
#define MIN_COLUMN	9	/* with the blank before it */
#define MOST_ROWS	12	/* unless all are asked for */

static int column_width(const struct figures *f, int column)
{
	int len = strlen(f->columns[column].name) + 1;

	return max(len, MIN_COLUMN);
}

/* Is there room, and sense, for an interval? */
static bool has_interval(const struct figures *f)
{
	return f->nr_columns == 1 && f->columns[0].of == FIGURE_MEAN && f->nr_repeats > 1;
}

static int name_width(const struct figures *f)
{
	int i, left = WIDTH - INDENT - (has_interval(f) ? MIN_COLUMN : 0);

	for (i = 0; i < f->nr_columns; i++)
		left -= column_width(f, i);
	return left;
}

static void print_value(double value, int width, int decimals, FILE *out)
{
	if (!isfinite(value))
		fprintf(out, "%*s", width, "-");
	else if (fabs(value) >= 1e9)
		fprintf(out, "%*.3e", width, value);
	else if (fabs(value) >= 1e5)
		fprintf(out, "%*.0f", width, value);
	else
		fprintf(out, "%*.*f", width, decimals, value);
}

void figures__print_wrapped(const char *text, int indent, FILE *out)
{
	static const char blanks[] = { ' ', '\n', '\0' };
	int column = 0, word;

	while (*text) {
		word = strcspn(text, blanks);
		if (!column)
			column = fprintf(out, "%*s", indent, "");
		else if (column + 1 + word > WIDTH)
			column = fprintf(out, "\n%*s", indent, "") - 1;
		else
			column += fprintf(out, " ");
		column += fprintf(out, "%.*s", word, text);
		text += word;
		if (*text == '\n') {
			fputc('\n', out);
			column = 0;
		}
		text += *text != '\0';
	}
	fputc('\n', out);
}

static void print_row(const struct figures *f, const struct figure *row, bool verbose, FILE *out)
{
	int i, width = name_width(f);
	char interval[16] = "-";
	double mean, ci95;

	if ((int)strlen(row->name) > width)
		fprintf(out, "%*s%s\n%*s", INDENT, "", row->name, INDENT + width, "");
	else
		fprintf(out, "%*s%-*s", INDENT, "", width, row->name);
	for (i = 0; i < f->nr_columns; i++)
		print_value(figures__value(f, row, i), column_width(f, i),
			    f->columns[i].decimals, out);
	if (has_interval(f)) {
		mean = bench_mean_ci(figures__column(f, row, 0), f->nr_repeats, &ci95);
		if (isfinite(ci95) && mean > 0)
			snprintf(interval, sizeof(interval), "%.1f%%", 100 * ci95 / mean);
		fprintf(out, "%*s", MIN_COLUMN, interval);
	}
	fputc('\n', out);
	if (verbose && row->detail)
		figures__print_wrapped(row->detail, 2 * INDENT + 2, out);
}

/* The rows without values, those of one reason in one line. */
static void print_missing(const struct figures *f, FILE *out)
{
	char *text;
	size_t size;
	FILE *line;
	int i, k;

	for (i = 0; i < f->nr; i++) {
		const char *reason = f->list[i].reason;

		for (k = 0; reason && k < i; k++) {
			if (f->list[k].reason && !strcmp(f->list[k].reason, reason))
				reason = NULL;
		}
		if (!reason)
			continue;
		line = open_memstream(&text, &size);
		if (!line)
			return;
		for (k = i; k < f->nr; k++) {
			if (f->list[k].reason && !strcmp(f->list[k].reason, reason))
				fprintf(line, "%s%s", k > i ? ", " : "", f->list[k].name);
		}
		fprintf(line, ": %s", reason);
		if (!fclose(line)) {
			figures__print_wrapped(text, INDENT, out);
			free(text);
		}
	}
}

/* The rate in per cent of the clean one; its interval as that of a ratio of independent means. */
static void print_share(const struct figures_heading *h, FILE *out)
{
	double share = 100 * h->rate / h->clean;
	double half = share * hypot(h->ci95 / h->rate, h->clean_ci95 / h->clean);

	fprintf(out, ", %.1f %%", share);
	if (isfinite(half))
		fprintf(out, " (+-%.1f)", half);
	fprintf(out, " of the clean rate");
}

static void print_heading(const struct figures *f, const struct figures_heading *h, FILE *out)
{
	int i;

	fprintf(out, "\n%s%s%d task%s", h->variant, *h->variant ? ", " : "", h->tasks,
		h->tasks > 1 ? "s" : "");
	if (isfinite(h->rate)) {
		fprintf(out, ": %.*f ops/s", h->rate < 100 ? 1 : 0, h->rate);
		if (h->clean > 0)
			print_share(h, out);
	}
	fputc('\n', out);
	for (i = 0; i < f->nr && !f->list[i].values; i++)
		;
	if (i == f->nr)
		return;
	fprintf(out, "%*s", INDENT + name_width(f), "");
	for (i = 0; i < f->nr_columns; i++)
		fprintf(out, "%*s", column_width(f, i), f->columns[i].name);
	if (has_interval(f))
		fprintf(out, "%*s", MIN_COLUMN, "+-95%");
	fputc('\n', out);
}

/* Has it as many rows as the kernel has functions, not as many as were asked for? */
static bool is_long(const struct figures *f)
{
	return !strcmp(f->kind, "contention") || !strcmp(f->kind, "profile");
}

void figures__print(const struct figures *f, const struct figures_heading *heading, FILE *out)
{
	int i, nr = 0, most = heading->verbose || !is_long(f) ? f->nr : MOST_ROWS;

	print_heading(f, heading, out);
	for (i = 0; i < f->nr; i++) {
		if (f->list[i].values && nr++ < most)
			print_row(f, &f->list[i], heading->verbose, out);
	}
	if (!f->nr)
		fprintf(out, "%*s%s\n", INDENT, "",
			f->nr_repeats ? "nothing was seen" : "no repeat has ended");
	if (nr > most)
		fprintf(out, "%*s%d more: -v shows them\n", INDENT, "", nr - most);
	print_missing(f, out);
	if (f->lower_bound)
		fprintf(out, "%*sNot all was seen: the figures are lower bounds.\n", INDENT, "");
	if (f->notes)
		figures__print_wrapped(f->notes, INDENT, out);
}
