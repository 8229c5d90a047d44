/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_ENV_H
#define KBENCH_ENV_H

#include <json-c/json.h>

/**
 * env__collect - on what machine and kernel, and in what state, a result was obtained
 * @root: "" for the machine itself; a directory in place of / for a test
 *
 * Documentation/results-format.txt describes the members. What cannot be read is null: it is not
 * known, and not guessed.
 *
 * Return: the object, the caller's, or NULL if out of memory.
 */
struct json_object *env__collect(const char *root);

/**
 * env__next_range - walk a list of the kernel's, "0-3,8,10-11"
 * @list:	the list; moved on
 * @first, @last: the next range
 *
 * Return: 1, 0 at the end of the list, or -EINVAL.
 */
int env__next_range(const char **list, int *first, int *last);

#endif
