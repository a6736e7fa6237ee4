// Package config is the configuration of urnd: plain structs, their defaults and
// bounds. It is read at the start and at each reload; only cmd/urnd imports it.
package config

import (
	"log/slog"
	"net/netip"
	"time"

	"github.com/urnd/urnd/uri"
)

// Config is everything an administrator can set. The zero value is not a
// configuration: begin with Default. Keys of files are the mapstructure tags,
// joined by dots; the environment variable of dns.timeout is URND_DNS_TIMEOUT.
// The tag secret marks what may hold a secret by mistake: messages do not show its value.
type Config struct {
	Listen     Listen      `mapstructure:"listen"`
	TLS        TLS         `mapstructure:"tls"`
	DNS        DNS         `mapstructure:"dns"`
	DDDS       DDDS        `mapstructure:"ddds"`
	Resolve    Resolve     `mapstructure:"resolve"`
	Registry   Registry    `mapstructure:"registry"`
	THTTP      THTTP       `mapstructure:"thttp"`
	SLP        SLP         `mapstructure:"slp"`
	URN        URN         `mapstructure:"urn"`
	Cache      Cache       `mapstructure:"cache"`
	Access     Access      `mapstructure:"access"`
	Proxy      Proxy       `mapstructure:"proxy"`
	Gateways   Gateways    `mapstructure:"gateways"`
	FTP        FTP         `mapstructure:"ftp"`
	Gopher     Gopher      `mapstructure:"gopher"`
	News       News        `mapstructure:"news"`
	WAIS       WAIS        `mapstructure:"wais"`
	File       File        `mapstructure:"file"`
	Limits     Limits      `mapstructure:"limits"`
	Reload     Reload      `mapstructure:"reload"`
	Log        Log         `mapstructure:"log"`
	Telemetry  Telemetry   `mapstructure:"telemetry"`
	Namespaces []Namespace `mapstructure:"namespaces"`
}

// Listen holds the addresses that urnd listens on, "host:port".
type Listen struct {
	Service []string `mapstructure:"service"`
	TLS     []string `mapstructure:"tls"`   // empty: no such listener
	Admin   string   `mapstructure:"admin"` // or "unix:/path"; empty: no such listener
	// RedirectTLS redirects requests to Service, but not those to the proxy, to https.
	RedirectTLS bool `mapstructure:"redirect_tls"`
	// HTTP2 offers HTTP/2 by TLS.
	HTTP2 bool `mapstructure:"http2"`
	// FastPath answers plain requests from the caches before they are read in full.
	FastPath bool `mapstructure:"fast_path"`
	// ProxyProtocol are the addresses that send the PROXY protocol.
	ProxyProtocol []netip.Prefix `mapstructure:"proxy_protocol"`
	// Names are host names of this urnd, besides localhost and the name of the machine.
	Names []string `mapstructure:"names"`
}

// TLS names files of certificates: paths, or "credential:" and a name.
type TLS struct {
	Certificate string `mapstructure:"certificate"`
	Key         string `mapstructure:"key" secret:"true"`
	ClientCA    string `mapstructure:"client_ca"` // of administrators; empty: no client certificate is required
}

// DNS says which servers are queried, and how.
type DNS struct {
	Servers []Server      `mapstructure:"servers"` // empty: those of /etc/resolv.conf
	Timeout time.Duration `mapstructure:"timeout"` // of one query to one server
	Rounds  int           `mapstructure:"rounds"`  // how often the list of servers is tried
	// HedgeAfter is the time without an answer after which the next server is
	// queried in parallel; 0 waits for Timeout.
	HedgeAfter time.Duration `mapstructure:"hedge_after"`
	// MinTTL and MaxTTL bound how long record sets are cached.
	MinTTL time.Duration `mapstructure:"min_ttl"`
	MaxTTL time.Duration `mapstructure:"max_ttl"`
	// RefreshAhead queries record sets that are in use again before they expire.
	RefreshAhead bool `mapstructure:"refresh_ahead"`
	MixedCase    bool `mapstructure:"mixed_case"` // of questions
}

// DDDS configures the Dynamic Delegation Discovery System, RFC 3401 to 3404.
type DDDS struct {
	Enabled    bool     `mapstructure:"enabled"`
	Roots      []string `mapstructure:"roots"`     // domains below which NIDs are looked up, in order
	URIRoots   []string `mapstructure:"uri_roots"` // domains below which schemes are looked up; empty: none are
	MaxDomains int      `mapstructure:"max_domains"`
	// Refer redirects clients to the THTTP servers that records name, instead of
	// querying them.
	Refer bool `mapstructure:"refer"`
	// Fallback tries the next record of an order when following one fails.
	Fallback bool `mapstructure:"fallback"`
	// RootOptions are options of single roots.
	RootOptions []RootOptions `mapstructure:"root_options"`
}

// RootOptions says how one of the roots is looked up.
type RootOptions struct {
	Root          string   `mapstructure:"root"`           // one of DDDS.Roots or DDDS.URIRoots
	Servers       []Server `mapstructure:"servers"`        // empty: those of DNS
	RequireDNSSEC bool     `mapstructure:"require_dnssec"` // refuse responses without the AD bit
}

// THTTP bounds requests to resolution servers, RFC 2169, and their responses.
type THTTP struct {
	Timeout      time.Duration `mapstructure:"timeout"`       // of one exchange
	MaxBody      Size          `mapstructure:"max_body"`      // of a list
	MaxLocations int           `mapstructure:"max_locations"` // of a list
	// DefaultTTL is the TTL of answers without freshness information.
	DefaultTTL time.Duration `mapstructure:"default_ttl"`
	MaxTTL     time.Duration `mapstructure:"max_ttl"` // of any answer
}

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

// Resolve bounds one resolution.
type Resolve struct {
	Timeout time.Duration `mapstructure:"timeout"`
	// Order names the systems that are queried for a URN, first to last.
	Order []string `mapstructure:"order"`
	// Backoff is how long a server that could not be reached is not asked again; 0 always
	// asks it.
	Backoff time.Duration `mapstructure:"backoff"`
	// RuleTTL is the TTL of answers from namespace rules, which have no TTL of their own.
	RuleTTL time.Duration `mapstructure:"rule_ttl"`
	// Fallback is a URI template: clients are redirected there for names that no
	// system resolves. Empty: the status is UnknownStatus.
	Fallback string `mapstructure:"elsewhere"`
	// UnknownStatus is 404, 501 or 502.
	UnknownStatus int `mapstructure:"unknown_status"`
	// Identifiers are identifiers without "urn:", before the built-in ones.
	Identifiers []Identifier `mapstructure:"identifiers"`
}

// Identifier makes identifiers of a form, such as a bare ISBN, into URIs.
type Identifier struct {
	Pattern  string `mapstructure:"pattern"`  // of the whole identifier
	Template string `mapstructure:"template"` // a URI template, RFC 6570
}

// URN says which names are accepted as URNs.
type URN struct {
	// Accept names specifications of URN syntax, "rfc2141", "draft" and
	// "rfc8141". Each part of a URN must conform to at least one of them.
	Accept []string `mapstructure:"accept"`
}

// Specs returns the specifications in Accept.
func (u URN) Specs() uri.Conformance {
	var specs uri.Conformance
	for _, name := range u.Accept {
		spec, _ := uri.ParseConformance(name) // Validate has checked it
		specs |= spec
	}
	return specs
}

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
	// CollapseTimeout is how long clients wait for the exchange of another one before a second one asks,
	// and CollapseLimit bounds the requests to an origin of those who have waited in vain.
	CollapseTimeout time.Duration `mapstructure:"collapse_timeout"`
	CollapseLimit   int           `mapstructure:"collapse_limit"`
	// Disk is the space for HTTP responses in DiskDirectory, 0 for none.
	Disk          Size   `mapstructure:"disk"`
	DiskDirectory string `mapstructure:"disk_directory"`
}

// Access says which clients may use which services.
type Access struct {
	// AllowDestinations permits address ranges that are refused by default:
	// loopback, private, link-local, multicast and reserved ones.
	AllowDestinations []netip.Prefix `mapstructure:"allow_destinations"`
	ResolveClients    []netip.Prefix `mapstructure:"resolve_clients"`
	// ProxyClients may use the forward proxy and the redirects of URLs.
	ProxyClients []netip.Prefix `mapstructure:"proxy_clients"`
	ProxyUsers   string         `mapstructure:"proxy_users" secret:"true"` // a file; empty: no password is required
	// FreshClients may have names resolved anew by Cache-Control: no-cache.
	FreshClients []netip.Prefix `mapstructure:"fresh_clients"`
	// CORS are the origins whose pages may read public replies; "*" is all.
	CORS []string `mapstructure:"cors"`
	// Embedders are the origins whose pages may load what is retrieved for their readers.
	Embedders       []string       `mapstructure:"embedders"`
	SecurityContact string         `mapstructure:"security_contact"` // of security.txt, a URI; empty: there is none
	AdminClients    []netip.Prefix `mapstructure:"admin_clients"`
	AdminToken      string         `mapstructure:"admin_token" secret:"true"` // a file; empty: no token is required
	// TrustedProxies are proxies whose X-Forwarded-For or Forwarded names the client.
	TrustedProxies []netip.Prefix `mapstructure:"trusted_proxies"`
	// PurgeClients may purge cached responses by PURGE.
	PurgeClients []netip.Prefix `mapstructure:"purge_clients"`
	// AdminProxies are likewise in front of the admin interface.
	AdminProxies []netip.Prefix `mapstructure:"admin_proxies"`
}

// Proxy says what the forward proxy passes on.
type Proxy struct {
	Policy   string      `mapstructure:"policy"` // "enforce", "report" or "open"
	Rules    []ProxyRule `mapstructure:"rules"`  // the first that holds decides
	Spelling string      `mapstructure:"spelling"`
	// Forwarded says how clients are named to origins.
	Forwarded string `mapstructure:"forwarded"`
	// Underscores is whether sites get fields with "_" in their names.
	Underscores      bool        `mapstructure:"underscores_in_fields"`
	ConnectPorts     []PortRange `mapstructure:"connect_ports"`
	ConnectAddresses bool        `mapstructure:"connect_addresses"` // CONNECT to IP addresses
	Upstreams        []Upstream  `mapstructure:"upstreams"`         // the first that holds is used
	PACProxies       []string    `mapstructure:"pac_proxies"`       // addresses in /proxy.pac; empty: there is none
	PACDirect        []string    `mapstructure:"pac_direct"`
	Origins          []Site      `mapstructure:"origins"`
	Targeted         []string    `mapstructure:"targeted"` // fields that replace Cache-Control: RFC 9213
}

// Upstream is a proxy through which requests are forwarded.
type Upstream struct {
	Hosts    []string `mapstructure:"hosts"`                  // as in ProxyRule; empty: all
	Server   string   `mapstructure:"server" secret:"true"`   // "http://", "https://" or "socks5://", host and port; or "direct"
	User     string   `mapstructure:"user"`                   // empty: no credentials
	Password string   `mapstructure:"password" secret:"true"` // a file
	// TLS is how an https server is authenticated, and urnd to it.
	TLS ServerTLS `mapstructure:"tls"`
}

// Site is a site that urnd is the gateway of.
type Site struct {
	Host    string   `mapstructure:"host"`
	Servers []string `mapstructure:"servers"` // "http://" or "https://", host and port
	// Spelling is "exact" or "normal"; empty: exact.
	Spelling string `mapstructure:"spelling"`
	// Forwarded says how the servers are told of the client, and how it came; empty: as Proxy.Forwarded.
	Forwarded string `mapstructure:"forwarded"`
	// TLS is how https servers are authenticated, and urnd to them.
	TLS ServerTLS `mapstructure:"tls"`
}

// ServerTLS is how a server is authenticated by TLS, and urnd to it. Its files are paths, or "credential:" and a name.
// The zero value believes the authorities of the system, and has no certificate.
type ServerTLS struct {
	CA          string `mapstructure:"ca"`          // of the authorities of the server
	ServerName  string `mapstructure:"server_name"` // empty: the host of the server
	Certificate string `mapstructure:"certificate"` // of urnd
	Key         string `mapstructure:"key" secret:"true"`
	MinVersion  string `mapstructure:"min_version"` // "1.2" or "1.3"; empty: "1.2"
}

// ProxyRule allows or denies the requests for which all of its conditions hold. An empty one holds
// for all requests.
type ProxyRule struct {
	ID           string         `mapstructure:"id"`
	Action       string         `mapstructure:"action"` // "allow" or "deny"
	Clients      []netip.Prefix `mapstructure:"clients"`
	Users        []string       `mapstructure:"users"`
	Methods      []string       `mapstructure:"methods"`
	Schemes      []string       `mapstructure:"schemes"` // "connect" stands for CONNECT
	Hosts        []string       `mapstructure:"hosts"`   // names, ".example.org", patterns, addresses and ranges
	Ports        []PortRange    `mapstructure:"ports"`
	Destinations []netip.Prefix `mapstructure:"destinations"` // addresses that are dialled
}

// Limits bounds what a client may send, and how long things may take.
type Limits struct {
	Target            Size          `mapstructure:"target"` // of a request-target
	Header            Size          `mapstructure:"header"` // of all header fields
	HeaderTimeout     time.Duration `mapstructure:"header_timeout"`
	IdleTimeout       time.Duration `mapstructure:"idle_timeout"`
	ClientShare       int           `mapstructure:"client_share"`   // a percentage
	NetworkFactor     int           `mapstructure:"network_factor"` // of what a /64 network has
	BatchTimeout      time.Duration `mapstructure:"batch_timeout"`
	DrainTime         time.Duration `mapstructure:"drain_time"`
	BodyTimeout       time.Duration `mapstructure:"body_timeout"`
	WriteTimeout      time.Duration `mapstructure:"write_timeout"`
	Connections       int           `mapstructure:"connections"`
	ClientConnections int           `mapstructure:"client_connections"` // 0 is no limit
	Requests          int           `mapstructure:"requests"`           // resolutions at a time
	Fetches           int           `mapstructure:"fetches"`            // at a time
	Streams           int           `mapstructure:"streams"`            // upgraded connections at a time
	BoundConnections  int           `mapstructure:"bound_connections"`  // to origins, each of one client
	Documents         Size          `mapstructure:"documents"`          // memory of what is made whole
	TunnelIdle        time.Duration `mapstructure:"tunnel_idle"`        // of tunnels and upgraded connections
	Rate              int           `mapstructure:"rate"`               // of one client, a second; 0 is no limit
	Outgoing          int           `mapstructure:"outgoing"`           // connections at a time
	DNSQueries        int           `mapstructure:"dns_queries"`        // at a time
	Memory            Size          `mapstructure:"memory"`             // 0 is no limit
	ConnectTimeout    time.Duration `mapstructure:"connect_timeout"`
	OriginTimeout     time.Duration `mapstructure:"origin_timeout"`
	OriginIdle        time.Duration `mapstructure:"origin_idle"`
	ShutdownTimeout   time.Duration `mapstructure:"shutdown_timeout"`
}

// Reload says when the configuration is read again, in addition to SIGHUP.
type Reload struct {
	Watch bool `mapstructure:"watch"` // when the file changes
}

// Log says what is logged, and how.
type Log struct {
	Level      slog.Level `mapstructure:"level"`
	Format     string     `mapstructure:"format"`      // "auto", "text", "json" or "journald"
	Access     string     `mapstructure:"access"`      // "off", "json", "combined" or "squid"
	AccessFile string     `mapstructure:"access_file"` // empty: standard error
}

// Registry says where the names are that the site owns.
type Registry struct {
	Store    string        `mapstructure:"store" secret:"true"`    // "sqlite:PATH" or "postgres://..."; empty: there is no registry
	Replica  string        `mapstructure:"replica" secret:"true"`  // of a PostgreSQL database; empty: none
	Password string        `mapstructure:"password" secret:"true"` // a file, or "credential:" and a name; empty: none
	TTL      time.Duration `mapstructure:"ttl"`
	Only     []string      `mapstructure:"only"` // what names begin with; empty: all URNs
	Count    bool          `mapstructure:"count"`
	// HealthInterval is the time in which each target is checked once; 0: none is. HealthRate bounds the requests a second,
	// HealthConcurrency those at once, and HealthPause is the time between two to one server.
	HealthInterval    time.Duration `mapstructure:"health_interval"`
	HealthRate        int           `mapstructure:"health_rate"`
	HealthConcurrency int           `mapstructure:"health_concurrency"`
	HealthPause       time.Duration `mapstructure:"health_pause"`
	HealthContact     string        `mapstructure:"health_contact"` // in User-Agent: a URL or a mail address
}

// Telemetry says where traces are sent.
type Telemetry struct {
	Endpoint string `mapstructure:"endpoint"` // empty: nowhere
	Sample   int    `mapstructure:"sample"`   // one request of so many
}

// Namespace is a URN namespace of this site, or a change to one that is built
// in: fields that are not set keep the built-in value.
type Namespace struct {
	NID     string   `mapstructure:"nid"`
	Fold    string   `mapstructure:"fold"`    // "none", "lower", "upper", "prefix" or "first"
	Strip   string   `mapstructure:"strip"`   // octets that are ignored in comparison
	Check   string   `mapstructure:"check"`   // "strict", or "warn": names that fail the check of the namespace are accepted
	Pattern string   `mapstructure:"pattern"` // what a canonical NSS must match
	Order   []string `mapstructure:"order"`   // as resolve.order
	THTTP   []string `mapstructure:"thttp"`   // servers that are queried by THTTP, such as "https://resolver.example.org"
	Schemes []string `mapstructure:"schemes"` // of locations that these servers may return, in addition to http and https; empty: all
	Targets []Target `mapstructure:"targets"`
}

// Target is a location of names of a Namespace.
type Target struct {
	Pattern  string `mapstructure:"pattern"`  // which names; empty: all
	Template string `mapstructure:"template"` // a URI template, RFC 6570
	Type     string `mapstructure:"type"`     // the media type of the resource; empty: not known
	Language string `mapstructure:"language"` // its language; empty: not known
	Gone     bool   `mapstructure:"gone"`     // the names have no location any more
}
