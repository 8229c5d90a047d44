/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Passes: a benchmark that has been run clean is run again, once with each instrument
 */
#ifndef PASSES_H
#define PASSES_H

#include <stdbool.h>
#include <subcmd/parse-options.h>

#include "instrument/instrument.h"

/* The options that ask for instruments; ended by OPT_PARENT() of what @parent is. */
extern const struct option pass_options[];

/*
 * "--counters LIST" as "--counters=LIST", in place: in the options of libsubcmd, an optional value
 * can only stand behind a "=". What is joined is not freed. Return: how many arguments are left.
 */
int passes__join_arguments(int argc, const char **argv);

/* Is any instrument asked for? */
bool passes__wanted(void);

/**
 * passes__check - are the options of the instruments right?
 *
 * Return: 0, or -EINVAL after having told the user.
 */
int passes__check(void);

/* Keeps the rates of the clean runs, with which the passes are compared. */
extern struct bench_observer passes_clean_observer;

/**
 * passes__run - run what was asked for again, with each instrument
 * @text:	also print what is found on standard output
 * @keep:	observers of the clean runs that are to see the passes too, NULL at the end: the
 *		line of progress first
 * @run:	runs them all; returns an enum bench_exit
 * @data:	for @run
 *
 * No observer may be registered. Return: the worst of what @run returned, where BENCH_EXIT_SKIPPED
 * is as good as BENCH_EXIT_OK: not every instrument works everywhere.
 */
int passes__run(bool text, struct bench_observer *const *keep, int (*run)(void *data), void *data);

/* The instrument of the pass that is running, or NULL in a clean run. */
const struct instrument *passes__instrument(void);

void passes__finish(void);

#endif
