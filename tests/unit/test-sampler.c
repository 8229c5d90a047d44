// SPDX-License-Identifier: GPL-2.0
/*
 * test-sampler.c: of page faults that are known, each is a sample
 *
 * Page faults are a software event, which an ordinary user has, too. Where perf events are
 * forbidden, the reason is all that is tested.
 */
#include <check.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/kernel.h>

#include "util/sampler.h"

Suite *sampler_suite(void);

#define PAGES	3000

static struct perf_event_attr attr = {
	.type		= PERF_TYPE_SOFTWARE,
	.config		= PERF_COUNT_SW_PAGE_FAULTS,
	.sample_period	= 1,
	.sample_type	= PERF_SAMPLE_TID | PERF_SAMPLE_TIME,
	.exclude_kernel	= 1,
};

static const char * const names[] = { "page-faults" };

/* What the callbacks have seen. */
static struct {
	u64	samples, of_task, lost, backwards, last, rounds, until;
	pid_t	task;
} seen;

static void on_record(void *data, const struct perf_record *rec)
{
	ck_assert_ptr_eq(data, &seen);
	seen.samples += rec->type == PERF_RECORD_SAMPLE;
	seen.of_task += rec->type == PERF_RECORD_SAMPLE && (pid_t)rec->tid == seen.task;
	seen.lost += rec->lost;
	seen.backwards += rec->time < seen.last || rec->time < seen.until;
	seen.last = rec->time;
}

static void on_round(void *data, u64 until)
{
	ck_assert_ptr_eq(data, &seen);
	seen.backwards += seen.last >= until;
	seen.until = until == ~0ull ? 0 : until;
	seen.rounds++;
}

static struct sampler_options opts = {
	.attrs = &attr, .names = names, .nr = 1,
	.record = on_record, .round = on_round, .data = &seen,
};

static struct sampler *sampler;
static struct sampler_stats stats;
static char why[256];

/* False where we may not. */
static bool open_sampler(void)
{
	int err = sampler__new(&opts, &sampler, why, sizeof(why));

	if (!err) {
		ck_assert_str_eq(why, "");
		return true;
	}
	ck_assert_msg(err == -EACCES || err == -EPERM || err == -ENOSYS, "%s", why);
	ck_assert_ptr_nonnull(strstr(why, "page-faults"));
	return false;
}

static void start(void)
{
	memset(&seen.samples, 0, offsetof(typeof(seen), task));
	ck_assert_int_eq(sampler__start(sampler, why, sizeof(why)), 0);
}

/* Nothing is lost that is not known: not here, and not in sums. */
static void stop(void)
{
	ck_assert_int_eq(sampler__stop(sampler, &stats), 0);
	ck_assert_uint_eq(stats.events[0], stats.samples + stats.own + stats.lost);
	ck_assert_uint_eq(stats.samples, seen.samples);
	ck_assert_uint_le(seen.lost, stats.lost);
	ck_assert_uint_eq(stats.bad, 0);
	ck_assert_uint_eq(stats.late, 0);
	ck_assert_uint_eq(seen.backwards, 0);
	ck_assert_uint_ge(seen.rounds, 2);
	ck_assert_uint_gt(stats.ns, 0);
	ck_assert_uint_gt(stats.reader_ns, 0);
}

/* Fault in so many pages, each by itself; the shadow memory of sanitizers would fault, too. */
__attribute__((no_sanitize("thread", "address")))
static void fault(int pages)
{
	size_t page = sysconf(_SC_PAGESIZE), i;
	char *map = mmap(NULL, pages * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	ck_assert_ptr_ne(map, MAP_FAILED);
	madvise(map, pages * page, MADV_NOHUGEPAGE);
	for (i = 0; i < (size_t)pages; i++)
		map[i * page] = 1;
	munmap(map, pages * page);
}

/* A task that faults when it is told to: a byte to it, and one back. */
static struct {
	int		to[2], from[2];
	pid_t		pid;
	pthread_t	thread;
} worker;

static void worker_loop(void)
{
	pid_t tid = syscall(SYS_gettid);
	char byte;

	if (write(worker.from[1], &tid, sizeof(tid)) < 0)
		return;
	while (read(worker.to[0], &byte, 1) == 1 && byte) {
		fault(PAGES);
		if (write(worker.from[1], &byte, 1) != 1)
			return;
	}
}

static void *thread_main(void *arg)
{
	worker_loop();
	return arg;
}

static void make_worker(bool thread)
{
	ck_assert_int_eq(pipe(worker.to), 0);
	ck_assert_int_eq(pipe(worker.from), 0);
	if (thread) {
		ck_assert_int_eq(pthread_create(&worker.thread, NULL, thread_main, NULL), 0);
	} else {
		worker.pid = fork();
		if (!worker.pid) {
			worker_loop();
			_exit(0);
		}
		ck_assert_int_gt(worker.pid, 0);
	}
	ck_assert_int_eq(read(worker.from[0], &seen.task, sizeof(pid_t)), sizeof(pid_t));
}

static void let_fault(void)
{
	char byte = 1;

	ck_assert_int_eq(write(worker.to[1], &byte, 1), 1);
	ck_assert_int_eq(read(worker.from[0], &byte, 1), 1);
}

static void end_worker(bool thread)
{
	char byte = 0;

	ck_assert_int_eq(write(worker.to[1], &byte, 1), 1);
	if (thread)
		ck_assert_int_eq(pthread_join(worker.thread, NULL), 0);
	else
		ck_assert_int_eq(waitpid(worker.pid, NULL, 0), worker.pid);
}

/* Start and stop reach a process (0) or thread (1) that was made before them, each time. */
START_TEST(test_inherited)
{
	int i;

	if (!open_sampler())
		return;
	ck_assert_int_gt(sampler__nr_cpus(sampler), 0);
	ck_assert_uint_ge(sampler__memory(sampler), 64 * 1024);
	make_worker(_i);
	for (i = 0; i < 3; i++) {
		start();
		let_fault();
		stop();
		ck_assert_uint_ge(seen.of_task, PAGES);
		ck_assert_uint_lt(seen.of_task, PAGES + 1000);
		ck_assert_uint_eq(stats.lost, 0);

		let_fault();		/* while nobody looks */
		start();
		stop();
		ck_assert_uint_lt(seen.of_task, 1000);
		ck_assert_uint_lt(stats.events[0], PAGES);
	}
	end_worker(_i);
	sampler__free(sampler);
}
END_TEST

/* What a task did counts when it has gone before the end. */
START_TEST(test_gone)
{
	if (!open_sampler())
		return;
	make_worker(_i);
	start();
	let_fault();
	end_worker(_i);
	stop();
	ck_assert_uint_ge(seen.of_task, PAGES);
	ck_assert_uint_eq(stats.lost, 0);
	sampler__free(sampler);
}
END_TEST

/* A buffer of a page has no room for a tenth of it: the rest is lost, and that is known. */
START_TEST(test_lost)
{
	int i;

	opts.buffer_kb = 1;
	if (!open_sampler())
		return;
	make_worker(_i);
	start();
	for (i = 0; i < 10; i++)
		let_fault();
	stop();
	ck_assert_uint_ge(stats.events[0], 10 * PAGES);
	ck_assert_uint_gt(stats.lost, 0);
	ck_assert(stats.fullest > 0 && stats.fullest <= 1);
	end_worker(_i);
	sampler__free(sampler);
}
END_TEST

/* Freeing it while it looks ends the thread, too; twice stopped is once stopped. */
START_TEST(test_free)
{
	if (!open_sampler())
		return;
	ck_assert_int_eq(sampler__stop(sampler, &stats), -ENOENT);
	start();
	fault(10);
	stop();
	ck_assert_int_eq(sampler__stop(sampler, &stats), -ENOENT);
	start();
	sampler__free(sampler);
	sampler__free(NULL);
}
END_TEST

START_TEST(test_buffer_too_large)
{
	opts.buffer_kb = SAMPLER_MAX_BUFFER_KB + 1;
	ck_assert_int_eq(sampler__new(&opts, &sampler, why, sizeof(why)), -ERANGE);
	ck_assert_str_eq(why, "a buffer of 1048577 KiB is more than the 1048576 there may be");
}
END_TEST

START_TEST(test_no_such_event)
{
	attr.type = PERF_TYPE_TRACEPOINT;
	attr.config = 0xffffff;
	ck_assert_int_lt(sampler__new(&opts, &sampler, why, sizeof(why)), 0);
	ck_assert_ptr_nonnull(strstr(why, "perf_event_open of page-faults: "));
}
END_TEST

START_TEST(test_no_descriptors)
{
	struct rlimit limit = { 16, 16 };
	int fds[16], nr = 0, err;

	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	while (nr < 16 && (fds[nr] = dup(1)) >= 0)
		nr++;
	err = sampler__new(&opts, &sampler, why, sizeof(why));
	while (nr)
		close(fds[--nr]);
	ck_assert_int_lt(err, 0);
	if (err == -EMFILE)
		ck_assert_str_eq(why,
				 "perf_event_open of page-faults: Too many open files: raise the limit of open files (ulimit -n)");
}
END_TEST

static const struct {
	int		err;
	const char	*says;
} reasons[] = {
	{ EACCES, "kernel.perf_event_paranoid is " },
	{ EPERM, "kernel.perf_event_paranoid is " },
	{ EMFILE, "(ulimit -n)" },
	{ ENOENT, "no such event" },
	{ ENODEV, "no such event" },
	{ EOPNOTSUPP, "no such event" },
	{ ENOSYS, "CONFIG_PERF_EVENTS" },
	{ EINVAL, "does not know" },
	{ EBUSY, "busy" },
};

START_TEST(test_reasons)
{
	sampler__why_not(reasons[_i].err, "an:event", why, sizeof(why));
	ck_assert_ptr_eq(strstr(why, "perf_event_open of an:event: "), why);
	ck_assert_ptr_nonnull(strstr(why, strerror(reasons[_i].err)));
	ck_assert_ptr_nonnull(strstr(why, reasons[_i].says));
}
END_TEST

Suite *sampler_suite(void)
{
	Suite *s = suite_create("sampler");
	TCase *tc = tcase_create("samples");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_inherited, 0, 2);
	tcase_add_loop_test(tc, test_gone, 0, 2);
	tcase_add_loop_test(tc, test_lost, 0, 2);
	tcase_add_test(tc, test_free);
	suite_add_tcase(s, tc);
	tc = tcase_create("errors");
	tcase_add_test(tc, test_buffer_too_large);
	tcase_add_test(tc, test_no_such_event);
	tcase_add_test(tc, test_no_descriptors);
	tcase_add_loop_test(tc, test_reasons, 0, ARRAY_SIZE(reasons));
	suite_add_tcase(s, tc);
	return s;
}
