// SPDX-License-Identifier: GPL-2.0
/*
 * plot.c: curves over task counts, drawn by gnuplot
 *
 * gnuplot gets a script with the data in it, on standard input and from no file that could be left
 * behind, and draws on its standard output; what has come, if it is whole, goes into the file.
 *
 * Text stands in single quotes, in which gnuplot interprets nothing, and has none in it.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/types.h>

#include "json-stream.h"
#include "outfile.h"
#include "plot.h"

#define NO_PNG		"no PNG in this gnuplot"	/* what the script says */
#define MAX_BYTES	(64 << 20)	/* of a plot; more is a gnuplot gone wild */
#define MAX_ERRORS	(64 << 10)

#define APOSTROPHE	"\342\200\231"
#define ELLIPSIS	"\342\200\246"

#define TEXT_COLUMNS	78
#define MAX_COLUMNS	200
#define TEXT_ROWS	18		/* of one panel */
#define WIDTH		1000		/* of a plot, in units of SVG, and all that follows */
#define PANEL_HEIGHT	380
#define PANEL2_HEIGHT	280
#define TITLE_HEIGHT	56
#define KEY_ROW		21
#define KEY_GAP		8
#define GAP		34
#define FOOT		64
#define LEFT		92
#define RIGHT		28
#define CHAR_WIDTH	8		/* roughly, of the key */
#define KEY_SAMPLE	70
#define PNG_SCALE	1.5
#define PNG_FONT	(11 * PNG_SCALE)	/* in points; */
#define SVG_FONT	15			/* in pixels */
#define PNG_TITLE_FONT	(12.5 * PNG_SCALE)
#define SVG_TITLE_FONT	17.0
#define PNG_SPACING	1.2		/* of the key's rows, to make them KEY_ROW high */
#define SVG_SPACING	0.93

#define LOG_X_SPAN	8		/* counts that span more get a logarithmic axis */
#define LOG_TIME_SPAN	20		/* and so do times */
#define MAX_TICS	10
#define MAX_BAR		1.4		/* of the highest point, where the axis ends at last */
#define HUGE_TIME	1e300
#define MAX_DECADES	2.5		/* of an axis that has room for 2, 5, 20, 50, ... */

enum plot_kind { PLOT_TEXT, PLOT_SVG, PLOT_PNG };

static u64 time_limit = 30 * NSEC_PER_SEC;	/* for gnuplot */

/*
 * Okabe and Ito, Color Universal Design (2008): told apart by the colour-blind, too. Their yellow
 * is left out, being hard to see on white.
 */
static const char * const colours[] = {
	"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000",
};

/* Filled ones first; gnuplot's numbers. */
static const int point_types[] = { 7, 5, 9, 13, 11, 6, 4, 8, 12, 10, 2 };

static int plot_kind(const char *path)
{
	size_t len = strlen(path);

	if (!strcmp(path, "-"))
		return PLOT_TEXT;
	if (len > 4 && path[len - 5] != '/') {
		if (!strcasecmp(path + len - 4, ".svg"))
			return PLOT_SVG;
		if (!strcasecmp(path + len - 4, ".png"))
			return PLOT_PNG;
	}
	return -EINVAL;
}

int plot__check_path(const char *path, char *why, size_t why_size)
{
	if (plot_kind(path) >= 0)
		return 0;
	snprintf(why, why_size,
		 "\"%s\": a plot is NAME.svg, NAME.png, or - for characters on standard output",
		 path);
	return -EINVAL;
}

/* ---- the script ---- */

static bool begins_character(char c)
{
	return (c & 0xc0) != 0x80;
}

/*
 * @text, of at most @max characters, on one line. A terminal gets plain ASCII. For gnuplot it is
 * UTF-8, which an SVG has to be, and has an apostrophe in place of single quotes: gnuplot 5.4 does
 * not find the end of a string with two of them in a row, doubled or not.
 */
static void put_text(FILE *f, const char *text, int max, bool ascii)
{
	struct json_object *utf8 = json_text(text);
	const char *s = utf8 ? json_object_get_string(utf8) : "";
	int n = 0, len = 0, i;

	for (i = 0; s[i]; i++)
		len += begins_character(s[i]);
	for (; *s; s++) {
		if (!begins_character(*s)) {
			if (!ascii)
				fputc(*s, f);
			continue;
		}
		if (++n == max && len > max) {
			fputs(ascii ? "~" : ELLIPSIS, f);
			break;
		}
		if ((*s >= 0 && *s < ' ') || *s == 0x7f)
			fputc(' ', f);
		else if (*s < 0 && ascii)
			fputc('?', f);
		else if (*s == '\'' && !ascii)
			fputs(APOSTROPHE, f);
		else
			fputc(*s, f);
	}
	json_object_put(utf8);
}

static void put_quoted(FILE *f, const char *text, int max)
{
	fputc('\'', f);
	put_text(f, text, max, false);
	fputc('\'', f);
}

/* What all curves have in common. */
struct extent {
	bool	elapsed;		/* time is that of all the work, not of a task for an op */
	int	first, last;		/* tasks */
	double	rate;			/* the highest, with its interval as far as there is room */
	double	time_min, time_max;	/* microseconds; so is the highest here */
};

/* Microseconds at @rate, which is the point's own, or an end of its interval. */
static double point_time(const struct plot_point *p, double rate, bool elapsed)
{
	return elapsed ? p->elapsed * 1e6 * (p->y / rate) : p->tasks * 1e6 / rate;
}

/* Has each point that can be drawn an elapsed time? */
static bool all_elapsed(const struct plot_curve *curves, int nr)
{
	int c, i;

	for (c = 0; c < nr; c++) {
		for (i = 0; i < curves[c].nr; i++) {
			const struct plot_point *p = &curves[c].points[i];

			if (p->tasks >= 1 && isfinite(p->y) && p->y >= 0 &&
			    !(isfinite(p->elapsed) && p->elapsed > 0))
				return false;
		}
	}
	return true;
}

static bool has_interval(const struct plot_point *p)
{
	return isfinite(p->y) && isfinite(p->low) && isfinite(p->high);
}

static int find_extent(const struct plot_curve *curves, int nr, bool bars, struct extent *e)
{
	double rate = 0, time = 0;
	int c, i;

	*e = (struct extent){ .time_min = INFINITY, .elapsed = all_elapsed(curves, nr) };
	for (c = 0; c < nr; c++) {
		for (i = 0; i < curves[c].nr; i++) {
			const struct plot_point *p = &curves[c].points[i];

			if (p->tasks < 1 || !isfinite(p->y) || p->y < 0)
				continue;
			e->first = e->first ? min(e->first, p->tasks) : p->tasks;
			e->last = max(e->last, p->tasks);
			rate = fmax(rate, p->y);
			if (bars && has_interval(p))
				e->rate = fmax(e->rate, p->high);
			if (p->y <= 0)
				continue;
			e->time_min = fmin(e->time_min, point_time(p, p->y, e->elapsed));
			time = fmax(time, point_time(p, p->y, e->elapsed));
			if (bars && has_interval(p) && p->low > 0)
				e->time_max = fmax(e->time_max,
						   point_time(p, p->low, e->elapsed));
		}
	}
	/* what is hardly known at all is not to push all the others down */
	e->rate = fmax(rate, fmin(e->rate, MAX_BAR * rate));
	e->time_max = fmax(time, fmin(e->time_max, MAX_BAR * time));
	return e->last ? 0 : -EINVAL;
}

static void put_number(FILE *f, double x)
{
	if (isfinite(x))
		fprintf(f, " %.10g", x);
	else
		fputs(" NaN", f);
}

/* What the axes count in, so that the numbers beside them are short. */
struct unit {
	double		size;		/* in ops/s, or microseconds */
	const char	*name;
};

static struct unit rate_unit(double rate)
{
	static const struct unit units[] = {
		{ 1e9, "10^9 ops/s" }, { 1e6, "million ops/s" }, { 1e3, "1000 ops/s" },
	};
	int i;

	for (i = 0; i < (int)ARRAY_SIZE(units); i++) {
		if (rate >= 2 * units[i].size)
			return units[i];
	}
	return (struct unit){ 1, "ops/s" };
}

static struct unit time_unit(double time, bool ascii)
{
	if (time >= 2 * USEC_PER_SEC)
		return (struct unit){ USEC_PER_SEC, "s" };
	if (time >= 2 * USEC_PER_MSEC)
		return (struct unit){ USEC_PER_MSEC, "ms" };
	return (struct unit){ 1, ascii ? "us" : "\302\265s" };
}

/* A curve: tasks, rate, its interval, time, its interval, all in the axes' units. */
static void put_data(FILE *f, const struct plot_curve *curve, int number, const struct extent *e)
{
	double rate = rate_unit(e->rate).size, time = time_unit(e->time_max, true).size;
	int i;

	fprintf(f, "$curve%d << END\n", number);
	for (i = 0; i < curve->nr; i++) {
		const struct plot_point *p = &curve->points[i];
		bool good = isfinite(p->y) && p->y >= 0, bar = good && has_interval(p);

		if (p->tasks < 1)
			continue;
		fprintf(f, "%d", p->tasks);
		put_number(f, good ? p->y / rate : NAN);
		put_number(f, bar ? fmax(p->low, 0) / rate : NAN);
		put_number(f, bar ? p->high / rate : NAN);
		put_number(f, good ? point_time(p, p->y, e->elapsed) / time : NAN);
		put_number(f, bar ? point_time(p, p->high, e->elapsed) / time : NAN);
		/* no end: out of the picture */
		put_number(f, !bar ? NAN : p->low <= 0 ? HUGE_TIME :
			   point_time(p, p->low, e->elapsed) / time);
		fputc('\n', f);
	}
	fputs("END\n", f);
}

/* The smallest of 1, 2, 5, 10, 20, ... by which @span has at most MAX_TICS steps. */
static int nice_step(int span)
{
	static const int steps[] = { 1, 2, 5 };
	int power, i;

	for (power = 1; power <= 100000000; power *= 10) {
		for (i = 0; i < (int)ARRAY_SIZE(steps); i++) {
			if (span / (steps[i] * power) <= MAX_TICS)
				return steps[i] * power;
		}
	}
	return 1000000000;
}

static void put_x_axis(FILE *f, const struct extent *e)
{
	int from = e->elapsed ? 0 : e->first, tic, step;
	double pad = max(e->last - from, 1) * 0.03;
	bool first = true;

	if (!e->elapsed && e->last > LOG_X_SPAN * e->first) {
		fprintf(f, "set logscale x 2\nset xrange [%.10g:%.10g]\nset xtics (",
			e->first / 1.12, e->last * 1.12);
		for (tic = 1; tic > 0 && tic <= e->last; tic *= 2) {
			if (tic < e->first)
				continue;
			fprintf(f, "%s%d", first ? "" : ", ", tic);
			first = false;
		}
		fputs(")\n", f);
		return;
	}
	step = nice_step(e->last - from);
	fprintf(f, "set xrange [%.10g:%.10g]\nset xtics %d, %d\n",
		e->elapsed ? 0 : from - pad, e->last + pad, (from + step - 1) / step * step, step);
}

static void put_time_axis(FILE *f, const struct extent *e, double unit)
{
	double low = e->time_min / unit, high = e->time_max / unit, tic;
	int decade;

	if (!(e->time_max > 0)) {
		fputs("set yrange [0:1]\n", f);
		return;
	}
	if (e->elapsed || high <= LOG_TIME_SPAN * low) {
		fprintf(f, "set yrange [0:%.10g]\n", high * 1.08);
		return;
	}
	low /= 1.3;
	high *= 1.3;
	fprintf(f, "set logscale y 10\nset yrange [%.10g:%.10g]\n", low, high);
	if (log10(high / low) > MAX_DECADES)
		return;
	fputs("set ytics (", f);
	for (decade = 0; decade <= MAX_DECADES + 1; decade++) {
		tic = pow(10, floor(log10(low)) + decade);
		fprintf(f, "%s%.10g, %.10g, %.10g", decade ? ", " : "", tic, 2 * tic, 5 * tic);
	}
	fputs(")\n", f);
}

/* One panel; @column is of the value, two more are the interval. No title without @max_title. */
static void put_curves(FILE *f, const struct plot_curve *curves, int nr, int column, int max_title,
		       bool ascii)
{
	int c;

	fputs("plot", f);
	/* behind the points; among characters they would hide the curves */
	for (c = 0; c < nr && !ascii; c++) {
		fprintf(f, " $curve%d using 1:%d:%d:%d with yerrorbars ", c, column, column + 1,
			column + 2);
		fprintf(f, "lc rgb '%s' lw 1.4 pt 7 ps 0 notitle, \\\n",
			colours[c % ARRAY_SIZE(colours)]);
	}
	for (c = 0; c < nr; c++) {
		fprintf(f, "%s $curve%d using 1:%d with linespoints ", c ? ", \\\n" : "", c,
			column);
		/* a terminal's points are letters: A for the first */
		if (ascii)
			fprintf(f, "lt 1 pt %d ", c + 1);
		else
			fprintf(f, "lc rgb '%s' lw 2 pt %d ps 0.9 dt %d ",
				colours[c % ARRAY_SIZE(colours)],
				point_types[c % ARRAY_SIZE(point_types)],
				1 + c / (int)ARRAY_SIZE(colours));
		if (max_title) {
			fputs("title ", f);
			put_quoted(f, curves[c].title, max_title);
		} else {
			fputs("notitle", f);
		}
	}
	fputc('\n', f);
}

static int longest_title(const struct plot_curve *curves, int nr)
{
	int c, longest = 0;

	for (c = 0; c < nr; c++)
		longest = max_t(int, longest, strnlen(curves[c].title, WIDTH));
	return longest;
}

static void put_rate_panel(FILE *f, const struct plot_curve *curves, int nr, const struct extent *e,
			   int max_title, bool ascii)
{
	struct unit unit = rate_unit(e->rate);

	fprintf(f, "set %s 'throughput of all tasks [%s]' noenhanced\n", ascii ? "title" : "ylabel",
		unit.name);
	fprintf(f, "set yrange [0:%.10g]\n", e->rate > 0 ? e->rate / unit.size * 1.08 : 1);
	put_curves(f, curves, nr, 2, max_title, ascii);
}

static void put_time_panel(FILE *f, const struct plot_curve *curves, int nr, const struct extent *e,
			   int max_title, bool ascii)
{
	struct unit unit = time_unit(e->time_max, ascii);

	fprintf(f, "set %s '%s [%s]' noenhanced\n", ascii ? "title" : "ylabel",
		e->elapsed ? "elapsed time" : "time of a task for an op", unit.name);
	put_time_axis(f, e, unit.size);
	put_curves(f, curves, nr, 5, max_title, ascii);
}

/* The upper panel is what the run was about. */
static void put_upper_panel(FILE *f, const struct plot_curve *curves, int nr,
			    const struct extent *e, int max_title, bool ascii)
{
	if (e->elapsed)
		put_time_panel(f, curves, nr, e, max_title, ascii);
	else
		put_rate_panel(f, curves, nr, e, max_title, ascii);
}

static void put_lower_panel(FILE *f, const struct plot_curve *curves, int nr,
			    const struct extent *e, bool ascii)
{
	fputs("set xlabel 'tasks' noenhanced\n", f);
	if (e->elapsed)
		put_rate_panel(f, curves, nr, e, 0, ascii);
	else
		put_time_panel(f, curves, nr, e, 0, ascii);
}

/* Both as characters, one after the other. put_key() has the titles. */
static void put_text_script(FILE *f, const struct plot_curve *curves, int nr,
			    const struct extent *e, int columns)
{
	fprintf(f, "set terminal dumb size %d,%d noenhanced mono nofeed\n", columns, TEXT_ROWS);
	fputs("unset key\nset border 3\nset tics nomirror\nset xlabel 'tasks' noenhanced\n", f);
	put_x_axis(f, e);
	put_upper_panel(f, curves, nr, e, 0, true);
	put_lower_panel(f, curves, nr, e, true);
}

/* A panel's place, in WIDTH and @height. */
static void put_margins(FILE *f, int top, int bottom, int height)
{
	fprintf(f, "set lmargin at screen %.10g\nset rmargin at screen %.10g\n",
		(double)LEFT / WIDTH, 1 - (double)RIGHT / WIDTH);
	fprintf(f, "set tmargin at screen %.10g\nset bmargin at screen %.10g\n",
		1 - (double)top / height, 1 - (double)bottom / height);
}

/* Cairo draws nicer text than the other; that there is neither is said on standard error. */
static void put_png_terminal(FILE *f, int width, int height)
{
	fprintf(f, "has_cairo = strstrt(GPVAL_TERMINALS, ' pngcairo ')\n"
		"if (!has_cairo && !strstrt(GPVAL_TERMINALS, ' png ')) {\n"
		"print '" NO_PNG "'\nexit status 1\n}\n");
	fprintf(f, "set macros\nkind = has_cairo ? 'pngcairo pointscale %g' : 'png truecolor'\n",
		PNG_SCALE);
	fprintf(f, "set terminal @kind size %d,%d noenhanced font 'sans-serif,%g' linewidth %g",
		width, height, PNG_FONT, PNG_SCALE);
}

static void put_picture_script(FILE *f, enum plot_kind kind, const char *title,
			       const struct plot_curve *curves, int nr, const struct extent *e)
{
	int longest = longest_title(curves, nr), room = WIDTH - LEFT - RIGHT;
	int key_columns = max(min(room / (KEY_SAMPLE + longest * CHAR_WIDTH), nr), 1);
	int key_rows = (nr + key_columns - 1) / key_columns;
	int top = TITLE_HEIGHT + key_rows * KEY_ROW + KEY_GAP;
	int top2 = top + PANEL_HEIGHT + GAP;
	int height = top2 + PANEL2_HEIGHT + FOOT;

	if (kind == PLOT_SVG)
		fprintf(f, "set terminal svg size %d,%d fixed noenhanced font 'sans-serif,%d'",
			WIDTH, height, SVG_FONT);
	else
		put_png_terminal(f, WIDTH * PNG_SCALE, height * PNG_SCALE);
	fputs(" background '#ffffff'\n", f);
	fputs("set multiplot\nset border 3 lc rgb '#404040'\nset tics nomirror tc rgb '#000000'\n"
	      "set grid xtics ytics lt 1 lw 0.7 lc rgb '#d0d0d0'\nset errorbars 0.6\n", f);
	put_x_axis(f, e);

	put_margins(f, top, top + PANEL_HEIGHT, height);
	fprintf(f, "set label 1 at screen %.10g, screen %.10g left noenhanced font ',%g' ",
		(double)LEFT / WIDTH, 1 - TITLE_HEIGHT * 0.5 / height,
		kind == PLOT_PNG ? PNG_TITLE_FONT : SVG_TITLE_FONT);
	put_quoted(f, title, room / 9);
	fprintf(f, "\nset key noenhanced at screen %.10g, screen %.10g left top Left reverse",
		(double)(LEFT - 10) / WIDTH, 1 - (TITLE_HEIGHT - 4.0) / height);
	fprintf(f, " horizontal maxcols %d spacing %g\n", key_columns,
		kind == PLOT_PNG ? PNG_SPACING : SVG_SPACING);
	put_upper_panel(f, curves, nr, e, (room - KEY_SAMPLE) / CHAR_WIDTH, false);

	fputs("unset label 1\nunset key\n", f);
	put_margins(f, top2, top2 + PANEL2_HEIGHT, height);
	put_lower_panel(f, curves, nr, e, false);
	fputs("unset multiplot\n", f);
}

/* The whole script in a file in memory, to be read from its start; or -errno. */
static int make_script(enum plot_kind kind, const char *title, const struct plot_curve *curves,
		       int nr, const struct extent *e, int columns)
{
	int err, c, fd = memfd_create("plot", MFD_CLOEXEC);
	FILE *f = NULL;

	if (fd >= 0)
		f = fdopen(dup(fd), "w");
	if (!f) {
		err = -errno;
		if (fd >= 0)
			close(fd);
		return err;
	}
	/* its default format puts a blank before numbers */
	fputs("set encoding utf8\nset format '%g'\n", f);
	for (c = 0; c < nr; c++)
		put_data(f, &curves[c], c, e);
	if (kind == PLOT_TEXT)
		put_text_script(f, curves, nr, e, columns);
	else
		put_picture_script(f, kind, title, curves, nr, e);
	err = ferror(f) ? -EIO : 0;
	if (fclose(f) || lseek(fd, 0, SEEK_SET) < 0)
		err = -errno;
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

/* ---- gnuplot ---- */

/* What comes out of a pipe; always ends in a zero. */
struct stream {
	int	fd;
	char	*data;
	size_t	len, size, max;
};

static u64 now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static void stream__close(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}

/* Take what is there. 0 or -errno. */
static int stream__read(struct stream *s)
{
	char buf[1 << 14], *data;
	ssize_t n = read(s->fd, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	if (n == 0) {
		stream__close(s);
		return 0;
	}
	if (s->len + n > s->max)
		return -EFBIG;
	if (s->len + n >= s->size) {
		data = realloc(s->data, 2 * s->size + sizeof(buf) + 1);
		if (!data)
			return -ENOMEM;
		s->data = data;
		s->size = 2 * s->size + sizeof(buf) + 1;
	}
	memcpy(s->data + s->len, buf, n);
	s->len += n;
	s->data[s->len] = '\0';
	return 0;
}

/* Numbers with a decimal point, and no settings of the user's; the strings are environ's. */
static char **plot_environ(void)
{
	size_t i, n = 0, nr = 0;
	char **env;

	while (environ && environ[nr])
		nr++;
	env = calloc(nr + 2, sizeof(*env));
	if (!env)
		return NULL;
	for (i = 0; i < nr; i++) {
		if (strncmp(environ[i], "LC_", 3) && strncmp(environ[i], "LANG", 4) &&
		    strncmp(environ[i], "GNUTERM=", 8))
			env[n++] = environ[i];
	}
	env[n] = (char *)"LC_ALL=C";
	return env;
}

/* Start it. 0 with @pid, and the reading ends of its output in @streams; or -errno. */
static int start_gnuplot(int script, struct stream *streams, pid_t *pid)
{
	static const char * const argv[] = { "gnuplot", "-d", NULL };	/* -d: no start-up files */
	int out[2] = { -1, -1 }, errors[2] = { -1, -1 }, err;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char **env = plot_environ();
	sigset_t set;

	if (!env)
		return -ENOMEM;
	if (pipe2(out, O_CLOEXEC) || pipe2(errors, O_CLOEXEC)) {
		err = -errno;
		goto out;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, script, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
	posix_spawnattr_init(&attr);
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&attr, &set);
	sigaddset(&set, SIGPIPE);
	posix_spawnattr_setsigdefault(&attr, &set);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	err = -posix_spawnp(pid, "gnuplot", &actions, &attr, (char * const *)argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
out:
	free(env);
	if (out[1] >= 0)
		close(out[1]);
	if (errors[1] >= 0)
		close(errors[1]);
	streams[0].fd = out[0];
	streams[1].fd = errors[0];
	return err;
}

/* Read until both ends are closed. 0, -ETIMEDOUT, or what reading failed with. */
static int read_streams(struct stream *streams, u64 deadline)
{
	int i, err = 0;

	while (!err && (streams[0].fd >= 0 || streams[1].fd >= 0)) {
		struct pollfd fds[2] = {
			{ .fd = streams[0].fd, .events = POLLIN },
			{ .fd = streams[1].fd, .events = POLLIN },
		};
		u64 t = now();

		if (t >= deadline)
			return -ETIMEDOUT;
		if (poll(fds, 2, (deadline - t) / NSEC_PER_MSEC + 1) < 0) {
			if (errno != EINTR)
				return -errno;
			continue;
		}
		for (i = 0; !err && i < 2; i++) {
			if (fds[i].revents)
				err = stream__read(&streams[i]);
		}
	}
	return err;
}

/* Wait for @pid, killing it once the time is over. 0 with its @status, or -ETIMEDOUT. */
static int reap(pid_t pid, u64 deadline, int *status)
{
	const struct timespec nap = { .tv_nsec = 2 * NSEC_PER_MSEC };
	int err = 0;
	pid_t ret;

	*status = 0;
	for (;;) {
		ret = waitpid(pid, status, err ? 0 : WNOHANG);
		if (ret == pid || (ret < 0 && errno != EINTR))
			return err;	/* ECHILD: who ignores SIGCHLD does not learn of it */
		if (!err && now() >= deadline) {
			kill(pid, SIGKILL);
			err = -ETIMEDOUT;
		}
		nanosleep(&nap, NULL);
	}
}

/* What it complained about last, without blanks at the front; warnings only where that is all. */
static const char *last_complaint(char *text)
{
	const char *complaint = "", *warning = "";
	char *line, *save;

	if (!text)
		return "";
	for (line = strtok_r(text, "\r\n", &save); line; line = strtok_r(NULL, "\r\n", &save)) {
		line += strspn(line, " \t");
		if (strspn(line, "^ \t") == strlen(line))
			continue;
		if (strstr(line, "arning"))
			warning = line;
		else
			complaint = line;
	}
	return *complaint ? complaint : warning;
}

static int explain(int err, int status, char *errors, char *why, size_t why_size)
{
	const char *complaint;
	size_t i;

	switch (err) {
	case 0:
		break;
	case -ETIMEDOUT:
		snprintf(why, why_size, "gnuplot did not end within %llu s, and was killed",
			 (unsigned long long)(time_limit / NSEC_PER_SEC));
		return err;
	case -EFBIG:
		snprintf(why, why_size, "gnuplot writes without end, and was killed");
		return err;
	default:
		snprintf(why, why_size, "gnuplot: %s", strerror(-err));
		return err;
	}
	if (errors && strstr(errors, NO_PNG)) {
		snprintf(why, why_size,
			 "this gnuplot cannot draw PNG files: name an .svg file, or apt-get install gnuplot-nox");
		return -ENOTSUP;
	}
	complaint = last_complaint(errors);
	if (*complaint)
		snprintf(why, why_size, "gnuplot: %s", complaint);
	else if (WIFSIGNALED(status))
		snprintf(why, why_size, "gnuplot was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else if (status)
		snprintf(why, why_size, "gnuplot ended with status %d, and said nothing",
			 WEXITSTATUS(status));
	else
		snprintf(why, why_size, "gnuplot drew nothing, or no whole plot");
	for (i = 0; i < why_size && why[i]; i++) {
		if ((unsigned char)why[i] < ' ' || why[i] == 0x7f)
			why[i] = ' ';
	}
	return -EIO;
}

static bool is_whole(enum plot_kind kind, const struct stream *s)
{
	static const char begin[] = "\x89PNG\r\n\x1a\n", end[] = "IEND\xae\x42\x60\x82";
	size_t len = s->len;

	switch (kind) {
	case PLOT_PNG:
		return len > 16 && !memcmp(s->data, begin, 8) && !memcmp(s->data + len - 8, end, 8);
	case PLOT_SVG:
		while (len && strchr(" \r\n", s->data[len - 1]))
			len--;
		return len > 6 && s->data[0] == '<' && !memcmp(s->data + len - 6, "</svg>", 6);
	case PLOT_TEXT:
	default:
		return len;
	}
}

/* Draw into memory, @drawing->data, which the caller frees also on an error. */
static int run_gnuplot(enum plot_kind kind, int script, struct stream *drawing, char *why,
		       size_t why_size)
{
	struct stream streams[2] = {
		{ .fd = -1, .max = MAX_BYTES }, { .fd = -1, .max = MAX_ERRORS },
	};
	u64 deadline = now() + time_limit;
	int err, status = 0;
	pid_t pid = -1;

	err = start_gnuplot(script, streams, &pid);
	if (err) {
		stream__close(&streams[0]);
		stream__close(&streams[1]);
		if (err == -ENOENT)
			snprintf(why, why_size,
				 "gnuplot is not installed: apt-get install gnuplot-nox");
		else
			snprintf(why, why_size, "starting gnuplot: %s", strerror(-err));
		return err;
	}
	err = read_streams(streams, deadline);
	stream__close(&streams[0]);
	stream__close(&streams[1]);
	if (err) {
		kill(pid, SIGKILL);
		reap(pid, 0, &status);
	} else {
		err = reap(pid, deadline, &status);
	}
	if (err || status || !is_whole(kind, &streams[0]))
		err = explain(err, status, streams[1].data, why, why_size);
	free(streams[1].data);
	*drawing = streams[0];
	return err;
}

/* ---- what is written ---- */

static int text_columns(void)
{
	struct winsize ws;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) || ws.ws_col < 40)
		return TEXT_COLUMNS;
	return min_t(int, ws.ws_col, MAX_COLUMNS);
}

/* A line of plain ASCII that fits. */
static void put_line(struct outfile *out, const char *mark, const char *text, int columns)
{
	char *line = NULL;
	size_t size;
	FILE *f = open_memstream(&line, &size);

	if (!f)
		return;
	put_text(f, text, columns - strlen(mark), true);
	if (!fclose(f))
		outfile__printf(out, "%s%s\n", mark, line);
	free(line);
}

/* What gnuplot drew, without blanks at the ends of lines and whatever is no plain ASCII. */
static void put_drawing(struct outfile *out, const struct stream *drawing)
{
	const char *s = drawing->data, *end = s + drawing->len;

	while (s < end && strchr("\f\r\n", *s))
		s++;
	while (s < end) {
		const char *eol = memchr(s, '\n', end - s) ?: end, *last = eol;

		while (last > s && strchr(" \f\r", last[-1]))
			last--;
		for (; s < last; s++)
			outfile__put(out, *s < ' ' || *s >= 0x7f ? "?" : s, 1);
		outfile__puts(out, "\n");
		s = eol + 1;
	}
}

static void put_key(struct outfile *out, const char *title, const struct plot_curve *curves,
		    int nr, int columns)
{
	int c;

	outfile__puts(out, "\n");
	put_line(out, "  ", title, columns);
	for (c = 0; c < nr; c++) {
		char mark[] = "    A  ";

		mark[4] += c;
		put_line(out, mark, curves[c].title, columns);
	}
}

int plot__draw(const char *path, const char *title, const struct plot_curve *curves, int nr,
	       char *why, size_t why_size)
{
	struct stream drawing = { .fd = -1 };
	int kind = plot_kind(path), err, script, columns = text_columns();
	struct outfile *out;
	struct extent e;

	if (kind < 0)
		return plot__check_path(path, why, why_size);
	if (nr > PLOT_MAX_CURVES) {
		snprintf(why, why_size, "%d curves are more than can be told apart (%d)", nr,
			 PLOT_MAX_CURVES);
		return -EINVAL;
	}
	if (find_extent(curves, nr, kind != PLOT_TEXT, &e)) {
		snprintf(why, why_size, "there is nothing to draw: no curve has a valid point");
		return -EINVAL;
	}
	fflush(stdout);
	out = outfile__new(path);
	err = out ? outfile__open(out) : -ENOMEM;
	if (err)
		goto out_file;
	script = make_script(kind, title, curves, nr, &e, columns);
	if (script < 0) {
		err = script;
		snprintf(why, why_size, "writing to memory: %s", strerror(-err));
		goto out;
	}
	err = run_gnuplot(kind, script, &drawing, why, why_size);
	close(script);
	if (err)
		goto out;
	if (kind == PLOT_TEXT) {
		put_key(out, title, curves, nr, columns);
		put_drawing(out, &drawing);
	} else {
		outfile__put(out, drawing.data, drawing.len);
	}
	err = outfile__commit(out);
out_file:
	if (err)
		snprintf(why, why_size, "writing %s: %s; %s", out ? outfile__path(out) : path,
			 strerror(-err), outfile__hint(err));
out:
	free(drawing.data);
	outfile__free(out);
	return err;
}
