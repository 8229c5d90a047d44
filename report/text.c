// SPDX-License-Identifier: GPL-2.0
/*
 * Reports for people: tables of at most 78 columns to be pasted into a changelog, or Markdown
 *
 * No line begins with "#", which git takes for a comment, nor with "---", where git am cuts. Texts
 * come from files: what could move the cursor of a terminal is replaced.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "report/report.h"
#include "util/env.h"

#define COLUMNS		78
#define MAX_VARIANT	9
#define BAD_FIT		0.1	/* relative error from which on the fit is called bad */

static bool markdown;

/* Replace control characters, those of 8 bits (U+0080 to U+009F) too. */
static void clean(char *text)
{
	unsigned char *s = (unsigned char *)text;

	for (; *s; s++) {
		if (*s < ' ' || *s == 0x7f)
			*s = '?';
		else if (s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0)
			memset(s, '?', 2);
	}
}

static int width(const char *text, int len)
{
	int i, n = 0;

	for (i = 0; i < len; i++)
		n += (text[i] & 0xc0) != 0x80;
	return n;
}

/* With what Markdown would take for its own marked as text. */
static void put_text(const char *text, int len)
{
	for (; len; len--, text++) {
		if (markdown && strchr("\\`*_{}[]<>|#", *text))
			putchar('\\');
		putchar(*text);
	}
}

/*
 * Words from column @column on, broken into lines of at most COLUMNS, the further ones indented by
 * @indent. Markdown's lines are as long as they are.
 */
static void put_words(int column, int indent, const char *text)
{
	bool first = true;
	int len, cells;

	for (text += strspn(text, " "); *text; text += len + strspn(text + len, " ")) {
		len = strcspn(text, " ");
		cells = width(text, len);
		if (!first && !markdown && column + 1 + cells > COLUMNS) {
			printf("\n%*s", indent, "");
			column = indent;
			first = true;
		}
		if (!first)
			column += printf(" ");
		put_text(text, len);
		column += cells;
		first = false;
	}
	putchar('\n');
}

/* printf() into a string that is safe to print. The caller frees; NULL without memory. */
static __printf(1, 2) char *text_of(const char *fmt, ...)
{
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	if (text)
		clean(text);
	return text;
}

/* "name:    text". Takes @text; nothing is printed where there is none. */
static void put_field(const char *name, char *text)
{
	if (text && *text) {
		if (markdown)
			printf("* %s: ", name);
		else
			printf("%s:%*s", name, (int)(10 - strlen(name)), "");
		put_words(11, 11, text);
	}
	free(text);
}

/* A line below a heading. Takes @text. */
static void put_detail(char *text)
{
	if (text && *text) {
		printf("%s", markdown ? "* " : "  ");
		put_words(2, 4, text);
	}
	free(text);
}

/* ---- the machine ---- */

static int count_cpus(const char *list)
{
	int first, last, nr = 0;

	while (env__next_range(&list, &first, &last) > 0)
		nr += last - first + 1;
	return nr;
}

static void put_machine(const struct results *res)
{
	char *release = results__env(res, "kernel.release");
	char *machine = results__env(res, "kernel.machine");
	char *model = results__env(res, "cpu.model");
	char *online = results__env(res, "cpu.online");
	char *allowed = results__env(res, "cpu.allowed");
	char *hypervisor = results__env(res, "virtualization.hypervisor");
	char *emulated = results__env(res, "emulated");
	char *clock = results__env(res, "clock_source");
	char *started = results__env(res, "started");
	char *program = results__env(res, "perf_kbench");
	bool is_virtual = hypervisor && !strcmp(hypervisor, "true");
	const char *virtual = is_virtual ? ", in a virtual machine" : "";

	if (release && machine)
		put_field("kernel", text_of("%s %s", release, machine));
	if (model && hypervisor && (*model || !res->origin))
		put_field("CPU", text_of("%s%s", *model ? model : "not known", virtual));
	if (online && allowed && *online)
		put_field("CPUs", text_of("%d online (%s), %s allowed", count_cpus(online), online,
					  strcmp(online, allowed) ? allowed : "all"));
	if (emulated && *emulated)
		put_field("emulated", text_of("by %s: no rate is a real machine's", emulated));
	if (clock && !strcmp(clock, "icount"))
		put_field("clock", text_of("counts instructions: each is a nanosecond"));
	if (started && program && *started)
		put_field("run at", text_of("%s, by perf-kbench %s", started, program));
	free(release);
	free(machine);
	free(model);
	free(online);
	free(allowed);
	free(hypervisor);
	free(emulated);
	free(clock);
	free(started);
	free(program);
}

static void put_file(const struct results *res)
{
	put_field("file", text_of("%s%s", res->path,
				  res->complete ? "" : " (not complete: the run was cut short)"));
	if (res->origin)
		put_field("origin", text_of("imported from %s, %s%s%s", res->origin,
					    res->origin_file ?: "standard input",
					    res->imported ? ", at " : "", res->imported ?: ""));
	put_field("command", text_of("%s", res->command));
	if (res->environment)
		put_machine(res);
}

/* ---- a benchmark ---- */

static char *duration_text(const struct results_bench *b)
{
	u64 ns = b->duration_ns;

	if (b->loops)
		return text_of("%llu ops a task", (unsigned long long)b->loops);
	if (b->total)
		return text_of("%llu ops in all", (unsigned long long)b->total);
	if (ns % NSEC_PER_SEC == 0)
		return text_of("%llus", (unsigned long long)(ns / NSEC_PER_SEC));
	if (ns % NSEC_PER_MSEC == 0)
		return text_of("%llums", (unsigned long long)(ns / NSEC_PER_MSEC));
	return text_of("%lluus", (unsigned long long)(ns / NSEC_PER_USEC));
}

static char *parameters_text(const struct results_bench *b)
{
	struct json_object_iter member;
	char *text = NULL;
	bool first = true;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	json_object_object_foreachC(b->parameters, member) {
		fprintf(f, "%s%s=%s", first ? "" : ", ", member.key,
			json_object_get_string(member.val));
		first = false;
	}
	fclose(f);
	if (text)
		clean(text);
	return text;
}

/* What is known of an imported one. */
static char *imported_text(const struct results_bench *b)
{
	char *duration = b->loops ? duration_text(b) : NULL, *text;
	int nr_cpus = 1;
	const char *s;

	for (s = b->cpus ?: ""; *s; s++)
		nr_cpus += *s == ',';
	text = text_of("%s%s%s%.0d%s%s%s", b->mode ?: "", b->mode ? " tasks" : "",
		       b->mode && b->cpus ? ", " : "", b->cpus ? nr_cpus : 0,
		       !b->cpus ? "" : nr_cpus == 1 ? " CPU" : " CPUs",
		       duration && (b->mode || b->cpus) ? "; " : "", duration ?: "");
	free(duration);
	return text;
}

static void put_plan(const struct results_bench *b)
{
	char *duration = duration_text(b);
	int nr_cpus = 1;
	const char *s;

	for (s = b->cpus; *s; s++)
		nr_cpus += *s == ',';
	put_detail(text_of("%s tasks, pin %s, %d CPU%s; %d repeat%s of %s", b->mode, b->pin,
			   nr_cpus, nr_cpus == 1 ? "" : "s", b->repeats,
			   b->repeats == 1 ? "" : "s", duration ?: "?"));
	free(duration);
}

static void put_bench(const struct results *res, const struct results_bench *b)
{
	printf("\n%s", markdown ? "### " : "");
	put_text(b->name, strlen(b->name));
	fputs(": ", stdout);
	put_words(strlen(b->name) + 2, 4, b->unit);
	if (markdown)
		putchar('\n');
	if (res->origin)
		put_detail(imported_text(b));
	else
		put_plan(b);
	put_detail(parameters_text(b));
	if (b->dir_fs)
		put_detail(text_of("directory on %s%s%s%s%s%s", b->dir_fs,
				   b->dir_options ? " (" : "", b->dir_options ?: "",
				   b->dir_options ? ")" : "", b->dir_path ? ": " : "",
				   b->dir_path ?: ""));
	if (strcmp(b->status, "ok"))
		put_detail(text_of("%s%s%s", b->status, b->message ? ": " : "",
				   b->message ?: ""));
}

/* ---- its table ---- */

/* One line for each text, with the task counts that it is said of. */
struct footnotes {
	int	nr;
	struct {
		char	*text;
		char	tasks[64];
	} *notes;
};

/* Takes @text. Without memory, a note is lost. */
static void footnote(struct footnotes *f, int tasks, char *text)
{
	size_t len;
	char *list;
	int i;

	for (i = 0; text && i < f->nr && strcmp(f->notes[i].text, text); i++)
		;
	if (text && i == f->nr) {
		void *more = reallocarray(f->notes, f->nr + 1, sizeof(*f->notes));

		if (more) {
			f->notes = more;
			f->notes[f->nr].text = strdup(text);
			f->notes[f->nr].tasks[0] = '\0';
			f->nr += !!f->notes[f->nr].text;
		}
	}
	free(text);
	if (!text || i == f->nr)
		return;
	list = f->notes[i].tasks;
	len = strlen(list);
	if (len + 16 < sizeof(f->notes[i].tasks))
		sprintf(list + len, "%s%d", len ? "," : "", tasks);
	else if (list[len - 1] != '.')
		strcat(list, " ...");
}

static void put_footnotes(struct footnotes *f)
{
	int i;

	if (f->nr)
		putchar('\n');
	for (i = 0; i < f->nr; i++) {
		int column = printf("%s%s: ", markdown ? "* " : "  ", f->notes[i].tasks);

		put_words(column, 4, f->notes[i].text);
		free(f->notes[i].text);
	}
	free(f->notes);
}

/* Sentences that the benchmark itself had to say. The reader has checked the rest, not these. */
static void add_notes(struct footnotes *f, const struct report_curve *c,
		      const struct results_point *p)
{
	struct json_object *benches, *bench, *points, *point, *notes, *note;
	size_t i;

	if (!json_object_object_get_ex(c->res->root, "benchmarks", &benches))
		return;
	bench = json_object_array_get_idx(benches, c->bench - c->res->benches);
	if (!json_object_object_get_ex(bench, "points", &points))
		return;
	point = json_object_array_get_idx(points, p - c->bench->points);
	if (!json_object_object_get_ex(point, "notes", &notes) ||
	    !json_object_is_type(notes, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(notes); i++) {
		note = json_object_array_get_idx(notes, i);
		if (json_object_is_type(note, json_type_string))
			footnote(f, p->tasks, text_of("%s%s%s", c->variant, *c->variant ? ": " : "",
						      json_object_get_string(note)));
	}
}

static void add_footnotes(struct footnotes *f, const struct report_curve *c,
			  const struct results_point *p)
{
	const char *colon = *c->variant ? ": " : "";
	char *flags = strdup(p->flags), *flag, *save;

	if (p->skip)
		footnote(f, p->tasks, text_of("%s%s%s", c->variant, colon, p->skip));
	for (flag = flags ? strtok_r(flags, " ", &save) : NULL; flag;
	     flag = strtok_r(NULL, " ", &save))
		footnote(f, p->tasks, text_of("%s%s%s", c->variant, colon,
					      report__flag_text(flag)));
	free(flags);
	if (report__valid(p) && p->nr_repeats < c->bench->repeats)
		footnote(f, p->tasks, text_of("%s%sonly %d of %d repeats", c->variant, colon,
					      p->nr_repeats, c->bench->repeats));
	add_notes(f, c, p);
}

/* A cell, to the right of its column. */
static void put_cell(int cells, const char *text)
{
	if (markdown)
		printf(" %s |", text);
	else
		printf(" %*s", cells, text);
}

static void put_number(int cells, double x)
{
	int decimals = fabs(x) < 10 ? 4 : fabs(x) < 1000 ? 2 : 0;
	char text[400];

	snprintf(text, sizeof(text), "%.*f", decimals, x);
	put_cell(cells, isfinite(x) ? text : "-");
}

static void put_percent(int cells, double x)
{
	char text[400];

	snprintf(text, sizeof(text), "%.1f%%", 100 * x);
	put_cell(cells, isfinite(x) ? text : "-");
}

static const int wide[] = { 13, 7, 11, 9, 11, 9 }, narrow[] = { 12, 7, 10, 8, 10, 8 };

static void put_variant(const char *name)
{
	int cells = width(name, strlen(name)), len = strlen(name);

	if (markdown) {
		putchar(' ');
		put_text(name, len);
		fputs(" |", stdout);
		return;
	}
	putchar(' ');
	if (cells <= MAX_VARIANT) {
		printf("%s%*s", name, MAX_VARIANT - cells, "");
		return;
	}
	/* cut at a whole character */
	while (width(name, len) > MAX_VARIANT - 1 || (name[len] & 0xc0) == 0x80)
		len--;
	printf("%.*s~", len, name);
}

static void put_head(const struct results_bench *b, bool variants, const int *cells)
{
	const char * const heads[] = {
		"ops/s", "+-95%", b->total ? "seconds" : "us/op", "speed-up", "efficiency",
		"fairness",
	};
	size_t i;

	printf(markdown ? "\n| tasks |" : "\n%6s", "tasks");
	if (variants)
		put_variant("variant");
	for (i = 0; i < ARRAY_SIZE(heads); i++)
		put_cell(cells[i], heads[i]);
	putchar('\n');
	if (!markdown)
		return;
	printf("| ---: |%s", variants ? " --- |" : "");
	for (i = 0; i < ARRAY_SIZE(heads); i++)
		printf(" ---: |");
	putchar('\n');
}

static void put_row(const struct report_curve *c, const struct results_point *p, const int *cells)
{
	int i;

	printf(markdown ? "| %d |" : "%6d", p->tasks);
	if (*c->variant)
		put_variant(c->variant);
	if (!report__valid(p)) {
		put_cell(cells[0], p->skip ? "skipped" : "invalid");
		for (i = 1; markdown && i < (int)ARRAY_SIZE(wide); i++)
			printf(" |");
		putchar('\n');
		return;
	}
	put_number(cells[0], p->rate);
	put_percent(cells[1], p->ci95 / p->rate);
	put_number(cells[2], c->bench->total ? p->elapsed_sec : report__us_op(p));
	put_number(cells[3], report__speedup(c, p));
	put_number(cells[4], report__efficiency(c, p));
	put_number(cells[5], report__fairness(p));
	putchar('\n');
}

/* Means over the repeats of what the benchmark itself has counted. */
static void put_metrics(const struct report_curve *c, const struct results_point *p,
			struct footnotes *f)
{
	int m, r;

	for (m = 0; report__valid(p) && m < p->nr_metrics; m++) {
		const struct results_metric *metric = &p->metrics[m];
		double sum = 0;
		int nr = 0;

		for (r = 0; r < p->nr_repeats; r++) {
			if (isfinite(metric->values[r])) {
				sum += metric->values[r];
				nr++;
			}
		}
		/* a count that stayed 0 is not worth a line; a ratio that did may be the point */
		if (nr && (sum > 0 || sum < 0 || strchr(metric->unit, '/')))
			footnote(f, p->tasks, text_of("%s%s%s: %.6g %s", c->variant,
						      *c->variant ? ": " : "", metric->name,
						      sum / nr, metric->unit));
	}
}

/* ---- the law ---- */

static void put_value(FILE *f, const char *name, const struct scaling_value *v)
{
	fprintf(f, ", %s %.3g (%.3g to %.3g)", name, v->value, v->low, v->high);
}

static void put_peak(FILE *f, const struct scaling *fit)
{
	const struct scaling_value *peak = &fit->peak;

	if (isinf(peak->low))
		fputs(", no peak", f);
	else if (isinf(peak->value))
		fprintf(f, ", no peak (or one above %.0f tasks)", floor(peak->low));
	else if (isinf(peak->high))
		fprintf(f, ", peak at %.0f tasks (%.0f or more)", peak->value, peak->low);
	else
		fprintf(f, ", peak at %.0f tasks (%.0f to %.0f)", peak->value, peak->low,
			peak->high);
	if (isfinite(peak->value) && peak->value > fit->last)
		fprintf(f, ", beyond the %d that were measured", fit->last);
	if (fit->rms > BAD_FIT)
		fprintf(f, "; fits badly, the points are %.0f %% off", 100 * fit->rms);
}

static void put_law(const struct report_curve *c)
{
	const char *comma = *c->variant ? ", " : "";
	char *text = NULL;
	size_t size;
	FILE *f;

	if (*c->no_fit) {
		put_detail(text_of("USL%s%s: not fitted: %s", comma, c->variant, c->no_fit));
		return;
	}
	f = open_memstream(&text, &size);
	if (!f)
		return;
	fprintf(f, "USL%s%s: one task %.*f ops/s", comma, c->variant,
		c->fit.lambda.value < 1000 ? 3 : 0, c->fit.lambda.value);
	put_value(f, "contention alpha", &c->fit.alpha);
	put_value(f, "coherency beta", &c->fit.beta);
	put_peak(f, &c->fit);
	fclose(f);
	put_detail(text);
}

/* The curves of one benchmark, @first to @last. */
static void put_curves(const struct report *rep, int first, int last)
{
	const struct report_curve *c = &rep->curves[first];
	const struct results_bench *bench = c->bench;
	bool variants = last > first;
	const int *cells = variants ? narrow : wide;
	struct footnotes notes = { 0 };
	int i, v;

	put_bench(c->res, bench);
	if (!bench->nr_points)
		return;
	put_head(bench, variants, cells);
	/* as in the file: by tasks, each in its variants */
	for (i = 0; i < bench->nr_points; i++) {
		const struct results_point *p = &bench->points[i];

		for (v = first; v < last && strcmp(rep->curves[v].variant, p->variant); v++)
			;
		put_row(&rep->curves[v], p, cells);
		put_metrics(&rep->curves[v], p, &notes);
		add_footnotes(&notes, &rep->curves[v], p);
	}
	put_footnotes(&notes);
	putchar('\n');
	for (v = first; v <= last; v++)
		put_law(&rep->curves[v]);
}

void report__print(const struct report *rep, bool as_markdown, bool verbose)
{
	int f, i = 0, last;

	markdown = as_markdown;
	for (f = 0; f < rep->nr_files; f++) {
		if (f)
			printf("\n");
		put_file(rep->files[f]);
		if (!rep->files[f]->nr_benches)
			printf("\n%sno benchmark was run\n", markdown ? "" : "  ");
		for (; i < rep->nr_curves && rep->curves[i].res == rep->files[f]; i = last + 1) {
			last = report__last_of_bench(rep, i);
			put_curves(rep, i, last);
		}
		report__print_figures(rep->files[f], markdown, verbose);
	}
}
