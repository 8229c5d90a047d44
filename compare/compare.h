/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Comparing results of two sides, base and patched
 *
 *	match.c			which points of the files belong together, and what differs else
 *	verdict.c		what the numbers of two points say: the statistics
 *	scaling.c		the curves over task counts: scalability, plots
 *	figures.c		what instruments have found, side by side
 *	noise.[ch]		the floor of this machine, as "perf-kbench noise" has found it
 *	print.c			text, JSON, CSV, Markdown and LKP's layout
 *	figures-print.c		the figures in these
 *	builtin-compare.c	the command
 */
#ifndef COMPARE_H
#define COMPARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <linux/types.h>

#include "util/results.h"

enum compare_side { BASE, PATCHED, NR_SIDES };

/* ---- verdict.c ---- */

enum verdict {
	VERDICT_FASTER,
	VERDICT_SLOWER,
	VERDICT_SAME,		/* within verdict_rules::same of each other */
	VERDICT_UNSURE,		/* cannot tell */
	VERDICT_NONE,		/* too little data to say anything, see point_verdict::why */
};

/*
 * Instructions of a guest (tools/kbench-lab --icount) may be the same to the last digit in all
 * repeats and boots, or differ by what no repeat tells: which slab, which chain of a hash. This is
 * by how much boots of one kernel differ: the standard deviation of their rate, and its degrees of
 * freedom (tools/lab/bench; Documentation/lab.txt has what it found).
 */
#define VERDICT_COUNT_NOISE	0.0003
#define VERDICT_COUNT_DF	20

/* The repeats of a point in one file, in the order of time. */
struct verdict_run {
	const struct results		*file;
	const struct results_point	*point;
	int				nr;
	const struct results_repeat	**repeats;	/* only those with a rate */
};

struct verdict_side {
	bool			several_boots;	/* its files are of more than one boot */
	int			nr_runs;
	struct verdict_run	*runs;		/* those without a repeat left out */
};

/* All in shares of 1, so 0.03 is 3 %. */
struct verdict_rules {
	double	same;		/* margin of equivalence */
	double	noise;		/* standard deviation from run to run, NaN: not known */
	double	noise_df;	/* its degrees of freedom */
	double	assumed;	/* in its place where there is one run a side; NaN: none may be */
};

/* What a difference was judged against. */
enum verdict_noise {
	NOISE_RUNS,		/* several files a side */
	NOISE_FLOOR,		/* a measured floor, and files where there are several */
	NOISE_ASSUMED,		/* verdict_rules::assumed */
	NOISE_COUNTED,		/* instructions: what boots may differ by, whatever was seen */
	NOISE_PAIRED,		/* blocks of A B B A */
};

struct point_verdict {
	enum verdict		verdict;
	enum verdict_noise	noise;
	bool			counted;		/* in instructions, not in time */
	double			rate[NR_SIDES];		/* mean over the runs */
	double			ci95[NR_SIDES];		/* half of its 95 % interval */
	double			se[NR_SIDES];		/* standard error of log(rate) */
	double			ratio, low, high;	/* patched / base, 95 % interval */
	double			low90, high90;		/* 90 %: that of two one-sided tests */
	double			t, df, p, p_holm;
	double			log_se;
	double			shown;		/* smallest change found with 80 %, 0.03 is 3 % */
	int			runs, repeats;	/* of the side that has fewer; paired: blocks */
	double			outer;		/* share of the variance that is of whole runs */
	int			more;		/* this many more, for @target; 0: no telling */
	bool			more_runs;	/* @more are runs (files, blocks), else repeats */
	double			target;
	char			why[128];	/* why there is no verdict */
};

/* Mean rate of a run's repeats; its standard error and degrees of freedom are bench_mean()'s. */
double verdict_run__mean(const struct verdict_run *run, double *se, double *df);

/**
 * verdict__compare - what two points say
 * @side:	the data of both
 * @rules:	how to judge
 * @v:		the answer; verdict and p_holm are preliminary until verdict__holm()
 */
void verdict__compare(const struct verdict_side side[NR_SIDES], const struct verdict_rules *rules,
		      struct point_verdict *v);

/**
 * verdict__paired - the same for runs that were interleaved
 * @blocks:	log(patched / base) of each block of A B B A
 * @nr:		how many; 0 is allowed
 * @v:		its rate, ci95 and se are kept, all else is new
 */
void verdict__paired(const double *blocks, int nr, struct point_verdict *v);

/* Correct p for the number of points, and say the words. */
void verdict__holm(struct point_verdict **v, int nr, const struct verdict_rules *rules);

const char *verdict__name(enum verdict verdict);

/* What --gate says of all points: 0 no regression beyond @gate, 1 there is one, 125 cannot tell. */
int verdict__gate(struct point_verdict **v, int nr, double gate);

/* ---- match.c ---- */

/* A point that both sides have. */
struct compare_point {
	const struct results_bench	*bench;		/* of the first file of base */
	const struct results_point	*point[NR_SIDES];	/* of the first file that has it */
	char				*flags[NR_SIDES];	/* of all files, or NULL */
	struct verdict_side		side[NR_SIDES];
	struct point_verdict		v;
};

/* Something to be said of the files: a difference, or a point of one side only. */
struct compare_note {
	enum {
		NOTE_REFUSED,	/* must not differ */
		NOTE_ENV,	/* differs, and may matter */
		NOTE_LEFT_OUT,	/* one side has it */
	} kind;
	char	*text;
};

struct comparison {
	const char		*name[NR_SIDES];	/* of the sides: "base", "patched" */
	const char		*command[NR_SIDES];	/* shown in place of the files, or NULL */
	int			nr_files[NR_SIDES];
	struct results		**files[NR_SIDES];	/* borrowed */
	int			nr_points, nr_notes;
	int			nr_lost;	/* points without patched, files cut short */
	struct compare_point	*points;
	struct compare_note	*notes;
};

/**
 * comparison__new - find the points that belong together
 * @files, @nr_files: of both sides; kept by the caller until comparison__free()
 *
 * Return: the comparison without verdicts, or NULL if out of memory.
 */
struct comparison *comparison__new(struct results **files[NR_SIDES],
				   const int nr_files[NR_SIDES]);
void comparison__free(struct comparison *c);

/* How many notes of that kind there are. */
int comparison__count(const struct comparison *c, int kind);

/* What differs is what is to be compared: nothing is a reason to refuse any more. */
void comparison__allow(struct comparison *c);

/* ---- print.c ---- */

enum compare_format { COMPARE_TEXT, COMPARE_JSON, COMPARE_CSV, COMPARE_MARKDOWN, COMPARE_LKP };

#define COMPARE_HELP_SAME \
	"\"same\" is what differs by less than this many per cent (default 3)"
#define COMPARE_HELP_GATE \
	"exit with 1 if something is slower by more, 0 if nothing is, 125: cannot tell"

#define GATE_CANNOT_TELL	125	/* as "git bisect run" takes it: skip this commit */

/* By its name; 0, or -EINVAL after having told the user which there are. */
int compare_format__parse(const char *name, enum compare_format *format);

/* The line of --gate, @pct per cent, with what it has said. */
void comparison__print_gate(double pct, int said, FILE *f);

/* 0 or -errno of writing to @f. */
int comparison__print(const struct comparison *c, enum compare_format format,
		      const struct verdict_rules *rules, FILE *f);

/* ---- scaling.c ---- */

/* How both sides scale, for curves of enough points: a few lines each, none for others. */
void comparison__print_scaling(const struct comparison *c, FILE *f);

/* Draw the curves of both sides; @path, @why and what is returned are plot__draw()'s. */
int comparison__plot(const struct comparison *c, const char *path, char *why, size_t why_size);

#endif
