/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_JSON_PARSE_H
#define KBENCH_JSON_PARSE_H

#include <stddef.h>
#include <json-c/json.h>

/**
 * json_parse - a JSON text to a json-c object
 * @text:	one object, with nothing but white space around it; need not end in a zero
 * @size:	its size in bytes
 * @skip:	the name of members whose value is passed over if it is an array: null stands there
 *		instead. It may hold digits, commas, white space and up to three levels of brackets.
 *		NULL: there are none
 * @why:	where and what is wrong: "12:7: ..." is line 12, character 7
 * @why_size:	room there
 *
 * Stricter than json-c alone: the text is RFC 8259's JSON in UTF-8, strings and names have no
 * U+0000, no object has two members of one name (as spelt), whole numbers have their place in 64
 * bits (signed or not), and brackets are nested at most 32 deep. Other numbers may be infinite.
 *
 * Return: the object, the caller's, or NULL with errno set (EINVAL, ENOMEM) and @why written.
 */
struct json_object *json_parse(const char *text, size_t size, const char *skip, char *why,
			       size_t why_size);

#endif
