/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Reading what other programs print about their benchmarks, and our own -f classic
 *
 *	text.c			lines and numbers of a text, and what is collected from them
 *	kernfs.c, ...		a format each
 *	write.c			a results file of it
 *	builtin-import.c	the command
 *
 * A text is not trusted: a parser takes a line whole, or not at all. The first error ends it.
 */
#ifndef IMPORT_H
#define IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <json-c/json.h>
#include <linux/compiler.h>
#include <linux/types.h>

#define IMPORT_MAX_SIZE		(64 << 20)	/* bytes of a text */
#define IMPORT_MAX_TASKS	65536

enum import_side { IMPORT_SIDE_NONE, IMPORT_SIDE_BASE, IMPORT_SIDE_PATCHED };

/* What the user says of the text; NULL and 0: nothing. */
struct import_options {
	const char		*name, *unit, *variant;	/* in place of what the format has */
	const char		*series;		/* the only column of a table to take */
	const char		*row;			/* lkp: the row that is the result */
	enum import_side	side;			/* lkp: whose values */
	int			tasks, cpus;		/* where the text does not tell */
	double			per;			/* seconds that a rate of a table is of */
	struct json_object	*parameters;		/* an object of strings */
};

struct import_repeat {
	double			rate;		/* ops a second */
	double			seconds;	/* of a timed point: what was measured */
	struct json_object	*given;		/* the numbers of the text, an object */
};

struct import_point {
	char			*variant;
	int			tasks, cpus;	/* cpus: 0 if not known */
	bool			valid;
	double			ci95;		/* as the text has it, else NaN */
	bool			timed;		/* the time of all is the result */
	char			*flags;		/* with commas between, or NULL */
	struct json_object	*metrics;	/* as in a results file, or NULL */
	int			nr_repeats;
	struct import_repeat	*repeats;
};

struct import_bench {
	char			*name, *unit;
	const char		*mode;		/* "process", "thread", or NULL */
	struct json_object	*parameters;	/* an object of strings */
	u64			loops, total;	/* 0: none, or not known */
	int			nr_cpus;
	int			*cpus;		/* that tasks were placed on; none: not known */
	int			nr_points;
	struct import_point	**points;
};

/* A text on its way, and what was found in it. */
struct import {
	const struct import_options	*opt;
	const char			*path;		/* as messages name it */
	const char			*next, *end;	/* what is left of the text */
	int				line_nr;
	char				*line;		/* the current one */
	size_t				room;
	char				variant[128];	/* that our classic output has named */
	char				*why;
	size_t				why_size;
	int				err;		/* the first, -errno */
	int				nr_benches;
	struct import_bench		**benches;
};

/**
 * struct import_format - a format that can be read
 * @name:	what is typed
 * @series, @sides, @per: which of the options that are not for all it has a use for
 * @parse:	reads the whole text of a struct import; 0 or -errno, after import__fail()
 */
struct import_format {
	const char	*name;
	bool		series, sides, per;
	int		(*parse)(struct import *im);
};

/* All formats, ended by one without a name. */
extern const struct import_format import_formats[];

const struct import_format *import__find_format(const char *name);

/**
 * import__parse - read a text
 * @format:	what it is in
 * @opt:	what the user says of it
 * @path:	how messages name it
 * @text:	its bytes; need not end in a zero
 * @size:	how many
 * @why:	what is wrong: file, line, and what was expected there
 * @why_size:	room there
 *
 * Return: what it says, at least one point, to be freed with import__free(); or NULL with @why
 * written and errno set: EINVAL, EFBIG above IMPORT_MAX_SIZE, ENOMEM.
 */
struct import *import__parse(const struct import_format *format, const struct import_options *opt,
			     const char *path, const char *text, size_t size, char *why,
			     size_t why_size);
void import__free(struct import *im);

struct outfile;

/**
 * import__write - write a results file
 * @im:		what was found
 * @format:	the name of the format
 * @file:	where the text was, or NULL for standard input
 * @kernel:	the release that it was measured on, or NULL
 * @date:	now, ISO 8601
 * @argc, @argv: our command line
 * @f:		open; errors stay in it
 */
void import__write(const struct import *im, const char *format, const char *file,
		   const char *kernel, const char *date, int argc, const char **argv,
		   struct outfile *f);

/* ---- text.c, for the formats ---- */

/*
 * The next line in im->line, without its end. False after the last one, or an error: one without a
 * line feed, with one of DOS, or with control characters.
 */
bool import__line(struct import *im);

/* Is the line blank, or a comment? One of ours may name the variant of what follows: "# name:". */
bool import__skip(struct import *im);

/* "FILE:LINE: text"; the first one counts. Return: -EINVAL. */
int import__fail(struct import *im, const char *fmt, ...) __printf(2, 3);

/* "FILE:LINE: WHAT is expected, there is LINE". Return: -EINVAL. */
int import__expected(struct import *im, const char *what);

/* Return: -ENOMEM. */
int import__no_memory(struct import *im);

/* These take what they want from *p, or nothing. */
bool scan__text(const char **p, const char *text);
bool scan__blanks(const char **p);			/* one or more */
bool scan__u64(const char **p, u64 max, u64 *value);	/* digits alone */

#define SCAN_ANY	-1	/* decimals, or none */
#define SCAN_EXPONENT	-2	/* the same, and an exponent */

/* @decimals: so many digits must stand behind the point, 0: no point; finite, not negative. */
bool scan__real(const char **p, int decimals, double *value);

/* The next field of CSV, which has no quotes; false behind the last one. @field: points into @p. */
bool scan__field(char **p, char **field);

/**
 * import__bench - the benchmark of that name, a new one if there is none
 * @name, @unit: unless the user has said others
 * @param, @value: a parameter that tells it from others of that name, or NULL
 *
 * Return: it, or NULL after import__fail().
 */
struct import_bench *import__bench(struct import *im, const char *name, const char *unit,
				   const char *param, const char *value);

/**
 * import__point - the point of that variant and task count, a new one if there is none
 * @bench:	NULL is allowed: an error was before
 * @variant:	of the text, or NULL if it has none: im->variant, or what the user says
 * @tasks:	0 if the text does not tell: what the user says
 *
 * Return: it, or NULL after import__fail().
 */
struct import_point *import__point(struct import *im, struct import_bench *bench,
				   const char *variant, u64 tasks);

/**
 * import__repeat - add one measurement to a point
 * @point:	NULL is allowed: an error was before
 * @rate:	ops a second
 * @given:	the numbers of the text; taken
 *
 * Return: 0 or -errno, after import__fail() where the rate is not above 0 or not finite.
 */
int import__repeat(struct import *im, struct import_point *point, double rate,
		   struct json_object *given);

/* The same of a whole run, a make or the like, that took @seconds. */
int import__elapsed(struct import *im, struct import_point *point, double seconds,
		    struct json_object *given);

/* A number into an object, or an array if @name is NULL. Nothing without memory: see the end. */
void import__give(struct json_object *to, const char *name, double value);

/* ---- the formats ---- */

int import_kernfs(struct import *im);
int import_locking(struct import *im);
int import_will_it_scale(struct import *im);
int import_unixbench(struct import *im);
int import_lkp(struct import *im);
int import_simple(struct import *im);
int import_make_times(struct import *im);
int import_rates(struct import *im);

/* Loops a second that make an index of 10 in UnixBench's test of that name, or short name; or 0. */
double unixbench__baseline(const char *test);

#endif
