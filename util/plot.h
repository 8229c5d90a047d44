/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_PLOT_H
#define KBENCH_PLOT_H

#include <stddef.h>

/*
 * Curves over task counts, drawn by gnuplot, which is looked for when a plot is asked for.
 */

/*
 * @y and its interval in ops a second of all tasks; NaN where not known. @elapsed: seconds that
 * work of a fixed size took; 0, or NaN, where there was no such work.
 */
struct plot_point {
	int	tasks;
	double	y, low, high;
	double	elapsed;
};

struct plot_curve {
	const char		*title;		/* for the key: "base kernfs/lookup" */
	int			nr;
	struct plot_point	*points;	/* by ascending tasks */
};

#define PLOT_MAX_CURVES	32	/* more could not be told apart */

/**
 * plot__draw - draw two panels against tasks
 * @path:	NAME.svg or NAME.png, which is put in place when it is whole; "-" draws with
 *		characters on standard output, as wide as the terminal (78 columns if it is none)
 * @title:	above both
 * @curves:	what to draw; intervals are error bars; a point without @y is a gap in the line.
 *		Characters have no error bars
 * @nr:		how many
 * @why:	what went wrong and what to do about it ("gnuplot is not installed: ...")
 * @why_size:	room there
 *
 * The upper panel is the throughput, the lower one task-microseconds an op. Where all points have
 * an elapsed time, the upper one is that, on plain axes from 0 on, the lower one the throughput.
 *
 * Titles may hold any bytes: nothing in them is interpreted, and what cannot be drawn is replaced.
 *
 * Return: 0; -EINVAL for another name, or nothing to draw; -ENOENT without gnuplot, or without the
 * directory; -ENOTSUP if this gnuplot cannot draw such files; -ETIMEDOUT if it did not end; -EIO if
 * it failed; another -errno, as outfile__open() and outfile__commit() have them.
 */
int plot__draw(const char *path, const char *title, const struct plot_curve *curves, int nr,
	       char *why, size_t why_size);

/* Whether plot__draw() would take this name: 0, or -EINVAL with @why written. */
int plot__check_path(const char *path, char *why, size_t why_size);

#endif
