#!/bin/sh
# Fetches axe-core, which tests of the pages use, from npm: one version, whose checksum is known (axe.go has that of the
# script in it). A folder may be named in place of the one that tests look in. Where npm's registry cannot be reached it says so there, in a file
# "unreachable", and the tests are skipped.
set -eu

version=4.14.1
sum=e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745
to=${1:-/usr/local/share/axe-core}
[ ! -e "$to/axe.min.js" ] || exit 0

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
if ! (cd "$work" && npm pack --silent "axe-core@$version" >/dev/null); then
	echo "axe.sh: npm does not give axe-core: what needs it is skipped" >&2
	mkdir -p "$to"
	touch "$to/unreachable"
	exit 0
fi
echo "$sum  $work/axe-core-$version.tgz" | sha256sum --quiet -c
tar xzf "$work/axe-core-$version.tgz" -C "$work"
mkdir -p "$to"
cp "$work/package/axe.min.js" "$work/package/LICENSE" "$to/"
