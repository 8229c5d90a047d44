// SPDX-License-Identifier: GPL-2.0
/*
 * results-figures.c: tables of figures in results files, read back
 *
 * As in results.c, nothing is trusted: types, counts and lengths are checked, and names have no
 * control characters.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <json-c/json.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "figures.h"
#include "results-figures.h"

#define COLUMN_NAME_MAX	13	/* with the zero */

/* A table, and what it borrows from: its columns and their names. */
struct table {
	struct figures		figures;
	struct figure_column	columns[FIGURES_MAX_COLUMNS];
	char			names[FIGURES_MAX_COLUMNS][COLUMN_NAME_MAX];
};

struct reader {
	struct table	*t;
	char		*where, *what;
	size_t		where_size, what_size;
	int		err;
};

static __printf(3, 4) void fail(struct reader *rd, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (rd->err)
		return;
	rd->err = EINVAL;
	snprintf(rd->where, rd->where_size, "%s", where);
	va_start(ap, fmt);
	vsnprintf(rd->what, rd->what_size, fmt, ap);
	va_end(ap);
}

static void no_memory(struct reader *rd)
{
	rd->err = rd->err ?: ENOMEM;
}

/* @name: of the member; @where: as it is shown */
static struct json_object *get(struct reader *rd, struct json_object *obj, const char *name,
			       enum json_type type, const char *where)
{
	struct json_object *value = NULL;

	if (rd->err)
		return NULL;
	if (!json_object_is_type(obj, json_type_object) ||
	    !json_object_object_get_ex(obj, name, &value) || !json_object_is_type(value, type)) {
		fail(rd, where, "%s \"%s\" is expected", json_type_to_name(type), name);
		return NULL;
	}
	return value;
}

/* Text without control characters, but for '\n' if @lines. */
static bool is_clean(const char *text, size_t len, bool lines)
{
	size_t i;

	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c < 0x20 && !(lines && c == '\n'))
			return false;
		if (c == 0x7f)
			return false;
	}
	return true;
}

static const char *get_name(struct reader *rd, struct json_object *obj, size_t max,
			    const char *where)
{
	struct json_object *value = get(rd, obj, "name", json_type_string, where);
	size_t len = value ? json_object_get_string_len(value) : 0;

	if (!value)
		return NULL;
	if (!len || len >= max || !is_clean(json_object_get_string(value), len, false)) {
		fail(rd, where, "a name of 1 to %zu bytes without control characters is expected",
		     max - 1);
		return NULL;
	}
	return json_object_get_string(value);
}

static void read_column(struct reader *rd, struct json_object *obj, int i)
{
	struct figure_column *column = &rd->t->columns[i];
	struct json_object *of, *decimals;
	const char *name;
	char where[32];

	snprintf(where, sizeof(where), "columns[%d]", i);
	name = get_name(rd, obj, COLUMN_NAME_MAX, where);
	of = get(rd, obj, "of_repeats", json_type_string, where);
	decimals = get(rd, obj, "decimals", json_type_int, where);
	if (rd->err)
		return;
	snprintf(rd->t->names[i], COLUMN_NAME_MAX, "%s", name);
	column->name = rd->t->names[i];
	if (!strcmp(json_object_get_string(of), "max"))
		column->of = FIGURE_MAX;
	else if (strcmp(json_object_get_string(of), "mean"))
		fail(rd, where, "of_repeats \"mean\" or \"max\" is expected");
	if (json_object_get_int64(decimals) < 0 || json_object_get_int64(decimals) > 6)
		fail(rd, where, "0 to 6 decimals are expected");
	else
		column->decimals = json_object_get_int(decimals);
}

/* A list of lines, joined; the caller frees. NULL if there is none. */
static char *get_lines(struct reader *rd, struct json_object *obj, const char *name,
		       const char *where)
{
	struct json_object *list = get(rd, obj, name, json_type_array, where);
	char *text = NULL;
	size_t i, size;
	FILE *f;

	if (!list || !json_object_array_length(list))
		return NULL;
	f = open_memstream(&text, &size);
	if (!f) {
		no_memory(rd);
		return NULL;
	}
	for (i = 0; i < json_object_array_length(list); i++) {
		struct json_object *line = json_object_array_get_idx(list, i);
		int len = json_object_is_type(line, json_type_string) ?
			  json_object_get_string_len(line) : -1;

		if (len < 0 || !is_clean(json_object_get_string(line), len, false)) {
			fail(rd, where, "%s: lines without control characters are expected", name);
			break;
		}
		fprintf(f, "%s%s", i ? "\n" : "", json_object_get_string(line));
	}
	if (fclose(f)) {
		no_memory(rd);
		return NULL;
	}
	return text;
}

static void read_values(struct reader *rd, struct json_object *list, struct figure *row,
			const char *where)
{
	struct figures *f = &rd->t->figures;
	int c, r;

	if (json_object_array_length(list) != (size_t)f->nr_columns) {
		fail(rd, where, "values of %d columns are expected", f->nr_columns);
		return;
	}
	for (c = 0; c < f->nr_columns; c++) {
		struct json_object *values = json_object_array_get_idx(list, c);

		if (!json_object_is_type(values, json_type_array) ||
		    json_object_array_length(values) != (size_t)f->nr_repeats) {
			fail(rd, where, "values of %d repeats are expected", f->nr_repeats);
			return;
		}
		for (r = 0; r < f->nr_repeats; r++) {
			struct json_object *value = json_object_array_get_idx(values, r);
			double x = value ? json_object_get_double(value) : NAN;

			if (value && ((!json_object_is_type(value, json_type_double) &&
				       !json_object_is_type(value, json_type_int)) ||
				      !isfinite(x)))
				fail(rd, where, "numbers or null are expected as values");
			figures__set(f, row, c, r, x);
		}
	}
}

static void read_row(struct reader *rd, struct json_object *obj, int i)
{
	struct figures *f = &rd->t->figures;
	struct json_object *values, *reason = NULL;
	struct figure *row;
	const char *name;
	char where[32];

	snprintf(where, sizeof(where), "rows[%d]", i);
	name = get_name(rd, obj, FIGURES_NAME_MAX, where);
	values = get(rd, obj, "values", json_type_array, where);
	if (rd->err)
		return;
	if (figures__find(f, name)) {
		fail(rd, where, "there are two rows of the name \"%.60s\"", name);
		return;
	}
	if (json_object_object_get_ex(obj, "reason", &reason) && reason) {
		if (!json_object_is_type(reason, json_type_string) ||
		    !is_clean(json_object_get_string(reason), json_object_get_string_len(reason),
			      false))
			fail(rd, where,
			     "a reason without control characters, or null, is expected");
		else if (json_object_array_length(values))
			fail(rd, where, "no values are expected beside a reason");
		else if (!figures__add_missing(f, name, json_object_get_string(reason)))
			no_memory(rd);
		return;
	}
	row = figures__add(f, name);
	if (!row) {
		no_memory(rd);
		return;
	}
	row->detail = get_lines(rd, obj, "detail", where);
	read_values(rd, values, row, where);
}

struct figures *results_figures__read(struct json_object *obj, int nr_repeats, char *where,
				      size_t where_size, char *what, size_t what_size)
{
	struct reader rd = { zalloc(sizeof(*rd.t)), where, what, where_size, what_size, 0 };
	struct json_object *columns, *rows, *lower;
	int nr_columns = 0;
	size_t i;

	if (!rd.t) {
		errno = ENOMEM;
		return NULL;
	}
	columns = get(&rd, obj, "columns", json_type_array, "columns");
	rows = get(&rd, obj, "rows", json_type_array, "rows");
	lower = get(&rd, obj, "lower_bound", json_type_boolean, "lower_bound");
	if (columns && (!json_object_array_length(columns) ||
			json_object_array_length(columns) > FIGURES_MAX_COLUMNS))
		fail(&rd, "columns", "1 to %d of them are expected", FIGURES_MAX_COLUMNS);
	if (rows && json_object_array_length(rows) > FIGURES_MAX_ROWS)
		fail(&rd, "rows", "at most %d of them are expected", FIGURES_MAX_ROWS);
	for (i = 0; !rd.err && i < json_object_array_length(columns); i++)
		read_column(&rd, json_object_array_get_idx(columns, i), nr_columns++);
	figures__reset(&rd.t->figures, "", rd.t->columns, nr_columns, nr_repeats);
	for (i = 0; !rd.err && i < json_object_array_length(rows); i++)
		read_row(&rd, json_object_array_get_idx(rows, i), i);
	if (!rd.err) {
		rd.t->figures.lower_bound = json_object_get_boolean(lower);
		rd.t->figures.notes = get_lines(&rd, obj, "notes", "notes");
	}
	if (rd.err) {
		results_figures__free(&rd.t->figures);
		errno = rd.err;
		return NULL;
	}
	return &rd.t->figures;
}

void results_figures__free(struct figures *f)
{
	if (!f)
		return;
	figures__free(f);
	free(container_of(f, struct table, figures));
}
