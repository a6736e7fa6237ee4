package config

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// checkShared checks the URL of the server of the second level, without showing a password.
func checkShared(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || !slices.Contains([]string{"redis", "rediss", "valkey", "valkeys"}, u.Scheme) || u.Hostname() == "" {
		f.Add(path, "is not a URL that begins with redis:// or rediss:// and names a server; its value is not shown, since it may contain a password")
		return
	}
	if _, has := u.User.Password(); has {
		f.Add(path, "has a password, which others can read in the configuration: put it into a file, and name that in cache.shared_password")
	}
	if database := strings.TrimPrefix(u.Path, "/"); database != "" {
		if n, err := strconv.Atoi(database); err != nil || n < 0 {
			f.Add(path, "%q, which follows the server, is not the number of a database", database)
		}
	}
	for name := range u.Query() {
		if name != "addr" && name != "master_set" {
			f.Add(path, "has the parameter %q: those allowed are addr and master_set", name)
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
		f.Add(path, "%q is not up to %d letters, digits and - _ . :", text, most)
	}
}
