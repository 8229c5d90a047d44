// SPDX-License-Identifier: GPL-2.0
/*
 * kernfs-files.c: files on kernfs that are safe and cheap to read, found by a fixed rule
 *
 * The walk begins at ROOT/devices/system if there is such a directory, and stays there, so that no
 * device's hardware is asked or woken; else at ROOT. Entries are visited in the order of their
 * bytes, a directory's content where its name stands. Links are not followed, and mounts are not
 * crossed. If ROOT is not on kernfs itself, each mount right in it that is on kernfs is walked like
 * this, as those of the cgroup hierarchies in /sys/fs/cgroup.
 *
 * Taken are regular files whose mode is exactly 0444, whose name matches none of the patterns
 * below, and of which a read now gives 1 to 4095 bytes. The same kernel on the same machine so
 * gives the same files.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <linux/kernel.h>
#include <linux/magic.h>
#include <linux/zalloc.h>

#include "kernfs-files.h"
#include "worker.h"

/* Reading these adds up what is kept a CPU, asks firmware or other CPUs, or takes more locks. */
static const char * const not_cheap[] = {
	"*_ctrs", "*freq*", "*perf", "*pressure*", "*stat*", "*usage*",
	"meminfo", "runtime_*", "uevent", "valid_zones",
};

struct walk {
	const char	**files;
	int		nr, want;
	dev_t		dev;		/* of the mount that is walked; 0 where none is yet */
};

static int on_kernfs(const char *path)
{
	struct statfs fs;

	if (statfs(path, &fs))
		return -errno;
	switch ((unsigned int)fs.f_type) {
	case SYSFS_MAGIC:
	case CGROUP_SUPER_MAGIC:
	case CGROUP2_SUPER_MAGIC:
	case RDTGROUP_SUPER_MAGIC:
		return 1;
	default:
		return 0;
	}
}

static bool cheap(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(not_cheap); i++) {
		if (!fnmatch(not_cheap[i], name, 0))
			return false;
	}
	return true;
}

static bool readable(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char buf[4096];
	ssize_t len;

	if (fd < 0)
		return false;
	len = read(fd, buf, sizeof(buf));
	close(fd);
	return len > 0 && len < (ssize_t)sizeof(buf);
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int walk_dir(struct walk *w, const char *dir);

/* @root is on kernfs: from its devices/system, if there is one, or from itself on. */
static int walk_mount(struct walk *w, const char *root)
{
	struct stat st;
	char *system;
	int err = 0;

	if (asprintf(&system, "%s/devices/system", root) < 0)
		return -ENOMEM;
	if (on_kernfs(system) > 0)
		root = system;
	if (!stat(root, &st)) {
		w->dev = st.st_dev;
		err = walk_dir(w, root);
		w->dev = 0;
	}
	free(system);
	return err;
}

static int visit(struct walk *w, const char *dir, const char *name)
{
	struct stat st;
	char *path;
	int err = 0;

	if (asprintf(&path, "%s/%s", dir, name) < 0)
		return -ENOMEM;
	if (lstat(path, &st) || (w->dev && w->dev != st.st_dev))
		goto out;		/* gone, not for us, or another mount */
	if (S_ISDIR(st.st_mode) && w->dev) {
		err = walk_dir(w, path);
	} else if (S_ISDIR(st.st_mode)) {
		if (on_kernfs(path) > 0)
			err = walk_mount(w, path);
	} else if (w->dev && st.st_mode == (S_IFREG | 0444) && cheap(name) && readable(path)) {
		w->files[w->nr++] = path;
		return 0;
	}
out:
	free(path);
	return err;
}

static int walk_dir(struct walk *w, const char *dir)
{
	struct dirent **entries;
	int i, err = 0, nr = scandir(*dir ? dir : "/", &entries, NULL, by_bytes);

	if (nr < 0)
		return errno == ENOMEM ? -ENOMEM : 0;
	for (i = 0; i < nr; i++) {
		const char *name = entries[i]->d_name;

		if (!err && w->nr < w->want && strcmp(name, ".") && strcmp(name, ".."))
			err = visit(w, dir, name);
		free(entries[i]);
	}
	free(entries);
	return err;
}

int kernfs_files__check(struct bench_run *run, const char *path)
{
	char type[BENCH_NAME_MAX];
	int ret = on_kernfs(path);

	if (ret > 0)
		return 0;
	if (ret < 0)
		return bench_run__fail(run, -ret, "%s", path);
	if (bench_fs__of(path, type, sizeof(type), NULL, 0))
		return bench_run__skip(run, "%s is not on kernfs", path);
	return bench_run__skip(run, "%s is on %s, which is not kernfs", path, type);
}

void kernfs_files__free(const char **files, int nr)
{
	while (nr)
		free((char *)files[--nr]);
	free(files);
}

const char **kernfs_files__find(struct bench_run *run, const char *root, int nr)
{
	struct walk w = { .want = nr };
	char *dir = strdup(root);
	int err;

	w.files = calloc(nr, sizeof(*w.files));
	if (!dir || !w.files) {
		bench_run__fail(run, ENOMEM, "list of files");
		goto fail;
	}
	/* "/sys/" and "/sys" give the same paths */
	while (*dir && dir[strlen(dir) - 1] == '/')
		dir[strlen(dir) - 1] = '\0';
	err = on_kernfs(root) > 0 ? walk_mount(&w, dir) : walk_dir(&w, dir);
	if (err) {
		bench_run__fail(run, -err, "looking for files under %s", root);
	} else if (w.nr == nr) {
		free(dir);
		return w.files;
	} else if (w.nr || !kernfs_files__check(run, root)) {
		bench_run__fail(run, 0,
				"%d files are needed, but only %d under %s are safe and cheap to read",
				nr, w.nr, root);
	}
fail:
	kernfs_files__free(w.files, w.nr);
	free(dir);
	return NULL;
}
