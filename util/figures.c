// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of what instruments find out
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "figures.h"

void figures__reset(struct figures *f, const char *kind, const struct figure_column *columns,
		    int nr_columns, int nr_repeats)
{
	int i;

	for (i = 0; i < f->nr; i++) {
		free(f->list[i].name);
		free(f->list[i].reason);
		free(f->list[i].detail);
		free(f->list[i].values);
	}
	free(f->list);
	free(f->notes);
	*f = (struct figures){
		.kind = kind, .columns = columns, .nr_columns = nr_columns,
		.nr_repeats = nr_repeats,
	};
}

static struct figure *append(struct figures *f, const char *name)
{
	struct figure *list = reallocarray(f->list, f->nr + 1, sizeof(*list));
	struct figure *row;

	if (!list)
		return NULL;
	f->list = list;
	row = &list[f->nr];
	*row = (struct figure){ .name = strndup(name, FIGURES_NAME_MAX - 1) };
	if (!row->name)
		return NULL;
	f->nr++;
	return row;
}

struct figure *figures__add(struct figures *f, const char *name)
{
	int i, nr = f->nr_columns * f->nr_repeats;
	double *values = calloc(max(nr, 1), sizeof(*values));
	struct figure *row = values ? append(f, name) : NULL;

	if (!row) {
		free(values);
		return NULL;
	}
	for (i = 0; i < nr; i++)
		values[i] = NAN;
	row->values = values;
	return row;
}

struct figure *figures__add_missing(struct figures *f, const char *name, const char *reason)
{
	char *copy = strdup(reason);
	struct figure *row = copy ? append(f, name) : NULL;

	if (row)
		row->reason = copy;
	else
		free(copy);
	return row;
}

/* Is @line one of the lines of @text? */
static bool has_line(const char *text, const char *line)
{
	size_t len = strlen(line);

	while (text) {
		if (!strncmp(text, line, len) && (!text[len] || text[len] == '\n'))
			return true;
		text = strchr(text, '\n');
		if (text)
			text++;
	}
	return false;
}

bool figures__has_note(const struct figures *f, const char *line)
{
	return has_line(f->notes, line);
}

int figures__note(struct figures *f, const char *fmt, ...)
{
	char *line, *notes;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&line, fmt, ap);
	va_end(ap);
	if (len < 0)
		return -ENOMEM;
	if (figures__has_note(f, line)) {
		free(line);
		return 0;
	}
	if (!f->notes) {
		f->notes = line;
		return 0;
	}
	len = asprintf(&notes, "%s\n%s", f->notes, line);
	free(line);
	if (len < 0)
		return -ENOMEM;
	free(f->notes);
	f->notes = notes;
	return 0;
}

struct figure *figures__find(const struct figures *f, const char *name)
{
	int i;

	for (i = 0; i < f->nr; i++) {
		if (!strncmp(f->list[i].name, name, FIGURES_NAME_MAX - 1))
			return &f->list[i];
	}
	return NULL;
}

void figures__set(struct figures *f, struct figure *row, int column, int repeat, double value)
{
	if (row && row->values && column >= 0 && column < f->nr_columns && repeat >= 0 &&
	    repeat < f->nr_repeats)
		row->values[column * f->nr_repeats + repeat] = value;
}

const double *figures__column(const struct figures *f, const struct figure *row, int column)
{
	if (!row->values || column < 0 || column >= f->nr_columns)
		return NULL;
	return row->values + (size_t)column * f->nr_repeats;
}

double figures__value(const struct figures *f, const struct figure *row, int column)
{
	const double *x = figures__column(f, row, column);
	double sum = 0, most = NAN;
	int i, nr = 0;

	for (i = 0; x && i < f->nr_repeats; i++) {
		if (!isfinite(x[i]))
			continue;
		sum += x[i];
		most = nr++ ? fmax(most, x[i]) : x[i];
	}
	if (!nr)
		return NAN;
	return f->columns[column].of == FIGURE_MAX ? most : sum / nr;
}
