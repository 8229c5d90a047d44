// SPDX-License-Identifier: GPL-2.0
/*
 * worker-task.c: the tasks of a run, seen from both sides
 *
 * In the task: bind, init, wait at the gate, loop, say how it went. In the parent: make the tasks,
 * wait for what they have to say, end and reap them. Both meet in struct bench_shared.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>
#include <linux/kernel.h>
#include <linux/time64.h>

#include "worker-internal.h"

#define STACK_SIZE	(256 * 1024)
#define KILL_WAIT_NS	NSEC_PER_SEC		/* for tasks to die after SIGKILL */
#define SIGNAL_GRACE_NS	NSEC_PER_SEC		/* for them to stop, if we were sent a signal */

static int interrupted, continued;	/* written by the signal handler */
static u32 *wake_word;			/* of the current repeat, for the signal handler */
static bool went_first;
static int own_policy;			/* as we were started */
static struct sched_param own_prio, task_prio;

u64 (*bench_task__pause)(struct bench_task *t);

u64 bench_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

static int futex(u32 *word, int op, u32 val, const struct timespec *until)
{
	return syscall(SYS_futex, word, op, val, until, NULL, FUTEX_BITSET_MATCH_ANY);
}

static void wake_parent(struct bench_shared *sh)
{
	__atomic_fetch_add(&sh->wake, 1, __ATOMIC_SEQ_CST);
	futex(&sh->wake, FUTEX_WAKE, 1, NULL);
}

/* One more; the last task to come to a place wakes the parent, which waits for all of them. */
static bool count_and_wake(struct bench_shared *sh, u32 *count)
{
	if (__atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST) != (u32)sh->nr_tasks)
		return false;
	wake_parent(sh);
	return true;
}

/* Sleep while sh->wake is @seen, at most until @until (CLOCK_MONOTONIC ns). */
static void parent_sleep(struct bench_shared *sh, u32 seen, u64 until)
{
	struct timespec ts = { .tv_sec = until / NSEC_PER_SEC, .tv_nsec = until % NSEC_PER_SEC };

	futex(&sh->wake, FUTEX_WAIT_BITSET, seen, &ts);
}

static void on_signal(int sig)
{
	int saved = errno;

	if (sig == SIGCONT)
		__atomic_fetch_add(&continued, 1, __ATOMIC_SEQ_CST);
	else if (sig != SIGCHLD)
		__atomic_store_n(&interrupted, sig, __ATOMIC_SEQ_CST);
	if (wake_word)
		__atomic_fetch_add(wake_word, 1, __ATOMIC_SEQ_CST);
	errno = saved;
}

/* All but the last two would end us by default, with files and tasks left behind. */
static const int signals[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU, SIGXFSZ,
	SIGCHLD, SIGCONT,
};

static struct sigaction old_actions[ARRAY_SIZE(signals)];

#ifndef SYS_sched_setattr		/* the kernel's tools bring a short list of their own */
#if defined(__x86_64__)
#define SYS_sched_setattr	314
#elif defined(__aarch64__) || defined(__riscv)
#define SYS_sched_setattr	274
#endif
#endif

struct slice_attr {			/* struct sched_attr, which not every libc has */
	u32	size, policy;
	u64	flags;
	s32	nice;
	u32	priority;
	u64	slice_ns, deadline, period;
};

/*
 * With many tasks on a CPU the parent would wait for seconds until it may sample or stop them: let
 * it go first. It sleeps but for some microseconds a window. Tasks do not inherit this. Who gave us
 * a policy or a priority of his own keeps it; but real-time tasks that fill all CPUs would keep a
 * parent of their own priority out for good, so it goes one above them, and they go back in
 * task_main(), to one less if there is nothing above. Returns whether this is to be undone.
 */
static bool go_first(void)
{
	struct sched_param prio = { .sched_priority = 1 };
	struct slice_attr attr __maybe_unused = {
		.size		= sizeof(attr),
		.flags		= 1,			/* SCHED_FLAG_RESET_ON_FORK */
		.slice_ns	= 100 * NSEC_PER_USEC,
	};

	own_policy = sched_getscheduler(0);
	sched_getparam(0, &own_prio);
	if (own_policy == SCHED_FIFO || own_policy == SCHED_RR) {
		prio.sched_priority = min(own_prio.sched_priority + 1,
					  sched_get_priority_max(own_policy));
		task_prio.sched_priority = prio.sched_priority - 1;
		return !sched_setscheduler(0, own_policy, &prio);
	}
	if (own_policy != SCHED_OTHER || getpriority(PRIO_PROCESS, 0))
		return false;
	if (!sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &prio))
		return true;
#ifdef SYS_sched_setattr
	/* an ordinary user may at least ask for short slices, since 6.12 */
	syscall(SYS_sched_setattr, 0, &attr, 0);
#endif
	return false;
}

void bench_parent__begin(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(signals); i++) {
		sigaction(signals[i], NULL, &old_actions[i]);
		/* what we were told to ignore (nohup) stays ignored */
		if (old_actions[i].sa_handler != SIG_IGN || signals[i] == SIGCHLD)
			sigaction(signals[i], &sa, NULL);
	}
	went_first = go_first();
}

void bench_parent__end(void)
{
	size_t i;

	if (went_first)
		sched_setscheduler(0, own_policy, &own_prio);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &old_actions[i], NULL);
}

int bench_run__interrupted(void)
{
	return __atomic_load_n(&interrupted, __ATOMIC_SEQ_CST);
}

int bench_parent__continued(void)
{
	return __atomic_load_n(&continued, __ATOMIC_SEQ_CST);
}

/* ---- in the task ---- */

int bench_task__fail(struct bench_task *t, const char *call, const char *object)
{
	struct bench_shared *sh = t->run->shared;
	int err = errno;
	u32 unclaimed = 0;

	if (__atomic_compare_exchange_n(&sh->failed, &unclaimed, 1, false, __ATOMIC_SEQ_CST,
					__ATOMIC_SEQ_CST)) {
		sh->failed_task = t->id;
		sh->failed_errno = err;
		snprintf(sh->failed_call, sizeof(sh->failed_call), "%s", call);
		snprintf(sh->failed_object, sizeof(sh->failed_object), "%s", object);
		__atomic_store_n(&sh->failed, 2, __ATOMIC_SEQ_CST);
		__atomic_store_n(&sh->stop, 1, __ATOMIC_SEQ_CST);
		wake_parent(sh);
	}
	return -(err ?: EIO);
}

/* The ops from @t->ops on that may be done before the next call, or 0 for none. */
static u64 next_ops(struct bench_task *t, struct bench_shared *sh)
{
	u64 left, take;

	if (t->target && !t->done_ns) {			/* has just done its --loops */
		t->done_ns = bench_now();
		count_and_wake(sh, &sh->nr_done);
	}
	if (!sh->chunk)
		return ULLONG_MAX - t->ops;
	left = __atomic_load_n(&sh->pool, __ATOMIC_RELAXED);
	do {
		take = min(left, sh->chunk);
	} while (!__atomic_compare_exchange_n(&sh->pool, &left, left - take, false,
					      __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	if (!take)
		t->done_ns = bench_now();
	return take;
}

bool bench_task__refill(struct bench_task *t)
{
	struct bench_shared *sh = t->run->shared;
	u64 until;

	if (!bench_task__pause)
		t->pause_at = ULLONG_MAX;
	else if (t->ops >= t->pause_at)
		t->pause_at = t->ops + bench_task__pause(t);
	if (__atomic_load_n(&sh->stop, __ATOMIC_SEQ_CST))
		return false;
	if (t->ops >= t->due)
		t->due = t->ops + next_ops(t, sh);
	until = min(t->due, t->pause_at);
	/* the parent sets stop, then limit to 0: whichever comes first, one of us sees the other */
	__atomic_store_n(&t->limit, until, __ATOMIC_SEQ_CST);
	return until > t->ops && !__atomic_load_n(&sh->stop, __ATOMIC_SEQ_CST);
}

/*
 * Wait for the gate, to which all tasks have come when it opens; false if the run is off. Each one
 * that passes wakes two more: this is done sooner than if the parent woke all, who with hundreds of
 * tasks on its CPU would not get to run again for seconds.
 */
static bool pass_gate(struct bench_shared *sh)
{
	while (__atomic_load_n(&sh->gate, __ATOMIC_SEQ_CST) == GATE_CLOSED)
		futex(&sh->gate, FUTEX_WAIT_BITSET, GATE_CLOSED, NULL);
	futex(&sh->gate, FUTEX_WAKE, 2, NULL);
	return __atomic_load_n(&sh->gate, __ATOMIC_SEQ_CST) == GATE_OPEN;
}

/* How long this task has been ready to run while others had its CPU, ns; 0 if not known. */
static u64 run_delay(void)
{
	unsigned long long delay = 0;
	FILE *f = fopen("/proc/thread-self/schedstat", "re");

	if (f && fscanf(f, "%*u %llu", &delay) != 1)
		delay = 0;
	if (f)
		fclose(f);
	return delay;
}

static void run_loop(struct bench_task *t)
{
	const struct bench_ops *ops = t->run->ops;
	struct bench_shared *sh = t->run->shared;
	struct rusage before, after;
	u64 delay = run_delay();
	int err;

	getrusage(RUSAGE_THREAD, &before);
	t->start_ns = bench_now();
	if (!count_and_wake(sh, &sh->nr_entered))
		sched_yield();	/* once: where tasks share a CPU, so that all get here soon */
	err = ops->run(t);
	t->end_ns = bench_now();
	if (sh->chunk)
		count_and_wake(sh, &sh->nr_done);
	t->end_cpu = sched_getcpu();
	getrusage(RUSAGE_THREAD, &after);
	t->nvcsw = after.ru_nvcsw - before.ru_nvcsw;
	t->nivcsw = after.ru_nivcsw - before.ru_nivcsw;
	t->run_delay = run_delay() - delay;
	if (err) {
		errno = -err;
		bench_task__fail(t, ops->name, "its loop ended");
	}
}

static void task_main(struct bench_run *run, int id)
{
	const struct bench_ops *ops = run->ops;
	struct bench_shared *sh = run->shared;
	struct bench_task *t = run->tasks[id];
	bool pinned = bench_worker_params.pin != BENCH_PIN_NONE;
	int cpu = pinned ? run->cpus[id % run->nr_cpus] : -1;
	int err = bench_plan__bind(run, cpu);
	char object[32];

	if (went_first && own_policy != SCHED_OTHER)
		sched_setscheduler(0, own_policy, &task_prio);
	/* bound first, so that the page comes from the right node */
	t->run = run;
	t->id = id;
	t->cpu = cpu;
	t->fd[0] = -1;
	t->fd[1] = -1;
	t->tid = syscall(SYS_gettid);
	t->target = bench_worker_params.loops;
	t->due = t->target ?: sh->chunk ? 0 : ULLONG_MAX;
	/* the parent may end us already now */
	__atomic_store_n(&t->limit, bench_task__pause ? 0 : t->due, __ATOMIC_RELAXED);
	if (err) {
		errno = -err;
		snprintf(object, sizeof(object), "CPU %d", cpu);
		bench_task__fail(t, "sched_setaffinity", object);
	} else if (ops->init) {
		err = ops->init(t);
		if (err) {
			errno = -err;
			bench_task__fail(t, "init", ops->name);
		}
	}
	count_and_wake(sh, &sh->nr_ready);
	if (!err && pass_gate(sh))
		run_loop(t);
	if (ops->exit)
		ops->exit(t);
	count_and_wake(sh, &sh->nr_gone);
}

struct thread_arg {
	struct bench_run	*run;
	int			id;
};

static void *thread_main(void *arg)
{
	struct thread_arg *a = arg;
	struct bench_run *run = a->run;
	int id = a->id;

	free(a);
	task_main(run, id);
	return NULL;
}

static void process_main(struct bench_run *run, int id, pid_t parent)
{
	size_t i;

	/* a terminal's Ctrl-C goes to all: it is the parent's to act on */
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	signal(SIGCONT, SIG_DFL);
	signal(SIGXCPU, SIG_DFL);	/* the limit is each process's own */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent)
		task_main(run, id);
	_exit(0);
}

/* ---- in the parent: making, watching and ending the tasks ---- */

static int make_thread(struct bench_crew *crew, int id)
{
	struct thread_arg *arg = malloc(sizeof(*arg));
	pthread_attr_t attr;
	sigset_t all, old;
	int err;

	if (!arg)
		return -ENOMEM;
	arg->run = crew->run;
	arg->id = id;
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK_SIZE);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&crew->threads[id], &attr, thread_main, arg);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	pthread_attr_destroy(&attr);
	if (err)
		free(arg);
	return -err;
}

int bench_crew__make(struct bench_crew *crew)
{
	struct bench_run *run = crew->run;
	pid_t parent = getpid();
	char why[BENCH_TEXT_MAX];
	int err = 0;

	for (; crew->nr < run->nr_tasks && !err && !bench_run__interrupted(); crew->nr++) {
		if (run->mode == BENCH_MODE_THREAD) {
			err = -make_thread(crew, crew->nr);
		} else {
			crew->pids[crew->nr] = fork();
			if (!crew->pids[crew->nr])
				process_main(run, crew->nr, parent);
			if (crew->pids[crew->nr] < 0)
				err = errno;
		}
		if (err)
			break;
	}
	if (!err)
		return bench_run__interrupted() ? -EINTR : 0;
	bench_plan__why_no_task(run->nr_tasks, crew->nr, err, why, sizeof(why));
	return bench_run__fail(run, err, "task %d of %d could not be made%s%s", crew->nr + 1,
			       run->nr_tasks, *why ? ": " : "", why);
}

/* Take note of processes that ended; one that did not end well fails the run. */
static int reap(struct bench_crew *crew)
{
	struct bench_run *run = crew->run;
	int status, sig, i, err = 0;
	const char *oom;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		for (i = 0; i < crew->nr && crew->pids[i] != pid; i++)
			;
		if (pid == run->privdir.keeper) {
			run->privdir.keeper = -1;
			err = bench_run__fail(run, 0, "the keeper of %s, process %d, was killed",
					      run->dir, pid);
		}
		if (i == crew->nr)
			continue;
		crew->pids[i] = 0;
		if (bench_run__interrupted())	/* that is why we end; we may have killed it */
			continue;
		sig = WTERMSIG(status);
		oom = sig == SIGKILL ? "; by the OOM killer? see dmesg" : "";
		if (WIFSIGNALED(status))
			err = bench_run__fail(run, 0,
					      "task %d of %d was killed by signal %d (%s)%s",
					      i, run->nr_tasks, sig, strsignal(sig), oom);
		else if (WEXITSTATUS(status))
			err = bench_run__fail(run, 0, "task %d of %d exited with status %d", i,
					      run->nr_tasks, WEXITSTATUS(status));
	}
	return err;
}

/* Whatever ends a repeat early: a signal, a failed task, a dead one. 0 or -errno. */
int bench_crew__trouble(struct bench_crew *crew)
{
	struct bench_run *run = crew->run;
	struct bench_shared *sh = run->shared;

	if (bench_run__interrupted())
		return -EINTR;
	if (__atomic_load_n(&sh->failed, __ATOMIC_SEQ_CST) == 2)
		return bench_run__fail(run, sh->failed_errno, "task %d of %d: %s %s",
				       sh->failed_task, run->nr_tasks, sh->failed_call,
				       sh->failed_object);
	return reap(crew);
}

/* Wait for *@count to come to the number of tasks, for trouble, or for @until. */
int bench_crew__wait(struct bench_crew *crew, const u32 *count, u64 until)
{
	struct bench_shared *sh = crew->run->shared;
	u32 seen;
	int err;

	do {
		seen = __atomic_load_n(&sh->wake, __ATOMIC_SEQ_CST);
		err = bench_crew__trouble(crew);
		if (err)
			return err;
		if (__atomic_load_n(count, __ATOMIC_SEQ_CST) == (u32)sh->nr_tasks)
			return 0;
		parent_sleep(sh, seen, until);
	} while (bench_now() < until);
	return 0;
}

void bench_crew__open_gate(struct bench_crew *crew)
{
	struct bench_shared *sh = crew->run->shared;

	sh->gate_ns = bench_now();
	__atomic_store_n(&sh->gate, GATE_OPEN, __ATOMIC_SEQ_CST);
	futex(&sh->gate, FUTEX_WAKE, 2, NULL);
}

static bool has_ended(struct bench_crew *crew, int i)
{
	if (crew->run->mode == BENCH_MODE_PROCESS)
		return !crew->pids[i] || kill(crew->pids[i], 0);
	if (crew->threads[i] && !pthread_tryjoin_np(crew->threads[i], NULL))
		crew->threads[i] = 0;
	return !crew->threads[i];
}

static u64 grace_ns(void)
{
	u64 grace = bench_worker_params.grace;

	return bench_run__interrupted() && grace > SIGNAL_GRACE_NS ? SIGNAL_GRACE_NS : grace;
}

/* Kill those from @first on that have not ended. Returns whether all have, after some time. */
static bool kill_tasks(struct bench_crew *crew, int first)
{
	u64 until = bench_now() + KILL_WAIT_NS;
	int i;

	for (i = first; i < crew->nr; i++) {
		if (has_ended(crew, i))
			continue;
		if (crew->run->mode == BENCH_MODE_PROCESS)
			kill(crew->pids[i], SIGKILL);
		else
			pthread_cancel(crew->threads[i]);
	}
	for (i = first; i < crew->nr; i++) {
		while (!has_ended(crew, i)) {
			if (bench_now() > until)
				return false;
			reap(crew);
			usleep(1000);
		}
	}
	return true;
}

/*
 * End all tasks; who has not ended by the grace time after the last one that did is stuck. Should a
 * signal have told us to end, this is no failure of theirs, and they are killed soon.
 */
void bench_crew__end(struct bench_crew *crew)
{
	struct bench_run *run = crew->run;
	struct bench_shared *sh = run->shared;
	u32 gone = 0, now_gone;
	char list[128] = "";
	int i, first = 0;
	u64 last;

	__atomic_store_n(&sh->stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < crew->nr; i++)
		__atomic_store_n(&run->tasks[i]->limit, 0, __ATOMIC_SEQ_CST);
	if (__atomic_load_n(&sh->gate, __ATOMIC_SEQ_CST) == GATE_CLOSED)
		__atomic_store_n(&sh->gate, GATE_ABORT, __ATOMIC_SEQ_CST);
	futex(&sh->gate, FUTEX_WAKE, INT_MAX, NULL);

	last = bench_now();
	while (first < crew->nr) {
		u32 seen = __atomic_load_n(&sh->wake, __ATOMIC_SEQ_CST);
		int was = first;

		reap(crew);
		while (first < crew->nr && has_ended(crew, first))
			first++;
		/* of many tasks on a CPU, the first may be the last to run once more */
		now_gone = __atomic_load_n(&sh->nr_gone, __ATOMIC_SEQ_CST);
		if (first > was || now_gone != gone)
			last = bench_now();
		else if (bench_now() > last + grace_ns())
			break;
		gone = now_gone;
		if (first < crew->nr)
			parent_sleep(sh, seen, bench_now() + NSEC_PER_MSEC);
	}
	for (i = first; i < crew->nr; i++) {
		if (!has_ended(crew, i) && crew->stuck++ < 8)
			snprintf(list + strlen(list), sizeof(list) - strlen(list), " %d", i);
	}
	if (!crew->stuck)
		return;
	if (!bench_run__interrupted())
		bench_run__fail(run, 0,
				"%d of %d tasks did not stop within the grace time: task%s%s%s; the file system or its server does not answer (--grace says how long to wait)",
				crew->stuck, run->nr_tasks, crew->stuck > 1 ? "s" : "", list,
				crew->stuck > 8 ? " ..." : "");
	if (kill_tasks(crew, first) && bench_run__interrupted())
		crew->stuck = 0;
}

/* The pages that parent and tasks share: one for all, and one for each task. */
int bench_crew__map(struct bench_run *run)
{
	size_t page = sysconf(_SC_PAGESIZE), per_page = page / sizeof(struct bench_task);
	size_t size = (run->nr_tasks + 1) * page;
	struct bench_shared *sh;
	char *map;
	int i;

	map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (map == MAP_FAILED)
		return bench_run__fail(run, errno, "shared memory for %d tasks", run->nr_tasks);
	madvise(map, size, MADV_NOHUGEPAGE);
	sh = (struct bench_shared *)map;
	sh->map_size = size;
	sh->nr_tasks = run->nr_tasks;
	if (bench_worker_params.total) {
		sh->pool = bench_worker_params.total;
		sh->chunk = min(sh->pool / (64 * run->nr_tasks) + 1, (u64)1024);
	}
	run->shared = sh;
	/* at changing lines of their pages, so as not to fall into the same sets of the caches */
	for (i = 0; i < run->nr_tasks; i++)
		run->tasks[i] = (struct bench_task *)(map + (i + 1) * page) + i % per_page;
	wake_word = &sh->wake;
	return 0;
}

void bench_crew__unmap(struct bench_run *run)
{
	wake_word = NULL;
	munmap(run->shared, run->shared->map_size);
	run->shared = NULL;
}
