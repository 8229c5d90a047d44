/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Messages to the user, with perf's names and signatures
 *
 * In the kernel's tree perf's own file of this name is in this place.
 */
#ifndef UTIL_DEBUG_H
#define UTIL_DEBUG_H

#include <stdbool.h>
#include <linux/compiler.h>

extern int verbose;	/* 0: errors, warnings and news; 1 and more: debugging; -1: nothing */
extern bool quiet;	/* the user wants no progress shown */

/**
 * eprintf - print to standard error, if it matters enough
 * @level: how verbose the user must want us for this: 0 always, 1 and up for debugging
 * @var: how verbose he does: a variable like verbose
 * @fmt: as for printf()
 *
 * The whole text goes out in one piece, so that lines of several tasks do not mix. errno is kept.
 *
 * Return: characters printed; 0 if nothing was to be.
 */
int eprintf(int level, int var, const char *fmt, ...) __printf(3, 4);

#define pr_err(...)	eprintf(0, verbose, __VA_ARGS__)
#define pr_warning(...)	eprintf(0, verbose, __VA_ARGS__)
#define pr_info(...)	eprintf(0, verbose, __VA_ARGS__)
#define pr_debug(...)	eprintf(1, verbose, __VA_ARGS__)

#endif
