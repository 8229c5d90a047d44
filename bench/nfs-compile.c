// SPDX-License-Identifier: GPL-2.0
/*
 * nfs compile: each op starts the system's C compiler, "cc -E", on a file of one line, with --dirs
 * empty directories in front of the one in which the header is that the file includes.
 *
 * It is the real thing of which nfs negative-dentry is the core: a parallel make of small files
 * with a long search path. With --total the elapsed time is the result, as that of make -j.
 *
 * What is stressed: a compiler asks once of each directory whether it is there (stat), and opens
 * each header in each directory until it finds it: --dirs opens that end with ENOENT for ours and,
 * with gcc, as many for stdc-predef.h, which it includes unasked. All tasks search the same
 * directories. For what that costs in the kernel, and the RPCs that are counted, see
 * nfs-negative-dentry.c and nfs-rpc.c.
 *
 * What is stressed as well: making and ending two processes, and all that the dynamic linker and
 * the compiler do before they come to the file, which is most of an op where the absence of files
 * is known and --dirs is small. Nothing is compiled, and nothing written.
 *
 * Each compiler leads a process group of its own, so that it does not get a terminal's signals,
 * and is killed with its children as soon as the task is told to stop: such an op is not counted.
 * Before each repeat one op is tried, which must print what it was to include; from then on the
 * client knows which files are not there.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "nfs-rpc.h"
#include "worker.h"

#define MAX_DIRS	50000		/* the kernel takes arguments of 2 MB */
#define MAX_WORDS	64
#define TRY_NS		(60 * NSEC_PER_SEC)
#define MARK		"perf_kbench_header_was_included"
#define HEADER_DIR	"include"	/* the last to be searched */
#define HEADER		"kbench.h"

struct compile {
	const char			*name;	/* of the compiler, to be found by PATH */
	char				**argv;
	char				**source;	/* the last argument */
	posix_spawn_file_actions_t	quiet;
	posix_spawnattr_t		attr;
	struct nfs_rpc			rpc;
	char				words[BENCH_TEXT_MAX];	/* of --cc */
	char				options[][16];	/* -Id0, -Id1, ... */
};

static const char *dir, *cc = "cc";
static u64 dirs = 1000;
static bool any_fs;
static struct compile *compile;

static const struct option options[] = {
	OPT_BENCH_COUNT(0, "dirs", &dirs,
			"empty directories that are searched before the right one (default: 1000)"),
	OPT_STRING(0, "cc", &cc, "command",
		   "C compiler, and options for it, without a shell (default: cc)"),
	OPT_STRING(0, "dir", &dir, "dir",
		   "where the directories are made, on NFS, in one of their own (default: .)"),
	OPT_BOOLEAN(0, "any-fs", &any_fs, "take any file system, not only NFS"),
	OPT_PARENT(bench_worker_options),
};

static const char * const usage[] = {
	"perf bench nfs compile [<options>]",
	NULL
};

/* One that is named by a relative path: we will be in another directory. */
static int find_compiler(struct bench_run *run, struct compile *c)
{
	static char path[4096];
	char cwd[4096];

	c->name = c->argv[0];
	if (!strchr(c->name, '/') || *c->name == '/')
		return 0;
	if (!getcwd(cwd, sizeof(cwd)))
		return bench_run__fail(run, errno, "getcwd for --cc %s", cc);
	if (snprintf(path, sizeof(path), "%s/%s", cwd, c->name) >= (int)sizeof(path))
		return bench_run__fail(run, ENAMETOOLONG, "--cc %s", cc);
	c->name = path;
	return 0;
}

/* The command, which is the same in all repeats: CC... -E -Id0 ... -Iinclude SOURCE */
static int make_command(struct bench_run *run)
{
	struct compile *c = zalloc(sizeof(*c) + dirs * sizeof(c->options[0]));
	char *word, *save;
	int i, nr = 0;

	if (compile)
		free(compile->argv);
	free(compile);
	compile = c;
	if (c)
		c->argv = calloc(MAX_WORDS + 1 + dirs + 3, sizeof(*c->argv));
	if (!c || !c->argv)
		return bench_run__fail(run, ENOMEM, "%llu options", (unsigned long long)dirs);
	if (snprintf(c->words, sizeof(c->words), "%s", cc) >= (int)sizeof(c->words))
		return bench_run__usage(run, "--cc: more than %d characters", BENCH_TEXT_MAX - 1);
	for (word = strtok_r(c->words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (nr == MAX_WORDS)
			return bench_run__usage(run, "--cc: more than %d words", MAX_WORDS);
		c->argv[nr++] = word;
	}
	if (!nr)
		return bench_run__usage(run, "--cc \"%s\" names no command", cc);
	c->argv[nr++] = (char *)"-E";
	for (i = 0; i < (int)dirs; i++) {
		snprintf(c->options[i], sizeof(c->options[i]), "-Id%d", i);
		c->argv[nr++] = c->options[i];
	}
	c->argv[nr++] = (char *)"-I" HEADER_DIR;
	c->source = &c->argv[nr];
	return find_compiler(run, c);
}

/* How it is started: a group of its own, and the signals as they are by default. */
static int make_attributes(struct bench_run *run, struct compile *c)
{
	sigset_t set;
	int err = posix_spawnattr_init(&c->attr) ?: posix_spawn_file_actions_init(&c->quiet);

	if (err)
		return bench_run__fail(run, err, "posix_spawn");
	sigemptyset(&set);
	posix_spawnattr_setsigmask(&c->attr, &set);
	sigfillset(&set);
	posix_spawnattr_setsigdefault(&c->attr, &set);
	posix_spawnattr_setpgroup(&c->attr, 0);
	posix_spawnattr_setflags(&c->attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETPGROUP);
	err = posix_spawn_file_actions_addopen(&c->quiet, 0, "/dev/null", O_RDONLY, 0) ?:
	      posix_spawn_file_actions_addopen(&c->quiet, 1, "/dev/null", O_WRONLY, 0) ?:
	      posix_spawn_file_actions_adddup2(&c->quiet, 1, 2);
	return err ? bench_run__fail(run, err, "posix_spawn") : 0;
}

static int compile_prepare(struct bench_run *run)
{
	int err;

	if (run->mode == BENCH_MODE_THREAD)
		return bench_run__usage(run, "--mode thread: here a task must be a process");
	if (dirs > MAX_DIRS)
		return bench_run__usage(run, "--dirs is more than %d", MAX_DIRS);
	err = make_command(run) ?: make_attributes(run, compile) ?:
	      nfs_dir__check(run, dir, any_fs);
	if (err)
		return err;
	return bench_run__param(run, "dirs", "%llu", (unsigned long long)dirs) ?:
	       bench_run__param(run, "cc", "%s", cc);
}

static int start(struct compile *c, const posix_spawn_file_actions_t *actions, char *source,
		 pid_t *pid)
{
	*c->source = source;
	return posix_spawnp(pid, c->name, actions, &c->attr, c->argv, environ);
}

/* Is whoever waits for a compiler to end it? The parent, which has no @t, also by @deadline. */
static bool is_over(const struct bench_task *t, u64 deadline)
{
	if (t)
		return !__atomic_load_n(&t->limit, __ATOMIC_RELAXED);
	return bench_run__interrupted() || bench_now() > deadline;
}

/* Wait for it to end, with @status; false if it was killed, since we are to end. */
static bool wait_for(pid_t pid, const struct bench_task *t, u64 deadline, int *status)
{
	const struct timespec nap = { .tv_nsec = 10 * NSEC_PER_MSEC };
	bool killed = false;
	sigset_t set;
	pid_t ret;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	while ((ret = waitpid(pid, status, WNOHANG)) != pid) {
		if (ret < 0 && errno != EINTR)
			return false;
		if (!killed && is_over(t, deadline))
			killed = !kill(-pid, SIGKILL);
		sigtimedwait(&set, NULL, &nap);
	}
	return !killed;
}

static void how_it_ended(int status, char *text, size_t size)
{
	if (WIFSIGNALED(status))
		snprintf(text, size, "was killed by signal %d (%s)", WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "ended with status %d", WEXITSTATUS(status));
}

/* In @line, the first line of a file that has @mark in it; false if there is none. */
static bool find_line(const char *path, const char *mark, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool found = false;

	while (f && !found && fgets(line, size, f))
		found = strstr(line, mark);
	if (f)
		fclose(f);
	if (!found)
		*line = '\0';
	line[strcspn(line, "\n")] = '\0';
	return found;
}

/* One op in the parent: does this compiler do what we think? */
static int try_once(struct bench_run *run, struct compile *c)
{
	posix_spawn_file_actions_t actions;
	char line[BENCH_TEXT_MAX], how[64];
	char source[] = "try.c";
	int err, status;
	pid_t pid;

	err = posix_spawn_file_actions_init(&actions);
	if (err)
		return bench_run__fail(run, err, "posix_spawn");
	err = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0) ?:
	      posix_spawn_file_actions_addopen(&actions, 1, "try.out", O_WRONLY | O_CREAT, 0600) ?:
	      posix_spawn_file_actions_addopen(&actions, 2, "try.err", O_WRONLY | O_CREAT, 0600) ?:
	      start(c, &actions, source, &pid);
	posix_spawn_file_actions_destroy(&actions);
	if (err)
		return bench_run__fail(run, err, "--cc %s, which is to be a C compiler%s", cc,
				       err == E2BIG ? ", with so many --dirs" : "");
	if (!wait_for(pid, NULL, bench_now() + TRY_NS, &status))
		return bench_run__interrupted() ? -EINTR :
		       bench_run__fail(run, 0, "--cc %s: had not ended after %llu s", cc,
				       (unsigned long long)(TRY_NS / NSEC_PER_SEC));
	if (status) {
		how_it_ended(status, how, sizeof(how));
		find_line("try.err", "", line, sizeof(line));
		return bench_run__fail(run, 0, "--cc %s: \"%s -E\" %s%s%s", cc, c->argv[0], how,
				       *line ? ": " : "", line);
	}
	if (!find_line("try.out", MARK, line, sizeof(line)))
		return bench_run__fail(run, 0,
				       "--cc %s: \"%s -E\" did not print the header that it was to include: it is no C compiler",
				       cc, c->argv[0]);
	return 0;
}

/* Make a file that holds @text. 0 or -1 with errno. */
static int make_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "wxe");

	if (!f)
		return -1;
	fputs(text, f);
	return fclose(f);
}

static int make_source(const char *path)
{
	return make_file(path, "#include <" HEADER ">\n");
}

/* All of it is removed by the harness, which cannot hang on it. */
static int compile_setup(struct bench_run *run)
{
	static const char header[] = HEADER_DIR "/" HEADER;
	struct compile *c = compile;
	char path[24];
	int i, err;

	run->priv = c;
	for (i = 0; i < (int)dirs; i++) {
		snprintf(path, sizeof(path), "d%d", i);
		if (mkdir(path, 0700))
			return bench_run__fail(run, errno, "mkdir %s/%s", run->dir, path);
		if (bench_run__interrupted())
			return -EINTR;
	}
	if (mkdir(HEADER_DIR, 0700) || make_file(header, "int " MARK ";\n") || make_source("try.c"))
		return bench_run__fail(run, errno, "making files in %s", run->dir);
	err = try_once(run, c);
	if (!err)
		nfs_rpc__setup(run, &c->rpc);
	return err;
}

static void source_of(const struct bench_task *t, char *name, size_t size)
{
	snprintf(name, size, "%d.c", t->id);
}

static int compile_init(struct bench_task *t)
{
	char source[16];
	sigset_t set;

	/* wait_for() takes it */
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigprocmask(SIG_BLOCK, &set, NULL);
	source_of(t, source, sizeof(source));
	return make_source(source) ? bench_task__fail(t, "creating", source) : 0;
}

static int compile_run(struct bench_task *t)
{
	struct compile *c = t->run->priv;
	char source[16], how[64];
	int err, status;
	pid_t pid;

	source_of(t, source, sizeof(source));
	bench_task__for_each_op(t) {
		err = start(c, &c->quiet, source, &pid);
		if (unlikely(err)) {
			errno = err;
			return bench_task__fail(t, "posix_spawn", c->argv[0]);
		}
		if (unlikely(!wait_for(pid, t, 0, &status)))
			return 0;
		if (unlikely(status)) {
			how_it_ended(status, how, sizeof(how));
			errno = 0;
			return bench_task__fail(t, c->argv[0], how);
		}
	}
	return 0;
}

static int compile_measure(struct bench_run *run, bool begin)
{
	struct compile *c = run->priv;

	nfs_rpc__measure(run, &c->rpc, begin);
	return 0;
}

static const struct bench_ops compile_ops = {
	.name		= "nfs/compile",
	.unit		= "cc -E",
	.mode		= BENCH_MODE_PROCESS,
	.use_dir	= true,
	.dir		= &dir,
	.options	= options,
	.usage		= usage,
	.prepare	= compile_prepare,
	.setup		= compile_setup,
	.init		= compile_init,
	.run		= compile_run,
	.measure	= compile_measure,
};

int bench_nfs_compile(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &compile_ops);
}
