// SPDX-License-Identifier: GPL-2.0
/*
 * Lines and numbers of a text, and what is collected from them
 *
 * Numbers are taken as strictly as they are printed: no sign, no blank before them, a point for
 * decimals whatever the locale, no "inf" or "nan", nothing that does not fit.
 */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/ctype.h>
#include <linux/kernel.h>

#include "import/import.h"
#include "util/json-stream.h"

#define MAX_BENCHES	256
#define MAX_POINTS	4096	/* of a benchmark: they are looked for one by one */
#define MAX_DIGITS	64
#define EXCERPT		60	/* bytes of a line in a message */

const struct import_format import_formats[] = {
	{ .name = "sysfs_benchmark",	.parse = import_kernfs },
	{ .name = "locking-vfs",	.parse = import_locking },
	{ .name = "will-it-scale",	.parse = import_will_it_scale, .series = true },
	{ .name = "unixbench",		.parse = import_unixbench },
	{ .name = "lkp",		.parse = import_lkp, .sides = true },
	{ .name = "perf-bench-simple",	.parse = import_simple },
	{ .name = "make-times",		.parse = import_make_times, .series = true },
	{ .name = "rates",		.parse = import_rates, .series = true, .per = true },
	{ .name = NULL }
};

const struct import_format *import__find_format(const char *name)
{
	const struct import_format *format;

	for (format = import_formats; format->name; format++) {
		if (!strcmp(format->name, name))
			return format;
	}
	return NULL;
}

/* ---- messages ---- */

/* Texts come from files, and messages go to terminals. */
static void clean(char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f)
			*text = '?';
	}
}

static void put_why(struct import *im, int err, const char *fmt, va_list ap)
{
	int len;

	if (im->err)
		return;
	im->err = err;
	if (!im->why_size)
		return;
	len = snprintf(im->why, im->why_size, im->line_nr ? "%s:%d: " : "%s: ", im->path,
		       im->line_nr);
	if (len > 0 && (size_t)len < im->why_size)
		vsnprintf(im->why + len, im->why_size - len, fmt, ap);
	clean(im->why);
}

static __printf(3, 4) int fail(struct import *im, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_why(im, err, fmt, ap);
	va_end(ap);
	return im->err;
}

int import__fail(struct import *im, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put_why(im, -EINVAL, fmt, ap);
	va_end(ap);
	return im->err;
}

int import__expected(struct import *im, const char *what)
{
	const char *line = im->line ?: "";

	return import__fail(im, "%s is expected, there is %s%.*s%s", what,
			    *line ? "\"" : "an empty line", EXCERPT, line,
			    !*line ? "" : strlen(line) > EXCERPT ? "...\"" : "\"");
}

int import__no_memory(struct import *im)
{
	return fail(im, -ENOMEM, "out of memory");
}

/* ---- lines ---- */

static bool keep_line(struct import *im, const char *text, size_t len)
{
	size_t i;

	if (len + 1 > im->room) {
		char *more = realloc(im->line, 2 * len + 128);

		if (!more) {
			import__no_memory(im);
			return false;
		}
		im->line = more;
		im->room = 2 * len + 128;
	}
	memcpy(im->line, text, len);
	im->line[len] = '\0';
	for (i = 0; i < len; i++) {
		unsigned char c = text[i];

		if (c == '\r' && i == len - 1)
			import__fail(im,
				     "the line ends as on DOS: remove the carriage returns, with tr -d '\\r'");
		else if ((c < 0x20 && c != '\t') || c == 0x7f)
			import__fail(im, "text is expected, there is a control character (0x%02x)",
				     c);
	}
	return !im->err;
}

bool import__line(struct import *im)
{
	const char *end;
	size_t len;

	if (im->err || im->next == im->end)
		return false;
	im->line_nr++;
	end = memchr(im->next, '\n', im->end - im->next);
	if (!end) {
		import__fail(im, "the last line has no line feed: is it cut short?");
		return false;
	}
	len = end - im->next;
	if (!keep_line(im, im->next, len))
		return false;
	im->next = end + 1;
	return true;
}

bool import__skip(struct import *im)
{
	const char *line = im->line;
	size_t len = strlen(line);

	if (strspn(line, " \t") == len)
		return true;
	if (*line != '#')
		return false;
	/* a colon at the end, and not of "# 8 threads: text" */
	if (len > 3 && line[1] == ' ' && line[len - 1] == ':' && !isdigit(line[2]) &&
	    !strstr(line, ": ") && len - 3 < sizeof(im->variant)) {
		memcpy(im->variant, line + 2, len - 3);
		im->variant[len - 3] = '\0';
	}
	return true;
}

/* ---- pieces of a line ---- */

bool scan__text(const char **p, const char *text)
{
	size_t len = strlen(text);

	if (strncmp(*p, text, len))
		return false;
	*p += len;
	return true;
}

bool scan__blanks(const char **p)
{
	size_t len = strspn(*p, " \t");

	*p += len;
	return len;
}

bool scan__u64(const char **p, u64 max, u64 *value)
{
	const char *s = *p;
	u64 n = 0;

	if (!isdigit(*s))
		return false;
	for (; isdigit(*s); s++) {
		if (__builtin_mul_overflow(n, 10, &n) ||
		    __builtin_add_overflow(n, (u64)(*s - '0'), &n))
			return false;
	}
	if (n > max)
		return false;
	*value = n;
	*p = s;
	return true;
}

static size_t digits(const char *s)
{
	return strspn(s, "0123456789");
}

bool scan__real(const char **p, int decimals, double *value)
{
	size_t len = digits(*p), behind = 0, exponent;
	const char *s = *p + len;
	char copy[MAX_DIGITS + 1];

	if (!len)
		return false;
	if (*s == '.') {
		behind = digits(s + 1);
		if (!behind)
			return false;
		s += 1 + behind;
	}
	if (decimals >= 0 && (int)behind != decimals)
		return false;
	if (decimals == SCAN_EXPONENT && *s == 'e') {
		exponent = s[1] == '+' || s[1] == '-' ? 2 : 1;
		if (!digits(s + exponent))
			return false;
		s += exponent + digits(s + exponent);
	}
	len = s - *p;
	if (len > MAX_DIGITS)
		return false;
	memcpy(copy, *p, len);
	copy[len] = '\0';
	*value = strtod(copy, NULL);
	if (!isfinite(*value))
		return false;
	*p = s;
	return true;
}

bool scan__field(char **p, char **field)
{
	char *comma;

	if (!*p)
		return false;
	*field = *p;
	comma = strchr(*p, ',');
	if (comma)
		*comma = '\0';
	*p = comma ? comma + 1 : NULL;
	return true;
}

/* ---- what is collected ---- */

void import__give(struct json_object *to, const char *name, double value)
{
	/* whole numbers are written as such */
	bool whole = value == floor(value) && fabs(value) < 1e15;
	struct json_object *number = whole ? json_object_new_int64(value) : json_real(value);

	if (!number || !to)
		json_object_put(number);
	else if (name)
		json_object_object_add(to, name, number);
	else
		json_object_array_add(to, number);
}

static bool is_label(struct import *im, const char *what, const char *text)
{
	const char *p;

	for (p = text; (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
		;
	if (*p || strlen(text) > 512)
		import__fail(im, "%s is expected to have no tabs, and at most 512 bytes", what);
	return !im->err;
}

static bool same_param(const struct import_bench *bench, const char *param, const char *value)
{
	struct json_object *is = NULL, *want;
	bool same;

	if (!param)
		return true;
	json_object_object_get_ex(bench->parameters, param, &is);
	want = json_text(value);
	same = is && want && json_object_equal(is, want);
	json_object_put(want);
	return same;
}

static void free_bench(struct import_bench *bench);

static struct import_bench *new_bench(const struct import_options *opt, const char *name,
				      const char *unit, const char *param, const char *value)
{
	struct import_bench *bench = calloc(1, sizeof(*bench));
	struct json_object_iter member;

	if (!bench)
		return NULL;
	bench->name = strdup(name);
	bench->unit = strdup(unit);
	bench->parameters = json_object_new_object();
	if (!bench->name || !bench->unit || !bench->parameters) {
		free_bench(bench);
		return NULL;
	}
	if (param)
		json_object_object_add(bench->parameters, param, json_text(value));
	if (!opt->parameters)
		return bench;
	json_object_object_foreachC(opt->parameters, member) {
		if (!param || strcmp(param, member.key))
			json_object_object_add(bench->parameters, member.key,
					       json_object_get(member.val));
	}
	return bench;
}

struct import_bench *import__bench(struct import *im, const char *name, const char *unit,
				   const char *param, const char *value)
{
	struct import_bench **more, *bench;
	int i;

	if (im->opt->name)
		name = im->opt->name;
	if (im->opt->unit)
		unit = im->opt->unit;
	if (im->err || !is_label(im, "the benchmark's name", name) ||
	    !is_label(im, "the unit", unit) || (param && !is_label(im, param, value)))
		return NULL;
	for (i = 0; i < im->nr_benches; i++) {
		bench = im->benches[i];
		if (!strcmp(bench->name, name) && !strcmp(bench->unit, unit) &&
		    same_param(bench, param, value))
			return bench;
	}
	if (im->nr_benches == MAX_BENCHES) {
		import__fail(im, "at most %d benchmarks in a text are expected", MAX_BENCHES);
		return NULL;
	}
	more = reallocarray(im->benches, im->nr_benches + 1, sizeof(*more));
	bench = more ? new_bench(im->opt, name, unit, param, value) : NULL;
	if (more)
		im->benches = more;
	if (bench)
		im->benches[im->nr_benches++] = bench;
	else
		import__no_memory(im);
	return bench;
}

static struct import_point *new_point(const char *variant, int tasks, int cpus)
{
	struct import_point *point = calloc(1, sizeof(*point));

	if (!point)
		return NULL;
	point->variant = strdup(variant);
	if (!point->variant) {
		free(point);
		return NULL;
	}
	point->tasks = tasks;
	point->cpus = cpus;
	point->ci95 = NAN;
	point->valid = true;
	return point;
}

/* What a point is called: by the text or, if it does not tell, by the user. */
static const char *choose_variant(struct import *im, const char *variant)
{
	if (!variant && *im->variant)
		variant = im->variant;
	if (!im->opt->variant)
		return variant ?: "";
	if (variant && *variant && !im->opt->series && strcmp(variant, im->opt->variant))
		import__fail(im, "the text names a variant, \"%.100s\": --variant would change it",
			     variant);
	return im->opt->variant;
}

static bool check_tasks(struct import *im, u64 *tasks)
{
	if (!*tasks && !im->opt->tasks)
		import__fail(im, "the text does not tell how many tasks there were: use --tasks N");
	else if (*tasks > IMPORT_MAX_TASKS)
		import__fail(im, "1 to %d tasks are expected, there are %llu", IMPORT_MAX_TASKS,
			     (unsigned long long)*tasks);
	else if (*tasks && im->opt->tasks && *tasks != (u64)im->opt->tasks)
		import__fail(im, "the text tells of %llu tasks, --tasks of %d",
			     (unsigned long long)*tasks, im->opt->tasks);
	*tasks = *tasks ?: (u64)im->opt->tasks;
	return !im->err;
}

struct import_point *import__point(struct import *im, struct import_bench *bench,
				   const char *variant, u64 tasks)
{
	struct import_point **more, *point;
	int i;

	if (im->err || !bench || !check_tasks(im, &tasks))
		return NULL;
	variant = choose_variant(im, variant);
	if (im->err || !is_label(im, "the variant", variant))
		return NULL;
	for (i = 0; i < bench->nr_points; i++) {
		point = bench->points[i];
		if (point->tasks == (int)tasks && !strcmp(point->variant, variant))
			return point;
	}
	if (bench->nr_points == MAX_POINTS) {
		import__fail(im, "at most %d task counts and variants are expected", MAX_POINTS);
		return NULL;
	}
	more = reallocarray(bench->points, bench->nr_points + 1, sizeof(*more));
	point = more ? new_point(variant, tasks, im->opt->cpus) : NULL;
	if (more)
		bench->points = more;
	if (point)
		bench->points[bench->nr_points++] = point;
	else
		import__no_memory(im);
	return point;
}

int import__repeat(struct import *im, struct import_point *point, double rate,
		   struct json_object *given)
{
	struct import_repeat *more = NULL;

	if (!im->err && (!(rate > 0) || !isfinite(rate)))
		import__fail(im, "a rate above 0 is expected, there is %g", rate);
	if (!im->err && point && given)
		more = reallocarray(point->repeats, point->nr_repeats + 1, sizeof(*more));
	if (!more) {
		json_object_put(given);
		return im->err ?: import__no_memory(im);
	}
	point->repeats = more;
	more[point->nr_repeats++] = (struct import_repeat){ .rate = rate, .given = given };
	return 0;
}

int import__elapsed(struct import *im, struct import_point *point, double seconds,
		    struct json_object *given)
{
	int err;

	if (!im->err && !(seconds > 0))
		import__fail(im, "a time above 0 is expected, there is %g", seconds);
	err = import__repeat(im, point, 1 / seconds, given);
	if (err)
		return err;
	point->timed = true;
	point->repeats[point->nr_repeats - 1].seconds = seconds;
	return 0;
}

/* ---- all of it ---- */

static void check_points(struct import *im)
{
	int i, nr = 0;

	for (i = 0; i < im->nr_benches; i++)
		nr += im->benches[i]->nr_points;
	im->line_nr = 0;
	if (!im->err && !nr)
		import__fail(im, "has no result");
}

struct import *import__parse(const struct import_format *format, const struct import_options *opt,
			     const char *path, const char *text, size_t size, char *why,
			     size_t why_size)
{
	struct import *im = calloc(1, sizeof(*im));

	if (!im) {
		snprintf(why, why_size, "%s: out of memory", path);
		errno = ENOMEM;
		return NULL;
	}
	im->opt = opt;
	im->path = path;
	im->next = text;
	im->end = text + size;
	im->why = why;
	im->why_size = why_size;
	if (!size)
		import__fail(im, "is empty");
	else if (size > IMPORT_MAX_SIZE)
		fail(im, -EFBIG, "at most %d MiB are expected", IMPORT_MAX_SIZE >> 20);
	else if (format->parse(im))
		import__fail(im, "cannot be read");
	check_points(im);
	if (im->err) {
		errno = -im->err;
		import__free(im);
		return NULL;
	}
	return im;
}

static void free_point(struct import_point *point)
{
	int i;

	for (i = 0; i < point->nr_repeats; i++)
		json_object_put(point->repeats[i].given);
	json_object_put(point->metrics);
	free(point->repeats);
	free(point->variant);
	free(point->flags);
	free(point);
}

static void free_bench(struct import_bench *bench)
{
	int i;

	for (i = 0; i < bench->nr_points; i++)
		free_point(bench->points[i]);
	json_object_put(bench->parameters);
	free(bench->points);
	free(bench->cpus);
	free(bench->name);
	free(bench->unit);
	free(bench);
}

void import__free(struct import *im)
{
	int i, err = errno;

	if (!im)
		return;
	for (i = 0; i < im->nr_benches; i++)
		free_bench(im->benches[i]);
	free(im->benches);
	free(im->line);
	free(im);
	errno = err;
}
