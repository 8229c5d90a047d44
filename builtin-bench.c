// SPDX-License-Identifier: GPL-2.0
/*
 * The collections of benchmarks, and how one or all of them are run
 *
 *  locking  ... creating and opening files: dcache, inode and file table locks
 *  kernfs   ... sysfs and cgroupfs
 *  fsnotify ... inotify and fanotify marks
 *  nfs      ... NFS clients
 *
 * In perf, only the rows of these tables are ours: the rest of this file stands in for perf's own,
 * and promises more: errors go to standard error and have an exit status, nothing runs before all
 * that was asked for is known to be possible, and "all" takes options and ends as its worst member.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench/bench.h"
#include "bench/worker.h"
#include "builtin.h"
#include "observe/observe.h"
#include "instrument/passes.h"
#include "subrun.h"
#include "util/nearest.h"
#include "util/outfile.h"

typedef int (*bench_fn_t)(int argc, const char **argv);

struct bench {
	const char	*name;
	const char	*summary;
	bench_fn_t	fn;
};

static struct bench locking_benchmarks[] = {
	{ "vfs",	"Benchmark for creating and opening files",	bench_locking_vfs	},
	{ "data",	"Benchmark for reading and writing files",	bench_locking_data	},
	{ "fd",		"Benchmark for descriptors and file locks",	bench_locking_fd	},
	{ "all",	"Run all locking benchmarks",			NULL			},
	{ NULL,		NULL,						NULL			}
};

static struct bench kernfs_benchmarks[] = {
	{ "lookup",	"Benchmark for opening and reading sysfs files", bench_kernfs_lookup	},
	{ "all",	"Run all kernfs benchmarks",			NULL			},
	{ NULL,		NULL,						NULL			}
};

static struct bench fsnotify_benchmarks[] = {
	{ "eventfd",	"Benchmark for marks and I/O on eventfds",	bench_fsnotify_eventfd	},
	{ "pipe",	"Benchmark for marks and I/O on pipes",		bench_fsnotify_pipe	},
	{ "file",	"Benchmark for marks and reads of files",	bench_fsnotify_file	},
	{ "all",	"Run all fsnotify benchmarks",			NULL			},
	{ NULL,		NULL,						NULL			}
};

static struct bench nfs_benchmarks[] = {
	{ "negative-dentry", "Benchmark for opening files that do not exist",
							bench_nfs_negative_dentry	},
	{ "all",	"Run all NFS benchmarks",			NULL			},
	{ NULL,		NULL,						NULL			}
};

/* Not a benchmark of the kernel: what tools/kbench-lab takes from the others' path lengths. */
static struct bench harness_rows[] = {
	{ "empty",	"The harness's own loop around nothing",	bench_harness_empty	},
	{ NULL,		NULL,						NULL			}
};

struct collection {
	const char	*name;
	const char	*summary;
	struct bench	*benchmarks;
};

static struct collection collections[] = {
	{ "locking",	"Kernel locking benchmarks",			locking_benchmarks	},
	{ "kernfs",	"kernfs (sysfs, cgroupfs) benchmarks",		kernfs_benchmarks	},
	{ "fsnotify",	"File system notification benchmarks",		fsnotify_benchmarks	},
	{ "nfs",	"NFS client benchmarks",			nfs_benchmarks		},
	{ "all",	"All benchmarks",				NULL			},
	{ "harness",	"The harness itself",				harness_rows		},
	{ NULL,		NULL,						NULL			}
};

/* Is it run by its full name only? */
static bool is_hidden(const struct collection *coll)
{
	return coll->benchmarks == harness_rows;
}

#define MAX_REPEAT	10000
#define HELP_INDENT	26	/* where libsubcmd puts what explains an option */
#define HELP_WIDTH	78

/* Output style and number of repeats, exported to benchmark modules: */
int bench_format = BENCH_FORMAT_DEFAULT;
unsigned int bench_repeat = 10;

static const char * const formats[] = {
	[BENCH_FORMAT_DEFAULT]	= BENCH_FORMAT_DEFAULT_STR,
	[BENCH_FORMAT_SIMPLE]	= BENCH_FORMAT_SIMPLE_STR,
	[BENCH_FORMAT_JSON]	= BENCH_FORMAT_JSON_STR,
	[BENCH_FORMAT_CSV]	= BENCH_FORMAT_CSV_STR,
	[BENCH_FORMAT_CLASSIC]	= BENCH_FORMAT_CLASSIC_STR,
};

static const char *output;
static bool quiet, help;

static int opt_format(const struct option *opt, const char *arg, int unset);
static int opt_output(const struct option *opt, const char *arg, int unset);
static int opt_repeat(const struct option *opt, const char *arg, int unset);

/* Valid before a collection, and among the options of a benchmark. */
static const struct option output_options[] = {
	OPT_GROUP("Output:"),
	{ .type = OPTION_CALLBACK, .short_name = 'f', .long_name = "format", .argh = "format",
	  .help =
	  "of standard output: default (a table), simple (numbers only), json, csv, or classic (as the original of each benchmark printed it) (default: default)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_format },
	{ .type = OPTION_CALLBACK, .short_name = 'o', .long_name = "output", .argh = "file",
	  .help = "also write all results, with raw samples, to this file as JSON (default: none)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_output },
	OPT_BOOLEAN('q', "quiet", &quiet,
		    "no progress line on standard error (default: there is one on a terminal)"),
	OPT_BOOLEAN('h', "help", &help, "explain what is named, and run nothing"),
	OPT_PARENT(pass_options)
};

/* Before a collection. After a benchmark's name, --repeat is one of its shared options. */
static const struct option bench_options[] = {
	{ .type = OPTION_CALLBACK, .short_name = 'r', .long_name = "repeat", .argh = "n",
	  .help = "repeats of each point, 1 to 10000 (default 10)",
	  .flags = PARSE_OPT_NONEG, .callback = opt_repeat },
	OPT_PARENT(output_options)
};

static const char * const bench_usage[] = {
	"perf-kbench [<common options>] <collection> <benchmark> [<options>]",
	"perf-kbench [<common options>] [<collection>] all [<options>]",
	"perf-kbench <command>",
	NULL
};

static void nearest__print(const struct nearest *n)
{
	if (n->name)
		fprintf(stderr, "  Did you mean '%s%s%s'?\n", n->prefix, *n->prefix ? " " : "",
			n->name);
}

static int opt_format(const struct option *opt __maybe_unused, const char *arg,
		      int unset __maybe_unused)
{
	struct nearest near = { .word = arg };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		if (!strcmp(arg, formats[i])) {
			bench_format = i;
			return 0;
		}
		nearest__try(&near, "", formats[i]);
	}
	fprintf(stderr, "Unknown format descriptor: '%s'\n", arg);
	nearest__print(&near);
	fprintf(stderr, "  There are:");
	for (i = 0; i < ARRAY_SIZE(formats); i++)
		fprintf(stderr, " %s", formats[i]);
	fprintf(stderr, "\n");
	return -1;
}

static int opt_output(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	if (!*arg || !strcmp(arg, "-") || !strcmp(arg, "/dev/stdout")) {
		fprintf(stderr, "  Error: --%s: \"%s\" names no file%s\n", opt->long_name, arg,
			*arg ? ": for JSON on standard output say -f json" : "");
		return -1;
	}
	output = arg;
	return 0;
}

/* Digits only: no sign, no blank, no overflow. */
static int opt_repeat(const struct option *opt, const char *arg, int unset __maybe_unused)
{
	size_t digits = strspn(arg, "0123456789");
	unsigned long n = digits ? strtoul(arg, NULL, 10) : 0;

	if (arg[digits] || n < 1 || n > MAX_REPEAT) {
		fprintf(stderr, "  Error: --%s: \"%s\" is not a whole number from 1 to %d\n",
			opt->long_name, arg, MAX_REPEAT);
		return -1;
	}
	bench_repeat = n;
	return 0;
}

static void dump_collections(FILE *f)
{
	struct collection *coll;

	fprintf(f, "\n        # List of all available benchmark collections:\n\n");
	for (coll = collections; coll->name; coll++) {
		if (!is_hidden(coll))
			fprintf(f, "%16s: %s\n", coll->name, coll->summary);
	}
}

static void dump_benchmarks(FILE *f, const struct collection *coll)
{
	struct bench *bench;

	fprintf(f, "\n        # List of available benchmarks for collection '%s':\n\n", coll->name);
	for (bench = coll->benchmarks; bench && bench->name; bench++)
		fprintf(f, "%16s: %s\n", bench->name, bench->summary);
}

static void print_usage(void)
{
	int i;

	for (i = 0; bench_usage[i]; i++)
		printf("%s %s\n", i ? "   or:" : "Usage:", bench_usage[i]);
	dump_collections(stdout);
	printf("\n        perf-kbench -h explains the options and commands.\n\n");
}

/* A benchmark that was picked, and what it tells of itself. */
struct member {
	const struct collection	*coll;
	const struct bench	*bench;
	const struct bench_ops	*ops;
};

static const struct bench_ops *described;

static int describe(const struct bench_ops *ops)
{
	described = ops;
	return 0;
}

/*
 * What is named by a collection and a benchmark, NULL for all of them. The caller frees @picked.
 * Return: how many; each of them tells its options.
 */
static int pick(const struct collection *only_coll, const struct bench *only_bench,
		struct member **picked)
{
	struct member *m = NULL, *more;
	struct collection *coll;
	struct bench *bench;
	int nr = 0;

	for (coll = collections; coll->name; coll++) {
		if (only_coll ? coll != only_coll : is_hidden(coll))
			continue;
		for (bench = coll->benchmarks; bench && bench->name; bench++) {
			const char *argv[2] = { bench->name };

			if (!bench->fn || (only_bench && bench != only_bench))
				continue;
			more = realloc(m, (nr + 1) * sizeof(*m));
			if (!more) {
				free(m);
				return -ENOMEM;
			}
			m = more;
			described = NULL;
			bench_worker__describe = describe;
			bench->fn(1, argv);
			bench_worker__describe = NULL;
			m[nr++] = (struct member){ coll, bench, described };
		}
	}
	*picked = m;
	return nr;
}

/* The option that @arg, "-x..." or "--name...", is by its exact name, negated or not. */
static const struct option *find_option(const struct option *opts, const char *arg)
{
	size_t len;

	if (arg[0] != '-' || !arg[1])
		return NULL;
	for (; opts; opts = opts->parent) {
		for (; opts->type != OPTION_END; opts++) {
			if (arg[1] != '-') {
				if (opts->short_name == arg[1])
					return opts;
				continue;
			}
			if (!opts->long_name)
				continue;
			len = strcspn(arg + 2, "=");
			if (!strncmp(arg + 2, opts->long_name, len) && !opts->long_name[len])
				return opts;
			if (!strncmp(arg, "--no-", 5) && !strcmp(arg + 5, opts->long_name))
				return opts;
		}
	}
	return NULL;
}

static const struct option *find_option_of(const struct member *m, int nr, const char *arg)
{
	const struct option *opt = NULL;
	int i;

	for (i = 0; !opt && i < nr; i++)
		opt = m[i].ops ? find_option(m[i].ops->options, arg) : NULL;
	return opt;
}

/* Is the value of @opt the argument after @arg? In enum parse_opt_type, those with one are last. */
static bool takes_next(const struct option *opt, const char *arg)
{
	if (opt->type < OPTION_STRING || opt->flags & (PARSE_OPT_OPTARG | PARSE_OPT_NOARG))
		return false;
	if (arg[1] != '-')
		return !arg[2];
	return !strchr(arg, '=') && !strcmp(arg + 2, opt->long_name);
}

/*
 * Take the options that are in @mine out of the arguments, up to a "--", with their values. What
 * members have options for keeps its value, so that a value is never taken for an option.
 * @taken and @left, which may be @argv itself, become arguments to be parsed: room for argc + 1.
 * Return: how many are left; @nr_taken are taken.
 */
static int take_options(int argc, const char **argv, const struct option *mine,
			const struct member *m, int nr, const char **taken, int *nr_taken,
			const char **left)
{
	const struct option *opt, *own;
	int i, nr_left = 0;

	*nr_taken = 0;
	taken[(*nr_taken)++] = argv[0];
	left[nr_left++] = argv[0];
	for (i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		const char *arg = argv[i];

		own = find_option(mine, arg);
		opt = own ?: find_option_of(m, nr, arg);
		if (own)
			taken[(*nr_taken)++] = arg;
		else
			left[nr_left++] = arg;
		if (!opt || !takes_next(opt, arg) || i + 1 == argc)
			continue;
		i++;
		if (own)
			taken[(*nr_taken)++] = argv[i];
		else
			left[nr_left++] = argv[i];
	}
	for (; i < argc; i++)
		left[nr_left++] = argv[i];
	taken[*nr_taken] = NULL;
	left[nr_left] = NULL;
	return nr_left;
}

/* @text with its lines broken to fit beside the names of options; not freed. */
static const char *wrap(const char *text)
{
	char *copy;
	size_t size, col = 0;
	FILE *f;

	if (strlen(text) <= HELP_WIDTH - HELP_INDENT || strchr(text, '\n'))
		return text;
	f = open_memstream(&copy, &size);
	if (!f)
		return text;
	while (*text) {
		size_t word = strcspn(text, " ");

		if (col && col + 1 + word > HELP_WIDTH - HELP_INDENT) {
			fprintf(f, "\n%*s", HELP_INDENT, "");
			col = 0;
		}
		col += fprintf(f, "%s%.*s", col ? " " : "", (int)word, text);
		text += word + strspn(text + word, " ");
	}
	return fclose(f) ? text : copy;
}

static int out_of_memory(void)
{
	fprintf(stderr, "perf-kbench: out of memory\n");
	return BENCH_EXIT_FAILED;
}

/* Append a copy of @opts up to their end to a list of @nr options. */
static struct option *add_options(struct option *list, int *nr, const struct option *opts)
{
	for (; list && opts->type != OPTION_END; opts++) {
		list = reallocarray(list, *nr + 2, sizeof(*list));
		if (!list)
			break;
		list[*nr] = *opts;
		if (opts->type != OPTION_GROUP)
			list[*nr].help = wrap(opts->help);
		list[++*nr] = (struct option)OPT_END();
	}
	return list;
}

/*
 * Print usage, a text and all options that may be given at this place: those of @m, those that all
 * benchmarks share, and ours. Exits; what is allocated goes with it.
 */
static __noreturn void show_help(const char * const *usage, char *text, const struct member *m,
				 int nr)
{
	struct option *list = calloc(1, sizeof(*list));
	size_t len = text ? strlen(text) : 0;
	const struct option *opt;
	const char *lines[8];
	int i, nr_options = 0;
	char *group;

	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	for (i = 0; usage[i]; i++)
		lines[i] = usage[i];
	lines[i++] = "";
	lines[i++] = text;
	lines[i] = NULL;
	for (i = 0; i < nr; i++) {
		if (!m[i].ops || m[i].ops->options == bench_worker_options ||
		    asprintf(&group, "Options of %s/%s:", m[i].coll->name, m[i].bench->name) < 0)
			continue;
		list = add_options(list, &nr_options, (const struct option[]){
				   OPT_GROUP(group), OPT_END() });
		opt = m[i].ops->options;
		while (opt && opt != bench_worker_options) {
			list = add_options(list, &nr_options, opt);
			while (opt->type != OPTION_END)
				opt++;
			opt = opt->parent;
		}
	}
	list = add_options(list, &nr_options, bench_worker_options);
	list = add_options(list, &nr_options, output_options);
	list = add_options(list, &nr_options, pass_options);
	if (!list)
		exit(out_of_memory());
	kbench__help();
	usage_with_options(lines, list);
}

static __noreturn void help_overview(void)
{
	static const char what[] =
		"Measures how Linux scales when many tasks use the VFS, kernfs, fsnotify\n"
		"    and NFS at once. -h after a benchmark's name explains its own options.\n"
		"    The common options are -r and those of output.\n";
	static const char exit_status[] =
		"\n    Exit status: 0 done, 1 failed, 2 usage error, 3 skipped as this kernel\n"
		"    or machine cannot do it, 130 interrupted; of \"all\", the worst one.\n";
	const struct cmd_struct *cmd;
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		fputs(what, f);
		dump_collections(f);
		fprintf(f, "\n        # List of all commands:\n\n");
		for (cmd = kbench_commands; cmd->name; cmd++)
			fprintf(f, "%16s: %s\n", cmd->name, cmd->usage);
		fputs(exit_status, f);
		fclose(f);
	}
	show_help(bench_usage, text, NULL, 0);
}

static __noreturn void help_collection(const struct collection *coll)
{
	char *text = NULL, *usage[2] = { NULL };
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f) {
		fprintf(f, "%s\n", coll->summary);
		dump_benchmarks(f, coll);
		fclose(f);
	}
	if (asprintf(&usage[0], "perf-kbench [<common options>] %s <benchmark>|all [<options>]",
		     coll->name) < 0)
		exit(out_of_memory());
	show_help((const char * const *)usage, text, NULL, 0);
}

static __noreturn void help_members(const struct collection *coll, const char *name,
				    const struct member *m, int nr)
{
	const char * const *line = nr == 1 && m->ops ? m->ops->usage : NULL;
	char *text = NULL, *usage[2] = { NULL };
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (f && nr == 1) {
		fprintf(f, "%s\n", m->bench->summary);
		if (m->ops && m->ops->unit)
			fprintf(f, "    One op: %s\n", m->ops->unit);
		/* what stands after the usage lines of the benchmark itself */
		while (line && *line && **line)
			line++;
		for (; line && *line; line++)
			fprintf(f, "%s%s\n", **line ? "    " : "", *line);
	} else if (f) {
		fputs("Runs one benchmark after the other. Each option goes to those that have\n"
		      "    it; its name is not to be shortened. Exits as the worst of them does.\n",
		      f);
	}
	if (f)
		fclose(f);
	if (asprintf(&usage[0], "perf-kbench [<common options>] %s%s%s [<options>]",
		     coll ? coll->name : "", coll ? " " : "", name) < 0)
		exit(out_of_memory());
	show_help((const char * const *)usage, text, m, nr);
}

/* Run one as perf does: with a name of its own as ->comm[] and argv[0]. */
static int member__run(const struct member *m, int argc, const char **argv)
{
	const char *usage[2] = { NULL };
	char *name, *line;
	int ret;

	if (asprintf(&name, "%s-%s", m->coll->name, m->bench->name) < 0 ||
	    asprintf(&line, "perf-kbench [<common options>] %s %s [<options>]", m->coll->name,
		     m->bench->name) < 0)
		return out_of_memory();
	usage[0] = line;
	bench_worker__usage = usage;
	prctl(PR_SET_NAME, name);
	argv[0] = name;
	ret = m->bench->fn(argc, argv);
	bench_worker__usage = NULL;
	fflush(stdout);
	free(line);
	free(name);
	return ret;
}

/* Stops a run when its plan has been found valid, and nothing has run. */
static bool planned;

static int plan_begin(struct bench_observer *o __maybe_unused, struct bench_run *run __maybe_unused)
{
	planned = true;
	return -ECANCELED;
}

static struct bench_observer plan_observer = { .begin = plan_begin };

static void copy_to_stderr(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, n, stderr);
}

/*
 * Would it run? Plans in a child, since libsubcmd exits when it does not like an option. What the
 * child says is passed on only when it is a usage error: all else, the run itself will tell.
 * Return: BENCH_EXIT_OK or what is against it.
 */
static int member__check(const struct member *m, int argc, const char **argv)
{
	int status = 0, fd = memfd_create("plan", MFD_CLOEXEC);
	pid_t pid;

	fflush(NULL);
	pid = fd < 0 ? -1 : fork();
	if (!pid) {
		if (dup2(fd, STDERR_FILENO) < 0)
			_exit(BENCH_EXIT_FAILED);
		bench_observer__register(&plan_observer);
		status = member__run(m, argc, argv);
		_exit(planned ? BENCH_EXIT_OK : status);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		fprintf(stderr, "perf-kbench: checking the options: %s\n", strerror(errno));
		status = BENCH_EXIT_FAILED;
	} else if (!WIFEXITED(status)) {
		status = WTERMSIG(status) == SIGINT ? BENCH_EXIT_INTERRUPTED : BENCH_EXIT_FAILED;
	} else {
		status = WEXITSTATUS(status);
		if (status == BENCH_EXIT_USAGE)
			copy_to_stderr(fd);
		else
			status = BENCH_EXIT_OK;
	}
	if (fd >= 0)
		close(fd);
	return status;
}

/* perf's line before a benchmark's report; it comes once the plan is known to be valid. */
static int heading_begin(struct bench_observer *o __maybe_unused, struct bench_run *run)
{
	static bool first = true;

	printf("%s# Running '%s' benchmark:\n", first ? "" : "\n", run->ops->name);
	first = false;
	return 0;
}

static struct bench_observer heading_observer = { .begin = heading_begin };

static int severity(int status)
{
	switch (status) {
	case BENCH_EXIT_OK:
		return 0;
	case BENCH_EXIT_SKIPPED:
		return 1;
	case BENCH_EXIT_USAGE:
		return 3;
	case BENCH_EXIT_INTERRUPTED:
		return 4;
	case BENCH_EXIT_FAILED:
	default:
		return 2;
	}
}

static int worse(int a, int b)
{
	return severity(b) > severity(a) ? b : a;
}

/*
 * Before, between and after runs, which catch signals themselves: what was measured is still to be
 * written. SIGPIPE and SIGXFSZ only make the write fail that they are about.
 */
static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXFSZ };
static struct sigaction old_actions[ARRAY_SIZE(signals)];
static volatile sig_atomic_t signalled;

static void on_signal(int sig)
{
	if (sig != SIGPIPE && sig != SIGXFSZ)
		signalled = sig;
}

static void catch_signals(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &old_actions[i]);
		if (old_actions[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
}

static int release_signals(int status)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old_actions[i], NULL);
	return signalled ? worse(status, BENCH_EXIT_INTERRUPTED) : status;
}

/* Those who are told of the runs: the line of progress, the report, and the results file. */
static struct bench_observer *progress, *report, *results;
static struct bench_observer *registered[8];
static int nr_registered;

static void add_observer(struct bench_observer *o)
{
	registered[nr_registered++] = o;
	bench_observer__register(o);
}

static void remove_observers(void)
{
	while (nr_registered)
		list_del(&registered[--nr_registered]->node);
}

static int outputs__open(int argc, const char **argv)
{
	progress = progress_observer__new(quiet);
	if (!progress)
		return out_of_memory();
	add_observer(progress);

	/* before the report, which then prints nothing if the file cannot be opened */
	output = output ?: getenv(SUBRUN_OUTPUT);
	if (output && *output) {
		results = json_observer__new(output, argc, argv);
		if (!results)
			return out_of_memory();
		add_observer(results);
	}

	switch (bench_format) {
	case BENCH_FORMAT_JSON:
		report = json_observer__new(NULL, argc, argv);
		break;
	case BENCH_FORMAT_CSV:
		report = csv_observer__new(NULL);
		break;
	case BENCH_FORMAT_CLASSIC:
		report = classic_observer__new(NULL);
		break;
	case BENCH_FORMAT_DEFAULT:
		setvbuf(stdout, NULL, _IOLBF, 0);
		add_observer(&heading_observer);
		report = &bench_text_observer;
		break;
	case BENCH_FORMAT_SIMPLE:
	default:
		setvbuf(stdout, NULL, _IOLBF, 0);
		report = &bench_text_observer;
		break;
	}
	if (!report)
		return out_of_memory();
	add_observer(report);
	if (passes__wanted())
		add_observer(&passes_clean_observer);
	return BENCH_EXIT_OK;
}

/* An error in writing, unless a hook has told it, when it has also failed a run. */
static int outputs__error(int err, const char *what)
{
	if (!err)
		return BENCH_EXIT_OK;
	if (err != -ECANCELED)
		fprintf(stderr, "perf-kbench: writing %s: %s; %s\n", what, strerror(-err),
			outfile__hint(err));
	return BENCH_EXIT_FAILED;
}

/* End them all; @status is that of the runs. Return: that, or what has gone wrong here if worse. */
static int outputs__finish(int status)
{
	bool complete = status == BENCH_EXIT_OK || status == BENCH_EXIT_SKIPPED;
	int err = 0;

	progress_observer__finish(progress);
	if (bench_format == BENCH_FORMAT_JSON)
		err = json_observer__finish(report, complete);
	else if (bench_format == BENCH_FORMAT_CSV)
		err = csv_observer__finish(report);
	else if (bench_format == BENCH_FORMAT_CLASSIC)
		err = classic_observer__finish(report);
	status = worse(status, outputs__error(err, "standard output"));
	if (results) {
		err = json_observer__finish(results, complete);
		status = worse(status, outputs__error(err, output));
	}
	return status;
}

/* After "all", each argument must be an option of one of the members, or its value. */
static int check_known(int argc, const char **argv, const struct member *m, int nr)
{
	const struct option *opt;
	int i;

	for (i = 1; i < argc; i++) {
		opt = find_option_of(m, nr, argv[i]);
		if (!opt) {
			fprintf(stderr, "%s: '%s'\n",
				argv[i][0] == '-' ? "Unknown option" : "Unexpected argument",
				argv[i]);
			fputs("  After 'all' stand options of benchmarks, by their full names\n",
			      stderr);
			return BENCH_EXIT_USAGE;
		}
		if (takes_next(opt, argv[i]))
			i++;
	}
	return BENCH_EXIT_OK;
}

/*
 * Run, or only check, several benchmarks, each with the options that it knows. A run that fails
 * does not stop the others; a check does.
 */
static int for_members(const struct member *m, int nr, int argc, const char **argv,
		       int (*fn)(const struct member *m, int argc, const char **argv))
{
	const char **known = calloc(argc + 1, sizeof(*known));
	const char **others = calloc(argc + 1, sizeof(*others));
	int i, status, nr_known, worst = BENCH_EXIT_OK;

	if (!known || !others)
		worst = out_of_memory();
	for (i = 0; known && others && i < nr; i++) {
		take_options(argc, argv, m[i].ops ? m[i].ops->options : NULL, m, nr, known,
			     &nr_known, others);
		status = signalled ? BENCH_EXIT_INTERRUPTED : fn(&m[i], nr_known, known);
		worst = worse(worst, status);
		if (status == BENCH_EXIT_INTERRUPTED || (status && fn == member__check))
			break;
	}
	free(known);
	free(others);
	return worst;
}

static const struct collection *find_collection(const char *name)
{
	struct nearest near = { .word = name };
	const struct cmd_struct *cmd;
	struct collection *coll;
	struct bench *bench;

	for (coll = collections; coll->name; coll++) {
		if (!strcmp(coll->name, name))
			return coll;
		if (!is_hidden(coll))
			nearest__try(&near, "", coll->name);
	}
	for (cmd = kbench_commands; cmd->name; cmd++) {
		if (!strcmp(cmd->name, name)) {
			fprintf(stderr, "'%s' is a command: no option can stand before it\n", name);
			return NULL;
		}
		nearest__try(&near, "", cmd->name);
	}
	for (coll = collections; coll->name; coll++) {
		for (bench = coll->benchmarks; bench && bench->name; bench++) {
			if (bench->fn && !is_hidden(coll))
				nearest__try(&near, coll->name, bench->name);
		}
	}
	fprintf(stderr, "Unknown collection: '%s'\n", name);
	nearest__print(&near);
	return NULL;
}

static const struct bench *find_bench(const struct collection *coll, const char *name)
{
	struct nearest near = { .word = name };
	struct bench *bench;

	for (bench = coll->benchmarks; bench && bench->name; bench++) {
		if (!strcmp(bench->name, name))
			return bench;
		nearest__try(&near, "", bench->name);
	}
	fprintf(stderr, "Unknown benchmark: '%s' for collection '%s'\n", name, coll->name);
	nearest__print(&near);
	return NULL;
}

/*
 * Those whose tasks are threads come last. The C library takes a longer way through each call in a
 * process that has ever had a thread, and in its children: some tens of instructions, by which a
 * benchmark would be slower in "all" than by itself.
 */
static void threads_last(struct member *m, int nr)
{
	struct member moved;
	int i, k, end = nr;

	for (i = 0, k = 0; k < end; k++) {
		if (!m[i].ops || m[i].ops->mode != BENCH_MODE_THREAD) {
			i++;
			continue;
		}
		moved = m[i];
		memmove(&m[i], &m[i + 1], (nr - i - 1) * sizeof(*m));
		m[nr - 1] = moved;
	}
}

/* What was named, and its arguments, which each run takes a copy of: parsing reorders them. */
struct named {
	const struct member	*m;
	int			nr, argc;
	const char		**argv;
	bool			all;
};

static int named__run(void *data)
{
	const struct named *named = data;
	const char **argv = calloc(named->argc + 1, sizeof(*argv));
	int ret;

	if (!argv)
		return out_of_memory();
	memcpy(argv, named->argv, named->argc * sizeof(*argv));
	if (!named->all)
		ret = signalled ? BENCH_EXIT_INTERRUPTED : member__run(named->m, named->argc, argv);
	else
		ret = for_members(named->m, named->nr, named->argc, argv, member__run);
	free(argv);
	return ret;
}

/* The clean runs, then those with instruments. */
static int named__run_all(struct named *named)
{
	struct bench_observer *keep[] = { progress, results, NULL, NULL };
	int ret = named__run(named);

	remove_observers();
	if (!passes__wanted() || signalled || ret == BENCH_EXIT_INTERRUPTED ||
	    ret == BENCH_EXIT_USAGE)
		return ret;
	if (bench_format == BENCH_FORMAT_JSON)
		keep[results ? 2 : 1] = report;
	ret = worse(ret, passes__run(bench_format == BENCH_FORMAT_DEFAULT, keep, named__run,
				     named));
	passes__finish();
	return ret;
}

/* Are the instruments asked for to be had, and will anybody see what they find? */
static int check_passes(void)
{
	if (passes__check())
		return BENCH_EXIT_USAGE;
	if (!passes__wanted())
		return BENCH_EXIT_OK;
	if (output || getenv(SUBRUN_OUTPUT) || bench_format == BENCH_FORMAT_DEFAULT ||
	    bench_format == BENCH_FORMAT_JSON)
		return BENCH_EXIT_OK;
	fprintf(stderr,
		"  Error: -f %s does not show what instruments find: give -o FILE too, or another -f\n",
		formats[bench_format]);
	return BENCH_EXIT_USAGE;
}

/*
 * Run what was named, argv[0] being the last word of the name.
 * @coll, @bench: NULL for all of them
 * @line, @nr_line: the whole command line, for the results file
 */
static int run_named(const struct collection *coll, const struct bench *bench, int argc,
		     const char **argv, int nr_line, const char **line)
{
	const char **taken = calloc(argc + 1, sizeof(*taken));
	struct named named;
	struct member *m = NULL;
	int nr_taken, nr, ret;

	argc = passes__join_arguments(argc, argv);
	nr = taken ? pick(coll, bench, &m) : -ENOMEM;
	if (nr < 0) {
		free(taken);
		return out_of_memory();
	}
	threads_last(m, nr);
	argc = take_options(argc, argv, output_options, m, nr, taken, &nr_taken, argv);
	parse_options(nr_taken, taken, output_options, bench_usage, PARSE_OPT_NO_INTERNAL_HELP);
	free(taken);
	if (help)
		help_members(coll, bench ? bench->name : "all", m, nr);

	ret = check_passes();
	if (ret == BENCH_EXIT_OK && !bench) {
		ret = check_known(argc, argv, m, nr);
		if (ret == BENCH_EXIT_OK)
			ret = for_members(m, nr, argc, argv, member__check);
	}
	if (ret == BENCH_EXIT_OK)
		ret = outputs__open(nr_line, line);
	if (ret == BENCH_EXIT_OK) {
		catch_signals();
		named = (struct named){ m, nr, argc, argv, !bench };
		ret = named__run_all(&named);
		ret = outputs__finish(signalled ? worse(ret, BENCH_EXIT_INTERRUPTED) : ret);
		ret = release_signals(ret);
	}
	free(m);
	return ret;
}

/* Listing what there is to run is for those who ask for nothing else. */
static int need_name(const char *what)
{
	fprintf(stderr, "No %s named: nothing is run\n", what);
	return BENCH_EXIT_USAGE;
}

static int parse_name(int argc, const char **argv, int nr_line, const char **line)
{
	const int flags = PARSE_OPT_STOP_AT_NON_OPTION | PARSE_OPT_NO_INTERNAL_HELP;
	const struct collection *coll;
	const struct bench *bench;

	argc = parse_options(argc, argv, bench_options, bench_usage, flags);
	if (!argc) {
		if (help)
			help_overview();
		if (nr_line > 1)
			return need_name("collection");
		print_usage();
		return BENCH_EXIT_OK;
	}
	coll = find_collection(argv[0]);
	if (!coll)
		return BENCH_EXIT_USAGE;
	if (!coll->benchmarks)
		return run_named(NULL, NULL, argc, argv, nr_line, line);

	argc = parse_options(argc, argv, bench_options, bench_usage, flags);
	if (!argc) {
		if (help)
			help_collection(coll);
		if (nr_line > 2)
			return need_name("benchmark");
		dump_benchmarks(stdout, coll);
		printf("\n");
		return BENCH_EXIT_OK;
	}
	bench = find_bench(coll, argv[0]);
	if (!bench)
		return BENCH_EXIT_USAGE;
	return run_named(coll, bench->fn ? bench : NULL, argc, argv, nr_line, line);
}

int cmd_bench(int argc, const char **argv)
{
	/* parsing reorders the arguments */
	const char **line = calloc(argc + 1, sizeof(*line));
	int ret;

	if (!line)
		return out_of_memory();
	memcpy(line, argv, argc * sizeof(*line));
	ret = parse_name(argc, argv, argc, line);
	free(line);
	return ret;
}

int cmd_list(int argc, const char **argv)
{
	static const char * const usage[] = { "perf-kbench list", NULL };
	static const struct option options[] = { OPT_END() };
	struct collection *coll;
	struct bench *bench;

	if (parse_options(argc, argv, options, usage, 0))
		usage_with_options_msg(usage, options, "unexpected argument '%s'", argv[0]);
	for (coll = collections; coll->name; coll++) {
		for (bench = coll->benchmarks; bench && bench->name; bench++) {
			if (bench->fn && !is_hidden(coll))
				printf("%-8s %-16s %s\n", coll->name, bench->name, bench->summary);
		}
	}
	return BENCH_EXIT_OK;
}
