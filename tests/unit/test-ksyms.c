// SPDX-License-Identifier: GPL-2.0
/*
 * test-ksyms.c: kernel addresses get their names, or none, but never a wrong one
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "util/ksyms.h"
#include "util/vmlinux.h"

Suite *ksyms_suite(void);

static struct ksyms *k;
static char why[256];

static void free_symbols(void)
{
	ksyms__free(k);
	k = NULL;
}

static void parse(const char *text)
{
	free_symbols();
	k = ksyms__parse_kallsyms(text, strlen(text), why, sizeof(why));
	ck_assert_msg(k, "%s", why);
}

/* @want is "name+offset", or NULL. */
static void assert_name(u64 ip, const char *want)
{
	char got[256] = "none";
	u64 offset = ~0ull;
	const char *name = ksyms__name(k, ip, &offset);

	if (name)
		snprintf(got, sizeof(got), "%s+%llu", name, (unsigned long long)offset);
	ck_assert_msg(!strcmp(got, want ?: "none"), "%llx: \"%s\", not \"%s\"",
		      (unsigned long long)ip, got, want ?: "none");
	ck_assert_ptr_eq(ksyms__name(k, ip, NULL), name);
}

/* Some of a kernel, a module whose text lies in two places, a trampoline. */
static const char kernel[] =
	"0000000000000000 A fixed_percpu_data\n"
	"0000000000001000 D cpu_number\n"
	"ffffffff81000000 T _stext\n"
	"ffffffff81000000 T _text\n"
	"ffffffff81000000 T startup_64\n"
	"ffffffff81000100 t first\n"
	"ffffffff81000200 W second\n"
	"ffffffff81000300 T __sched_text_start\n"
	"ffffffff81000300 T schedule\n"
	"ffffffff81000340 T mutex_lock\n"
	"ffffffff81000380 T __sched_text_end\n"
	"ffffffff81000390 T __lock_text_start\n"
	"ffffffff81000390 T _raw_spin_lock\n"
	"ffffffff810003c0 T __lock_text_end\n"
	"ffffffff810003c0 t rwsem_wake\n"
	"ffffffff81000400 T __traceiter_contention_begin\n"
	"ffffffff81000440 T vfs_read\n"
	"ffffffff81000500 T _etext\n"
	"ffffffff81001000 R __start_rodata\n"
	"ffffffff81002000 D some_data\n"
	"ffffffff81003000 T _sinittext\n"
	"ffffffff81003000 T start_kernel\n"
	"ffffffff81003100 T _einittext\n"
	"ffffffff81004000 B _end\n"
	"ffffffffc0000f00 t ext4_open\t[ext4]\n"
	"ffffffffc0000f80 T mutex_lock_me\t[ext4]\n"
	"ffffffffc0100010 t ext4_exit\t[ext4]\n"
	"ffffffffc0201000 t ftrace_trampoline\t[__builtin__ftrace]\n";

static void assert_kernel_names(void)
{
	ck_assert_uint_eq(ksyms__nr(k), 14);
	assert_name(0xffffffff81000000, "startup_64+0");
	assert_name(0xffffffff810000ff, "startup_64+255");
	assert_name(0xffffffff81000100, "first+0");
	assert_name(0xffffffff810002ff, "second+255");
	assert_name(0xffffffff81000300, "schedule+0");
	assert_name(0xffffffff8100037f, "mutex_lock+63");
	assert_name(0xffffffff81000390, "_raw_spin_lock+0");
	assert_name(0xffffffff810003c0, "rwsem_wake+0");
	assert_name(0xffffffff810004ff, "vfs_read+191");
	assert_name(0xffffffff810030ff, "start_kernel+255");
	assert_name(0xffffffffc0000f00, "ext4_open [ext4]+0");
	assert_name(0xffffffffc0000f90, "mutex_lock_me [ext4]+16");
	assert_name(0xffffffffc0100010, "ext4_exit [ext4]+0");
	assert_name(0xffffffffc0201fff, "ftrace_trampoline [__builtin__ftrace]+4095");
	/* between, before, behind */
	assert_name(0, NULL);
	assert_name(0x1000, NULL);
	assert_name(0xffffffff80ffffff, NULL);
	assert_name(0xffffffff81000380, NULL);	/* the edge of a section begins nothing */
	assert_name(0xffffffff81000500, NULL);
	assert_name(0xffffffff81001000, NULL);
	assert_name(0xffffffff81002fff, NULL);
	assert_name(0xffffffff81003100, NULL);
	assert_name(0xffffffff81004000, NULL);
	assert_name(0xffffffffbfffffff, NULL);
	assert_name(0xffffffffc0001000, NULL);	/* the last of a module, to the end of its page */
	assert_name(0xffffffffc0101000, NULL);
	assert_name(0xffffffffc0202000, NULL);
	assert_name(0xffffffffffffffff, NULL);
}

static void assert_kernel_locks(void)
{
	static const struct {
		u64 first, last;
		bool lock;
	} ranges[] = {
		{ 0xffffffff81000000, 0xffffffff810002ff, false },
		{ 0xffffffff81000300, 0xffffffff8100037f, true },
		{ 0xffffffff81000380, 0xffffffff8100038f, false },
		{ 0xffffffff81000390, 0xffffffff810003bf, true },
		{ 0xffffffff810003c0, 0xffffffff810003ff, false },
		{ 0xffffffff81000400, 0xffffffff8100043f, true },
		{ 0xffffffff81000440, 0xffffffff81003fff, false },
		{ 0xffffffffc0000f00, 0xffffffffc0202000, false },
	};
	size_t i;
	u64 ip;

	for (i = 0; i < ARRAY_SIZE(ranges); i++) {
		u64 step = max((ranges[i].last - ranges[i].first) / 256, (u64)1);

		for (ip = ranges[i].first; ip <= ranges[i].last; ip += step)
			ck_assert(ksyms__is_lock_function(k, ip) == ranges[i].lock);
		ck_assert(ksyms__is_lock_function(k, ranges[i].last) == ranges[i].lock);
	}
	ck_assert(!ksyms__is_lock_function(k, 0));
	ck_assert(!ksyms__is_lock_function(k, ~0ull));
}

START_TEST(test_kernel)
{
	parse(kernel);
	assert_kernel_names();
	assert_kernel_locks();
	ck_assert_ptr_null(ksyms__warning(k));
}
END_TEST

/* Write the lines of @text in another order; the caller frees. */
static char *shuffle(const char *text, unsigned int seed)
{
	const char *lines[64], *p;
	char *out, *to;
	int nr = 0, i, j;

	for (p = text; *p; p = strchr(p, '\n') + 1)
		lines[nr++] = p;
	to = malloc(strlen(text) + 1);
	out = to;
	srand(seed);
	for (i = nr - 1; i >= 0; i--) {
		j = rand() % (i + 1);
		p = lines[j];
		lines[j] = lines[i];
		to = mempcpy(to, p, strchr(p, '\n') + 1 - p);
	}
	*to = '\0';
	return out;
}

START_TEST(test_any_order)
{
	char *text = shuffle(kernel, _i);

	parse(text);
	free(text);
	assert_kernel_names();
	assert_kernel_locks();
}
END_TEST

/* Names of one address, and the one that is chosen. */
static const struct {
	const char *lines, *name;
} aliases[] = {
	{ "10 T global\n10 t local\n10 W weak\n20 t x\n", "global+0" },
	{ "10 t a_local_one\n10 W weak\n20 t x\n", "a_local_one+0" },
	{ "10 T __memcpy\n10 W memcpy\n20 t x\n", "__memcpy+0" },
	{ "10 T __memset\n10 T memset\n10 T __pi_memset\n20 t x\n", "memset+0" },
	{ "10 T __pi___x86_thunk_rax\n10 T __x86_thunk_array\n10 T __x86_thunk_rax\n20 t x\n",
	  "__x86_thunk_rax+0" },
	{ "10 t __do_sys_getppid\n10 T __ia32_sys_getppid\n10 T __x64_sys_getppid\n20 t x\n",
	  "__x64_sys_getppid+0" },
	{ "10 t aa\n10 t ab\n10 t aa\n20 t x\n", "ab+0" },
	{ "10 D data\n10 W weak\n20 t x\n", "weak+0" },
	{ "10 t f\t[b]\n10 t f\t[a]\n20 t x\n", "f [b]+0" },
	{ "10 t $x\n10 t .L1\n10 A absolute\n10 t f\n20 t x\n", "f+0" },
	{ "10 D data\n20 t x\n", NULL },
	{ "10 T __irqentry_text_end\n20 t x\n", NULL },
};

START_TEST(test_aliases)
{
	unsigned int seed;
	char *text;

	for (seed = 0; seed < 20; seed++) {
		text = shuffle(aliases[_i].lines, seed);
		parse(text);
		free(text);
		assert_name(0x10, aliases[_i].name);
	}
}
END_TEST

/* One of the names of an address is enough. */
START_TEST(test_lock_alias)
{
	parse("10 T a_better_one\n10 t queued_spin_lock_slowpath\n20 t x\n");
	assert_name(0x18, "a_better_one+8");
	ck_assert(ksyms__is_lock_function(k, 0x18));
	ck_assert(!ksyms__is_lock_function(k, 0x20));
}
END_TEST

static const struct {
	const char *name;
	bool lock;
} lock_names[] = {
	{ "native_queued_spin_lock_slowpath", true },
	{ "__pv_queued_spin_lock_slowpath", true },
	{ "queued_read_lock_slowpath", true },
	{ "queued_write_lock_slowpath", true },
	{ "_raw_spin_lock_irqsave", true },
	{ "_raw_write_lock", true },
	{ "mutex_lock_killable", true },
	{ "__mutex_lock.constprop.0", true },
	{ "rwsem_down_write_slowpath", true },
	{ "rwsem_down_read_slowpath.isra.0", true },
	{ "down_write", true },
	{ "down_read", true },
	{ "down", true },
	{ "__down_common", true },
	{ "percpu_down_write", true },
	{ "rt_mutex_slowlock_block.constprop.0", true },
	{ "__traceiter_contention_end", true },
	{ "__bpf_trace_contention_begin", true },
	{ "perf_trace_contention_begin", true },
	{ "perf_trace_run_bpf_submit", true },
	{ "perf_tp_event", true },
	/* perf takes these for callers: they wait for a lock of their own */
	{ "rwsem_wake.isra.0", false },
	{ "up_write", false },
	{ "up_read", false },
	{ "percpu_rwsem_wait", false },
	{ "_raw_spin_unlock", false },
	{ "__down_trylock_console_sem.isra.0", false },
	{ "download", false },
	{ "path_openat", false },
	{ "__traceiter_sched_switch", false },
	{ "perf_tp_event_init", false },
	{ "osq_lock", false },
	{ "lockref_get", false },
};

START_TEST(test_lock_names)
{
	char text[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(lock_names); i++) {
		snprintf(text, sizeof(text), "1000 T %s\n1100 t x\n", lock_names[i].name);
		parse(text);
		ck_assert_msg(ksyms__is_lock_function(k, 0x1050) == lock_names[i].lock, "%s",
			      lock_names[i].name);
	}
}
END_TEST

/* Sections of which one end is missing, twice there, or in a module, are none. */
START_TEST(test_lock_sections)
{
	parse("100 T __sched_text_start\n100 t f\n200 t g\n");
	ck_assert(!ksyms__is_lock_function(k, 0x100));
	parse("100 T __sched_text_end\n100 t f\n200 T __sched_text_start\n");
	ck_assert(!ksyms__is_lock_function(k, 0x150));
	ck_assert(!ksyms__is_lock_function(k, 0x200));
	parse("100 T __lock_text_start\t[m]\n100 t f\n200 T __lock_text_end\t[m]\n");
	ck_assert(!ksyms__is_lock_function(k, 0x100));
	parse("100 T __lock_text_start\n100 T __lock_text_end\n100 t f\n200 T __lock_text_end\n"
	      "300 T __lock_text_end\n");
	ck_assert(ksyms__is_lock_function(k, 0x1ff));
	ck_assert(!ksyms__is_lock_function(k, 0x200));
	/* without any names */
	parse("0 T f\n");
	ck_assert(!ksyms__is_lock_function(k, 0));
}
END_TEST

START_TEST(test_edges)
{
	/* a last function ends with its page, also with the last one that there is */
	parse("ffffffffffffff00 T last\n");
	assert_name(0xfffffffffffffffe, "last+254");
	parse("10ff0 T f\n");
	assert_name(0x10fff, "f+15");
	assert_name(0x11000, NULL);
	parse("10ff0 T f\n11000 t f\t[m]\n");
	assert_name(0x10fff, "f+15");
	assert_name(0x11000, "f [m]+0");
	/* in the kernel it goes on to the next one; in a module it does so if that is near */
	parse("10ff0 T f\n90000 t g\n");
	assert_name(0x8ffff, "f+520207");
	parse("10ff0 T f\t[m]\n90000 t g\t[m]\n");
	assert_name(0x10fff, "f [m]+15");
	assert_name(0x11000, NULL);
	parse("10ff0 T f\t[m]\n20ff0 t g\t[m]\n");
	assert_name(0x20fef, "f [m]+65535");
	/* 32 bits */
	parse("c0100000 T f\nc0100100 T g\n");
	assert_name(0xc01000ff, "f+255");
}
END_TEST

/* Zeros are what an ordinary user sees. */
START_TEST(test_zeros)
{
	parse("0000000000000000 T _stext\n0000000000000000 t f\n0000000000000000 t g\t[m]\n");
	ck_assert_uint_eq(ksyms__nr(k), 0);
	assert_name(0, NULL);
	assert_name(0xffffffff81000000, NULL);
}
END_TEST

static const struct {
	const char	*text;
	size_t		size;	/* 0: of the string */
	const char	*why;
} bad[] = {
	{ "", 0, "empty" },
	{ "ffff", 0, "line 1: cut short: it has no end" },
	{ "10 T f\n20 T vfs_re", 0, "line 2: cut short: it has no end" },
	{ "\n", 0, "line 1: no address of at most 16 hexadecimal digits" },
	{ " T f\n", 0, "line 1: no address of at most 16 hexadecimal digits" },
	{ "x T f\n", 0, "line 1: no address of at most 16 hexadecimal digits" },
	{ "-1 T f\n", 0, "line 1: no address of at most 16 hexadecimal digits" },
	{ "10 T f\n1ffffffff81000000 T f\n", 0,
	  "line 2: no address of at most 16 hexadecimal digits" },
	{ "0x10 T f\n", 0, "line 1: no type behind the address" },
	{ "10\n", 0, "line 1: no type behind the address" },
	{ "10 \n", 0, "line 1: no type behind the address" },
	{ "10 T\n", 0, "line 1: no type behind the address" },
	{ "10 TT f\n", 0, "line 1: no type behind the address" },
	{ "10 T \n", 0, "line 1: no name behind the type" },
	{ "10 T \t[m]\n", 0, "line 1: no name behind the type" },
	{ "10 T a b\n", 0, "line 1: no name behind the type" },
	{ "10 T a\x1b[1m\n", 0, "line 1: no name behind the type" },
	{ "10 T a\xc3\xa4\n", 0, "line 1: no name behind the type" },
	{ "10 T f\r\n", 0, "line 1: no name behind the type" },
	{ "10 T f\t\n", 0, "line 1: no [module] behind the name" },
	{ "10 T f\tm\n", 0, "line 1: no [module] behind the name" },
	{ "10 T f\t[m\n", 0, "line 1: no [module] behind the name" },
	{ "10 T f\t[m]\t[n]\n", 0, "line 1: no [module] behind the name" },
	{ "10 T f\n20 T a\0b\n", 16, "line 2: a zero byte in it" },
	{ "\0\0\0\0\0\0\0\n", 8, "line 1: a zero byte in it" },
};

START_TEST(test_bad)
{
	size_t size = bad[_i].size ?: strlen(bad[_i].text);

	/* of just these bytes, so that a sanitizer sees one too many being read */
	char *copy = malloc(size ?: 1);

	memcpy(copy, bad[_i].text, size);
	errno = 0;
	ck_assert_ptr_null(ksyms__parse_kallsyms(copy, size, why, sizeof(why)));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_str_eq(why, bad[_i].why);
	free(copy);
}
END_TEST

/* It may end anywhere. */
START_TEST(test_truncated)
{
	size_t size;

	for (size = 0; size < sizeof(kernel) - 1; size++) {
		char *copy = malloc(size ?: 1);
		bool whole = size && kernel[size - 1] == '\n';

		memcpy(copy, kernel, size);
		k = ksyms__parse_kallsyms(copy, size, why, sizeof(why));
		ck_assert(!k == !whole);
		free(copy);
		free_symbols();
	}
}
END_TEST

/* What takes long ends by the time limit of the suite. */
START_TEST(test_huge)
{
	const size_t size = 100 << 20;
	char *text = malloc(size);
	size_t i, nr;

	memset(text, 'a', size);
	ck_assert_ptr_null(ksyms__parse_kallsyms(text, size, why, sizeof(why)));
	ck_assert_str_eq(why, "line 1: longer than 1024 bytes");
	text[1] = ' ';
	text[2] = 'T';
	text[3] = ' ';
	text[size - 1] = '\n';
	ck_assert_ptr_null(ksyms__parse_kallsyms(text, size, why, sizeof(why)));
	ck_assert_str_eq(why, "line 1: longer than 1024 bytes");
	/* as many symbols as a kernel has, backwards, and all of one address */
	for (i = 0, nr = 200000; i < nr; i++)
		sprintf(text + 19 * i, "%08zx T f%06zu\n", (nr - i) * 16, i);
	k = ksyms__parse_kallsyms(text, 19 * nr, why, sizeof(why));
	ck_assert_uint_eq(ksyms__nr(k), nr);
	assert_name(16 * 1000, "f199000+0");
	free_symbols();
	for (i = 0; i < nr; i++)
		sprintf(text + 19 * i, "%08x T f%06zu\n", 16, i);
	k = ksyms__parse_kallsyms(text, 19 * nr, why, sizeof(why));
	ck_assert_uint_eq(ksyms__nr(k), 1);
	assert_name(16, "f199999+0");
	free(text);
}
END_TEST

/* ---- files ---- */

static char root[] = "/tmp/kbench-ksyms-XXXXXX";

static void make_root(void)
{
	strcpy(root + strlen(root) - 6, "XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(root));
}

static void remove_root(void)
{
	char command[64];

	free_symbols();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	ck_assert_int_eq(system(command), 0);
}

/* The path of a file of the machine, whose directories are made. */
static const char *place(const char *path)
{
	static char full[512];
	char *p;

	snprintf(full, sizeof(full), "%s%s", root, path);
	for (p = strchr(full + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		mkdir(full, 0700);
		*p = '/';
	}
	return full;
}

static void put(const char *path, const void *bytes, size_t size)
{
	int fd = open(place(path), O_CREAT | O_TRUNC | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), size);
	close(fd);
}

static void put_text(const char *path, const char *text)
{
	put(path, text, strlen(text));
}

static const char hidden[] = "0000000000000000 T _stext\n0000000000000000 T vfs_read\n";

static const u32 kernel_notes[] = { 4, 4, NT_GNU_BUILD_ID, 0x554e47, 0x04030201 };

static unsigned char our_data(void)
{
	static const u16 one = 1;

	return *(const u8 *)&one ? ELFDATA2LSB : ELFDATA2MSB;
}

/* A note VMCOREINFO with that text, as the ELF file /proc/kcore is. */
static void put_kcore(const char *text)
{
	struct {
		ElfW(Ehdr) ehdr;
		ElfW(Phdr) phdr;
		u32 other[5];
		u32 note[3];
		char name[12];
		char desc[4096];
	} core;

	memset(&core, 0, sizeof(core));
	memcpy(core.ehdr.e_ident, ELFMAG, SELFMAG);
	core.ehdr.e_ident[EI_CLASS] = sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
	core.ehdr.e_ident[EI_DATA] = our_data();
	core.ehdr.e_phoff = offsetof(typeof(core), phdr);
	core.ehdr.e_phentsize = sizeof(core.phdr);
	core.ehdr.e_phnum = 1;
	core.phdr.p_type = PT_NOTE;
	core.phdr.p_offset = offsetof(typeof(core), other);
	memcpy(core.other, kernel_notes, sizeof(kernel_notes));
	core.note[0] = sizeof("VMCOREINFO");
	core.note[1] = strlen(text);
	memcpy(core.name, "VMCOREINFO", sizeof("VMCOREINFO"));
	memcpy(core.desc, text, strlen(text));
	core.phdr.p_filesz = offsetof(typeof(core), desc) - core.phdr.p_offset +
			     round_up(strlen(text), 4);
	put("/proc/kcore", &core, sizeof(core));
}

/* A vmlinux of two sections of code, one of data. */
static void put_vmlinux(const char *path, const u32 *notes, size_t notes_size)
{
	static const char strings[] = "\0_stext\0vfs_read\0memcpy\0__memcpy\0datum\0start_kernel\0"
				      "__lock_text_start\0_raw_spin_lock\0__lock_text_end\0file.c";
	static const char sections[] = "\0.text\0.data\0.init.text\0.notes\0.symtab\0.strtab\0.shstrtab";
	static const struct {
		const char	*name;
		int		type;
		u64		flags, addr;
	} parts[] = {
		{ ".text",	SHT_PROGBITS,	SHF_ALLOC | SHF_EXECINSTR, 0xffffffff81000000 },
		{ ".data",	SHT_PROGBITS,	SHF_ALLOC | SHF_WRITE,	   0xffffffff82000000 },
		{ ".init.text",	SHT_PROGBITS,	SHF_ALLOC | SHF_EXECINSTR, 0xffffffff83000000 },
		{ ".notes",	SHT_NOTE,	SHF_ALLOC,		   0xffffffff84000000 },
		{ ".symtab",	SHT_SYMTAB,	0, 0 },
		{ ".strtab",	SHT_STRTAB,	0, 0 },
		{ ".shstrtab",	SHT_STRTAB,	0, 0 },
	};
	static const struct {
		const char	*name;
		u64		value;
		int		bind, type, section;
	} symbols[] = {
		{ "file.c",	   0,		       STB_LOCAL,  STT_FILE,   SHN_ABS },
		{ "_stext",	   0xffffffff81000000, STB_GLOBAL, STT_NOTYPE, 1 },
		{ "vfs_read",	   0xffffffff81000010, STB_GLOBAL, STT_FUNC,   1 },
		{ "memcpy",	   0xffffffff81000040, STB_WEAK,   STT_FUNC,   1 },
		{ "__memcpy",	   0xffffffff81000040, STB_LOCAL,  STT_FUNC,   1 },
		{ "__lock_text_start", 0xffffffff81000080, STB_GLOBAL, STT_NOTYPE, 1 },
		{ "_raw_spin_lock", 0xffffffff81000080, STB_GLOBAL, STT_FUNC,  1 },
		{ "__lock_text_end", 0xffffffff810000c0, STB_GLOBAL, STT_NOTYPE, 1 },
		{ "datum",	   0xffffffff82000000, STB_GLOBAL, STT_OBJECT, 2 },
		{ "start_kernel",  0xffffffff83000000, STB_GLOBAL, STT_FUNC,   3 },
	};
	static char code[0x100];
	GElf_Sym syms[ARRAY_SIZE(symbols) + 1];
	GElf_Ehdr ehdr = { 0 };
	GElf_Shdr shdr;
	Elf_Data *data;
	Elf_Scn *scn;
	size_t i;
	Elf *elf;
	int fd;

	elf_version(EV_CURRENT);
	fd = open(place(path), O_CREAT | O_TRUNC | O_RDWR, 0600);
	elf = elf_begin(fd, ELF_C_WRITE, NULL);
	ck_assert_ptr_nonnull(gelf_newehdr(elf, ELFCLASS64));
	gelf_getehdr(elf, &ehdr);
	ehdr.e_ident[EI_DATA] = our_data();
	ehdr.e_type = ET_EXEC;
	ehdr.e_shstrndx = ARRAY_SIZE(parts);
	gelf_update_ehdr(elf, &ehdr);
	memset(syms, 0, sizeof(syms));
	for (i = 0; i < ARRAY_SIZE(symbols); i++) {
		syms[i + 1].st_name = (char *)memmem(strings, sizeof(strings), symbols[i].name,
						     strlen(symbols[i].name) + 1) - strings;
		syms[i + 1].st_value = symbols[i].value;
		syms[i + 1].st_info = GELF_ST_INFO(symbols[i].bind, symbols[i].type);
		syms[i + 1].st_shndx = symbols[i].section;
	}
	for (i = 0; i < ARRAY_SIZE(parts); i++) {
		scn = elf_newscn(elf);
		data = elf_newdata(scn);
		data->d_version = EV_CURRENT;
		data->d_align = 4;
		data->d_type = ELF_T_BYTE;
		data->d_buf = code;
		data->d_size = sizeof(code);
		gelf_getshdr(scn, &shdr);
		switch (parts[i].type) {
		case SHT_NOTE:
			data->d_buf = (void *)notes;
			data->d_size = notes_size;
			break;
		case SHT_SYMTAB:
			data->d_buf = syms;
			data->d_size = sizeof(syms);
			data->d_type = ELF_T_SYM;
			shdr.sh_link = i + 2;
			shdr.sh_entsize = sizeof(Elf64_Sym);
			break;
		case SHT_STRTAB:
			data->d_buf = (void *)(i + 1 == ARRAY_SIZE(parts) ? sections : strings);
			data->d_size = i + 1 == ARRAY_SIZE(parts) ? sizeof(sections) :
								    sizeof(strings);
			break;
		default:
			break;
		}
		shdr.sh_name = (char *)memmem(sections, sizeof(sections), parts[i].name,
					      strlen(parts[i].name) + 1) - sections;
		shdr.sh_type = parts[i].type;
		shdr.sh_flags = parts[i].flags;
		shdr.sh_addr = parts[i].addr;
		gelf_update_shdr(scn, &shdr);
	}
	ck_assert_int_gt(elf_update(elf, ELF_C_WRITE), 0);
	elf_end(elf);
	close(fd);
}

#define BY_ID	"/usr/lib/debug/.build-id/01/020304.debug"
#define MOVED	"OSRELEASE=6.1\nXSYMBOL(_stext)=1\nSYMBOL(_stext)=ffffffff9a000000\nEND=1\n"

static void assert_vmlinux_names(void)
{
	ck_assert_uint_eq(ksyms__nr(k), 4);
	assert_name(0xffffffff9a000000, NULL);		/* _stext only */
	assert_name(0xffffffff9a000010, "vfs_read+0");
	assert_name(0xffffffff9a000044, "__memcpy+4");
	assert_name(0xffffffff9a0000bf, "_raw_spin_lock+63");
	assert_name(0xffffffff9a0000c0, NULL);
	assert_name(0xffffffff9c0000ff, "start_kernel+255");
	assert_name(0xffffffff9c000100, NULL);		/* the section's end */
	assert_name(0xffffffff9b000000, NULL);
	assert_name(0xffffffff81000010, NULL);		/* where the file says it is */
	ck_assert(ksyms__is_lock_function(k, 0xffffffff9a000080));
	ck_assert(!ksyms__is_lock_function(k, 0xffffffff9a000010));
}

static const char *zeros_advice(int kptr_restrict)
{
	if (kptr_restrict > 1)
		return geteuid() ? "run it as root, with sysctl kernel.kptr_restrict=1" :
				   "set sysctl kernel.kptr_restrict=1";
	return geteuid() ? "run it as root" : "CAP_SYSLOG is needed to see them";
}

static void read_root(void)
{
	free_symbols();
	k = ksyms__read(root);
	ck_assert_ptr_nonnull(k);
}

/* @fmt has one %s: the advice. */
static __printf(2, 3) void assert_warning(int kptr_restrict, const char *fmt, ...)
{
	char want[1024];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(want, sizeof(want), fmt, ap);
	va_end(ap);
	snprintf(want + n, sizeof(want) - n, ": %s", zeros_advice(kptr_restrict));
	ck_assert_str_eq(ksyms__warning(k), want);
}

START_TEST(test_read)
{
	put_text("/proc/kallsyms", kernel);
	read_root();
	assert_kernel_names();
	ck_assert_ptr_null(ksyms__warning(k));
}
END_TEST

START_TEST(test_vmlinux)
{
	struct utsname uts;
	char path[256];

	put_text("/proc/kallsyms", hidden);
	put_text("/proc/sys/kernel/kptr_restrict", "2\n");
	put("/sys/kernel/notes", kernel_notes, sizeof(kernel_notes));
	put_kcore(MOVED);
	put_vmlinux(BY_ID, kernel_notes, sizeof(kernel_notes));
	read_root();
	assert_vmlinux_names();
	assert_warning(2, "functions of modules have no names, the others those of %s%s: /proc/kallsyms shows no addresses (kernel.kptr_restrict is 2)",
		       root, BY_ID);

	/* one by its name is looked at first, if it is that kernel's */
	uname(&uts);
	snprintf(path, sizeof(path), "/boot/vmlinux-%s", uts.release);
	put_vmlinux(path, kernel_notes, sizeof(kernel_notes));
	read_root();
	assert_vmlinux_names();
	ck_assert_ptr_nonnull(strstr(ksyms__warning(k), path));

	/* not moved at all */
	put_kcore("SYMBOL(_stext)=ffffffff81000000\n");
	read_root();
	assert_name(0xffffffff81000010, "vfs_read+0");
}
END_TEST

/* Nothing is named that is not known for sure. */
START_TEST(test_no_vmlinux)
{
	static const u32 other[] = { 4, 4, NT_GNU_BUILD_ID, 0x554e47, 0x04030202 };
	static const struct {
		const char *info, *why;
	} infos[] = {
		{ "", "No such file or directory" },
		{ "OSRELEASE=6.1\n", "No such file or directory" },
		{ "SYMBOL(_stext)=ffffffff81000000", "No such file or directory" },
		{ "SYMBOL(_stext)=\n", "No such file or directory" },
		{ "SYMBOL(_stext)=0\n", "Invalid argument" },
		{ "SYMBOL(_stext)=x\n", "Invalid argument" },
		{ "SYMBOL(_stext)=ffffffff81000000ffffffff81000000\n", "Invalid argument" },
	};
	const char zeros[] = "kernel functions have no names: /proc/kallsyms shows no addresses (kernel.kptr_restrict is 1), and ";
	size_t i;

	put_text("/proc/kallsyms", hidden);
	put_text("/proc/sys/kernel/kptr_restrict", "1\n");
	read_root();
	assert_warning(1, "%sno vmlinux can be known by its build ID (/sys/kernel/notes: No such file or directory)",
		       zeros);

	put("/sys/kernel/notes", kernel_notes, sizeof(kernel_notes));
	read_root();
	assert_warning(1, "%sno vmlinux with the build ID 01020304 is installed", zeros);

	put_kcore(MOVED);
	put_vmlinux(BY_ID, other, sizeof(other));
	read_root();
	assert_warning(1, "%sno vmlinux with the build ID 01020304 is installed", zeros);

	put_vmlinux(BY_ID, kernel_notes, sizeof(kernel_notes));
	for (i = 0; i < ARRAY_SIZE(infos); i++) {
		put_kcore(infos[i].info);
		read_root();
		ck_assert_uint_eq(ksyms__nr(k), 0);
		assert_warning(1, "%swhere %s%s was loaded (KASLR) is not known: /proc/kcore: %s",
			       zeros, root, BY_ID, infos[i].why);
	}
	/* no kernel is moved so */
	put_kcore("SYMBOL(_stext)=ffffffff81000010\n");
	read_root();
	ck_assert_uint_eq(ksyms__nr(k), 0);
	assert_warning(1, "%s%s%s does not fit the running kernel's _stext", zeros, root, BY_ID);

	put_text("/proc/kcore", "\177ELF");
	read_root();
	assert_warning(1, "%swhere %s%s was loaded (KASLR) is not known: /proc/kcore: Exec format error",
		       zeros, root, BY_ID);
	unlink(place("/proc/kcore"));
	read_root();
	assert_warning(1, "%swhere %s%s was loaded (KASLR) is not known: /proc/kcore: No such file or directory",
		       zeros, root, BY_ID);
}
END_TEST

START_TEST(test_no_kallsyms)
{
	read_root();
	ck_assert_str_eq(ksyms__warning(k),
			 "kernel functions have no names: /proc/kallsyms cannot be read (No such file or directory), and no vmlinux can be known by its build ID (/sys/kernel/notes: No such file or directory): a kernel with CONFIG_KALLSYMS is needed");
	put_text("/proc/kallsyms", "10 T f\n20 T vfs_re");
	read_root();
	ck_assert_ptr_nonnull(strstr(ksyms__warning(k),
				     "/proc/kallsyms is not as a kernel writes it: line 2: cut short: it has no end, and "));
	assert_name(0x10, NULL);
}
END_TEST

/* Any byte of the files changed, or a part of them: whatever comes out, it comes. */
START_TEST(test_hostile_files)
{
	char path[512], bytes[8192];
	size_t size, i;
	FILE *f;

	put_text("/proc/kallsyms", hidden);
	put("/sys/kernel/notes", kernel_notes, sizeof(kernel_notes));
	put_vmlinux(BY_ID, kernel_notes, sizeof(kernel_notes));
	put_kcore(MOVED);
	strcpy(path, place(_i ? BY_ID : "/proc/kcore"));
	f = fopen(path, "re");
	size = fread(bytes, 1, sizeof(bytes), f);
	fclose(f);
	for (i = 0; i < (_i ? size : 256); i += _i ? 7 : 1) {
		char old = bytes[i];

		bytes[i] = ~old;
		put(_i ? BY_ID : "/proc/kcore", bytes, size);
		read_root();
		bytes[i] = old;
		put(_i ? BY_ID : "/proc/kcore", bytes, i);
		read_root();
		ck_assert_ptr_nonnull(ksyms__warning(k));
	}
}
END_TEST

/* The kernel that runs here. */
START_TEST(test_this_kernel)
{
	const char *name;
	u64 address, offset;
	char line[1024], type, want[512];
	size_t nr = 0;
	FILE *f;

	k = ksyms__new();
	ck_assert_ptr_nonnull(k);
	if (ksyms__warning(k))
		return;
	ck_assert_uint_gt(ksyms__nr(k), 1000);
	f = fopen("/proc/kallsyms", "re");
	ck_assert_ptr_nonnull(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long long value;

		/* each name without an alias is found by its address */
		if (sscanf(line, "%llx %c %511s", &value, &type, want) != 3 || !strchr("Tt", type) ||
		    strchr(line, '['))
			continue;
		address = value;
		offset = 1;
		name = ksyms__name(k, address, &offset);
		if (!name)
			continue;
		ck_assert_uint_eq(offset, 0);
		nr += !strcmp(name, want);
		if (!strcmp(want, "down_write") || !strcmp(want, "_raw_spin_lock"))
			ck_assert(ksyms__is_lock_function(k, address));
		if (!strcmp(want, "vfs_open"))
			ck_assert(!ksyms__is_lock_function(k, address));
	}
	fclose(f);
	ck_assert_uint_gt(nr, ksyms__nr(k) * 9 / 10);
}
END_TEST

Suite *ksyms_suite(void)
{
	Suite *suite = suite_create("ksyms");
	TCase *tcase = tcase_create("text");

	tcase_add_checked_fixture(tcase, NULL, free_symbols);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_kernel);
	tcase_add_loop_test(tcase, test_any_order, 0, 20);
	tcase_add_loop_test(tcase, test_aliases, 0, ARRAY_SIZE(aliases));
	tcase_add_test(tcase, test_lock_alias);
	tcase_add_test(tcase, test_lock_names);
	tcase_add_test(tcase, test_lock_sections);
	tcase_add_test(tcase, test_edges);
	tcase_add_test(tcase, test_zeros);
	tcase_add_loop_test(tcase, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, test_truncated);
	tcase_add_test(tcase, test_huge);
	tcase_add_test(tcase, test_this_kernel);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("files");
	tcase_add_checked_fixture(tcase, make_root, remove_root);
	tcase_set_timeout(tcase, 120);
	tcase_add_test(tcase, test_read);
	tcase_add_test(tcase, test_vmlinux);
	tcase_add_test(tcase, test_no_vmlinux);
	tcase_add_test(tcase, test_no_kallsyms);
	tcase_add_loop_test(tcase, test_hostile_files, 0, 2);
	suite_add_tcase(suite, tcase);
	return suite;
}
