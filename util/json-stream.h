/* SPDX-License-Identifier: GPL-2.0 */
#ifndef KBENCH_JSON_STREAM_H
#define KBENCH_JSON_STREAM_H

#include <stdbool.h>
#include <json-c/json.h>
#include <linux/types.h>
#include "outfile.h"

/*
 * JSON that is written as it comes, so that a file of any size needs the memory of one value.
 * Commas are put where they belong; the caller opens, closes and names. Errors are the outfile's.
 */
struct json_stream {
	struct outfile	*out;
	bool		comma;	/* the next value follows another */
	bool		line;	/* the next value begins a line */
};

/* @name: of a member, a plain word, or NULL in an array; @bracket: '{' or '[', then '}' or ']'. */
void json_stream__open(struct json_stream *s, const char *name, char bracket);
void json_stream__close(struct json_stream *s, char bracket);

/* Begin a line with what comes next, a closing bracket too. */
void json_stream__line(struct json_stream *s);

/* json_stream__value() takes the reference; NULL is null. NaN and infinities are null. */
void json_stream__value(struct json_stream *s, const char *name, struct json_object *value);
void json_stream__text(struct json_stream *s, const char *name, const char *text);
void json_stream__real(struct json_stream *s, const char *name, double value);
void json_stream__u64(struct json_stream *s, const char *name, u64 value);
void json_stream__s64(struct json_stream *s, const char *name, s64 value);
void json_stream__bool(struct json_stream *s, const char *name, bool value);

/* Bytes of the well-formed UTF-8 character that @text, of @size bytes, begins with; 0: none. */
size_t utf8_len(const char *text, size_t size);

/**
 * json_text - a json-c string of any bytes
 * @text: the bytes, or NULL
 *
 * What is not UTF-8 becomes U+FFFD, a byte at a time, since JSON can hold nothing else.
 *
 * Return: the string, the caller's; NULL, which is JSON's null, for NULL or if out of memory.
 */
struct json_object *json_text(const char *text);

/**
 * json_real - a json-c number that reads back as the same double
 * @value: the number
 *
 * Return: the number, the caller's; NULL, which is JSON's null, if there is no finite one.
 */
struct json_object *json_real(double value);

#endif
