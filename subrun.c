// SPDX-License-Identifier: GPL-2.0
/*
 * A run below is a process group of its own, told by the environment where to write its results.
 * What it says on standard error is kept back, and shown if it fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "bench/worker.h"
#include "subrun.h"

#define GROUP_TRIES	1000	/* 10 s */

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

static struct sigaction old_actions[ARRAY_SIZE(signals)];
static volatile sig_atomic_t interrupted, group;
static char *dir, *file;

static void on_signal(int sig)
{
	int err = errno;

	interrupted = sig;
	if (group > 0)
		kill(-group, sig);
	errno = err;
}

int subrun__begin(void)
{
	struct sigaction act = { .sa_handler = on_signal };
	const char *tmp = getenv("TMPDIR");
	size_t i;
	int err;

	if (asprintf(&dir, "%s/perf-kbench-runs.XXXXXX", tmp && *tmp ? tmp : "/tmp") < 0)
		return -ENOMEM;
	if (!mkdtemp(dir)) {
		err = -errno;
		zfree(&dir);
		return err;
	}
	if (asprintf(&file, "%s/results.json", dir) < 0) {
		file = NULL;
		rmdir(dir);
		zfree(&dir);
		return -ENOMEM;
	}
	interrupted = 0;
	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &old_actions[i]);
		if (old_actions[i].sa_handler != SIG_IGN)
			sigaction(signals[i], &act, NULL);
	}
	return 0;
}

void subrun__end(void)
{
	size_t i;

	if (!dir)
		return;
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old_actions[i], NULL);
	unlink(file);
	rmdir(dir);
	zfree(&file);
	zfree(&dir);
}

int subrun__interrupted(void)
{
	return interrupted;
}

void subrun__progress(const char *what, int done, int nr, u64 begin)
{
	u64 left;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r%s", what);
	if (done) {
		left = (bench_now() - begin) / done * (nr - done) / NSEC_PER_SEC;
		fprintf(stderr, ", %d:%02d left", (int)(left / 60), (int)(left % 60));
	}
	fprintf(stderr, "   \r");
}

void subrun__clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r%50s\r", "");
}

static void show(int fd)
{
	char buf[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		fwrite(buf, 1, n, stderr);
}

static __noreturn void child(const char *path, const char **argv, int said)
{
	int null = open("/dev/null", O_RDWR);
	sigset_t none;
	size_t i;

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	setpgid(0, 0);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old_actions[i], NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(said, STDERR_FILENO);
	setenv(SUBRUN_OUTPUT, file, 1);
	execv(path, (char **)argv);
	fprintf(stderr, "%s: %s\n", path, strerror(errno));
	_exit(127);
}

/* A shell may have ended before what it has started, which is still writing. */
static void wait_group(pid_t pid)
{
	const struct timespec nap = { .tv_nsec = 10000000 };
	int i;

	for (i = 0; !kill(-pid, 0) || errno == EPERM; i++) {
		if (i == GROUP_TRIES)
			kill(-pid, SIGKILL);
		if (i == 2 * GROUP_TRIES)
			return;
		nanosleep(&nap, NULL);
	}
}

/*
 * The results of a run that failed for nothing but a number that is not valid: something disturbed
 * it, and it is one of many. NULL if there is more against it.
 */
static struct results *read_disturbed(void)
{
	char why[256];
	struct results *res = access(file, F_OK) ? NULL : results__read(file, why, sizeof(why));
	int b, i;

	for (b = 0; res && b < res->nr_benches; b++) {
		const struct results_bench *bench = &res->benches[b];
		bool failed = !bench->nr_points;

		for (i = 0; i < bench->nr_points; i++)
			failed |= !!strstr(bench->points[i].flags, "error");
		if (failed) {
			results__free(res);
			return NULL;
		}
	}
	return res;
}

static struct results *run_child(const char *path, const char **argv, const char *name, char *why,
				 size_t why_size)
{
	int said = memfd_create("stderr", MFD_CLOEXEC), status = 0;
	struct results *res = NULL;
	pid_t pid;

	unlink(file);
	fflush(NULL);
	pid = said < 0 ? -1 : fork();
	if (!pid)
		child(path, argv, said);
	if (pid < 0) {
		snprintf(why, why_size, "%s: %s", name, strerror(errno));
		goto out;
	}
	setpgid(pid, pid);
	group = pid;
	if (interrupted)
		kill(-pid, interrupted);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	group = 0;
	wait_group(pid);
	if (interrupted) {
		snprintf(why, why_size, "interrupted by signal %d (%s)", (int)interrupted,
			 strsignal(interrupted));
	} else if (WIFSIGNALED(status)) {
		show(said);
		snprintf(why, why_size, "'%s' was ended by signal %d (%s)", name, WTERMSIG(status),
			 strsignal(WTERMSIG(status)));
	} else if (WEXITSTATUS(status)) {
		show(said);
		snprintf(why, why_size, "'%s' exited with %d", name, WEXITSTATUS(status));
		if (WEXITSTATUS(status) == BENCH_EXIT_FAILED)
			res = read_disturbed();
	} else if (access(file, F_OK)) {
		show(said);
		snprintf(why, why_size,
			 "'%s' has run no benchmark of perf-kbench without -o of its own", name);
	} else {
		res = results__read(file, why, why_size);
	}
out:
	if (said >= 0)
		close(said);
	return res;
}

struct results *subrun__argv(const char **argv, char *why, size_t why_size)
{
	const char **all;
	struct results *res;
	int nr = 0;

	while (argv[nr])
		nr++;
	all = calloc(nr + 2, sizeof(*all));
	if (!all) {
		snprintf(why, why_size, "out of memory");
		return NULL;
	}
	all[0] = "perf-kbench";
	memcpy(all + 1, argv, nr * sizeof(*all));
	res = run_child("/proc/self/exe", all, "perf-kbench", why, why_size);
	free(all);
	return res;
}

struct results *subrun__shell(const char *command, char *why, size_t why_size)
{
	return run_child("/bin/sh", (const char *[]){ "sh", "-c", command, NULL }, command, why,
			 why_size);
}
