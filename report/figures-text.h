/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tables of figures as text, at most 78 columns wide
 */
#ifndef FIGURES_TEXT_H
#define FIGURES_TEXT_H

#include <stdbool.h>
#include <stdio.h>

#include "util/figures.h"

/**
 * struct figures_heading - what stands above a table
 * @variant:	"" if the benchmark has none
 * @tasks:	how many
 * @rate:	ops a second of the pass, NaN if there is none; half of its 95 % interval is @ci95
 * @clean:	ops a second of the run without the instrument, with @clean_ci95; NaN if not known
 * @verbose:	all rows, with their detail
 */
struct figures_heading {
	const char	*variant;
	int		tasks;
	double		rate, ci95, clean, clean_ci95;
	bool		verbose;
};

/* @text in lines of at most 78 columns, each behind @indent blanks. */
void figures__print_wrapped(const char *text, int indent, FILE *out);

void figures__print(const struct figures *f, const struct figures_heading *heading, FILE *out);

#endif
