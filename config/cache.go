package config

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/net/http/httpguts"
)

// Cache bounds the caches and their snapshot.
type Cache struct {
	Answers    Size          `mapstructure:"answers"` // memory for answers
	Records    Size          `mapstructure:"records"` // memory for DNS records
	StaleFor   time.Duration `mapstructure:"stale_for"`
	RetryAfter time.Duration `mapstructure:"retry_after"`
	Directory  string        `mapstructure:"directory"` // of the snapshot of answers; empty: the state directory of systemd
	MaxSaved   Size          `mapstructure:"max_saved"` // of the snapshot; 0 saves nothing
	// Responses is the memory for HTTP responses, and MaxResponse bounds one of them.
	Responses   Size `mapstructure:"responses"`
	MaxResponse Size `mapstructure:"max_response"`
	// HeuristicPercent is the freshness lifetime of responses that name none, as a percentage of the
	// time since their last modification; HeuristicMax bounds it.
	HeuristicPercent int           `mapstructure:"heuristic_percent"`
	HeuristicMax     time.Duration `mapstructure:"heuristic_max"`
	// HarmlessFields are fields of requests, or the beginnings of their names before "*", that cannot have
	// made a response which others must not get.
	HarmlessFields []string `mapstructure:"harmless_fields"`
	// CollapseTimeout is how long clients wait for the exchange of another one before a second one asks.
	CollapseTimeout time.Duration `mapstructure:"collapse_timeout"`
	// Disk is the space for HTTP responses in DiskDirectory, 0 for none.
	Disk          Size   `mapstructure:"disk"`
	DiskDirectory string `mapstructure:"disk_directory"`
	// Shared is the URL of the server of the second level, with its password, the secret that seals what is in it and its authorities, as files; empty:
	// there is none.
	Shared         string        `mapstructure:"shared"`
	SharedPassword string        `mapstructure:"shared_password"`
	SharedKey      string        `mapstructure:"shared_key"`
	SharedCA       string        `mapstructure:"shared_ca"`
	SharedPrefix   string        `mapstructure:"shared_prefix"`
	SharedTimeout  time.Duration `mapstructure:"shared_timeout"`
}

func cacheSettings() []Setting {
	return append([]Setting{
		{Path: "cache", Doc: "The caches."},
		{
			Path: "cache.answers", Default: Size(64 << 20),
			Least: Size(1 << 20), Most: Size(1 << 40), Invalidates: Records | Answers,
			Doc: "memory for answers",
		},
		{
			Path: "cache.records", Default: Size(16 << 20),
			Least: Size(1 << 20), Most: Size(1 << 40), Invalidates: Records | Answers,
			Doc: "memory for DNS records",
		},
		{
			Path: "cache.responses", Default: Size(128 << 20), Least: Size(0), Most: Size(1 << 40), Invalidates: Responses,
			Doc: "memory for HTTP responses, of the forward proxy and of proxy.origins; 0B turns this cache off",
		},
		{
			Path: "cache.max_response", Default: Size(8 << 20), Least: Size(1 << 10), Most: Size(1 << 40), Invalidates: Responses,
			Doc: "the largest body that is cached in memory; at most an eighth of cache.responses",
		},
		{
			Path: "cache.heuristic_percent", Default: 10, Least: 0, Most: 100, Invalidates: Responses,
			Doc: "the freshness lifetime of responses that name none: a percentage of the time since their last " +
				"modification (RFC 9111 section 4.2.2); 0 makes none",
		},
		{
			Path: "cache.heuristic_max", Default: day, Least: time.Duration(0), Most: 365 * day, Invalidates: Responses,
			Doc: "and at most this long",
		},
		{
			Path: "cache.harmless_fields", Default: []string{},
			Form: "name of a field, with * at its end for all that begin so", check: checkHarmlessFields, Invalidates: Responses | Disk,
			Doc: "Fields of requests, or the beginnings of their names such as npm-*, that do not matter to what an " +
				"origin answers. A response to a request with fields that urnd does not know (docs/proxy.md) is " +
				"stored for others only if its Vary names them, or if they are listed here.",
		},
		{
			Path: "cache.collapse_timeout", Default: 5 * time.Second,
			Least: 10 * time.Millisecond, Most: time.Minute, Invalidates: Responses,
			Doc: "How long clients wait for the response to another one who asks for the same; then one of them asks " +
				"the origin too, and after twice the time each does.",
		},
		{
			Path: "cache.disk", Least: Size(0), Most: Size(1 << 50), Invalidates: Responses,
			Doc: "space on disk for HTTP responses; 0B uses none",
		},
		{
			Path: "cache.disk_directory", Form: "path that begins with a slash", check: checkDirectory, Invalidates: Responses,
			Doc: "The directory of these responses. Empty: the cache directory of systemd (CACHE_DIRECTORY).",
		},
		{
			Path: "cache.stale_for", Default: day, Least: time.Duration(0), Most: week, Invalidates: Records | Answers | Responses,
			Doc: "how long after its expiry an answer, or a response, may be used while its source fails",
		},
		{
			Path: "cache.retry_after", Default: 30 * time.Second,
			Least: time.Second, Most: time.Hour, Invalidates: Records | Answers,
			Doc: "backoff: how long a failing source is not queried again while a stale answer is used",
		},
		{
			Path: "cache.directory", Form: "path that begins with a slash", check: checkDirectory, Invalidates: Records | Answers,
			Doc: "The directory of the snapshot of answers, a file that is written when urnd stops and read when it " +
				"starts. Empty: the state directory of systemd (STATE_DIRECTORY); without one there is no snapshot.",
		},
		{
			Path: "cache.max_saved", Default: Size(64 << 20), Least: Size(0), Most: Size(1 << 40), Invalidates: Records | Answers,
			Doc: "the maximum size of the snapshot; 0B saves nothing",
		},
	}, sharedSettings()...)
}

// checkHarmlessFields refuses what is no name of a field, and names that the cache has rules for.
func checkHarmlessFields(f *Faults, path string, value any) {
	names, _ := value.([]string)
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(name, "*")
		switch folded := strings.ToLower(strings.ReplaceAll(stem, "_", "-")); {
		case !httpguts.ValidHeaderFieldName(stem) || strings.Contains(stem, "*"):
			f.add(index(path, i), "%q is not the name of a field, which may end with * (RFC 9110 section 5.1)", name)
		case isPrefix && len(stem) < 3:
			f.add(index(path, i), "%q stands for too many fields: write at least three characters before *", name)
		case standsFor(handledFields[:], folded, isPrefix), isPrefix && strings.HasPrefix("content-type", folded): // alone it may be listed
			f.add(index(path, i), "%q has rules of its own in the cache (RFC 9111), which cannot be turned off", name)
		}
	}
}

// handledFields are fields of requests by which clients get what others must not get.
var handledFields = [...]string{
	"authorization", "cookie", "host", "range", "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
	"cache-control", "pragma", "origin",
}

// standsFor reports whether a name is one of several, or the beginning of one.
func standsFor(names []string, name string, isPrefix bool) bool {
	return slices.ContainsFunc(names, func(one string) bool { return one == name || isPrefix && strings.HasPrefix(one, name) })
}

// decidingFields are fields by which frameworks and proxies of origins replace the method, the URI, the host or the client of a request,
// besides all x-forwarded-* and all that end with -override.
var decidingFields = [...]string{
	"forwarded", "x-forwarded-", "x-real-ip", "x-http-method", "x-http-method-override", "x-method-override",
	"x-host", "x-original-host", "x-original-url", "x-rewrite-url",
}

// warnOfHarmlessFields names entries that are often not harmless: what an origin makes of them would be stored for all.
func warnOfHarmlessFields(f *Faults, names []string) {
	for i, name := range names {
		stem, isPrefix := strings.CutSuffix(strings.ToLower(strings.ReplaceAll(name, "_", "-")), "*")
		if standsFor(decidingFields[:], stem, isPrefix) || strings.HasPrefix(stem, "x-forwarded-") || strings.HasSuffix(stem, "-override") {
			f.add(index("cache.harmless_fields", i), "origins are known to answer differently by what %s stands for, and others would get the "+
				"response: list it only where you know that yours do not", name)
		}
	}
}

func checkDirectory(f *Faults, path string, value any) {
	if directory, _ := value.(string); directory != "" && !strings.HasPrefix(directory, "/") {
		f.add(path, "%q does not begin with a slash", directory)
	}
}
