package squidconf

import (
	_ "embed"
	"strings"
)

// kind is the treatment of a directive.
type kind string

const (
	carried  kind = ""         // converted to a setting
	unneeded kind = "unneeded" // urnd needs no setting for it
	missing  kind = "missing"  // urnd does not support it
	acls     kind = "acl"      // like missing, but the names are types of acls
)

// row describes the treatment of directives.
type row struct {
	names   string // directives, separated by spaces
	kind    kind
	instead string // its replacement; why it is not needed; or an alternative
	// convert converts a line. It is nil for directives that are read with others, like acl with http_access.
	convert func(*conversion, Directive)
}

//go:embed directives.txt
var notCarried string

// table returns all directives that Squid 5.7 documents, for the command and the documentation.
func table() []row {
	all := carriedRows()
	for group := range strings.SplitSeq(notCarried, "\n\n") {
		head, names, _ := strings.Cut(group, "\n")
		if is, instead, ok := strings.Cut(head, ": "); ok && head[0] != '#' {
			all = append(all, row{names: names, kind: kind(is), instead: instead})
		}
	}
	return all
}

// rows returns the table by directive.
func rows() map[string]row {
	all := make(map[string]row)
	for _, r := range table() {
		for name := range strings.FieldsSeq(r.names) {
			if r.kind == acls {
				name = "acl " + name
			}
			all[name] = r
		}
	}
	return all
}

func carriedRows() []row {
	to := func(names, instead string, convert func(*conversion, Directive)) row {
		return row{names, carried, instead, convert}
	}
	return []row{
		to("acl", "`src`, `dst`, `dstdomain`, `port`, `proto`, `method`, `time`, `proxy_auth`, `any-of`, `all-of`; "+
			"`dstdom_regex`, `url_regex` and `urlpath_regex` that are exactly hosts, or beginnings of paths", nil),
		to("http_access", "`proxy.rules`, `access.proxy_clients`", nil),
		to("http_port",
			"`listen.service`; `intercept`, `tproxy`, `ssl-bump`: missing; `accel`: refused, write `proxy.sites`",
			(*conversion).httpPort),
		to("https_port", "`listen.tls`, `tls.certificate`, `tls.key`; as `http_port`", (*conversion).httpPort),
		to("auth_param",
			"`access.proxy_users` for `basic_ncsa_auth` with bcrypt hashes, else `access.helpers`; Digest, NTLM: "+
				"missing", nil),
		to("external_acl_type", "`access.helpers`, for groups of `%LOGIN`; others: missing", nil),
		to("cache_peer",
			"`proxy.upstreams` for parents; siblings, multicast, ICP, `originserver` (`proxy.sites`): missing",
			(*conversion).cachePeer),
		to("cache_peer_access", "`hosts` of `proxy.upstreams`, for `allow` with `dstdomain`", (*conversion).peerAccess),
		to("always_direct", "`proxies: [direct]` of `proxy.upstreams`, for `allow` with `dstdomain`",
			(*conversion).alwaysDirect),
		to("never_direct", "no `direct` in `proxy.upstreams`, for `allow all`", nil),
		to("cache_mem", "`cache.responses`; `cache.max_response` is at most an eighth of it",
			(*conversion).cacheMemory),
		to("cache_dir", "`cache.disk`, the sum of the sizes, in urnd's own directory", (*conversion).cacheDirectory),
		to("cache", "`cache.responses: 0B` for `deny all`; `no_store` in `cache` of `proxy.sites`",
			(*conversion).cacheAccess),
		to("refresh_pattern",
			"`cache.heuristic_percent`, `cache.heuristic_max`, for the pattern `.`; others: `cache` of `proxy.sites`",
			(*conversion).refresh),
		to("access_log",
			"`log.access`, with `only` for clients, users, methods, hosts and `http_status`; UDP, TCP: missing",
			(*conversion).accessLog),
		to("logformat", "`format` of `log.access`, after `squid:`, if urnd has all of its tokens", nil),
		to("visible_hostname", "`listen.names`", (*conversion).hostname),
		to("forwarded_for", "`proxy.forwarded`", (*conversion).forwardedFor),
		to("via", "always on", (*conversion).via),
		to("dns_nameservers", "`dns.servers`", (*conversion).nameServers),
		to("request_header_max_size", "`limits.header`", bytes().to("limits.header", 8<<10, 16<<20, sizeText)),
		to("client_ip_max_connections", "`limits.client_connections`",
			units{"": 1}.to("limits.client_connections", 0, 1_000_000, plainNumber)),
		to("connect_timeout", "`limits.connect_timeout`", timeout("limits.connect_timeout", 1, 600)),
		to("read_timeout", "`limits.origin_idle`", timeout("limits.origin_idle", 1, 86400)),
		to("write_timeout", "`limits.write_timeout`", timeout("limits.write_timeout", 1, 86400)),
		to("request_timeout request_start_timeout", "`limits.header_timeout`",
			timeout("limits.header_timeout", 1, 3600)),
		to("client_idle_pconn_timeout", "`limits.idle_timeout`", timeout("limits.idle_timeout", 1, 86400)),
		to("shutdown_lifetime", "`limits.shutdown_timeout`", timeout("limits.shutdown_timeout", 0, 3600)),
	}
}
