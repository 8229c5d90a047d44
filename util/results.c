// SPDX-License-Identifier: GPL-2.0
/*
 * results.c: results files, read back
 *
 * All that is read is checked, so that those who compare need not: a wrong number must not end as a
 * wrong conclusion. The first error is kept, with the way to the member that it was found in; what
 * is asked for after it is not looked at any more.
 *
 * What Documentation/results-format.txt lists and is not kept here may be missing; if it is there,
 * its type is checked all the same.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include "figures.h"
#include "json-parse.h"
#include "results.h"
#include "results-figures.h"

#define FORMAT_NAME	"perf-kbench-results"
#define FORMAT_VERSION	1
#define MAX_TASKS	65536
#define MAX_SIZE	((size_t)INT_MAX)	/* of a file */
#define READ_SIZE	1048576			/* bytes at a time */
#define TOO_BIG		"less than 2 GiB is expected"
#define RATE_ERROR	0.000001		/* a part of the rate */

struct reader {
	const char	*path;		/* as messages name it */
	char		*why;
	size_t		why_size, used;
	int		err;		/* the first, -errno */
	bool		imported;	/* others' output: what it does not tell is null */
};

/* Where in the file: a member of what is above it or, without a name, an element. */
struct place {
	const struct place	*up;
	const char		*name;
	size_t			index;
};

#define MEMBER(above, member)	(&(struct place){ .up = (above), .name = (member) })
#define ELEMENT(above, i)	(&(struct place){ .up = (above), .index = (i) })

enum presence {
	REQUIRED,
	NULLABLE,	/* it must be there, but may be null */
	OPTIONAL,	/* neither that */
};

static void put_text(struct reader *rd, const char *fmt, va_list ap)
{
	int len;

	if (rd->used >= rd->why_size)
		return;
	len = vsnprintf(rd->why + rd->used, rd->why_size - rd->used, fmt, ap);
	if (len > 0)
		rd->used += len;
}

static __printf(2, 3) void put(struct reader *rd, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_text(rd, fmt, ap);
	va_end(ap);
}

static void put_place(struct reader *rd, const struct place *at)
{
	if (at->up)
		put_place(rd, at->up);
	if (at->name)
		put(rd, "%s%s", at->up ? "." : "", at->name);
	else
		put(rd, "[%zu]", at->index);
}

/* Names come from the file, and messages go to terminals: nothing in them may control these. */
static void clean_text(struct reader *rd)
{
	size_t i;

	for (i = 0; i < rd->why_size && rd->why[i]; i++) {
		if ((unsigned char)rd->why[i] < 0x20 || rd->why[i] == 0x7f)
			rd->why[i] = '?';
	}
}

/* @at: the member that is wrong, or NULL for the file as a whole */
static __printf(4, 5) void fail(struct reader *rd, int err, const struct place *at,
				const char *fmt, ...)
{
	va_list ap;

	if (rd->err)
		return;
	rd->err = err;
	rd->used = 0;
	put(rd, "%s: ", rd->path);
	if (at) {
		put_place(rd, at);
		put(rd, ": ");
	}
	va_start(ap, fmt);
	put_text(rd, fmt, ap);
	va_end(ap);
	clean_text(rd);
}

/* Memory that is zero, of one element at least; NULL after an error. */
static void *alloc(struct reader *rd, size_t nr, size_t size)
{
	void *mem = rd->err ? NULL : calloc(nr ?: 1, size);

	if (!mem)
		fail(rd, -ENOMEM, NULL, "out of memory");
	return mem;
}

static char *copy_text(struct reader *rd, const char *text)
{
	char *copy = rd->err ? NULL : strdup(text);

	if (!copy)
		fail(rd, -ENOMEM, NULL, "out of memory");
	return copy;
}

/* Text that is put together; end_text() returns it, or NULL after an error. */
struct text {
	FILE	*file;
	char	*mem;
	size_t	size;
};

static FILE *begin_text(struct text *t)
{
	*t = (struct text){ .file = NULL };
	t->file = open_memstream(&t->mem, &t->size);
	return t->file;
}

static char *end_text(struct text *t)
{
	bool bad = !t->file || ferror(t->file);

	if (t->file && fclose(t->file))
		bad = true;
	if (bad) {
		free(t->mem);
		t->mem = NULL;
	}
	return t->mem;
}

static const char *type_name(enum json_type type)
{
	switch (type) {
	case json_type_boolean:
		return "true or false";
	case json_type_double:
		return "a number";
	case json_type_int:
		return "a whole number";
	case json_type_object:
		return "an object";
	case json_type_array:
		return "an array";
	case json_type_string:
		return "a string";
	case json_type_null:
	default:
		return "null";
	}
}

static bool check_type(struct reader *rd, const struct place *at, struct json_object *value,
		       enum json_type type)
{
	enum json_type is = json_object_get_type(value);

	if (rd->err)
		return false;
	if (is == type || (is == json_type_int && type == json_type_double))
		return true;
	fail(rd, -EINVAL, at, "%s is expected, there is %s", type_name(type),
	     is == json_type_double ? json_object_get_string(value) : type_name(is));
	return false;
}

/* A member of that type, or NULL: null or not there where that is allowed, or after an error. */
static struct json_object *get(struct reader *rd, const struct place *up, struct json_object *obj,
			       const char *name, enum json_type type, enum presence presence)
{
	struct json_object *value;

	if (rd->err)
		return NULL;
	if (!json_object_object_get_ex(obj, name, &value)) {
		if (presence != OPTIONAL)
			fail(rd, -EINVAL, MEMBER(up, name), "%s is expected, it is missing",
			     type_name(type));
		return NULL;
	}
	if (!value && presence != REQUIRED)
		return NULL;
	return check_type(rd, MEMBER(up, name), value, type) ? value : NULL;
}

static u64 check_u64(struct reader *rd, const struct place *at, struct json_object *value, u64 min,
		     u64 max)
{
	u64 number;

	if (!check_type(rd, at, value, json_type_int))
		return min;
	number = json_object_get_uint64(value);
	if (json_object_get_int64(value) >= 0 && number >= min && number <= max)
		return number;
	if (max == ULLONG_MAX)
		fail(rd, -EINVAL, at, "at least %llu is expected, there is %s",
		     (unsigned long long)min, json_object_get_string(value));
	else
		fail(rd, -EINVAL, at, "%llu to %llu is expected, there is %s",
		     (unsigned long long)min, (unsigned long long)max,
		     json_object_get_string(value));
	return min;
}

static s64 check_s64(struct reader *rd, const struct place *at, struct json_object *value)
{
	if (!check_type(rd, at, value, json_type_int))
		return 0;
	if (json_object_get_int64(value) >= 0 && json_object_get_uint64(value) > LLONG_MAX)
		fail(rd, -EINVAL, at, "at most %lld is expected, there is %s", LLONG_MAX,
		     json_object_get_string(value));
	return json_object_get_int64(value);
}

static double check_real(struct reader *rd, const struct place *at, struct json_object *value)
{
	double number;

	if (!check_type(rd, at, value, json_type_double))
		return NAN;
	number = json_object_get_double(value);
	if (!isfinite(number))
		fail(rd, -EINVAL, at, "a number up to 1.8e308 is expected, there is %s",
		     json_object_get_string(value));
	return number;
}

/* Text without what would move a terminal's cursor, and not empty unless @empty. */
static const char *check_label(struct reader *rd, const struct place *at, struct json_object *value,
			       bool empty)
{
	const char *text, *p;

	if (!check_type(rd, at, value, json_type_string))
		return "";
	text = json_object_get_string(value);
	for (p = text; (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
		;
	if (*p)
		fail(rd, -EINVAL, at, "text without control characters is expected");
	else if (!*text && !empty)
		fail(rd, -EINVAL, at, "text is expected, there is none");
	return text;
}

static u64 get_u64(struct reader *rd, const struct place *up, struct json_object *obj,
		   const char *name, enum presence presence, u64 min, u64 max)
{
	struct json_object *value = get(rd, up, obj, name, json_type_int, presence);

	return value ? check_u64(rd, MEMBER(up, name), value, min, max) : 0;
}

/* None of the numbers of a point may be negative, but @ratio. */
static double get_real(struct reader *rd, const struct place *up, struct json_object *obj,
		       const char *name, enum presence presence)
{
	struct json_object *value = get(rd, up, obj, name, json_type_double, presence);
	double number;

	if (!value)
		return NAN;
	number = check_real(rd, MEMBER(up, name), value);
	if (number < 0)
		fail(rd, -EINVAL, MEMBER(up, name), "at least 0 is expected, there is %s",
		     json_object_get_string(value));
	return number;
}

static bool get_bool(struct reader *rd, const struct place *up, struct json_object *obj,
		     const char *name)
{
	return json_object_get_boolean(get(rd, up, obj, name, json_type_boolean, REQUIRED));
}

static char *get_text(struct reader *rd, const struct place *up, struct json_object *obj,
		      const char *name, enum presence presence)
{
	struct json_object *value = get(rd, up, obj, name, json_type_string, presence);

	return value ? copy_text(rd, json_object_get_string(value)) : NULL;
}

/* Of what we know of each run of our own, but others may not tell. */
static enum presence known(const struct reader *rd)
{
	return rd->imported ? NULLABLE : REQUIRED;
}

static char *get_label(struct reader *rd, const struct place *up, struct json_object *obj,
		       const char *name, enum presence presence, bool empty)
{
	struct json_object *value = get(rd, up, obj, name, json_type_string, presence);

	return value ? copy_text(rd, check_label(rd, MEMBER(up, name), value, empty)) : NULL;
}

/* One of @words, which have a NULL at their end; or NULL for null, if it may be. */
static char *get_word(struct reader *rd, const struct place *up, struct json_object *obj,
		      const char *name, enum presence presence, const char * const *words)
{
	char *text = get_label(rd, up, obj, name, presence, false), list[128] = "";
	size_t used = 0;
	int i;

	if (rd->err || !text)
		return text;
	for (i = 0; words[i]; i++) {
		if (!strcmp(text, words[i]))
			return text;
		used += scnprintf(list + used, sizeof(list) - used, "%s\"%s\"",
				  !i ? "" : words[i + 1] ? ", " : " or ", words[i]);
	}
	fail(rd, -EINVAL, MEMBER(up, name), "%s is expected, there is \"%s\"", list, text);
	return text;
}

/* An array and how many elements it has. */
static struct json_object *get_array(struct reader *rd, const struct place *up,
				     struct json_object *obj, const char *name,
				     enum presence presence, int *nr)
{
	struct json_object *list = get(rd, up, obj, name, json_type_array, presence);

	*nr = list ? json_object_array_length(list) : 0;
	return list;
}

/* The same of one that is to have @want elements. */
static struct json_object *get_row(struct reader *rd, const struct place *up,
				   struct json_object *obj, const char *name,
				   enum presence presence, int want)
{
	int nr;
	struct json_object *list = get_array(rd, up, obj, name, presence, &nr);

	if (list && nr != want)
		fail(rd, -EINVAL, MEMBER(up, name), "%d value%s expected, there %s %d", want,
		     want == 1 ? " is" : "s are", nr == 1 ? "is" : "are", nr);
	return rd->err ? NULL : list;
}

/* What writes one element of an array; a wrong one is told with fail(). */
typedef void (*put_element_fn)(struct reader *rd, const struct place *at, struct json_object *value,
			       FILE *file);

/* An array as one text, its elements written by @put_element with @between between them. */
static char *get_list(struct reader *rd, const struct place *up, struct json_object *obj,
		      const char *name, enum presence presence, const char *between,
		      put_element_fn put_element)
{
	int i, nr;
	struct json_object *list = get_array(rd, up, obj, name, presence, &nr);
	const struct place *at = MEMBER(up, name);
	struct text t;
	char *text;

	if (!list)
		return NULL;
	begin_text(&t);
	for (i = 0; t.file && i < nr; i++) {
		if (i)
			fputs(between, t.file);
		put_element(rd, ELEMENT(at, i), json_object_array_get_idx(list, i), t.file);
	}
	text = end_text(&t);
	if (!text)
		fail(rd, -ENOMEM, NULL, "out of memory");
	return text;
}

/* The name of a flag, which has no blanks. */
static void put_flag(struct reader *rd, const struct place *at, struct json_object *value,
		     FILE *file)
{
	const char *flag = check_label(rd, at, value, false);

	if (flag[strcspn(flag, " ")])
		fail(rd, -EINVAL, at, "one word is expected");
	fputs(flag, file);
}

static char *get_flags(struct reader *rd, const struct place *up, struct json_object *obj)
{
	return get_list(rd, up, obj, "flags", REQUIRED, " ", put_flag);
}

static void check_strings(struct reader *rd, const struct place *up, struct json_object *obj,
			  const char *name)
{
	int i, nr;
	struct json_object *list = get_array(rd, up, obj, name, OPTIONAL, &nr);

	for (i = 0; i < nr; i++)
		check_type(rd, ELEMENT(MEMBER(up, name), i), json_object_array_get_idx(list, i),
			   json_type_string);
}

static void read_window(struct reader *rd, const struct place *at, struct json_object *list,
			struct results_window *win)
{
	size_t nr;

	if (!check_type(rd, at, list, json_type_array))
		return;
	nr = json_object_array_length(list);
	if (nr != 4) {
		fail(rd, -EINVAL, at, "4 values are expected, there %s %zu", nr == 1 ? "is" : "are",
		     nr);
		return;
	}
	win->start_ns = check_s64(rd, ELEMENT(at, 0), json_object_array_get_idx(list, 0));
	win->end_ns = check_s64(rd, ELEMENT(at, 1), json_object_array_get_idx(list, 1));
	win->ops = check_u64(rd, ELEMENT(at, 2), json_object_array_get_idx(list, 2), 0, ULLONG_MAX);
	check_type(rd, ELEMENT(at, 3), json_object_array_get_idx(list, 3), json_type_boolean);
	win->dropped = json_object_get_boolean(json_object_array_get_idx(list, 3));
	if (win->end_ns < win->start_ns)
		fail(rd, -EINVAL, ELEMENT(at, 1),
		     "at least %lld, its start, is expected; there is %lld",
		     (long long)win->start_ns, (long long)win->end_ns);
}

/* The windows that count make up what is said of the repeat. */
static void check_sums(struct reader *rd, const struct place *up, const struct results_repeat *rep)
{
	u64 ops = 0, ns = 0;
	bool over = false;
	int w;

	for (w = 0; w < rep->nr_windows; w++) {
		const struct results_window *win = &rep->windows[w];

		if (win->dropped)
			continue;
		over |= __builtin_add_overflow(ops, win->ops, &ops);
		over |= __builtin_add_overflow(ns, (u64)win->end_ns - (u64)win->start_ns, &ns);
	}
	if (over)
		fail(rd, -EINVAL, MEMBER(up, "windows"), "sums of up to 64 bits are expected");
	if (ops != rep->ops)
		fail(rd, -EINVAL, MEMBER(up, "ops"),
		     "%llu is expected, the sum of the windows; there is %llu",
		     (unsigned long long)ops, (unsigned long long)rep->ops);
	if (ns != rep->elapsed_ns)
		fail(rd, -EINVAL, MEMBER(up, "elapsed_ns"),
		     "%llu is expected, the sum of the windows; there is %llu",
		     (unsigned long long)ns, (unsigned long long)rep->elapsed_ns);
}

/* Return: whether they are there. */
static bool read_windows(struct reader *rd, const struct place *up, struct json_object *obj,
			 struct results_repeat *rep)
{
	int w, nr;
	struct json_object *list = get_array(rd, up, obj, "windows", known(rd), &nr);
	const struct place *at = MEMBER(up, "windows");

	rep->windows = alloc(rd, nr, sizeof(*rep->windows));
	for (w = 0; w < nr && !rd->err; w++) {
		struct results_window *win = &rep->windows[w];

		read_window(rd, ELEMENT(at, w), json_object_array_get_idx(list, w), win);
		if (w && win->start_ns < win[-1].end_ns)
			fail(rd, -EINVAL, ELEMENT(ELEMENT(at, w), 0),
			     "at least %lld is expected, the end of the window before; there is %lld",
			     (long long)win[-1].end_ns, (long long)win->start_ns);
	}
	rep->nr_windows = rd->err ? 0 : nr;
	json_object_object_del(obj, "windows");		/* they take ten times as much there */
	return list;
}

/* What each task did, and how evenly: Jain's index, (sum x)^2 / (n sum x^2). */
static void read_task_ops(struct reader *rd, const struct place *up, struct json_object *obj,
			  int nr_tasks, struct results_repeat *rep)
{
	struct json_object *list = get_row(rd, up, obj, "task_ops", known(rd), nr_tasks);
	const struct place *at = MEMBER(up, "task_ops");
	double sum = 0, squares = 0;
	bool over = false;
	u64 ops = 0;
	int i;

	for (i = 0; list && i < nr_tasks; i++) {
		u64 n = check_u64(rd, ELEMENT(at, i), json_object_array_get_idx(list, i), 0,
				  ULLONG_MAX);

		over |= __builtin_add_overflow(ops, n, &ops);
		sum += n;
		squares += (double)n * n;
	}
	if (list && (over || ops != rep->ops))
		fail(rd, -EINVAL, at, "they are expected to add up to %llu, as ops says",
		     (unsigned long long)rep->ops);
	rep->jain = squares > 0 ? sum * sum / (nr_tasks * squares) : NAN;
}

static void check_task_row(struct reader *rd, const struct place *up, struct json_object *obj,
			   const char *name, int nr_tasks, bool is_signed)
{
	struct json_object *list = get_row(rd, up, obj, name, OPTIONAL, nr_tasks);
	const struct place *at = MEMBER(up, name);
	int i;

	for (i = 0; list && i < nr_tasks; i++) {
		struct json_object *value = json_object_array_get_idx(list, i);

		if (is_signed)
			check_s64(rd, ELEMENT(at, i), value);
		else
			check_u64(rd, ELEMENT(at, i), value, 0, ULLONG_MAX);
	}
}

static void check_rate(struct reader *rd, const struct place *up, const struct results_repeat *rep)
{
	double want = rep->ops * (double)NSEC_PER_SEC / rep->elapsed_ns;

	if (isnan(rep->rate))
		return;
	if (!rep->elapsed_ns)
		fail(rd, -EINVAL, MEMBER(up, "rate"), "null is expected, as elapsed_ns is 0");
	else if (fabs(rep->rate - want) > RATE_ERROR * want)
		fail(rd, -EINVAL, MEMBER(up, "rate"),
		     "%.15g is expected, ops a second of elapsed_ns; there is %.15g", want,
		     rep->rate);
}

/* A rate that stands alone: others have counted and timed, and tell no more. */
static bool is_bare(const struct reader *rd, struct json_object *obj)
{
	return rd->imported && !json_object_object_get(obj, "ops") &&
	       !json_object_object_get(obj, "elapsed_ns") &&
	       !json_object_object_get(obj, "task_ops") && !json_object_object_get(obj, "windows");
}

static void read_repeat(struct reader *rd, const struct place *at, struct json_object *obj,
			int nr_tasks, bool total, struct results_repeat *rep)
{
	bool bare, windows;

	if (!check_type(rd, at, obj, json_type_object))
		return;
	bare = is_bare(rd, obj);
	rep->gate_ns = get_u64(rd, at, obj, "gate_ns", known(rd), 0, ULLONG_MAX);
	rep->elapsed_ns = get_u64(rd, at, obj, "elapsed_ns", bare ? NULLABLE : REQUIRED, 0,
				  ULLONG_MAX);
	rep->ops = get_u64(rd, at, obj, "ops", bare ? NULLABLE : REQUIRED, 0, ULLONG_MAX);
	rep->rate = get_real(rd, at, obj, "rate", NULLABLE);
	rep->flags = get_flags(rd, at, obj);
	windows = read_windows(rd, at, obj, rep);
	if (!total && windows)
		check_sums(rd, at, rep);
	rep->jain = NAN;
	read_task_ops(rd, at, obj, nr_tasks, rep);
	if (!bare)
		check_rate(rd, at, rep);

	get_u64(rd, at, obj, "ops_all", OPTIONAL, 0, ULLONG_MAX);
	get_u64(rd, at, obj, "start_skew_ns", OPTIONAL, 0, ULLONG_MAX);
	check_task_row(rd, at, obj, "task_ops_all", nr_tasks, false);
	check_task_row(rd, at, obj, "task_start_ns", nr_tasks, true);
	check_task_row(rd, at, obj, "task_done_ns", nr_tasks, true);
	check_task_row(rd, at, obj, "task_cpu", nr_tasks, true);
	check_task_row(rd, at, obj, "task_nvcsw", nr_tasks, false);
	check_task_row(rd, at, obj, "task_nivcsw", nr_tasks, false);
	get(rd, at, obj, "window_ops", json_type_array, OPTIONAL);
}

static void read_repeats(struct reader *rd, const struct place *up, struct json_object *obj,
			 bool total, struct results_point *pt)
{
	int r, nr;
	struct json_object *list = get_array(rd, up, obj, "repeats", REQUIRED, &nr);
	const struct place *at = MEMBER(up, "repeats");

	pt->repeats = alloc(rd, nr, sizeof(*pt->repeats));
	for (r = 0; r < nr && !rd->err; r++) {
		struct results_repeat *rep = &pt->repeats[pt->nr_repeats++];

		read_repeat(rd, ELEMENT(at, r), json_object_array_get_idx(list, r), pt->tasks,
			    total, rep);
		if (r && (!rd->imported || rep->gate_ns) && rep->gate_ns <= rep[-1].gate_ns)
			fail(rd, -EINVAL, MEMBER(ELEMENT(at, r), "gate_ns"),
			     "more than %llu is expected, that of the repeat before; there is %llu",
			     (unsigned long long)rep[-1].gate_ns, (unsigned long long)rep->gate_ns);
	}
}

static void read_metric(struct reader *rd, const struct place *at, struct json_object *obj,
			int nr_repeats, struct results_metric *metric)
{
	const struct place *values = MEMBER(at, "values");
	struct json_object *list;
	int r;

	if (!check_type(rd, at, obj, json_type_object))
		return;
	metric->unit = get_label(rd, at, obj, "unit", REQUIRED, true);
	list = get_row(rd, at, obj, "values", REQUIRED, nr_repeats);
	metric->values = alloc(rd, nr_repeats, sizeof(*metric->values));
	for (r = 0; r < nr_repeats && !rd->err; r++) {
		struct json_object *value = json_object_array_get_idx(list, r);

		metric->values[r] = value ? check_real(rd, ELEMENT(values, r), value) : NAN;
	}
}

static void read_metrics(struct reader *rd, const struct place *up, struct json_object *obj,
			 struct results_point *pt)
{
	struct json_object *metrics = get(rd, up, obj, "metrics", json_type_object, REQUIRED);
	const struct place *at = MEMBER(up, "metrics");
	struct json_object_iter member;

	if (!metrics)
		return;
	pt->metrics = alloc(rd, json_object_object_length(metrics), sizeof(*pt->metrics));
	json_object_object_foreachC(metrics, member) {
		struct results_metric *metric;
		struct json_object *name;

		if (rd->err)
			break;
		metric = &pt->metrics[pt->nr_metrics++];
		name = json_object_new_string(member.key);
		if (name)
			metric->name = copy_text(rd, check_label(rd, MEMBER(at, member.key), name,
								 false));
		else
			fail(rd, -ENOMEM, NULL, "out of memory");
		json_object_put(name);
		read_metric(rd, MEMBER(at, member.key), member.val, pt->nr_repeats, metric);
	}
}

/* A point that is valid has what is computed from it. */
static void check_valid(struct reader *rd, const struct place *at, const struct results_point *pt)
{
	if (!pt->valid)
		return;
	if (isnan(pt->rate))
		fail(rd, -EINVAL, MEMBER(at, "rate"),
		     "a number is expected, as the point is valid");
	if (pt->skip)
		fail(rd, -EINVAL, MEMBER(at, "skip"), "null is expected, as the point is valid");
	if (!pt->nr_repeats)
		fail(rd, -EINVAL, MEMBER(at, "repeats"),
		     "at least one is expected, as the point is valid");
}

/* A table of what an instrument has found. */
static void read_figures(struct reader *rd, const struct place *up, struct json_object *obj,
			 struct results_point *pt)
{
	struct json_object *figures = get(rd, up, obj, "figures", json_type_object, OPTIONAL);
	const struct place *at = MEMBER(up, "figures");
	char where[64], what[128];

	if (!figures)
		return;
	pt->figures = results_figures__read(figures, pt->nr_repeats, where, sizeof(where), what,
					    sizeof(what));
	if (!pt->figures && errno == ENOMEM)
		fail(rd, -ENOMEM, NULL, "out of memory");
	else if (!pt->figures)
		fail(rd, -EINVAL, MEMBER(at, where), "%s", what);
	json_object_object_del(obj, "figures");
}

static void read_point(struct reader *rd, const struct place *at, struct json_object *obj,
		       bool total, struct results_point *pt)
{
	if (!check_type(rd, at, obj, json_type_object))
		return;
	pt->variant = get_label(rd, at, obj, "variant", REQUIRED, true);
	pt->tasks = get_u64(rd, at, obj, "tasks", REQUIRED, 1, MAX_TASKS);
	pt->cpus = get_u64(rd, at, obj, "cpus", known(rd), 0, INT_MAX);
	pt->rate = get_real(rd, at, obj, "rate", NULLABLE);
	pt->ci95 = get_real(rd, at, obj, "ci95", NULLABLE);
	pt->elapsed_sec = get_real(rd, at, obj, "elapsed_sec", NULLABLE);
	pt->valid = get_bool(rd, at, obj, "valid");
	pt->flags = get_flags(rd, at, obj);
	pt->skip = get_text(rd, at, obj, "skip", NULLABLE);
	read_repeats(rd, at, obj, total, pt);
	read_metrics(rd, at, obj, pt);
	read_figures(rd, at, obj, pt);
	check_valid(rd, at, pt);

	get_real(rd, at, obj, "us_per_op", OPTIONAL);
	get_real(rd, at, obj, "ratio", OPTIONAL);
	get_real(rd, at, obj, "ratio_ci95", OPTIONAL);
	get_real(rd, at, obj, "task_min", OPTIONAL);
	get_real(rd, at, obj, "task_max", OPTIONAL);
	get_real(rd, at, obj, "jain", OPTIONAL);
	get_u64(rd, at, obj, "start_skew_ns", OPTIONAL, 0, ULLONG_MAX);
	check_strings(rd, at, obj, "notes");
}

static void read_points(struct reader *rd, const struct place *up, struct json_object *obj,
			struct results_bench *bench)
{
	int i, nr;
	struct json_object *list = get_array(rd, up, obj, "points", REQUIRED, &nr);
	const struct place *at = MEMBER(up, "points");

	bench->points = alloc(rd, nr, sizeof(*bench->points));
	for (i = 0; i < nr && !rd->err; i++)
		read_point(rd, ELEMENT(at, i), json_object_array_get_idx(list, i), !!bench->total,
			   &bench->points[bench->nr_points++]);
}

static void put_cpu(struct reader *rd, const struct place *at, struct json_object *value,
		    FILE *file)
{
	fprintf(file, "%d", (int)check_u64(rd, at, value, 0, INT_MAX));
}

static void read_dir(struct reader *rd, const struct place *up, struct json_object *obj,
		     struct results_bench *bench)
{
	struct json_object *dir = get(rd, up, obj, "dir", json_type_object, NULLABLE);
	const struct place *at = MEMBER(up, "dir");

	if (!dir)
		return;
	bench->dir_path = get_text(rd, at, dir, "path", NULLABLE);
	bench->dir_fs = get_text(rd, at, dir, "fs", NULLABLE);
	bench->dir_options = get_text(rd, at, dir, "mount_options", NULLABLE);
}

static void read_parameters(struct reader *rd, const struct place *up, struct json_object *obj,
			    struct results_bench *bench)
{
	const struct place *at = MEMBER(up, "parameters");
	struct json_object_iter member;

	bench->parameters = get(rd, up, obj, "parameters", json_type_object, REQUIRED);
	if (!bench->parameters)
		return;
	json_object_object_foreachC(bench->parameters, member) {
		check_type(rd, MEMBER(at, member.key), member.val, json_type_string);
	}
}

static void read_bench(struct reader *rd, const struct place *at, struct json_object *obj,
		       struct results_bench *bench)
{
	static const char * const modes[] = { "process", "thread", NULL };
	static const char * const pins[] = { "spread", "compact", "core", "none", NULL };
	static const char * const statuses[] = {
		"ok", "failed", "usage", "skipped", "interrupted", NULL
	};
	struct json_object *list;
	int i, nr;

	if (!check_type(rd, at, obj, json_type_object))
		return;
	bench->name = get_label(rd, at, obj, "name", REQUIRED, false);
	bench->unit = get_label(rd, at, obj, "unit", REQUIRED, false);
	read_parameters(rd, at, obj, bench);
	bench->mode = get_word(rd, at, obj, "mode", known(rd), modes);
	bench->pin = get_word(rd, at, obj, "pin", known(rd), pins);
	bench->cpus = get_list(rd, at, obj, "cpus", known(rd), ",", put_cpu);
	read_dir(rd, at, obj, bench);
	bench->duration_ns = get_u64(rd, at, obj, "duration_ns", NULLABLE, 0, ULLONG_MAX);
	bench->warmup_ns = get_u64(rd, at, obj, "warmup_ns", known(rd), 0, ULLONG_MAX);
	bench->window_ns = get_u64(rd, at, obj, "window_ns", known(rd), 0, ULLONG_MAX);
	bench->loops = get_u64(rd, at, obj, "loops", NULLABLE, 0, ULLONG_MAX);
	bench->total = get_u64(rd, at, obj, "total", NULLABLE, 0, ULLONG_MAX);
	bench->repeats = get_u64(rd, at, obj, "repeats", known(rd), 0, INT_MAX);
	read_points(rd, at, obj, bench);
	bench->status = get_word(rd, at, obj, "status", REQUIRED, statuses);
	bench->message = get_text(rd, at, obj, "message", NULLABLE);

	list = get_array(rd, at, obj, "task_counts", OPTIONAL, &nr);
	for (i = 0; i < nr; i++)
		check_u64(rd, ELEMENT(MEMBER(at, "task_counts"), i),
			  json_object_array_get_idx(list, i), 1, MAX_TASKS);
	check_strings(rd, at, obj, "variants");
	if (get(rd, at, obj, "instrument", json_type_string, OPTIONAL))
		bench->instrument = get_label(rd, at, obj, "instrument", REQUIRED, false);
	for (i = 0; i < bench->nr_points; i++) {
		if (bench->points[i].figures)
			bench->points[i].figures->kind = bench->instrument ?: "";
	}
}

static struct results_bench *read_benches(struct reader *rd, struct json_object *root,
					  const char *name, enum presence presence, int *nr_read)
{
	const struct place *at = MEMBER(NULL, name);
	struct results_bench *benches;
	int i, nr;
	struct json_object *list = get_array(rd, NULL, root, name, presence, &nr);

	benches = alloc(rd, nr, sizeof(*benches));
	for (i = 0; list && i < nr && !rd->err; i++)
		read_bench(rd, ELEMENT(at, i), json_object_array_get_idx(list, i),
			   &benches[(*nr_read)++]);
	return benches;
}

/* Quoted where a shell needs it; the first word would be an assignment with a bare = in it. */
static void put_quoted(FILE *file, const char *word, bool first)
{
	const char *p, *marks = first ? "_@%+:,./-" : "_@%+:,./-=";

	for (p = word; *p; p++) {
		if (!(isascii(*p) && isalnum(*p)) && !strchr(marks, *p))
			break;
	}
	if (p > word && !*p) {
		fputs(word, file);
		return;
	}
	fputc('\'', file);
	for (p = word; *p; p++) {
		if (*p == '\'')
			fputs("'\\''", file);
		else
			fputc(*p, file);
	}
	fputc('\'', file);
}

static void put_word(struct reader *rd, const struct place *at, struct json_object *value,
		     FILE *file)
{
	if (check_type(rd, at, value, json_type_string))
		put_quoted(file, json_object_get_string(value), !at->index);
}

static void check_format(struct reader *rd, struct json_object *root)
{
	struct json_object *format, *version;
	u64 number;

	if (!json_object_object_get_ex(root, "format", &format) ||
	    !json_object_is_type(format, json_type_string) ||
	    strcmp(json_object_get_string(format), FORMAT_NAME)) {
		fail(rd, -EINVAL, NULL, "is no perf-kbench results file: it has no format \"%s\"",
		     FORMAT_NAME);
		return;
	}
	version = get(rd, NULL, root, "version", json_type_int, REQUIRED);
	if (!version)
		return;
	number = check_u64(rd, MEMBER(NULL, "version"), version, 1, ULLONG_MAX);
	if (number > FORMAT_VERSION)
		fail(rd, -ENOTSUP, MEMBER(NULL, "version"),
		     "up to %d is expected, there is %llu: update perf-kbench to read this file",
		     FORMAT_VERSION, (unsigned long long)number);
}

/* Where it is from, if it is not from a run of ours. */
static void read_origin(struct reader *rd, struct json_object *root, struct results *res)
{
	struct json_object *origin = get(rd, NULL, root, "origin", json_type_object, OPTIONAL);
	const struct place *at = MEMBER(NULL, "origin");

	if (!origin)
		return;
	rd->imported = true;
	res->origin = get_label(rd, at, origin, "format", REQUIRED, false);
	res->origin_file = get_text(rd, at, origin, "file", NULLABLE);
	res->imported = get_text(rd, at, origin, "imported", NULLABLE);
}

/* All of a file, whose text has been parsed already. Takes @root. */
static struct results *read_root(struct reader *rd, const char *path, struct json_object *root)
{
	struct results *res = alloc(rd, 1, sizeof(*res));

	if (!res) {
		json_object_put(root);
		return NULL;
	}
	res->root = root;
	check_format(rd, root);
	read_origin(rd, root, res);
	res->path = copy_text(rd, path);
	res->command = get_list(rd, NULL, root, "command", REQUIRED, " ", put_word);
	res->environment = get(rd, NULL, root, "environment", json_type_object, NULLABLE);
	res->benches = read_benches(rd, root, "benchmarks", REQUIRED, &res->nr_benches);
	res->passes = read_benches(rd, root, "passes", OPTIONAL, &res->nr_passes);
	res->complete = get_bool(rd, NULL, root, "complete");
	if (rd->err) {
		results__free(res);
		return NULL;
	}
	return res;
}

/* Nothing but white space, or '{' behind it? */
static bool may_be_object(const char *text, size_t size)
{
	size_t i = 0;

	while (i < size && text[i] && strchr(" \t\r\n", text[i]))
		i++;
	return i == size || text[i] == '{';
}

/* The object in a text, or NULL. */
static struct json_object *parse(struct reader *rd, const char *text, size_t size)
{
	struct json_object *root = NULL;

	if (size > MAX_SIZE) {		/* so any count in it fits an int */
		fail(rd, -EFBIG, NULL, TOO_BIG);
	} else if (!size) {
		fail(rd, -EINVAL, NULL, "is empty");
	} else if (!may_be_object(text, size)) {
		fail(rd, -EINVAL, NULL, "is no perf-kbench results file: '{' is expected first");
	} else {
		put(rd, "%s:", rd->path);
		rd->used = min(rd->used, rd->why_size);
		root = json_parse(text, size, "window_ops", rd->why + rd->used,
				  rd->why_size - rd->used);
		if (!root)
			rd->err = -errno;
		clean_text(rd);
	}
	return root;
}

static struct results *finish(struct reader *rd, struct results *res)
{
	if (rd->err)
		errno = -rd->err;
	else if (rd->why_size)
		*rd->why = '\0';
	return res;
}

struct results *results__parse(const char *path, const char *text, size_t size, char *why,
			       size_t why_size)
{
	struct reader rd = { .path = path, .why = why, .why_size = why_size };
	struct json_object *root;

	root = parse(&rd, text, size);
	return finish(&rd, root ? read_root(&rd, path, root) : NULL);
}

/* Is it a file that can be read to its end? How much memory that takes at first. */
static size_t check_file(struct reader *rd, int fd)
{
	struct stat st;

	if (fstat(fd, &st)) {
		fail(rd, -errno, NULL, "%s", strerror(errno));
		return 0;
	}
	if (S_ISBLK(st.st_mode) || (S_ISCHR(st.st_mode) && !isatty(fd)))
		fail(rd, -EINVAL, NULL, "is a device, a results file is expected");
	if (!S_ISREG(st.st_mode) || st.st_size <= 0)
		return READ_SIZE;
	if ((u64)st.st_size > MAX_SIZE)
		fail(rd, -EFBIG, NULL, TOO_BIG);
	return st.st_size + 1;		/* one to see that it ends there */
}

/* All of a file, or only the beginning if it cannot be one of ours; the caller frees. */
static char *read_text(struct reader *rd, int fd, size_t *size)
{
	size_t room = check_file(rd, fd), used = 0;
	char *text = alloc(rd, room, 1), *more;
	ssize_t n = 1;

	while (!rd->err && n) {
		if (used == room) {
			room = max(2 * room, (size_t)READ_SIZE);
			more = realloc(text, room);
			if (!more) {
				fail(rd, -ENOMEM, NULL, "out of memory");
				break;
			}
			text = more;
		}
		n = read(fd, text + used, min(room - used, (size_t)READ_SIZE));
		if (n < 0 && errno != EINTR)
			fail(rd, -errno, NULL, "%s", strerror(errno));
		used += n > 0 ? n : 0;
		if (used > MAX_SIZE)
			fail(rd, -EFBIG, NULL, TOO_BIG);
		if (used <= READ_SIZE && !may_be_object(text, used))
			break;
	}
	if (rd->err) {
		free(text);
		return NULL;
	}
	*size = used;
	return text;
}

struct results *results__read(const char *path, char *why, size_t why_size)
{
	bool in = !strcmp(path, "-");
	struct reader rd = { .path = in ? "standard input" : path, .why = why,
			     .why_size = why_size };
	int fd = in ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	struct json_object *root = NULL;
	char *text = NULL;
	size_t size = 0;

	if (fd < 0)
		fail(&rd, -errno, NULL, "%s", strerror(errno));
	else
		text = read_text(&rd, fd, &size);
	if (fd >= 0 && !in)
		close(fd);
	if (text)
		root = parse(&rd, text, size);
	free(text);
	return finish(&rd, root ? read_root(&rd, path, root) : NULL);
}

static void free_point(struct results_point *pt)
{
	int i;

	for (i = 0; i < pt->nr_repeats; i++) {
		free(pt->repeats[i].windows);
		free(pt->repeats[i].flags);
	}
	for (i = 0; i < pt->nr_metrics; i++) {
		free(pt->metrics[i].name);
		free(pt->metrics[i].unit);
		free(pt->metrics[i].values);
	}
	results_figures__free(pt->figures);
	free(pt->repeats);
	free(pt->metrics);
	free(pt->variant);
	free(pt->flags);
	free(pt->skip);
}

static void free_bench(struct results_bench *bench)
{
	int i;

	for (i = 0; i < bench->nr_points; i++)
		free_point(&bench->points[i]);
	free(bench->points);
	free(bench->name);
	free(bench->unit);
	free(bench->mode);
	free(bench->pin);
	free(bench->cpus);
	free(bench->status);
	free(bench->instrument);
	free(bench->message);
	free(bench->dir_path);
	free(bench->dir_fs);
	free(bench->dir_options);
}

void results__free(struct results *res)
{
	int i;

	if (!res)
		return;
	for (i = 0; i < res->nr_benches; i++)
		free_bench(&res->benches[i]);
	for (i = 0; i < res->nr_passes; i++)
		free_bench(&res->passes[i]);
	free(res->benches);
	free(res->passes);
	free(res->command);
	free(res->origin);
	free(res->origin_file);
	free(res->imported);
	free(res->path);
	json_object_put(res->root);
	free(res);
}

static const char *plain_text(struct json_object *value)
{
	if (json_object_is_type(value, json_type_string))
		return json_object_get_string(value);
	return json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
}

char *results__env(const struct results *res, const char *name)
{
	struct json_object *value = res->environment;
	size_t i, len, nr = 0;
	const char *text;
	struct text t;
	char *word;

	for (; value && *name; name += len + (name[len] == '.')) {
		len = strcspn(name, ".");
		word = strndup(name, len);
		if (!word)
			return NULL;
		if (!json_object_object_get_ex(value, word, &value))
			value = NULL;
		free(word);
	}
	if (!value)
		return strdup("");
	if (!json_object_is_type(value, json_type_array)) {
		text = plain_text(value);
		return text ? strdup(text) : NULL;
	}
	if (!begin_text(&t))
		return NULL;
	for (i = 0; i < json_object_array_length(value); i++) {
		struct json_object *one = json_object_array_get_idx(value, i);

		if (one)
			fprintf(t.file, "%s%s", nr++ ? " " : "", plain_text(one) ?: "");
	}
	return end_text(&t);
}
