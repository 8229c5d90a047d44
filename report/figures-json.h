/* SPDX-License-Identifier: GPL-2.0 */
#ifndef FIGURES_JSON_H
#define FIGURES_JSON_H

struct figures;
struct json_stream;

/* Write the member "figures", as Documentation/results-format.txt has it. */
void figures__write_json(const struct figures *f, struct json_stream *s);

#endif
