// SPDX-License-Identifier: GPL-2.0
/*
 * json-stream.c: JSON that is written as it comes
 *
 * Strings and reals go through json-c. Integers do not: a results file has millions of them.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "json-stream.h"

#define REPLACEMENT	"\xef\xbf\xbd"	/* U+FFFD */

size_t utf8_len(const char *text, size_t size)
{
	static const u32 least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *s = (const unsigned char *)text;
	size_t i, len;
	u32 c;

	if (!size)
		return 0;
	if (s[0] < 0x80)
		return 1;
	len = s[0] >> 5 == 0x6 ? 2 : s[0] >> 4 == 0xe ? 3 : s[0] >> 3 == 0x1e ? 4 : 0;
	if (!len || len > size)
		return 0;
	c = s[0] & (0x7f >> len);
	for (i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return len;
}

struct json_object *json_text(const char *text)
{
	size_t room = strlen(REPLACEMENT), left = text ? strlen(text) : 0, used = 0;
	struct json_object *value;
	char *clean;

	if (!text)
		return NULL;
	clean = malloc(left * room + 1);
	if (!clean)
		return NULL;
	while (left) {
		size_t len = utf8_len(text, left);

		memcpy(clean + used, len ? text : REPLACEMENT, len ?: room);
		used += len ?: room;
		text += len ?: 1;
		left -= len ?: 1;
	}
	value = json_object_new_string_len(clean, used);
	free(clean);
	return value;
}

struct json_object *json_real(double value)
{
	char text[32], *p;
	int digits;

	if (!isfinite(value))
		return NULL;
	for (digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, value);
		if (strtod(text, NULL) == value)
			break;
	}
	/* The locale's decimal point, the only thing here that is neither digit, sign nor e. */
	p = text + strspn(text, "0123456789+-e");
	if (*p) {
		size_t len = strcspn(p, "0123456789+-e");

		*p = '.';
		memmove(p + 1, p + len, strlen(p + len) + 1);
	}
	return json_object_new_double_s(value, text);
}

static void begin_value(struct json_stream *s, const char *name)
{
	if (s->comma)
		outfile__put(s->out, ",", 1);
	if (s->line)
		outfile__put(s->out, "\n", 1);
	s->comma = true;
	s->line = false;
	if (name) {
		outfile__put(s->out, "\"", 1);
		outfile__puts(s->out, name);
		outfile__put(s->out, "\":", 2);
	}
}

void json_stream__open(struct json_stream *s, const char *name, char bracket)
{
	begin_value(s, name);
	outfile__put(s->out, &bracket, 1);
	s->comma = false;
}

void json_stream__close(struct json_stream *s, char bracket)
{
	if (s->line)
		outfile__put(s->out, "\n", 1);
	outfile__put(s->out, &bracket, 1);
	s->comma = true;
	s->line = false;
}

void json_stream__line(struct json_stream *s)
{
	s->line = true;
}

void json_stream__value(struct json_stream *s, const char *name, struct json_object *value)
{
	size_t len;
	const char *text = json_object_to_json_string_length(value,
				JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE, &len);

	begin_value(s, name);
	outfile__put(s->out, text, len);
	json_object_put(value);
}

void json_stream__text(struct json_stream *s, const char *name, const char *text)
{
	json_stream__value(s, name, json_text(text));
}

void json_stream__real(struct json_stream *s, const char *name, double value)
{
	json_stream__value(s, name, json_real(value));
}

void json_stream__u64(struct json_stream *s, const char *name, u64 value)
{
	char digits[20], *p = digits + sizeof(digits);

	begin_value(s, name);
	do {
		*--p = '0' + value % 10;
		value /= 10;
	} while (value);
	outfile__put(s->out, p, digits + sizeof(digits) - p);
}

void json_stream__s64(struct json_stream *s, const char *name, s64 value)
{
	if (value >= 0) {
		json_stream__u64(s, name, value);
		return;
	}
	begin_value(s, name);
	outfile__put(s->out, "-", 1);
	s->comma = false;
	json_stream__u64(s, NULL, -(u64)value);
}

void json_stream__bool(struct json_stream *s, const char *name, bool value)
{
	begin_value(s, name);
	outfile__puts(s->out, value ? "true" : "false");
}
