// SPDX-License-Identifier: GPL-2.0
/*
 * Messages to the user
 *
 * A message is made in a buffer and leaves with one write(2), past stdio: a task that was forked
 * off must not print what its parent had buffered. What does not fit is cut.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "util/debug.h"

#define MESSAGE_MAX	4096

int verbose;
bool quiet;

int eprintf(int level, int var, const char *fmt, ...)
{
	char text[MESSAGE_MAX];
	int saved = errno;
	ssize_t written;
	va_list ap;
	int len;

	if (level > var)
		return 0;

	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (len >= (int)sizeof(text)) {
		len = sizeof(text) - 1;
		text[len - 1] = '\n';
	}
	written = len > 0 ? write(STDERR_FILENO, text, len) : 0;
	errno = saved;
	return written > 0 ? written : 0;
}
