// SPDX-License-Identifier: GPL-2.0
/*
 * The parser of /proc/self/mountstats, on text: the kernel's layout (fs/nfs/super.c and
 * net/sunrpc/stats.c), mounts that are alike, and text that is cut off or hostile.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <check.h>
#include <linux/kernel.h>

#include "bench/nfs-mountstats.h"

Suite *mountstats_suite(void);

#define V3_HEAD(device, point)								\
	"device " device " mounted on " point " with fstype nfs statvers=1.1\n"		\
	"\topts:\trw,vers=3,rsize=262144,wsize=262144,namlen=255,acregmin=3,acregmax=60,"	\
	"acdirmin=30,acdirmax=60,hard,nolock,proto=tcp,timeo=600,retrans=2,sec=sys,"		\
	"mountaddr=127.0.0.1,mountvers=3,mountport=20048,mountproto=tcp,local_lock=all\n"	\
	"\tage:\t123\n"									\
	"\tcaps:\tcaps=0x42ff,wtmult=4096,dtsize=262144,bsize=0,namlen=255\n"		\
	"\tsec:\tflavor=1,pseudoflavor=1\n"						\
	"\tevents:\t12 500 0 3 2 9 1000 0 0 5 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0 \n"		\
	"\tbytes:\t0 0 0 0 0 0 0 0 \n"							\
	"\tRPC iostats version: 1.1  p/v: 100003/3 (nfs)\n"				\
	"\txprt:\ttcp 0 0 1 0 11 63 63 0 65 0 2 4 0\n"

#define V3_OPS(getattr, lookup, access)							\
	"\tper-op statistics\n"								\
	"\t        NULL: 1 1 0 44 24 0 0 0 0\n"						\
	"\t     GETATTR: " getattr " 7 0 812 784 0 2 3 0\n"				\
	"\t     SETATTR: 0 0 0 0 0 0 0 0 0\n"						\
	"\t      LOOKUP: " lookup " 45 0 5148 5280 1 12 15 42\n"				\
	"\t      ACCESS: " access " 9 0 1044 1080 0 1 2 0\n"				\
	"\t    READLINK: 0 0 0 0 0 0 0 0 0\n"						\
	"\t      COMMIT: 0 0 0 0 0 0 0 0 0\n"						\
	"\n"

#define V4									\
	"device srv:/ mounted on /mnt/v4 with fstype nfs4 statvers=1.1\n"			\
	"\topts:\trw,vers=4.2,rsize=524288,wsize=524288,namlen=255,acregmin=3,acregmax=60,"	\
	"acdirmin=30,acdirmax=60,hard,proto=tcp,timeo=600,retrans=2,sec=sys,"			\
	"clientaddr=127.0.0.1,local_lock=none\n"						\
	"\tage:\t77\n"									\
	"\timpl_id:\tname='',domain='',date='0,0'\n"						\
	"\tcaps:\tcaps=0x7fffffbf,wtmult=512,dtsize=524288,bsize=0,namlen=255\n"		\
	"\tnfsv4:\tbm0=0xfdffbfff,bm1=0xf9be3e,bm2=0x60800,acl=0x3,sessions,"			\
	"pnfs=not configured,lease_time=90,lease_expired=0\n"					\
	"\tsec:\tflavor=1,pseudoflavor=1\n"						\
	"\tevents:\t0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 \n"		\
	"\tbytes:\t0 0 0 0 0 0 0 0 \n"							\
	"\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n"				\
	"\txprt:\ttcp 0 0 1 0 23 31 31 0 31 0 2 0 0\n"						\
	"\tper-op statistics\n"								\
	"\t        NULL: 1 1 0 44 24 0 0 0 0\n"						\
	"\t        READ: 0 0 0 0 0 0 0 0 0\n"						\
	"\t        OPEN: 900 901 1 268000 90000 3 400 420 900\n"				\
	"\t OPEN_CONFIRM: 0 0 0 0 0 0 0 0 0\n"						\
	"\t OPEN_NOATTR: 0 0 0 0 0 0 0 0 0\n"						\
	"\t      ACCESS: 12 12 0 2400 1968 0 1 1 0\n"						\
	"\t     GETATTR: 31 31 0 5900 7200 0 2 2 0\n"						\
	"\t      LOOKUP: 20 20 0 4100 2900 0 2 2 20\n"						\
	"\t    SEQUENCE: 4 4 0 480 320 0 0 0 0\n"						\
	"\t          67: 5 5 0 0 0 0 0 0 0\n"						\
	"\n"

static const char sample[] =
	"device rootfs mounted on / with fstype rootfs\n"
	"device proc mounted on /proc with fstype proc\n"
	"no device mounted on /dev/pts with fstype devpts\n"
	"device /dev/vda1 mounted on /mnt with fstype ext4\n"
	V3_HEAD("127.0.0.1:/export", "/mnt/a") V3_OPS("7", "44", "9")
	V4
	V3_HEAD("127.0.0.1:/export", "/mnt/with\\040space\\134") V3_OPS("1", "2", "3")
	"device 127.0.0.1:/export mounted on /mnt/quiet with fstype nfs statvers=1.1\n"
	"\topts:\trw\n"
	"\n"
	"device 127.0.0.1:/export mounted on /mnt/new with fstype nfs statvers=2.0\n"
	"\tper-op statistics\n"
	"\t      LOOKUP: 1 1 0 0 0 0 0 0 0\n"
	"\n"
	V3_HEAD("127.0.0.1:/export", "/mnt/a") V3_OPS("70", "440", "90")
	"device tmpfs mounted on /tmp with fstype tmpfs\n";

static int parse_at(const char *text, size_t len, const char *point, int nth,
		    struct nfs_mountstats *stats)
{
	struct nfs_mount mount = { .nth = nth };
	/* a copy of just the bytes, so that a sanitizer sees every read beyond them */
	char *copy = malloc(len ?: 1);
	int err;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	strcpy(mount.point, point);
	err = nfs_mountstats__parse(copy, len, &mount, stats);
	free(copy);
	return err;
}

static int parse(const char *text, const char *point, struct nfs_mountstats *stats)
{
	return parse_at(text, strlen(text), point, 0, stats);
}

/* The count of a type, or -1. */
static long long count(const struct nfs_mountstats *stats, const char *name)
{
	int i;

	for (i = 0; i < stats->nr; i++) {
		if (!strcmp(stats->op[i].name, name))
			return stats->op[i].ops;
	}
	return -1;
}

START_TEST(v3)
{
	struct nfs_mountstats s;

	ck_assert_int_eq(parse(sample, "/mnt/a", &s), 0);
	ck_assert_int_eq(s.nr, 7);
	ck_assert_str_eq(s.op[0].name, "NULL");
	ck_assert_int_eq(count(&s, "LOOKUP"), 44);
	ck_assert_int_eq(count(&s, "GETATTR"), 7);
	ck_assert_int_eq(count(&s, "ACCESS"), 9);
	ck_assert_int_eq(count(&s, "COMMIT"), 0);
	ck_assert_int_eq(count(&s, "OPEN"), -1);
}
END_TEST

START_TEST(v4)
{
	struct nfs_mountstats s;

	ck_assert_int_eq(parse(sample, "/mnt/v4", &s), 0);
	ck_assert_int_eq(s.nr, 10);
	ck_assert_int_eq(count(&s, "OPEN"), 900);
	ck_assert_int_eq(count(&s, "OPEN_CONFIRM"), 0);
	ck_assert_int_eq(count(&s, "SEQUENCE"), 4);
	ck_assert_int_eq(count(&s, "67"), 5);
}
END_TEST

START_TEST(stacked_mounts)
{
	struct nfs_mountstats s;

	ck_assert_int_eq(parse_at(sample, strlen(sample), "/mnt/a", 1, &s), 0);
	ck_assert_int_eq(count(&s, "LOOKUP"), 440);
	ck_assert_int_eq(parse_at(sample, strlen(sample), "/mnt/a", 2, &s), -ENODATA);
}
END_TEST

START_TEST(octal_escapes)
{
	struct nfs_mountstats s;

	ck_assert_int_eq(parse(sample, "/mnt/with\\040space\\134", &s), 0);
	ck_assert_int_eq(count(&s, "LOOKUP"), 2);
	ck_assert_int_eq(parse(sample, "/mnt/with space\\", &s), -ENODATA);
}
END_TEST

START_TEST(no_counters)
{
	struct nfs_mountstats s;

	ck_assert_int_eq(parse(sample, "/mnt/quiet", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "/mnt", &s), -ENODATA);		/* ext4 */
	ck_assert_int_eq(parse(sample, "/", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "/dev/pts", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "/tmp", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "/mnt/", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "", &s), -ENODATA);
	ck_assert_int_eq(parse("", "/mnt/a", &s), -ENODATA);
	ck_assert_int_eq(parse(sample, "/mnt/new", &s), -EINVAL);	/* statvers=2.0 */
	ck_assert_int_eq(parse("device a:/ mounted on /m with fstype nfs\n\n", "/m", &s), -ENODATA);
	ck_assert_int_eq(parse("device a:/ mounted on /m with fstype nfsd statvers=1.1\n\n", "/m",
			       &s), -ENODATA);
	ck_assert_int_eq(parse("device a:/ mounted on /m with fstype nfs statvers=1.1\n"
			       "\tper-op statistics\n\n", "/m", &s), -ENODATA);
}
END_TEST

/* Cut off anywhere: either it is found out, or what was asked for had ended before. */
START_TEST(truncated)
{
	static const char one[] = V3_HEAD("s:/e", "/m") V3_OPS("7", "44", "9");
	struct nfs_mountstats s;
	size_t len;
	int err;

	for (len = 0; len < strlen(one); len++) {
		err = parse_at(one, len, "/m", 0, &s);
		if (memchr(one, '\n', len))
			ck_assert_msg(err == -EINVAL, "%zu bytes: %d", len, err);
		else
			ck_assert_msg(err == -ENODATA, "%zu bytes: %d", len, err);
	}
	ck_assert_int_eq(parse(one, "/m", &s), 0);
	for (len = 0; len < strlen(sample); len++) {
		err = parse_at(sample, len, "/mnt/v4", 0, &s);
		ck_assert(err == 0 || err == -EINVAL || err == -ENODATA);
		if (!err)
			ck_assert_int_eq(count(&s, "OPEN"), 900);
	}
}
END_TEST

#define HEAD	"device s:/e mounted on /m with fstype nfs statvers=1.1\n\tper-op statistics\n"

START_TEST(hostile)
{
	static const char * const bad[] = {
		HEAD "\t LOOKUP: \n\n",
		HEAD "\t LOOKUP:\n\n",
		HEAD "\t LOOKUP: 12\n\n",			/* no number after it: cut off */
		HEAD "\t LOOKUP: -1 1 0\n\n",
		HEAD "\t LOOKUP: 0x1 1 0\n\n",
		HEAD "\t LOOKUP: 1e3 1 0\n\n",
		HEAD "\t LOOKUP: nan 1 0\n\n",
		HEAD "\t LOOKUP:  1 1 0\n\n",
		HEAD "\t LOOKUP: 18446744073709551616 1 0\n\n",	/* 2^64 */
		HEAD "\t LOOKUP: 99999999999999999999999 1 0\n\n",
		HEAD "\t : 1 1 0\n\n",
		HEAD "\t: 1 1 0\n\n",
		HEAD "\t\n\n",
		HEAD "\tLOOKUP 1 1 0\n\n",
		HEAD "\tA_NAME_OF_TWENTY_FOUR_XX: 1 1 0\n\n",
	};
	struct nfs_mountstats s;
	char *many, *p, *junk;
	size_t i, j, len;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(parse(bad[i], "/m", &s) == -EINVAL, "case %zu", i);

	ck_assert_int_eq(parse(HEAD "\t LOOKUP: 18446744073709551615 1 0\n\n", "/m", &s), 0);
	ck_assert(s.op[0].ops == UINT64_MAX);
	ck_assert_int_eq(parse(HEAD "\tA_NAME_OF_TWENTY_THREE_: 1 1 0\n\n", "/m", &s), 0);
	ck_assert_int_eq(count(&s, "A_NAME_OF_TWENTY_THREE_"), 1);
	/* the next device ends it, also without the empty line */
	ck_assert_int_eq(parse(HEAD "\t LOOKUP: 1 1 0\ndevice x mounted on /y with fstype z\n",
			       "/m", &s), 0);
	ck_assert_int_eq(s.nr, 1);
	ck_assert_int_eq(parse_at(HEAD "\t LOO\0KUP: 1 1 0\n\n", sizeof(HEAD "\t LOO KUP: 1 1 0\n"),
				  "/m", 0, &s), -EINVAL);

	/* lines that look like a device, but are not */
	ck_assert_int_eq(parse("device\ndevice \ndevice x mounted on \ndevice  mounted on /m\n"
			       "device x mounted on /m with fstype \n", "/m", &s), -ENODATA);
	/* an empty device name */
	ck_assert_int_eq(parse("device  mounted on /m with fstype nfs statvers=1.1\n"
			       "\tper-op statistics\n\t LOOKUP: 3 1 0\n\n", "/m", &s), 0);

	/* more types than there is room for */
	many = malloc(sizeof(HEAD) + 129 * 20 + 2);
	ck_assert_ptr_nonnull(many);
	p = many + sprintf(many, "%s", HEAD);
	for (i = 0; i < NFS_MOUNTSTATS_MAX; i++)
		p += sprintf(p, "\t OP%03zu: 1 1 0\n", i);
	strcpy(p, "\n");
	ck_assert_int_eq(parse(many, "/m", &s), 0);
	ck_assert_int_eq(s.nr, NFS_MOUNTSTATS_MAX);
	strcpy(p, "\t ONE_MORE: 1 1 0\n\n");
	ck_assert_int_eq(parse(many, "/m", &s), -EINVAL);
	free(many);

	/* one byte changed to anything: no crash, and no other answer than these */
	junk = strdup(HEAD "\t LOOKUP: 44 45 0 1 2 3 4 5 6\n\n");
	ck_assert_ptr_nonnull(junk);
	len = strlen(junk);
	for (i = 0; i < len; i++) {
		char was = junk[i];

		for (j = 0; j < 256; j++) {
			int err;

			junk[i] = j;
			err = parse_at(junk, len, "/m", 0, &s);
			ck_assert(err == 0 || err == -EINVAL || err == -ENODATA);
		}
		junk[i] = was;
	}
	free(junk);
}
END_TEST

START_TEST(per_op)
{
	struct nfs_mountstats begin = { .nr = 2 }, end = { .nr = 3 };

	strcpy(begin.op[0].name, "LOOKUP");
	begin.op[0].ops = 100;
	strcpy(begin.op[1].name, "ACCESS");
	begin.op[1].ops = 50;
	strcpy(end.op[0].name, "ACCESS");
	end.op[0].ops = 49;
	strcpy(end.op[1].name, "LOOKUP");
	end.op[1].ops = 600;
	strcpy(end.op[2].name, "OPEN");
	end.op[2].ops = 1;
	ck_assert_double_eq(nfs_mountstats__per_op(&begin, &end, 1, 1000), 0.5);
	ck_assert(isnan(nfs_mountstats__per_op(&begin, &end, 0, 1000)));	/* mounted anew */
	ck_assert(isnan(nfs_mountstats__per_op(&begin, &end, 2, 1000)));	/* new */
	ck_assert(isnan(nfs_mountstats__per_op(&begin, &end, 1, 0)));
	end.op[1].ops = 100;
	ck_assert_double_eq(nfs_mountstats__per_op(&begin, &end, 1, 1000), 0);
	begin.op[0].ops = 0;
	end.op[1].ops = UINT64_MAX;
	ck_assert_double_eq(nfs_mountstats__per_op(&begin, &end, 1, 1), (double)UINT64_MAX);
}
END_TEST

static const char mountinfo[] =
	"22 28 0:21 / /proc rw,nosuid shared:12 - proc proc rw\n"
	"28 1 254:1 / / rw,relatime shared:1 - ext4 /dev/vda1 rw\n"
	"40 28 0:44 / /mnt/a rw,relatime shared:20 - nfs 127.0.0.1:/export rw,vers=3\n"
	"41 28 0:44 / /mnt/with\\040space\\134 rw shared:21 - nfs 127.0.0.1:/export rw,vers=3\n"
	"52 40 0:44 / /mnt/a rw,relatime shared:22 - nfs 127.0.0.1:/export rw,vers=3\n"
	"53 52 0:44 /sub /mnt/a rw,relatime - nfs 127.0.0.1:/export rw,vers=3\n";

static int find(const char *text, size_t len, int id, struct nfs_mount *m)
{
	char *copy = malloc(len ?: 1);
	int err;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, len);
	err = nfs_mount__find(copy, len, id, m);
	free(copy);
	return err;
}

START_TEST(mount_by_id)
{
	static const struct {
		int		id, nth;
		const char	*point;
	} want[] = {
		{ 22, 0, "/proc" }, { 28, 0, "/" }, { 40, 0, "/mnt/a" },
		{ 41, 0, "/mnt/with\\040space\\134" }, { 52, 1, "/mnt/a" }, { 53, 2, "/mnt/a" },
	};
	struct nfs_mount m;
	size_t i, len;
	int err;

	for (i = 0; i < ARRAY_SIZE(want); i++) {
		ck_assert_int_eq(find(mountinfo, strlen(mountinfo), want[i].id, &m), 0);
		ck_assert_str_eq(m.point, want[i].point);
		ck_assert_int_eq(m.nth, want[i].nth);
	}
	ck_assert_int_eq(find(mountinfo, strlen(mountinfo), 4, &m), -ENODATA);
	ck_assert_int_eq(find(mountinfo, strlen(mountinfo), -1, &m), -ENODATA);
	ck_assert_int_eq(find("", 0, 1, &m), -ENODATA);
	for (len = 0; len < strlen(mountinfo); len++) {
		err = find(mountinfo, len, 53, &m);
		ck_assert(err == -EINVAL || err == -ENODATA);
	}
}
END_TEST

START_TEST(mountinfo_hostile)
{
	static const char * const bad[] = {
		"x 28 0:44 / /a rw - nfs s:/ rw\n", "\n", "40\n", "40 \n", "40 1 0:1 /\n",
		"40 1 0:1 / \n", "40 1 0:1 /  rw\n", " 40 1 0:1 / /a rw\n",
		"39 1\n40 1 0:1 / /a rw\n",
		"99999999999999999999999 1 0:1 / /a rw\n",
	};
	struct nfs_mount m;
	char *huge;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(find(bad[i], strlen(bad[i]), 40, &m) == -EINVAL, "case %zu", i);

	/* a mount point as long as there is room for, and one byte more */
	huge = malloc(2 * sizeof(m.point));
	ck_assert_ptr_nonnull(huge);
	strcpy(huge, "40 1 0:1 / ");
	memset(huge + 11, 'x', sizeof(m.point) - 1);
	strcpy(huge + 11 + sizeof(m.point) - 1, " rw\n");
	ck_assert_int_eq(find(huge, strlen(huge), 40, &m), 0);
	ck_assert_uint_eq(strlen(m.point), sizeof(m.point) - 1);
	memset(huge + 11, 'x', sizeof(m.point));
	strcpy(huge + 11 + sizeof(m.point), " rw\n");
	ck_assert_int_eq(find(huge, strlen(huge), 40, &m), -EINVAL);
	free(huge);
}
END_TEST

/* On this machine, whatever is mounted. */
START_TEST(here)
{
	struct nfs_mount m;
	struct nfs_mountstats s;
	int err;

	err = nfs_mount__of_cwd(&m);
	ck_assert_int_eq(err, 0);
	ck_assert_int_eq(m.point[0], '/');
	err = nfs_mountstats__read(&m, &s);
	ck_assert(err == 0 || err == -ENODATA);
}
END_TEST

Suite *mountstats_suite(void)
{
	Suite *suite = suite_create("mountstats");
	TCase *tc = tcase_create("text");

	tcase_add_test(tc, v3);
	tcase_add_test(tc, v4);
	tcase_add_test(tc, stacked_mounts);
	tcase_add_test(tc, octal_escapes);
	tcase_add_test(tc, no_counters);
	tcase_add_test(tc, truncated);
	tcase_add_test(tc, hostile);
	tcase_add_test(tc, per_op);
	suite_add_tcase(suite, tc);
	tc = tcase_create("mount");
	tcase_add_test(tc, mount_by_id);
	tcase_add_test(tc, mountinfo_hostile);
	tcase_add_test(tc, here);
	suite_add_tcase(suite, tc);
	return suite;
}
