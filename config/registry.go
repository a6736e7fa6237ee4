package config

import (
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Registry says where the names are that the site owns.
type Registry struct {
	Store    string        `mapstructure:"store"`    // "sqlite:PATH" or "postgres://..."; empty: there is no registry
	Replica  string        `mapstructure:"replica"`  // of a PostgreSQL database; empty: none
	Password string        `mapstructure:"password"` // a file, or "credential:" and a name; empty: none
	TTL      time.Duration `mapstructure:"ttl"`
	// ClientTTL is the lifetime that clients get; 0: TTL.
	ClientTTL time.Duration `mapstructure:"client_ttl"`
	Only      []string      `mapstructure:"only"` // what names begin with; empty: all URNs
	// Hosts are web hosts whose paths are names: "https://", the host and the path.
	Hosts   []string `mapstructure:"hosts"`
	Handles []Handle `mapstructure:"handles"` // which names are handles; empty: there is no API of handles
	// DigitalLink are the roots of identifiers in web addresses. Their hosts are as those of Hosts.
	DigitalLink []DigitalLink `mapstructure:"digital_link"`
	Redirect    int           `mapstructure:"redirect"` // 301, 302, 303, 307 or 308
	// Describe is what names begin with that answer with their description, in place of a redirect, to who prefers that by Accept.
	Describe []string `mapstructure:"describe"`
	Count    bool     `mapstructure:"count"`
	// HealthInterval is the time in which each target is checked once; 0: none is. HealthRate bounds the requests a second,
	// and HealthPause is the time between two to one server.
	HealthInterval time.Duration `mapstructure:"health_interval"`
	HealthRate     int           `mapstructure:"health_rate"`
	HealthPause    time.Duration `mapstructure:"health_pause"`
	HealthContact  string        `mapstructure:"health_contact"` // in User-Agent: a URL or a mail address
}

func registrySettings() []Setting {
	return []Setting{
		{
			Path: "registry", Invalidates: Answers | Snapshot,
			Doc: "The names that this site owns, see docs/registry.md. They are resolved before all that is below " +
				"resolve. Fill the registry with urnd registry import.",
		},
		{
			Path: "registry.store",
			Form: "sqlite: and a path, or postgres:// and what follows", Secret: true, check: checkStore, Invalidates: Store | Answers | Snapshot,
			Doc: "Where they are: sqlite: and the path of a file, or the URL of a PostgreSQL database, which several " +
				"urnds may share, without a password: postgres://urnd@db.example.org/names. Empty: there is no " +
				"registry.",
			Sample: "store: sqlite:/var/lib/urnd/registry.db",
		},
		{
			Path: "registry.replica",
			Form: "postgres:// and what follows", Secret: true, check: checkReplica, Invalidates: Store | Answers | Snapshot,
			Doc: "the URL of a PostgreSQL database that is a replica of the store: names are looked up there",
		},
		{
			Path: "registry.password",
			Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: Store | Answers | Snapshot,
			Doc: "the file with the password of PostgreSQL. Empty: ~/.pgpass, PGPASSWORD or none",
		},
		{
			Path: "registry.ttl", Default: 10 * time.Minute, Least: time.Second, Most: 365 * day,
			Doc: "TTL of answers, also for clients, if client_ttl is 0. urnd itself forgets an answer as soon as the " +
				"name has changed",
		},
		{
			Path: "registry.client_ttl", Least: time.Duration(0), Most: 365 * day,
			Doc: "How long clients may use answers: they do not learn that a name has changed. Less than ttl is for " +
				"names that move, more for those that do not. 0: what is left of ttl",
		},
		{
			Path: "registry.only", Default: []string{}, Form: "beginning of canonical names",
			Doc: "What the names of this site begin with: the registry is asked for these alone, others are resolved although it is not " +
				"available, and cannot be registered. Empty: all URNs, and names of each other kind that is registered.",
			Sample: "only: ['urn:nbn:fi:', 'ark:/12345/']",
		},
		{
			Path: "registry.hosts", Default: []string{}, Form: "host name", check: checkRegistryHosts,
			Doc: "The web hosts whose paths are names of the registry: a request for /net/foo with the Host purl.example.org asks " +
				"for https://purl.example.org/net/foo, by HTTP, too, and with any port. Their names need not be in only.",
			Sample: "hosts: [purl.example.org, w3id.example.org]",
		},
		handleSetting(),
		digitalLinkSetting(),
		{
			Path: "registry.redirect", Default: http.StatusFound, OneOf: []string{"301", "302", "303", "307", "308"},
			Doc: "The status of redirects to where a name leads, unless the name or a prefix of it says another one. By " +
				"THTTP it is 303, as RFC 2169 has it.",
		},
		{
			Path: "registry.describe", Default: []string{}, Form: "beginning of canonical names", Invalidates: Nothing,
			Doc: "What the names begin with that answer with their description where a client prefers its media type, such as " +
				"application/ld+json, to HTML, as doi.org does; others redirect whatever the client accepts, see docs/links.md. Not for " +
				"vocabularies: programs would take the description for what the name names.",
			Sample: "describe: ['doi:10.5555/']",
		},
		{
			Path: "registry.count", Default: true,
			Doc: "count how often each name is resolved a day, by people and by bots, without anything about who " +
				"asked; urnd registry stats shows it",
		},
		{
			Path: "registry.health_interval", Least: time.Duration(0), Most: 365 * day,
			check: checkHealthInterval, Invalidates: Nothing,
			Doc: "The time in which the http and https targets of all names are checked once, evenly, such as 168h: " +
				"see docs/registry-operations.md. Of several urnds on one store one checks, and all prefer targets " +
				"that are healthy. 0: nothing is checked.",
		},
		{
			Path: "registry.health_rate", Default: 20, Least: 1, Most: 1000, Invalidates: Nothing,
			Doc: "at most so many requests a second for these checks",
		},
		{
			Path: "registry.health_pause", Default: time.Second, Least: time.Duration(0), Most: time.Hour, Invalidates: Nothing,
			Doc: "The time after such a request until the same server is asked again. Where most targets are on one " +
				"server, it bounds how many can be checked: 1s is 600,000 in a week.",
		},
		{
			Path: "registry.health_contact", Form: "URL or mail address", check: checkHealthContact, Invalidates: Nothing,
			Doc: "The URL or mail address that the User-Agent of these requests tells, so that those who are asked " +
				"can reach you. It is needed where health_interval is not 0.",
			Sample: "health_contact: mailto:urn-service@library.example",
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
	default:
		f.add(path, "is neither sqlite: and the path of a file nor a URL that begins with postgres:; its value is not shown, "+
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
