package config

import (
	"log/slog"
	"net/http"
	"net/netip"
	"time"

	"github.com/urnd/urnd/uri"
)

// Default returns the configuration that urnd runs with when it is given none.
func Default() Config {
	return Config{
		Listen: Listen{Service: "127.0.0.1:8141", Admin: "127.0.0.1:8142", ProxyProtocol: []netip.Prefix{}},
		DNS: DNS{
			Servers: []Server{}, Timeout: 2 * time.Second, Rounds: 2, HedgeAfter: 300 * time.Millisecond,
			MaxTTL: 7 * 24 * time.Hour, RefreshAhead: true,
		},
		DDDS: DDDS{Enabled: true, Roots: []string{"urn.arpa."}, URIRoots: []string{}, MaxDomains: 5, RootOptions: []RootOptions{}},
		Resolve: Resolve{
			Timeout: 10 * time.Second,
			Order:   []string{"ddds", "slp", "namespace"},
			RuleTTL: 24 * time.Hour, UnknownStatus: http.StatusNotFound,
		},
		THTTP: THTTP{Timeout: 5 * time.Second, MaxBody: 1 << 20, MaxLocations: 100, DefaultTTL: 5 * time.Minute, MaxTTL: 7 * 24 * time.Hour},
		SLP: SLP{
			Agents: []Agent{}, Group: Agent{netip.MustParseAddrPort("239.255.255.253:427")}, // RFC 2608 section 6.1
			Scopes: []string{"DEFAULT"}, Language: "en", Timeout: 5 * time.Second, NoneTTL: time.Minute,
		},
		URN: URN{Accept: uri.CurrentURN.Names()},
		Cache: Cache{
			Answers: 64 << 20, Records: 16 << 20,
			StaleFor: 24 * time.Hour, RetryAfter: 30 * time.Second, MaxSaved: 64 << 20,
		},
		Access: Access{
			AllowDestinations: []netip.Prefix{},
			ResolveClients:    []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")},
			ProxyClients:      loopback(), AdminClients: loopback(), TrustedProxies: []netip.Prefix{},
		},
		Limits: Limits{
			Target: 8 << 10, Header: 64 << 10,
			HeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, WriteTimeout: time.Minute,
			Connections: 8192, ClientConnections: 1024, Requests: 1024, Fetches: 1024, Streams: 1024, Outgoing: 2048, DNSQueries: 512,
			ConnectTimeout: 10 * time.Second, OriginTimeout: time.Minute, OriginIdle: 5 * time.Minute,
			ShutdownTimeout: 10 * time.Second,
		},
		Log:        Log{Level: slog.LevelInfo, Format: "auto", Access: "off"},
		Telemetry:  Telemetry{Sample: 1},
		Namespaces: []Namespace{},
	}
}

func loopback() []netip.Prefix {
	return []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
}
