#!/bin/sh
# Installs what tests need: a compiler for the race detector, and the peers that
# they talk to. Prints nothing if there is nothing to do, and one line for each peer
# that it cannot install: the tests of that peer are skipped. If CI is set, this
# fails at once instead of each test later. A file with another list of peers, such as
# that of internal/bench/peers, may be named as argument.
set -eu

# binary package; a file that is no program has its whole path
peers='
gcc build-essential
curl curl
node nodejs
wget wget
pip3 python3-pip
nginx nginx
apache2 apache2
/usr/lib/apache2/modules/mod_auth_gssapi.so libapache2-mod-auth-gssapi
krb5kdc krb5-kdc
kadmin.local krb5-admin-server
kinit krb5-user
slapd slapd
chromium chromium
firefox-esr firefox-esr
nc netcat-openbsd
named bind9
squid squid
haproxy haproxy
pebble pebble
caddy caddy
nft nftables
logrotate logrotate
ssh-keygen openssh-client
redis-server redis-server
podman podman
crun crun
redis-sentinel redis-sentinel
varnishd varnish
pg_createcluster postgresql
pgbouncer pgbouncer
systemd-analyze systemd
systemd-socket-activate systemd
strace strace
finger finger
in.fingerd fingerd
gophernicus gophernicus
pygopherd pygopherd
proftpd proftpd-core
/usr/lib/proftpd/mod_tls.so proftpd-mod-crypto
yaz-ztest yaz
zebrasrv idzebra-2.0
calamaris calamaris
goaccess goaccess
lynx lynx
w3m w3m
zbarimg zbar-tools
'

# binary package, and packages that it needs, above all of libraries: those which cannot be installed together with
# others above, as all FTP servers exclude each other, or on every machine: INN demands that it has a domain. They
# are unpacked into a folder, and their binary is linked.
unpacked='
ctlinnd inn2 inn2-inews libcanlock3 libsasl2-2 libperl5.36 libpython3.11 libdb5.3 libssl3 libsystemd0
vsftpd vsftpd libwrap0 libssl3
pure-ftpd pure-ftpd libcap2 libsodium23 libssl3
pure-pw pure-ftpd libcap2 libsodium23 libssl3
'
[ $# -eq 0 ] || { peers=$(cat "$1"); unpacked=; }

# The PATH of an ordinary user lacks the folders of daemons.
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH DEBIAN_FRONTEND=noninteractive

policy=/usr/sbin/policy-rc.d
policy_made=
log=

clean() {
	[ -z "$policy_made" ] || rm -f "$policy"
	[ -z "$log" ] || rm -f "$log"
	policy_made= log=
}
trap clean EXIT
trap 'exit 130' HUP INT TERM

# Tests start their own servers; those of Debian would take well-known ports. An
# existing policy belongs to the machine and is left alone.
forbid_services() {
	[ -z "$policy_made" ] || return 0
	if (set -C; : >"$policy") 2>/dev/null; then
		policy_made=yes
		printf '#!/bin/sh\n# Made by internal/testserver/install.sh while it runs; if it is left over, delete it.\nexit 101\n' >"$policy"
		chmod 755 "$policy"
	fi
}

# The policy holds for the installation only, not for the next boot. The unit may be in
# the package of the common files, as that of nginx is, and a socket or a timer that
# starts a service, as that of gophernicus is.
disable_units() {
	command -v systemctl >/dev/null || return 0
	for unit in $(dpkg -L "$1" "$1-common" 2>/dev/null | sed -nE 's#.*/systemd/system/([^/@]*\.(service|socket|timer))$#\1#p'); do
		systemctl disable "$unit" >>"$log" 2>&1 </dev/null || return 1
	done
}

apt() {
	apt-get -q -o DPkg::Lock::Timeout=300 "$@" >"$log" 2>&1 </dev/null
}

# prepare makes what an installation needs, or sets why there can be none.
prepare() {
	if [ ! -e /etc/debian_version ] || ! command -v apt-get >/dev/null; then
		why='not a Debian-like system'
		return 1
	fi
	if [ "$(id -u)" -ne 0 ]; then
		why='only root can install it'
		return 1
	fi
	[ -n "$log" ] || log=$(mktemp)
	forbid_services
}

# add installs the package $1, or sets why.
add() {
	prepare || return 1
	# The package lists may be absent or too old; only a failure shows that.
	if ! apt install -y --no-install-recommends "$1"; then
		if ! apt update || ! apt install -y --no-install-recommends "$1"; then
			why="apt-get: $(grep '^[EW]: ' "$log" | head -n 1)"
			return 1
		fi
	fi
	if ! disable_units "$1"; then
		why="it is installed, but its service cannot be disabled: $(tail -n 1 "$log")"
		return 1
	fi
}

# unpack puts the files of the package $1 beside the system, which dpkg does not know of then, links the program
# $2, and installs the packages that it needs, $3; or sets why. None keeps the rights of its owner, as innbind has
# those of root: no update would mend it.
unpack() {
	prepare || return 1
	for need in $3; do
		add "$need" || :
	done
	folder=/usr/local/lib/testserver/$1
	if ! mkdir -p "$folder" || ! (cd "$folder" && apt download "$1" && dpkg-deb -x "$1"_*.deb . && chmod -R ug-s . && rm -f "$1"_*.deb); then
		why="it cannot be unpacked: $(tail -n 1 "$log")"
		return 1
	fi
	for file in "$folder"/usr/*bin/"$2"; do
		ln -sf "$file" "/usr/local/sbin/$2" || return 1
	done
}

has() {
	case $1 in
	/*) [ -e "$1" ] ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

missing=
while read -r binary package needs; do
	[ -n "$binary" ] || continue
	! has "$binary" || continue
	why='the package does not contain it'
	if [ -n "$needs" ]; then
		unpack "$package" "$binary" "$needs" || :
	else
		add "$package" || :
	fi
	if ! has "$binary"; then
		echo "testserver: $binary (package $package) is missing: $why" >&2
		missing=yes
	fi
done <<LIST
$peers
$unpacked
LIST

[ -z "$missing" ] || [ -z "${CI:-}" ] || exit 1
