// SPDX-License-Identifier: GPL-2.0
/*
 * main(), and the table of commands
 *
 * What is no command is a collection of benchmarks, and for cmd_bench(). "perf kbench" runs us
 * too. setlocale() is never called, so that numbers are the same everywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define MATHLIB_STANDALONE
#include <Rmath.h>
#include <elfutils/version.h>
#include <json-c/json_c_version.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/exec-cmd.h>
#include <subcmd/pager.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"

/* The Makefile knows these. */
#ifndef KBENCH_VERSION
#define KBENCH_VERSION		"unknown"
#endif
#ifndef KBENCH_KERNEL_VERSION
#define KBENCH_KERNEL_VERSION	"(version unknown)"
#endif

#define SUBCMD_EXIT_FATAL	128	/* out of memory in libsubcmd */
#define SUBCMD_EXIT_USAGE	129	/* usage was printed, asked for or not */
#define SUBCMD_EXIT_LIST	130	/* --list-opts, for completion in shells */

static int cmd_version(int argc, const char **argv);
static int cmd_help(int argc, const char **argv);

const struct cmd_struct kbench_commands[] = {
	{ "compare",	cmd_compare,	"Tell whether patched results are better than base's" },
	{ "ab",		cmd_ab,		"Run two commands in turn, and compare them"	},
	{ "noise",	cmd_noise,	"Measure by how much rates differ from run to run" },
	{ "import",	cmd_import,	"Make a results file of others' output"		},
	{ "list",	cmd_list,	"Print a line for each benchmark"		},
	{ "report",	cmd_report,	"Show results files: tables, scaling, plots"	},
	{ "help",	cmd_help,	"Explain a command, a collection or a benchmark" },
	{ "version",	cmd_version,	"Print our version and those of the libraries"	},
	{ NULL,		NULL,		NULL						}
};

static bool help_asked, list_asked;

void kbench__help(void)
{
	help_asked = true;
	fflush(stdout);
	dup2(STDOUT_FILENO, STDERR_FILENO);
}

static const struct cmd_struct *find_command(const char *name)
{
	const struct cmd_struct *cmd;

	for (cmd = kbench_commands; cmd->name; cmd++) {
		if (!strcmp(cmd->name, name))
			return cmd;
	}
	return NULL;
}

/* Does an argument before "--" ask for this, by its long or its short name? */
static bool has_arg(int argc, const char **argv, const char *name, const char *alias)
{
	int i;

	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		if (!strcmp(argv[i], name) || !strcmp(argv[i], alias))
			return true;
	}
	return false;
}

static int run_command(const struct cmd_struct *cmd, int argc, const char **argv)
{
	if (has_arg(argc, argv, "--help", "-h"))
		kbench__help();
	return cmd->fn(argc, argv);
}

static int cmd_version(int argc, const char **argv)
{
	static const char * const usage[] = { "perf-kbench version", NULL };
	static const struct option options[] = { OPT_END() };

	if (parse_options(argc, argv, options, usage, 0))
		usage_with_options_msg(usage, options, "unexpected argument '%s'", argv[0]);
	printf("perf-kbench version %s\n", KBENCH_VERSION);
	printf("  libperf, libsubcmd, libapi  Linux %s\n", KBENCH_KERNEL_VERSION);
	printf("  libelf                      0.%d\n", _ELFUTILS_VERSION);
	printf("  json-c                      %s\n", JSON_C_VERSION);
	printf("  libRmath                    %s\n", R_VERSION_STRING);
	return BENCH_EXIT_OK;
}

/* "help X Y" is "--help X Y" for collections, and "X --help Y" for commands. */
static int cmd_help(int argc, const char **argv)
{
	const struct cmd_struct *cmd = argc > 1 ? find_command(argv[1]) : NULL;
	const char **args = calloc(argc + 2, sizeof(*args));
	int ret;

	if (!args) {
		fprintf(stderr, "perf-kbench: out of memory\n");
		return BENCH_EXIT_FAILED;
	}
	memcpy(args + 1, argv, argc * sizeof(*args));
	args[0] = argv[0];
	args[1] = "--help";
	if (cmd) {
		args[1] = cmd->name;
		args[2] = "--help";
		ret = run_command(cmd, argc, args + 1);
	} else {
		ret = cmd_bench(argc + 1, args);
	}
	free(args);
	return ret;
}

/*
 * The last to run in exit(): the pager, if there is one, has ended. Gives libsubcmd's exit
 * statuses our meaning, and does not let output that was lost pass for success.
 */
static void at_exit(int status, void *arg __maybe_unused)
{
	int to = status;

	if (status == SUBCMD_EXIT_FATAL)
		to = BENCH_EXIT_FAILED;
	else if (status == SUBCMD_EXIT_USAGE)
		to = help_asked ? BENCH_EXIT_OK : BENCH_EXIT_USAGE;
	else if (status == SUBCMD_EXIT_LIST && list_asked)
		to = BENCH_EXIT_OK;

	errno = 0;
	if (fflush(stdout) || ferror(stdout) || (help_asked && ferror(stderr)) ||
	    (!pager_in_use() && close(STDOUT_FILENO))) {
		fprintf(stderr, "perf-kbench: writing to standard output failed%s%s\n",
			errno ? ": " : "", errno ? strerror(errno) : "");
		if (to == BENCH_EXIT_OK || to == BENCH_EXIT_SKIPPED)
			to = BENCH_EXIT_FAILED;
	}
	if (to != status)
		_exit(to);
}

int main(int argc, const char **argv)
{
	const struct cmd_struct *cmd = NULL;
	int fd;

	/*
	 * No file of ours may become standard output because the shell had closed it. It is not to
	 * be written to: what is lost must not pass for success.
	 */
	do {
		fd = open("/dev/null", O_RDONLY);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);

	on_exit(at_exit, NULL);
	exec_cmd_init("perf-kbench", "/usr", "libexec/perf-core", "PERF_EXEC_PATH");
	pager_init("PERF_PAGER");
	force_pager("cat");	/* none: a usage error is not to end in one */

	if (argc < 1)
		return cmd_bench(1, (const char *[]){ "perf-kbench", NULL });
	list_asked = has_arg(argc, argv, "--list-opts", "--list-cmds");
	if (argc > 1)
		cmd = find_command(!strcmp(argv[1], "--version") ? "version" : argv[1]);
	if (cmd)
		return run_command(cmd, argc - 1, argv + 1);
	return cmd_bench(argc, argv);
}
