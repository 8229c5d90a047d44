/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of kernel addresses
 *
 * From /proc/kallsyms; where that shows zeros (kernel.kptr_restrict), from the vmlinux or its debug
 * file whose build ID is that of the running kernel, if /proc/kcore tells the kernel's load
 * address; else there are no names, and one sentence says why.
 *
 * A function ends where the next symbol begins. Where none of the same owner (the kernel, or a
 * module) is near, as behind the last function of a module, it ends with its page: what lies
 * further has no name rather than a wrong one.
 *
 * Of several names of an address the one is taken that comes first by this rule: a global one
 * before a local one before a weak one; one with fewer underscores in front; a shorter one; and
 * then the later one in the order of bytes, so that it is __x64_sys_getppid and not
 * __ia32_sys_getppid.
 */
#ifndef KBENCH_KSYMS_H
#define KBENCH_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>

struct ksyms;

/**
 * ksyms__new - read the symbols of the running kernel
 *
 * Return: the symbols, to be freed with ksyms__free(), which may be none (see ksyms__warning());
 * NULL without memory.
 */
struct ksyms *ksyms__new(void);
void ksyms__free(struct ksyms *k);

/* The same of the files below @root, a directory in place of / for a test. */
struct ksyms *ksyms__read(const char *root);

/**
 * ksyms__name - the function that an address is in
 * @k:		the symbols
 * @ip:		a kernel address
 * @offset:	bytes from the start of the function, or NULL
 *
 * Of several names of an address one is chosen, the same in every run and on every boot. Symbols of
 * modules are named with it: "func [module]".
 *
 * Return: the name, which lives as long as @k, or NULL if there is none: show the address in hex.
 */
const char *ksyms__name(const struct ksyms *k, u64 ip, u64 *offset);

/*
 * Is that address in code that waits for others: the locking functions, the scheduler, and the
 * tracepoints within them? The first function of a call chain of which this is not true is the one
 * to blame for a wait.
 */
bool ksyms__is_lock_function(const struct ksyms *k, u64 ip);

/* Why there are no names, or fewer than there might be, and what to do about it; or NULL. */
const char *ksyms__warning(const struct ksyms *k);

/**
 * ksyms__parse_kallsyms - symbols of a text as in /proc/kallsyms
 * @text:	the bytes, of whatever content; need not end in a zero
 * @size:	how many
 * @why:	what is wrong with it, with the line
 * @why_size:	room there
 *
 * The lines may have any order. Addresses that are all zero are no error: there are no functions.
 *
 * Return: the symbols, or NULL with @why written and errno EINVAL, or ENOMEM.
 */
struct ksyms *ksyms__parse_kallsyms(const char *text, size_t size, char *why, size_t why_size);

/* How many functions there are. */
size_t ksyms__nr(const struct ksyms *k);

#endif
