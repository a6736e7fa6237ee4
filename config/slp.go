package config

import (
	"net/netip"
	"regexp"
	"slices"
	"time"
)

// SLP names directory agents for the discovery of resolution servers: RFC 2608.
type SLP struct {
	Agents []Agent `mapstructure:"agents"` // empty: SLP is not used, unless Multicast is on
	// Multicast sends requests to Group, where Agents is empty.
	Multicast bool          `mapstructure:"multicast"`
	Group     Agent         `mapstructure:"group"`
	Scopes    []string      `mapstructure:"scopes"`
	Language  string        `mapstructure:"language"`
	Timeout   time.Duration `mapstructure:"timeout"` // for one agent
	// NoneTTL is the TTL of the result that no agent knows a server.
	NoneTTL time.Duration `mapstructure:"none_ttl"`
}

// Enabled reports whether directory agents are configured.
func (c SLP) Enabled() bool { return len(c.Agents) > 0 || c.Multicast }

func slpSettings() []Setting {
	return []Setting{
		{
			Path: "slp", Invalidates: Answers | Snapshot,
			Doc: "Service location, RFC 2608: directory agents know the THTTP servers of namespaces, as services of " +
				"the type service:urn-resolver:thttp with the attribute nid.",
		},
		{
			Path: "slp.agents", Default: []Agent{}, Form: "IP address, with or without port",
			Doc: "IP addresses, with or without port. Empty: SLP is not used, unless multicast is on.",
		},
		{Path: "slp.multicast", Doc: "if there are no agents, send requests to the multicast group"},
		{
			Path: "slp.group", Default: Agent{netip.MustParseAddrPort("239.255.255.253:427")},
			Form: "IP address, with or without port",
			Doc:  "the multicast group",
		},
		{
			Path: "slp.scopes", Default: []string{"DEFAULT"}, Form: "text", check: checkScopes,
			Doc: "the scopes in which services are searched",
		},
		{Path: "slp.language", Default: "en", Form: "language tag", check: checkSLPLanguage, Doc: "the language of requests"},
		{Path: "slp.timeout", Default: 5 * time.Second, Least: time.Millisecond, Most: time.Minute, Doc: "for one agent"},
		{
			Path: "slp.none_ttl", Default: time.Minute, Least: time.Second, Most: day,
			Doc: "TTL of the result that no agent knows a server",
		},
	}
}

func checkScopes(f *Faults, path string, value any) {
	if scopes, _ := value.([]string); len(scopes) == 0 || slices.Contains(scopes, "") {
		f.add(path, "names no scope: agents answer only requests for one of their scopes (RFC 2608 section 8.1)")
	}
}

// languageTag is RFC 2608 section 8.
var languageTag = regexp.MustCompile(`^[A-Za-z]{1,8}(-[A-Za-z]{1,8})*$`)

func checkSLPLanguage(f *Faults, path string, value any) {
	if tag, _ := value.(string); !languageTag.MatchString(tag) {
		f.add(path, "%q is not a language tag such as en", tag)
	}
}
