/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which name was meant by one that there is not?
 */
#ifndef KBENCH_NEAREST_H
#define KBENCH_NEAREST_H

#include <stddef.h>

/**
 * struct nearest - the name that is nearest to a word, if any is near
 * @word:	what was given
 * @prefix, @name: what nearest__try() was given with the best one so far; NULL if none is near
 * @dist:	how many letters are wrong in it
 */
struct nearest {
	const char	*word;
	const char	*prefix, *name;
	size_t		dist;
};

/**
 * nearest__try - look at one more name
 * @n:		with @word set, all else zero at first
 * @prefix:	kept beside the name, and not compared; may be NULL
 * @name:	borrowed: is to last as long as @n is used
 *
 * Near is: what begins so, or at most one letter in three is wrong: left out, put in, another, or
 * two that changed places. Names of 64 bytes and more are never near.
 */
void nearest__try(struct nearest *n, const char *prefix, const char *name);

#endif
