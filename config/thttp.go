package config

import "time"

// THTTP bounds requests to resolution servers, RFC 2169, and their responses.
type THTTP struct {
	Timeout      time.Duration `mapstructure:"timeout"`       // of one exchange
	MaxBody      Size          `mapstructure:"max_body"`      // of a list
	MaxLocations int           `mapstructure:"max_locations"` // of a list
	// DefaultTTL is the TTL of answers without freshness information.
	DefaultTTL time.Duration `mapstructure:"default_ttl"`
	MaxTTL     time.Duration `mapstructure:"max_ttl"` // of any answer
}

func thttpSettings() []Setting {
	return []Setting{
		{
			Path: "thttp", Invalidates: Answers | Snapshot,
			Doc: "Resolution servers that are queried by THTTP: those that records name, and those of " +
				"namespaces.thttp. Servers in private networks must be in access.allow_destinations.",
		},
		{
			Path: "thttp.timeout", Default: 5 * time.Second, Least: time.Millisecond, Most: 10 * time.Minute,
			Doc: "for one exchange",
		},
		{
			Path: "thttp.max_body", Default: Size(1 << 20), Least: Size(1 << 10), Most: Size(1 << 30),
			Doc: "of a list of locations",
		},
		{Path: "thttp.max_locations", Default: 100, Least: 1, Most: 10_000, Doc: "how many locations of a list are used"},
		{
			Path: "thttp.default_ttl", Default: 5 * time.Minute, Least: time.Duration(0), Most: 365 * day,
			Doc: "TTL of answers without freshness information",
		},
		{Path: "thttp.max_ttl", Default: week, Least: time.Second, Most: 365 * day, Doc: "maximum TTL of answers"},
	}
}
