/* SPDX-License-Identifier: GPL-2.0 */
#ifndef COMPARE_FIGURES_PRINT_H
#define COMPARE_FIGURES_PRINT_H

#include <stdio.h>
#include <json-c/json.h>

#include "compare/figures.h"

/* All of them as text, at most 78 columns wide but for long names; nothing where there is nothing. */
void comparison__print_figures(const struct comparison *c, FILE *f);

/* Those of a point by instrument; the caller's. */
struct json_object *comparison__json_figures(const struct comparison *c,
					     const struct compare_point *p);

/* Call @fn for each of them; @ch is valid during the call. */
void comparison__each_figure(const struct comparison *c, const struct compare_point *p,
			     void (*fn)(const char *kind, const struct figure_change *ch,
					void *data), void *data);

#endif
