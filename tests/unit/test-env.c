// SPDX-License-Identifier: GPL-2.0
/*
 * test-env.c: the environment of a made-up machine, and of this one
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "util/env.h"

Suite *env_suite(void);

static char root[] = "/tmp/kbench-env-XXXXXX";

static void make_root(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* A file of the machine, with the directories above it. */
static void put(const char *path, const char *text)
{
	char full[256], *slash;
	FILE *f;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (slash = strchr(full + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(full, 0777);
		*slash = '/';
	}
	f = fopen(full, "we");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void assert_env(const char *name, const char *member, const char *want)
{
	struct json_object *env = env__collect(root), *value;

	ck_assert_ptr_nonnull(env);
	ck_assert(json_object_object_get_ex(env, name, &value));
	if (member)
		ck_assert(json_object_object_get_ex(value, member, &value));
	ck_assert_str_eq(json_object_to_json_string_ext(value, JSON_C_TO_STRING_PLAIN |
				JSON_C_TO_STRING_NOSLASHESCAPE), want);
	json_object_put(env);
}

START_TEST(nothing_is_known)
{
	assert_env("boot_id", NULL, "null");
	assert_env("kernel", "build_id", "null");
	assert_env("kernel", "command_line", "null");
	assert_env("cpu", NULL, "{\"model\":null,\"present\":null,\"online\":null,"
		   "\"allowed\":null,\"packages\":null,\"cores\":null,"
		   "\"threads_per_core\":null,\"numa_nodes\":null,\"governors\":null}");
	assert_env("clock_source", NULL, "null");
	assert_env("emulated", NULL, "null");
	assert_env("mitigations", NULL, "null");
	assert_env("virtualization", NULL,
		   "{\"hypervisor\":null,\"type\":null,\"vendor\":null,\"product\":null}");
	assert_env("lsm", NULL, "null");
	assert_env("memory_bytes", NULL, "null");
	assert_env("cgroup", NULL, "{\"version\":null,\"path\":null,\"cpu_max\":null}");
}
END_TEST

START_TEST(simple_files)
{
	put("/proc/cmdline", "quiet x=\"a b\" \xff\n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel\t\t: 1\nmodel name\t: Fast  CPU \n"
	    "flags\t\t: fpu hypervisor_not\n\nmodel name\t: other\n");
	put("/proc/self/status", "Cpus_allowed:\t3\nCpus_allowed_list:\t0-1,4\n");
	put("/proc/meminfo", "MemTotal:       25276510208 kB\nMemFree: 1 kB\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("/sys/kernel/security/lsm", "capability,landlock");
	put("/sys/hypervisor/type", "xen\n");
	put("/sys/class/dmi/id/sys_vendor", "ACME\n");
	assert_env("kernel", "command_line", "\"quiet x=\\\"a b\\\" \xef\xbf\xbd\"");
	assert_env("cpu", "model", "\"Fast  CPU \"");
	assert_env("cpu", "allowed", "\"0-1,4\"");
	assert_env("memory_bytes", NULL, "25883146452992");
	assert_env("clock_source", NULL, "\"tsc\"");
	assert_env("lsm", NULL, "\"capability,landlock\"");
	assert_env("virtualization", NULL,
		   "{\"hypervisor\":false,\"type\":\"xen\",\"vendor\":\"ACME\",\"product\":null}");
	put("/proc/cpuinfo", "cpu\t\t: POWER9\nflags : vme hypervisor\n");
	assert_env("cpu", "model", "\"POWER9\"");
	assert_env("virtualization", "hypervisor", "true");
}
END_TEST

/* What "qemu -icount" makes of the TSC is told on the command line; TCG by its model's name. */
START_TEST(counted_and_emulated)
{
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	put("/proc/cmdline", "quiet xperf_kbench.clock=icount perf_kbench.clock=icountx\n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: Fast CPU of QEMU\n");
	assert_env("clock_source", NULL, "\"tsc\"");
	assert_env("emulated", NULL, "null");
	put("/proc/cmdline", "quiet perf_kbench.clock=icount panic=-1\n");
	put("/proc/cpuinfo", "processor\t: 0\nmodel name\t: QEMU TCG CPU version 2.5+\n");
	assert_env("clock_source", NULL, "\"icount\"");
	assert_env("emulated", NULL, "\"tcg\"");
}
END_TEST

/* Two packages of two cores of two threads, one thread offline; CPU numbers are sparse. */
START_TEST(topology)
{
	static const struct {
		int cpu;
		const char *threads, *package;
	} cpus[] = {
		{ 0, "0,16\n", "0-1,16-17\n" }, { 1, "1,17\n", "0-1,16-17\n" },
		{ 2, "2\n", "2-3,19\n" }, { 3, "3,19\n", "2-3,19\n" },
		{ 16, "0,16\n", "0-1,16-17\n" }, { 17, "1,17\n", "0-1,16-17\n" },
		{ 19, "3,19\n", "2-3,19\n" },
	};
	char path[128];
	size_t i;

	put("/sys/devices/system/cpu/online", "0-3,16-17,19\n");
	put("/sys/devices/system/cpu/present", "0-3,16-19\n");
	put("/sys/devices/system/node/online", "0-1,3\n");
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpus[i].cpu);
		put(path, cpus[i].threads);
		snprintf(path, sizeof(path),
			 "/sys/devices/system/cpu/cpu%d/topology/core_siblings_list", cpus[i].cpu);
		put(path, cpus[i].package);
	}
	put("/sys/devices/system/cpu/cpufreq/policy0/scaling_governor", "powersave\n");
	put("/sys/devices/system/cpu/cpufreq/policy1/scaling_governor", "performance\n");
	put("/sys/devices/system/cpu/cpufreq/policy16/scaling_governor", "powersave\n");
	put("/sys/devices/system/cpu/cpufreq/boost", "1\n");
	assert_env("cpu", NULL, "{\"model\":null,\"present\":\"0-3,16-19\",\"online\":\"0-3,16-17,19\","
		   "\"allowed\":null,\"packages\":2,\"cores\":4,\"threads_per_core\":2,"
		   "\"numa_nodes\":3,\"governors\":[\"powersave\",\"performance\"]}");
}
END_TEST

START_TEST(mitigations)
{
	put("/sys/devices/system/cpu/vulnerabilities/spectre_v1", "Mitigation: barriers\n");
	put("/sys/devices/system/cpu/vulnerabilities/mds", "Not affected\n");
	assert_env("mitigations", NULL,
		   "{\"mds\":\"Not affected\",\"spectre_v1\":\"Mitigation: barriers\"}");
}
END_TEST

START_TEST(cgroup_v2)
{
	put("/proc/self/cgroup", "0::/a.slice/b\n");
	put("/proc/self/mountinfo", "25 1 0:22 / /sys rw - sysfs sysfs rw\n"
	    "30 25 0:26 / /cg rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n");
	assert_env("cgroup", NULL, "{\"version\":2,\"path\":\"/a.slice/b\",\"cpu_max\":null}");
	put("/cg/a.slice/b/cpu.max", "max 100000\n");
	assert_env("cgroup", "cpu_max", "\"max 100000\"");
	put("/cg/a.slice/cpu.max", "150000 100000\n");
	assert_env("cgroup", "cpu_max", "\"150000 100000\"");
	put("/cg/a.slice/b/cpu.max", "20000 10000\n");
	assert_env("cgroup", "cpu_max", "\"150000 100000\"");
	put("/cg/cpu.max", "1000 100000\n");
	assert_env("cgroup", "cpu_max", "\"1000 100000\"");
}
END_TEST

/* Of two hierarchies, that of the controller counts; only a part of it is mounted. */
START_TEST(cgroup_v1)
{
	put("/proc/self/cgroup", "5:cpuacct:/x\n4:cpu,cpuset:/docker/17/job\n1:name=systemd:/y\n0::/z\n");
	put("/proc/self/mountinfo",
	    "40 25 0:30 / /cg2 rw - cgroup2 none rw\n"
	    "41 25 0:31 / /cg/cpuacct rw - cgroup cgroup rw,cpuacct\n"
	    "42 25 0:32 /docker/1 /cg/wrong rw - cgroup cgroup rw,cpu\n"
	    "43 25 0:32 /docker/17 /cg/cpu rw - cgroup cgroup rw,cpuset,cpu\n");
	put("/cg/cpu/job/cpu.cfs_quota_us", "-1\n");
	put("/cg/cpu/job/cpu.cfs_period_us", "100000\n");
	assert_env("cgroup", NULL,
		   "{\"version\":1,\"path\":\"/docker/17/job\",\"cpu_max\":\"max 100000\"}");
	put("/cg/cpu/cpu.cfs_quota_us", "50000\n");
	put("/cg/cpu/cpu.cfs_period_us", "100000\n");
	assert_env("cgroup", "cpu_max", "\"50000 100000\"");
}
END_TEST

START_TEST(odd_cgroups)
{
	put("/proc/self/cgroup", "\n:\n::\nx\n0::/a/../..\n");
	put("/proc/self/mountinfo", " - \nx - y\n1 2 3 - cgroup2\n1 2 0:3 /.. /cg rw - cgroup2 c rw\n");
	assert_env("cgroup", "cpu_max", "null");
}
END_TEST

START_TEST(this_machine)
{
	struct json_object *env = env__collect(""), *kernel, *value;
	struct utsname uts;
	const char *time;

	ck_assert_ptr_nonnull(env);
	uname(&uts);
	json_object_object_get_ex(env, "kernel", &kernel);
	json_object_object_get_ex(kernel, "release", &value);
	ck_assert_str_eq(json_object_get_string(value), uts.release);
	json_object_object_get_ex(kernel, "build_id", &value);
	if (!access("/sys/kernel/notes", R_OK))
		ck_assert_uint_ge(strlen(json_object_get_string(value)), 16);
	json_object_object_get_ex(env, "page_size", &value);
	ck_assert_int_eq(json_object_get_int(value), sysconf(_SC_PAGESIZE));
	json_object_object_get_ex(env, "started", &value);
	time = json_object_get_string(value);
	ck_assert_uint_eq(strlen(time), strlen("2026-01-31T12:34:56Z"));
	ck_assert_uint_eq(strspn(time, "0123456789-T:Z"), strlen(time));
	ck_assert(json_object_object_get_ex(env, "perf_kbench", &value));
	ck_assert(!strstr(json_object_to_json_string(env), "nodename"));
	json_object_put(env);
}
END_TEST

START_TEST(ranges)
{
	static const char * const bad[] = {
		"a", "1-", "-1", ",", "1,", "1,,2", "2-1", "1-2-3", "1 ", "99999999999", "0-2147483648",
	};
	const char *list = "0-3,8,10-2147483647";
	int first, last;
	size_t i;

	ck_assert_int_eq(env__next_range(&list, &first, &last), 1);
	ck_assert_int_eq(first, 0);
	ck_assert_int_eq(last, 3);
	ck_assert_int_eq(env__next_range(&list, &first, &last), 1);
	ck_assert_int_eq(first, 8);
	ck_assert_int_eq(last, 8);
	ck_assert_int_eq(env__next_range(&list, &first, &last), 1);
	ck_assert_int_eq(first, 10);
	ck_assert_int_eq(last, 2147483647);
	ck_assert_int_eq(env__next_range(&list, &first, &last), 0);
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		int more;

		list = bad[i];
		while ((more = env__next_range(&list, &first, &last)) > 0)
			;
		ck_assert_msg(more == -EINVAL, "%s", bad[i]);
	}
}
END_TEST

Suite *env_suite(void)
{
	Suite *s = suite_create("env");
	TCase *tc = tcase_create("env");

	tcase_add_checked_fixture(tc, make_root, remove_root);
	tcase_add_test(tc, nothing_is_known);
	tcase_add_test(tc, simple_files);
	tcase_add_test(tc, counted_and_emulated);
	tcase_add_test(tc, topology);
	tcase_add_test(tc, mitigations);
	tcase_add_test(tc, cgroup_v2);
	tcase_add_test(tc, cgroup_v1);
	tcase_add_test(tc, odd_cgroups);
	tcase_add_test(tc, this_machine);
	tcase_add_test(tc, ranges);
	suite_add_tcase(s, tc);
	return s;
}
