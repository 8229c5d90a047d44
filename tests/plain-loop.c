// SPDX-License-Identifier: GPL-2.0
/*
 * The plainest possible loop on the system calls of four benchmarks, as a measure for the harness:
 *
 *	plain-loop eventfd|pipe1|open|unlink TASKS SECONDS DIR
 *
 * TASKS processes, the i-th bound to CPU i (modulo the CPUs that there are), count on a line of
 * their own; the parent samples their counters twice against CLOCK_MONOTONIC, SECONDS apart, and
 * prints ops a second of all together. The calls are those of "fsnotify eventfd",
 * "fsnotify pipe --size 1", "locking vfs --op open" and "locking vfs --op unlink": files have names
 * as long as there, in one directory as deep below DIR as theirs, which is the current one; all of
 * it is removed.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_TASKS	1024
#define WARMUP_NS	100000000ull

struct line {
	volatile uint64_t	ops;
	volatile int		ready;
} __attribute__((aligned(4096)));

static struct line *lines;
static volatile int *stop;

static void die(const char *what)
{
	fprintf(stderr, "plain-loop: %s: %s\n", what, strerror(errno));
	_exit(1);
}

static void loop_eventfd(struct line *l)
{
	uint64_t value = 1;
	int fd = eventfd(0, 0);

	if (fd < 0)
		die("eventfd");
	for (l->ready = 1; !*stop; l->ops++) {
		if (write(fd, &value, sizeof(value)) != sizeof(value))
			die("write");
		if (read(fd, &value, sizeof(value)) != sizeof(value))
			die("read");
	}
}

static void loop_pipe(struct line *l)
{
	char buf[1] = "";
	int fd[2];

	if (pipe(fd))
		die("pipe");
	for (l->ready = 1; !*stop; l->ops++) {
		if (write(fd[1], buf, 1) != 1)
			die("write");
		if (read(fd[0], buf, 1) != 1)
			die("read");
	}
}

static void loop_open(struct line *l, const char *name)
{
	int fd = creat(name, 0600);

	if (fd < 0 || close(fd))
		die("creat");
	for (l->ready = 1; !*stop; l->ops++) {
		fd = open(name, O_RDONLY);
		if (fd < 0)
			die("open");
		if (close(fd))
			die("close");
	}
	unlink(name);
}

static void loop_unlink(struct line *l, const char *name)
{
	int fd;

	for (l->ready = 1; !*stop; l->ops++) {
		fd = creat(name, 0600);
		if (fd < 0)
			die("creat");
		if (close(fd))
			die("close");
		if (unlink(name))
			die("unlink");
	}
}

static void task(const char *op, int i, pid_t parent)
{
	cpu_set_t cpus;
	char name[32];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	CPU_ZERO(&cpus);
	CPU_SET(i % sysconf(_SC_NPROCESSORS_ONLN), &cpus);
	if (sched_setaffinity(0, sizeof(cpus), &cpus))
		die("sched_setaffinity");
	snprintf(name, sizeof(name), "%05d.%06d", i, 0);
	if (!strcmp(op, "eventfd"))
		loop_eventfd(&lines[i]);
	else if (!strcmp(op, "pipe1"))
		loop_pipe(&lines[i]);
	else if (!strcmp(op, "open"))
		loop_open(&lines[i], name);
	else
		loop_unlink(&lines[i], name);
	_exit(0);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void nap(uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, &ts) == EINTR)
		;
}

static uint64_t sample(int tasks, uint64_t *ops)
{
	int i;

	for (*ops = 0, i = 0; i < tasks; i++)
		*ops += lines[i].ops;
	return now();
}

int main(int argc, char **argv)
{
	int tasks = argc == 5 ? atoi(argv[2]) : 0, status, failed = 0, i;
	double seconds = argc == 5 ? atof(argv[3]) : 0;
	uint64_t begin, end, ops[2];
	pid_t parent = getpid();
	char top[4096];

	if (tasks < 1 || tasks > MAX_TASKS || seconds <= 0 ||
	    (strcmp(argv[1], "eventfd") && strcmp(argv[1], "pipe1") && strcmp(argv[1], "open") &&
	     strcmp(argv[1], "unlink"))) {
		fprintf(stderr, "usage: plain-loop eventfd|pipe1|open|unlink TASKS SECONDS DIR\n");
		return 2;
	}
	snprintf(top, sizeof(top), "%s/plain-loop.XXXXXX", argv[4]);
	if (!mkdtemp(top) || chdir(top) || mkdir("run", 0700) || chdir("run") ||
	    mkdir("0.00000", 0700) || chdir("0.00000"))
		die(top);
	lines = mmap(NULL, (tasks + 1) * sizeof(*lines), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (lines == MAP_FAILED)
		die("mmap");
	stop = &lines[tasks].ready;
	for (i = 0; i < tasks; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die("fork");
		if (!pid)
			task(argv[1], i, parent);
	}
	for (i = 0; i < tasks; i++) {
		while (!lines[i].ready && !waitpid(-1, &status, WNOHANG))
			nap(1000000);
	}
	nap(WARMUP_NS);
	begin = sample(tasks, &ops[0]);
	nap(seconds * 1e9);
	end = sample(tasks, &ops[1]);
	*stop = 1;
	while (wait(&status) > 0)
		failed |= status;
	if (chdir("../..") || rmdir("run/0.00000") || rmdir("run") || chdir("/") || rmdir(top))
		die(top);
	if (failed)
		return 1;
	printf("%.1f\n", (ops[1] - ops[0]) * 1e9 / (end - begin));
	return 0;
}
