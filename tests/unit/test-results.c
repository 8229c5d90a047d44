// SPDX-License-Identifier: GPL-2.0
/*
 * test-results.c: what the observers write of hand-made results
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <json-c/json.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "observe/observe.h"

Suite *results_suite(void);

#define HUGE_U64	18446744073709551557ull

static char dir[] = "/tmp/kbench-results-XXXXXX";
static int start;			/* the directory that tests begin in */
static struct bench_worker_params old_params;
static struct bench_run run;
static struct bench_ops ops;
static struct bench_result res;
static int points[] = { 1, 2 }, cpus[] = { 0, 2 };

static void make_dir(void)
{
	start = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	strcpy(dir + strlen(dir) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	ck_assert_int_eq(chdir(dir), 0);
	old_params = bench_worker_params;
	memset(&bench_worker_params, 0, sizeof(bench_worker_params));
	bench_worker_params.duration = NSEC_PER_SEC;
	bench_worker_params.window = 100 * NSEC_PER_MSEC;
}

static void free_result(void)
{
	int i, w;

	for (i = 0; i < res.nr_repeats; i++) {
		for (w = 0; w < res.repeats[i].nr_windows; w++)
			free(res.repeats[i].windows[w].task_ops);
		free(res.repeats[i].windows);
		free(res.repeats[i].tasks);
	}
	free(res.repeats);
	for (i = 0; i < res.nr_metrics; i++)
		free(res.metrics[i].values);
	memset(&res, 0, sizeof(res));
}

static void remove_dir(void)
{
	char command[64];

	free_result();
	bench_worker_params = old_params;
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	ck_assert_int_eq(system(command), 0);
	ck_assert_int_eq(fchdir(start), 0);
	close(start);
}

static void make_run(const char *name)
{
	ops = (struct bench_ops){ .name = name, .unit = "write+read" };
	run = (struct bench_run){
		.ops = &ops, .unit = ops.unit, .mode = BENCH_MODE_PROCESS, .points = points,
		.nr_points = 2, .nr_repeats = 3, .nr_variants = 1, .cpus = cpus, .nr_cpus = 2,
	};
}

/* Repeat r, window w, task i: (r + 1) * (w + 1) * (i + 1) * 100 ops in 100 ms; window 0 dropped. */
static void make_result(int nr_tasks, int nr_repeats, int nr_windows)
{
	int r, w, i;

	free_result();
	res.nr_tasks = nr_tasks;
	res.nr_cpus = 2;
	res.nr_repeats = nr_repeats;
	res.repeats = calloc(nr_repeats, sizeof(*res.repeats));
	for (r = 0; r < nr_repeats; r++) {
		struct bench_repeat *rep = &res.repeats[r];

		rep->gate_ns = 5000 * NSEC_PER_SEC + r;
		rep->nr_windows = nr_windows;
		rep->nr_dropped = 1;
		rep->skew_ns = 1500;
		rep->windows = calloc(nr_windows, sizeof(*rep->windows));
		rep->tasks = calloc(nr_tasks, sizeof(*rep->tasks));
		for (w = 0; w < nr_windows; w++) {
			struct bench_window *win = &rep->windows[w];

			win->start_ns = rep->gate_ns + 7 + w * (100 * NSEC_PER_MSEC);
			win->end_ns = win->start_ns + 100 * NSEC_PER_MSEC;
			win->dropped = !w;
			win->task_ops = calloc(nr_tasks, sizeof(u64));
			rep->elapsed_ns += w ? 100 * NSEC_PER_MSEC : 0;
			for (i = 0; i < nr_tasks; i++) {
				u64 n = 100ull * (r + 1) * (w + 1) * (i + 1);

				win->task_ops[i] = n;
				win->ops += n;
				rep->tasks[i].ops += w ? n : 0;
				rep->tasks[i].ops_all += n;
				rep->ops += w ? n : 0;
				rep->ops_all += n;
			}
		}
		for (i = 0; i < nr_tasks; i++) {
			rep->tasks[i].start_ns = 100 + i;
			rep->tasks[i].cpu = cpus[i % 2];
			rep->tasks[i].nvcsw = 3;
			rep->tasks[i].nivcsw = 4 + i;
		}
		rep->rate = rep->ops * 1e9 / rep->elapsed_ns;
	}
	bench_result__summarise(&res, NULL, bench_worker_params.total);
}

static char *read_all(const char *path)
{
	FILE *f = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;

	ck_assert_ptr_nonnull(f);
	ck_assert_int_ge(getdelim(&text, &size, '\0', f), 0);
	fclose(f);
	return text;
}

static void assert_file(const char *path, const char *want)
{
	char *text = read_all(path);

	ck_assert_str_eq(text, want);
	free(text);
}

/* "a.b.2.c" in a JSON value; fails the test if it is not there. */
static struct json_object *at(struct json_object *value, const char *path)
{
	char word[64];
	int len;

	for (; *path; path += len + (path[len] == '.')) {
		len = strcspn(path, ".");
		snprintf(word, sizeof(word), "%.*s", len, path);
		if (json_object_is_type(value, json_type_array)) {
			ck_assert_int_lt(atoi(word), json_object_array_length(value));
			value = json_object_array_get_idx(value, atoi(word));
		} else {
			ck_assert_msg(json_object_object_get_ex(value, word, &value), "%s", path);
		}
	}
	return value;
}

static void assert_json(struct json_object *value, const char *path, const char *want)
{
	const char *text = json_object_to_json_string_ext(at(value, path),
				JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE);

	ck_assert_str_eq(text, want);
}

/* Observe the result at hand as a benchmark of one point, and read back what was written. */
static struct json_object *write_json(enum bench_exit status, bool complete)
{
	static const char *argv[] = { "perf-kbench", "a \"b\"", "\xff\xc3\xa4", NULL };
	struct bench_observer *o = json_observer__new("out.json", 3, argv);
	struct json_object *value;

	ck_assert_ptr_nonnull(o);
	ck_assert_int_eq(o->begin(o, &run), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	ck_assert_int_eq(o->end(o, &run, status), 0);
	ck_assert_int_eq(json_observer__finish(o, complete), 0);
	value = json_object_from_file("out.json");
	ck_assert_ptr_nonnull(value);
	return value;
}

START_TEST(json_plan)
{
	struct json_object *f;
	const char *where = ".";

	make_run("fsnotify/eventfd");
	ops.dir = &where;
	ck_assert_int_eq(bench_run__param(&run, "op", "a\"\n\xfe"), 0);
	bench_worker_params.loops = HUGE_U64;
	make_result(2, 1, 2);
	f = write_json(BENCH_EXIT_OK, true);
	assert_json(f, "format", "\"perf-kbench-results\"");
	assert_json(f, "version", "1");
	assert_json(f, "command", "[\"perf-kbench\",\"a \\\"b\\\"\",\"\xef\xbf\xbd\xc3\xa4\"]");
	ck_assert(json_object_is_type(at(f, "environment.kernel.release"), json_type_string));
	assert_json(f, "benchmarks.0.name", "\"fsnotify/eventfd\"");
	assert_json(f, "benchmarks.0.unit", "\"write+read\"");
	assert_json(f, "benchmarks.0.mode", "\"process\"");
	assert_json(f, "benchmarks.0.pin", "\"spread\"");
	assert_json(f, "benchmarks.0.cpus", "[0,2]");
	assert_json(f, "benchmarks.0.parameters", "{\"op\":\"a\\\"\\n\xef\xbf\xbd\"}");
	assert_json(f, "benchmarks.0.dir.path", "\".\"");
	ck_assert(json_object_is_type(at(f, "benchmarks.0.dir.fs"), json_type_string));
	assert_json(f, "benchmarks.0.duration_ns", "1000000000");
	assert_json(f, "benchmarks.0.warmup_ns", "0");
	assert_json(f, "benchmarks.0.window_ns", "100000000");
	assert_json(f, "benchmarks.0.loops", "18446744073709551557");
	ck_assert(json_object_get_uint64(at(f, "benchmarks.0.loops")) == HUGE_U64);
	assert_json(f, "benchmarks.0.total", "null");
	assert_json(f, "benchmarks.0.repeats", "3");
	assert_json(f, "benchmarks.0.task_counts", "[1,2]");
	assert_json(f, "benchmarks.0.variants", "[\"\"]");
	assert_json(f, "benchmarks.0.status", "\"ok\"");
	assert_json(f, "benchmarks.0.message", "null");
	assert_json(f, "complete", "true");
	json_object_put(f);
}
END_TEST

START_TEST(json_point)
{
	struct json_object *f;

	make_run("fsnotify/eventfd");
	make_result(2, 2, 3);
	res.repeats[1].flags = BENCH_FLAG_STEAL | BENCH_FLAG_UNSETTLED;
	res.repeats[1].rate = INFINITY;
	res.repeats[1].tasks[1].ops = HUGE_U64;
	res.repeats[1].tasks[1].start_ns = -5;
	res.repeats[1].tasks[1].cpu = -1;
	res.flags = BENCH_FLAG_STEAL;
	res.nr_notes = 1;
	strcpy(res.notes[0], "a \"note\"\x80");
	res.nr_metrics = 1;
	strcpy(res.metrics[0].name, "LOOK\"UP");
	strcpy(res.metrics[0].unit, "RPC/op");
	res.metrics[0].values = calloc(2, sizeof(double));
	res.metrics[0].values[0] = NAN;
	res.metrics[0].values[1] = 0.25;
	res.rate = 0.1;
	f = write_json(BENCH_EXIT_OK, true);
	assert_json(f, "benchmarks.0.points.0.variant", "\"\"");
	assert_json(f, "benchmarks.0.points.0.tasks", "2");
	assert_json(f, "benchmarks.0.points.0.cpus", "2");
	assert_json(f, "benchmarks.0.points.0.rate", "0.1");
	assert_json(f, "benchmarks.0.points.0.ratio", "null");
	assert_json(f, "benchmarks.0.points.0.elapsed_sec", "null");
	assert_json(f, "benchmarks.0.points.0.start_skew_ns", "1500");
	assert_json(f, "benchmarks.0.points.0.valid", "true");
	assert_json(f, "benchmarks.0.points.0.flags", "[\"steal\"]");
	assert_json(f, "benchmarks.0.points.0.skip", "null");
	assert_json(f, "benchmarks.0.points.0.notes", "[\"a \\\"note\\\"\xef\xbf\xbd\"]");
	assert_json(f, "benchmarks.0.points.0.metrics",
		    "{\"LOOK\\\"UP\":{\"unit\":\"RPC/op\",\"values\":[null,0.25]}}");
	assert_json(f, "benchmarks.0.points.0.repeats.0",
		    "{\"gate_ns\":5000000000000,\"elapsed_ns\":200000000,\"ops\":1500,"
		    "\"ops_all\":1800,\"rate\":7500,\"start_skew_ns\":1500,\"flags\":[],"
		    "\"task_ops\":[500,1000],\"task_ops_all\":[600,1200],"
		    "\"task_start_ns\":[100,101],\"task_done_ns\":[0,0],\"task_cpu\":[0,2],"
		    "\"task_nvcsw\":[3,3],\"task_nivcsw\":[4,5],"
		    "\"windows\":[[7,100000007,300,true],[100000007,200000007,600,false],"
		    "[200000007,300000007,900,false]],"
		    "\"window_ops\":[[100,200,300],[200,400,600]]}");
	assert_json(f, "benchmarks.0.points.0.repeats.1.rate", "null");
	assert_json(f, "benchmarks.0.points.0.repeats.1.flags", "[\"unsettled\",\"steal\"]");
	assert_json(f, "benchmarks.0.points.0.repeats.1.task_ops", "[1000,18446744073709551557]");
	assert_json(f, "benchmarks.0.points.0.repeats.1.task_start_ns", "[100,-5]");
	assert_json(f, "benchmarks.0.points.0.repeats.1.task_cpu", "[0,-1]");
	json_object_put(f);
}
END_TEST

START_TEST(json_counts_zeros)
{
	struct json_object *f;
	int w;

	make_run("fsnotify/eventfd");
	make_result(4, 1, 12);
	for (w = 0; w < 12; w++) {
		res.repeats[0].windows[w].task_ops[0] = w < 5 ? 0 : w;
		res.repeats[0].windows[w].task_ops[1] = w % 4;
		res.repeats[0].windows[w].task_ops[2] = 0;
		res.repeats[0].windows[w].task_ops[3] = w > 0 && w < 9 ? 0 : 8;
	}
	f = write_json(BENCH_EXIT_OK, true);
	assert_json(f, "benchmarks.0.points.0.repeats.0.window_ops",
		    "[[[5],5,6,7,8,9,10,11],[0,1,2,3,0,1,2,3,0,1,2,3],[[12]],[8,[8],8,8,8]]");
	json_object_put(f);
}
END_TEST

START_TEST(json_not_valid)
{
	struct json_object *f;

	make_run("fsnotify/eventfd");
	make_result(1, 0, 0);
	strcpy(res.skip, "why not");
	res.flags = BENCH_FLAG_ERROR;
	bench_run__fail(&run, ENOENT, "open");
	f = write_json(BENCH_EXIT_FAILED, true);
	assert_json(f, "benchmarks.0.points.0.valid", "false");
	assert_json(f, "benchmarks.0.points.0.rate", "null");
	assert_json(f, "benchmarks.0.points.0.skip", "\"why not\"");
	assert_json(f, "benchmarks.0.points.0.flags", "[\"error\"]");
	assert_json(f, "benchmarks.0.points.0.repeats", "[]");
	assert_json(f, "benchmarks.0.status", "\"failed\"");
	assert_json(f, "benchmarks.0.message", "\"open: No such file or directory\"");
	json_object_put(f);
}
END_TEST

START_TEST(json_several)
{
	struct bench_observer *o = json_observer__new("out.json", 0, NULL);
	struct json_object *f;

	make_run("fsnotify/eventfd");
	make_result(2, 1, 2);
	ck_assert_int_eq(o->begin(o, &run), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_OK), 0);
	make_run("kernfs/lookup");
	ck_assert_int_eq(o->begin(o, &run), 0);
	strcpy(run.message, "interrupted by signal 2");
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_INTERRUPTED), 0);
	/* an end without a begin, as after another observer's begin has failed */
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_FAILED), 0);
	ck_assert_int_eq(access("out.json", F_OK), -1);
	ck_assert_int_eq(json_observer__finish(o, false), 0);
	f = json_object_from_file("out.json");
	ck_assert_int_eq(json_object_array_length(at(f, "benchmarks")), 2);
	ck_assert_int_eq(json_object_array_length(at(f, "benchmarks.0.points")), 2);
	assert_json(f, "benchmarks.1.points", "[]");
	assert_json(f, "benchmarks.1.status", "\"interrupted\"");
	assert_json(f, "benchmarks.1.message", "\"interrupted by signal 2\"");
	assert_json(f, "benchmarks.1.dir", "null");
	assert_json(f, "complete", "false");
	json_object_put(f);
}
END_TEST

/* A child that is forked in between, and ends as tasks do, or by exit(3), writes nothing. */
START_TEST(json_and_fork)
{
	struct bench_observer *o = json_observer__new("out.json", 0, NULL);
	struct json_object *f;
	int status;
	pid_t pid;

	make_run("fsnotify/eventfd");
	make_result(2, 1, 2);
	ck_assert_int_eq(o->begin(o, &run), 0);
	pid = fork();
	if (!pid)
		exit(0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(chdir("/"), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_OK), 0);
	ck_assert_int_eq(json_observer__finish(o, true), 0);
	ck_assert_int_eq(chdir(dir), 0);
	f = json_object_from_file("out.json");
	assert_json(f, "complete", "true");
	json_object_put(f);
}
END_TEST

START_TEST(json_nothing_begun)
{
	struct bench_observer *o = json_observer__new("none/out.json", 0, NULL);

	make_run("fsnotify/eventfd");
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_SKIPPED), 0);
	ck_assert_int_eq(json_observer__finish(o, true), 0);
}
END_TEST

/* Told before anything is measured, once, with the file's name, the reason and what to do. */
START_TEST(json_cannot_open)
{
	struct bench_observer *o = json_observer__new("none/out.json", 0, NULL);

	make_run("fsnotify/eventfd");
	ck_assert_int_lt(o->begin(o, &run), 0);
	ck_assert_int_eq(run.status, BENCH_EXIT_FAILED);
	ck_assert_str_eq(run.message, "the results could not be written to none/out.json: "
			 "No such file or directory; "
			 "make its directory first, or name a file elsewhere");
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_FAILED), 0);
	make_run("kernfs/lookup");
	ck_assert_int_lt(o->begin(o, &run), 0);
	ck_assert_int_eq(json_observer__finish(o, true), -ECANCELED);
}
END_TEST

START_TEST(json_disk_is_full)
{
	struct bench_observer *o = json_observer__new("/dev/full", 0, NULL);

	make_run("fsnotify/eventfd");
	ck_assert_int_lt(o->begin(o, &run), 0);
	ck_assert_ptr_nonnull(strstr(run.message, "/dev/full: No space left on device; make room"));
	o->end(o, &run, BENCH_EXIT_FAILED);
	ck_assert_int_eq(json_observer__finish(o, true), -ECANCELED);
}
END_TEST

/* A limit on the size of files stands in for a disk that gets full in between. */
START_TEST(json_old_file_stays)
{
	struct rlimit old_limit, limit;
	struct bench_observer *o;
	FILE *f = fopen("out.json", "we");

	fputs("old", f);
	fclose(f);
	make_run("fsnotify/eventfd");
	make_result(64, 3, 50);
	getrlimit(RLIMIT_FSIZE, &old_limit);
	limit = old_limit;
	limit.rlim_cur = 8192;
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	o = json_observer__new("out.json", 0, NULL);
	ck_assert_int_eq(o->begin(o, &run), 0);
	ck_assert_int_lt(o->result(o, &run, &res), 0);
	ck_assert_ptr_nonnull(strstr(run.message, "/out.json: File too large; "));
	o->end(o, &run, BENCH_EXIT_FAILED);
	ck_assert_int_eq(json_observer__finish(o, true), -ECANCELED);
	setrlimit(RLIMIT_FSIZE, &old_limit);
	signal(SIGXFSZ, SIG_DFL);
	assert_file("out.json", "old");
	ck_assert_int_eq(system("test \"$(ls -A)\" = out.json"), 0);
}
END_TEST

/* 4096 tasks, 10 repeats of 200 windows, few CPUs: each task runs in 1 of 50 windows. */
START_TEST(json_size)
{
	struct bench_observer *o = json_observer__new("out.json", 0, NULL);
	struct rusage before, after;
	struct stat st;
	int r, w, i;

	make_run("fsnotify/eventfd");
	make_result(4096, 10, 200);
	for (r = 0; r < 10; r++) {
		for (w = 0; w < 200; w++) {
			for (i = 0; i < 4096; i++)
				res.repeats[r].windows[w].task_ops[i] = (w + i) % 50 ? 0 : 1234;
		}
	}
	getrusage(RUSAGE_SELF, &before);
	ck_assert_int_eq(o->begin(o, &run), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_OK), 0);
	ck_assert_int_eq(json_observer__finish(o, true), 0);
	getrusage(RUSAGE_SELF, &after);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 4096);	/* kB */
	ck_assert_int_eq(stat("out.json", &st), 0);
	ck_assert_int_lt(st.st_size, 5 << 20);
}
END_TEST

static const char csv_header[] =
	"benchmark,variant,tasks,mode,pin,unit,repeats,ops_per_sec,ci95,us_per_op,task_min,task_max,jain,ratio,elapsed_sec,start_skew_us,windows,windows_dropped,valid,flags,params\n";

static char *write_lines(struct bench_observer *o, int (*finish)(struct bench_observer *o))
{
	ck_assert_int_eq(o->begin(o, &run), 0);
	ck_assert_int_eq(o->result(o, &run, &res), 0);
	if (o->end)
		ck_assert_int_eq(o->end(o, &run, BENCH_EXIT_OK), 0);
	ck_assert_int_eq(finish(o), 0);
	return read_all("out");
}

START_TEST(csv)
{
	char *text, *line;

	make_run("fsnotify/eventfd");
	strcpy(run.variants[0].name, "a,b");
	bench_run__param(&run, "op", "x\"y");
	bench_run__param(&run, "n", "2");
	make_result(2, 1, 3);
	text = write_lines(csv_observer__new("out"), csv_observer__finish);
	line = text + strlen(csv_header);
	ck_assert_int_eq(strncmp(text, csv_header, line - text), 0);
	ck_assert_str_eq(line, "fsnotify/eventfd,\"a,b\",2,process,spread,write+read,1,7500,,"
			 "266.6666667,2500,5000,0.9,,,1.5,3,1,true,,\"op=x\"\"y;n=2\"\n");
	free(text);
}
END_TEST

START_TEST(csv_not_valid)
{
	char *text;

	make_run("fsnotify/eventfd");
	make_result(2, 1, 3);
	res.flags = BENCH_FLAG_THROTTLED | BENCH_FLAG_STEAL;
	text = write_lines(csv_observer__new("out"), csv_observer__finish);
	ck_assert_str_eq(text + strlen(csv_header), "fsnotify/eventfd,,2,process,spread,write+read,"
			 "1,,,,,,,,,1.5,3,1,false,throttled steal,\n");
	free(text);
	make_result(2, 0, 0);
	strcpy(res.skip, "no such thing");
	text = write_lines(csv_observer__new("out"), csv_observer__finish);
	ck_assert_str_eq(text + strlen(csv_header), "fsnotify/eventfd,,2,process,spread,write+read,"
			 "0,,,,,,,,,,0,0,false,skipped,\n");
	free(text);
}
END_TEST

static void assert_classic(const char *want)
{
	char *text = write_lines(classic_observer__new("out"), classic_observer__finish);

	ck_assert_str_eq(text, want);
	free(text);
}

START_TEST(classic_kernfs_time)
{
	make_run("kernfs/lookup");
	make_result(1, 1, 3);
	assert_classic("single: total 200.000000ms per 400.000000us\n"
		       "times: 500 threads: 1 cpus: 2\n");
	make_result(2, 4, 3);		/* the second repeat of four is the lower median */
	assert_classic("concur: total 200.000000ms per 100.000000us  CPU 2\n"
		       "concur: total 200.000000ms per 200.000000us  CPU 0\n"
		       "times: 2000 threads: 2 cpus: 2\n");
	res.repeats[1].tasks[0].ops = 0;
	assert_classic("concur: total 200.000000ms per 100.000000us  CPU 2\n"
		       "# CPU 0: no op in the measured time\n"
		       "times: 2000 threads: 2 cpus: 2\n");
}
END_TEST

START_TEST(classic_kernfs_loops)
{
	make_run("kernfs/lookup");
	bench_worker_params.loops = 10000;
	make_result(1, 1, 3);
	res.repeats[0].tasks[0].done_ns = 37537678;
	assert_classic("single: total 37.537578ms per 3.753758us\n"
		       "times: 10000 threads: 1 cpus: 2\n");
	make_result(3, 1, 3);
	res.repeats[0].tasks[0].done_ns = 4800220772;
	res.repeats[0].tasks[1].done_ns = 4796665819;
	res.repeats[0].tasks[2].done_ns = 4828959747;
	assert_classic("concur: total 4796.665718ms per 479.666572us  CPU 2\n"
		       "concur: total 4800.220672ms per 480.022067us  CPU 0\n"
		       "concur: total 4828.959645ms per 482.895964us  CPU 0\n"
		       "times: 10000 threads: 3 cpus: 2\n");
	res.repeats[0].tasks[2].done_ns = 0;	/* did not get that far: measured time, all */
	assert_classic("concur: total 200.000000ms per 133.333333us  CPU 0\n"
		       "concur: total 200.000000ms per 200.000000us  CPU 2\n"
		       "concur: total 200.000000ms per 400.000000us  CPU 0\n"
		       "times: 1500 threads: 3 cpus: 2\n");
}
END_TEST

START_TEST(classic_locking)
{
	make_run("locking/vfs");
	make_result(2, 1, 3);
	res.nr_tasks = 100;
	res.rate = 342506.9;
	assert_classic("   100 processes: throughput = 342506 average opts/sec all processes\n"
		       "   100 processes: throughput = 3425 average opts/sec per process\n");
	run.mode = BENCH_MODE_THREAD;
	assert_classic("   100 threads: throughput = 342506 average opts/sec all threads\n"
		       "   100 threads: throughput = 3425 average opts/sec per thread\n");
	res.nr_tasks = 2;
}
END_TEST

START_TEST(classic_will_it_scale)
{
	make_run("fsnotify/eventfd");
	make_result(2, 2, 3);
	assert_classic("testcase:fsnotify/eventfd, write+read, 2 processes\nwarmup\n"
		       "min:1000 max:2000 total:3000\nmeasurement\n"
		       "min:2000 max:4000 total:6000\nmin:3000 max:6000 total:9000\n"
		       "average:7500\n"
		       "testcase:fsnotify/eventfd, write+read, 2 processes\nwarmup\n"
		       "min:2000 max:4000 total:6000\nmeasurement\n"
		       "min:4000 max:8000 total:12000\nmin:6000 max:12000 total:18000\n"
		       "average:15000\n");
}
END_TEST

START_TEST(classic_pipe)
{
	static const char pipe_lines[] =
		"testcase:fsnotify/pipe, write+read, 1 processes\nwarmup\n"
		"min:1000 max:1000 total:1000\nmeasurement\n"
		"min:2000 max:2000 total:2000\n"
		"average:2000\n"
		"\nPipe Throughput                             1244000.0 lps   (0.1 s, 1 samples)\n"
		"\nSystem Benchmarks Partial Index              BASELINE       RESULT    INDEX\n"
		"Pipe Throughput                               12440.0    1244000.0   1000.0\n\n";
	char want[sizeof(pipe_lines)];

	make_run("fsnotify/pipe");
	bench_run__param(&run, "size", "512");
	make_result(1, 1, 2);
	res.rate = 1244000;
	assert_classic(pipe_lines);
	strcpy(run.params[0].value, "1");	/* not what UnixBench does */
	strcpy(want, pipe_lines);
	*strstr(want, "\nPipe") = '\0';
	assert_classic(want);
}
END_TEST

START_TEST(classic_nfs)
{
	make_run("nfs/negative-dentry");
	bench_worker_params.total = 1000;
	make_result(4, 1, 2);
	res.elapsed = 27.3;
	assert_classic("jobs,elapsed\n4,27.300\n");
	bench_worker_params.total = 0;
	make_result(1, 1, 2);
	assert_classic("testcase:nfs/negative-dentry, write+read, 1 processes\nwarmup\n"
		       "min:1000 max:1000 total:1000\nmeasurement\n"
		       "min:2000 max:2000 total:2000\naverage:2000\n");
}
END_TEST

START_TEST(classic_not_valid)
{
	char want[256];

	make_run("kernfs/lookup");
	make_result(2, 1, 3);
	res.flags = BENCH_FLAG_THROTTLED;
	snprintf(want, sizeof(want), "# 2 processes: %s\n",
		 bench_flag__text(BENCH_FLAG_THROTTLED));
	assert_classic(want);
	res.flags = BENCH_FLAG_ERROR;
	strcpy(res.skip, "task 0: openat: no");
	assert_classic("# 2 processes: task 0: openat: no\n");
	make_result(1, 1, 3);
	run.nr_variants = 2;
	strcpy(run.variants[0].name, "inode");
	res.nr_notes = 1;
	strcpy(res.notes[0], "mind");
	assert_classic("# inode:\n# 1 processes: mind\nsingle: total 200.000000ms per 400.000000us\n"
		       "times: 500 threads: 1 cpus: 2\n");
}
END_TEST

/* Show a run of one point on a terminal of @width columns; what came out of it, not freed. */
static const char *show_progress(int width, bool quiet, bool terminal)
{
	static char text[8192];
	struct winsize ws = { .ws_row = 24, .ws_col = width };
	struct bench_window window = { .start_ns = 0 };
	int fds[2], master, slave, saved = dup(STDERR_FILENO), i;
	struct bench_observer *o;
	struct pollfd readable;
	struct termios raw;
	ssize_t len, n;

	cfmakeraw(memset(&raw, 0, sizeof(raw)));
	if (terminal) {
		ck_assert_int_eq(openpty(&master, &slave, NULL, &raw, &ws), 0);
	} else {
		ck_assert_int_eq(pipe(fds), 0);
		master = fds[0];
		slave = fds[1];
	}
	ck_assert_int_eq(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	o = progress_observer__new(quiet);
	run.nr_tasks = 2;
	run.repeat = 1;
	if (o->begin)
		o->begin(o, &run);
	for (i = 0; i < 2; i++) {
		if (o->ready)
			o->ready(o, &run);
		usleep(260000);
		if (o->window)
			o->window(o, &run, &window);
	}
	if (o->result)
		o->result(o, &run, &res);
	if (o->end)
		o->end(o, &run, BENCH_EXIT_OK);
	progress_observer__finish(o);
	dup2(saved, STDERR_FILENO);
	close(saved);
	readable = (struct pollfd){ .fd = master, .events = POLLIN };
	if (!terminal)
		close(slave);
	/* a terminal hands over what was written in pieces, a little later */
	for (len = 0; poll(&readable, 1, 200) > 0; len += n) {
		n = read(master, text + len, sizeof(text) - 1 - len);
		if (n <= 0)
			break;
	}
	text[len] = '\0';
	if (terminal)
		close(slave);
	close(master);
	return text;
}

START_TEST(progress)
{
	static const int widths[] = { 200, 80, 40, 10, 2, 1 };
	const char *text, *p;
	size_t i;

	make_run("fsnotify/eventfd");
	make_result(2, 1, 2);
	for (i = 0; i < ARRAY_SIZE(widths); i++) {
		text = show_progress(widths[i], false, true);
		for (p = text; *p; p += strcspn(p, "\r") + !!p[strcspn(p, "\r")])
			ck_assert_uint_lt(strcspn(p, "\r"), widths[i]);
		ck_assert_ptr_null(strchr(text, '\n'));
		if (widths[i] >= 80) {
			ck_assert_ptr_nonnull(strstr(text, "fsnotify/eventfd: repeat 2/3, point 1/2 (2 tasks), 0:0"));
			ck_assert_ptr_nonnull(strstr(text, " left"));
		}
		/* ends with a line of blanks, or with nothing at all */
		p = text + strlen(text);
		while (p > text && (p[-1] == '\r' || p[-1] == ' '))
			p--;
		ck_assert_msg(!*text || strlen(p) >= (size_t)min(widths[i], 40), "%d: %s|", widths[i], text);
	}
}
END_TEST

START_TEST(progress_keeps_quiet)
{
	make_run("fsnotify/eventfd");
	make_result(2, 1, 2);
	ck_assert_str_eq(show_progress(80, true, true), "");
	ck_assert_str_eq(show_progress(80, false, false), "");
}
END_TEST

Suite *results_suite(void)
{
	Suite *s = suite_create("results");
	TCase *tc = tcase_create("results");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, make_dir, remove_dir);
	tcase_add_test(tc, json_plan);
	tcase_add_test(tc, json_point);
	tcase_add_test(tc, json_counts_zeros);
	tcase_add_test(tc, json_not_valid);
	tcase_add_test(tc, json_several);
	tcase_add_test(tc, json_and_fork);
	tcase_add_test(tc, json_nothing_begun);
	tcase_add_test(tc, json_cannot_open);
	tcase_add_test(tc, json_disk_is_full);
	tcase_add_test(tc, json_old_file_stays);
	tcase_add_test(tc, json_size);
	tcase_add_test(tc, csv);
	tcase_add_test(tc, csv_not_valid);
	tcase_add_test(tc, classic_kernfs_time);
	tcase_add_test(tc, classic_kernfs_loops);
	tcase_add_test(tc, classic_locking);
	tcase_add_test(tc, classic_will_it_scale);
	tcase_add_test(tc, classic_pipe);
	tcase_add_test(tc, classic_nfs);
	tcase_add_test(tc, classic_not_valid);
	tcase_add_test(tc, progress);
	tcase_add_test(tc, progress_keeps_quiet);
	suite_add_tcase(s, tc);
	return s;
}
