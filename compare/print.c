// SPDX-License-Identifier: GPL-2.0
/*
 * A comparison as text for a changelog (at most 78 columns), JSON, CSV, Markdown, and in the layout
 * in which the kernel test robot (LKP) reports
 */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#include "compare/compare.h"
#include "compare/figures-print.h"
#include "util/json-stream.h"

#define WIDTH		78
#define FAIRNESS_SHOWN	0.05	/* a difference of Jain's index below this is not worth a line */

static const char * const side_names[] = { [BASE] = "base", [PATCHED] = "patched" };

static const char * const noise_names[] = {
	[NOISE_RUNS]	= "files",
	[NOISE_FLOOR]	= "floor",
	[NOISE_ASSUMED]	= "assumed",
	[NOISE_PAIRED]	= "paired",
	[NOISE_COUNTED]	= "counted",
};

int compare_format__parse(const char *name, enum compare_format *format)
{
	static const char * const formats[] = {
		[COMPARE_TEXT] = "default", [COMPARE_JSON] = "json", [COMPARE_CSV] = "csv",
		[COMPARE_MARKDOWN] = "markdown", [COMPARE_LKP] = "lkp",
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(name, formats[i])) {
			*format = i;
			return 0;
		}
	}
	fprintf(stderr, "Unknown format: '%s'\n  There are: default json csv markdown lkp\n", name);
	return -EINVAL;
}

/* @text with blanks before its lines, broken where it would pass the last column. */
static void put_wrapped(FILE *f, const char *head, int indent, const char *text)
{
	int column = fprintf(f, "%-*s", indent, head), begin = column, len, i;

	for (; *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		if (column > begin && column + 1 + len > WIDTH)
			column = fprintf(f, "\n%*s", indent, "") - 1;
		else if (column > begin)
			column += fprintf(f, " ");
		/* names and paths of others: nothing that a terminal would obey */
		for (i = 0; i < len; i++)
			fputc(iscntrl((unsigned char)text[i]) ? '?' : text[i], f);
		column += len;
	}
	fprintf(f, "\n");
}

static void put_wrapped_fmt(FILE *f, const char *head, int indent, const char *fmt, ...)
	__printf(4, 5);
static void put_wrapped_fmt(FILE *f, const char *head, int indent, const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) >= 0) {
		put_wrapped(f, head, indent, text);
		free(text);
	}
	va_end(ap);
}

/* ---- numbers ---- */

static const char *number(char *buf, size_t size, double x)
{
	int decimals = fabs(x) < 10 ? 4 : fabs(x) < 1000 ? 2 : 0;

	if (isfinite(x))
		snprintf(buf, size, "%.*f", decimals, x);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* Of per cents: counts are known better than times. */
static int decimals(const struct point_verdict *v)
{
	return v->counted ? 2 : 1;
}

/* Half of a side's interval, against its rate. */
static const char *percent(char *buf, size_t size, const struct point_verdict *v, int side)
{
	double x = v->ci95[side] / v->rate[side];

	if (isfinite(x))
		snprintf(buf, size, "%.*f%%", decimals(v), 100 * x);
	else
		snprintf(buf, size, "-");
	return buf;
}

/* Beyond twice and half, a ratio says more than a per cent. */
static bool is_times(double ratio)
{
	return ratio >= 2 || ratio <= 0.5;
}

static const char *change(char *buf, size_t size, const struct point_verdict *v)
{
	double ratio = v->ratio;

	if (!isfinite(ratio))
		snprintf(buf, size, "-");
	else if (ratio >= 1000 || ratio < 0.001)
		snprintf(buf, size, "x%.1e", ratio);
	else if (is_times(ratio))
		snprintf(buf, size, "x%.*f", ratio < 1 ? 3 : 2, ratio);
	else
		snprintf(buf, size, "%+.*f%%", decimals(v), 100 * (ratio - 1));
	return buf;
}

static const char *interval(char *buf, size_t size, const struct point_verdict *v)
{
	if (!isfinite(v->low))
		snprintf(buf, size, "-");
	else if (v->high >= 1000 || v->low < 0.001)
		snprintf(buf, size, "%.1e to %.1e", v->low, v->high);
	else if (is_times(v->ratio))
		snprintf(buf, size, "%.*f to %.*f", v->ratio < 1 ? 3 : 2, v->low,
			 v->ratio < 1 ? 3 : 2, v->high);
	else
		snprintf(buf, size, "%+.*f to %+.*f%%", decimals(v), 100 * (v->low - 1),
			 decimals(v), 100 * (v->high - 1));
	return buf;
}

static const char *p_value(char *buf, size_t size, double p)
{
	if (!isfinite(p))
		snprintf(buf, size, "-");
	else if (p < 0.0001)
		snprintf(buf, size, "<.0001");
	else
		snprintf(buf, size, "%.4f", p);
	return buf;
}

/* What the table gives: with --total the time that it took, else the rate. */
static double value(const struct compare_point *p, int side)
{
	return p->bench->total ? p->bench->total / p->v.rate[side] : p->v.rate[side];
}

static double mean_jain(const struct compare_point *p, int side)
{
	double sum = 0;
	int i, r, nr = 0;

	for (i = 0; i < p->side[side].nr_runs; i++) {
		const struct verdict_run *run = &p->side[side].runs[i];

		for (r = 0; r < run->nr; r++, nr++)
			sum += run->repeats[r]->jain;
	}
	return nr ? sum / nr : NAN;
}

/* Of the runs where there are several, else of the repeats: in shares of the mean. */
static double spread(const struct compare_point *p, int side)
{
	const struct verdict_side *s = &p->side[side];
	double sum = 0, squares = 0, x;
	int i, r, nr = 0;

	for (i = 0; i < s->nr_runs; i++) {
		for (x = 0, r = 0; r < s->runs[i].nr; r++) {
			x += s->runs[i].repeats[r]->rate;
			if (s->nr_runs > 1)
				continue;
			sum += s->runs[i].repeats[r]->rate;
			squares += pow(s->runs[i].repeats[r]->rate, 2);
			nr++;
		}
		if (s->nr_runs > 1) {
			x /= s->runs[i].nr;
			sum += x;
			squares += x * x;
			nr++;
		}
	}
	if (nr < 2)
		return NAN;
	x = sum / nr;
	return sqrt(fmax(squares - nr * x * x, 0) / (nr - 1)) / x;
}

/* A number of the benchmark's own, the mean over the repeats of all files that have it. */
static double metric(const struct compare_point *p, int side, const char *name)
{
	double sum = 0;
	int run, i, r, nr = 0;

	for (run = 0; run < p->side[side].nr_runs; run++) {
		const struct results_point *point = p->side[side].runs[run].point;

		for (i = 0; i < point->nr_metrics; i++) {
			const double *values = point->metrics[i].values;

			for (r = 0; !strcmp(point->metrics[i].name, name) && r < point->nr_repeats;
			     r++) {
				if (!isfinite(values[r]))
					continue;
				sum += values[r];
				nr++;
			}
		}
	}
	return nr ? sum / nr : NAN;
}

/* ---- words ---- */

/* Is there another benchmark of this name, with other parameters? */
static bool is_ambiguous(const struct comparison *c, const struct results_bench *bench)
{
	int i;

	for (i = 0; i < c->nr_points; i++) {
		if (c->points[i].bench != bench && !strcmp(c->points[i].bench->name, bench->name))
			return true;
	}
	return false;
}

/* What a point is called beside its task count; with the parameters where the name does not do. */
static const char *label(const struct comparison *c, const struct compare_point *p, char *buf,
			 size_t size)
{
	const char *variant = p->point[BASE]->variant;
	struct json_object_iter i;
	size_t len;

	snprintf(buf, size, "%s%s%s", p->bench->name, *variant ? " " : "", variant);
	if (!is_ambiguous(c, p->bench))
		return buf;
	json_object_object_foreachC(p->bench->parameters, i) {
		len = strlen(buf);
		snprintf(buf + len, size - len, ", %s=%s", i.key, json_object_get_string(i.val));
	}
	return buf;
}

/* "2.89 times as fast", "slower by 7.4 %". */
static int say_ratio(const struct point_verdict *v, char *buf, size_t size)
{
	double ratio = v->ratio;
	const char *word = verdict__name(ratio > 1 ? VERDICT_FASTER : VERDICT_SLOWER);

	if (is_times(ratio))
		return snprintf(buf, size, "%s, %.2f times as %s", word, fmax(ratio, 1 / ratio),
				ratio > 1 ? "fast" : "slow");
	return snprintf(buf, size, "%s by %.*f %%", word, decimals(v),
			100 * fabs(ratio - 1));
}

static const char *more_of(const struct point_verdict *v)
{
	return v->noise == NOISE_PAIRED ? "block" : v->more_runs ? "file" : "repeat";
}

/* The verdict in a sentence. */
static void say(const struct point_verdict *v, char *buf, size_t size)
{
	double unit = pow(10, 2 + decimals(v));	/* of a share, in which it is given */
	int len = 0;

	switch (v->verdict) {
	case VERDICT_FASTER:
	case VERDICT_SLOWER:
		len = say_ratio(v, buf, size);
		break;
	case VERDICT_SAME:
		len = snprintf(buf, size, "same within %.*f %%", decimals(v),
			       100 / unit * ceil(unit * fmax(1 / v->low90 - 1, v->high90 - 1)));
		break;
	case VERDICT_UNSURE:
		len = snprintf(buf, size, "cannot tell");
		if (v->more)
			len += snprintf(buf + len, size - len, " (%d more %s%s%s for +-%.*f %%)",
					v->more, more_of(v), v->more == 1 ? "" : "s",
					v->more_runs && v->noise != NOISE_PAIRED ? " a side" : "",
					decimals(v), 100 * expm1(v->target));
		break;
	case VERDICT_NONE:
	default:
		if (isfinite(v->ratio) && v->ratio != 1)
			len = say_ratio(v, buf, size);
		snprintf(buf + len, size - len, "%s%s", len ? "; how sure, cannot be told: " :
			 "cannot tell: ", v->why);
		return;
	}
	if (v->shown < 10)
		snprintf(buf + len, size - len, "; a change of %.*f %% would have shown",
			 decimals(v), 100 * v->shown);
	else
		snprintf(buf + len, size - len, "; no change below 10 times would have shown");
}

/* Task counts of a benchmark that have this verdict, "1, 2, 8". */
static int counts_of(const struct comparison *c, const struct results_bench *bench,
		     const char *variant, enum verdict verdict, char *buf, size_t size)
{
	int i, nr = 0, len = 0;

	*buf = '\0';
	for (i = 0; i < c->nr_points; i++) {
		const struct compare_point *p = &c->points[i];

		if (p->bench != bench || p->v.verdict != verdict ||
		    strcmp(p->point[BASE]->variant, variant))
			continue;
		if (len + 16 < (int)size)
			len += snprintf(buf + len, size - len, "%s%d", nr ? ", " : "",
					p->point[BASE]->tasks);
		else if (buf[len - 1] != '.')
			len += snprintf(buf + len, size - len, " ...");
		nr++;
	}
	return nr;
}

/* ---- text ---- */

static void put_side(const struct comparison *c, int side, FILE *f)
{
	struct results *first = c->files[side][0];
	char *kernel = results__env(first, "kernel.release");
	char *started = results__env(first, "started");
	int i;

	put_wrapped_fmt(f, c->name[side], 9, "%s%s, %s", kernel && *kernel ? "Linux " : "",
			kernel && *kernel ? kernel : "unknown kernel",
			started && *started ? started : "unknown date");
	for (i = 0; i < c->nr_files[side] && !c->command[side]; i++)
		put_wrapped(f, i ? "" : c->nr_files[side] > 1 ? "  files" : "  file", 9,
			    c->files[side][i]->path);
	if (first->origin)
		put_wrapped_fmt(f, "", 9, "imported from %s, %s", first->origin,
				first->origin_file ?: "standard input");
	else if (c->command[side])
		put_wrapped_fmt(f, "", 9, "$ %s (%d runs)", c->command[side], c->nr_files[side]);
	else if (*first->command)
		put_wrapped_fmt(f, "", 9, "$ %s", first->command);
	free(kernel);
	free(started);
}

static void put_notes(const struct comparison *c, int kind, const char *head, FILE *f)
{
	int i;

	for (i = 0; i < c->nr_notes; i++) {
		if ((int)c->notes[i].kind == kind)
			put_wrapped(f, head, strlen(head), c->notes[i].text);
	}
}

static void put_machine(const struct comparison *c, FILE *f)
{
	char *model = results__env(c->files[BASE][0], "cpu.model");
	char *online = results__env(c->files[BASE][0], "cpu.online");
	char *emulated = results__env(c->files[BASE][0], "emulated");
	char *clock = results__env(c->files[BASE][0], "clock_source");

	if (model && *model)
		put_wrapped_fmt(f, "machine", 9, "%s, CPUs %s", model,
				online && *online ? online : "not known");
	if (clock && !strcmp(clock, "icount"))
		put_wrapped(f, "clock", 9, "counts instructions: each is a nanosecond");
	else if (emulated && *emulated)
		put_wrapped_fmt(f, "emulated", 9,
				"by %s: no rate is that of a real machine; what is counted for an op can be believed (waits, RPCs)",
				emulated);
	free(model);
	free(online);
	free(emulated);
	free(clock);
}

static void put_bench(const struct comparison *c, const struct results_bench *b, FILE *f)
{
	char head[NR_SIDES][32];
	struct json_object_iter i;
	const char *comma;
	char *text = NULL;
	size_t size;
	FILE *mem = open_memstream(&text, &size);
	int cpus;

	if (!mem)
		return;
	fprintf(mem, "one op: %s", b->unit);
	if (b->mode)
		fprintf(mem, "; %s tasks", b->mode);
	if (b->pin)
		fprintf(mem, ", pin %s", b->pin);
	if (b->cpus) {
		for (cpus = *b->cpus != '\0', comma = strchr(b->cpus, ','); comma;
		     comma = strchr(comma + 1, ','))
			cpus++;
		fprintf(mem, ", %d CPU%s", cpus, cpus == 1 ? "" : "s");
	}
	if (b->dir_fs)
		fprintf(mem, "; on %s", b->dir_fs);
	json_object_object_foreachC(b->parameters, i) {
		fprintf(mem, ", %s=%s", i.key, json_object_get_string(i.val));
	}
	fclose(mem);
	fprintf(f, "\n%s\n", b->name);
	put_wrapped(f, "", 2, text);
	free(text);
	snprintf(head[BASE], sizeof(head[BASE]), "%s %s", c->name[BASE],
		 b->total ? "s" : "ops/s");
	snprintf(head[PATCHED], sizeof(head[PATCHED]), "%s%s", c->name[PATCHED],
		 b->total ? " s" : "");
	fprintf(f, "\n%5s %11s %6s %11s %6s %8s %17s %7s\n", "tasks", head[BASE], "+-95%",
		head[PATCHED], "+-95%", b->total ? "rate" : "change", "95 % interval", "p");
}

static void put_row(const struct comparison *c, const struct compare_point *p, FILE *f)
{
	const struct point_verdict *v = &p->v;
	const char *variant = p->point[BASE]->variant;
	char b[8][32], text[256];
	double x, y;
	int i;

	fprintf(f, "%5d %11s %6s %11s %6s %8s %17s %7s\n", p->point[BASE]->tasks,
		number(b[0], sizeof(b[0]), value(p, BASE)),
		percent(b[1], sizeof(b[1]), v, BASE),
		number(b[2], sizeof(b[2]), value(p, PATCHED)),
		percent(b[3], sizeof(b[3]), v, PATCHED),
		change(b[4], sizeof(b[4]), v), interval(b[5], sizeof(b[5]), v),
		p_value(b[6], sizeof(b[6]), v->p_holm));
	say(v, text, sizeof(text));
	put_wrapped_fmt(f, "", 6, "%s%s%s", variant, *variant ? ": " : "", text);
	for (i = BASE; i < NR_SIDES; i++) {
		if (p->flags[i])
			put_wrapped_fmt(f, "", 8, "%s: %s", c->name[i], p->flags[i]);
	}
	x = mean_jain(p, BASE);
	y = mean_jain(p, PATCHED);
	if (fabs(x - y) >= FAIRNESS_SHOWN)
		put_wrapped_fmt(f, "", 8, "fairness %.3f -> %.3f", x, y);
	for (i = 0; i < p->point[BASE]->nr_metrics; i++) {
		const struct results_metric *m = &p->point[BASE]->metrics[i];

		x = metric(p, BASE, m->name);
		y = metric(p, PATCHED, m->name);
		if (x || y)
			put_wrapped_fmt(f, "", 8, "%s %s -> %s %s", m->name,
					number(b[0], sizeof(b[0]), x),
					number(b[1], sizeof(b[1]), y), m->unit);
	}
}

/* What is to be said of all: one line a benchmark and variant, and how noise was taken. */
static void put_verdicts(const struct comparison *c, FILE *f)
{
	char counts[1024], text[8192];
	int i, j, v, nr, len;

	fprintf(f, "\n");
	for (i = 0; i < c->nr_points; i++) {
		const struct compare_point *p = &c->points[i];

		for (j = 0; j < i; j++) {
			if (c->points[j].bench == p->bench &&
			    !strcmp(c->points[j].point[BASE]->variant, p->point[BASE]->variant))
				break;
		}
		if (j < i)
			continue;
		label(c, p, text, sizeof(text) / 2);
		len = strlen(text);
		len += snprintf(text + len, sizeof(text) - len, ":");
		for (nr = 0, v = VERDICT_FASTER; v <= VERDICT_NONE; v++) {
			if (!counts_of(c, p->bench, p->point[BASE]->variant, v, counts,
				       sizeof(counts)))
				continue;
			len += snprintf(text + len, sizeof(text) - len, "%s %s at %s task%s",
					nr++ ? ";" : "", verdict__name(v), counts,
					strcmp(counts, "1") ? "s" : "");
			len = min(len, (int)sizeof(text) - 1);
		}
		put_wrapped(f, "verdict  ", 9, text);
	}
}

/* Are all files of a side of one boot, and those of the other not of it? */
static bool one_boot_a_side(const struct comparison *c)
{
	char *first[NR_SIDES], *boot;
	bool one = true;
	int side, i;

	for (side = BASE; side < NR_SIDES; side++) {
		first[side] = results__env(c->files[side][0], "boot_id");
		for (i = 1; i < c->nr_files[side] && one; i++) {
			boot = results__env(c->files[side][i], "boot_id");
			one = boot && first[side] && !strcmp(boot, first[side]);
			free(boot);
		}
	}
	one = one && first[BASE] && first[PATCHED] && *first[BASE] && *first[PATCHED] &&
	      strcmp(first[BASE], first[PATCHED]);
	free(first[BASE]);
	free(first[PATCHED]);
	return one;
}

static void put_noise(const struct comparison *c, const struct verdict_rules *rules, FILE *f)
{
	bool assumed = false, floor = false, counted = false;
	int i;

	for (i = 0; i < c->nr_points; i++) {
		assumed |= c->points[i].v.verdict != VERDICT_NONE &&
			   c->points[i].v.noise == NOISE_ASSUMED;
		floor |= c->points[i].v.noise == NOISE_FLOOR;
		counted |= c->points[i].v.noise == NOISE_COUNTED;
	}
	if (assumed)
		put_wrapped_fmt(f, "noise    ", 9, "%s%.3g %% is assumed. %s",
				"One file a side does not tell how rates differ from run to run: ",
				100 * rules->assumed,
				"Give several a side, or run \"perf-kbench noise\" once.");
	if (!counted && one_boot_a_side(c))
		put_wrapped(f, "noise    ", 9,
			    "Each side is of one boot: what differs from boot to boot is not in these intervals.");
	if (floor)
		put_wrapped(f, "noise    ", 9,
			    "The noise from run to run is that which \"perf-kbench noise\" measured on this machine.");
	if (counted)
		put_wrapped_fmt(f, "noise    ", 9,
				"Instructions are counted: boots of one kernel differ by %.3g %% (standard deviation), and these are taken to do no less.",
				100 * VERDICT_COUNT_NOISE);
}

static int print_text(const struct comparison *c, const struct verdict_rules *rules, FILE *f)
{
	int i;

	if (comparison__count(c, NOTE_REFUSED)) {
		fprintf(f, "NOT COMPARABLE, and compared all the same (--force):\n");
		put_notes(c, NOTE_REFUSED, "  ", f);
	}
	put_side(c, BASE, f);
	put_side(c, PATCHED, f);
	put_machine(c, f);
	put_notes(c, NOTE_ENV, "differs  ", f);
	for (i = 0; i < c->nr_points; i++) {
		if (!i || c->points[i].bench != c->points[i - 1].bench)
			put_bench(c, c->points[i].bench, f);
		put_row(c, &c->points[i], f);
	}
	comparison__print_scaling(c, f);
	comparison__print_figures(c, f);
	put_verdicts(c, f);
	put_noise(c, rules, f);
	put_notes(c, NOTE_LEFT_OUT, "left out ", f);
	return 0;
}

/* ---- JSON ---- */

static void add(struct json_object *o, const char *name, struct json_object *value)
{
	json_object_object_add(o, name, value);
}

static struct json_object *pair(double low, double high)
{
	struct json_object *a = json_object_new_array();

	json_object_array_add(a, json_real(low));
	json_object_array_add(a, json_real(high));
	return a;
}

static struct json_object *json_point(const struct comparison *c, const struct compare_point *p)
{
	struct json_object *o = json_object_new_object(), *s, *metrics;
	const struct point_verdict *v = &p->v;
	int i, side;

	add(o, "benchmark", json_text(p->bench->name));
	add(o, "parameters", json_object_get(p->bench->parameters));
	add(o, "variant", json_text(p->point[BASE]->variant));
	add(o, "tasks", json_object_new_int(p->point[BASE]->tasks));
	for (side = BASE; side < NR_SIDES; side++) {
		s = json_object_new_object();
		add(s, "files", json_object_new_int(p->side[side].nr_runs));
		add(s, "rate", json_real(v->rate[side]));
		add(s, "ci95", json_real(v->ci95[side]));
		add(s, "stddev", json_real(spread(p, side) * v->rate[side]));
		add(s, "elapsed_sec", json_real(p->bench->total ? value(p, side) : NAN));
		add(s, "jain", json_real(mean_jain(p, side)));
		add(s, "flags", json_text(p->flags[side] ?: ""));
		metrics = json_object_new_object();
		for (i = 0; i < p->point[side]->nr_metrics; i++)
			add(metrics, p->point[side]->metrics[i].name,
			    json_real(metric(p, side, p->point[side]->metrics[i].name)));
		add(s, "metrics", metrics);
		add(o, side_names[side], s);
	}
	add(o, "verdict", json_text(verdict__name(v->verdict)));
	add(o, "why", *v->why ? json_text(v->why) : NULL);
	add(o, "ratio", json_real(v->ratio));
	add(o, "ratio_ci95", pair(v->low, v->high));
	add(o, "ratio_ci90", pair(v->low90, v->high90));
	add(o, "noise_from", v->verdict == VERDICT_NONE ? NULL : json_text(noise_names[v->noise]));
	add(o, "t", json_real(v->t));
	add(o, "df", json_real(v->df));
	add(o, "p", json_real(v->p));
	add(o, "p_holm", json_real(v->p_holm));
	add(o, "shown", json_real(v->shown));
	add(o, "more", v->more ? json_object_new_int(v->more) : NULL);
	add(o, "more_of", v->more ? json_text(more_of(v)) : NULL);
	add(o, "more_for", v->more ? json_real(expm1(v->target)) : NULL);
	add(o, "figures", comparison__json_figures(c, p));
	return o;
}

static struct json_object *json_notes(const struct comparison *c, int kind)
{
	struct json_object *a = json_object_new_array();
	int i;

	for (i = 0; i < c->nr_notes; i++) {
		if ((int)c->notes[i].kind == kind)
			json_object_array_add(a, json_text(c->notes[i].text));
	}
	return a;
}

static int print_json(const struct comparison *c, const struct verdict_rules *rules, FILE *f)
{
	struct json_object *o = json_object_new_object(), *a;
	int i, side;

	add(o, "format", json_text("perf-kbench-comparison"));
	add(o, "version", json_object_new_int(1));
	for (side = BASE; side < NR_SIDES; side++) {
		a = json_object_new_array();
		for (i = 0; i < c->nr_files[side]; i++)
			json_object_array_add(a, json_text(c->files[side][i]->path));
		add(o, side == BASE ? "base_files" : "patched_files", a);
	}
	add(o, "same_margin", json_real(rules->same));
	add(o, "not_comparable", json_notes(c, NOTE_REFUSED));
	add(o, "differs", json_notes(c, NOTE_ENV));
	add(o, "left_out", json_notes(c, NOTE_LEFT_OUT));
	a = json_object_new_array();
	for (i = 0; i < c->nr_points; i++)
		json_object_array_add(a, json_point(c, &c->points[i]));
	add(o, "points", a);
	fprintf(f, "%s\n", json_object_to_json_string_ext(o, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(o);
	return 0;
}

/* ---- CSV, Markdown, LKP ---- */

static void put_csv_number(FILE *f, double x)
{
	if (isfinite(x))
		fprintf(f, ",%.10g", x);
	else
		fprintf(f, ",");
}

/* As RFC 4180 has it, but for the ends of lines. */
static void put_csv_text(FILE *f, const char *sep, const char *text)
{
	const char *quote = text[strcspn(text, "\",\r\n")] ? "\"" : "";

	fprintf(f, "%s%s", sep, quote);
	for (; *text; text++)
		fprintf(f, "%s%c", *text == '"' ? "\"" : "", *text);
	fprintf(f, "%s", quote);
}

static int print_csv(const struct comparison *c, FILE *f)
{
	static const char * const columns[] = {
		"benchmark", "variant", "tasks", "base", "base_ci95", "patched", "patched_ci95",
		"ratio", "ratio_low", "ratio_high", "p", "p_holm", "shown", "verdict", "label",
	};
	char text[1024];
	size_t column;
	int i;

	for (column = 0; column < ARRAY_SIZE(columns); column++)
		put_csv_text(f, column ? "," : "", columns[column]);
	fprintf(f, "\n");
	for (i = 0; i < c->nr_points; i++) {
		const struct compare_point *p = &c->points[i];
		const struct point_verdict *v = &p->v;

		put_csv_text(f, "", p->bench->name);
		put_csv_text(f, ",", p->point[BASE]->variant);
		fprintf(f, ",%d", p->point[BASE]->tasks);
		put_csv_number(f, v->rate[BASE]);
		put_csv_number(f, v->ci95[BASE]);
		put_csv_number(f, v->rate[PATCHED]);
		put_csv_number(f, v->ci95[PATCHED]);
		put_csv_number(f, v->ratio);
		put_csv_number(f, v->low);
		put_csv_number(f, v->high);
		put_csv_number(f, v->p);
		put_csv_number(f, v->p_holm);
		put_csv_number(f, v->shown);
		fprintf(f, ",%s", verdict__name(v->verdict));
		put_csv_text(f, ",", label(c, p, text, sizeof(text)));
		fprintf(f, "\n");
	}
	return 0;
}

static int print_markdown(const struct comparison *c, FILE *f)
{
	char b[8][32], text[1024];
	int i;

	fprintf(f, "| benchmark | tasks | %s | %s | change | 95 %% interval | p | verdict |\n",
		c->name[BASE], c->name[PATCHED]);
	fprintf(f, "|---|---:|---:|---:|---:|---:|---:|---|\n");
	for (i = 0; i < c->nr_points; i++) {
		const struct compare_point *p = &c->points[i];
		const struct point_verdict *v = &p->v;

		fprintf(f, "| %s | %d | %s ±%s | %s ±%s | %s | %s | %s | %s |\n",
			label(c, p, text, sizeof(text)), p->point[BASE]->tasks,
			number(b[0], sizeof(b[0]), value(p, BASE)),
			percent(b[1], sizeof(b[1]), v, BASE),
			number(b[2], sizeof(b[2]), value(p, PATCHED)),
			percent(b[3], sizeof(b[3]), v, PATCHED),
			change(b[4], sizeof(b[4]), v), interval(b[5], sizeof(b[5]), v),
			p_value(b[6], sizeof(b[6]), v->p_holm), verdict__name(v->verdict));
	}
	if (c->files[BASE][0]->nr_passes) {
		fprintf(f, "\n```\n");
		comparison__print_figures(c, f);
		fprintf(f, "```\n");
	}
	return 0;
}

static void put_lkp_row(FILE *f, double base, double base_sd, double patched, double patched_sd,
			const char *name)
{
	char b[2][32], sd[2][16] = { "", "" }, diff[32] = "-";

	if (isfinite(base_sd))
		snprintf(sd[0], sizeof(sd[0]), "± %2.0f%%", 100 * base_sd);
	if (isfinite(patched_sd))
		snprintf(sd[1], sizeof(sd[1]), "± %2.0f%%", 100 * patched_sd);
	if (isfinite(patched / base))
		snprintf(diff, sizeof(diff), "%+.1f%%", 100 * (patched / base - 1));
	/* the sign is two bytes in one column */
	fprintf(f, "%10s %-*s %10s %12s %-*s  %s\n", number(b[0], sizeof(b[0]), base),
		*sd[0] ? 6 : 5, sd[0], diff,
		number(b[1], sizeof(b[1]), patched), *sd[1] ? 6 : 5, sd[1], name);
}

/* As its rows have it: perf-profile.children, perf-stat and so on stand before the names. */
static void put_lkp_figure(const char *kind, const struct figure_change *ch, void *data)
{
	char name[FIGURES_NAME_MAX + 64], *s;

	if (!isfinite(ch->value[BASE]) || !isfinite(ch->value[PATCHED]))
		return;
	if (!strcmp(kind, "profile"))
		snprintf(name, sizeof(name), "perf-profile.self.%s", ch->row);
	else
		snprintf(name, sizeof(name), "%s.%s.%s", kind, ch->row, ch->column);
	for (s = name; *s; s++) {
		if (*s == ' ')
			*s = '.';
	}
	put_lkp_row(data, ch->value[BASE], NAN, ch->value[PATCHED], NAN, name);
}

static int print_lkp(const struct comparison *c, FILE *f)
{
	char name[1200], head[1024];
	int i, m;

	fprintf(f, "%-16.16s %-27.27s\n", "            base", "                    patched");
	fprintf(f, "---------------- ---------------------------\n");
	fprintf(f, "         %%stddev     %%change         %%stddev\n");
	fprintf(f, "             \\          |                \\\n");
	for (i = 0; i < c->nr_points; i++) {
		const struct compare_point *p = &c->points[i];

		label(c, p, head, sizeof(head));
		for (m = 0; head[m]; m++) {
			if (head[m] == ' ')
				head[m] = '.';
		}
		snprintf(name, sizeof(name), "%s.%d.%s", head, p->point[BASE]->tasks,
			 p->bench->total ? "elapsed_sec" : "ops_per_sec");
		put_lkp_row(f, value(p, BASE), spread(p, BASE), value(p, PATCHED),
			    spread(p, PATCHED), name);
		for (m = 0; m < p->point[BASE]->nr_metrics; m++) {
			const char *metric_name = p->point[BASE]->metrics[m].name;
			double x = metric(p, BASE, metric_name);
			double y = metric(p, PATCHED, metric_name);

			snprintf(name, sizeof(name), "%s.%d.%s", head, p->point[BASE]->tasks,
				 metric_name);
			if (x > 0 && isfinite(y))
				put_lkp_row(f, x, NAN, y, NAN, name);
		}
		comparison__each_figure(c, p, put_lkp_figure, f);
	}
	return 0;
}

void comparison__print_gate(double pct, int said, FILE *f)
{
	fprintf(f, "gate     %.3g %%: %s\n", pct, said == GATE_CANNOT_TELL ? "cannot tell" :
		said ? "there is a regression" : "no regression beyond it");
}

int comparison__print(const struct comparison *c, enum compare_format format,
		      const struct verdict_rules *rules, FILE *f)
{
	switch (format) {
	case COMPARE_JSON:
		print_json(c, rules, f);
		break;
	case COMPARE_CSV:
		print_csv(c, f);
		break;
	case COMPARE_MARKDOWN:
		print_markdown(c, f);
		break;
	case COMPARE_LKP:
		print_lkp(c, f);
		break;
	case COMPARE_TEXT:
	default:
		print_text(c, rules, f);
	}
	return fflush(f) || ferror(f) ? -(errno ?: EIO) : 0;
}
