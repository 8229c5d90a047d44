// SPDX-License-Identifier: GPL-2.0
/*
 * perf-kbench import: make a results file of what another program has printed
 *
 * All of the text is read and checked before anything is written.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench/worker.h"
#include "builtin.h"
#include "import/import.h"
#include "util/json-stream.h"
#include "util/outfile.h"

#define PROGRAM		"perf-kbench import: "
#define READ_SIZE	65536

static struct import_options opts = { .per = 1 };
static const char *output, *kernel;
static u64 tasks, cpus, per = 1;

static int opt_side(const struct option *opt, const char *arg, int unset);
static int opt_param(const struct option *opt, const char *arg, int unset);
static int opt_text(const struct option *opt, const char *arg, int unset);

#define OPT_TEXT(l, v, a, h) \
	{ .type = OPTION_CALLBACK, .long_name = (l), .value = (v), .argh = (a), .help = (h), \
	  .flags = PARSE_OPT_NONEG, .callback = opt_text }

static const struct option options[] = {
	OPT_STRING('o', "output", &output, "file", "write there (default: standard output)"),
	OPT_TEXT("name", &opts.name, "name",
		 "what the benchmark is called (default: the format's)"),
	OPT_TEXT("unit", &opts.unit, "text", "what one op is (default: the format's)"),
	OPT_TEXT("variant", &opts.variant, "name", "of what variant it is (default: none)"),
	{ .type = OPTION_CALLBACK, .long_name = "param", .argh = "name=value",
	  .help = "a parameter of the benchmark; may be given again (default: none)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_param },
	OPT_BENCH_COUNT(0, "tasks", &tasks,
			"how many tasks there were, where the text does not tell"),
	OPT_BENCH_COUNT(0, "cpus", &cpus, "how many CPUs they ran on (default: not known)"),
	OPT_TEXT("kernel", &kernel, "release", "that it was measured on (default: not known)"),
	OPT_TEXT("series", &opts.series, "column", "CSV: take this column alone (default: all)"),
	{ .type = OPTION_CALLBACK, .long_name = "side", .argh = "side",
	  .help = "lkp: which side to take, base or patched (no default)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_side },
	OPT_TEXT("row", &opts.row, "name", "lkp: the row that is the result (default: known ones)"),
	OPT_BENCH_COUNT(0, "per", &per,
			"rates: seconds that a rate is of, 60 if a minute (default 1)"),
	OPT_END()
};

static const char * const usage[] = {
	"perf-kbench import [<options>] <format> [<file>]",
	"",
	"Makes a results file of what another program has printed, or -f classic. Without",
	"a file, or of -, standard input is read. The formats:",
	"",
	"  sysfs_benchmark    single:, concur: and times: lines, as of 2020's kernfs patches",
	"  locking-vfs        \"100 processes: throughput = 342506 average opts/sec ...\"",
	"  will-it-scale      its testcase:, min: and average: lines, or its CSV",
	"  unixbench          its report, of which the table of indexes is read",
	"  lkp                the kernel test robot's %stddev, %change, %stddev; needs --side",
	"  perf-bench-simple  -f simple of perf bench (sched, syscall), and ours",
	"  make-times         CSV: jobs, and elapsed seconds in one or more columns",
	"  rates              CSV: tasks, and rates in one or more columns",
	NULL
};

static int opt_text(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	const unsigned char *p;

	for (p = (const unsigned char *)arg; *p >= 0x20 && *p != 0x7f; p++)
		;
	if (*p || !*arg || strlen(arg) > 512) {
		fprintf(stderr, "  Error: --%s: 1 to 512 bytes of text are expected\n",
			opt->long_name);
		return -1;
	}
	*(const char **)opt->value = arg;
	return 0;
}

static int opt_side(const struct option *opt __maybe_unused, const char *arg,
		    int unset __maybe_unused)
{
	opts.side = !strcmp(arg, "base") ? IMPORT_SIDE_BASE :
		    !strcmp(arg, "patched") ? IMPORT_SIDE_PATCHED : IMPORT_SIDE_NONE;
	if (opts.side != IMPORT_SIDE_NONE)
		return 0;
	fprintf(stderr, "  Error: --side: base or patched is expected, there is \"%s\"\n", arg);
	return -1;
}

static int opt_param(const struct option *opt __maybe_unused, const char *arg,
		     int unset __maybe_unused)
{
	const char *equals = strchr(arg, '=');
	char *name;

	if (!equals || equals == arg) {
		fprintf(stderr, "  Error: --param: NAME=VALUE is expected, there is \"%s\"\n", arg);
		return -1;
	}
	name = strndup(arg, equals - arg);
	if (!opts.parameters)
		opts.parameters = json_object_new_object();
	if (name && opts.parameters)
		json_object_object_add(opts.parameters, name, json_text(equals + 1));
	free(name);
	return 0;
}

/* An option that has no use for the format must not be passed over in silence. */
static const char *useless_option(const struct import_format *format)
{
	if (opts.series && !format->series)
		return "--series";
	if (opts.side != IMPORT_SIDE_NONE && !format->sides)
		return "--side";
	if (opts.row && !format->sides)
		return "--row";
	if (per != 1 && !format->per)
		return "--per";
	return NULL;
}

/* All of a file, or more of it than can be taken; the caller frees. NULL with errno. */
static char *read_text(int fd, size_t *size)
{
	size_t room = 0, used = 0;
	char *text = NULL, *more;
	ssize_t n = 1;

	while (n && used <= IMPORT_MAX_SIZE) {
		if (used == room) {
			more = realloc(text, 2 * room + READ_SIZE);
			if (!more)
				goto failed;
			text = more;
			room = 2 * room + READ_SIZE;
		}
		n = read(fd, text + used, min(room - used, (size_t)READ_SIZE));
		if (n < 0 && errno != EINTR)
			goto failed;
		used += n > 0 ? n : 0;
	}
	*size = used;
	return text;

failed:
	free(text);
	return NULL;
}

static struct import *read_file(const struct import_format *format, const char *path)
{
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY) : STDIN_FILENO;
	const char *name = path ?: "standard input";
	struct import *im = NULL;
	char why[1024], *text = NULL;
	size_t size;

	if (fd >= 0)
		text = read_text(fd, &size);
	if (!text)
		fprintf(stderr, PROGRAM "%s: %s\n", name, strerror(errno));
	if (fd >= 0 && path)
		close(fd);
	if (text) {
		im = import__parse(format, &opts, name, text, size, why, sizeof(why));
		if (!im)
			fprintf(stderr, PROGRAM "%s\n", why);
	}
	free(text);
	return im;
}

static int write_file(const struct import *im, const char *format, const char *path, int argc,
		      const char **argv)
{
	struct outfile *f = outfile__new(output);
	time_t now = time(NULL);
	char date[32] = "";
	struct tm tm;
	int err;

	if (gmtime_r(&now, &tm))
		strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%SZ", &tm);
	err = f ? outfile__open(f) : -ENOMEM;
	if (!err) {
		import__write(im, format, path, kernel, date, argc, argv, f);
		err = outfile__commit(f);
	}
	if (err)
		fprintf(stderr, PROGRAM "writing %s: %s; %s\n",
			f ? outfile__path(f) : output ?: "standard output", strerror(-err),
			outfile__hint(err));
	outfile__free(f);
	return err ? BENCH_EXIT_FAILED : BENCH_EXIT_OK;
}

/* The command line as it was typed, with the program's name before it. */
static const char **copy_args(int argc, const char **argv)
{
	const char **args = calloc(argc + 1, sizeof(*args));
	int i;

	if (!args)
		return NULL;
	args[0] = "perf-kbench";
	for (i = 0; i < argc; i++)
		args[i + 1] = argv[i];
	return args;
}

int cmd_import(int argc, const char **argv)
{
	const struct import_format *format;
	const char **args = copy_args(argc, argv), *path, *useless;
	int nr_args = argc + 1, ret = BENCH_EXIT_FAILED;
	struct import *im;

	argc = parse_options(argc, argv, options, usage, 0);
	if (argc < 1 || argc > 2)
		usage_with_options_msg(usage, options, argc ? "one file at a time is expected" :
				       "no format is named");
	format = import__find_format(argv[0]);
	if (!format)
		usage_with_options_msg(usage, options, "there is no format \"%s\"", argv[0]);
	useless = useless_option(format);
	if (useless)
		usage_with_options_msg(usage, options, "%s is of no use with %s", useless,
				       format->name);
	if (tasks > IMPORT_MAX_TASKS || cpus > IMPORT_MAX_TASKS || per > 1000000)
		usage_with_options_msg(usage, options,
				       "--tasks, --cpus and --per: at most 65536, 65536 and 1000000");
	opts.tasks = tasks;
	opts.cpus = cpus;
	opts.per = per;
	path = argc > 1 && strcmp(argv[1], "-") ? argv[1] : NULL;
	im = args ? read_file(format, path) : NULL;
	if (im)
		ret = write_file(im, format->name, path, nr_args, args);
	import__free(im);
	json_object_put(opts.parameters);
	opts.parameters = NULL;
	free(args);
	return ret;
}
