// SPDX-License-Identifier: GPL-2.0
/*
 * env.c: on what machine and kernel, and in what state, a result was obtained
 *
 * All of it is read from files, uname(2) and the clock, at the start of a run. Lists of CPUs stay
 * text as the kernel writes them. The name of the host is left out on purpose.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include "env.h"
#include "json-stream.h"
#include "notes.h"

#ifndef KBENCH_VERSION
#define KBENCH_VERSION	"unknown"
#endif

#define CPU_DIR		"/sys/devices/system/cpu"
#define CLOCK_DIR	"/sys/devices/system/clocksource/clocksource0"

static FILE *open_file(const char *root, const char *path)
{
	char full[PATH_MAX];

	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return NULL;
	return fopen(full, "re");
}

/* The first line of a file without its end, the caller's; NULL if it cannot be read. */
static char *first_line(const char *root, const char *path)
{
	FILE *file = open_file(root, path);
	char *line = NULL;
	size_t size = 0;

	if (!file)
		return NULL;
	if (getline(&line, &size, file) < 0) {
		free(line);
		line = ferror(file) ? NULL : strdup("");
	}
	fclose(file);
	if (line)
		line[strcspn(line, "\n")] = '\0';
	return line;
}

/* What follows "@key   :  " in the first line that begins so, the caller's, or NULL. */
static char *field(const char *root, const char *path, const char *key)
{
	FILE *file = open_file(root, path);
	char *line = NULL, *value = NULL;
	size_t size = 0, len = strlen(key);

	while (file && !value && getline(&line, &size, file) >= 0) {
		char *p = line + len;

		if (strncmp(line, key, len))
			continue;
		p += strspn(p, " \t");
		if (*p != ':')
			continue;
		p += 1 + strspn(p + 1, " \t");
		p[strcspn(p, "\n")] = '\0';
		value = strdup(p);
	}
	free(line);
	if (file)
		fclose(file);
	return value;
}

/* Is @word one of those in @list, which any of @separators part? */
static bool has_word(const char *list, const char *word, const char *separators)
{
	size_t len;

	for (; *list; list += len) {
		list += strspn(list, separators);
		len = strcspn(list, separators);
		if (len == strlen(word) && !strncmp(list, word, len))
			return true;
	}
	return false;
}

int env__next_range(const char **list, int *first, int *last)
{
	long value[2];
	int i;

	if (!**list)
		return 0;
	for (i = 0; i < 2; i++) {
		char *end;

		if (**list < '0' || **list > '9')
			return -EINVAL;
		errno = 0;
		value[i] = strtol(*list, &end, 10);
		if (errno || value[i] > INT_MAX)
			return -EINVAL;
		*list = end;
		if (i == 0 && *end != '-')
			value[++i] = value[0];
		else if (i == 0)
			++*list;
	}
	if (value[0] > value[1] || (**list && **list != ','))
		return -EINVAL;
	if (**list && !*++*list)
		return -EINVAL;
	*first = value[0];
	*last = value[1];
	return 1;
}

/* How many numbers a list has, 0 if it is NULL, empty or malformed. */
static u64 count_list(const char *list)
{
	int first, last, more = 0;
	u64 n = 0;

	while (list && (more = env__next_range(&list, &first, &last)) > 0)
		n += (u64)last - first + 1;
	return more < 0 ? 0 : n;
}

static void add_text(struct json_object *obj, const char *name, char *text)
{
	json_object_object_add(obj, name, json_text(text));
	free(text);
}

/* A count that is not known is 0. */
static void add_count(struct json_object *obj, const char *name, u64 count)
{
	json_object_object_add(obj, name, count ? json_object_new_uint64(count) : NULL);
}

static struct json_object *add_object(struct json_object *obj, const char *name)
{
	struct json_object *child = json_object_new_object();

	json_object_object_add(obj, name, child);
	return child;
}

static void add_kernel(struct json_object *env, const char *root)
{
	struct json_object *kernel = add_object(env, "kernel");
	char hex[BUILD_ID_HEX];
	struct utsname uts;

	if (!kernel)
		return;
	if (!uname(&uts)) {
		json_object_object_add(kernel, "release", json_text(uts.release));
		json_object_object_add(kernel, "version", json_text(uts.version));
		json_object_object_add(kernel, "machine", json_text(uts.machine));
	}
	json_object_object_add(kernel, "build_id",
			       notes__kernel_build_id(root, hex, sizeof(hex)) ? NULL :
			       json_text(hex));
	add_text(kernel, "command_line", first_line(root, "/proc/cmdline"));
}

/* Does CPU @cpu come first in its own list of siblings? *@nr: the longest list. */
static bool is_first(const char *root, int cpu, const char *siblings, u64 *nr)
{
	char path[PATH_MAX], *list;
	bool is = false;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%d/topology/%s", cpu, siblings);
	list = first_line(root, path);
	if (list) {
		is = atoi(list) == cpu;
		*nr = max(*nr, count_list(list));
	}
	free(list);
	return is;
}

/* Online CPUs only: packages and cores are counted by the first CPU of each. */
static void add_topology(struct json_object *cpu, const char *root, const char *online)
{
	int i, first, last, packages = 0, cores = 0;
	u64 threads = 0, ignored = 0;
	char *nodes = first_line(root, "/sys/devices/system/node/online");

	while (online && env__next_range(&online, &first, &last) > 0) {
		for (i = first; i <= last; i++) {
			packages += is_first(root, i, "core_siblings_list", &ignored);
			cores += is_first(root, i, "thread_siblings_list", &threads);
		}
	}
	add_count(cpu, "packages", packages);
	add_count(cpu, "cores", cores);
	add_count(cpu, "threads_per_core", threads);
	add_count(cpu, "numa_nodes", count_list(nodes));
	free(nodes);
}

/* The names in a directory, sorted; how many, or -1. The caller frees. */
static int list_dir(const char *root, const char *dir, struct dirent ***names)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s%s", root, dir);
	return scandir(path, names, NULL, alphasort);
}

/* The first line of a file of such a directory, the caller's, or NULL. Frees the entry. */
static char *dir_line(const char *root, const char *dir, struct dirent *entry, const char *file)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s%s", dir, entry->d_name, file);
	free(entry);
	return first_line(root, path);
}

static bool has_string(const struct json_object *list, const char *s)
{
	size_t i, len = json_object_array_length(list);

	for (i = 0; i < len; i++) {
		if (!strcmp(s, json_object_get_string(json_object_array_get_idx(list, i))))
			return true;
	}
	return false;
}

/* Each governor that some CPU has, once. */
static void add_governors(struct json_object *cpu, const char *root)
{
	struct json_object *list = NULL;
	struct dirent **names;
	int i, nr = list_dir(root, CPU_DIR "/cpufreq", &names);

	for (i = 0; i < nr; i++) {
		char *governor = dir_line(root, CPU_DIR "/cpufreq", names[i], "/scaling_governor");

		list = governor && !list ? json_object_new_array() : list;
		if (governor && list && !has_string(list, governor))
			json_object_array_add(list, json_text(governor));
		free(governor);
	}
	if (nr >= 0)
		free(names);
	json_object_object_add(cpu, "governors", list);
}

static void add_cpu(struct json_object *env, const char *root)
{
	static const char * const keys[] = { "model name", "cpu model", "cpu" };
	struct json_object *cpu = add_object(env, "cpu");
	char *online = first_line(root, CPU_DIR "/online");
	char *model = NULL;
	size_t i;

	for (i = 0; cpu && !model && i < ARRAY_SIZE(keys); i++)
		model = field(root, "/proc/cpuinfo", keys[i]);
	if (cpu) {
		add_text(cpu, "model", model);
		add_text(cpu, "present", first_line(root, CPU_DIR "/present"));
		json_object_object_add(cpu, "online", json_text(online));
		add_text(cpu, "allowed", field(root, "/proc/self/status", "Cpus_allowed_list"));
		add_topology(cpu, root, online);
		add_governors(cpu, root);
	}
	free(online);
}

static void add_mitigations(struct json_object *env, const char *root)
{
	struct json_object *list = NULL;
	struct dirent **names;
	int i, nr = list_dir(root, CPU_DIR "/vulnerabilities", &names);

	for (i = 0; i < nr; i++) {
		char *name = strdup(names[i]->d_name);
		char *text = dir_line(root, CPU_DIR "/vulnerabilities", names[i], "");

		list = list ?: json_object_new_object();
		if (name && name[0] != '.' && list)
			json_object_object_add(list, name, json_text(text));
		free(text);
		free(name);
	}
	if (nr >= 0)
		free(names);
	json_object_object_add(env, "mitigations", list);
}

static void add_virtualization(struct json_object *env, const char *root)
{
	struct json_object *virt = add_object(env, "virtualization");
	char *flags = field(root, "/proc/cpuinfo", "flags");

	if (virt) {
		json_object_object_add(virt, "hypervisor", !flags ? NULL :
				json_object_new_boolean(has_word(flags, "hypervisor", " \t")));
		add_text(virt, "type", first_line(root, "/sys/hypervisor/type"));
		add_text(virt, "vendor", first_line(root, "/sys/class/dmi/id/sys_vendor"));
		add_text(virt, "product", first_line(root, "/sys/class/dmi/id/product_name"));
	}
	free(flags);
}

/* The path of our group in the hierarchy of the CPU controller, the caller's; *@version 1 or 2. */
static char *cgroup_path(const char *root, int *version)
{
	FILE *file = open_file(root, "/proc/self/cgroup");
	char *line = NULL, *path = NULL;
	size_t size = 0;

	*version = 0;
	while (file && *version != 1 && getline(&line, &size, file) >= 0) {
		char *controllers = strchr(line, ':');
		char *p = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!p)
			continue;
		*p++ = '\0';
		p[strcspn(p, "\n")] = '\0';
		if (has_word(++controllers, "cpu", ","))
			*version = 1;
		else if (!*controllers)
			*version = 2;
		else
			continue;
		free(path);
		path = strdup(p);
	}
	free(line);
	if (file)
		fclose(file);
	return path;
}

/*
 * The directory of a group, below the mount of its hierarchy; both the caller's, or NULL. A
 * container may see only a part of the hierarchy, of which mountinfo tells the root.
 */
static char *cgroup_dir(const char *root, const char *path, int version, char **mount)
{
	FILE *file = open_file(root, "/proc/self/mountinfo");
	char *line = NULL, *dir = NULL;
	size_t size = 0;

	while (file && !dir && getline(&line, &size, file) >= 0) {
		char *top = NULL, *type = NULL, *opts = NULL, *sep = strstr(line, " - ");
		size_t len;

		if (sep && sscanf(line, "%*s %*s %*s %ms %ms", &top, mount) == 2 &&
		    sscanf(sep, " - %ms %*s %ms", &type, &opts) == 2 &&
		    (version == 2 ? !strcmp(type, "cgroup2") :
		     !strcmp(type, "cgroup") && has_word(opts, "cpu", ","))) {
			len = strcmp(top, "/") ? strlen(top) : 0;
			if (!strncmp(path, top, len) && (!path[len] || path[len] == '/') &&
			    asprintf(&dir, "%s%s", *mount, path + len) < 0)
				dir = NULL;
		}
		if (!dir) {
			free(*mount);
			*mount = NULL;
		}
		free(top);
		free(type);
		free(opts);
	}
	free(line);
	if (file)
		fclose(file);
	return dir;
}

/* The limit that one group has, in the words of cpu.max: "QUOTA PERIOD", the caller's, or NULL. */
static char *cgroup_limit(const char *root, const char *dir, int version)
{
	char path[PATH_MAX], *quota, *period, *limit = NULL;

	snprintf(path, sizeof(path), "%s/%s", dir, version == 2 ? "cpu.max" : "cpu.cfs_quota_us");
	quota = first_line(root, path);
	if (version == 2 || !quota)
		return quota;
	snprintf(path, sizeof(path), "%s/cpu.cfs_period_us", dir);
	period = first_line(root, path);
	if (period && asprintf(&limit, "%s %s", atoll(quota) < 0 ? "max" : quota, period) < 0)
		limit = NULL;
	free(quota);
	free(period);
	return limit;
}

/* CPUs that a limit amounts to; no limit is more than any. */
static double limit_cpus(const char *limit)
{
	long long quota, period;

	if (sscanf(limit, "%lld %lld", &quota, &period) == 2 && period > 0)
		return (double)quota / period;
	return INT_MAX;
}

/* Of the limits of our group and of all above it, the tightest holds. */
static void add_cgroup(struct json_object *env, const char *root)
{
	struct json_object *cgroup = add_object(env, "cgroup");
	char *mount = NULL, *dir = NULL, *limit = NULL, *path;
	int version;

	path = cgroup_path(root, &version);
	if (path)
		dir = cgroup_dir(root, path, version, &mount);
	while (dir) {
		char *other = cgroup_limit(root, dir, version), *slash = strrchr(dir, '/');

		if (other && (!limit || limit_cpus(other) < limit_cpus(limit))) {
			free(limit);
			limit = other;
		} else {
			free(other);
		}
		if (!slash || slash < dir + strlen(mount))
			break;
		*slash = '\0';
	}
	if (cgroup) {
		add_count(cgroup, "version", version);
		json_object_object_add(cgroup, "path", json_text(path));
		json_object_object_add(cgroup, "cpu_max", json_text(limit));
	}
	free(limit);
	free(mount);
	free(path);
	free(dir);
}

static void add_time(struct json_object *env)
{
	time_t now = time(NULL);
	char text[32];
	struct tm tm;

	json_object_object_add(env, "started", gmtime_r(&now, &tm) &&
			       strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &tm) ?
			       json_text(text) : NULL);
}

/*
 * "tcg" if the processor is QEMU's emulation of one, whose rates say nothing of any real machine;
 * else NULL. QEMU's own model has the name; with the name of another, CPUID tells (leaf 0x40000000
 * is the hypervisor's signature).
 */
static const char *emulator(const char *root, const char *model)
{
#ifdef __x86_64__
	unsigned int eax, vendor[3];

	__cpuid(0x40000000, eax, vendor[0], vendor[1], vendor[2]);
	if (!*root && !memcmp(vendor, "TCGTCGTCGTCG", sizeof(vendor)))
		return "tcg";
#endif
	return model && strstr(model, "QEMU TCG CPU") ? "tcg" : NULL;
}

/*
 * What the clock counts: under "qemu -icount" the TSC counts instructions, which the guest cannot
 * know. tools/kbench-lab tells it on the kernel's command line.
 */
static char *clock_source(const char *root)
{
	char *cmdline = first_line(root, "/proc/cmdline"), *clock;

	if (cmdline && has_word(cmdline, "perf_kbench.clock=icount", " \t"))
		clock = strdup("icount");
	else
		clock = first_line(root, CLOCK_DIR "/current_clocksource");
	free(cmdline);
	return clock;
}

struct json_object *env__collect(const char *root)
{
	struct json_object *env = json_object_new_object();
	char *memory, *model;

	if (!env)
		return NULL;
	json_object_object_add(env, "perf_kbench", json_text(KBENCH_VERSION));
	add_time(env);
	add_text(env, "boot_id", first_line(root, "/proc/sys/kernel/random/boot_id"));
	add_kernel(env, root);
	add_cpu(env, root);
	add_text(env, "clock_source", clock_source(root));
	model = field(root, "/proc/cpuinfo", "model name");
	json_object_object_add(env, "emulated", json_text(emulator(root, model)));
	free(model);
	add_mitigations(env, root);
	add_virtualization(env, root);
	add_text(env, "lsm", first_line(root, "/sys/kernel/security/lsm"));
	memory = field(root, "/proc/meminfo", "MemTotal");
	add_count(env, "memory_bytes", memory ? strtoull(memory, NULL, 10) * 1024 : 0);
	free(memory);
	add_count(env, "page_size", sysconf(_SC_PAGESIZE));
	add_cgroup(env, root);
	return env;
}
