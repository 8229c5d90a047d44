/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_SCALING_H
#define KBENCH_SCALING_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The Universal Scalability Law: X(N) = lambda N / (1 + alpha (N - 1) + beta N (N - 1)).
 * alpha is contention, what waits for its turn; beta is coherency, what all must agree on.
 *
 * N. J. Gunther, Guerrilla Capacity Planning, Springer 2007, chapters 4 to 6.
 */
struct scaling_point {
	int	tasks;
	double	rate, se;	/* ops a second, and its standard error (NaN: not known) */
};

struct scaling_value {
	double	value, low, high;	/* with its 95 % interval */
};

struct scaling {
	struct scaling_value	lambda;		/* ops a second of one task */
	struct scaling_value	alpha, beta;
	struct scaling_value	peak;		/* tasks at which X is largest; INFINITY: none */
	double			rms;		/* relative error of the fit, root of mean square */
	int			nr_points;	/* that were used */
	int			last;		/* the most tasks of these; beyond lies a guess */
	int			nr_draws;
	double			*alpha_draws, *beta_draws;	/* of the bootstrap, unsorted */
};

#define SCALING_MIN_POINTS	4

/**
 * scaling__fit - fit the law to a curve
 * @points:	the curve, in any order; only points of at most @cpus tasks are used: above, the
 *		scheduler is measured, too
 * @nr:		how many
 * @cpus:	CPUs that the tasks ran on
 * @seed:	of the bootstrap behind the intervals: the same points and seed give the same answer
 * @fit:	the result, to be freed with scaling__free(), on an error too
 * @why:	why there is none
 * @why_size:	room there
 *
 * Where a used point's standard error is not known, those of the others are not looked at, and the
 * distances of the points from the curve tell how sure it is. Not for several threads at once:
 * libRmath has one generator for all.
 *
 * Return: 0; -ENODATA if fewer than SCALING_MIN_POINTS task counts can be used; -EINVAL if the
 * curve is none (a rate that is not above 0, or beyond arithmetic); -ENOMEM.
 */
int scaling__fit(const struct scaling_point *points, int nr, int cpus, unsigned int seed,
		 struct scaling *fit, char *why, size_t why_size);

/* The law itself, ops a second of @tasks tasks. */
double scaling__at(const struct scaling *fit, int tasks);

/**
 * scaling__differs - did alpha, or beta, change?
 * @base:	its draws in the one fit, unsorted
 * @nr_base:	how many, at least 1
 * @patched:	and in the other; that fit may have had the same seed
 * @nr_patched:	how many, at least 1
 * @diff:	patched less base: the median, and its 95 % interval
 *
 * Return: true if the interval leaves 0 out.
 */
bool scaling__differs(const double *base, int nr_base, const double *patched, int nr_patched,
		      struct scaling_value *diff);

/* Also of one that is all zeros, or has been freed. */
void scaling__free(struct scaling *fit);

#endif
