// SPDX-License-Identifier: GPL-2.0
/*
 * Tables of figures as results files have them
 */
#include <stdio.h>
#include <string.h>

#include "report/figures-json.h"
#include "util/figures.h"
#include "util/json-stream.h"

static struct json_object *lines_of(const char *text)
{
	struct json_object *list = json_object_new_array();
	char line[1024];
	size_t len;

	for (; list && text && *text; text += len + (text[len] == '\n')) {
		len = strcspn(text, "\n");
		snprintf(line, sizeof(line), "%.*s", (int)len, text);
		json_object_array_add(list, json_text(line));
	}
	return list;
}

static void write_figure(struct json_stream *s, const struct figures *f, const struct figure *row)
{
	const double *values;
	int c, r;

	json_stream__line(s);
	json_stream__open(s, NULL, '{');
	json_stream__text(s, "name", row->name);
	json_stream__text(s, "reason", row->reason);
	json_stream__value(s, "detail", lines_of(row->detail));
	json_stream__open(s, "values", '[');
	for (c = 0; row->values && c < f->nr_columns; c++) {
		values = figures__column(f, row, c);
		json_stream__open(s, NULL, '[');
		for (r = 0; r < f->nr_repeats; r++)
			json_stream__real(s, NULL, values[r]);
		json_stream__close(s, ']');
	}
	json_stream__close(s, ']');
	json_stream__close(s, '}');
}

void figures__write_json(const struct figures *f, struct json_stream *s)
{
	int i;

	json_stream__line(s);
	json_stream__open(s, "figures", '{');
	json_stream__bool(s, "lower_bound", f->lower_bound);
	json_stream__open(s, "columns", '[');
	for (i = 0; i < f->nr_columns; i++) {
		json_stream__open(s, NULL, '{');
		json_stream__text(s, "name", f->columns[i].name);
		json_stream__text(s, "of_repeats", f->columns[i].of == FIGURE_MAX ? "max" : "mean");
		json_stream__s64(s, "decimals", f->columns[i].decimals);
		json_stream__close(s, '}');
	}
	json_stream__close(s, ']');
	json_stream__value(s, "notes", lines_of(f->notes));
	json_stream__open(s, "rows", '[');
	for (i = 0; i < f->nr; i++)
		write_figure(s, f, &f->list[i]);
	json_stream__close(s, ']');
	json_stream__close(s, '}');
}
