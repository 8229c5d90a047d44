// SPDX-License-Identifier: GPL-2.0
/*
 * The contention instrument: what the tasks wait for, and who makes them wait
 *
 * The kernel's lock:contention_begin and _end are sampled on all tasks (util/sampler.c), paired to
 * waits (util/contention.c), and put into rows by the type of the lock and the function that takes
 * it: the first of the call chain that is no locking code. That begins before the tasks pass the
 * gate, so that the begin of each wait is seen, and not only of those that begin in a window.
 *
 * The thread of the sampler has the pairs until the end of the measured time; the windows, which
 * the parent learns of, are handed over to it under a lock.
 */
#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include <linux/perf_event.h>
#include <linux/time64.h>
#include <linux/zalloc.h>

#include "instrument/instrument.h"
#include "util/contention.h"
#include "util/ksyms.h"
#include "util/sampler.h"
#include "util/tracepoint.h"

#define MOST_SITES	1000	/* rows of a table; those with the most waiting */

enum { COLUMN_WAITS, COLUMN_WAIT_NS, COLUMN_AVG, COLUMN_MAX, COLUMN_SHARE };

static const struct figure_column columns[] = {
	[COLUMN_WAITS]	 = { "waits/op",   FIGURE_MEAN, 4 },
	[COLUMN_WAIT_NS] = { "wait ns/op", FIGURE_MEAN, 1 },
	[COLUMN_AVG]	 = { "avg us",	   FIGURE_MEAN, 2 },
	[COLUMN_MAX]	 = { "max us",	   FIGURE_MAX,	1 },
	[COLUMN_SHARE]	 = { "% of time",  FIGURE_MEAN, 2 },
};

/* Enabled in this order: no wait is to begin whose end would not be seen. */
enum { EVENT_END, EVENT_BEGIN, NR_EVENTS };

static const char * const event_names[NR_EVENTS] = {
	"lock:contention_end", "lock:contention_begin",
};

/* How a repeat of a point went. */
struct repeat_stats {
	int			point, repeat;
	struct sampler_stats	sampled;
	struct contention_stats	paired;
};

struct window {
	struct contention_tag	tag;
	u64			start_ns, end_ns;
};

struct contention_instrument {
	struct instrument	ins;
	bool			all_tasks;
	u64			buffer_kb;
	struct sampler		*sampler;
	struct contention	*pairs;
	struct ksyms		*syms;
	/* of the records */
	u64			ids[NR_EVENTS];
	struct tracepoint_field	type, locks[NR_EVENTS], flags;
	u64			undecoded;
	/* from the parent to the thread of the sampler */
	pthread_mutex_t		lock;
	struct window		*windows;
	int			nr_windows, room_windows;
	/* what became of it */
	struct repeat_stats	*repeats;
	int			nr_repeats;
	char			failed[3 * BENCH_TEXT_MAX];
};

static struct contention_instrument *to_contention(struct bench_observer *o)
{
	return container_of(o, struct contention_instrument, ins.observer);
}

/* ---- in the thread of the sampler ---- */

static void on_sample(struct contention_instrument *c, const struct perf_record *rec)
{
	int tid = rec->tid ? (int)rec->tid : -1 - (int)rec->cpu;	/* idle tasks */
	u64 ips[CONTENTION_MAX_DEPTH], type, lock, flags, i;
	int nr = 0;

	if (!tracepoint_field__get(&c->type, rec->raw, rec->raw_size, &type))
		goto undecoded;
	if (type == c->ids[EVENT_END]) {
		if (!tracepoint_field__get(&c->locks[EVENT_END], rec->raw, rec->raw_size, &lock))
			goto undecoded;
		contention__end(c->pairs, tid, lock, rec->time);
		return;
	}
	if (type != c->ids[EVENT_BEGIN] ||
	    !tracepoint_field__get(&c->locks[EVENT_BEGIN], rec->raw, rec->raw_size, &lock) ||
	    !tracepoint_field__get(&c->flags, rec->raw, rec->raw_size, &flags))
		goto undecoded;
	for (i = 0; i < rec->nr_ips && nr < CONTENTION_MAX_DEPTH; i++) {
		if (rec->ips[i] < (u64)PERF_CONTEXT_MAX)
			ips[nr++] = rec->ips[i];
	}
	contention__begin(c->pairs, tid, lock, flags, rec->time, ips, nr);
	return;

undecoded:
	c->undecoded++;
}

static void on_record(void *data, const struct perf_record *rec)
{
	struct contention_instrument *c = data;

	if (rec->type == PERF_RECORD_SAMPLE)
		on_sample(c, rec);
	else if (rec->lost)
		contention__lost(c->pairs);
}

static void on_round(void *data, u64 until)
{
	struct contention_instrument *c = data;
	int i;

	pthread_mutex_lock(&c->lock);
	for (i = 0; i < c->nr_windows; i++)
		contention__window(c->pairs, c->windows[i].tag, c->windows[i].start_ns,
				   c->windows[i].end_ns);
	c->nr_windows = 0;
	pthread_mutex_unlock(&c->lock);
	contention__until(c->pairs, until);
}

/* ---- the hooks ---- */

/* The fields of an event, by name; its ID and common_type. */
static int look_up(struct contention_instrument *c, int event, struct tracepoint_field *flags,
		   struct tracepoint_field *type)
{
	struct tracepoint_field fields[] = {
		{ .name = "common_type" }, { .name = "lock_addr" }, { .name = "flags" },
	};
	const char *name = strchr(event_names[event], ':') + 1;
	char why[2 * BENCH_TEXT_MAX], *text;
	size_t size;
	int err;

	err = tracepoint__format("lock", name, &text, &size, why, sizeof(why));
	if (!err) {
		err = tracepoint__parse(text, size, &c->ids[event], fields, flags ? 3 : 2, why,
					sizeof(why));
		free(text);
	}
	if (err) {
		snprintf(c->ins.unavailable, sizeof(c->ins.unavailable), "%s: %s",
			 event_names[event], why);
		return err;
	}
	*type = fields[0];
	c->locks[event] = fields[1];
	if (flags)
		*flags = fields[2];
	return 0;
}

static int look_up_events(struct contention_instrument *c)
{
	struct tracepoint_field type;
	int err = look_up(c, EVENT_BEGIN, &c->flags, &c->type);

	if (!err)
		err = look_up(c, EVENT_END, NULL, &type);
	if (!err && (type.offset != c->type.offset || type.size != c->type.size)) {
		snprintf(c->ins.unavailable, sizeof(c->ins.unavailable),
			 "common_type is at different places in %s and %s",
			 event_names[EVENT_BEGIN], event_names[EVENT_END]);
		err = -EINVAL;
	}
	return err;
}

static int open_sampler(struct contention_instrument *c)
{
	struct perf_event_attr attrs[NR_EVENTS];
	struct sampler_options opts = {
		.attrs = attrs, .names = event_names, .nr = NR_EVENTS,
		.all_tasks = c->all_tasks, .buffer_kb = c->buffer_kb,
		.record = on_record, .round = on_round, .data = c,
	};
	int i;

	memset(attrs, 0, sizeof(attrs));
	for (i = 0; i < NR_EVENTS; i++) {
		attrs[i].type = PERF_TYPE_TRACEPOINT;
		attrs[i].config = c->ids[i];
		attrs[i].sample_period = 1;
		attrs[i].sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
				       PERF_SAMPLE_RAW;
		if (c->all_tasks)
			attrs[i].sample_type |= PERF_SAMPLE_CPU;
		attrs[i].exclude_callchain_user = 1;
	}
	attrs[EVENT_END].exclude_callchain_kernel = 1;
	return sampler__new(&opts, &c->sampler, c->ins.unavailable, sizeof(c->ins.unavailable));
}

/* Forget an earlier benchmark. */
static void reset(struct contention_instrument *c)
{
	sampler__free(c->sampler);
	c->sampler = NULL;
	contention__free(c->pairs);
	c->pairs = NULL;
	zfree(&c->repeats);
	c->nr_repeats = 0;
	c->nr_windows = 0;
	c->undecoded = 0;
	*c->failed = '\0';
	*c->ins.unavailable = '\0';
}

static int contention_begin(struct bench_observer *o, struct bench_run *run __maybe_unused)
{
	struct contention_instrument *c = to_contention(o);

	reset(c);
	if (look_up_events(c))
		return 0;
	c->pairs = contention__new();
	if (!c->syms)
		c->syms = ksyms__new();
	if (!c->pairs || !c->syms)
		snprintf(c->ins.unavailable, sizeof(c->ins.unavailable), "%s", strerror(ENOMEM));
	else
		open_sampler(c);
	return 0;
}

static void no_memory(struct contention_instrument *c)
{
	snprintf(c->failed, sizeof(c->failed), "%s", strerror(ENOMEM));
}

static void contention_ready(struct bench_observer *o, struct bench_run *run)
{
	struct contention_instrument *c = to_contention(o);
	int *tids = calloc(run->nr_tasks, sizeof(*tids)), i;

	sampler__stop(c->sampler, NULL);	/* where a repeat has failed */
	c->nr_windows = 0;
	for (i = 0; tids && i < run->nr_tasks; i++)
		tids[i] = run->tasks[i]->tid;
	if (!tids || contention__watch(c->pairs, tids, c->all_tasks ? 0 : run->nr_tasks))
		no_memory(c);
	free(tids);
	if (!*c->failed)
		sampler__start(c->sampler, c->failed, sizeof(c->failed));
}

static void contention_window(struct bench_observer *o, struct bench_run *run,
			      const struct bench_window *w)
{
	struct contention_instrument *c = to_contention(o);
	struct window *more;
	int room;

	pthread_mutex_lock(&c->lock);
	if (c->nr_windows == c->room_windows) {
		room = max(2 * c->room_windows, 16);
		more = reallocarray(c->windows, room, sizeof(*more));
		if (more) {
			c->windows = more;
			c->room_windows = room;
		}
	}
	if (c->nr_windows < c->room_windows)	/* else the result finds it missing */
		c->windows[c->nr_windows++] = (struct window){
			.tag = { run->point, run->variant, run->repeat },
			.start_ns = w->start_ns, .end_ns = w->end_ns,
		};
	pthread_mutex_unlock(&c->lock);
}

static void contention_stop(struct bench_observer *o, struct bench_run *run)
{
	struct contention_instrument *c = to_contention(o);
	struct repeat_stats *more, *s;

	more = reallocarray(c->repeats, c->nr_repeats + 1, sizeof(*more));
	if (!more) {
		sampler__stop(c->sampler, NULL);
		no_memory(c);
		return;
	}
	c->repeats = more;
	s = &c->repeats[c->nr_repeats];
	memset(s, 0, sizeof(*s));
	s->point = run->point;
	s->repeat = run->repeat;
	if (sampler__stop(c->sampler, &s->sampled) == -ENOENT)
		return;
	contention__finish(c->pairs, &s->paired);
	c->nr_repeats++;
}

static int contention_end(struct bench_observer *o, struct bench_run *run __maybe_unused,
			  enum bench_exit status __maybe_unused)
{
	reset(to_contention(o));
	return 0;
}

/* ---- the table ---- */

/* Waits of a row in a repeat. */
struct waits {
	u64	nr, ns, max_ns;
};

struct row {
	char		name[FIGURES_NAME_MAX];
	u64		ns;		/* of all repeats */
	u32		chain;		/* the most frequent one */
	u64		chain_nr;
	struct waits	*waits;		/* [nr_repeats] */
};

/* What all rows of a result share. */
struct table {
	int		nr_repeats;
	u64		*ops, *ns;	/* [nr_repeats] of windows that count; ns 0: not known */
	struct waits	*by_chain;	/* [nr_chains * nr_repeats] */
	struct waits	*all;		/* [nr_repeats] */
	int		nr_rows;
	struct row	*rows;
};

static void add_waits(struct waits *sum, const struct waits *w)
{
	sum->nr += w->nr;
	sum->ns += w->ns;
	sum->max_ns = max(sum->max_ns, w->max_ns);
}

/* Add up the windows that count of one repeat; false if they are not those that we saw. */
static bool add_repeat(struct contention_instrument *c, struct table *t,
		       const struct bench_repeat *rep, struct contention_tag tag)
{
	int i, k, nr, seen = 0, r = tag.repeat;
	const struct contention_window *win = contention__windows(c->pairs, &nr);

	for (i = 0; i < nr; i++, win++) {
		const struct bench_window *w = &rep->windows[seen];

		if (memcmp(&win->tag, &tag, sizeof(tag)))
			continue;
		if (seen++ == rep->nr_windows || w->start_ns != win->start_ns ||
		    w->end_ns != win->end_ns)
			return false;
		if (w->dropped)
			continue;
		t->ops[r] += w->ops;
		t->ns[r] += w->end_ns - w->start_ns;
		for (k = 0; k < win->nr; k++) {
			const struct contention_sum *s = &win->sums[k];
			struct waits one = { s->nr, s->wait_ns, s->max_ns };

			add_waits(&t->by_chain[s->chain * t->nr_repeats + r], &one);
			add_waits(&t->all[r], &one);
		}
	}
	return seen == rep->nr_windows;
}

static void free_table(struct table *t)
{
	int i;

	for (i = 0; i < t->nr_rows; i++)
		free(t->rows[i].waits);
	free(t->rows);
	free(t->all);
	free(t->by_chain);
	free(t->ns);
	free(t->ops);
}

static void name_of(const struct contention_instrument *c, u64 ip, bool offset, char *buf,
		    size_t size)
{
	u64 from = 0;
	const char *name = ksyms__name(c->syms, ip, &from);

	if (!name)
		snprintf(buf, size, "0x%llx", (unsigned long long)ip);
	else if (offset)
		snprintf(buf, size, "%s+0x%llx", name, (unsigned long long)from);
	else
		snprintf(buf, size, "%s", name);
}

/* "rwsem:W path_openat" */
static void name_row(const struct contention_instrument *c, u32 chain, char *buf, size_t size)
{
	char site[FIGURES_NAME_MAX] = "(no call chain)";
	unsigned int flags;
	int i, nr;
	const u64 *ips = contention__chain(c->pairs, chain, &nr, &flags);

	for (i = 0; i < nr - 1 && ksyms__is_lock_function(c->syms, ips[i]); i++)
		;
	if (nr)
		name_of(c, ips[i], false, site, sizeof(site));
	snprintf(buf, size, "%s %.*s", contention__type(flags), FIGURES_NAME_MAX - 32, site);
}

/* The row of a chain, NULL without memory. */
static struct row *find_row(struct contention_instrument *c, struct table *t, u32 chain)
{
	char name[FIGURES_NAME_MAX];
	struct row *more;
	int i;

	name_row(c, chain, name, sizeof(name));
	for (i = 0; i < t->nr_rows; i++) {
		if (!strcmp(t->rows[i].name, name))
			return &t->rows[i];
	}
	more = reallocarray(t->rows, t->nr_rows + 1, sizeof(*more));
	if (!more)
		return NULL;
	t->rows = more;
	more = &t->rows[t->nr_rows];
	memset(more, 0, sizeof(*more));
	more->waits = calloc(t->nr_repeats, sizeof(*more->waits));
	if (!more->waits)
		return NULL;
	strcpy(more->name, name);
	t->nr_rows++;
	return more;
}

static int compare_rows(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? 1 : -1;
	return strcmp(x->name, y->name);
}

static int make_rows(struct contention_instrument *c, struct table *t)
{
	int nr_chains = contention__nr_chains(c->pairs), i, r;

	for (i = 0; i < nr_chains; i++) {
		struct waits *of = &t->by_chain[i * t->nr_repeats], sum = { 0 };
		struct row *row;

		for (r = 0; r < t->nr_repeats; r++)
			add_waits(&sum, &of[r]);
		if (!sum.nr)
			continue;
		row = find_row(c, t, i);
		if (!row)
			return -ENOMEM;
		for (r = 0; r < t->nr_repeats; r++)
			add_waits(&row->waits[r], &of[r]);
		row->ns += sum.ns;
		if (sum.nr > row->chain_nr) {
			row->chain_nr = sum.nr;
			row->chain = i;
		}
	}
	if (t->nr_rows)
		qsort(t->rows, t->nr_rows, sizeof(*t->rows), compare_rows);
	return 0;
}

static void set_values(struct figures *f, struct figure *row, const struct table *t,
		       const struct waits *waits, int nr_tasks)
{
	int r;

	for (r = 0; r < t->nr_repeats; r++) {
		const struct waits *w = &waits[r];

		if (!t->ns[r])
			continue;
		if (t->ops[r]) {
			figures__set(f, row, COLUMN_WAITS, r, (double)w->nr / t->ops[r]);
			figures__set(f, row, COLUMN_WAIT_NS, r, (double)w->ns / t->ops[r]);
		}
		if (w->nr) {
			figures__set(f, row, COLUMN_AVG, r, w->ns / 1000.0 / w->nr);
			figures__set(f, row, COLUMN_MAX, r, w->max_ns / 1000.0);
		}
		figures__set(f, row, COLUMN_SHARE, r,
			     100.0 * w->ns / ((double)t->ns[r] * nr_tasks));
	}
}

static char *chain_text(const struct contention_instrument *c, u32 chain)
{
	char name[FIGURES_NAME_MAX], *text = NULL;
	unsigned int flags;
	size_t size;
	int i, nr;
	const u64 *ips = contention__chain(c->pairs, chain, &nr, &flags);
	FILE *f = open_memstream(&text, &size);

	for (i = 0; f && i < nr; i++) {
		name_of(c, ips[i], true, name, sizeof(name));
		fprintf(f, "%s%s", i ? "\n" : "", name);
	}
	if (f && fclose(f)) {
		free(text);
		text = NULL;
	}
	return text;
}

static int fill_figures(struct contention_instrument *c, const struct table *t, int nr_tasks)
{
	struct figures *f = &c->ins.figures;
	struct figure *row;
	int i;

	if (t->nr_rows) {
		row = figures__add(f, FIGURES_ALL_LOCKS);
		if (!row)
			return -ENOMEM;
		set_values(f, row, t, t->all, nr_tasks);
	}
	if (t->nr_rows > MOST_SITES)
		figures__note(f, "%d more sites: not shown, but in the sum",
			      t->nr_rows - MOST_SITES);
	for (i = 0; i < min(t->nr_rows, MOST_SITES); i++) {
		row = figures__add(f, t->rows[i].name);
		if (!row)
			return -ENOMEM;
		set_values(f, row, t, t->rows[i].waits, nr_tasks);
		row->detail = chain_text(c, t->rows[i].chain);
	}
	return 0;
}

/* ---- what is to be said beside it ---- */

static void add_paired(struct contention_stats *sum, const struct contention_stats *s)
{
	sum->begins += s->begins;
	sum->ends += s->ends;
	sum->waits += s->waits;
	sum->joined += s->joined;
	sum->replaced += s->replaced;
	sum->unfinished += s->unfinished;
	sum->forgotten += s->forgotten;
	sum->no_begin += s->no_begin;
	sum->no_room_open += s->no_room_open;
	sum->no_room_chain += s->no_room_chain;
	sum->no_room_backlog += s->no_room_backlog;
	sum->no_room_sums += s->no_room_sums;
	sum->unfinished_ns += s->unfinished_ns;
	if (s->longest_ns > sum->longest_ns) {
		sum->longest_ns = s->longest_ns;
		sum->longest_chain = s->longest_chain;
	}
}

/* Of all repeats of a point. */
static void sum_stats(const struct contention_instrument *c, int point, struct repeat_stats *sum)
{
	int i, k;

	memset(sum, 0, sizeof(*sum));
	for (i = 0; i < c->nr_repeats; i++) {
		const struct repeat_stats *s = &c->repeats[i];

		if (s->point != point)
			continue;
		add_paired(&sum->paired, &s->paired);
		for (k = 0; k < NR_EVENTS; k++)
			sum->sampled.events[k] += s->sampled.events[k];
		sum->sampled.samples += s->sampled.samples;
		sum->sampled.own += s->sampled.own;
		sum->sampled.lost += s->sampled.lost;
		sum->sampled.late += s->sampled.late;
		sum->sampled.bad += s->sampled.bad;
		sum->sampled.ns += s->sampled.ns;
		sum->sampled.reader_ns += s->sampled.reader_ns;
		sum->sampled.fullest = max(sum->sampled.fullest, s->sampled.fullest);
		sum->sampled.new_cpus = max(sum->sampled.new_cpus, s->sampled.new_cpus);
	}
}

static void note_limit(struct figures *f, u64 nr, const char *what, int limit)
{
	if (!nr)
		return;
	f->lower_bound = true;
	figures__note(f, "%llu waits left out: more than %d %s", (unsigned long long)nr, limit,
		      what);
}

static void note_lost(struct contention_instrument *c, const struct repeat_stats *s)
{
	struct figures *f = &c->ins.figures;
	u64 events = s->sampled.events[EVENT_BEGIN] + s->sampled.events[EVENT_END];
	u64 seen = s->sampled.samples + s->sampled.own, all = seen + s->sampled.lost;
	u64 bad = s->sampled.bad + c->undecoded;

	if (s->sampled.lost) {
		f->lower_bound = true;
		figures__note(f, "lost: %llu of %llu records: take a larger --buffer-kb",
			      (unsigned long long)s->sampled.lost,
			      (unsigned long long)all);
	}
	if (events != all || bad || s->sampled.late) {
		f->lower_bound = true;
		figures__note(f,
			      "the kernel counted %llu events; %llu were seen, %llu lost, %llu not understood, %llu late",
			      (unsigned long long)events, (unsigned long long)seen,
			      (unsigned long long)s->sampled.lost, (unsigned long long)bad,
			      (unsigned long long)s->sampled.late);
	}
	if (s->sampled.new_cpus) {
		f->lower_bound = true;
		figures__note(f, "%d CPUs came online that are not looked at",
			      s->sampled.new_cpus);
	}
}

static void note_pairs(struct figures *f, const struct contention_stats *p)
{
	u64 no_end = p->replaced + p->forgotten;
	u64 begins = p->waits + p->joined + no_end + p->unfinished + p->no_room_open +
		     p->no_room_chain;

	note_limit(f, p->no_room_open, "at a time", CONTENTION_MAX_OPEN);
	note_limit(f, p->no_room_chain, "call chains", CONTENTION_MAX_CHAINS);
	note_limit(f, p->no_room_backlog, "in a window: take a shorter --window",
		   CONTENTION_MAX_BACKLOG);
	note_limit(f, p->no_room_sums, "sums of a window: take a longer --window",
		   CONTENTION_MAX_SUMS);
	if (p->no_begin || no_end)
		figures__note(f,
			      "unpaired, not counted: %llu ends without a begin, %llu begins without an end",
			      (unsigned long long)p->no_begin, (unsigned long long)no_end);
	if (begins != p->begins || p->ends != p->waits + p->no_begin)
		figures__note(f, "the sums do not agree: this is a bug");
}

/*
 * A wait counts when it has ended. Where waits are short against the measured time, nothing is
 * missed by that: as many begin before it as end behind it. Where they are not, most of the waiting
 * may be in those that have not ended. They are those of all variants, out of all the time that was
 * looked at; what was counted is of this one's windows: their shares of time can be compared.
 */
static void note_unfinished(struct contention_instrument *c, const struct repeat_stats *s,
			    const struct table *t, int nr_tasks)
{
	const struct contention_stats *p = &s->paired;
	struct figures *f = &c->ins.figures;
	char name[FIGURES_NAME_MAX];
	double counted = 0, ns = 0, share;
	int r;

	if (!p->unfinished_ns || !s->sampled.ns)
		return;
	share = p->unfinished_ns / ((double)s->sampled.ns * nr_tasks);
	for (r = 0; r < t->nr_repeats; r++) {
		counted += t->all[r].ns;
		ns += t->ns[r];
	}
	name_row(c, p->longest_chain, name, sizeof(name));
	figures__note(f, "not counted: %llu waits that had not ended (%.1f %% of time), most in %s",
		      (unsigned long long)p->unfinished, 100 * share, name);
	if (share > counted / (ns * nr_tasks) / 4)
		f->lower_bound = true;
}

static void write_notes(struct contention_instrument *c, int point, const struct table *t,
			int nr_tasks)
{
	struct figures *f = &c->ins.figures;
	struct repeat_stats s;
	double sec;

	sum_stats(c, point, &s);
	sec = s.sampled.ns / (double)NSEC_PER_SEC;
	if (c->all_tasks)
		figures__note(f, FIGURES_ALL_TASKS);
	note_lost(c, &s);
	note_pairs(f, &s.paired);
	note_unfinished(c, &s, t, nr_tasks);
	if (sec > 0)
		figures__note(f,
			      "%.0f events/s; reading them took %.1f %% of a CPU and %.1f MiB, buffers of %llu KiB were %.0f %% full at most",
			      (s.sampled.samples + s.sampled.own) / sec,
			      100.0 * s.sampled.reader_ns / s.sampled.ns,
			      (sampler__memory(c->sampler) + contention__memory(c->pairs)) /
			      (1024.0 * 1024),
			      (unsigned long long)sampler__buffer_kb(c->sampler),
			      100 * s.sampled.fullest);
	if (ksyms__warning(c->syms))
		figures__note(f, "%s", ksyms__warning(c->syms));
}

static int contention_result(struct bench_observer *o, struct bench_run *run,
			     const struct bench_result *res)
{
	struct contention_instrument *c = to_contention(o);
	int nr_chains = max(contention__nr_chains(c->pairs), 1), nr = res->nr_repeats, r, err = 0;
	struct figures *f = &c->ins.figures;
	struct table t = { .nr_repeats = nr };

	figures__reset(f, "contention", columns, ARRAY_SIZE(columns), nr);
	if (*c->failed) {
		figures__add_missing(f, FIGURES_ALL_LOCKS, c->failed);
		return 0;
	}
	if (!nr)
		return 0;
	t.ops = calloc(nr, sizeof(*t.ops));
	t.ns = calloc(nr, sizeof(*t.ns));
	t.all = calloc(nr, sizeof(*t.all));
	t.by_chain = calloc((size_t)nr_chains * nr, sizeof(*t.by_chain));
	if (!t.ops || !t.ns || !t.all || !t.by_chain)
		err = -ENOMEM;
	for (r = 0; !err && r < nr; r++) {
		struct contention_tag tag = { run->point, res->variant, r };

		if (add_repeat(c, &t, &res->repeats[r], tag))
			continue;
		t.ns[r] = 0;
		figures__note(f, "repeat %d: its windows are not known", r + 1);
	}
	if (!err)
		err = make_rows(c, &t);
	if (!err)
		err = fill_figures(c, &t, res->nr_tasks);
	if (!err)
		write_notes(c, run->point, &t, res->nr_tasks);
	free_table(&t);
	return err ? bench_run__fail(run, -err, "the table of contention") : 0;
}

static void contention_free(struct instrument *ins)
{
	struct contention_instrument *c = container_of(ins, struct contention_instrument, ins);

	reset(c);
	ksyms__free(c->syms);
	figures__free(&ins->figures);
	free(c->windows);
	pthread_mutex_destroy(&c->lock);
	free(c);
}

struct instrument *contention_instrument__new(const struct instrument_options *opts)
{
	struct contention_instrument *c = zalloc(sizeof(*c));

	if (!c)
		return NULL;
	pthread_mutex_init(&c->lock, NULL);
	c->all_tasks = opts->all_tasks;
	c->buffer_kb = opts->buffer_kb;
	c->ins.name = "contention";
	c->ins.free = contention_free;
	c->ins.observer.begin = contention_begin;
	c->ins.observer.ready = contention_ready;
	c->ins.observer.window = contention_window;
	c->ins.observer.stop = contention_stop;
	c->ins.observer.result = contention_result;
	c->ins.observer.end = contention_end;
	return &c->ins;
}
