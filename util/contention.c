// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for kernel locks, out of lock:contention_begin and lock:contention_end
 *
 * A wait is counted to the window in which it ends. Which windows there are is known only when they
 * have ended, so that waits stay in a backlog until then.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "contention.h"

#define HASH_SIZE	65536u
#define INNER_DEPTH	8		/* of chains, when there are many of them */
#define NONE		UINT_MAX
#define NO_TASK		INT_MIN

/* Everything else is of no matter for the type. */
#define TYPE_FLAGS	(CONTENTION_SPIN | CONTENTION_READ | CONTENTION_WRITE | CONTENTION_RT | \
			 CONTENTION_PERCPU | CONTENTION_MUTEX)

/* A wait that has begun; one that is not in use is in the list of free ones. */
struct open_wait {
	u64	lock, begin_ns;
	int	tid;
	u32	flags, chain;
	u32	next;
};

struct ended_wait {
	u64	end_ns, wait_ns;
	u32	chain;
};

struct chain {
	u32	next;
	u32	flags;
	int	nr;
	u64	ips[CONTENTION_MAX_DEPTH];
};

struct contention {
	struct contention_stats	stats;
	int			*tids, nr_tids;			/* sorted */
	struct open_wait	*open;				/* [CONTENTION_MAX_OPEN] */
	u32			*open_hash, free_open;		/* by task and lock */
	u64			nr_open;
	struct chain		*chains;
	u32			*chain_hash, nr_chains, room_chains;
	struct contention_sum	*by_chain;			/* [room_chains] of one window */
	struct ended_wait	*backlog;
	size_t			nr_backlog, room_backlog;
	struct contention_window *windows;
	int			nr_windows, room_windows;
	int			first, nr_done;	/* of the tasks now watched; that are summed up */
	size_t			nr_sums;
};

static u32 hash_word(u64 hash, u64 word)
{
	hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
	return hash >> 32;
}

static void clear_open(struct contention *c)
{
	u32 i;

	memset(c->open_hash, 0xff, HASH_SIZE * sizeof(*c->open_hash));
	for (i = 0; i < CONTENTION_MAX_OPEN; i++) {
		c->open[i].tid = NO_TASK;
		c->open[i].next = i + 1 < CONTENTION_MAX_OPEN ? i + 1 : NONE;
	}
	c->free_open = 0;
	c->nr_open = 0;
}

struct contention *contention__new(void)
{
	struct contention *c = zalloc(sizeof(*c));

	if (!c)
		return NULL;
	c->open = calloc(CONTENTION_MAX_OPEN, sizeof(*c->open));
	c->open_hash = calloc(HASH_SIZE, sizeof(*c->open_hash));
	c->chain_hash = calloc(HASH_SIZE, sizeof(*c->chain_hash));
	if (!c->open || !c->open_hash || !c->chain_hash) {
		contention__free(c);
		return NULL;
	}
	memset(c->chain_hash, 0xff, HASH_SIZE * sizeof(*c->chain_hash));
	clear_open(c);
	return c;
}

void contention__free(struct contention *c)
{
	int i;

	if (!c)
		return;
	for (i = 0; i < c->nr_windows; i++)
		free(c->windows[i].sums);
	free(c->windows);
	free(c->backlog);
	free(c->by_chain);
	free(c->chains);
	free(c->chain_hash);
	free(c->open_hash);
	free(c->open);
	free(c->tids);
	free(c);
}

/* ---- whose events ---- */

static int compare_int(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int contention__watch(struct contention *c, const int *tids, int nr)
{
	int *copy = malloc(max(nr, 1) * sizeof(*copy));

	if (!copy)
		return -ENOMEM;
	if (nr)
		memcpy(copy, tids, nr * sizeof(*copy));
	qsort(copy, nr, sizeof(*copy), compare_int);
	free(c->tids);
	c->tids = copy;
	c->nr_tids = nr;
	clear_open(c);
	c->nr_backlog = 0;
	c->first = c->nr_windows;
	c->nr_done = c->nr_windows;
	memset(&c->stats, 0, sizeof(c->stats));
	return 0;
}

static bool is_watched(struct contention *c, int tid)
{
	if (!c->nr_tids || bsearch(&tid, c->tids, c->nr_tids, sizeof(tid), compare_int))
		return true;
	c->stats.others++;
	return false;
}

/* ---- call chains ---- */

static bool grow_chains(struct contention *c)
{
	const u32 most = CONTENTION_MAX_CHAINS;
	u32 room = min(max(2 * c->room_chains, 64u), most);
	struct chain *chains = reallocarray(c->chains, room, sizeof(*chains));
	struct contention_sum *sums;

	if (!chains)
		return false;
	c->chains = chains;
	sums = reallocarray(c->by_chain, room, sizeof(*sums));
	if (!sums)
		return false;
	memset(sums + c->room_chains, 0, (room - c->room_chains) * sizeof(*sums));
	c->by_chain = sums;
	c->room_chains = room;
	return true;
}

/* The number of a chain, which is new or known; NONE if there is no room for it. */
static u32 find_chain(struct contention *c, unsigned int flags, const u64 *ips, u64 nr)
{
	u32 hash = flags, i;
	struct chain *chain;
	u64 k, most;

	most = c->nr_chains < CONTENTION_MAX_CHAINS / 4 * 3 ? CONTENTION_MAX_DEPTH : INNER_DEPTH;
	nr = min(nr, most);
	for (k = 0; k < nr; k++)
		hash = hash_word(hash, ips[k]);
	hash %= HASH_SIZE;
	for (i = c->chain_hash[hash]; i != NONE; i = chain->next) {
		chain = &c->chains[i];
		if (chain->flags == flags && chain->nr == (int)nr &&
		    !memcmp(chain->ips, ips, nr * sizeof(*ips)))
			return i;
	}
	if (c->nr_chains == CONTENTION_MAX_CHAINS ||
	    (c->nr_chains == c->room_chains && !grow_chains(c)))
		return NONE;
	i = c->nr_chains++;
	chain = &c->chains[i];
	chain->flags = flags;
	chain->nr = nr;
	memcpy(chain->ips, ips, nr * sizeof(*ips));
	chain->next = c->chain_hash[hash];
	c->chain_hash[hash] = i;
	return i;
}

const u64 *contention__chain(const struct contention *c, u32 chain, int *nr, unsigned int *flags)
{
	*nr = c->chains[chain].nr;
	*flags = c->chains[chain].flags;
	return c->chains[chain].ips;
}

int contention__nr_chains(const struct contention *c)
{
	return c->nr_chains;
}

/* ---- pairing ---- */

/* Where the number of a task's open wait for a lock stands; that is NONE if there is none. */
static u32 *find_open(struct contention *c, int tid, u64 lock)
{
	u32 *at = &c->open_hash[hash_word(hash_word(0, tid), lock) % HASH_SIZE];

	while (*at != NONE && (c->open[*at].tid != tid || c->open[*at].lock != lock))
		at = &c->open[*at].next;
	return at;
}

static void free_open(struct contention *c, u32 *at)
{
	u32 i = *at;

	*at = c->open[i].next;
	c->open[i].tid = NO_TASK;
	c->open[i].next = c->free_open;
	c->free_open = i;
	c->nr_open--;
}

void contention__begin(struct contention *c, int tid, u64 lock, unsigned int flags, u64 time,
		       const u64 *ips, u64 nr)
{
	struct open_wait *w;
	u32 *at, chain;

	if (!is_watched(c, tid))
		return;
	flags &= TYPE_FLAGS;
	if (flags & CONTENTION_MUTEX)
		flags = CONTENTION_MUTEX;	/* spinning or sleeping, that is one wait */
	c->stats.begins++;
	at = find_open(c, tid, lock);
	if (*at != NONE && (flags & CONTENTION_MUTEX) && c->open[*at].flags == flags) {
		c->stats.joined++;
		return;
	}
	if (*at != NONE) {
		c->stats.replaced++;
		free_open(c, at);
	}
	if (c->free_open == NONE) {
		c->stats.no_room_open++;
		return;
	}
	chain = find_chain(c, flags, ips, nr);
	if (chain == NONE) {
		c->stats.no_room_chain++;
		return;
	}
	at = find_open(c, tid, lock);
	*at = c->free_open;
	w = &c->open[*at];
	c->free_open = w->next;
	c->nr_open++;
	*w = (struct open_wait){
		.lock = lock, .begin_ns = time, .tid = tid, .flags = flags, .chain = chain,
		.next = NONE,
	};
}

static bool grow_backlog(struct contention *c)
{
	const size_t least = 1024, most = CONTENTION_MAX_BACKLOG;
	size_t room = min(max(2 * c->room_backlog, least), most);
	struct ended_wait *more;

	if (room == c->room_backlog)
		return false;
	more = reallocarray(c->backlog, room, sizeof(*more));
	if (!more)
		return false;
	c->backlog = more;
	c->room_backlog = room;
	return true;
}

void contention__end(struct contention *c, int tid, u64 lock, u64 time)
{
	struct open_wait *w;
	u32 *at;

	if (!is_watched(c, tid))
		return;
	c->stats.ends++;
	at = find_open(c, tid, lock);
	if (*at == NONE) {
		c->stats.no_begin++;
		return;
	}
	c->stats.waits++;
	w = &c->open[*at];
	if (c->nr_backlog == c->room_backlog && !grow_backlog(c))
		c->stats.no_room_backlog++;
	else
		c->backlog[c->nr_backlog++] = (struct ended_wait){
			.end_ns = time, .wait_ns = time > w->begin_ns ? time - w->begin_ns : 0,
			.chain = w->chain,
		};
	free_open(c, at);
}

void contention__lost(struct contention *c)
{
	if (!c->nr_open)
		return;
	c->stats.forgotten += c->nr_open;
	clear_open(c);
}

/* ---- windows ---- */

int contention__window(struct contention *c, struct contention_tag tag, u64 start_ns, u64 end_ns)
{
	struct contention_window *more;
	int room;

	if (c->nr_windows == c->room_windows) {
		room = max(2 * c->room_windows, 64);
		more = reallocarray(c->windows, room, sizeof(*more));
		if (!more)
			return -ENOMEM;
		c->windows = more;
		c->room_windows = room;
	}
	c->windows[c->nr_windows++] = (struct contention_window){
		.tag = tag, .start_ns = start_ns, .end_ns = end_ns,
	};
	return 0;
}

static void add_wait(struct contention_sum *sum, const struct ended_wait *w)
{
	sum->nr++;
	sum->wait_ns += w->wait_ns;
	sum->max_ns = max(sum->max_ns, w->wait_ns);
}

/* Move the sums that are in use to where the window has them. */
static void keep_sums(struct contention *c, struct contention_window *win, int nr)
{
	struct contention_sum *sums = NULL, *sum;
	u32 i;

	if (nr && c->nr_sums + nr <= CONTENTION_MAX_SUMS)
		sums = malloc(nr * sizeof(*sums));
	win->sums = sums;
	for (i = 0; nr && i < c->nr_chains; i++) {
		sum = &c->by_chain[i];
		if (!sum->nr)
			continue;
		sum->chain = i;
		if (sums) {
			c->stats.counted += sum->nr;
			sums[win->nr++] = *sum;
		} else {
			c->stats.no_room_sums += sum->nr;
		}
		memset(sum, 0, sizeof(*sum));
	}
	c->nr_sums += win->nr;
}

/* Take what belongs to the window, or is older, out of the backlog. */
static void sum_up(struct contention *c, struct contention_window *win)
{
	size_t i, left = 0;
	int nr = 0;

	for (i = 0; i < c->nr_backlog; i++) {
		struct ended_wait *w = &c->backlog[i];

		if (w->end_ns >= win->end_ns) {
			c->backlog[left++] = *w;
		} else if (w->end_ns < win->start_ns) {
			c->stats.outside++;
		} else {
			nr += !c->by_chain[w->chain].nr;
			add_wait(&c->by_chain[w->chain], w);
		}
	}
	c->nr_backlog = left;
	keep_sums(c, win, nr);
}

void contention__until(struct contention *c, u64 until)
{
	while (c->nr_done < c->nr_windows && c->windows[c->nr_done].end_ns <= until)
		sum_up(c, &c->windows[c->nr_done++]);
}

/* How much of the windows went into what has not ended, and where the most of that is. */
static void sum_unfinished(struct contention *c)
{
	u64 from = ULLONG_MAX, until = 0, ns;
	u32 i;

	if (c->first < c->nr_windows) {
		from = c->windows[c->first].start_ns;
		until = c->windows[c->nr_windows - 1].end_ns;
	}
	c->stats.unfinished = c->nr_open;
	for (i = 0; c->nr_open && i < CONTENTION_MAX_OPEN; i++) {
		const struct open_wait *w = &c->open[i];

		if (w->tid == NO_TASK || max(w->begin_ns, from) >= until)
			continue;
		ns = until - max(w->begin_ns, from);
		c->stats.unfinished_ns += ns;
		c->by_chain[w->chain].wait_ns += ns;
	}
	for (i = 0; i < c->nr_chains; i++) {
		if (c->by_chain[i].wait_ns > c->stats.longest_ns) {
			c->stats.longest_ns = c->by_chain[i].wait_ns;
			c->stats.longest_chain = i;
		}
		c->by_chain[i].wait_ns = 0;
	}
}

void contention__finish(struct contention *c, struct contention_stats *stats)
{
	contention__until(c, ULLONG_MAX);
	c->stats.outside += c->nr_backlog;
	c->nr_backlog = 0;
	sum_unfinished(c);
	clear_open(c);
	*stats = c->stats;
}

const struct contention_window *contention__windows(const struct contention *c, int *nr)
{
	*nr = c->nr_windows;
	return c->windows;
}

u64 contention__memory(const struct contention *c)
{
	return sizeof(*c) + c->nr_tids * sizeof(*c->tids) +
	       CONTENTION_MAX_OPEN * sizeof(*c->open) +
	       HASH_SIZE * (sizeof(*c->open_hash) + sizeof(*c->chain_hash)) +
	       c->room_chains * (sizeof(*c->chains) + sizeof(*c->by_chain)) +
	       c->room_backlog * sizeof(*c->backlog) +
	       c->room_windows * sizeof(*c->windows) + c->nr_sums * sizeof(struct contention_sum);
}

const char *contention__type(unsigned int flags)
{
	static const struct {
		unsigned int	flags;
		const char	*name;
	} types[] = {
		{ 0,						"semaphore" },
		{ CONTENTION_SPIN,				"spinlock" },
		{ CONTENTION_SPIN | CONTENTION_READ,		"rwlock:R" },
		{ CONTENTION_SPIN | CONTENTION_WRITE,		"rwlock:W" },
		{ CONTENTION_READ,				"rwsem:R" },
		{ CONTENTION_WRITE,				"rwsem:W" },
		{ CONTENTION_RT,				"rt-mutex" },
		{ CONTENTION_RT | CONTENTION_READ,		"rwlock-rt:R" },
		{ CONTENTION_RT | CONTENTION_WRITE,		"rwlock-rt:W" },
		{ CONTENTION_PERCPU | CONTENTION_READ,		"pcpu-sem:R" },
		{ CONTENTION_PERCPU | CONTENTION_WRITE,		"pcpu-sem:W" },
		{ CONTENTION_MUTEX,				"mutex" },
		{ CONTENTION_MUTEX | CONTENTION_SPIN,		"mutex" },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i].flags == (flags & TYPE_FLAGS))
			return types[i].name;
	}
	return "unknown";
}
