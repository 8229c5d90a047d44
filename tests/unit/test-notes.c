// SPDX-License-Identifier: GPL-2.0
/*
 * test-notes.c: ELF notes, as they are and as they should not be
 */
#include <check.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/types.h>

#include "util/notes.h"

Suite *notes_suite(void);

/* Notes are put together here: a header, a name and a descriptor, padded to 4 bytes. */
static u32 notes[64];
static size_t notes_len;

static void add_note(u32 type, const char *name, u32 name_size, const char *desc, u32 desc_size)
{
	Elf64_Nhdr note = { .n_namesz = name_size, .n_descsz = desc_size, .n_type = type };
	char *p = (char *)notes + notes_len;

	memcpy(p, &note, sizeof(note));
	memcpy(p + sizeof(note), name, name_size);
	memcpy(p + sizeof(note) + round_up(name_size, 4), desc, desc_size);
	notes_len += sizeof(note) + round_up(name_size, 4) + round_up(desc_size, 4);
}

/* Of @size bytes only, so that a sanitizer sees a byte too many being read. */
static int find_id(size_t size, char *hex, size_t hex_size)
{
	void *copy = malloc(size ?: 1);
	int err;

	memcpy(copy, notes, size);
	err = notes__build_id(copy, size, hex, hex_size);
	free(copy);
	return err;
}

static void make_notes(void)
{
	memset(notes, 0, sizeof(notes));
	notes_len = 0;
	add_note(0x101, "Linux", 6, "\1\2", 2);
	add_note(NT_GNU_BUILD_ID, "Xen", 4, "\1\2\3\4", 4);
	add_note(NT_GNU_BUILD_ID, "GNU", 4, "\x0f\x1e\xff\0\x80", 5);
	add_note(6, "Linux", 6, "", 0);
}

START_TEST(build_id)
{
	char hex[32];

	make_notes();
	ck_assert_int_eq(find_id(notes_len, hex, sizeof(hex)), 0);
	ck_assert_str_eq(hex, "0f1eff0080");
	ck_assert_int_eq(find_id(notes_len, hex, 11), 0);
	ck_assert_int_eq(find_id(notes_len, hex, 10), -EINVAL);
	ck_assert_int_eq(find_id(0, hex, sizeof(hex)), -ENOENT);
	notes_len = 0;
	add_note(NT_GNU_BUILD_ID, "GNU", 4, "", 0);
	ck_assert_int_eq(find_id(notes_len, hex, sizeof(hex)), -EINVAL);
	notes_len = 0;
	add_note(NT_GNU_BUILD_ID, "GNU", 3, "\1", 1);	/* the name's end is missing */
	ck_assert_int_eq(find_id(notes_len, hex, sizeof(hex)), -ENOENT);
}
END_TEST

START_TEST(build_id_of_hostile_notes)
{
	static const u32 sizes[] = {
		0, 1, 3, 5, 0x7fffffff, 0x80000000, 0xfffffff0, 0xfffffffc, 0xfffffffd, 0xffffffff,
	};
	char hex[32];
	size_t i, k, len;

	/* ends anywhere */
	make_notes();
	for (len = 0; len <= notes_len; len++) {
		strcpy(hex, "none");
		if (!find_id(len, hex, sizeof(hex)))
			ck_assert_str_eq(hex, "0f1eff0080");
	}
	/* any word is a size that is not so */
	for (i = 0; i < notes_len / 4; i++) {
		for (k = 0; k < ARRAY_SIZE(sizes); k++) {
			make_notes();
			notes[i] = sizes[k];
			find_id(notes_len, hex, sizeof(hex));
		}
	}
	memset(notes, 0xff, sizeof(notes));
	ck_assert_int_eq(find_id(sizeof(notes), hex, sizeof(hex)), -EINVAL);
	memset(notes, 0, sizeof(notes));
	ck_assert_int_lt(find_id(sizeof(notes), hex, sizeof(hex)), 0);
}
END_TEST

START_TEST(find)
{
	const void *desc = NULL;
	size_t len = 0;

	make_notes();
	ck_assert_int_eq(notes__find(notes, notes_len, "Linux", 0x101, &desc, &len), 0);
	ck_assert_uint_eq(len, 2);
	ck_assert_mem_eq(desc, "\1\2", 2);
	ck_assert_int_eq(notes__find(notes, notes_len, "Linux", 6, &desc, &len), 0);
	ck_assert_uint_eq(len, 0);
	ck_assert_int_eq(notes__find(notes, notes_len, "Linux", 7, &desc, &len), -ENOENT);
	ck_assert_int_eq(notes__find(notes, notes_len, "Linu", 6, &desc, &len), -ENOENT);
	ck_assert_int_eq(notes__find(notes, notes_len, "", 6, &desc, &len), -ENOENT);
	/* it is found before the end that is missing */
	ck_assert_int_eq(notes__find(notes, notes_len - 4, "Linux", 0x101, &desc, &len), 0);
}
END_TEST

START_TEST(this_kernel)
{
	char hex[BUILD_ID_HEX];

	if (!access("/sys/kernel/notes", R_OK)) {
		ck_assert_int_eq(notes__kernel_build_id("", hex, sizeof(hex)), 0);
		ck_assert_uint_ge(strlen(hex), 16);
		ck_assert_uint_eq(strspn(hex, "0123456789abcdef"), strlen(hex));
	}
	ck_assert_int_eq(notes__kernel_build_id("/nowhere", hex, sizeof(hex)), -ENOENT);
}
END_TEST

Suite *notes_suite(void)
{
	Suite *s = suite_create("notes");
	TCase *tc = tcase_create("notes");

	tcase_add_test(tc, build_id);
	tcase_add_test(tc, build_id_of_hostile_notes);
	tcase_add_test(tc, find);
	tcase_add_test(tc, this_kernel);
	suite_add_tcase(s, tc);
	return s;
}
