// SPDX-License-Identifier: GPL-2.0
/*
 * fsnotify-marks.c: inotify and fanotify marks as variants of a benchmark
 *
 * Every mark named by --marks is a variant, measured in turn with the others while the same tasks
 * run. When one begins, marks are placed on what the tasks work on, and when it ends they go:
 *
 *	none	nothing: what a file operation costs when nobody watches
 *	inode	each task's own object
 *	parent	the directory in which the objects are
 *	mount	the mount through which they were opened (fanotify only)
 *	sb	the file system that they are on (fanotify only)
 *
 * Marks are taken off one by one or flushed; closing their group would do it, too, but waits until
 * the kernel has freed them, for which every task must have been on a CPU.
 *
 * Every mark is tried in setup: it is put on an object of the parent's own, one op is done, and
 * the queue is read. A mark that made no event is measured all the same, and is said to have no
 * effect: the kernel leaves out some pseudo files, and fanotify all that is neither a regular file
 * nor a directory. It may cost something even so.
 *
 * Marks are for notification only, never for permission. The queue is not read while a variant is
 * measured. inotify merges an event with the one queued before it if they are equal, fanotify also
 * with earlier ones; else the queue fills up (fs.inotify.max_queued_events, or the one of
 * fanotify), and from then on the cost is that of an event that is dropped. Overflows are counted.
 * Marks on a mount or file system also get the events of other programs.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/fanotify.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include <subcmd/parse-options.h>

#include "fsnotify-marks.h"
#include "worker.h"

#ifndef FAN_MARK_FILESYSTEM
#define FAN_MARK_FILESYSTEM	0x00000100
#endif

#define PROBE_ID	-1	/* in place of a task's, for the parent's own object */
#define MAX_EVENT_FDS	16	/* that one read of a fanotify queue may open */

enum mark { MARK_NONE, MARK_INODE, MARK_PARENT, MARK_MOUNT, MARK_SB, NR_MARKS };

static const char * const mark_names[] = { "none", "inode", "parent", "mount", "sb" };

static const char *marks_str, *group_str;

const struct option fsnotify_marks_options[] = {
	OPT_STRING(0, "marks", &marks_str, "list",
		   "where marks are, measured in turn: none,inode,parent,mount,sb (default none)"),
	OPT_STRING(0, "group", &group_str, "inotify|fanotify",
		   "what they belong to (default inotify; fanotify if mount or sb is in the list)"),
	OPT_PARENT(bench_worker_options)
};

static struct {
	const struct fsnotify_object *object;
	enum mark	marks[BENCH_MAX_VARIANTS];
	bool		fanotify;
	int		fd;				/* the group, or -1 */
	int		*watches, nr_watches;		/* inotify's, that are placed */
	int		current;			/* the variant that has marks, or -1 */
	int		repeat;
	int		overflows[BENCH_MAX_VARIANTS];	/* in this repeat */
} state;

static int object__open(int fd[2], int id)
{
	char name[16];

	fd[0] = -1;
	fd[1] = -1;
	snprintf(name, sizeof(name), "%d", id);
	return state.object->open(fd, name);
}

static void object__close(const int fd[2], int id)
{
	char name[16];

	if (fd[0] >= 0)
		close(fd[0]);
	if (fd[1] >= 0)
		close(fd[1]);
	snprintf(name, sizeof(name), "%d", id);
	if (state.object->in_dir)
		unlink(name);
}

static int group__open(void)
{
	if (state.fanotify)
		state.fd = fanotify_init(FAN_CLASS_NOTIF | FAN_CLOEXEC | FAN_NONBLOCK,
					 O_RDONLY | O_CLOEXEC | O_LARGEFILE | O_NONBLOCK);
	else
		state.fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	return state.fd < 0 ? -errno : 0;
}

static int group__mark(enum mark mark, const char *path)
{
	unsigned int flags = FAN_MARK_ADD;
	u64 mask = state.object->mask;
	int ret;

	if (mark == MARK_PARENT)
		path = ".";
	if (mark == MARK_PARENT && state.fanotify)
		mask |= FAN_EVENT_ON_CHILD;
	if (mark == MARK_MOUNT)
		flags |= FAN_MARK_MOUNT;
	if (mark == MARK_SB)
		flags |= FAN_MARK_FILESYSTEM;
	if (state.fanotify)
		ret = fanotify_mark(state.fd, flags, mask, AT_FDCWD, path);
	else
		ret = inotify_add_watch(state.fd, path, mask);
	if (ret < 0)
		return -errno;
	if (!state.fanotify)
		state.watches[state.nr_watches++] = ret;
	return 0;
}

/* All marks go. That one went with its object, or was the same as another, is no error. */
static void group__unmark(enum mark mark)
{
	unsigned int flags = FAN_MARK_FLUSH;

	if (mark == MARK_MOUNT)
		flags |= FAN_MARK_MOUNT;
	if (mark == MARK_SB)
		flags |= FAN_MARK_FILESYSTEM;
	if (state.fanotify)
		fanotify_mark(state.fd, flags, 0, AT_FDCWD, NULL);
	while (state.nr_watches)
		inotify_rm_watch(state.fd, state.watches[--state.nr_watches]);
}

/*
 * Read what was queued by now, no more: where an inotify group is itself such an object as is
 * marked, reading it makes events. @seen counts those of our own process, @overflows the lost.
 */
static void group__drain(int *seen, int *overflows)
{
	char buf[4096] __aligned(8);
	const struct fanotify_event_metadata *fan;
	const struct inotify_event *in;
	ssize_t len, size = sizeof(buf);
	int left = 0;
	char *p;

	if (state.fanotify)
		size = MAX_EVENT_FDS * sizeof(*fan);
	if (ioctl(state.fd, FIONREAD, &left))
		return;
	for (; left > 0; left -= len) {
		len = read(state.fd, buf, size);
		if (len < 0 && errno == EAGAIN)
			return;
		if (len <= 0) {		/* the object of one event could not be opened */
			len = sizeof(*fan);
			continue;
		}
		for (p = buf; !state.fanotify && p < buf + len; p += sizeof(*in) + in->len) {
			in = (const struct inotify_event *)p;
			*seen += !!(in->mask & state.object->mask);
			*overflows += !!(in->mask & IN_Q_OVERFLOW);
		}
		for (p = buf; state.fanotify && p < buf + len; p += fan->event_len) {
			fan = (const struct fanotify_event_metadata *)p;
			*seen += fan->pid == getpid() && (fan->mask & state.object->mask);
			*overflows += !!(fan->mask & FAN_Q_OVERFLOW);
			if (fan->fd >= 0)
				close(fan->fd);
		}
	}
}

/*
 * A group or a mark was refused with @err. That a limit was hit fails the run; in setup, anything
 * else is what this kernel or user cannot do: the variant is skipped, and 0 is returned.
 */
static int refused(struct bench_run *run, int v, bool setup, int err)
{
	const char *group = state.fanotify ? "fanotify" : "inotify";
	const char *mark = mark_names[state.marks[v]];

	errno = -err;		/* for %m */
	if (err == -EMFILE)
		return bench_run__fail(run, 0, "%s group: %m; raise %s (or ulimit -n)", group,
				       state.fanotify ? "user.max_fanotify_groups" :
							"fs.inotify.max_user_instances");
	if (err == -ENOSPC)
		return bench_run__fail(run, 0, "%s mark %s: %m; raise %s", group, mark,
				       state.fanotify ? "fs.fanotify.max_user_marks" :
							"fs.inotify.max_user_watches");
	if (!setup || err == -ENOMEM || err == -ENFILE)
		return bench_run__fail(run, -err, "%s mark %s", group, mark);
	if (err == -EPERM && state.fanotify)
		return bench_run__skip_variant(run, v, "fanotify needs CAP_SYS_ADMIN; %s",
					       "for inode and parent, --group inotify does not");
	return bench_run__skip_variant(run, v, "no %s mark %s can be on this %s: %m", group, mark,
				       state.object->name);
}

static int probe(struct bench_run *run, int v)
{
	const struct fsnotify_object *object = state.object;
	int fd[2], err, seen = 0, unused = 0;
	enum mark mark = state.marks[v];
	const char *call;
	char path[32];

	if (mark == MARK_PARENT && !object->in_dir)
		return bench_run__skip_variant(run, v, "this %s is in no directory", object->name);
	if (object__open(fd, PROBE_ID)) {
		err = bench_run__fail(run, errno, "%s: making a %s to try marks on", object->make,
				      object->name);
		goto out;
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd[0]);
	err = group__mark(mark, path);
	if (err) {
		err = refused(run, v, true, err);
		goto out;
	}
	call = object->op(fd);
	if (call)
		err = bench_run__fail(run, errno, "%s: trying a mark on a %s", call, object->name);
	group__drain(&seen, &unused);
	if (!seen)
		bench_run__note(run, v,
				"mark %s has no effect on this object: an op on it made no event",
				mark_names[mark]);
	group__unmark(mark);
	group__drain(&unused, &unused);
out:
	object__close(fd, PROBE_ID);
	return err;
}

int fsnotify_marks__prepare(struct bench_run *run, const struct fsnotify_object *object)
{
	const char *p = marks_str ?: "none";
	bool inodes_only = true;
	int i, m, v, len;

	state.object = object;
	state.fd = -1;
	for (;; p += len + 1) {
		len = strcspn(p, ",");
		for (m = 0; m < NR_MARKS; m++) {
			if ((int)strlen(mark_names[m]) == len && !strncmp(p, mark_names[m], len))
				break;
		}
		if (m == NR_MARKS)
			return bench_run__usage(run,
				"--marks: \"%.*s\" is not one of none, inode, parent, mount, sb",
				len, p);
		for (i = 0; i < run->nr_variants; i++) {
			if (state.marks[i] == (enum mark)m)
				return bench_run__usage(run, "--marks: %s is there twice",
							mark_names[m]);
		}
		v = bench_run__variant(run, mark_names[m]);
		if (v < 0)
			return v;
		state.marks[v] = m;
		inodes_only &= m < MARK_MOUNT;
		if (!p[len])
			break;
	}
	state.fanotify = group_str ? !strcmp(group_str, "fanotify") : !inodes_only;
	if (group_str && !state.fanotify && strcmp(group_str, "inotify"))
		return bench_run__usage(run, "--group: \"%s\" is neither inotify nor fanotify",
					group_str);
	if (!state.fanotify && !inodes_only)
		return bench_run__usage(run,
			"--group inotify: inotify marks inodes only; mount and sb need fanotify");
	return bench_run__param(run, "group", "%s", state.fanotify ? "fanotify" : "inotify");
}

int fsnotify_marks__setup(struct bench_run *run)
{
	int v, err = 0, no_group = 0;

	state.repeat = -1;
	state.current = -1;
	state.watches = calloc(run->nr_tasks, sizeof(*state.watches));
	if (!state.watches)
		return bench_run__fail(run, ENOMEM, "list of watches");
	for (v = 0; !err && v < run->nr_variants; v++) {
		if (state.marks[v] == MARK_NONE)
			continue;
		if (state.fd < 0 && !no_group)
			no_group = group__open();
		err = no_group ? refused(run, v, true, no_group) : probe(run, v);
	}
	return err;
}

void fsnotify_marks__teardown(struct bench_run *run __maybe_unused)
{
	if (state.fd >= 0)
		close(state.fd);
	state.fd = -1;
	zfree(&state.watches);
}

/* The marks of the current variant go, and the queue is emptied; overflows of a repeat add up. */
static void marks__end(struct bench_run *run)
{
	int v = state.current, unused = 0;

	if (v < 0)
		return;
	group__drain(&unused, &state.overflows[v]);
	group__unmark(state.marks[v]);
	group__drain(&unused, &unused);		/* with what came of unmarking */
	state.current = -1;
	bench_run__metric(run, v, "queue overflows", "events", state.overflows[v]);
	if (state.overflows[v])
		bench_run__note(run, v,
				"the queue was full and events were dropped (fs.%s.max_queued_events)",
				state.fanotify ? "fanotify" : "inotify");
}

int fsnotify_marks__select(struct bench_run *run, int v)
{
	enum mark mark = v < 0 ? MARK_NONE : state.marks[v];
	int i, err = 0, nr = mark == MARK_INODE ? run->nr_tasks : 1;
	char path[64];

	marks__end(run);
	if (state.repeat != run->repeat)
		memset(state.overflows, 0, sizeof(state.overflows));
	state.repeat = run->repeat;
	if (mark == MARK_NONE)
		return 0;
	state.current = v;
	for (i = 0; !err && i < nr; i++) {
		bench_task__fd_path(run->tasks[i], run->tasks[i]->fd[0], path, sizeof(path));
		err = group__mark(mark, path);
	}
	return err ? refused(run, v, false, err) : 0;
}

int fsnotify_marks__init(struct bench_task *t)
{
	if (object__open(t->fd, t->id))
		return bench_task__fail(t, state.object->make, state.object->name);
	return 0;
}

void fsnotify_marks__exit(struct bench_task *t)
{
	object__close(t->fd, t->id);
}
