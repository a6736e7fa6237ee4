package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// sharedSettings are those of the second level of the caches.
func sharedSettings() []Setting {
	const rests = Records | Answers | Responses
	return []Setting{
		{
			Path: "cache.shared", Form: "redis:// or rediss:// and what follows", Secret: true, check: checkShared, Invalidates: rests,
			Doc: "The URL of a Valkey or Redis server in which several urnds share answers, DNS records and small responses, without a password: " +
				"rediss://urnd@cache.example.org:6379/0; see docs/scale.md. Empty: each has its own alone.",
			Sample: "shared: rediss://urnd@cache.example.org",
		},
		{
			Path: "cache.shared_password", Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: rests,
			Doc: "the file with the password of that server; empty: none",
		},
		{
			Path: "cache.shared_key", Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: rests,
			Doc: "The file with the secret, of at least 32 octets, by which what is shared is sealed: the same for all urnds that share. " +
				"It is needed with cache.shared.",
		},
		{
			Path: "cache.shared_ca", Form: "path, or credential: and a name", Invalidates: rests,
			Doc: "the certificates of the authorities that verify that server by TLS; empty: those of the system",
		},
		{
			Path: "cache.shared_prefix", Default: "urnd", Form: "prefix of keys", check: checkSharedPrefix, Invalidates: rests,
			Doc: "what keys in that server begin with, in braces: urnds with different prefixes share nothing",
		},
		{
			Path: "cache.shared_timeout", Default: 5 * time.Millisecond, Least: time.Millisecond, Most: time.Second, Invalidates: rests,
			Doc: "How long a name waits for that server, and up to four times as long where its answers mostly take longer. Where half of " +
				"the last answers were later, none waits, until it has answered within that time again.",
		},
	}
}

// checkShared checks the URL of the server of the second level, without showing a password.
func checkShared(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, u.Scheme) || u.Hostname() == "" {
		f.add(path, "is not a URL that begins with redis:// or rediss:// and names a server; its value is not shown, since it may contain a password")
		return
	}
	if _, has := u.User.Password(); has {
		f.add(path, "has a password, which others can read in the configuration: put it into a file, and name that in cache.shared_password")
	}
	if database := strings.TrimPrefix(u.Path, "/"); database != "" {
		if n, err := strconv.Atoi(database); err != nil || n < 0 {
			f.add(path, "%q, which follows the server, is not the number of a database", database)
		}
	}
	for name := range u.Query() {
		if name != "addr" && name != "master_set" {
			f.add(path, "has the parameter %q: those allowed are addr and master_set", name)
		}
	}
}

// checkSharedPrefix checks that a prefix can be the hash tag of keys.
func checkSharedPrefix(f *Faults, path string, value any) {
	const most = 64
	text, _ := value.(string)
	isOther := func(c rune) bool {
		return !strings.ContainsRune("-_.:", c) && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z')
	}
	if text == "" || len(text) > most || strings.ContainsFunc(text, isOther) {
		f.add(path, "%q is not up to %d letters, digits and - _ . :", text, most)
	}
}
