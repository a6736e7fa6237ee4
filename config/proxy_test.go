package config_test

import (
	"net"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/netguard"
)

// TestExampleRules requires that the commented rules of the example are valid, without warnings.
func TestExampleRules(t *testing.T) {
	_, block, _ := strings.Cut(config.Example(), "  # rules:\n")
	text := "access: {proxy_clients: [10.0.0.0/8], proxy_users: /etc/urnd/users}\nproxy:\n  rules:\n"
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "  #") {
			break
		}
		text += "  " + strings.TrimPrefix(line, "  #")
	}
	c, err := config.Load(write(t, "urnd.yaml", text), nil)
	if err != nil || len(c.Proxy.Rules) != 4 || len(c.Warnings()) > 0 {
		t.Fatalf("%s\n%+v, %v, %v", text, c.Proxy, err, c.Warnings())
	}
	want := config.ProxyRule{
		ID: "packages", Action: "allow", Clients: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")},
		Users: []string{"ci"}, Methods: []string{"GET", "HEAD", "CONNECT"}, Schemes: []string{"http", "connect"},
		Hosts: []string{"www.example.org", ".example.com", "*.cdn-?.example.net", "192.0.2.0/24"},
		Ports: []config.PortRange{{First: 80, Last: 80}, {First: 443, Last: 443}, {First: 8000, Last: 8999}},
		Times: []config.Window{{Days: [7]bool{false, true, true, true, true, true, false}, From: 8 * 60, To: 18 * 60}},
	}
	if got := c.Proxy.Rules[1]; !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

// TestSites checks sites, and the authentication of their servers and of upstream proxies.
func TestSites(t *testing.T) {
	const site, upstream = "proxy: {sites: [{hosts: [a.example], servers: ['https://93.184.0.1'], ",
		"proxy: {upstreams: [{proxies: ['https://proxy.example:3128'], hosts: [.example.org], "
	for text, want := range map[string]string{
		site +
			"forwarded: forwarded, tls: {ca: /a, server_name: b.example, certificate: /b, key: 'credential:c', " +
			"min_version: 1.3}}]}": "",
		site + "tls: {min_version: '1.2'}}]}": "",
		site +
			"forwarded: xff}]}": `proxy.sites.0.forwarded: "xff" is not transparent, off, forwarded or x-forwarded-for`,
		site +
			"tls: {min_version: 1.1}}]}": `proxy.sites.0.tls.min_version: "1.1" is not 1.2 or 1.3`,
		site +
			"tls: {certificate: /a}}]}": "proxy.sites.0.tls.certificate: requires key, and key requires certificate",
		site +
			"tls: {key: /a}}]}": "proxy.sites.0.tls.certificate: requires key, and key requires certificate",
		site +
			"tls: {server_name: 'b.example:443'}}]}": `proxy.sites.0.tls.server_name: "b.example:443" is not a host`,
		site + "tls: {cert: /a}}]}":                                   "proxy.sites.0.tls.cert: unknown key",
		site + "tls: {certificate: /a, key: 's3cr3t PRIVATE KEY'}}]}": "its value is not shown",
		strings.Replace(site, "https", "http", 1) +
			"tls: {ca: /a}}]}": "proxy.sites.0.tls: requires an https server, and there is none",
		upstream + "tls: {ca: /a}}]}": "",
		upstream +
			"tls: {min_version: 2}}]}": `proxy.upstreams.0.tls.min_version: "2" is not`,
		strings.Replace(upstream, "https", "http", 1) +
			"tls: {ca: /a}}]}": "proxy.upstreams.0.tls: requires an https server, and there is",
	} {
		_, err := config.Load(write(t, "urnd.yaml", text), nil)
		if (err == nil) != (want == "") ||
			err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "s3cr3t")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestRulesInTOML(t *testing.T) {
	c, err := config.Load(write(t, "urnd.toml", `
[[proxy.rules]]
id = "a"
action = "deny"
clients = ["192.0.2.1"]
ports = [443, "8000-8999"]
`), nil)
	if err != nil || len(c.Proxy.Rules) != 1 || len(c.Proxy.Rules[0].Ports) != 2 ||
		c.Proxy.Rules[0].Clients[0].Bits() != 32 {
		t.Errorf("%+v, %v", c.Proxy, err)
	}
}

func TestRuleErrors(t *testing.T) {
	for _, tt := range []struct{ rules, path, want string }{
		{"{action: deny}", "0.id", "is missing"},
		{"{id: a b, action: deny}", "0.id", "must have at most 64 characters"},
		{"{id: a}", "0.action", "is missing: write allow or deny"},
		{"{id: a, action: denny}", "0.action", "did you mean deny?"},
		{"{id: a, action: deny}, {id: a, action: allow}", "1.id", "another rule"},
		{"{id: a, action: deny, client: [10.0.0.0/8]}", "0.client", "unknown key"},
		{"{id: a, action: deny, clients: [10.0.0]}", "0.clients.0", "not an address range"},
		{"{id: a, action: deny, clients: ['::ffff:10.0.0.0/104']}", "0.clients.0", "write it as IPv4"},
		{"{id: a, action: deny, destinations: [internal.example]}", "0.destinations.0", "not an address range"},
		{"{id: a, action: deny, destinations: ['::ffff:10.0.0.0/104']}", "0.destinations.0", "write it as IPv4"},
		{"{id: a, action: deny, users: ['a:b']}", "0.users.0", "without colon"},
		{"{id: a, action: deny, methods: [get]}", "0.methods.0", "case-sensitive"},
		{"{id: a, action: deny, schemes: ['http://']}", "0.schemes.0", "not a scheme"},
		{"{id: a, action: deny, ports: [https]}", "0.ports.0", "not a port"},
		{"{id: a, action: deny, ports: [70000]}", "0.ports.0", "not a port"},
		{"{id: a, action: deny, ports: [443.5]}", "0.ports.0", "not a port"},
		{"{id: a, action: deny, ports: ['90-80']}", "0.ports.0", "not a port"},
		{"{id: a, action: deny, hosts: ['https://a.example/']}", "0.hosts.0", "without scheme and port"},
		{"{id: a, action: deny, hosts: ['a.example:443']}", "0.hosts.0", "without scheme and port"},
		{"{id: a, action: deny, hosts: [bücher.example]}", "0.hosts.0", "xn--"},
		{"{id: a, action: deny, hosts: ['']}", "0.hosts.0", "not a host"},
		{"{id: a, action: deny, hosts: ['*']}", "0.hosts.0", "matches names without a dot: omit hosts"},
		{"{id: a, action: deny, hosts: ['192.168.1.*']}", "0.hosts.0", "write a range"},
		{"{id: a, action: deny, hosts: ['10.1']}", "0.hosts.0", "write a range"},
		{"{id: a, action: deny, hosts: ['.*.example.org']}", "0.hosts.0", "pattern, and must not begin with a dot"},
		{"{id: a, action: deny, hosts: ['::ffff:10.0.0.0/104']}", "0.hosts.0", "write it as IPv4"},
	} {
		_, err := config.Load(write(t, "urnd.yaml", "proxy:\n  rules: ["+tt.rules+"]\n"), nil)
		if err == nil || !strings.Contains(lines(err), "urnd.yaml:2: proxy.rules."+tt.path+": ") ||
			!strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q at %s", tt.rules, err, tt.want, tt.path)
		}
	}
	_, err := config.Load(write(t, "urnd.yaml", "proxy: {rules: {id: a}}"), nil)
	if err == nil || !strings.Contains(err.Error(), "proxy.rules: is a table, and must be a list") {
		t.Errorf("a table: %v", err)
	}
}

func TestRuleWarnings(t *testing.T) {
	for _, tt := range []struct{ rules, want string }{
		{
			"{id: a, action: deny}, {id: b, action: allow}",
			`proxy.rules.1: "b" never decides: "a" before it has no condition, and matches all requests`,
		},
		{
			"{id: a, action: deny, hosts: [], ports: []}, {id: b, action: allow}",
			`proxy.rules.1: "b" never decides: "a" before it`,
		},
		{
			"{id: a, action: deny, clients: [10.1.2.3/8]}",
			"proxy.rules.0.clients.0: 10.1.2.3/8 is interpreted as 10.0.0.0/8",
		},
		{
			"{id: a, action: deny, destinations: [10.1.2.3/8]}",
			"proxy.rules.0.destinations.0: 10.1.2.3/8 is interpreted as 10.0.0.0/8",
		},
		{
			"{id: a, action: deny, hosts: ['*.example.org']}",
			`proxy.rules.0.hosts.0: *.example.org matches only names with one label more than example.org: ".example.org" matches all subdomains`,
		},
		{"{id: a, action: deny, schemes: [https]}", "proxy.rules.0.schemes: has https without connect"},
		{"{id: a, action: deny, schemes: [https, connect], hosts: ['*.cdn-?.example.org']}", ""},
	} {
		c, err := config.Load(write(t, "urnd.yaml", "proxy: {rules: ["+tt.rules+"]}"), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.rules, err)
			continue
		}
		if got := c.Warnings(); (tt.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.rules, got, tt.want)
		}
	}
}

// TestUpstreamWarnings requires warnings, with suggestions, about addresses for which upstream proxies are no
// longer used.
func TestUpstreamWarnings(t *testing.T) {
	for _, tt := range []struct{ settings, want string }{
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128']}]}",
			"proxy.upstreams.0: is not used for addresses in private networks: list",
		},
		{"{access: {allow_destinations: [127.0.0.0/8, 10.0.0.1]}, proxy: {upstreams: [{proxies: " +
			"['http://proxy.example:3128']}]}}", "proxy.upstreams.0: is not used"},
		{
			"{access: {allow_destinations: [10.0.0.0/8]}, proxy: {upstreams: [{proxies: ['http://proxy.example:3128']}]}}",
			"",
		},
		{"proxy: {upstreams: [{proxies: [direct]}]}", ""},
		{"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: [.example.org, 93.184.0.0/16]}]}", ""},
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: [.example.org, 127.0.0.0/8]}]}",
			"proxy.upstreams.0.hosts.1: no upstream proxy is used for 127.0.0.0/8",
		},
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: ['169.254.169.254']}]}",
			"proxy.upstreams.0.hosts.0: no upstream",
		},
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: ['::1']}]}",
			"proxy.upstreams.0.hosts.0: no upstream",
		},
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: [localhost]}]}",
			"proxy.upstreams.0.hosts.0: no upstream",
		},
		{"proxy: {upstreams: [{proxies: [direct], hosts: [localhost]}]}", ""},
		{
			"proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: [10.1.0.0/16]}]}",
			"proxy.upstreams.0.hosts.0: the proxy is not used for addresses in 10.1.0.0/16",
		},
		{"{access: {allow_destinations: [10.0.0.0/8]}, proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], " +
			"hosts: [10.1.0.0/16]}]}}", ""},
	} {
		c, err := config.Load(write(t, "urnd.yaml", tt.settings), nil)
		if err != nil {
			t.Errorf("%s: %v", tt.settings, err)
			continue
		}
		if got := c.Warnings(); (tt.want == "") != (len(got) == 0) || !strings.Contains(got.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.settings, got, tt.want)
		}
	}
}

// TestUpstreamWarningsOfRanges: networks are compared with special networks, even if they are wider.
func TestUpstreamWarningsOfRanges(t *testing.T) {
	const never = "proxy.upstreams.0.hosts.0: no upstream proxy is used for "
	for _, tt := range []struct{ allowed, host, want string }{
		{"", "0.0.0.0", never},
		{"", "::", never},
		{"", "0.0.0.0/8", never},
		{"", "127.0.0.0/9", never},
		{"127.0.0.0/8", "127.0.0.1", never},
		{"", "sub.localhost", never},
		{"", ".localhost", never},
		{"", "a.LOCALHOST", never},
		{"", "notlocalhost", ""},
		{"", "172.0.0.0/8", "the proxy is not used for addresses in 172.16.0.0/12"},
		{"172.16.0.0/12", "172.0.0.0/8", ""},
		{"172.16.0.0/16", "172.0.0.0/8", ""},
		{"10.0.0.0/8", "172.0.0.0/8", "172.16.0.0/12"},
		{"172.0.0.0/12", "172.0.0.0/8", "172.16.0.0/12"},
		{"", "100.64.0.0/10", "the proxy is not used for addresses in 100.64.0.0/10"},
		{"100.64.0.0/10", "100.64.0.0/10", ""},
		{"", "100.64.1.0/24", "100.64.1.0/24"},
		{"", "0.0.0.0/0", "the proxy is not used for addresses in 10.0.0.0/8"},
		{"10.0.0.0/8", "0.0.0.0/0", ""},
		{"", "::/0", "the proxy is not used for addresses in fc00::/7"},
		{"fd00::/8", "::/0", ""},
		{"93.184.0.0/16", "0.0.0.0/0", "10.0.0.0/8"},
		{"", "93.184.0.0/16", ""},
		{"", "2606:2800::/32", ""},
		{"10.0.0.1", "10.0.0.1", ""},
		{"10.0.0.1", "10.0.0.0/24", "10.0.0.0/24"},
	} {
		settings := "{access: {allow_destinations: [" + quoted(tt.allowed) +
			"]}, proxy: {upstreams: [{proxies: ['http://proxy.example:3128'], hosts: ['" + tt.host + "']}]}}"
		wantWarnings(t, map[string]string{settings: tt.want})
	}
	wantWarnings(t, map[string]string{ // a public network opens no special network
		"{access: {allow_destinations: [93.184.0.0/16]}, proxy: {upstreams: [{proxies: " +
			"['http://proxy.example:3128']}]}}": "proxy.upstreams.0: is not used",
		"proxy: {sites: [{hosts: [a.example], servers: ['http://100.64.0.1:80']}]}": "100.64.0.1 is not in " +
			"access.allow_destinations",
	})
}

func quoted(text string) string {
	if text == "" {
		return ""
	}
	return "'" + text + "'"
}

// TestUpstreamWarningsMatchGuard requires that an address causes a warning exactly if the guard denies
// it. It tests the boundaries of all special networks.
func TestUpstreamWarningsMatchGuard(t *testing.T) {
	guard := netguard.New(time.Second)
	addresses := []string{"::ffff:10.0.0.1", "::ffff:93.184.215.14"}
	for _, edge := range []string{
		"0.0.0.0 0.255.255.255", "10.0.0.0 10.255.255.255", "100.64.0.0 100.127.255.255", "127.0.0.0 127.255.255.255",
		"168.63.129.16 168.63.129.16",
		"169.254.0.0 169.254.255.255", "172.16.0.0 172.31.255.255", "192.0.0.0 192.0.0.255", "192.0.2.0 192.0.2.255",
		"192.88.99.0 192.88.99.255", "192.168.0.0 192.168.255.255", "198.18.0.0 198.19.255.255",
		"198.51.100.0 198.51.100.255",
		"203.0.113.0 203.0.113.255",
		"224.0.0.0 255.255.255.254",
		":: ::1", "::1:0:0 ::ffff:0:ffff:ffff", "64:ff9b:: 64:ff9b::ffff:ffff",
		"64:ff9b:1:: 64:ff9b:1:ffff:ffff:ffff:ffff:ffff",
		"100:: 100::ffff:ffff:ffff:ffff",
		"2001:: 2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "2001:db8:: 2001:db8:ffff:ffff:ffff:ffff:ffff:ffff",
		"2002:: 2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"3fff:: 3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "5f00:: 5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		"fc00:: fdff::", "fe80:: febf::", "fec0:: feff::", "ff00:: ff02::1",
	} {
		first, last, _ := strings.Cut(edge, " ")
		for _, addr := range []netip.Addr{
			netip.MustParseAddr(first).Prev(), netip.MustParseAddr(first),
			netip.MustParseAddr(last), netip.MustParseAddr(last).Next(),
		} {
			if addr.IsValid() {
				addresses = append(addresses, addr.String())
			}
		}
	}
	for _, host := range addresses {
		c := config.Default()
		c.Proxy.Upstreams = []config.Upstream{{Hosts: []string{host}, Proxies: []string{"http://proxy.example:3128"}}}
		refused := guard.CheckViaProxy(net.JoinHostPort(host, "443")) != nil
		if got := c.Warnings(); (len(got) > 0) != refused {
			t.Errorf("%s: %v, refused: %v", host, got, refused)
		}
	}
}

// TestRefusedPortsMatchGuard requires that a server port causes a warning exactly if the guard denies
// it.
func TestRefusedPortsMatchGuard(t *testing.T) {
	guard := netguard.New(time.Second)
	addr := netip.MustParseAddr("93.184.215.14")
	for port := uint16(1); port < 1100; port++ {
		at := netip.AddrPortFrom(addr, port)
		c := config.Default()
		c.Proxy.Sites = []config.Site{{Hosts: []string{"www.example.org"}, Servers: []string{"http://" + at.String()}}}
		if refused, got := guard.Check(at) != nil, c.Warnings(); (len(got) > 0) != refused {
			t.Errorf("%d: %v, refused: %v", port, got, refused)
		}
	}
	if err := guard.Check(netip.AddrPortFrom(addr, 563)); err != nil {
		t.Errorf("news by TLS (RFC 4642 section 1): %v", err)
	}
}
