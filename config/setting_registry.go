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
			Doc:    "What the names begin with that the registry is asked for; others are resolved although it is not available. Empty: all URNs.",
			Sample: "only: ['urn:nbn:fi:', 'ark:/12345/']", Form: "beginning of canonical names",
		},
		{
			Path: "registry.count", Default: true,
			Doc: "count how often each name is resolved a day, by people and by bots, without anything about who asked; " +
				"urnd registry stats shows it",
		},
	}
}

// The schemes of stores.
const (
	storeSQLite   = "sqlite:"
	storePostgres = "postgres:"
)

// checkStore checks registry.store.
func checkStore(f *Faults, path string, value any) {
	text, _ := value.(string)
	switch {
	case text == "":
	case strings.HasPrefix(text, storeSQLite) && len(text) > len(storeSQLite):
	case strings.HasPrefix(text, storePostgres) || strings.HasPrefix(text, "postgresql:"):
		checkReplica(f, path, value)
	default:
		f.add(path, "%q is neither sqlite: and the path of a file nor a URL that begins with postgres:", text)
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
	if _, has := u.User.Password(); has || u.Query().Has("password") {
		f.add(path, "has a password, which others can read in the configuration: put it into a file, and name that in registry.password")
	}
}
