package config

import (
	"net/url"
	"strings"
	"time"
)

// registrySettings are those of the names that the site owns.
func registrySettings() []Setting {
	return []Setting{
		{
			Path: "registry",
			Doc: "The names that this site owns, see docs/registry.md. They are resolved before all that is below resolve. " +
				"Fill the registry with urnd registry import.",
		},
		{
			Path: "registry.store",
			Doc: "Where they are: sqlite: and the path of a file, or the URL of a PostgreSQL database, which several urnds may share, without " +
				"a password: postgres://urnd@db.example.org/names. Empty: there is no registry.",
			Sample: "store: sqlite:/var/lib/urnd/registry.db", Form: "sqlite: and a path, or postgres:// and what follows", check: checkStore,
		},
		{
			Path: "registry.replica",
			Doc:  "the URL of a PostgreSQL database that is a replica of the store: names are looked up there",
			Form: "postgres:// and what follows", check: checkReplica,
		},
		{
			Path: "registry.password",
			Doc:  "the file with the password of PostgreSQL. Empty: ~/.pgpass, PGPASSWORD or none",
			Form: "path, or credential: and a name", check: checkSecretFile,
		},
		{
			Path: "registry.ttl", Default: 10 * time.Minute,
			Doc:   "TTL of answers, which clients may cache that long. urnd itself forgets an answer as soon as the name has changed",
			Least: time.Second, Most: 365 * day,
		},
		{
			Path: "registry.only", Default: []string{},
			Doc:    "What the names begin with that the registry is asked for; others are resolved although it is not available, and cannot be registered. Empty: all URNs. With 'urn:' in it, it has all URNs, too.",
			Sample: "only: ['urn:nbn:fi:', 'ark:/12345/']", Form: "beginning of canonical names",
		},
		{
			Path: "registry.count", Default: true,
			Doc: "count how often each name is resolved a day, by people and by bots, without anything about who asked; " +
				"urnd registry stats shows it",
		},
		{
			Path: "registry.health_interval",
			Doc: "The time in which the http and https targets of all names are checked once, evenly, such as 168h: see docs/registry-operations.md. Of several urnds " +
				"on one store one checks, and all prefer targets that are healthy. 0: nothing is checked.",
			Least: time.Duration(0), Most: 365 * day, check: checkHealthInterval,
		},
		{
			Path: "registry.health_rate", Default: 20,
			Doc:   "at most so many requests a second for these checks",
			Least: 1, Most: 1000,
		},
		{
			Path: "registry.health_concurrency", Default: 16,
			Doc:   "at most so many of these requests at the same time. One server is asked one at a time",
			Least: 1, Most: 256,
		},
		{
			Path: "registry.health_pause", Default: time.Second,
			Doc:   "The time after such a request until the same server is asked again. Where most targets are on one server, it bounds how many can be checked: 1s is 600,000 in a week.",
			Least: time.Duration(0), Most: time.Hour,
		},
		{
			Path:   "registry.health_contact",
			Doc:    "The URL or mail address that the User-Agent of these requests tells, so that those who are asked can reach you. It is needed where health_interval is not 0.",
			Sample: "health_contact: mailto:urn-service@library.example", Form: "URL or mail address", check: checkHealthContact,
		},
	}
}

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
		f.add(path, "%q is neither sqlite: and a path nor a URL: write sqlite:%[1]s", text)
	case strings.Contains(text, "@"):
		f.add(path, "is neither sqlite: and the path of a file nor a URL that begins with postgres:; its value is not shown, since it may contain a password")
	default:
		f.add(path, "is neither sqlite: and the path of a file nor a URL that begins with postgres:; its value is not shown, since it may contain a password")
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
		f.add(path, "is not a URL that begins with postgres:; its value is not shown, since it may contain a password")
		return
	}
	if _, has := u.User.Password(); has || u.Query().Has("password") || u.Query().Has("sslpassword") {
		f.add(path, "has a password, which others can read in the configuration: put it into a file, and name that in registry.password")
	}
}

// checkHealthInterval checks registry.health_interval.
func checkHealthInterval(f *Faults, path string, value any) {
	if d, _ := value.(time.Duration); d > 0 && d < time.Hour {
		f.add(path, "%s is less than 1h, and not 0", show(d))
	}
}

// checkHealthContact checks that registry.health_contact can be in a comment of User-Agent (RFC 9110 section 5.6.5).
func checkHealthContact(f *Faults, path string, value any) {
	text, _ := value.(string)
	for _, c := range text {
		if c <= ' ' || c > '~' || strings.ContainsRune(`()\`, c) {
			f.add(path, "%q is neither a URL nor a mail address: %q is not allowed", text, c)
			return
		}
	}
	if text != "" && !strings.ContainsAny(text, ":@") {
		f.add(path, "%q is neither a URL nor a mail address", text)
	}
}
