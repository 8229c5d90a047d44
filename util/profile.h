/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A profile: in which functions the samples of measured windows lie
 *
 * Samples are kept as they come until the end of a repeat, since only then it is known in which
 * window they are; then they become counts of each function in each window, and these are kept
 * until it is known which windows count.
 *
 * Memory: 16 bytes a sample of one repeat, PROFILE_MAX_SAMPLES at most; 16 bytes for each function
 * of each window, PROFILE_MAX_COUNTS at most. What has no room is counted as left out.
 */
#ifndef KBENCH_PROFILE_H
#define KBENCH_PROFILE_H

#include <stddef.h>
#include <linux/types.h>

#include "figures.h"
#include "ksyms.h"

#define PROFILE_MAX_SAMPLES	(4u << 20)	/* of a repeat: 64 MB; 128 CPUs at 1 kHz: 32 s */
#define PROFILE_MAX_COUNTS	(8u << 20)	/* of a run: 128 MB */
#define PROFILE_ROWS		40		/* functions in the table; the rest is "[other]" */
#define PROFILE_FEW		100		/* samples, below which a table says so */

/* In place of an address: not in the kernel. */
#define PROFILE_USER		0

struct profile;

/* To be freed with profile__free(), which takes NULL; NULL without memory. */
struct profile *profile__new(void);
void profile__free(struct profile *p);

/**
 * profile__sample - one has come
 * @p:		the profile
 * @time:	when it was taken, by the clock of the windows; in any order
 * @ip:		the kernel address, or PROFILE_USER
 *
 * May be called by another thread than the functions below, as long as they take turns.
 */
void profile__sample(struct profile *p, u64 time, u64 ip);

/**
 * profile__fold - a repeat is over: make counts of its samples
 * @p:		the profile
 * @k:		the symbols, the same at each call
 * @starts, @ends: [nr] its windows, in the order of time, without overlap
 * @nr:		how many
 *
 * Samples that are in no window are forgotten.
 */
void profile__fold(struct profile *p, const struct ksyms *k, const u64 *starts, const u64 *ends,
		   int nr);

/* Samples that were left out so far since there was no room for them. */
u64 profile__left_out(const struct profile *p);

/* A window that counts: when it began, and of which repeat it is. */
struct profile_window {
	u64	start;
	int	repeat;
};

/**
 * profile__table - the share of each function in the samples of some windows
 * @p:		the profile
 * @k:		the symbols that it was folded with
 * @windows:	[nr_windows] those that count, in any order
 * @nr_windows:	how many
 * @nr_repeats:	of the table; a repeat without samples has no shares
 * @f:		the table, which is made anew: of kind "profile", with one column, "%"
 *
 * Functions with the same name are one row; addresses without a name are rows in hexadecimal.
 *
 * Return: the number of samples behind it, or -ENOMEM.
 */
long long profile__table(const struct profile *p, const struct ksyms *k,
			 const struct profile_window *windows, int nr_windows, int nr_repeats,
			 struct figures *f);

#endif
