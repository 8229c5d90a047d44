// SPDX-License-Identifier: GPL-2.0
/*
 * What the observers share
 */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <linux/compiler.h>
#include <linux/types.h>
#include "observe/observe.h"
#include "util/outfile.h"

/* The errno goes into the text: bench_run__fail() would advise on what is under test. */
static int tell(struct observe_file *f, struct bench_run *run, int err)
{
	if (err && !f->told)
		bench_run__fail(run, 0, "the results could not be written to %s: %s; %s",
				outfile__path(f->out), strerror(-err), outfile__hint(err));
	f->told |= !!err;
	return err;
}

int observe_file__open(struct observe_file *f, struct bench_run *run)
{
	int err;

	if (f->opened)
		return 0;
	err = outfile__open(f->out);
	f->opened = !err;
	return tell(f, run, err);
}

int observe_file__flush(struct observe_file *f, struct bench_run *run)
{
	return tell(f, run, outfile__flush(f->out));
}

int observe_file__finish(struct observe_file *f)
{
	int err = f->opened ? outfile__commit(f->out) : 0;

	outfile__free(f->out);
	return f->told ? -ECANCELED : err;
}

bool observe__valid(const struct bench_result *res)
{
	return !*res->skip && !(res->flags & BENCH_FLAG_INVALID_MASK) && isfinite(res->rate);
}

unsigned int observe__next_flag(unsigned int *flags)
{
	unsigned int flag = *flags & -*flags;

	*flags &= ~flag;
	return flag;
}
