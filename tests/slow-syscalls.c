// SPDX-License-Identifier: GPL-2.0
/*
 * A slow-down of a size that can be set: run a command whose system calls pass a seccomp filter of
 * that many instructions which do nothing
 *
 *	slow-syscalls INSTRUCTIONS COMMAND [ARGUMENT]...
 *
 * The kernel runs a filter at each call, unless it sees that the answer is always the same; it does
 * not look into additions (kernel/seccomp.c, seccomp_is_const_allow()), so these are used.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

#define MAX_NOPS	4000	/* the kernel takes 4096 instructions a filter */

int main(int argc, char **argv)
{
	static struct sock_filter code[MAX_NOPS + 2];
	struct sock_fprog filter;
	int nr = argc > 2 ? atoi(argv[1]) : -1, i;

	if (nr < 1 || nr > MAX_NOPS) {
		fprintf(stderr, "usage: slow-syscalls INSTRUCTIONS COMMAND..., 1 to %d\n",
			MAX_NOPS);
		return 2;
	}
	code[0] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0);
	for (i = 1; i <= nr; i++)
		code[i] = (struct sock_filter)BPF_STMT(BPF_ALU | BPF_ADD | BPF_K, 1);
	code[nr + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	filter = (struct sock_fprog){ .len = nr + 2, .filter = code };
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter)) {
		fprintf(stderr, "slow-syscalls: seccomp: %s\n", strerror(errno));
		return 3;
	}
	execvp(argv[2], argv + 2);
	fprintf(stderr, "slow-syscalls: %s: %s\n", argv[2], strerror(errno));
	return 127;
}
