//go:build e2e

package dialogs

// families is the table of all dialogs.
func families() []family {
	return []family{
		{name: "forwarding", dialogs: forwarding},
		{name: "sites", dialogs: sites},
		{name: "fetches", dialogs: fetches},
		{name: "tunnels", dialogs: tunnels},
		{name: "names", dialogs: names},
		{name: "services", dialogs: services},
		{name: "routes", bodies: true, dialogs: routes},
		{
			name: "pages", bodies: true,
			settings: "listen: {public_url: 'https://urn.example'}\nsite: {sitemap: true}\naccess: " +
				"{browse_all_clients: [127.0.0.1/32]}", dialogs: pages,
		},
		{name: "admin", dialogs: admin},
		{name: "methods", dialogs: methods},
		{name: "versions", dialogs: versions},
		{name: "malformed", dialogs: malformed},
		{name: "framing", dialogs: framing},
		{name: "hosts", dialogs: hosts},
		{name: "pipelines", dialogs: pipelines},
		{name: "cuts", dialogs: cuts},
		{name: "fields", dialogs: fields},
		{name: "negotiation", dialogs: negotiation},
		{name: "crossorigin", dialogs: crossOrigin},
		{name: "conditions", dialogs: conditions},
		{name: "tls", dialogs: secured},
		{name: "proxyprotocol", dialogs: proxyProtocol},
		{name: "http2", dialogs: multiplexed},
		{
			name: "late",
			settings: "limits: {header_timeout: 400ms, idle_timeout: 400ms, body_timeout: 400ms, origin_timeout: " +
				"400ms}", dialogs: late,
		},
		{name: "small", settings: "limits: {target: 256B, header: 4KiB}", dialogs: small},
		{name: "busy", settings: "limits: {fetches: 1}", dialogs: busy},
		{name: "crowded", settings: "limits: {client_connections: 1}", dialogs: crowded},
	}
}
