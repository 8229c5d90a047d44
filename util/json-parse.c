// SPDX-License-Identifier: GPL-2.0
/*
 * json-parse.c: JSON from files that are not trusted
 *
 * json-c builds the objects and knows the grammar. A lexer of our own goes ahead of it, for three
 * reasons: it passes over the samples of a results file, which would take json-c some 60 bytes
 * each; it refuses what some versions of json-c let pass (numbers that are cut to 64 bits, NaN,
 * leading zeros, two members of one name); and it knows lines.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>
#include "json-parse.h"
#include "json-stream.h"

#define MAX_DEPTH	32
#define MAX_SKIP_DEPTH	3

struct key {
	const char	*name;		/* in the text, as spelt there */
	size_t		len;
};

struct lexer {
	const char		*text, *end;
	const char		*pos;
	const char		*fed;		/* all before it is json-c's */
	const char		*skip;
	size_t			skip_len;
	struct json_tokener	*tokener;
	struct json_object	*root;
	int			depth;
	struct {
		char	close;
		size_t	first_key;
	} open[MAX_DEPTH];
	struct key		*keys;		/* of all objects that are open */
	size_t			nr_keys, max_keys;
	char			*why;
	size_t			why_size;
};

static void say(struct lexer *l, const char *at, const char *fmt, va_list ap)
{
	unsigned long line = 1, column = 1;
	const char *p;
	int len;

	for (p = l->text; p < at; p++) {
		if (*p == '\n') {
			line++;
			column = 1;
		} else if ((*p & 0xc0) != 0x80) {	/* a character, not a byte */
			column++;
		}
	}
	len = snprintf(l->why, l->why_size, "%lu:%lu: ", line, column);
	if ((size_t)len < l->why_size)
		vsnprintf(l->why + len, l->why_size - len, fmt, ap);
}

/* Let json-c have a piece of text; *@bad is where it stopped. */
static int feed_text(struct lexer *l, const char *text, const char *end, const char **bad)
{
	enum json_tokener_error err = json_tokener_continue;

	while (text < end && err == json_tokener_continue) {
		int len = min(end - text, (ptrdiff_t)INT_MAX);

		l->root = json_tokener_parse_ex(l->tokener, text, len);
		err = json_tokener_get_error(l->tokener);
		text += json_tokener_get_parse_end(l->tokener);
	}
	*bad = text;
	return err == json_tokener_continue || err == json_tokener_success ? 0 : -EINVAL;
}

static __printf(3, 4) int fail_here(struct lexer *l, const char *at, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	say(l, at, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

/* Let json-c have all that is before @end. */
static int feed(struct lexer *l, const char *end)
{
	const char *bad;
	int err = feed_text(l, l->fed, end, &bad);

	l->fed = end;
	if (!err)
		return 0;
	return fail_here(l, bad, "%s",
			 json_tokener_error_desc(json_tokener_get_error(l->tokener)));
}

/* The lexer finds an error at @at. What json-c finds before that place is the one to be told. */
static __printf(3, 4) int fail(struct lexer *l, const char *at, const char *fmt, ...)
{
	va_list ap;

	if (l->fed < l->pos && feed(l, l->pos))
		return -EINVAL;
	va_start(ap, fmt);
	say(l, at, fmt, ap);
	va_end(ap);
	return -EINVAL;
}

static int fail_memory(struct lexer *l)
{
	snprintf(l->why, l->why_size, "1:1: out of memory");
	return -ENOMEM;
}

static int fail_early(struct lexer *l)
{
	return fail(l, l->end, "ends early: some of it is missing");
}

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static const char *after_space(const struct lexer *l, const char *p)
{
	while (p < l->end && is_space(*p))
		p++;
	return p;
}

static const char *after_digits(const struct lexer *l, const char *p)
{
	while (p < l->end && is_digit(*p))
		p++;
	return p;
}

/* Is the text at @p one that may follow a number or a word? The end is found elsewhere. */
static bool is_delimited(const struct lexer *l, const char *p)
{
	return p == l->end || is_space(*p) || *p == ',' || *p == ']' || *p == '}';
}

static bool fits_64_bits(const char *digits, size_t len, bool negative)
{
	const char *most = negative ? "9223372036854775808" : "18446744073709551615";
	size_t room = strlen(most);

	return len < room || (len == room && memcmp(digits, most, len) <= 0);
}

static int lex_number(struct lexer *l)
{
	const char *begin = l->pos, *digits = begin + (*begin == '-'), *p;
	bool whole = true;

	p = after_digits(l, digits);
	if (p == l->end)
		return fail_early(l);
	if (p == digits || (*digits == '0' && p > digits + 1))
		return fail(l, begin, "is not a number as JSON has them");
	if (*p == '.') {
		whole = false;
		begin = p + 1;
		p = after_digits(l, begin);
		if (p < l->end && p == begin)
			return fail(l, p, "digits are expected behind the decimal point");
	}
	if (p < l->end && (*p == 'e' || *p == 'E')) {
		whole = false;
		begin = p + 1;
		begin += begin < l->end && (*begin == '+' || *begin == '-');
		p = after_digits(l, begin);
		if (p < l->end && p == begin)
			return fail(l, p, "digits are expected in the exponent");
	}
	if (!is_delimited(l, p))
		return fail(l, l->pos, "is not a number as JSON has them");
	if (whole && !fits_64_bits(digits, p - digits, *l->pos == '-'))
		return fail(l, l->pos, "whole numbers of up to 64 bits are expected");
	l->pos = p;
	return 0;
}

static int lex_word(struct lexer *l)
{
	static const char * const words[] = { "true", "false", "null" };
	size_t i, left = l->end - l->pos;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		size_t len = strlen(words[i]);

		if (memcmp(l->pos, words[i], min(len, left)))
			continue;
		if (left < len)
			return fail_early(l);
		if (!is_delimited(l, l->pos + len))
			break;
		l->pos += len;
		return 0;
	}
	return fail(l, l->pos, "a value is expected: words are true, false and null");
}

/* What follows a backslash at @p; the end of it, or NULL with *@err set. */
static const char *lex_escape(struct lexer *l, const char *p, int *err)
{
	int i, zeros = 0;

	if (++p == l->end) {
		*err = fail_early(l);
		return NULL;
	}
	if (*p && strchr("\"\\/bfnrt", *p))
		return p + 1;
	for (i = 1; *p == 'u' && i <= 4; i++) {
		if (p + i == l->end) {
			*err = fail_early(l);
			return NULL;
		}
		if (!strchr("0123456789abcdefABCDEF", p[i] ?: 'x'))
			break;
		zeros += p[i] == '0';
	}
	if (*p == 'u' && i > 4 && zeros < 4)
		return p + 5;
	*err = fail(l, p - 1, zeros == 4 ? "U+0000 is not allowed" : "is no escape that JSON has");
	return NULL;
}

static int lex_string(struct lexer *l)
{
	const char *p = l->pos + 1;
	int err = 0;

	while (p < l->end && *p != '"') {
		size_t left = l->end - p, len = utf8_len(p, left);

		if (!len && left < 4 && !memchr(p, '"', left))
			return fail_early(l);
		if (!len)
			return fail(l, p, "is not UTF-8: byte 0x%02x", (unsigned char)*p);
		if (len == 1 && (unsigned char)*p < 0x20)
			return fail(l, p, "control characters must be escaped: byte 0x%02x", *p);
		p = *p == '\\' ? lex_escape(l, p, &err) : p + len;
		if (!p)
			return err;
	}
	if (p == l->end)
		return fail_early(l);
	l->pos = p + 1;
	return 0;
}

/* The value that begins here is an array of numbers; json-c gets null for it. */
static int skip_value(struct lexer *l)
{
	static const char null[] = "null";
	const char *p, *bad;
	int depth = 0, err;

	err = feed(l, l->pos);
	if (err)
		return err;
	if (feed_text(l, null, null + strlen(null), &bad))
		return fail_here(l, l->pos, "no value is expected here");
	for (p = l->pos; p < l->end; p++) {
		if (*p == '[') {
			if (++depth > MAX_SKIP_DEPTH)
				return fail(l, p, "\"%s\" may have %d levels of brackets", l->skip,
					    MAX_SKIP_DEPTH);
		} else if (*p == ']') {
			if (!--depth)
				break;
		} else if (!is_digit(*p) && *p != ',' && !is_space(*p)) {
			return fail(l, p, "digits, commas and brackets are expected in \"%s\"",
				    l->skip);
		}
	}
	if (p == l->end)
		return fail_early(l);
	l->pos = p + 1;
	l->fed = l->pos;
	return 0;
}

static int add_key(struct lexer *l, const char *name, size_t len)
{
	if (l->nr_keys == l->max_keys) {
		size_t more = max(2 * l->max_keys, (size_t)64);
		struct key *keys = realloc(l->keys, more * sizeof(*keys));

		if (!keys)
			return fail_memory(l);
		l->keys = keys;
		l->max_keys = more;
	}
	l->keys[l->nr_keys++] = (struct key){ .name = name, .len = len };
	return 0;
}

static int cmp_key(const void *va, const void *vb)
{
	const struct key *a = va, *b = vb;
	int diff = memcmp(a->name, b->name, min(a->len, b->len));

	return diff ?: (a->len > b->len) - (a->len < b->len);
}

/* An object ends: no two of its members may have the same name. */
static int check_keys(struct lexer *l, size_t first)
{
	size_t i, nr = l->nr_keys - first;
	struct key *keys = nr ? l->keys + first : NULL;

	l->nr_keys = first;
	if (nr > 1)
		qsort(keys, nr, sizeof(*keys), cmp_key);
	for (i = 1; i < nr; i++) {
		const char *second = max(keys[i - 1].name, keys[i].name) - 1;

		if (cmp_key(&keys[i - 1], &keys[i]))
			continue;
		return fail(l, second, "another member has the same name");
	}
	return 0;
}

/* A string, and the value behind it if it names one that is to be skipped. */
static int lex_string_or_member(struct lexer *l)
{
	const char *name = l->pos + 1, *colon, *value;
	size_t len;
	int err = lex_string(l);

	if (err)
		return err;
	len = l->pos - 1 - name;
	colon = after_space(l, l->pos);
	if (!l->depth || l->open[l->depth - 1].close != '}' || colon == l->end || *colon != ':')
		return 0;
	err = add_key(l, name, len);
	l->pos = colon + 1;
	if (err || !l->skip || len != l->skip_len || memcmp(name, l->skip, len))
		return err;
	value = after_space(l, l->pos);
	if (value == l->end || *value != '[')
		return 0;
	l->pos = value;
	return skip_value(l);
}

static int lex_open(struct lexer *l)
{
	if (l->depth == MAX_DEPTH)
		return fail(l, l->pos, "brackets are nested more than %d deep", MAX_DEPTH);
	l->open[l->depth].close = *l->pos++ == '{' ? '}' : ']';
	l->open[l->depth++].first_key = l->nr_keys;
	return 0;
}

static int lex_close(struct lexer *l)
{
	char close = l->open[--l->depth].close;

	if (*l->pos++ != close)
		return fail(l, l->pos - 1, "'%c' is expected", close);
	return close == '}' ? check_keys(l, l->open[l->depth].first_key) : 0;
}

static int lex_one(struct lexer *l)
{
	switch (*l->pos) {
	case '{':
	case '[':
		return lex_open(l);
	case '}':
	case ']':
		return lex_close(l);
	case '"':
		return lex_string_or_member(l);
	case '-':
	case '0' ... '9':
		return lex_number(l);
	case 'a' ... 'z':
	case 'A' ... 'Z':
		return lex_word(l);
	case ',':
	case ':':
		l->pos++;
		return 0;
	default:
		return fail(l, l->pos, "byte 0x%02x is not expected here", (unsigned char)*l->pos);
	}
}

static int lex(struct lexer *l)
{
	int err;

	l->pos = after_space(l, l->pos);
	if (l->pos < l->end && *l->pos != '{')
		return fail(l, l->pos, "'{' is expected");
	do {
		if (l->pos == l->end)
			return fail_early(l);
		err = lex_one(l);
		if (err)
			return err;
		if (l->depth)
			l->pos = after_space(l, l->pos);
	} while (l->depth);

	err = feed(l, l->pos);
	if (err)
		return err;
	l->pos = after_space(l, l->pos);
	if (l->pos < l->end)
		return fail_here(l, l->pos, "nothing is expected behind the object");
	return l->root ? 0 : fail_early(l);
}

struct json_object *json_parse(const char *text, size_t size, const char *skip, char *why,
			       size_t why_size)
{
	struct lexer l = {
		.text = text, .end = text + size, .pos = text, .fed = text, .skip = skip,
		.skip_len = skip ? strlen(skip) : 0, .why = why, .why_size = why_size,
	};
	int err;

	l.tokener = json_tokener_new_ex(MAX_DEPTH + 2);		/* scalars take one, too */
	if (l.tokener) {
		json_tokener_set_flags(l.tokener, JSON_TOKENER_STRICT);
		err = lex(&l);
		json_tokener_free(l.tokener);
	} else {
		err = fail_memory(&l);
	}
	free(l.keys);
	if (err) {
		json_object_put(l.root);
		errno = -err;
		return NULL;
	}
	return l.root;
}
