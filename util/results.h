/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_RESULTS_H
#define KBENCH_RESULTS_H

#include <stdbool.h>
#include <json-c/json.h>
#include <linux/types.h>

/*
 * Results files, read back. Documentation/results-format.txt has the format. What a file holds is
 * not trusted: all that is here has been checked for its type and range, counts and sums included.
 * The tasks' own samples ("window_ops") are passed over: they would be most of the memory.
 *
 * Numbers that are null in the file are NaN (double) or 0 (where 0 means "none"). A file that was
 * imported from others' output has an origin, and may have null for all that they do not tell: the
 * time, ops, tasks and windows of a repeat (a rate may be all), mode, pin and CPUs. Names, units,
 * variants and flags have no control characters; other texts may have any but U+0000. Members that
 * are not known are skipped. In no object may two members have the same name.
 */

/* Times in ns since the repeat's gate_ns. */
struct results_window {
	s64	start_ns, end_ns;
	u64	ops;
	bool	dropped;
};

struct results_repeat {
	u64			gate_ns;	/* CLOCK_MONOTONIC; orders the repeats of a file */
	u64			elapsed_ns;	/* measured time */
	u64			ops;
	double			rate;		/* ops a second, NaN where there is none */
	double			jain;		/* fairness of task_ops, NaN if nothing was done */
	char			*flags;		/* names with blanks between, "" for none */
	int			nr_windows;
	struct results_window	*windows;
};

struct results_metric {
	char	*name, *unit;
	double	*values;			/* [nr_repeats of the point], NaN where not known */
};

/* What an instrument has found about a point; see figures.h. */
struct figures;

struct results_point {
	char			*variant;	/* "" if the benchmark has none */
	int			tasks, cpus;
	bool			valid;
	double			rate, ci95;	/* as the file says, NaN where there is none */
	double			elapsed_sec;	/* with --total, else NaN */
	char			*flags;		/* names with blanks between, "" for none */
	char			*skip;		/* why there is nothing, or NULL */
	int			nr_repeats, nr_metrics;
	struct results_repeat	*repeats;
	struct results_metric	*metrics;
	struct figures		*figures;	/* of a pass, else NULL */
};

struct results_bench {
	char			*name, *unit;
	char			*mode, *pin, *cpus;	/* NULL where not known; cpus: "0,1,2" */
	char			*status, *message;			/* message may be NULL */
	char			*instrument;	/* whose pass it is, or NULL */
	struct json_object	*parameters;	/* an object of strings; borrowed from root */
	char			*dir_path;	/* as --dir was given, or NULL */
	char			*dir_fs, *dir_options;			/* NULL where not known */
	u64			duration_ns, warmup_ns, window_ns, loops, total;
	int			repeats;	/* asked for */
	int			nr_points;
	struct results_point	*points;
};

struct results {
	char			*path;		/* as given */
	struct json_object	*root;		/* all but the tasks' samples */
	struct json_object	*environment;	/* borrowed from root; NULL where it is null */
	char			*command;	/* quoted for a shell */
	char			*origin;	/* the format that it was imported from, or NULL */
	char			*origin_file;	/* NULL: standard input */
	char			*imported;	/* when, ISO 8601; may be NULL */
	bool			complete;
	int			nr_benches;
	struct results_bench	*benches;
	int			nr_passes;
	struct results_bench	*passes;	/* with an instrument; their rates do not count */
};

/**
 * results__read - read a results file
 * @path:	the file; "-" is standard input
 * @why:	what is wrong: the file, the line and column (text that is no JSON) or the member
 *		("benchmarks[0].points[2].rate"), and what was expected there
 * @why_size:	room there
 *
 * Return: the results, to be freed with results__free(), or NULL with @why written and errno set:
 * as of open(2) and read(2); EINVAL if it is no results file, is cut short, or a member is wrong;
 * ENOTSUP if its version is one that we do not know; EFBIG above 2 GiB; ENOMEM.
 */
struct results *results__read(const char *path, char *why, size_t why_size);

/**
 * results__parse - the same of bytes in memory
 * @path:	how messages name them
 * @text:	the bytes; need not end in a zero
 * @size:	how many
 */
struct results *results__parse(const char *path, const char *text, size_t size, char *why,
			       size_t why_size);

/* NULL is allowed. */
void results__free(struct results *res);

/* The text of a member of the environment, "cpu.model"; "" where it is null or not there. Lists are
 * joined with blanks; numbers and objects as JSON writes them. The caller frees. NULL: no memory.
 */
char *results__env(const struct results *res, const char *name);

#endif
