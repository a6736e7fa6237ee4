package config

import "time"

// THTTP bounds requests to resolution servers, RFC 2169.
type THTTP struct {
	Timeout time.Duration `mapstructure:"timeout"` // of one exchange
	// DefaultTTL is the TTL of answers without freshness information.
	DefaultTTL time.Duration `mapstructure:"default_ttl"`
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
			Path: "thttp.default_ttl", Default: 5 * time.Minute, Least: time.Duration(0), Most: 365 * day,
			Doc: "TTL of answers without freshness information; resolve.max_ttl is the most of others",
		},
	}
}
