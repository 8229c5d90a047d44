// SPDX-License-Identifier: GPL-2.0
/*
 * The command line, from main() to the entry points of the benchmarks, which are stubs here: they
 * print what they were given, and end as a test wants them to. kbench.c and builtin-bench.c are
 * included, with other names for what is in the program's objects too.
 */
#include <check.h>
#include <signal.h>

#define main			kbench_main
#define cmd_bench		stub_cmd_bench
#define cmd_list		stub_cmd_list
#define bench_format		stub_format
#define bench_repeat		stub_repeat
#define bench_text_observer	stub_text_observer
#define bench_observer__register stub_register
#define bench_locking_vfs	stub_locking_vfs
#define bench_kernfs_lookup	stub_kernfs_lookup
#define bench_fsnotify_eventfd	stub_fsnotify_eventfd
#define bench_fsnotify_pipe	stub_fsnotify_pipe
#define bench_fsnotify_file	stub_fsnotify_file
#define bench_nfs_negative_dentry stub_nfs_negative_dentry
#define bench_nfs_compile	stub_nfs_compile

int kbench_main(int argc, const char **argv);
Suite *dispatch_suite(void);

#include "kbench.c"
#include "builtin-bench.c"

#define NR_STUBS	7
#define MAX_ARGS	24
#define DIES		1000	/* as a status: by SIGINT */

struct bench_observer stub_text_observer;
static LIST_HEAD(stub_observers);
static int stub_status[NR_STUBS];

void stub_register(struct bench_observer *o)
{
	list_add_tail(&o->node, &stub_observers);
}

static int stub_main(int argc, const char **argv, const struct bench_ops *ops, int status)
{
	struct bench_run run = { .ops = ops };
	struct bench_observer *o;
	char comm[17] = "";
	int i, err = 0;

	if (bench_worker__describe)
		return bench_worker__describe(ops);
	prctl(PR_GET_NAME, comm);
	ck_assert_int_eq(strncmp(comm, argv[0], 15), 0);
	ck_assert_ptr_null(argv[argc]);
	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--bad"))
			usage_with_options_msg(ops->usage, ops->options, "bad option");
	}
	if (status == BENCH_EXIT_USAGE || status == BENCH_EXIT_SKIPPED) {
		fprintf(stderr, "%s: %d\n", ops->name, status);
		return status;
	}
	list_for_each_entry(o, &stub_observers, node) {
		if (o->begin && !err)
			err = o->begin(o, &run);
	}
	if (err)
		return BENCH_EXIT_FAILED;
	if (status == DIES)
		raise(SIGINT);
	printf("[%s", argv[0]);
	for (i = 1; i < argc; i++)
		printf(" %s", argv[i]);
	printf("]\n");
	return status;
}

static const char *text;
static bool flag;

static const struct option plain_options[] = {
	OPT_PARENT(bench_worker_options)
};

static const struct option dir_options[] = {
	OPT_STRING(0, "dir", &text, "dir", "where (default: .)"),
	OPT_PARENT(bench_worker_options)
};

static const struct option lookup_options[] = {
	OPT_STRING('p', "path", &text, "file", "file (default: none)"),
	OPT_BOOLEAN('m', "missing", &flag, "look for what is not there"),
	OPT_BOOLEAN(0, "bad", &flag, "is refused"),
	OPT_STRING_OPTARG(0, "maybe", &text, "what", "has a value or not", "x"),
	OPT_PARENT(bench_worker_options)
};

static const char * const stub_usage[] = { "stub usage", "", "stub text", NULL };

#define STUB(nr, fn, title, opts)						\
static const struct bench_ops fn ## _ops = {					\
	.name = title, .unit = "stub op", .options = opts, .usage = stub_usage,	\
};										\
int fn(int argc, const char **argv)						\
{										\
	return stub_main(argc, argv, &fn ## _ops, stub_status[nr]);		\
}

STUB(0, stub_locking_vfs, "locking/vfs", dir_options)
STUB(1, stub_kernfs_lookup, "kernfs/lookup", lookup_options)
STUB(2, stub_fsnotify_eventfd, "fsnotify/eventfd", plain_options)
STUB(3, stub_fsnotify_pipe, "fsnotify/pipe", plain_options)
STUB(4, stub_fsnotify_file, "fsnotify/file", dir_options)
STUB(5, stub_nfs_negative_dentry, "nfs/negative-dentry", dir_options)
STUB(6, stub_nfs_compile, "nfs/compile", dir_options)

/* What the last command line has printed, and how it ended. */
static char out[1 << 16], err[1 << 16];
static int exit_status;

static void read_back(int fd, char *buf)
{
	ssize_t n = pread(fd, buf, sizeof(out) - 1, 0);

	ck_assert_int_ge(n, 0);
	buf[n] = '\0';
	close(fd);
}

/* Run "perf-kbench @line", words separated by blanks; '' is an empty one. */
static void run(const char *line)
{
	char *copy = strdup(line), *rest = copy, *word;
	int fd_out = memfd_create("out", 0), fd_err = memfd_create("err", 0), wstatus, argc = 1;
	const char *argv[MAX_ARGS + 1] = { "perf-kbench" };
	pid_t pid;

	while ((word = strsep(&rest, " ")) && argc < MAX_ARGS) {
		if (*word)
			argv[argc++] = strcmp(word, "''") ? word : "";
	}
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(fd_out, STDOUT_FILENO);
		dup2(fd_err, STDERR_FILENO);
		signal(SIGINT, SIG_DFL);
		exit(kbench_main(argc, argv));
	}
	ck_assert_int_eq(waitpid(pid, &wstatus, 0), pid);
	exit_status = WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) : -WTERMSIG(wstatus);
	read_back(fd_out, out);
	read_back(fd_err, err);
	free(copy);
}

/* Usage errors: status 2, a text on standard error, nothing on standard output. */
static void refused(const char *line, const char *why)
{
	run(line);
	ck_assert_msg(exit_status == 2, "%s: status %d", line, exit_status);
	ck_assert_msg(!*out, "%s: output %s", line, out);
	ck_assert_msg(*err && strstr(err, why), "%s: no '%s' in %s", line, why, err);
}

static void runs(const char *line, const char *what)
{
	run(line);
	ck_assert_msg(exit_status == 0, "%s: status %d: %s", line, exit_status, err);
	ck_assert_msg(!*err, "%s: %s", line, err);
	ck_assert_str_eq(out, what);
}

static void explains(const char *line, const char *first)
{
	char *p, *end;

	run(line);
	ck_assert_msg(exit_status == 0, "%s: status %d", line, exit_status);
	ck_assert_msg(!*err, "%s: %s", line, err);
	ck_assert_msg(!!strstr(out, first), "%s: no '%s' in %s", line, first, out);
	ck_assert_ptr_nonnull(strstr(out, "--format"));
	ck_assert_ptr_nonnull(strstr(out, "--output"));
	ck_assert_ptr_nonnull(strstr(out, "--quiet"));
	ck_assert_ptr_nonnull(strstr(out, "--repeat"));
	ck_assert_ptr_nonnull(strstr(out, "--tasks"));
	for (p = out; *p; p = end + 1) {
		end = strchr(p, '\n');
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(end - p <= 78, "%s: %.*s", line, (int)(end - p), p);
	}
}

START_TEST(lists)
{
	run("");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "fsnotify: "));
	ck_assert_ptr_nonnull(strstr(out, "all: "));
	run("kernfs");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "lookup: "));
	ck_assert_ptr_null(strstr(out, "vfs: "));
	run("list");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "\nnfs      negative-dentry  Bench"));
	ck_assert_ptr_null(strstr(out, " all "));
	refused("list x", "unexpected argument 'x'");
	refused("version x", "unexpected argument 'x'");
}
END_TEST

START_TEST(helps)
{
	explains("-h", "<collection> <benchmark>");
	explains("--help", "interrupted");
	explains("help", "List of all commands");
	explains("help help", "List of all commands");
	explains("-f csv -h", "List of all commands");
	explains("kernfs -h", "kernfs <benchmark>");
	explains("-h kernfs", "kernfs <benchmark>");
	explains("help kernfs", "kernfs <benchmark>");
	explains("kernfs lookup -h", "--missing");
	explains("kernfs lookup -t 1 --help", "stub text");
	explains("kernfs lookup -t 1 --help", "One op: stub op");
	explains("-h kernfs lookup", "Options of kernfs/lookup:");
	explains("help kernfs lookup", "--path");
	explains("kernfs all -h", "--missing");
	explains("all -h", "Options of nfs/negative-dentry:");
	run("kernfs lookup -h");
	ck_assert_ptr_null(strstr(out, "stub usage"));
	run("list -h");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "perf-kbench list"));
	run("help version");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "perf-kbench version"));
	run("--version");
	ck_assert_int_eq(exit_status, 0);
	ck_assert_ptr_nonnull(strstr(out, "json-c"));
	run("kernfs --list-opts");
	ck_assert_int_eq(exit_status, 0);
	/* a value is no request for help */
	runs("-f simple kernfs lookup --path -h", "[kernfs-lookup --path -h]\n");
}
END_TEST

START_TEST(unknown_names)
{
	refused("kernsf", "Did you mean 'kernfs'?");
	refused("kernsf lookup -t 1", "Unknown collection: 'kernsf'");
	refused("lock vfs", "Did you mean 'locking'?");
	refused("vfs", "Did you mean 'locking vfs'?");
	refused("negative-dentri", "Did you mean 'nfs negative-dentry'?");
	refused("verison", "Did you mean 'version'?");
	refused("al", "Did you mean 'all'?");
	refused("help kernsf", "Did you mean 'kernfs'?");
	refused("kernfs lokup -t 1", "Did you mean 'lookup'?");
	refused("fsnotify event", "Did you mean 'eventfd'?");
	refused("-q list", "'list' is a command");
	refused("zzz", "Unknown collection: 'zzz'");
	ck_assert_ptr_null(strstr(err, "Did you mean"));
	refused("kernfs ''", "Unknown benchmark: ''");
	ck_assert_ptr_null(strstr(err, "Did you mean"));
	refused("a-name-that-is-longer-than-any-that-there-is", "Unknown");
	ck_assert_ptr_null(strstr(err, "Did you mean"));
}
END_TEST

START_TEST(bad_options)
{
	refused("-f jsn kernfs lookup", "Did you mean 'json'?");
	refused("kernfs lookup -f jsn", "Unknown format descriptor: 'jsn'");
	refused("kernfs lookup --format=cvs", "Did you mean 'csv'?");
	refused("-f zzz kernfs lookup", "default simple json csv classic");
	refused("-f", "requires a value");
	refused("kernfs lookup -o", "requires a value");
	refused("-o '' kernfs lookup", "--output");
	refused("kernfs lookup -o -", "-f json");
	refused("--bogus kernfs lookup", "unknown option `bogus'");
	refused("kernfs -t 1 lookup", "unknown switch `t'");
	refused("-q", "No collection named");
	refused("-f json kernfs", "No benchmark named");
	refused("kernfs -r 2", "No benchmark named");
	refused("-r 0 kernfs lookup", "--repeat: \"0\"");
	refused("-r -1 kernfs lookup", "--repeat: \"-1\"");
	refused("-r '' kernfs lookup", "--repeat: \"\"");
	refused("-r 1x kernfs lookup", "--repeat: \"1x\"");
	refused("-r 1e2 kernfs lookup", "--repeat: \"1e2\"");
	refused("-r 10001 kernfs lookup", "--repeat: \"10001\"");
	refused("-r 4294967297 kernfs lookup", "--repeat: \"4294967297\"");
	refused("-r 18446744073709551617 kernfs lookup", "--repeat: ");
	refused("--no-repeat kernfs lookup", "no-repeat");
}
END_TEST

START_TEST(one)
{
	runs("kernfs lookup", "# Running 'kernfs/lookup' benchmark:\n[kernfs-lookup]\n");
	runs("-f simple kernfs lookup", "[kernfs-lookup]\n");
	runs("kernfs -f simple lookup -t 1", "[kernfs-lookup -t 1]\n");
	runs("kernfs lookup -t 1,2 -f simple -q -m", "[kernfs-lookup -t 1,2 -m]\n");
	runs("kernfs lookup -fsimple -t 1 --quiet", "[kernfs-lookup -t 1]\n");
	runs("-f json kernfs lookup --format=simple", "[kernfs-lookup]\n");
	/* a value that looks like one of our options */
	runs("-fsimple kernfs lookup --path -q -p -f -m", "[kernfs-lookup --path -q -p -f -m]\n");
	runs("-fsimple kernfs lookup --path=-q -p-o", "[kernfs-lookup --path=-q -p-o]\n");
	runs("kernfs lookup -fsimple --maybe -q --no-path -q",
	     "[kernfs-lookup --maybe --no-path]\n");
	runs("kernfs lookup -fsimple -- -q", "[kernfs-lookup -- -q]\n");
	runs("-r 10000 -f simple nfs negative-dentry", "[nfs-negative-dentry]\n");

	stub_status[1] = 1;
	run("kernfs lookup");
	ck_assert_int_eq(exit_status, 1);
	stub_status[1] = 3;
	run("kernfs lookup");
	ck_assert_int_eq(exit_status, 3);
	ck_assert_str_eq(out, "");
	stub_status[1] = 2;
	refused("kernfs lookup", "kernfs/lookup: 2");
	stub_status[1] = 130;
	run("kernfs lookup");
	ck_assert_int_eq(exit_status, 130);
}
END_TEST

START_TEST(all)
{
	runs("kernfs all", "# Running 'kernfs/lookup' benchmark:\n[kernfs-lookup]\n");
	runs("fsnotify all",
	     "# Running 'fsnotify/eventfd' benchmark:\n[fsnotify-eventfd]\n\n"
	     "# Running 'fsnotify/pipe' benchmark:\n[fsnotify-pipe]\n\n"
	     "# Running 'fsnotify/file' benchmark:\n[fsnotify-file]\n");
	runs("all -f simple",
	     "[locking-vfs]\n[kernfs-lookup]\n[fsnotify-eventfd]\n[fsnotify-pipe]\n"
	     "[fsnotify-file]\n[nfs-negative-dentry]\n[nfs-compile]\n");
	runs("-f simple all -t 1 --dir x --missing --no-bad --path=-q",
	     "[locking-vfs -t 1 --dir x]\n[kernfs-lookup -t 1 --missing --no-bad --path=-q]\n"
	     "[fsnotify-eventfd -t 1]\n[fsnotify-pipe -t 1]\n[fsnotify-file -t 1 --dir x]\n"
	     "[nfs-negative-dentry -t 1 --dir x]\n[nfs-compile -t 1 --dir x]\n");

	refused("all --bogus", "Unknown option: '--bogus'");
	refused("all --task 1", "Unknown option: '--task'");
	refused("fsnotify all --missing", "Unknown option: '--missing'");
	refused("all -t 1 x", "Unexpected argument: 'x'");
	refused("all -- -t", "Unknown option: '--'");
	refused("all -f jsn", "Did you mean 'json'?");
	/* what one member does not like, before any has run */
	refused("all --bad", "bad option");
	stub_status[5] = 2;
	refused("all", "nfs/negative-dentry: 2");
}
END_TEST

START_TEST(worst)
{
	static const int order[] = { 0, 3, 1, 130 };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(order); i++) {
		for (j = 0; j < ARRAY_SIZE(order); j++) {
			stub_status[0] = order[i];
			stub_status[3] = order[j];
			run("-f simple all");
			ck_assert_int_eq(exit_status, order[max(i, j)]);
			/* all but an interrupt goes on to the last */
			ck_assert_int_eq(!strstr(out, "negative"), exit_status == 130);
		}
	}
	ck_assert_int_eq(worse(2, 1), 2);
	ck_assert_int_eq(worse(1, 2), 2);
	ck_assert_int_eq(worse(130, 2), 130);
	ck_assert_int_eq(worse(3, 77), 77);
}
END_TEST

START_TEST(skipped_is_told_once)
{
	stub_status[1] = 3;
	run("-f simple kernfs all");
	ck_assert_int_eq(exit_status, 3);
	ck_assert_str_eq(err, "kernfs/lookup: 3\n");
}
END_TEST

/* A signal that comes outside of a run ends the program when all is written. */
START_TEST(killed)
{
	stub_status[1] = DIES;
	run("kernfs lookup");
	ck_assert_int_eq(exit_status, BENCH_EXIT_INTERRUPTED);
}
END_TEST

Suite *dispatch_suite(void)
{
	Suite *s = suite_create("dispatch");
	TCase *tc = tcase_create("dispatch");

	tcase_add_test(tc, lists);
	tcase_add_test(tc, helps);
	tcase_add_test(tc, unknown_names);
	tcase_add_test(tc, bad_options);
	tcase_add_test(tc, one);
	tcase_add_test(tc, all);
	tcase_add_test(tc, worst);
	tcase_add_test(tc, skipped_is_told_once);
	tcase_add_test(tc, killed);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return s;
}
