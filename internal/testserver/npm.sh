#!/bin/sh
# Installs what tests use of npm: axe-core, and what makes programs in TypeScript of OpenAPI documents. Versions and checksums are those of
# npm/package-lock.json. A folder may be named in place of the one that tests look in. Where npm's registry cannot be reached it says so there,
# in a file "unreachable", and the tests are skipped.
set -eu

from=$(cd "$(dirname "$0")/npm" && pwd)
to=${1:-/usr/local/share/urnd-npm}
! cmp -s "$from/package-lock.json" "$to/package-lock.json" || [ ! -d "$to/node_modules" ] || exit 0

mkdir -p "$to"
rm -f "$to/unreachable"
cp "$from/package.json" "$from/package-lock.json" "$to/"
if ! (cd "$to" && npm ci --silent --ignore-scripts --no-audit --no-fund); then
	echo "npm.sh: npm does not give what is in $from/package.json: what needs it is skipped" >&2
	rm -f "$to/package-lock.json"
	touch "$to/unreachable"
fi
