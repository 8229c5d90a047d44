/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The commands of perf-kbench
 */
#ifndef BUILTIN_H
#define BUILTIN_H

/**
 * struct cmd_struct - a command
 * @name:	what is typed
 * @fn:		runs it; argv[0] is its name. Returns an enum bench_exit, or leaves through exit(),
 *		as libsubcmd does: 129 becomes 2, or 0 where help was asked for
 * @usage:	one line for the overview
 */
struct cmd_struct {
	const char	*name;
	int		(*fn)(int argc, const char **argv);
	const char	*usage;
};

/* All commands, ended by one without a name. */
extern const struct cmd_struct kbench_commands[];

/**
 * kbench__help - what libsubcmd prints from here on is help that was asked for
 *
 * libsubcmd writes usage to standard error and exits with 129, asked for or not. After this call
 * it goes to standard output, and the exit status is 0.
 */
void kbench__help(void);

/**
 * cmd_bench - run a benchmark, a collection or all of them
 * @argc, @argv: argv[0] is the program; then options, a collection, a benchmark, its options
 *
 * What all that does not begin with the name of a command comes to.
 *
 * Return: an enum bench_exit.
 */
int cmd_bench(int argc, const char **argv);

/**
 * cmd_list - print a line for each benchmark: collection, name and summary
 * @argc, @argv: the command's name; it has no options
 *
 * Return: 0.
 */
int cmd_list(int argc, const char **argv);

/**
 * cmd_compare - are the patched results better than those of base, or worse?
 * @argc, @argv: options, files of base, "--", files of patched
 *
 * Return: an enum bench_exit; with --gate 0, 1, or 125 where it cannot tell.
 */
int cmd_compare(int argc, const char **argv);

/**
 * cmd_ab - run two commands in turn, and compare their results
 * @argc, @argv: options and two lines for the shell
 *
 * Return: as cmd_compare().
 */
int cmd_ab(int argc, const char **argv);

/**
 * cmd_noise - measure by how much rates differ from run to run on this machine
 * @argc, @argv: options, then what to run, as for cmd_bench()
 *
 * Return: an enum bench_exit.
 */
int cmd_noise(int argc, const char **argv);

/**
 * cmd_import - make a results file of what another program has printed
 * @argc, @argv: the command's name, options, a format, and a file
 *
 * Return: an enum bench_exit: 1 if the text cannot be read or is not in that format, or nothing can
 * be written.
 */
int cmd_import(int argc, const char **argv);

/**
 * cmd_report - tables, the scaling law and plots of results files
 * @argc, @argv: the command's name, options, and the files
 *
 * Return: an enum bench_exit: 1 if a file cannot be read, or nothing can be written or drawn.
 */
int cmd_report(int argc, const char **argv);

/**
 * bench_harness_empty - the benchmark "harness empty": the harness's own loop
 * @argc, @argv: as those of every benchmark
 *
 * Return: an enum bench_exit.
 */
int bench_harness_empty(int argc, const char **argv);

#endif
