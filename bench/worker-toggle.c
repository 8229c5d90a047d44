// SPDX-License-Identifier: GPL-2.0
/*
 * worker-toggle.c: --toggle, something in the running kernel that shell commands turn on and off
 *
 * A sysctl, a static key, an option of a mount: the two states are variants, "off" and "on", which
 * take turns window by window on the same tasks, as the variants of a benchmark do. What the
 * commands cost is not measured. At the end, whatever the end is, a last command restores.
 *
 * Where a benchmark has a variant of its own (a mark), that one is there in both states.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/time64.h>
#include <subcmd/parse-options.h>

#include "worker-internal.h"

enum { OFF, ON, RESTORE, NR_COMMANDS };

static char commands[NR_COMMANDS][BENCH_TEXT_MAX];	/* RESTORE "": it is OFF */
static int now = -1;		/* the command that was run last, or tried */
static int cwd = -1;		/* where we were started: relative paths are meant from there */

/* Split "on,off,restore", in which "\," is a comma. */
static int parse(struct bench_run *run, const char *p)
{
	static const int order[] = { ON, OFF, RESTORE };
	int i = 0;
	size_t len = 0;

	memset(commands, 0, sizeof(commands));
	for (;; p++) {
		if (*p && *p != ',') {
			if (p[0] == '\\' && p[1] == ',')
				p++;
			if (len == BENCH_TEXT_MAX - 1)
				return bench_run__usage(run,
					"--toggle: a command is longer than %d bytes",
					BENCH_TEXT_MAX - 1);
			commands[order[i]][len++] = *p;
			continue;
		}
		if (!len)
			return bench_run__usage(run, "--toggle: a command is empty");
		len = 0;
		if (!*p)
			break;
		if (++i == NR_COMMANDS)
			return bench_run__usage(run,
				"--toggle: these are more than on,off,restore; a comma within a command is \"\\,\"");
	}
	return i ? 0 : bench_run__usage(run, "--toggle: it is on,off or on,off,restore");
}

int bench_toggle__plan(struct bench_run *run)
{
	char own[BENCH_NAME_MAX] = "";
	int err;

	now = -1;
	if (!bench_worker_params.toggle)
		return 0;
	if (bench_is_fixed())
		return bench_run__usage(run, "--toggle goes with neither --loops nor --total");
	if (run->nr_variants > 1)
		return bench_run__usage(run, "--toggle goes with one variant only");
	err = parse(run, bench_worker_params.toggle);
	if (err)
		return err;
	if (cwd < 0)
		cwd = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (cwd < 0)
		return bench_run__fail(run, errno, "the current directory");
	if (run->nr_variants)
		snprintf(own, sizeof(own), "%s", run->variants[0].name);
	run->nr_variants = 0;
	bench_run__variant(run, "off");
	bench_run__variant(run, "on");
	return (*own ? bench_run__param(run, "variant", "%s", own) : 0) ?:
	       bench_run__param(run, "toggle_on", "%s", commands[ON]) ?:
	       bench_run__param(run, "toggle_off", "%s", commands[OFF]);
}

/*
 * Start a command: with all signals as they are by default, in a process group of its own, out of
 * reach of the terminal's. posix_spawn() copies no memory, which with threads as tasks would cost
 * them. Our real-time policy is not inherited in any case.
 */
static int start(const char *command, pid_t *pid)
{
	char *argv[4] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t all, none;
	int err;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
				 POSIX_SPAWN_SETSIGMASK);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawn_file_actions_init(&files);
	err = posix_spawn_file_actions_addfchdir_np(&files, cwd) ?:
	      posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0) ?:
	      posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO) ?:
	      posix_spawn(pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	return err;
}

/* Wait for a process, at most until @until. Whether it has ended. */
static bool wait_until(pid_t pid, u64 until, int *status)
{
	struct timespec nap = { .tv_nsec = NSEC_PER_MSEC / 10 };
	pid_t ret;

	while (!(ret = waitpid(pid, status, WNOHANG)) && bench_now() < until) {
		if (!nanosleep(&nap, NULL) && nap.tv_nsec < 10 * NSEC_PER_MSEC)
			nap.tv_nsec *= 2;
	}
	return ret;
}

/* Run a command to its end; what was wrong goes to @why. 0 or -errno. */
static int run_command(const char *command, char *why, size_t size)
{
	u64 grace = bench_worker_params.grace;
	int err, status = 0;
	pid_t pid;

	err = start(command, &pid);
	if (err) {
		snprintf(why, size, "--toggle: /bin/sh: %s", strerror(err));
		return -err;
	}
	if (!wait_until(pid, bench_now() + grace, &status)) {
		kill(-pid, SIGKILL);
		wait_until(pid, bench_now() + NSEC_PER_SEC, &status);
		snprintf(why, size,
			 "--toggle: '%s' did not end within the grace time and was killed (--grace says how long to wait)",
			 command);
		return -ETIMEDOUT;
	}
	if (WIFSIGNALED(status))
		snprintf(why, size, "--toggle: '%s' was killed by signal %d (%s)", command,
			 WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		snprintf(why, size, "--toggle: '%s' exited with %d", command, WEXITSTATUS(status));
	return status ? -EIO : 0;
}

int bench_toggle__select(struct bench_run *run, int v)
{
	char why[2 * BENCH_TEXT_MAX];
	int err;

	if (now == v)
		return 0;
	now = v;
	err = run_command(commands[v], why, sizeof(why));
	if (err)
		bench_run__fail(run, 0, "%s", why);
	return err;
}

/*
 * Restore, if anything was changed. This is as important as what may have failed before, so what
 * fails here is told in any case.
 */
void bench_toggle__end(struct bench_run *run)
{
	const char *command = *commands[RESTORE] ? commands[RESTORE] : commands[OFF];
	char why[2 * BENCH_TEXT_MAX];

	if (now < 0)
		return;
	now = -1;
	if (!run_command(command, why, sizeof(why)))
		return;
	if (run->status == BENCH_EXIT_OK) {
		bench_run__fail(run, 0, "%s; what it was to restore is as it was left", why);
	} else {
		fprintf(stderr, "%s: %s; what it was to restore is as it was left\n",
			run->ops->name, why);
		run->status = BENCH_EXIT_FAILED;
	}
}

void bench_toggle__verdict(struct bench_run *run)
{
	const struct bench_result *on = &run->results[ON];
	double change, half;
	char text[64];

	if (!bench_worker_params.toggle)
		return;
	change = 100 * (on->ratio - 1);
	half = 100 * on->ratio_ci95;
	if (*on->skip || !isfinite(change) || !isfinite(half))
		return;
	snprintf(text, sizeof(text), "%+.1f %% (%+.1f to %+.1f)", change, change - half,
		 change + half);
	if (change - half > 0)
		bench_run__note(run, ON, "slower than off, us/op %s", text);
	else if (change + half < 0)
		bench_run__note(run, ON, "faster than off, us/op %s", text);
	else
		bench_run__note(run, ON, "no difference was found: %s", text);
}
