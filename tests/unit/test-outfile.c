// SPDX-License-Identifier: GPL-2.0
/*
 * test-outfile.c: a file appears whole or not at all; JSON is put as it should be
 */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "util/json-stream.h"
#include "util/outfile.h"

Suite *outfile_suite(void);

static char dir[] = "/tmp/kbench-outfile-XXXXXX";
static int start;		/* the directory that tests begin in */

static void make_dir(void)
{
	start = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
}

static void remove_dir(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(fchdir(start), 0);
	close(start);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

static void assert_file(const char *path, const char *text)
{
	char buf[256] = "";
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_uint_lt(fread(buf, 1, sizeof(buf), f), sizeof(buf));
	fclose(f);
	ck_assert_str_eq(buf, text);
}

/* How many names there are in a directory, beside . and .. */
static int nr_names(const char *path)
{
	struct dirent **names;
	int i, nr = scandir(path, &names, NULL, NULL);

	ck_assert_int_ge(nr, 2);
	for (i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return nr - 2;
}

/* Write @text to @path; 0 or the error. */
static int put(const char *path, const char *text)
{
	struct outfile *f = outfile__new(path);
	int err;

	ck_assert_ptr_nonnull(f);
	err = outfile__open(f);
	if (!err) {
		outfile__puts(f, text);
		err = outfile__commit(f);
	}
	outfile__free(f);
	return err;
}

START_TEST(new_file)
{
	struct stat st;

	umask(027);
	ck_assert_int_eq(put("out", "one\n"), 0);
	assert_file("out", "one\n");
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
	ck_assert_int_eq(nr_names("."), 1);
}
END_TEST

START_TEST(replaced_at_the_end)
{
	struct outfile *f = outfile__new("out");

	write_file("out", "old\n");
	ck_assert_int_eq(outfile__open(f), 0);
	outfile__puts(f, "new\n");
	ck_assert_int_eq(outfile__flush(f), 0);
	assert_file("out", "old\n");
	ck_assert_int_eq(nr_names("."), 2);
	ck_assert_int_eq(outfile__commit(f), 0);
	assert_file("out", "new\n");
	ck_assert_int_eq(nr_names("."), 1);
	outfile__free(f);
	assert_file("out", "new\n");
}
END_TEST

START_TEST(old_file_stays)
{
	struct outfile *f = outfile__new("out");

	write_file("out", "old\n");
	ck_assert_int_eq(outfile__open(f), 0);
	outfile__puts(f, "new\n");
	outfile__free(f);
	assert_file("out", "old\n");
	ck_assert_int_eq(nr_names("."), 1);
}
END_TEST

START_TEST(path_is_absolute_from_the_start)
{
	struct outfile *f = outfile__new("out");
	char path[64];

	snprintf(path, sizeof(path), "%s/out", dir);
	ck_assert_str_eq(outfile__path(f), path);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(outfile__open(f), 0);
	outfile__puts(f, "text");
	ck_assert_int_eq(outfile__commit(f), 0);
	outfile__free(f);
	assert_file(path, "text");
}
END_TEST

START_TEST(no_such_directory)
{
	struct outfile *f = outfile__new("none/out");

	ck_assert_int_eq(outfile__open(f), -ENOENT);
	ck_assert_str_eq(outfile__path(f), "none/out");
	outfile__free(f);
	ck_assert_int_eq(put("", "text"), -ENOENT);
	write_file("file", "");
	ck_assert_int_eq(put("file/out", "text"), -ENOTDIR);
}
END_TEST

START_TEST(directory)
{
	ck_assert_int_eq(mkdir("sub", 0777), 0);
	ck_assert_int_eq(put("sub", "text"), -EISDIR);
	ck_assert_int_eq(put("sub/", "text"), -EISDIR);
	ck_assert_int_eq(put(".", "text"), -EISDIR);
	ck_assert_int_eq(put("/", "text"), -EISDIR);
	ck_assert_int_eq(nr_names("."), 1);
	ck_assert_int_eq(nr_names("sub"), 0);
}
END_TEST

START_TEST(unwritable_directory)
{
	ck_assert_int_eq(mkdir("sub", 0777), 0);
	write_file("sub/out", "old");
	ck_assert_int_eq(chmod("sub", 0555), 0);
	if (!geteuid())
		ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(put("sub/out", "text"), -EACCES);
	ck_assert_int_eq(chdir("/"), 0);
	if (!getuid())
		ck_assert_int_eq(seteuid(0), 0);
}
END_TEST

/* In a directory such as /tmp, another user's file cannot be replaced: known before the work. */
START_TEST(sticky_directory)
{
	if (geteuid())
		return;
	write_file("out", "old");
	ck_assert_int_eq(chown("out", 1, 1), 0);
	ck_assert_int_eq(chmod(".", 01777), 0);
	ck_assert_int_eq(seteuid(65534), 0);
	ck_assert_int_eq(put("out", "text"), -EPERM);
	ck_assert_int_eq(put("other", "text"), 0);
	ck_assert_int_eq(seteuid(0), 0);
	assert_file("out", "old");
}
END_TEST

START_TEST(long_names)
{
	char name[300];

	memset(name, 'n', sizeof(name));
	name[256] = '\0';
	ck_assert_int_eq(put(name, "text"), -ENAMETOOLONG);
	ck_assert_int_eq(nr_names("."), 0);
	name[255] = '\0';
	ck_assert_int_eq(put(name, "text"), 0);
	assert_file(name, "text");
}
END_TEST

START_TEST(links_stay)
{
	char target[16];

	ck_assert_int_eq(mkdir("sub", 0777), 0);
	write_file("sub/file", "old");
	ck_assert_int_eq(symlink("sub/link", "out"), 0);
	ck_assert_int_eq(symlink("file", "sub/link"), 0);
	ck_assert_int_eq(put("out", "new"), 0);
	assert_file("sub/file", "new");
	ck_assert_int_eq(readlink("out", target, sizeof(target)), 8);
	ck_assert_int_eq(readlink("sub/link", target, sizeof(target)), 4);
	ck_assert_int_eq(nr_names("sub"), 2);

	/* leads nowhere yet */
	ck_assert_int_eq(symlink("sub/fresh", "dangling"), 0);
	ck_assert_int_eq(put("dangling", "new"), 0);
	assert_file("sub/fresh", "new");
	ck_assert_int_eq(readlink("dangling", target, sizeof(target)), 9);

	ck_assert_int_eq(symlink("b", "a"), 0);
	ck_assert_int_eq(symlink("a", "b"), 0);
	ck_assert_int_eq(put("a", "new"), -ELOOP);
}
END_TEST

START_TEST(devices)
{
	struct stat st;

	ck_assert_int_eq(put("/dev/full", "text"), -ENOSPC);
	ck_assert_int_eq(stat("/dev/full", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(put("/dev/null", "text"), 0);
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
	ck_assert_int_eq(symlink("/dev/full", "out"), 0);
	ck_assert_int_eq(put("out", "text"), -ENOSPC);
	ck_assert_int_eq(lstat("out", &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(fifo)
{
	char buf[8] = "";
	struct stat st;
	int fd;

	ck_assert_int_eq(mkfifo("out", 0666), 0);
	fd = open("out", O_RDWR | O_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(put("out", "text"), 0);
	ck_assert_int_eq(read(fd, buf, sizeof(buf)), 4);
	ck_assert_str_eq(buf, "text");
	ck_assert_int_eq(stat("out", &st), 0);
	ck_assert(S_ISFIFO(st.st_mode));
	close(fd);
}
END_TEST

/* Runs in a process of its own, as all tests here do unless CK_FORK=no. */
static int put_to_stdout(const char *path, int fd)
{
	int saved = dup(STDOUT_FILENO), err;

	ck_assert_int_eq(dup2(fd, STDOUT_FILENO), STDOUT_FILENO);
	err = put(path, "text");
	dup2(saved, STDOUT_FILENO);
	close(saved);
	return err;
}

START_TEST(standard_output)
{
	static const char * const names[] = { NULL, "-", "/dev/stdout" };
	int fd = open("out", O_RDWR | O_CREAT | O_CLOEXEC, 0666), full;
	char buf[16] = "";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_int_eq(put_to_stdout(names[i], fd), 0);
	ck_assert_int_eq(pread(fd, buf, sizeof(buf), 0), 12);
	ck_assert_str_eq(buf, "texttexttext");
	close(fd);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	ck_assert_int_eq(put_to_stdout(NULL, full), -ENOSPC);
	close(full);
}
END_TEST

START_TEST(pipe_that_is_full)
{
	struct outfile *f = outfile__new("/dev/fd/63");
	char buf[4096];
	int fds[2], err, status;
	size_t sum = 0;
	ssize_t n;
	pid_t pid;

	ck_assert_int_eq(outfile__open(f), -ENOENT);
	outfile__free(f);

	/* does not block, takes its time, and has no name to be replaced */
	ck_assert_int_eq(pipe2(fds, O_NONBLOCK), 0);
	ck_assert_int_eq(dup2(fds[1], 63), 63);
	close(fds[1]);
	pid = fork();
	if (!pid) {
		close(fds[0]);
		f = outfile__new("/dev/fd/63");
		err = outfile__open(f);
		memset(buf, 'x', sizeof(buf));
		for (n = 0; n < 100; n++)
			outfile__put(f, buf, sizeof(buf));
		err = err ?: outfile__commit(f);
		outfile__free(f);
		_exit(!!err);
	}
	close(63);
	usleep(20000);
	fcntl(fds[0], F_SETFL, 0);
	while ((n = read(fds[0], buf, sizeof(buf))) > 0)
		sum += n;
	ck_assert_uint_eq(sum, 100 * sizeof(buf));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	close(fds[0]);
}
END_TEST

START_TEST(first_error_is_kept)
{
	struct outfile *f = outfile__new("/dev/full");
	char big[100000];
	int i;

	ck_assert_int_eq(outfile__open(f), 0);
	memset(big, 'x', sizeof(big));
	for (i = 0; i < 10; i++)
		outfile__put(f, big, sizeof(big));
	ck_assert_int_eq(outfile__flush(f), -ENOSPC);
	ck_assert_int_eq(outfile__flush(f), -ENOSPC);
	ck_assert_int_eq(outfile__commit(f), -ENOSPC);
	outfile__free(f);
}
END_TEST

static int nr_temps(void)
{
	return system("test -z \"$(ls -A | grep '^[.]out[.].*[.]tmp$')\"") ? 1 : 0;
}

/* A writer that is killed leaves its file; the next one removes it, but no living writer's. */
START_TEST(killed_writer)
{
	struct outfile *f, *living = outfile__new("out");
	int status;
	pid_t pid;

	write_file(".out.12345.tmp", "five digits");
	write_file(".out.123456.tmp.x", "more behind");
	write_file(".other.123456.tmp", "of another target");
	pid = fork();
	if (!pid) {
		f = outfile__new("out");
		outfile__puts(f, outfile__open(f) ? "" : "text");
		outfile__flush(f);
		raise(SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(nr_names("."), 4);

	ck_assert_int_eq(outfile__open(living), 0);
	ck_assert_int_eq(nr_names("."), 4);
	ck_assert_int_eq(put("out", "second"), 0);
	ck_assert_int_eq(nr_names("."), 5);
	ck_assert_int_eq(nr_temps(), 1);
	outfile__puts(living, "first");
	ck_assert_int_eq(outfile__commit(living), 0);
	outfile__free(living);
	assert_file("out", "first");
	ck_assert_int_eq(nr_names("."), 4);
}
END_TEST

/* In German, where it is installed, the decimal point is a comma. */
START_TEST(numbers_in_any_locale)
{
	struct outfile *f = outfile__new("out");
	struct json_object *value;

	if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8"))
		setlocale(LC_ALL, "");
	ck_assert_int_eq(outfile__open(f), 0);
	outfile__printf(f, "%.2f %s\n", 1234.5, "x");
	value = json_real(-1.5e-7);
	outfile__puts(f, json_object_to_json_string(value));
	json_object_put(value);
	ck_assert_int_eq(outfile__commit(f), 0);
	outfile__free(f);
	assert_file("out", "1234.50 x\n-1.5e-07");
	setlocale(LC_ALL, "C");
}
END_TEST

START_TEST(hints)
{
	ck_assert_str_eq(outfile__hint(-ENOSPC), outfile__hint(ENOSPC));
	ck_assert_ptr_nonnull(strstr(outfile__hint(-ENOENT), "directory"));
	ck_assert_ptr_nonnull(outfile__hint(-EACCES));
}
END_TEST

static void assert_text(const char *text, const char *want)
{
	struct json_object *value = json_text(text);

	ck_assert_str_eq(json_object_get_string(value), want);
	json_object_put(value);
}

START_TEST(any_bytes_are_utf8)
{
	ck_assert_ptr_null(json_text(NULL));
	assert_text("", "");
	assert_text("a\"b\\c\n\x01", "a\"b\\c\n\x01");
	assert_text("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7", "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x90\xa7");
	assert_text("\xff\xfe", "\xef\xbf\xbd\xef\xbf\xbd");
	assert_text("\xc3", "\xef\xbf\xbd");				/* cut off */
	assert_text("\xe2\x82", "\xef\xbf\xbd\xef\xbf\xbd");
	assert_text("\xc3(", "\xef\xbf\xbd(");
	assert_text("\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd");		/* longer than need be */
	assert_text("\xe0\x80\xaf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_text("\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");	/* a surrogate */
	assert_text("\xf4\x90\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_text("\xf8\x88\x80\x80\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}
END_TEST

START_TEST(reals_read_back)
{
	static const struct {
		double value;
		const char *text;
	} reals[] = {
		{ 0, "0" }, { 1, "1" }, { -1.5, "-1.5" }, { 0.1, "0.1" }, { 1e300, "1e+300" },
		{ 1.0 / 3, "0.3333333333333333" }, { 5e-324, "4.94065645841247e-324" },
		{ 0.1 + 0.2, "0.30000000000000004" }, { 342506.25, "342506.25" },
	};
	struct json_object *value;
	size_t i;

	ck_assert_ptr_null(json_real(NAN));
	ck_assert_ptr_null(json_real(INFINITY));
	ck_assert_ptr_null(json_real(-INFINITY));
	for (i = 0; i < ARRAY_SIZE(reals); i++) {
		value = json_real(reals[i].value);
		ck_assert_str_eq(json_object_to_json_string(value), reals[i].text);
		ck_assert(strtod(json_object_to_json_string(value), NULL) == reals[i].value);
		json_object_put(value);
	}
}
END_TEST

START_TEST(stream)
{
	struct json_stream s = { .out = outfile__new("out") };

	ck_assert_int_eq(outfile__open(s.out), 0);
	json_stream__open(&s, NULL, '{');
	json_stream__u64(&s, "most", ULLONG_MAX);
	json_stream__s64(&s, "least", LLONG_MIN);
	json_stream__open(&s, "list", '[');
	json_stream__close(&s, ']');
	json_stream__line(&s);
	json_stream__open(&s, "more", '[');
	json_stream__u64(&s, NULL, 0);
	json_stream__s64(&s, NULL, -7);
	json_stream__bool(&s, NULL, true);
	json_stream__real(&s, NULL, NAN);
	json_stream__text(&s, NULL, "/\"");
	json_stream__value(&s, NULL, NULL);
	json_stream__line(&s);
	json_stream__close(&s, ']');
	json_stream__text(&s, "none", NULL);
	json_stream__close(&s, '}');
	ck_assert_int_eq(outfile__commit(s.out), 0);
	outfile__free(s.out);
	assert_file("out", "{\"most\":18446744073709551615,\"least\":-9223372036854775808,"
		    "\"list\":[],\n\"more\":[0,-7,true,null,\"/\\\"\",null\n],\"none\":null}");
}
END_TEST

Suite *outfile_suite(void)
{
	Suite *s = suite_create("outfile");
	TCase *tc = tcase_create("outfile");

	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, new_file);
	tcase_add_test(tc, replaced_at_the_end);
	tcase_add_test(tc, old_file_stays);
	tcase_add_test(tc, path_is_absolute_from_the_start);
	tcase_add_test(tc, no_such_directory);
	tcase_add_test(tc, directory);
	tcase_add_test(tc, unwritable_directory);
	tcase_add_test(tc, sticky_directory);
	tcase_add_test(tc, long_names);
	tcase_add_test(tc, links_stay);
	tcase_add_test(tc, devices);
	tcase_add_test(tc, fifo);
	tcase_add_test(tc, standard_output);
	tcase_add_test(tc, pipe_that_is_full);
	tcase_add_test(tc, first_error_is_kept);
	tcase_add_test(tc, killed_writer);
	tcase_add_test(tc, numbers_in_any_locale);
	tcase_add_test(tc, hints);
	tcase_add_test(tc, any_bytes_are_utf8);
	tcase_add_test(tc, reals_read_back);
	tcase_add_test(tc, stream);
	suite_add_tcase(s, tc);
	return s;
}
