// SPDX-License-Identifier: GPL-2.0
/*
 * The floor of a machine: by how much the rate of one thing differs from run to run
 *
 * A JSON file of ours, $XDG_STATE_HOME/perf-kbench/noise.json or ~/.local/state/perf-kbench/...
 * Documentation/verdict.txt has its members.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <linux/kernel.h>
#include <linux/zalloc.h>

#include "compare/compare.h"
#include "compare/noise.h"
#include "util/json-stream.h"
#include "util/outfile.h"

#define FORMAT_NAME	"perf-kbench-noise"

struct noise {
	struct json_object	*root;
	struct json_object	*floors;	/* borrowed from root */
};

char *noise__path(void)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char *path;
	int len;

	if (state && *state == '/')
		len = asprintf(&path, "%s/perf-kbench/noise.json", state);
	else if (home && *home)
		len = asprintf(&path, "%s/.local/state/perf-kbench/noise.json", home);
	else
		return NULL;
	return len < 0 ? NULL : path;
}

char *noise__machine(const struct results *res)
{
	static const char * const members[] = { "cpu.model", "cpu.online", "virtualization" };
	char *text = NULL, *value;
	size_t size, i;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	for (i = 0; i < ARRAY_SIZE(members); i++) {
		value = results__env(res, members[i]);
		fprintf(f, "%s%s", i ? "; " : "", value ?: "");
		free(value);
	}
	return fclose(f) ? NULL : text;
}

static const char *get_text(struct json_object *o, const char *name)
{
	struct json_object *val;

	if (json_object_object_get_ex(o, name, &val) && json_object_is_type(val, json_type_string))
		return json_object_get_string(val);
	return "";
}

static double get_number(struct json_object *o, const char *name)
{
	struct json_object *val;

	if (json_object_object_get_ex(o, name, &val) &&
	    (json_object_is_type(val, json_type_double) ||
	     json_object_is_type(val, json_type_int)))
		return json_object_get_double(val);
	return NAN;
}

struct noise *noise__new(void)
{
	struct noise *noise = zalloc(sizeof(*noise));

	if (!noise)
		return NULL;
	noise->root = json_object_new_object();
	noise->floors = json_object_new_array();
	json_object_object_add(noise->root, "format", json_text(FORMAT_NAME));
	json_object_object_add(noise->root, "version", json_object_new_int(1));
	json_object_object_add(noise->root, "floors", noise->floors);
	return noise;
}

struct noise *noise__read(const char *path, char *why, size_t why_size)
{
	char *own = path ? NULL : noise__path();
	struct noise *noise = NULL;
	struct json_object *root;
	struct stat st;
	int err;

	if (!path)
		path = own;
	if (!path) {
		snprintf(why, why_size, "there is no HOME to keep what noise finds in");
		errno = ENOENT;
		return NULL;
	}
	if (stat(path, &st) || access(path, R_OK)) {
		err = errno;
		snprintf(why, why_size, "%s: %s", path, strerror(err));
		goto out;
	}
	if (!S_ISREG(st.st_mode)) {	/* a device would be read for ever */
		err = ENOENT;
		snprintf(why, why_size, "%s is no regular file", path);
		goto out;
	}
	err = ENOMEM;
	noise = zalloc(sizeof(*noise));
	if (!noise)
		goto out;
	root = json_object_from_file(path);
	noise->root = root;
	err = EINVAL;
	if (!root || !json_object_is_type(root, json_type_object) ||
	    strcmp(get_text(root, "format"), FORMAT_NAME) || get_number(root, "version") != 1 ||
	    !json_object_object_get_ex(root, "floors", &noise->floors) ||
	    !json_object_is_type(noise->floors, json_type_array)) {
		snprintf(why, why_size,
			 "%s is not what \"perf-kbench noise\" writes: remove it, and run that again",
			 path);
		noise__free(noise);
		noise = NULL;
	}
out:
	free(own);
	if (!noise)
		errno = err;
	return noise;
}

void noise__free(struct noise *noise)
{
	if (!noise)
		return;
	json_object_put(noise->root);
	free(noise);
}

static bool floor_is(struct json_object *floor, const char *machine,
		     const struct results_bench *bench, const struct results_point *point)
{
	return json_object_is_type(floor, json_type_object) &&
	       !strcmp(get_text(floor, "machine"), machine) &&
	       !strcmp(get_text(floor, "benchmark"), bench->name) &&
	       (!point || (!strcmp(get_text(floor, "variant"), point->variant) &&
			   get_number(floor, "tasks") == point->tasks));
}

double noise__find(const struct noise *noise, const struct results *res,
		   const struct results_bench *bench, const struct results_point *point,
		   double *df)
{
	char *machine = noise ? noise__machine(res) : NULL;
	double sd = NAN, found, found_df;
	size_t i, nr = machine ? json_object_array_length(noise->floors) : 0;
	bool exact = false;

	for (i = 0; i < nr && !exact; i++) {
		struct json_object *floor = json_object_array_get_idx(noise->floors, i);

		if (!floor_is(floor, machine, bench, NULL))
			continue;
		exact = floor_is(floor, machine, bench, point);
		found = get_number(floor, "sd");
		found_df = get_number(floor, "df");
		if (!(found >= 0 && found <= 1 && found_df >= 1 && found_df < 1e6)) {
			exact = false;
			continue;
		}
		if (exact || !isfinite(sd) || found > sd) {
			sd = found;
			*df = found_df;
		}
	}
	free(machine);
	return sd;
}

int noise__set(struct noise *noise, const char *machine, const struct results_bench *bench,
	       const struct results_point *point, double sd, double df, const char *when)
{
	struct json_object *floor = json_object_new_object();
	size_t i;

	if (!floor)
		return -ENOMEM;
	for (i = json_object_array_length(noise->floors); i-- > 0;) {
		if (floor_is(json_object_array_get_idx(noise->floors, i), machine, bench, point))
			json_object_array_del_idx(noise->floors, i, 1);
	}
	json_object_object_add(floor, "machine", json_text(machine));
	json_object_object_add(floor, "benchmark", json_text(bench->name));
	json_object_object_add(floor, "variant", json_text(point->variant));
	json_object_object_add(floor, "tasks", json_object_new_int(point->tasks));
	json_object_object_add(floor, "sd", json_real(sd));
	json_object_object_add(floor, "df", json_real(df));
	json_object_object_add(floor, "measured", json_text(when));
	return json_object_array_add(noise->floors, floor) ? -ENOMEM : 0;
}

/* The folders above a file, as mkdir -p makes them. */
static int make_parents(const char *path)
{
	char *copy = strdup(path), *slash;

	if (!copy)
		return -ENOMEM;
	for (slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) && errno != EEXIST) {
			free(copy);
			return -errno;
		}
		*slash = '/';
	}
	free(copy);
	return 0;
}

int noise__check_folder(const char *path)
{
	int err = make_parents(path);
	char *copy, *slash;
	struct stat st;

	if (err)
		return err;
	if (!stat(path, &st))
		return S_ISDIR(st.st_mode) ? -EISDIR : access(path, W_OK) ? -errno : 0;
	copy = strdup(path);
	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (slash)
		slash[1] = '\0';
	err = access(slash ? copy : ".", W_OK) ? -errno : 0;
	free(copy);
	return err;
}

int noise__write(const struct noise *noise, const char *path)
{
	struct outfile *f;
	int err = make_parents(path);

	if (err)
		return err;
	f = outfile__new(path);
	if (!f)
		return -ENOMEM;
	err = outfile__open(f);
	if (!err) {
		outfile__puts(f, json_object_to_json_string_ext(noise->root,
								JSON_C_TO_STRING_PRETTY));
		outfile__puts(f, "\n");
		err = outfile__commit(f);
	}
	outfile__free(f);
	return err;
}
