// SPDX-License-Identifier: GPL-2.0
/*
 * test-plot.c: what gnuplot is given, what becomes of what it does, and that files appear whole
 *
 * plot.c is included, with other names for what is in the program's objects too. Most tests put
 * a gnuplot of their own in PATH; those with the real one are left out where there is none.
 */
#include <check.h>
#include <dirent.h>
#include <limits.h>
#include <locale.h>
#include <sys/stat.h>

#define plot__draw		stub_plot_draw
#define plot__check_path	stub_plot_check_path
#include "util/plot.c"

Suite *plot_suite(void);

static char dir[] = "/tmp/kbench-plot-XXXXXX";
static char path[PATH_MAX], why[512];

static struct plot_point points[] = {
	{ 1, 100000, 98000, 102000, 0 }, { 2, 190000, 186000, 194000, 0 }, { 4, NAN, NAN, NAN, 0 },
	{ 8, 500000, NAN, NAN, 0 }, { 16, 600000, -1000, 1300000, 0 },
	{ 32, 700000, 690000, 710000, 0 },
};

static struct plot_curve curves[] = {
	{ "base", ARRAY_SIZE(points), points }, { "patched", 4, points },
};

static void setup(void)
{
	const char *old = getenv("PATH");

	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s:%s", dir, old);
	setenv("PATH", path, 1);
	snprintf(path, sizeof(path), "%s/plot.svg", dir);
}

static void teardown(void)
{
	char command[64];

	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
}

static bool have_gnuplot(void)
{
	return system("command -v gnuplot >/dev/null") == 0;
}

/* How many names there are in the directory. */
static int nr_names(void)
{
	struct dirent **names;
	int i, nr = scandir(dir, &names, NULL, NULL);

	ck_assert_int_ge(nr, 2);
	for (i = 0; i < nr; i++)
		free(names[i]);
	free(names);
	return nr - 2;
}

/* A gnuplot that is a shell script. */
static void fake(const char *text)
{
	char name[PATH_MAX];
	FILE *f;

	snprintf(name, sizeof(name), "%s/gnuplot", dir);
	f = fopen(name, "we");
	ck_assert_ptr_nonnull(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	fclose(f);
	ck_assert_int_eq(chmod(name, 0755), 0);
}

static char *read_file(const char *name)
{
	static char text[1 << 18];
	FILE *f = fopen(name, "re");
	size_t n;

	ck_assert_ptr_nonnull(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	fclose(f);
	text[n] = '\0';
	return text;
}

static int draw(void)
{
	return plot__draw(path, "title", curves, ARRAY_SIZE(curves), why, sizeof(why));
}

static const struct {
	const char	*name;
	int		kind;
} names[] = {
	{ "-", PLOT_TEXT }, { "a.svg", PLOT_SVG }, { "/tmp/a.b/C.PNG", PLOT_PNG },
	{ "", -EINVAL }, { "svg", -EINVAL }, { ".svg", -EINVAL }, { "dir/.png", -EINVAL },
	{ "a.pdf", -EINVAL }, { "a.svg.gz", -EINVAL }, { "-f", -EINVAL }, { "a.svg/", -EINVAL },
};

START_TEST(test_names)
{
	int err = names[_i].kind < 0 ? names[_i].kind : 0;

	ck_assert_int_eq(plot_kind(names[_i].name), names[_i].kind);
	ck_assert_int_eq(plot__check_path(names[_i].name, why, sizeof(why)), err);
	if (err) {
		ck_assert_int_eq(plot__draw(names[_i].name, "", curves, 1, why, sizeof(why)), err);
		ck_assert_ptr_nonnull(strstr(why, "a plot is NAME.svg, NAME.png, or -"));
	}
}
END_TEST

static const struct {
	const char	*text;
	int		max;
	const char	*utf8, *ascii;
} texts[] = {
	{ "a b", 10, "a b", "a b" },
	{ "", 10, "", "" },
	{ "it's", 10, "it\342\200\231s", "it's" },
	{ "''", 10, "\342\200\231\342\200\231", "''" },
	{ "\\n `id` @x {a}_b^c \"%s\"", 50, "\\n `id` @x {a}_b^c \"%s\"",
	  "\\n `id` @x {a}_b^c \"%s\"" },
	{ "a\nb\tc\rd\033[1me\177", 20, "a b c d [1me ", "a b c d [1me " },
	{ "\303\274ber", 4, "\303\274ber", "?ber" },
	{ "x\377y", 10, "x\357\277\275y", "x?y" },
	{ "12345678", 8, "12345678", "12345678" },
	{ "123456789", 8, "1234567\342\200\246", "1234567~" },
	{ "\303\274\303\274\303\274\303\274", 3, "\303\274\303\274\342\200\246", "?" "?~" },
	{ "\303\274\303\274\303\274", 3, "\303\274\303\274\303\274", "?" "?" "?" },
};

START_TEST(test_text)
{
	char *text = NULL;
	size_t size;
	int ascii;

	for (ascii = 0; ascii < 2; ascii++) {
		FILE *f = open_memstream(&text, &size);

		put_text(f, texts[_i].text, texts[_i].max, ascii);
		fclose(f);
		ck_assert_str_eq(text, ascii ? texts[_i].ascii : texts[_i].utf8);
		free(text);
	}
}
END_TEST

START_TEST(test_steps)
{
	ck_assert_int_eq(nice_step(0), 1);
	ck_assert_int_eq(nice_step(10), 1);
	ck_assert_int_eq(nice_step(11), 2);
	ck_assert_int_eq(nice_step(65535), 10000);
	ck_assert_int_gt(nice_step(INT_MAX), 100000000);
}
END_TEST

/* What is given to it: no start-up files, numbers with a point, a locale in which it reads them. */
START_TEST(test_script)
{
	char *script;

	setlocale(LC_ALL, "de_DE.UTF-8");	/* if there is one */
	setenv("LC_NUMERIC", "de_DE.UTF-8", 1);
	setenv("GNUTERM", "x11", 1);
	fake("cat >\"$0.script\"; echo \"args $* LC_ALL $LC_ALL $LC_NUMERIC $GNUTERM.\" >&2; exit 1");
	ck_assert_int_eq(draw(), -EIO);
	ck_assert_str_eq(why, "gnuplot: args -d LC_ALL C  .");
	snprintf(path, sizeof(path), "%s/gnuplot.script", dir);
	script = read_file(path);
	ck_assert_ptr_nonnull(strstr(script, "\n1 100 98 102 10 9.803921569 10.20408163\n"));
	ck_assert_ptr_nonnull(strstr(script, "\n4 NaN NaN NaN NaN NaN NaN\n"));
	ck_assert_ptr_nonnull(strstr(script, "\n8 500 NaN NaN 16 NaN NaN\n"));
	/* an interval that reaches below 0 has an end, and the time that belongs to it none */
	ck_assert_ptr_nonnull(strstr(script, "\n16 600 0 1300 26.66666667 12.30769231 1e+300\n"));
	ck_assert_ptr_nonnull(strstr(script, "set logscale x 2\n"));
	ck_assert_ptr_nonnull(strstr(script, "set xtics (1, 2, 4, 8, 16, 32)\n"));
	ck_assert_ptr_nonnull(strstr(script, "[1000 ops/s]"));
	ck_assert_ptr_nonnull(strstr(script, " title 'base'"));
	ck_assert_ptr_null(strstr(script, "set output"));
}
END_TEST

/* Work of a fixed size: the time that it took is above, on plain axes from 0 on. */
START_TEST(test_elapsed)
{
	static struct plot_point slow[] = {
		{ 4, 10, 8, 12.5, 100 }, { 8, 20, -1, 40, 50 }, { 80, 250, NAN, NAN, 4 },
		{ 90, NAN, NAN, NAN, NAN },
	};
	static struct plot_point mixed[] = { { 4, 10, 8, 12.5, 0 } };
	struct plot_curve both[] = { { "slow", ARRAY_SIZE(slow), slow }, { "mixed", 1, mixed } };
	char *script, *time, *rate;

	fake("cat >\"$0.script\"; exit 1");
	ck_assert_int_eq(plot__draw(path, "title", both, 1, why, sizeof(why)), -EIO);
	snprintf(path, sizeof(path), "%s/gnuplot.script", dir);
	script = read_file(path);
	ck_assert_ptr_nonnull(strstr(script, "\n4 10 8 12.5 100 80 125\n"));
	ck_assert_ptr_nonnull(strstr(script, "\n8 20 0 40 50 25 1e+300\n"));
	ck_assert_ptr_nonnull(strstr(script, "\n80 250 NaN NaN 4 NaN NaN\n"));
	ck_assert_ptr_null(strstr(script, "logscale"));
	ck_assert_ptr_nonnull(strstr(script, "set xrange [0:82.4]\nset xtics 0, 10\n"));
	ck_assert_ptr_nonnull(strstr(script, "\nset yrange [0:135]\n"));
	time = strstr(script, "'elapsed time [s]'");
	rate = strstr(script, "'throughput of all tasks [ops/s]'");
	ck_assert(time && rate && time < rate);

	/* with one that is not of such work, each is as it would be alone: per op */
	snprintf(path, sizeof(path), "%s/plot.svg", dir);
	ck_assert_int_eq(plot__draw(path, "title", both, 2, why, sizeof(why)), -EIO);
	snprintf(path, sizeof(path), "%s/gnuplot.script", dir);
	script = read_file(path);
	ck_assert_ptr_nonnull(strstr(script, "'time of a task for an op [ms]'"));
	ck_assert_ptr_null(strstr(script, "elapsed"));
}
END_TEST

/* A fake gnuplot, how it ends, and what is said of it. */
static const struct {
	const char	*text;
	int		err;
	const char	*why;
} fakes[] = {
	{ "cat >/dev/null; echo '<svg>x</svg>'", 0, "" },
	{ "echo '<svg>x</svg>'; echo 'warning: no font' >&2", 0, "" },	/* reads nothing */
	{ "exec 0<&-; echo '<svg></svg>'; exit 0", 0, "" },
	{ "echo '<svg>x</svg>'; exit 3", -EIO, "gnuplot ended with status 3, and said nothing" },
	{ "echo '<svg>x'; exit 0", -EIO, "gnuplot drew nothing, or no whole plot" },
	{ "exit 0", -EIO, "gnuplot drew nothing, or no whole plot" },
	{ "kill -9 $$", -EIO, "gnuplot was killed by signal 9 (Killed)" },
	{ "printf 'gnuplot> x y\\n          ^\\n   line 7: \\033bad word\\n\\n' >&2; exit 1", -EIO,
	  "gnuplot: line 7:  bad word" },
	{ "echo 'Warning: nothing' >&2; exit 1", -EIO, "gnuplot: Warning: nothing" },
	{ "echo '" NO_PNG "' >&2; exit 1", -ENOTSUP,
	  "this gnuplot cannot draw PNG files: name an .svg file, or apt-get install gnuplot-nox" },
	{ "exec sleep 100", -ETIMEDOUT, "gnuplot did not end within 1 s, and was killed" },
	{ "exec >&- 2>&-; exec sleep 100", -ETIMEDOUT,
	  "gnuplot did not end within 1 s, and was killed" },
	{ "sleep 100 & echo '<svg>x</svg>'", -ETIMEDOUT,	/* what it left holds the pipe */
	  "gnuplot did not end within 1 s, and was killed" },
	{ "exec yes", -EFBIG, "gnuplot writes without end, and was killed" },
	{ "exec yes >&2", -EFBIG, "gnuplot writes without end, and was killed" },
};

START_TEST(test_fake)
{
	time_limit = fakes[_i].err == -ETIMEDOUT ? NSEC_PER_SEC : 30 * NSEC_PER_SEC;
	fake(fakes[_i].text);
	why[0] = '\0';
	ck_assert_int_eq(draw(), fakes[_i].err);
	ck_assert_str_eq(why, fakes[_i].why);
	/* the file or none of it, and nothing beside it */
	ck_assert_int_eq(nr_names(), fakes[_i].err ? 1 : 2);
	/* nobody is left behind */
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
}
END_TEST

START_TEST(test_ignored_sigchld)
{
	signal(SIGCHLD, SIG_IGN);
	fake("echo '<svg>x</svg>'");
	ck_assert_int_eq(draw(), 0);
	signal(SIGCHLD, SIG_DFL);
}
END_TEST

START_TEST(test_missing)
{
	FILE *f = fopen(path, "we");

	fputs("old", f);
	fclose(f);
	setenv("PATH", dir, 1);
	ck_assert_int_eq(draw(), -ENOENT);
	ck_assert_str_eq(why, "gnuplot is not installed: apt-get install gnuplot-nox");
	ck_assert_str_eq(read_file(path), "old");
	setenv("PATH", "/bin:/usr/bin", 1);
	ck_assert_int_eq(nr_names(), 1);
}
END_TEST

START_TEST(test_old_file_stays)
{
	FILE *f = fopen(path, "we");

	fputs("old", f);
	fclose(f);
	fake("echo '<svg>'; exit 1");
	ck_assert_int_eq(draw(), -EIO);
	ck_assert_str_eq(read_file(path), "old");
	fake("echo '<svg>new</svg>'");
	ck_assert_int_eq(draw(), 0);
	ck_assert_str_eq(read_file(path), "<svg>new</svg>\n");
}
END_TEST

START_TEST(test_mode)
{
	struct stat st;

	umask(027);
	fake("echo '<svg>new</svg>'");
	ck_assert_int_eq(draw(), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0640);
}
END_TEST

START_TEST(test_no_directory)
{
	snprintf(path, sizeof(path), "%s/none/plot.svg", dir);
	fake("echo '<svg>new</svg>'; : >\"$0.ran\"");
	ck_assert_int_eq(draw(), -ENOENT);
	ck_assert_ptr_nonnull(strstr(why, "/plot.svg: No such file or directory; make its directory"));
	ck_assert_int_eq(nr_names(), 1);
}
END_TEST

/* A link to a device is written through: nothing is renamed over it. */
START_TEST(test_full_device)
{
	struct stat st;

	ck_assert_int_eq(symlink("/dev/full", path), 0);
	fake("echo '<svg>new</svg>'");
	ck_assert_int_eq(draw(), -ENOSPC);
	ck_assert_ptr_nonnull(strstr(why, "No space left on device; make room"));
	ck_assert(!stat("/dev/full", &st) && S_ISCHR(st.st_mode));
	ck_assert(!lstat(path, &st) && S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(test_nothing)
{
	struct plot_point none[] = {
		{ 1, NAN, NAN, NAN, 0 }, { 0, 5, 5, 5, 0 }, { 2, -1, -1, -1, 0 },
		{ 3, INFINITY, 0, 0, 0 },
	};
	struct plot_curve empty[] = { { "none", ARRAY_SIZE(none), none }, { "no", 0, NULL } };

	ck_assert_int_eq(plot__draw(path, "", empty, 2, why, sizeof(why)), -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "nothing to draw"));
	ck_assert_int_eq(plot__draw(path, "", empty, 0, why, sizeof(why)), -EINVAL);
	ck_assert_int_eq(plot__draw(path, "", empty, PLOT_MAX_CURVES + 1, why, sizeof(why)),
			 -EINVAL);
	ck_assert_ptr_nonnull(strstr(why, "33 curves are more than can be told apart (32)"));
	ck_assert_int_eq(nr_names(), 0);
}
END_TEST

/* ---- the real one ---- */

/* Curves that are hard to find axes for. */
static struct plot_point zero[] = { { 1, 0, 0, 0, 0 }, { 2, 0, 0, 0, 0 } };
static struct plot_point one[] = { { 7, 1e-3, 5e-4, 2e-3, 0 } };
static struct plot_point huge[] = { { 1, 1e-9, NAN, NAN, 0 }, { 65536, 1e18, 0, 1e300, 0 } };
static struct plot_point near[] = { { 64, 5, 4, 6, 0 }, { 65, 5, 4, 6, 0 } };
static struct plot_curve hard[] = {
	{ "", 2, zero }, { "one", 1, one }, { "'\"`id`@x\\", 2, huge }, { "\n\033", 2, near },
};

START_TEST(test_real)
{
	static const char * const files[] = { "plot.svg", "plot.png" };
	int i;

	if (!have_gnuplot())
		return;
	for (i = 0; i < (int)ARRAY_SIZE(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, files[i]);
		ck_assert_msg(!plot__draw(path, "a", &hard[_i], 1, why, sizeof(why)), "%s", why);
		ck_assert_msg(!draw(), "%s", why);
	}
	ck_assert_int_eq(nr_names(), 2);
}
END_TEST

/* What a title may hold, and how it is to be found in an SVG. */
static const struct {
	const char *title, *svg;
} evil[] = {
	{ "it's <b>&\"q\" `touch pwned` $(touch pwned) @x {/=30 a}_b^c \\n %s\n% #",
	  "`touch pwned` $(touch pwned) @x {/=30 a}_b^c \\n %s % #<" },
	{ "''; system('touch pwned'); '", "; system(" },
	{ "'; system('touch pwned'); '", "; system(" },
	{ "'''; system(\"touch pwned\"); '''", "; system(" },
	{ "\\'; system(\"touch pwned\") #", "; system(" },
	{ "\"; system(\"touch pwned\") #", "; system(" },
	{ "\nset output 'pwned'\n", " set output " },
	{ "\\", ">\\<" },
	{ "a\\\\", ">a\\\\<" },
	{ "#", ">#<" },
	{ "END", ">END<" },
	{ "</text><script>", "&lt;/text" },
};

/* Nothing in a title is interpreted: it is in the drawing as it is, and in no shell. */
START_TEST(test_evil)
{
	struct plot_curve curve = { evil[_i].title, 2, points };
	const char *text;

	if (!have_gnuplot())
		return;
	ck_assert_int_eq(chdir(dir), 0);
	ck_assert_msg(!plot__draw(path, evil[_i].title, &curve, 1, why, sizeof(why)), "%s", why);
	ck_assert_int_eq(nr_names(), 1);
	/* once in the key, and once above all */
	text = strstr(read_file(path), evil[_i].svg);
	ck_assert_ptr_nonnull(text);
	ck_assert_ptr_nonnull(strstr(text + 1, evil[_i].svg));
	snprintf(path, sizeof(path), "%s/plot.png", dir);
	ck_assert_msg(!plot__draw(path, evil[_i].title, &curve, 1, why, sizeof(why)), "%s", why);
	ck_assert_int_eq(nr_names(), 2);
	ck_assert_int_eq(chdir("/"), 0);
}
END_TEST

/* A gnuplot that lacks a terminal, or both that draw PNG. */
START_TEST(test_terminals)
{
	static const char lacks[] = "PATH=${PATH#*:}; sed \"s/, ' pngcairo '/, ' none '/%s\" | gnuplot -d";
	char text[256];

	if (!have_gnuplot())
		return;
	snprintf(path, sizeof(path), "%s/plot.png", dir);
	snprintf(text, sizeof(text), lacks, "");
	fake(text);
	ck_assert_msg(!draw(), "%s", why);
	ck_assert_int_eq(nr_names(), 2);
	snprintf(text, sizeof(text), lacks, "; s/, ' png '/, ' none '/");
	fake(text);
	ck_assert_int_eq(draw(), -ENOTSUP);
	ck_assert_ptr_nonnull(strstr(why, "this gnuplot cannot draw PNG files"));
}
END_TEST

/* As many as there may be, each with as long a name as there may be. */
START_TEST(test_many)
{
	static struct plot_curve many[PLOT_MAX_CURVES];
	static char name[PATH_MAX];
	int c;

	if (!have_gnuplot())
		return;
	memset(name, 'n', sizeof(name) - 1);
	for (c = 0; c < PLOT_MAX_CURVES; c++)
		many[c] = (struct plot_curve){ name, ARRAY_SIZE(points), points };
	ck_assert_msg(!plot__draw(path, name, many, c, why, sizeof(why)), "%s", why);
	snprintf(path, sizeof(path), "%s/plot.png", dir);
	ck_assert_msg(!plot__draw(path, name, many, c, why, sizeof(why)), "%s", why);
}
END_TEST

Suite *plot_suite(void)
{
	Suite *suite = suite_create("plot");
	TCase *tcase = tcase_create("draw");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, test_names, 0, ARRAY_SIZE(names));
	tcase_add_loop_test(tcase, test_text, 0, ARRAY_SIZE(texts));
	tcase_add_test(tcase, test_steps);
	tcase_add_test(tcase, test_script);
	tcase_add_test(tcase, test_elapsed);
	tcase_add_loop_test(tcase, test_fake, 0, ARRAY_SIZE(fakes));
	tcase_add_test(tcase, test_ignored_sigchld);
	tcase_add_test(tcase, test_missing);
	tcase_add_test(tcase, test_old_file_stays);
	tcase_add_test(tcase, test_mode);
	tcase_add_test(tcase, test_no_directory);
	tcase_add_test(tcase, test_full_device);
	tcase_add_test(tcase, test_nothing);
	tcase_add_loop_test(tcase, test_real, 0, ARRAY_SIZE(hard));
	tcase_add_loop_test(tcase, test_evil, 0, ARRAY_SIZE(evil));
	tcase_add_test(tcase, test_terminals);
	tcase_add_test(tcase, test_many);
	suite_add_tcase(suite, tcase);
	return suite;
}
