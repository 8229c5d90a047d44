// SPDX-License-Identifier: GPL-2.0
/*
 * main.c: run the unit tests
 *
 *	unit-tests [TOPIC...]
 *
 * A file test-<topic>.c, with a function "Suite *<topic>_suite(void)" ('-' becomes '_'), is all
 * that a suite needs: the Build file finds it and writes suites.h. Each test runs in a process of
 * its own; CK_FORK=no prevents that, for a debugger or valgrind, CK_RUN_CASE=NAME picks a case.
 *
 * The last line is "unit: N passed, N failed"; exit status 1 if a test failed, 2 for a topic that
 * there is not.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/kernel.h>

#define SUITE(topic) Suite *topic ## _suite(void);
#include "suites.h"
#undef SUITE

static const struct {
	const char	*topic;
	Suite		*(*make)(void);
} suites[] = {
#define SUITE(name) { #name, name ## _suite },
#include "suites.h"
#undef SUITE
	{ NULL, NULL }
};

static bool wanted(const char *topic, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		if (!strcmp(topic, argv[i]))
			return true;
	}
	return argc < 2;
}

int main(int argc, char **argv)
{
	SRunner *runner = srunner_create(NULL);
	int run, failed;
	size_t i, nr = 0;

	for (i = 0; suites[i].topic; i++) {
		if (wanted(suites[i].topic, argc, argv)) {
			srunner_add_suite(runner, suites[i].make());
			nr++;
		}
	}
	if (argc > 1 && nr < (size_t)argc - 1) {
		fprintf(stderr, "unit-tests: no such topic; there are:");
		for (i = 0; suites[i].topic; i++)
			fprintf(stderr, " %s", suites[i].topic);
		fprintf(stderr, "\n");
		srunner_free(runner);
		return 2;
	}

	srunner_run_all(runner, CK_ENV);
	run = srunner_ntests_run(runner);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	printf("unit: %d passed, %d failed\n", run - failed, failed);
	return failed ? 1 : 0;
}
