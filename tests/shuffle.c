// SPDX-License-Identifier: GPL-2.0
/*
 * Run a command with the kernel's free objects in an order of chance
 *
 *	shuffle SEED COMMAND [ARGUMENT]...
 *
 * The kernel hands out the object that was freed last. Two programs that run in turn so get the
 * same objects each time, each its own, and what a good or bad place of them costs (a line that two
 * of them share, say) stays with one of the two, however often they run. So eventfds, pipes and
 * files are opened here and closed in an order of chance, on each CPU.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define OBJECTS	192	/* of each kind at most; some pages of each cache */

static int fds[4 * OBJECTS];
static int nr;

static void keep(int fd)
{
	if (fd >= 0)
		fds[nr++] = fd;
}

static void shuffle(void)
{
	int kind = OBJECTS - (int)(drand48() * OBJECTS / 2), ends[2], i, k, fd;

	for (nr = 0, i = 0; i < kind; i++) {
		keep(eventfd(0, 0));
		if (!pipe(ends)) {
			keep(ends[0]);
			keep(ends[1]);
		}
		keep(open("/dev/shm", O_TMPFILE | O_RDWR, 0600));
	}
	for (i = nr - 1; i > 0; i--) {
		k = (int)(drand48() * (i + 1));
		fd = fds[i];
		fds[i] = fds[k];
		fds[k] = fd;
	}
	while (nr)
		close(fds[--nr]);
}

int main(int argc, char **argv)
{
	cpu_set_t all, one;
	int cpu;

	if (argc < 3) {
		fprintf(stderr, "usage: shuffle SEED COMMAND...\n");
		return 2;
	}
	srand48(atol(argv[1]));
	if (!sched_getaffinity(0, sizeof(all), &all)) {
		for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
			if (!CPU_ISSET(cpu, &all))
				continue;
			CPU_ZERO(&one);
			CPU_SET(cpu, &one);
			if (!sched_setaffinity(0, sizeof(one), &one))
				shuffle();
		}
		sched_setaffinity(0, sizeof(all), &all);
	}
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 127;
}
