/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The symbols of the running kernel from its vmlinux, for when /proc/kallsyms hides them
 */
#ifndef KBENCH_VMLINUX_H
#define KBENCH_VMLINUX_H

#include <stddef.h>

/**
 * vmlinux__kallsyms - what /proc/kallsyms would show of the kernel itself
 * @root:	"" for the machine itself; a directory in place of / for a test
 * @path:	where the file's name goes
 * @path_size:	room there
 * @text:	lines as in /proc/kallsyms, at their running addresses; the caller frees
 * @size:	bytes of them
 * @why:	what is missing
 * @why_size:	room there
 *
 * The file is known by its build ID. Where the kernel runs (KASLR) is known from the address of
 * _stext in the VMCOREINFO note of /proc/kcore, which needs root. Modules are not in it.
 *
 * Return: 0, or -errno with @why written: -ENOENT if there is no such file, -EACCES and others if
 * the address is not known, -ENOMEM.
 */
int vmlinux__kallsyms(const char *root, char *path, size_t path_size, char **text, size_t *size,
		      char *why, size_t why_size);

#endif
