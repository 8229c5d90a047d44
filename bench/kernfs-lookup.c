// SPDX-License-Identifier: GPL-2.0
/*
 * kernfs-lookup.c: open, read and close of files on kernfs (sysfs, cgroup, resctrl)
 *
 * What tasks meet in, by file and by what they share:
 *
 *	one path, all tasks	the file's kernfs_open_node and the hashed mutex that guards it, on
 *				open and on close; its active reference; its dentry's lockref
 *	--distinct		only what is the root's or the directories': kernfs_rwsem, read to
 *				revalidate each component; kernfs_iattr_rwsem, read for permissions
 *				and stat; the lockrefs of the directories above
 *	--missing		the same without a file: the negative dentry is revalidated, and is
 *				looked up again after its directory changed. An open and a stat may
 *				come to different ends here, so each is an --op of its own
 *
 * As threads, which is the default, tasks also share the table of descriptors and the working
 * directory, as the programs that read sysfs in parallel do; --mode process leaves that out.
 *
 * Not stressed: kernfs_rwsem for writing (nothing is created or removed), and the attributes' own
 * code: only files that are cheap to show are taken, unless --path names others.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <subcmd/parse-options.h>

#include "bench.h"
#include "kernfs-files.h"
#include "worker.h"

#define DEFAULT_ROOT	"/sys"
#define DEFAULT_FILE	"/sys/devices/system/cpu/cpu0/topology/core_id"

enum op { OP_OPEN, OP_STAT, OP_ACCESS };

static const struct { const char *name, *unit, *missing; } ops[] = {
	[OP_OPEN]	= { "open", "open+read+close", "open (ENOENT)" },
	[OP_STAT]	= { "stat", "stat", "stat (ENOENT)" },
	[OP_ACCESS]	= { "access", "access", "access (ENOENT)" },
};

/* One of the files in turn; a load leads to the next. */
struct lookup {
	const struct lookup	*next;
	const char		*path;
};

static const char * const *files;	/* those that are looked up */
static int nr_files;
static struct lookup *lookups;		/* [nr_files] a ring; with --distinct one of each */
static const char **given;		/* --path */
static int nr_given;
static u64 nr_find;
static const char *op_str, *root;
static bool distinct, missing;
static enum op op;

static int add_path(const struct option *opt __maybe_unused, const char *arg,
		    int unset __maybe_unused)
{
	const char **more = realloc(given, (nr_given + 1) * sizeof(*given));

	if (!more)
		return -1;
	given = more;
	given[nr_given++] = arg;
	return 0;
}

static const struct option options[] = {
	OPT_STRING(0, "op", &op_str, "open|stat|access",
		   "what is done with a file; open is open, read and close (default open)"),
	{ .type = OPTION_CALLBACK, .long_name = "path", .argh = "file", .flags = PARSE_OPT_NONEG,
	  .help = "a file to look up; may be given more than once (default " DEFAULT_FILE ")",
	  .callback = add_path },
	OPT_BENCH_COUNT(0, "files", &nr_find,
			"files to find and look up in turn, 1 to 65536 (default 1)"),
	OPT_STRING(0, "root", &root, "dir",
		   "find them under this kernfs mount or directory (default " DEFAULT_ROOT ")"),
	OPT_BOOLEAN(0, "distinct", &distinct, "task n looks up the nth file only"),
	OPT_BOOLEAN(0, "missing", &missing,
		    "look up names that do not exist; ENOENT is the success"),
	OPT_PARENT(bench_worker_options)
};

static const char * const usage[] = {
	"perf bench kernfs lookup <options>",
	NULL
};

/* One op; NULL, or the name of the call that did not do what it should, with errno set. */
static __always_inline const char *once(const char *path, enum op what, bool absent)
{
	char buf[4096];
	struct stat st;
	int ret, err;

	if (what == OP_STAT)
		ret = stat(path, &st);
	else if (what == OP_ACCESS)
		ret = access(path, R_OK);
	else
		ret = open(path, O_RDONLY);
	if (absent) {
		if (likely(ret < 0 && errno == ENOENT))
			return NULL;
		if (ret >= 0)
			errno = EEXIST;
		return ops[what].name;
	}
	if (unlikely(ret < 0))
		return ops[what].name;
	if (what != OP_OPEN)
		return NULL;
	if (unlikely(read(ret, buf, sizeof(buf)) < 0)) {
		err = errno;
		close(ret);
		errno = err;
		return "read";
	}
	return unlikely(close(ret)) ? "close" : NULL;
}

static __always_inline int loop(struct bench_task *t, enum op what, bool absent)
{
	const struct lookup *file = &lookups[distinct ? t->id : 0];
	const char *call;

	bench_task__for_each_op(t) {
		call = once(file->path, what, absent);
		if (unlikely(call))
			return bench_task__fail(t, call, file->path);
		file = file->next;
	}
	return 0;
}

/* Each loop is compiled for its op, and alone, so that it has all registers. */
static noinline int open_run(struct bench_task *t)
{
	return loop(t, OP_OPEN, false);
}

static noinline int stat_run(struct bench_task *t)
{
	return loop(t, OP_STAT, false);
}

static noinline int access_run(struct bench_task *t)
{
	return loop(t, OP_ACCESS, false);
}

static noinline int open_missing_run(struct bench_task *t)
{
	return loop(t, OP_OPEN, true);
}

static noinline int stat_missing_run(struct bench_task *t)
{
	return loop(t, OP_STAT, true);
}

static noinline int access_missing_run(struct bench_task *t)
{
	return loop(t, OP_ACCESS, true);
}

static int run(struct bench_task *t)
{
	static int (* const loops[][2])(struct bench_task *) = {
		[OP_OPEN]	= { open_run, open_missing_run },
		[OP_STAT]	= { stat_run, stat_missing_run },
		[OP_ACCESS]	= { access_run, access_missing_run },
	};

	return loops[op][missing](t);
}

/* Names that do not exist: one for each of @found, or @nr in the directory of the first one. */
static int choose_missing(struct bench_run *run, const char * const *found, int nr, bool each)
{
	int dir_len = strrchr(found[0], '/') - found[0], i, len;
	const char **names = calloc(nr, sizeof(*names));
	char *name;

	for (i = 0; names && i < nr; i++) {
		len = each ? asprintf(&name, "%s.missing", found[i]) :
			     asprintf(&name, "%.*s/no_such_file.%d", dir_len, found[0], i);
		if (len < 0)
			break;
		names[i] = name;
	}
	files = names;
	nr_files = nr;
	return i == nr ? 0 : bench_run__fail(run, ENOMEM, "list of files");
}

/* What is looked up; @most is the largest number of tasks. */
static int choose(struct bench_run *run, int most)
{
	static const char * const default_file[] = { DEFAULT_FILE };
	const char **found = NULL;
	int nr = 1, err = 0;

	files = given;
	nr_files = nr_given;
	if (given)
		return 0;
	if (nr_find)
		nr = nr_find;
	else if (distinct && !missing)
		nr = most;
	if (nr > 1 || nr_find || root || access(DEFAULT_FILE, R_OK)) {
		found = kernfs_files__find(run, root ?: DEFAULT_ROOT, nr);
		if (!found)
			return -ENOENT;		/* why was said */
	}
	files = found ?: default_file;
	nr_files = nr;
	if (missing) {
		err = choose_missing(run, files, nr_find || !distinct ? nr : most, nr_find);
		kernfs_files__free(found, found ? nr : 0);
	}
	return err;
}

/* Do the op once on a file, so that what is wrong with it is said before anything runs. */
static int try_file(struct bench_run *run, const char *path)
{
	char *dir = missing ? strdup(path) : NULL, *slash = dir ? strrchr(dir, '/') : NULL;
	const char *call;
	int err;

	if (slash)
		slash[1] = '\0';
	err = kernfs_files__check(run, slash ? dir : missing ? "." : path);
	free(dir);
	if (err)
		return err;
	call = once(path, op, missing);
	if (!call)
		return 0;
	if (missing && errno == EEXIST)
		return bench_run__fail(run, 0, "--missing: %s exists", path);
	return bench_run__fail(run, errno, "%s %s", call, path);
}

/* FNV-1a of Fowler, Noll and Vo, 64 bit: two results tell whether they are of the same files. */
static unsigned long long hash_of_files(void)
{
	unsigned long long hash = 0xcbf29ce484222325ull;
	const char *p;
	int i;

	for (i = 0; i < nr_files; i++) {
		p = files[i];
		do {	/* the zero at the end, too: it keeps names apart */
			hash = (hash ^ (unsigned char)*p) * 0x100000001b3ull;
		} while (*p++);
	}
	return hash;
}

static int prepare(struct bench_run *run)
{
	int i, err, most = 0;

	for (op = OP_OPEN; op_str && op < ARRAY_SIZE(ops); op++) {
		if (!strcmp(op_str, ops[op].name))
			break;
	}
	if (op == ARRAY_SIZE(ops))
		return bench_run__usage(run, "--op: \"%s\" is not open, stat or access", op_str);
	if (root && !*root)
		return bench_run__usage(run, "--root: a directory is missing");
	if (given && (nr_find || root))
		return bench_run__usage(run, "--path goes with neither --files nor --root");
	if (nr_find > BENCH_MAX_TASKS)
		return bench_run__usage(run, "--files: %llu is more than %d",
					(unsigned long long)nr_find, BENCH_MAX_TASKS);
	for (i = 0; i < run->nr_points; i++)
		most = max(most, run->points[i]);
	err = choose(run, most);
	if (err)
		return err;
	if (distinct && nr_files < most)
		return bench_run__usage(run, "--distinct: %d tasks need %d files, and there are %d",
					most, most, nr_files);
	free(lookups);
	lookups = calloc(nr_files, sizeof(*lookups));
	if (!lookups)
		return bench_run__fail(run, ENOMEM, "list of files");
	for (i = 0; !err && i < nr_files; i++) {
		lookups[i].path = files[i];
		lookups[i].next = &lookups[distinct ? i : (i + 1) % nr_files];
		err = try_file(run, files[i]);
	}
	if (err)
		return err;
	run->unit = missing ? ops[op].missing : ops[op].unit;
	bench_run__param(run, "op", "%s", ops[op].name);
	bench_run__param(run, "missing", "%s", missing ? "yes" : "no");
	bench_run__param(run, "distinct", "%s", distinct ? "yes" : "no");
	if (!distinct || given || nr_find)
		bench_run__param(run, "files", "%d", nr_files);
	if (nr_files > 1)
		bench_run__param(run, "paths", "%016llx", hash_of_files());
	return bench_run__param(run, "path", "%s", files[0]);
}

static const struct bench_ops kernfs_lookup_ops = {
	.name		= "kernfs/lookup",
	.unit		= "open+read+close",
	.mode		= BENCH_MODE_THREAD,
	.fds		= 1,
	.options	= options,
	.usage		= usage,
	.prepare	= prepare,
	.run		= run,
};

int bench_kernfs_lookup(int argc, const char **argv)
{
	return bench_worker__main(argc, argv, &kernfs_lookup_ops);
}
