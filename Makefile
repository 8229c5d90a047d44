# SPDX-License-Identifier: GPL-2.0
#
# Makefile: what to type ("make help" tells); how it is built is in Makefile.kbench, and which
# objects in the Build files, which the kernel's own tools/build reads.

.PHONY: all
all:

ifneq ($(word 2,$(CURDIR) x)$(word 3,$(CURDIR) x),x)
$(error the folder's path must not have spaces: "$(CURDIR)")
endif
ifneq ($(word 2,$(O)),)
$(error O= must not have spaces: "$(O)")
endif

PREFIX	?= /usr/local
comma	:= ,

# All that is built lies in OUTPUT; a sanitizer's build in a folder of its own in it.
TOP	:= $(if $(O),$(abspath $(O)),$(CURDIR)/build)
OUTPUT	:= $(TOP)/$(if $(SAN),san-$(subst $(comma),-,$(SAN))/)
CACHE	:= $(CURDIR)/.cache

bindir	= $(DESTDIR)$(PREFIX)/bin
docdir	= $(DESTDIR)$(PREFIX)/share/doc/perf-kbench
man1dir	= $(DESTDIR)$(PREFIX)/share/man/man1
docs	= $(wildcard README* Documentation/*.txt)

ifeq ($(V),1)
  Q =
else
  Q = @
  MAKEFLAGS += --no-print-directory
endif

# As root in a checkout that is another's ("sudo make check"), what we make is handed to its owner
# at the end, whatever the end is, so that he can go on with a plain make.
OWNER := $(shell [ "$$(id -u)" = 0 ] && if [ -n "$$SUDO_UID" ]; \
	 then echo "$$SUDO_UID:$$SUDO_GID"; else stat -c %u:%g .; fi)
ifeq ($(KBENCH_INNER)$(if $(OWNER:0:%=),,root),)

goals := $(sort all $(MAKECMDGOALS))
.PHONY: $(goals) hand-back
$(goals): hand-back
	@:

hand-back:
	@trap : INT TERM; \
	$(MAKE) KBENCH_INNER=1 $(or $(MAKECMDGOALS),all); status=$$?; \
	for dir in $(CACHE) $(CURDIR)/build $(filter $(CURDIR)/%,$(TOP)); do \
		[ $$dir = $(CACHE) ] || [ -e $$dir/.perf-kbench ] || continue; \
		[ -d $$dir ] || continue; \
		find $$dir -xdev -user 0 \( -type d -o -links 1 \) -exec chown -h $(OWNER) {} +; \
	done; \
	exit $$status

else

# As many jobs as there are CPUs, unless the user says how many.
jobs = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# A folder that we made is marked: only such a folder is ever removed by clean.
define make-output
if [ -z "$$(ls -A $(TOP) 2>/dev/null)" ]; then \
	mkdir -p $(TOP) && : >$(TOP)/.perf-kbench; \
fi && mkdir -p $(OUTPUT)
endef

# $(call kbench-make,groups of tools/install-deps,goals)
define kbench-make
$(Q)tools/install-deps --check $(1)
$(Q)$(make-output)
+$(Q)srctree=$$(tools/kernel-source $(CACHE) $(OUTPUT)ksrc) && \
$(MAKE) $(jobs) -f Makefile.kbench O= OUTPUT=$(OUTPUT) srctree=$$srctree $(2)
endef

export CC SAN KSRC
export KBENCH = $(OUTPUT)perf-kbench
export KBENCH_BUILD = $(OUTPUT:%/=%)
export KBENCH_SAN = $(SAN)

# One goal after the other; each is built by parallel jobs all the same.
.NOTPARALLEL:

.PHONY: unit-tests fuzz install-deps quickstart check check-upstream bench-harness bench-verdict lint
.PHONY: lab-stories bench-lab
.PHONY: man install uninstall clean distclean help

all:
	$(call kbench-make,build,all)

unit-tests:
	$(call kbench-make,build tests,all tests)

fuzz:
	$(call kbench-make,build fuzz,fuzz)

install-deps:
	$(Q)tools/install-deps build tests lint ci fuzz lab upstream

quickstart:
	$(Q)tools/install-deps build
	$(call kbench-make,build,all)
	$(Q)tools/quickstart $(patsubst $(CURDIR)/%,%,$(KBENCH) $(OUTPUT)quickstart.json)

check:
	$(Q)tools/install-deps build tests
	$(call kbench-make,build tests,all tests)
	$(Q)tests/run $(subst $(comma), ,$(TESTS))

check-upstream:
	$(Q)tools/install-deps upstream
	$(Q)tools/check-upstream $(CACHE)

bench-harness:
	$(call kbench-make,build,all programs)
	$(Q)tools/bench-harness

bench-verdict:
	$(call kbench-make,build,all programs)
	$(Q)tools/bench-verdict

lab-stories:
	$(Q)tools/install-deps lab
	$(call kbench-make,build,all)
	$(Q)tools/lab-stories $(OUTPUT)lab-stories

bench-lab:
	$(Q)tools/install-deps lab
	$(call kbench-make,build,all programs)
	$(Q)tools/lab/bench $(OUTPUT)bench-lab

lint:
	$(call kbench-make,build tests lint,lint)

man:
	$(Q)tools/install-deps --check man
	$(Q)$(make-output)
	asciidoctor -b manpage -o $(OUTPUT)perf-kbench.1 Documentation/perf-kbench.txt

install: all
	install -d $(bindir) $(docdir)/reports
	install -m 755 $(OUTPUT)perf-kbench $(bindir)/perf-kbench
	$(if $(docs),install -m 644 $(docs) $(docdir))
	install -m 644 $(wildcard Documentation/reports/*.txt) $(docdir)/reports
	@if command -v asciidoctor >/dev/null; then \
		$(MAKE) man && install -D -m 644 $(OUTPUT)perf-kbench.1 $(man1dir)/perf-kbench.1; \
	else \
		echo "no manual page: asciidoctor is not installed"; \
	fi

uninstall:
	rm -f $(bindir)/perf-kbench $(man1dir)/perf-kbench.1
	rm -rf $(docdir)

clean:
	$(Q)if [ -e $(TOP)/.perf-kbench ]; then \
		rm -rf $(if $(SAN),$(OUTPUT),$(TOP)); \
	elif [ -e $(TOP) ]; then \
		echo "$(TOP) was not made by this Makefile, or not for this alone: left as it is" >&2; \
		exit 1; \
	fi

distclean: clean
	$(Q)rm -rf $(CACHE)

help:
	@sed -n 's/^#? \?//p' Makefile

endif

#? perf-kbench: what make knows
#?
#?   make                  build build/perf-kbench
#?   sudo make quickstart  install what is missing, build, run every benchmark briefly (under 90 s);
#?                         the table on the screen, all the rest in build/quickstart.json
#?   sudo make check       install what is missing, build, run the unit and the shell tests;
#?                         as an ordinary user: the tests that need no root
#?   make check-upstream   the patch series for the kernel's tools/perf: make it, apply it to Debian's
#?                         6.1 and 6.12, build, run; see Documentation/upstream.txt
#?   make bench-harness    compare the harness with the plainest loop on the same calls, and with
#?                         the same in the perf that check-upstream has built
#?   make bench-verdict    are compare's verdicts right where the truth is known? Takes hours
#?   make lab-stories      build kernels from Debian's linux-source-6.12 with an optimisation undone,
#?                         and measure it with tools/kbench-lab: 5 GB, half an hour on 2 CPUs
#?   make bench-lab        does tools/kbench-lab --icount count as well as it says? half an hour
#?   make lint             checkpatch.pl --strict, cppcheck, clang-tidy
#?   make install          the program to PREFIX/bin, the documents to PREFIX/share/doc
#?   make man              the manual page, by asciidoctor; install does this, too, where it can
#?   make uninstall        and away with them
#?   make unit-tests       build the tests, too
#?   make fuzz             build the fuzzer of results files (clang); check runs it for 5 s, or
#?                         FUZZ_SECONDS=
#?   make install-deps     install what any of these needs
#?   make clean            remove what was built; distclean: the unpacked kernel parts too
#?
#?   O=DIR                 build in DIR, not in build/
#?   KSRC=DIR              use this kernel tree (it is only read), not Debian's linux-source
#?   CC=clang              another compiler; a change of it builds anew
#?   SAN=address,undefined with these sanitizers, in a subfolder (build/san-address-undefined/);
#?   SAN=thread            also for check: make check SAN=thread
#?   WERROR=0              go on after warnings
#?   EXTRA_CFLAGS=, LDFLAGS=  more for the compiler and the linker
#?   TESTS=NAME,NAME...    for check: only these, "unit" or names in tests/shell without .sh
#?   PREFIX=DIR DESTDIR=DIR  for install; PREFIX is /usr/local
#?   V=1                   show the commands
