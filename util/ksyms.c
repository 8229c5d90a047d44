// SPDX-License-Identifier: GPL-2.0
/*
 * ksyms.c: an array of the kernel's functions, sorted by address
 *
 * The text of /proc/kallsyms is kept, and cut into names in place.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>
#include "ksyms.h"
#include "vmlinux.h"

#define LINE_MAX_BYTES	1024		/* KSYM_NAME_LEN is 512, a module's name 56 */
#define TEXT_MAX_BYTES	(256u << 20)	/* a kernel has 5 to 20 MB */
#define PAGE_BYTES	4096		/* the smallest there is */
#define NEAR_BYTES	65536		/* no function of a module is longer */

/* From the best of names to the worst. */
enum kind { KIND_GLOBAL, KIND_LOCAL, KIND_WEAK, KIND_OTHER };

/**
 * struct ksym - a symbol; once all are read, a function
 * @start, @end: @end is the first byte behind it
 * @name:	with " [module]"
 * @module:	"[module]" in it, or NULL
 * @kind:	KIND_OTHER names nothing, but ends the function before it
 * @locks:	one of its names is that of a locking function
 */
struct ksym {
	u64		start, end;
	const char	*name, *module;
	u8		kind;
	bool		locks;
};

struct range {
	u64	start, end;
};

struct ksyms {
	char		*text;
	struct ksym	*list;		/* sorted, no two with one start */
	size_t		nr;
	struct range	sched, lock;	/* sections of the kernel's text; empty where not known */
	char		*warning;
};

void ksyms__free(struct ksyms *k)
{
	if (!k)
		return;
	free(k->text);
	free(k->list);
	free(k->warning);
	free(k);
}

/* ---- names that mean something ---- */

/*
 * Symbols that the linker script puts at the edge of a section. Some have the address of the first
 * function there, or of what follows the last.
 */
static bool is_edge(const char *name)
{
	static const char * const edges[] = { "_text", "_stext", "_etext", "_sinittext",
					      "_einittext", "__pi__text", "_end" };
	size_t i, len = strlen(name);

	for (i = 0; i < ARRAY_SIZE(edges); i++) {
		if (!strcmp(name, edges[i]))
			return true;
	}
	return !strncmp(name, "__", 2) &&
	       ((len > 10 && !strcmp(name + len - 10, "text_start")) ||
		(len > 8 && !strcmp(name + len - 8, "text_end")));
}

/* What an assembler leaves: "$x", "$d.1", ".L12". */
static bool is_mark(const char *name)
{
	return name[0] == '$' || !strncmp(name, ".L", 2);
}

/*
 * Most of the locking code is in sections of its own, and these decide, as in perf. Here is what
 * stands outside of them, in every kernel (the glue between a tracepoint and who looks at it) or in
 * some (slow paths became __lockfunc in Linux 6.1, semaphores __sched later).
 *
 * Who releases a lock is not here: what it waits for, while it does, is its own affair.
 */
static bool is_lock_name(const char *name)
{
	static const char * const begins[] = {
		"__traceiter_contention_", "__probestub_contention_", "__bpf_trace_contention_",
		"perf_trace_contention_", "trace_contention_", "trace_event_raw_event_contention_",
		"bpf_trace_run",
		"_raw_read_lock", "_raw_spin_lock", "_raw_write_lock",
		"__raw_read_lock", "__raw_spin_lock", "__raw_write_lock",
		"mutex_lock", "__mutex_lock", "ww_mutex_lock", "__ww_mutex_lock",
		"rt_mutex_lock", "rt_mutex_slowlock", "__rt_mutex_lock", "__rt_mutex_slowlock",
		"rtlock_slowlock", "rwsem_down_read_slowpath", "rwsem_down_write_slowpath",
	};
	static const char * const names[] = {
		"perf_trace_run_bpf_submit", "perf_tp_event", "trace_call_bpf",
		"queued_spin_lock_slowpath", "native_queued_spin_lock_slowpath",
		"__pv_queued_spin_lock_slowpath", "resilient_queued_spin_lock_slowpath",
		"queued_read_lock_slowpath", "queued_write_lock_slowpath",
		"down", "down_interruptible", "down_killable", "down_timeout",
		"__down", "__down_interruptible", "__down_killable", "__down_timeout",
		"__down_common", "___down_common",
		"down_read", "down_read_interruptible", "down_read_killable", "down_read_nested",
		"down_write", "down_write_killable", "down_write_nested", "__down_read",
		"__down_read_common", "__down_write", "__down_write_common",
		"percpu_down_write", "__percpu_down_read",
		"rt_spin_lock", "rt_read_lock", "rt_write_lock",
	};
	size_t i, len = strcspn(name, ".");	/* without ".constprop.0" */

	for (i = 0; i < ARRAY_SIZE(begins); i++) {
		if (!strncmp(name, begins[i], strlen(begins[i])))
			return true;
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (len == strlen(names[i]) && !strncmp(name, names[i], len))
			return true;
	}
	return false;
}

/* ---- parsing ---- */

static enum kind kind_of(char type, const char *name)
{
	switch (type) {
	case 'T':
		return is_edge(name) ? KIND_OTHER : KIND_GLOBAL;
	case 't':
		return is_edge(name) ? KIND_OTHER : KIND_LOCAL;
	case 'W':
	case 'w':
		return KIND_WEAK;
	default:
		return KIND_OTHER;
	}
}

static bool is_printable(const char *s)
{
	for (; *s; s++) {
		if (*s <= ' ' || *s > '~')
			return false;
	}
	return true;
}

/* 1 to 16 hexadecimal digits; moves *@p on. */
static bool parse_address(char **p, u64 *value)
{
	static const char digits[] = "0123456789abcdef";
	const char *digit;
	int nr = 0;

	for (*value = 0; **p && (digit = strchr(digits, **p)); ++*p, nr++)
		*value = *value << 4 | (digit - digits);
	return nr >= 1 && nr <= 16;
}

/* "ffffffff81000000 T name" or "... t name\t[module]": what is wrong with it, or NULL. */
static const char *parse_line(char *line, struct ksym *sym, char *type)
{
	char *p = line, *tab;

	*sym = (struct ksym){ 0 };
	if (!parse_address(&p, &sym->start))
		return "no address of at most 16 hexadecimal digits";
	if (p[0] != ' ' || !p[1] || p[2] != ' ')
		return "no type behind the address";
	*type = p[1];
	sym->name = p + 3;
	tab = strchr(p + 3, '\t');
	if (tab) {
		*tab = '\0';
		sym->module = tab + 1;
		if (sym->module[0] != '[' || !strchr(sym->module, ']') ||
		    !is_printable(sym->module))
			return "no [module] behind the name";
	}
	if (!*sym->name || !is_printable(sym->name))
		return "no name behind the type";
	sym->kind = kind_of(*type, sym->name);
	sym->locks = !tab && sym->kind != KIND_OTHER && is_lock_name(sym->name);
	if (tab)
		*tab = ' ';
	return NULL;
}

static int add_symbol(struct ksyms *k, const struct ksym *sym)
{
	struct ksym *list;

	if (!(k->nr & (k->nr - 1))) {		/* full: 0, 1, 2, 4, ... */
		list = reallocarray(k->list, max((size_t)1, 2 * k->nr), sizeof(*list));
		if (!list)
			return -ENOMEM;
		k->list = list;
	}
	k->list[k->nr++] = *sym;
	return 0;
}

static int refuse(char *why, size_t why_size, size_t line, const char *what)
{
	if (line)
		snprintf(why, why_size, "line %zu: %s", line, what);
	else
		snprintf(why, why_size, "%s", what);
	return -EINVAL;
}

/* All lines of k->text, each ended by a zero in place of its '\n'. */
static int parse_lines(struct ksyms *k, size_t size, char *why, size_t why_size)
{
	char *p = k->text, *text_end = k->text + size, *end, type;
	const char *wrong;
	struct ksym sym;
	size_t line;

	for (line = 1; p < text_end; line++, p = end + 1) {
		end = memchr(p, '\n', min((size_t)(text_end - p), (size_t)LINE_MAX_BYTES));
		if (!end)
			return refuse(why, why_size, line, text_end - p < LINE_MAX_BYTES ?
				      "cut short: it has no end" : "longer than 1024 bytes");
		*end = '\0';
		if (memchr(p, '\0', end - p))
			return refuse(why, why_size, line, "a zero byte in it");
		wrong = parse_line(p, &sym, &type);
		if (wrong)
			return refuse(why, why_size, line, wrong);
		/* hidden; or no address at all: absolute, undefined, a debugger's */
		if (!sym.start || strchr("aANUu?-", type) || is_mark(sym.name))
			continue;
		if (add_symbol(k, &sym))
			return -ENOMEM;
	}
	return line > 1 ? 0 : refuse(why, why_size, 0, "empty");
}

/* ---- sorting, and what follows from the order ---- */

/* Which name is better, of one address; 0 only for twice the same. */
static int compare_names(const struct ksym *a, const struct ksym *b)
{
	size_t na, nb;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	na = strspn(a->name, "_");
	nb = strspn(b->name, "_");
	if (na == nb) {
		na = strlen(a->name);
		nb = strlen(b->name);
	}
	if (na != nb)
		return na < nb ? -1 : 1;
	return strcmp(b->name, a->name);
}

static int compare_symbols(const void *va, const void *vb)
{
	const struct ksym *a = va, *b = vb;

	if (a->start != b->start)
		return a->start < b->start ? -1 : 1;
	return compare_names(a, b);
}

static bool same_owner(const struct ksym *a, const struct ksym *b)
{
	if (!a->module || !b->module)
		return a->module == b->module;
	return !strcmp(a->module, b->module);
}

static u64 page_end(u64 address)
{
	u64 end = (address | (PAGE_BYTES - 1)) + 1;

	return end ?: ULLONG_MAX;
}

/* Where @sym ends, if @next is the symbol behind it (NULL: there is none). */
static u64 find_end(const struct ksym *sym, const struct ksym *next)
{
	u64 page = page_end(sym->start);

	if (!next)
		return page;
	if (same_owner(sym, next) && (!sym->module || next->start - sym->start <= NEAR_BYTES))
		return next->start;
	return min(page, next->start);
}

static void note_section(struct range *r, const struct ksym *sym, const char *start,
			 const char *end)
{
	if (!r->start && !strcmp(sym->name, start))
		r->start = sym->start;
	if (r->start && !r->end && sym->start > r->start && !strcmp(sym->name, end))
		r->end = sym->start;
}

/* Sort; of each address leave one symbol; then give each its end, and leave functions only. */
static void arrange(struct ksyms *k)
{
	struct ksym *list = k->list;
	size_t i, nr = 0;

	if (!list)
		return;
	qsort(list, k->nr, sizeof(*list), compare_symbols);
	for (i = 0; i < k->nr; i++) {
		if (!list[i].module) {
			note_section(&k->sched, &list[i], "__sched_text_start",
				     "__sched_text_end");
			note_section(&k->lock, &list[i], "__lock_text_start", "__lock_text_end");
		}
		if (nr && list[nr - 1].start == list[i].start)
			list[nr - 1].locks |= list[i].locks;
		else
			list[nr++] = list[i];
	}
	k->nr = nr;
	for (i = 0; i < k->nr; i++)
		list[i].end = find_end(&list[i], i + 1 < k->nr ? &list[i + 1] : NULL);
	for (i = 0, nr = 0; i < k->nr; i++) {
		if (list[i].kind != KIND_OTHER)
			list[nr++] = list[i];
	}
	k->nr = nr;
}

/* Takes @text, of which @size bytes are used. */
static struct ksyms *parse(char *text, size_t size, char *why, size_t why_size)
{
	struct ksyms *k = zalloc(sizeof(*k));
	int err;

	if (!k) {
		free(text);
		errno = ENOMEM;
		return NULL;
	}
	k->text = text;
	err = parse_lines(k, size, why, why_size);
	if (err) {
		ksyms__free(k);
		errno = -err;
		return NULL;
	}
	arrange(k);
	return k;
}

struct ksyms *ksyms__parse_kallsyms(const char *text, size_t size, char *why, size_t why_size)
{
	char *copy = malloc(size ?: 1);

	if (!copy) {
		errno = ENOMEM;
		return NULL;
	}
	memcpy(copy, text, size);
	return parse(copy, size, why, why_size);
}

/* ---- what the machine has ---- */

/* All of a file, the caller's; its size is not known before. 0 or -errno. */
static int read_all(const char *root, const char *path, char **text, size_t *size)
{
	size_t room = 1 << 20, len = 0, n;
	char full[PATH_MAX], *bytes = NULL, *more;
	int err = -ENOMEM;
	FILE *file;

	*text = NULL;
	*size = 0;
	if (snprintf(full, sizeof(full), "%s%s", root, path) >= (int)sizeof(full))
		return -ENAMETOOLONG;
	file = fopen(full, "re");
	if (!file)
		return -errno;
	for (;;) {
		more = realloc(bytes, room);
		if (!more)
			goto out;
		bytes = more;
		n = fread(bytes + len, 1, room - len, file);
		len += n;
		if (len < room)
			break;
		room *= 2;
		err = -EFBIG;
		if (room > TEXT_MAX_BYTES)
			goto out;
		err = -ENOMEM;
	}
	err = ferror(file) ? -EIO : 0;
out:
	fclose(file);
	if (err) {
		free(bytes);
		return err;
	}
	*text = bytes;
	*size = len;
	return 0;
}

static int read_kptr_restrict(const char *root)
{
	size_t size;
	char *text;
	int value = -1;

	if (read_all(root, "/proc/sys/kernel/kptr_restrict", &text, &size) || !text)
		return -1;
	if (size && *text >= '0' && *text <= '9')
		value = *text - '0';
	free(text);
	return value;
}

/* Why /proc/kallsyms has nothing for us, in @why, and what to do about it. */
static const char *explain_zeros(const char *root, char *why, size_t why_size)
{
	int value = read_kptr_restrict(root);

	if (value >= 0)
		snprintf(why, why_size, "shows no addresses (kernel.kptr_restrict is %d)", value);
	else
		snprintf(why, why_size, "shows no addresses");
	if (value > 1)
		return geteuid() ? "run it as root, with sysctl kernel.kptr_restrict=1" :
				   "set sysctl kernel.kptr_restrict=1";
	if (!value)	/* then those see them who may count all that the kernel does */
		return geteuid() ? "run it as root, or with sysctl kernel.perf_event_paranoid=1" :
				   "CAP_SYSLOG is needed to see them";
	return geteuid() ? "run it as root" : "CAP_SYSLOG is needed to see them";
}

static struct ksyms *read_kallsyms(const char *root, char *why, size_t why_size,
				   const char **advice)
{
	struct ksyms *k;
	char *text;
	size_t size;
	int err = read_all(root, "/proc/kallsyms", &text, &size), n;

	*advice = "a kernel with CONFIG_KALLSYMS is needed";
	if (err || !text) {
		snprintf(why, why_size, "cannot be read (%s)", strerror(-err));
		errno = -err;
		return NULL;
	}
	*advice = "see what is mounted there";
	n = snprintf(why, why_size, "is not as a kernel writes it: ");
	k = parse(text, size, why + n, why_size - n);
	if (k && !k->nr) {
		ksyms__free(k);
		k = NULL;
		errno = ENODATA;
		*advice = explain_zeros(root, why, why_size);
	}
	return k;
}

/* The warning is to be there where names are missing: without memory for it, there is nothing. */
static struct ksyms *warn(struct ksyms *k, const char *fmt, ...)
{
	va_list ap;

	if (!k)
		return NULL;
	va_start(ap, fmt);
	if (vasprintf(&k->warning, fmt, ap) < 0) {
		k->warning = NULL;
		ksyms__free(k);
		k = NULL;
	}
	va_end(ap);
	return k;
}

struct ksyms *ksyms__read(const char *root)
{
	char why[256], no_vmlinux[PATH_MAX + 256], path[PATH_MAX], *text;
	const char *advice;
	struct ksyms *k;
	size_t size;

	k = read_kallsyms(root, why, sizeof(why), &advice);
	if (k || errno == ENOMEM)
		return k;
	if (!vmlinux__kallsyms(root, path, sizeof(path), &text, &size, no_vmlinux,
			       sizeof(no_vmlinux))) {
		k = parse(text, size, no_vmlinux, sizeof(no_vmlinux));
		if (k && k->nr)
			return warn(k,
				    "functions of modules have no names, the others those of %s: /proc/kallsyms %s: %s",
				    path, why, advice);
		ksyms__free(k);
		snprintf(no_vmlinux, sizeof(no_vmlinux), "%s has no functions", path);
	}
	return warn(zalloc(sizeof(*k)),
		    "kernel functions have no names: /proc/kallsyms %s, and %s: %s", why,
		    no_vmlinux, advice);
}

struct ksyms *ksyms__new(void)
{
	return ksyms__read("");
}

/* ---- looking up ---- */

static const struct ksym *find(const struct ksyms *k, u64 ip)
{
	size_t low = 0, high = k->nr, mid;

	/* the last one that starts at or before @ip is at low - 1 */
	while (low < high) {
		mid = low + (high - low) / 2;
		if (k->list[mid].start <= ip)
			low = mid + 1;
		else
			high = mid;
	}
	return low && ip < k->list[low - 1].end ? &k->list[low - 1] : NULL;
}

const char *ksyms__name(const struct ksyms *k, u64 ip, u64 *offset)
{
	const struct ksym *sym = find(k, ip);

	if (sym && offset)
		*offset = ip - sym->start;
	return sym ? sym->name : NULL;
}

static bool is_within(const struct range *r, u64 ip)
{
	return r->start <= ip && ip < r->end;
}

bool ksyms__is_lock_function(const struct ksyms *k, u64 ip)
{
	const struct ksym *sym;

	if (is_within(&k->sched, ip) || is_within(&k->lock, ip))
		return true;
	sym = find(k, ip);
	return sym && sym->locks;
}

const char *ksyms__warning(const struct ksyms *k)
{
	return k->warning;
}

size_t ksyms__nr(const struct ksyms *k)
{
	return k->nr;
}
