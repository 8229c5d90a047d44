#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Building: what is missing is named with the command that installs it; an ordinary user builds
# elsewhere, with a kernel tree that cannot be written to; a second make has nothing to do; install
# and clean do that and no more.

. "$(dirname "$0")/lib.sh"
need_user_switch
need_plain_build

# without PATH... -- COMMAND...: with nothing in these folders
without()
{
	# shellcheck disable=SC2016 # the inner shell's
	unshare --mount sh -c 'while [ "$1" != -- ]; do
			mount -t tmpfs none "$1" || exit 99
			shift
		done
		shift
		exec "$@"' sh "$@"
}

as_user()
{
	(cd "$TMPDIR/copy" && setpriv --reuid=65534 --regid=65534 --clear-groups \
		env HOME="$TMPDIR/copy" TMPDIR="$TMPDIR/copy" "$@")
}

mkdir copy
tar -C "$top" -cf - --exclude=./.git --exclude=./build --exclude=./.cache . | tar -xf - -C copy
ksrc=$(copy/tools/kernel-source "$top/.cache" "$TMPDIR/cache") || fail "no kernel source"
mkdir ksrc
cp -r "$ksrc/." ksrc
chmod -R a+rX,a-w ksrc
chown -R 65534:65534 copy
touch began

run copy/tools/install-deps --check build tests
expect 0 "nothing missing"
[ -z "$(cat "$out" "$err")" ] || fail "nothing is missing, but it speaks"

if without /usr/include/json-c -- true; then
	run without /usr/include/json-c /usr/include/traceevent /usr/src -- \
		copy/tools/install-deps --check build
	expect 1 "packages missing"
	has "$err" 'apt-get install linux-source-[0-9.]+ libjson-c-dev$'

	run without /usr/include/json-c -- make -C copy O="$TMPDIR/early"
	expect 2 "a package missing"
	has "$err" 'apt-get install libjson-c-dev$'
	hasnt "$out" '^  CC '
else
	note "cannot mount here: missing packages were not tried"
fi

run as_user make O=out KSRC=/nowhere
expect 2 "no kernel tree"
has "$err" 'KSRC=/nowhere'

run as_user make O=out/deep KSRC="$TMPDIR/ksrc"
expect 0 "make as an ordinary user"
[ -x copy/out/deep/perf-kbench ] || fail "no program"
hasnt "$err" 'warning'
[ -z "$(find ksrc -newer began -type f)" ] || fail "the kernel tree was written to"
[ ! -e copy/build ] || fail "O= was given, and there is a build/"

run as_user make O=out/deep KSRC="$TMPDIR/ksrc"
expect 0 "make again"
hasnt "$out" '^  (CC|LD|AR|LINK) ' "make again"

run as_user make O=out/deep KSRC="$TMPDIR/ksrc" DESTDIR="$TMPDIR/copy/dest" PREFIX=/usr install
expect 0 "make install"
[ -x copy/dest/usr/bin/perf-kbench ] || fail "not installed"
run as_user make O=out/deep DESTDIR="$TMPDIR/copy/dest" PREFIX=/usr uninstall
expect 0 "make uninstall"
[ -z "$(find copy/dest -type f)" ] || fail "uninstall left: $(find copy/dest -type f)"

run as_user make O=out/deep clean
expect 0 "make clean"
[ ! -e copy/out/deep ] || fail "clean left out/deep"
as_user mkdir -p theirs
as_user touch theirs/file
run as_user make O=theirs clean
expect 2 "clean of a folder that is not ours"
[ -e copy/theirs/file ] || fail "clean removed another's file"
