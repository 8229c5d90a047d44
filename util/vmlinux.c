// SPDX-License-Identifier: GPL-2.0
/*
 * vmlinux.c: find the file that the running kernel was made of, and where it runs
 *
 * A kernel with KASLR runs at another address than its file says. Without /proc/kallsyms there is
 * one place that tells where: /proc/kcore, the memory of the kernel as an ELF file, has a note
 * VMCOREINFO, lines for those who look into dumps, one of which is the address of _stext. Its
 * format is described in the kernel's Documentation/admin-guide/kdump/vmcoreinfo.rst. Where that
 * cannot be read, nobody knows, and nothing is named.
 */
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include "notes.h"
#include "vmlinux.h"

#define MAX_PHDRS	4096
#define NOTES_MAX	1048576		/* bytes; some ten thousand are usual */

/* Our own word size and byte order, as e_ident has them. */
#define OUR_CLASS	(sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32)
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA	ELFDATA2LSB
#else
#define OUR_DATA	ELFDATA2MSB
#endif

/* The headers of an ELF file of our word size. */
struct file_header {
	ElfW(Ehdr)	h;
};

struct segment {
	ElfW(Phdr)	h;
};

static bool is_our_kind(const unsigned char *ident)
{
	return !memcmp(ident, ELFMAG, SELFMAG) && ident[EI_CLASS] == OUR_CLASS &&
	       ident[EI_DATA] == OUR_DATA;
}

/* ---- where the kernel runs ---- */

/* All of @size bytes at @at, or less at the end of the file. */
static ssize_t read_at(int fd, void *buf, size_t size, off_t at)
{
	size_t done = 0;
	ssize_t n;

	while (done < size) {
		n = pread(fd, (char *)buf + done, size - done, at + done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		done += n;
	}
	return done;
}

/* "SYMBOL(_stext)=ffffffff81000000" is one of the lines of @text. */
static int find_stext(const char *text, size_t size, u64 *stext)
{
	static const char key[] = "SYMBOL(_stext)=";
	const size_t len = sizeof(key) - 1;
	const char *line = text, *text_end = text + size, *end;
	char value[20], *rest;

	for (; line < text_end; line = end + 1) {
		end = memchr(line, '\n', text_end - line);
		if (!end)
			return -ENOENT;
		if ((size_t)(end - line) <= len || memcmp(line, key, len))
			continue;
		if ((size_t)(end - line) - len >= sizeof(value))
			return -EINVAL;
		memcpy(value, line + len, end - line - len);
		value[end - line - len] = '\0';
		*stext = strtoull(value, &rest, 16);
		return *rest || !*stext ? -EINVAL : 0;
	}
	return -ENOENT;
}

/* Look into one segment of notes. */
static int read_notes(int fd, off_t at, size_t size, u64 *stext)
{
	size_t len;
	const void *desc;
	ssize_t n;
	char *notes;
	int err;

	if (!size || size > NOTES_MAX)
		return -ENOENT;
	notes = malloc(size);
	if (!notes)
		return -ENOMEM;
	n = read_at(fd, notes, size, at);
	err = n < 0 ? n : notes__find(notes, n, "VMCOREINFO", 0, &desc, &len);
	if (!err)
		err = find_stext(desc, len, stext);
	free(notes);
	return err;
}

/* The address at which _stext runs. libelf would want to know how large the file is. */
static int running_stext(const char *root, u64 *stext)
{
	struct segment *segments = NULL;
	struct file_header file;
	char path[PATH_MAX];
	int fd, i, err;
	size_t size;
	ssize_t n;

	if (snprintf(path, sizeof(path), "%s/proc/kcore", root) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = read_at(fd, &file, sizeof(file), 0);
	err = n < 0 ? n : -ENOEXEC;
	if (n != sizeof(file) || !is_our_kind(file.h.e_ident) ||
	    file.h.e_phentsize != sizeof(*segments) || !file.h.e_phnum ||
	    file.h.e_phnum > MAX_PHDRS)
		goto out;
	size = file.h.e_phnum * sizeof(*segments);
	segments = malloc(size);
	err = -ENOMEM;
	if (!segments)
		goto out;
	n = read_at(fd, segments, size, file.h.e_phoff);
	err = n < 0 ? n : -ENOEXEC;
	if (n != (ssize_t)size)
		goto out;
	for (i = 0, err = -ENOENT; err && i < file.h.e_phnum; i++) {
		if (segments[i].h.p_type == PT_NOTE)
			err = read_notes(fd, segments[i].h.p_offset, segments[i].h.p_filesz,
					 stext);
	}
out:
	free(segments);
	close(fd);
	return err;
}

/* ---- the file ---- */

static bool has_build_id(Elf *elf, const char *id)
{
	Elf_Scn *scn = NULL;
	char hex[BUILD_ID_HEX];
	Elf_Data *data;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(scn, NULL);
		if (data && data->d_buf &&
		    !notes__build_id(data->d_buf, data->d_size, hex, sizeof(hex)) &&
		    !strcmp(hex, id))
			return true;
	}
	return false;
}

/* The symbol table, and in *@strings the section of its names. */
static Elf_Data *symbol_table(Elf *elf, size_t *nr, size_t *strings)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr shdr;

	while ((scn = elf_nextscn(elf, scn))) {
		if (!gelf_getshdr(scn, &shdr) || shdr.sh_type != SHT_SYMTAB || !shdr.sh_entsize)
			continue;
		*nr = shdr.sh_size / shdr.sh_entsize;
		*strings = shdr.sh_link;
		return elf_getdata(scn, NULL);
	}
	return NULL;
}

static bool is_code(Elf *elf, size_t index)
{
	Elf_Scn *scn = index < SHN_LORESERVE ? elf_getscn(elf, index) : NULL;
	GElf_Shdr shdr;

	return scn && gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR;
}

static char type_letter(unsigned char info)
{
	if (GELF_ST_TYPE(info) == STT_OBJECT)
		return 'D';
	switch (GELF_ST_BIND(info)) {
	case STB_LOCAL:
		return 't';
	case STB_WEAK:
		return 'W';
	default:
		return 'T';
	}
}

/* A name that would be no line is left out. */
static bool is_plain(const char *name)
{
	const char *p;

	for (p = name; *p; p++) {
		if (*p <= ' ' || *p > '~')
			return false;
	}
	return p > name && p - name <= 512;
}

static int find_symbol(Elf *elf, const char *wanted, u64 *value)
{
	size_t i, nr, strings;
	Elf_Data *data = symbol_table(elf, &nr, &strings);
	const char *name;
	GElf_Sym sym;

	for (i = 0; data && i < nr && gelf_getsym(data, i, &sym); i++) {
		name = elf_strptr(elf, strings, sym.st_name);
		if (name && !strcmp(name, wanted)) {
			*value = sym.st_value;
			return 0;
		}
	}
	return -ENOENT;
}

static void write_symbol(FILE *out, unsigned long long address, char type, const char *name)
{
	fprintf(out, "%llx %c %s\n", address, type, name);
}

/* All code symbols moved by @offset, and the ends of the sections that they are in. */
static void write_symbols(Elf *elf, u64 offset, FILE *out)
{
	size_t i, nr, strings;
	Elf_Data *data = symbol_table(elf, &nr, &strings);
	Elf_Scn *scn = NULL;
	const char *name;
	GElf_Shdr shdr;
	GElf_Sym sym;

	for (i = 0; data && i < nr && gelf_getsym(data, i, &sym); i++) {
		name = elf_strptr(elf, strings, sym.st_name);
		if (!name || !is_plain(name) || !sym.st_value ||
		    GELF_ST_TYPE(sym.st_info) > STT_FUNC || !is_code(elf, sym.st_shndx))
			continue;
		write_symbol(out, sym.st_value + offset, type_letter(sym.st_info), name);
	}
	while ((scn = elf_nextscn(elf, scn))) {
		if (gelf_getshdr(scn, &shdr) && shdr.sh_flags & SHF_EXECINSTR && shdr.sh_addr)
			write_symbol(out, shdr.sh_addr + shdr.sh_size + offset, 'D',
				     "section_end");
	}
}

static Elf *open_elf(int fd)
{
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	const char *ident = elf ? elf_getident(elf, NULL) : NULL;

	if (ident && elf_kind(elf) == ELF_K_ELF && is_our_kind((const unsigned char *)ident))
		return elf;
	elf_end(elf);
	return NULL;
}

/* Open the file with that build ID and a symbol table, the first there is. */
static Elf *find_file(const char *root, const char *id, char *path, size_t path_size, int *fd)
{
	static const char * const places[] = {
		"/usr/lib/debug/boot/vmlinux-%s",
		"/usr/lib/debug/lib/modules/%s/vmlinux",
		"/usr/lib/debug/usr/lib/modules/%s/vmlinux",
		"/lib/modules/%s/build/vmlinux",
		"/lib/modules/%s/vmlinux",
		"/boot/vmlinux-%s",
	};
	size_t i, nr, strings;
	struct utsname uts;
	char place[256];
	Elf *elf;

	uname(&uts);
	for (i = 0; i <= ARRAY_SIZE(places); i++) {
		if (i < ARRAY_SIZE(places))
			snprintf(place, sizeof(place), places[i], uts.release);
		else
			snprintf(place, sizeof(place), "/usr/lib/debug/.build-id/%.2s/%s.debug", id,
				 id + 2);
		if (snprintf(path, path_size, "%s%s", root, place) >= (int)path_size)
			continue;
		*fd = open(path, O_RDONLY | O_CLOEXEC);
		if (*fd < 0)
			continue;
		elf = open_elf(*fd);
		if (elf && has_build_id(elf, id) && symbol_table(elf, &nr, &strings))
			return elf;
		elf_end(elf);
		close(*fd);
	}
	return NULL;
}

static int write_text(Elf *elf, const char *root, char **text, size_t *size, const char *path,
		      char *why, size_t why_size)
{
	u64 runs_at = 0, is_at = 0;
	FILE *out;
	int err = running_stext(root, &runs_at);

	if (err) {
		snprintf(why, why_size,
			 "where %s was loaded (KASLR) is not known: /proc/kcore: %s", path,
			 strerror(-err));
		return err;
	}
	/* the kernel is moved by whole pages; anything else is not this kernel */
	err = find_symbol(elf, "_stext", &is_at);
	if (err || (runs_at - is_at) & 4095) {
		snprintf(why, why_size, "%s does not fit the running kernel's _stext", path);
		return -EINVAL;
	}
	out = open_memstream(text, size);
	if (!out)
		return -ENOMEM;
	write_symbols(elf, runs_at - is_at, out);
	err = ferror(out) ? -ENOMEM : 0;
	if (fclose(out))
		err = -ENOMEM;
	if (err) {
		free(*text);
		snprintf(why, why_size, "%s: %s", path, strerror(-err));
	}
	return err;
}

int vmlinux__kallsyms(const char *root, char *path, size_t path_size, char **text, size_t *size,
		      char *why, size_t why_size)
{
	char id[BUILD_ID_HEX];
	Elf *elf;
	int fd, err;

	elf_version(EV_CURRENT);
	err = notes__kernel_build_id(root, id, sizeof(id));
	if (err) {
		snprintf(why, why_size,
			 "no vmlinux can be known by its build ID (/sys/kernel/notes: %s)",
			 strerror(-err));
		return err;
	}
	elf = find_file(root, id, path, path_size, &fd);
	if (!elf) {
		snprintf(why, why_size, "no vmlinux with the build ID %s is installed", id);
		return -ENOENT;
	}
	err = write_text(elf, root, text, size, path, why, why_size);
	elf_end(elf);
	close(fd);
	return err;
}
