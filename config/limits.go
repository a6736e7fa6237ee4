package config

import "time"

// Limits bounds what a client may send, and how long things may take.
type Limits struct {
	Target            Size          `mapstructure:"target"` // of a request-target
	Header            Size          `mapstructure:"header"` // of all header fields
	HeaderTimeout     time.Duration `mapstructure:"header_timeout"`
	IdleTimeout       time.Duration `mapstructure:"idle_timeout"`
	ClientShare       int           `mapstructure:"client_share"`   // a percentage
	NetworkFactor     int           `mapstructure:"network_factor"` // of what a /64 network has
	DrainTime         time.Duration `mapstructure:"drain_time"`
	NoticeTime        time.Duration `mapstructure:"notice_time"`
	BodyTimeout       time.Duration `mapstructure:"body_timeout"`
	WriteTimeout      time.Duration `mapstructure:"write_timeout"`
	Connections       int           `mapstructure:"connections"`
	ClientConnections int           `mapstructure:"client_connections"` // 0 is no limit
	Requests          int           `mapstructure:"requests"`           // resolutions at a time
	Fetches           int           `mapstructure:"fetches"`            // at a time
	Streams           int           `mapstructure:"streams"`            // upgraded connections at a time
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

func limitSettings() []Setting {
	return []Setting{
		// Failures because of limits and timeouts are not stored.
		{
			Path: "limits", Invalidates: Nothing,
			Doc: "Limits of what a client may send and use, and timeouts. Each refusal names its limit.",
		},
		{
			Path: "limits.target", Default: Size(8 << 10), Least: Size(256), Most: Size(1 << 20),
			Doc: "of a request-target; longer ones are answered 414",
		},
		{
			Path: "limits.header", Default: Size(64 << 10), Least: Size(4 << 10), Most: Size(16 << 20),
			Doc: "of all header fields; larger ones are answered 431",
		},
		{
			Path: "limits.header_timeout", Default: 10 * time.Second, Least: time.Millisecond, Most: time.Hour,
			Doc: "for a client to send its header",
		},
		{
			Path: "limits.idle_timeout", Default: 2 * time.Minute, Least: time.Millisecond, Most: day,
			Doc: "between the requests of one connection",
		},
		{
			Path: "limits.write_timeout", Default: time.Minute, Least: time.Second, Most: day,
			Doc: "for a client to read a chunk (64 KiB) of a response",
		},
		{
			Path: "limits.body_timeout", Default: time.Minute, Least: time.Millisecond, Most: day,
			Doc: "for a client to send the next part of a request's body",
		},
		{
			Path: "limits.connections", Default: 8192, Least: 1, Most: 1_000_000,
			Doc: "connections of clients at a time; for a new one, the one of the largest client that has waited " +
				"longest for a request is closed; where all are in use, the new one waits; by HTTP/2 each may have 8 to " +
				"100 requests at a time, as many as there is memory for",
		},
		{
			Path: "limits.client_connections", Default: 1024, Least: 0, Most: 1_000_000,
			Doc: "connections of one client at a time; for a new one, the one that has waited longest for a request " +
				"is closed; where all are in use, the new one is answered 429; 0 is no limit",
		},
		{
			Path: "limits.requests", Default: 1024, Least: 1, Most: 1_000_000,
			Doc: "names at a time that are being resolved; others are answered 503, unless they are cached",
		},
		{
			Path: "limits.fetches", Default: 1024, Least: 1, Most: 1_000_000,
			Doc: "requests at a time that fetch from an origin; others are answered 503",
		},
		{
			Path: "limits.streams", Default: 1024, Least: 1, Most: 1_000_000,
			Doc: "tunnels (CONNECT), and connections that have changed their protocol, such as WebSockets, at a time; " +
				"others are answered 503; at most half of outgoing",
		},
		{
			Path: "limits.documents", Default: Size(256 << 20), Least: Size(1 << 20), Most: Size(1 << 40),
			Doc: "memory for documents that are made whole, listings of gateways above all, while they are made and " +
				"until their clients have read them; answers of more than 4KiB take units of 64KiB of it; others are " +
				"answered 503",
		},
		{
			Path: "limits.tunnel_idle", Default: 15 * time.Minute, Least: time.Second, Most: day,
			Doc: "how long a tunnel (CONNECT), or a connection that has changed its protocol, may carry nothing",
		},
		{
			Path: "limits.client_share", Default: 25, Least: 1, Most: 100,
			Doc: "the percentage of requests, of fetches, of streams, of bound connections and of documents that one " +
				"client may hold at a time; it is answered 503 for more; names that are cached or have local rules " +
				"need none, and neither does waiting for what another client has begun; 100 is no bound",
		},
		{
			Path: "limits.network_factor", Default: 2, Least: 1, Most: 1000,
			Doc: "how many times client_connections, client_share and rate the addresses of one /64 network of IPv6 " +
				"have together, of which one host may have any number; where client_share times it is 100 or more, " +
				"one network may take all",
		},
		{
			Path: "limits.rate", Least: 0, Most: 10_000_000,
			Doc: "requests of one client a second; more are answered 429; 0 is no limit",
		},
		{Path: "limits.outgoing", Default: 2048, Least: 1, Most: 1_000_000, Doc: "connections to origins at a time; more wait; a quarter of them may belong to clients that log in there with NTLM or Negotiate"},
		{
			Path: "limits.dns_queries", Default: 1024, Least: 1, Most: 1_000_000,
			Doc: "queries to DNS servers at a time; more wait",
		},
		{
			Path: "limits.memory", Least: Size(0), Most: Size(1 << 50),
			Doc: "memory that the Go runtime tries to stay below (GOMEMLIMIT); it must be more than the maximum of " +
				"the caches, and urnd config check refuses less than what all settings allow together; what is left " +
				"is for requests by HTTP/2 (see connections); 0B is nine " +
				"tenths of the limit of the control group (memory.max, memory.high; MemoryMax of systemd), and none " +
				"where that has none",
		},
		{
			Path: "limits.connect_timeout", Default: 10 * time.Second, Least: time.Millisecond, Most: 10 * time.Minute,
			Doc: "to connect to an origin server",
		},
		{
			Path: "limits.origin_timeout", Default: time.Minute, Least: time.Millisecond, Most: day,
			Doc: "for an origin to begin its answer",
		},
		{
			Path: "limits.origin_idle", Default: 5 * time.Minute, Least: time.Second, Most: day,
			Doc: "between two reads of its response",
		},
		{
			Path: "limits.drain_time", Default: time.Second, Least: time.Duration(0), Most: time.Hour,
			Doc: "how long urnd goes on answering when it is stopped, while it asks clients to close their " +
				"connections; it ends at once when there are none",
		},
		{
			Path: "limits.notice_time", Default: time.Duration(0), Least: time.Duration(0), Most: time.Hour,
			Doc: "how long urnd accepts connections at least when it is stopped, while /readyz says so: until a load balancer " +
				"in front has seen it; not where systemd holds the sockets",
		},
		{
			Path: "limits.shutdown_timeout", Default: 10 * time.Second, Least: time.Duration(0), Most: time.Hour,
			Doc: "for running requests to finish when urnd is stopped",
		},
	}
}

// warnOfDocuments warns where limits.documents is not what it bounds: a listing has at most the share of its client, and takes more.
func warnOfDocuments(f *Faults, c Config) {
	share := c.Limits.Documents * Size(c.Limits.ClientShare) / 100
	if c.Gateways.MaxListing > share {
		f.add("gateways.max_listing", "%s is more than %s, which one client may have of limits.documents: a listing can take "+
			"more memory than is counted",
			show(c.Gateways.MaxListing), show(share))
	}
}
