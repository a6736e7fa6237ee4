package config

import (
	"net/url"
	"strings"
	"time"
)

// The schemes of stores.
const (
	storeSQLite   = "sqlite:"
	storePostgres = "postgres:"
)

// isPostgres reports whether a store is the URL of a PostgreSQL database.
func isPostgres(store string) bool {
	return strings.HasPrefix(store, storePostgres) || strings.HasPrefix(store, "postgresql:")
}

// checkStore checks registry.store.
func checkStore(f *Faults, path string, value any) {
	text, _ := value.(string)
	switch {
	case text == "":
	case strings.HasPrefix(text, storeSQLite) && len(text) > len(storeSQLite):
	case isPostgres(text):
		checkReplica(f, path, value)
	case strings.HasPrefix(text, "/"):
		f.Add(path, "%q is neither sqlite: and a path nor a URL: write sqlite:%[1]s", text)
	default:
		f.Add(path, "is neither sqlite: and the path of a file nor a URL that begins with postgres:; its value is not shown, "+
			"since it may contain a password")
	}
}

// checkReplica checks the URL of a PostgreSQL database, without showing a password.
func checkReplica(f *Faults, path string, value any) {
	text, _ := value.(string)
	if text == "" {
		return
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		f.Add(path, "is not a URL that begins with postgres:; its value is not shown, since it may contain a password")
		return
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		f.Add(path, "has a password, which others can read in the configuration: put it into a file, and name that in registry.password")
	}
}

// checkHealthInterval checks registry.health_interval.
func checkHealthInterval(f *Faults, path string, value any) {
	if d, _ := value.(time.Duration); d > 0 && d < time.Hour {
		f.Add(path, "%s is less than 1h, and not 0", show(d))
	}
}

// checkHealthContact checks that registry.health_contact can be in a comment of User-Agent (RFC 9110 section 5.6.5).
func checkHealthContact(f *Faults, path string, value any) {
	text, _ := value.(string)
	for _, c := range text {
		if c <= ' ' || c > '~' || strings.ContainsRune(`()\`, c) {
			f.Add(path, "%q is neither a URL nor a mail address: %q is not allowed", text, c)
			return
		}
	}
	if text != "" && !strings.ContainsAny(text, ":@") {
		f.Add(path, "%q is neither a URL nor a mail address", text)
	}
}
