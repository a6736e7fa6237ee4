package config

import (
	"log/slog"
	"time"
)

func limitSettings() []Setting {
	return []Setting{
		{Path: "limits", Doc: "Limits of what a client may send and use, and timeouts. Each refusal names its limit."},
		{Path: "limits.target", Default: Size(8 << 10), Doc: "of a request-target; longer ones are answered 414", Least: Size(256), Most: Size(1 << 20)},
		{Path: "limits.header", Default: Size(64 << 10), Doc: "of all header fields; larger ones are answered 431", Least: Size(4 << 10), Most: Size(16 << 20)},
		{Path: "limits.header_timeout", Default: 10 * time.Second, Doc: "for a client to send its header", Least: time.Millisecond, Most: time.Hour},
		{Path: "limits.idle_timeout", Default: 2 * time.Minute, Doc: "between the requests of one connection", Least: time.Millisecond, Most: day},
		{Path: "limits.batch_timeout", Default: 2 * time.Minute, Doc: "for all names of a batch; those that are left are answered 503", Least: time.Millisecond, Most: day},
		{Path: "limits.write_timeout", Default: time.Minute, Doc: "for a client to read a chunk (64 KiB) of a response", Least: time.Second, Most: day},
		{Path: "limits.body_timeout", Default: time.Minute, Doc: "for a client to send the next part of a request's body", Least: time.Millisecond, Most: day},
		{Path: "limits.connections", Default: 8192, Doc: "connections of clients at a time; for a new one, the one of the largest client that has waited longest for a request is closed; where all are in use, the new one waits", Least: 1, Most: 1_000_000},
		{Path: "limits.client_connections", Default: 1024, Doc: "connections of one client at a time; for a new one, the one that has waited longest for a request is closed; where all are in use, the new one is answered 429; 0 is no limit", Least: 0, Most: 1_000_000},
		{Path: "limits.requests", Default: 1024, Doc: "names at a time that are being resolved; others are answered 503, unless they are cached", Least: 1, Most: 1_000_000},
		{Path: "limits.fetches", Default: 1024, Doc: "requests at a time that fetch from an origin; others are answered 503", Least: 1, Most: 1_000_000},
		{Path: "limits.streams", Default: 1024, Doc: "tunnels (CONNECT), and connections that have changed their protocol, such as WebSockets, at a time; others are answered 503; at most half of outgoing", Least: 1, Most: 1_000_000},
		{
			Path: "limits.bound_connections", Default: 512,
			Doc: "connections to origins at a time that belong to one connection of a client, by which it logs in there with NTLM or Negotiate; " +
				"where all are in use others are answered 503; at most a quarter of outgoing", Least: 1, Most: 1_000_000,
		},
		{Path: "limits.documents", Default: Size(256 << 20), Doc: "memory for documents that are made whole, listings of gateways above all, while they are made and until their clients have read them; answers of more than 4KiB take units of 64KiB of it; others are answered 503", Least: Size(1 << 20), Most: Size(1 << 40)},
		{Path: "limits.tunnel_idle", Default: 15 * time.Minute, Doc: "how long a tunnel (CONNECT), or a connection that has changed its protocol, may carry nothing", Least: time.Second, Most: day},
		{
			Path: "limits.client_share", Default: 25,
			Doc: "the percentage of requests, of fetches, of streams, of bound connections and of documents that one client may hold at a time; it is answered 503 for more; " +
				"names that are cached or have local rules need none, and neither does waiting for what another client has begun; 100 is no bound", Least: 1, Most: 100,
		},
		{
			Path: "limits.network_factor", Default: 2,
			Doc: "how many times client_connections, client_share and rate the addresses of one /64 network of IPv6 have together, " +
				"of which one host may have any number; where client_share times it is 100 or more, one network may take all", Least: 1, Most: 1000,
		},
		{Path: "limits.rate", Doc: "requests of one client a second; more are answered 429; 0 is no limit", Least: 0, Most: 10_000_000},
		{Path: "limits.outgoing", Default: 2048, Doc: "connections to origins at a time; more wait", Least: 1, Most: 1_000_000},
		{Path: "limits.dns_queries", Default: 1024, Doc: "queries to DNS servers at a time; more wait", Least: 1, Most: 1_000_000},
		{Path: "limits.memory", Doc: "memory that the Go runtime tries to stay below (GOMEMLIMIT); it must be more than the maximum of the caches, and urnd config check refuses less than what all settings allow together; 0B is nine tenths of the limit of the control group (memory.max, memory.high; MemoryMax of systemd), and none where that has none", Least: Size(0), Most: Size(1 << 50)},
		{Path: "limits.connect_timeout", Default: 10 * time.Second, Doc: "to connect to an origin server", Least: time.Millisecond, Most: 10 * time.Minute},
		{Path: "limits.origin_timeout", Default: time.Minute, Doc: "for an origin to begin its answer", Least: time.Millisecond, Most: day},
		{Path: "limits.origin_idle", Default: 5 * time.Minute, Doc: "between two reads of its response", Least: time.Second, Most: day},
		{
			Path: "limits.drain_time", Default: time.Second,
			Doc:   "how long urnd goes on answering when it is stopped, while it asks clients to close their connections; it ends at once when there are none",
			Least: time.Duration(0), Most: time.Hour,
		},
		{Path: "limits.shutdown_timeout", Default: 10 * time.Second, Doc: "for running requests to finish when urnd is stopped", Least: time.Duration(0), Most: time.Hour},
		{Path: "reload", Doc: "The configuration is read again on SIGHUP (systemctl reload urnd). If it is invalid, nothing changes."},
		{Path: "reload.watch", Doc: "read it again when the file changes, too"},
	}
}

// warnOfDocuments warns where limits.documents is not what it bounds: a listing has at most the share of its client, and takes more.
func warnOfDocuments(f *Faults, c Config) {
	share := c.Limits.Documents * Size(c.Limits.ClientShare) / 100 //nolint:mnd // percent
	if c.Gateways.MaxListing > share {
		f.add("gateways.max_listing", "%s is more than %s, which one client may have of limits.documents: a listing can take more memory than is counted",
			show(c.Gateways.MaxListing), show(share))
	}
}

func logSettings() []Setting {
	return []Setting{
		{Path: "log", Doc: "What is logged, by default to standard error. Passwords in URLs are never shown."},
		{Path: "log.level", Default: slog.LevelInfo, Doc: "the lowest level that is logged", OneOf: []string{"DEBUG", "INFO", "WARN", "ERROR"}},
		{
			Path: "log.format", Default: "auto",
			Doc:   "auto is text on a terminal, native fields of journald under systemd, and json otherwise",
			OneOf: []string{"auto", "text", "json", "journald"},
		},
		{Path: "log.access", Default: "off", Doc: "the format of the access log, a line for each request", OneOf: []string{"off", "json", "combined", "squid"}},
		{Path: "log.access_file", Doc: "the file for these lines; it is reopened on SIGHUP; empty: standard error", Form: "path that begins with a slash", check: checkDirectory},
		{Path: "telemetry", Doc: "Traces for OpenTelemetry, one span for each step of a resolution."},
		{Path: "telemetry.endpoint", Doc: "the collector, by OTLP over HTTP, such as http://127.0.0.1:4318; empty: none are sent", Form: "http:// or https:// and a host", check: checkEndpoint},
		{Path: "telemetry.sample", Default: 1, Doc: "one of this many requests is traced, in addition to those whose traceparent asks for it", Least: 1, Most: 1_000_000},
	}
}

func checkEndpoint(f *Faults, path string, value any) {
	if endpoint, _ := value.(string); endpoint != "" {
		checkServer(f, path, endpoint)
	}
}
