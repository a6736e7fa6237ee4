#!/bin/sh
# Makes the secrets that compose.yaml names, in the directory secrets beside it or in the one that is given, once: those that are there stay.
# As root, so that the user of the containers may read them, and nobody else.
set -eu

to=${1:-$(dirname "$0")/secrets}
mkdir -p "$to"
chmod 700 "$to"
cd "$to"
umask 077

# make NAME writes a secret of 32 bytes.
make() {
	[ -s "$1" ] || openssl rand -hex 32 >"$1"
}
make admin-token
make registry-password
make shared-password
make shared-key
# What urnd needs in Valkey, and nobody else anything: docs/scale.md.
hash=$(tr -d '\n' <shared-password | sha256sum | cut -d ' ' -f 1)
cat >valkey-users <<USERS
user default off
user urnd on #$hash ~{urnd}:* +eval +evalsha +script|load +xrange +xread +del +get +set +pttl +xadd +xrevrange +hello +client|setname +select +ping
USERS
# 65532 is the group of the image of urnd; PostgreSQL and Valkey are in it, too.
chown 0:65532 admin-token registry-password shared-password shared-key valkey-users
chmod 440 admin-token registry-password shared-password shared-key valkey-users
