package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/internal/cli/access"
)

const accessRules = `
access: {proxy_clients: [10.1.0.0/16, '2001:db8::/32'], allow_destinations: [192.0.2.0/24]}
proxy:
  rules:
    - {id: no-internal, action: deny, destinations: [10.0.0.0/8, 'fc00::/7']}
    - {id: tracker, action: deny, hosts: [.tracker.example]}
    - {id: packages, action: allow, hosts: [.example.org, 192.0.2.0/24], ports: [443, 8000-8999]}
    - {id: ann, action: allow, users: [ann], schemes: [http]}
    - {id: default, action: deny}
`

const sitesAccess = `
access: {resolve_clients: [127.0.0.0/8, 10.0.0.0/8], allow_destinations: [127.0.0.0/8]}
proxy:
  sites:
    - {hosts: [www.test], servers: ['http://127.0.0.1:9000', 'http://127.0.0.1:9002'], ignore_parameters: [utm_*]}
    - {hosts: [www.test], path: /api, servers: ['http://127.0.0.1:9001'], replace: /v2}
    - {hosts: [www.test], path: /api/admin, clients: [127.0.0.0/8], users: /nowhere}
    - {hosts: [www.test], path: /old, answer: {status: 301, location: 'https://new.test{+rest}'}}
    - {hosts: ['*.test'], answer: {status: 503}}
    - {hosts: [www.test], path: /api/admin/deep, public: false}
`

// accessFile returns the path of a configuration file.
func accessFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestAccessTest(t *testing.T) {
	rules := accessFile(t, accessRules)
	users := accessFile(t, strings.Replace(accessRules, "access: {", "access: {proxy_users: /nowhere, ", 1))
	others := accessFile(t, `
gateways: {enabled: [ftp, gopher, news], allow_ports: ['300'], deny_ports: ['7070'], templates: [{scheme: WAIS, template: 'https://gateway.example/{uri}'}]}
ftp: {login: false}
news: {servers: ['news.example.org:119']}
file: {roots: [/srv]}
`)
	sites := accessFile(t, sitesAccess)
	for _, tt := range []struct {
		file, mode, args string
		status           int
		summary, step    string
	}{
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:443 --destination 8.8.8.8", 0, `allowed by rule "packages"`,
			`rule: "packages" allows: hosts .example.org, ports 443`,
		},
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:443 --destination 8.8.8.8", 0, `allowed by rule "packages"`,
			`rule: "no-internal" does not match: 8.8.8.8 is not in 10.0.0.0/8, fc00::/7`,
		},
		{
			rules, "", "2001:db8::1 GET http://PyPI.example.org.:8080/ --destination 8.8.8.8", 0,
			`allowed by rule "packages"`,
			"guard: connections to 8.8.8.8:8080 are allowed (access.allow_destinations)",
		},
		{
			rules, "", "::ffff:10.1.2.3 CONNECT 192.0.2.7:443", 0, `allowed by rule "packages"`,
			"guard: connections to 192.0.2.7:443 are allowed (access.allow_destinations)",
		},
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:443", 1,
			"depends on the destination address: set --destination",
			`rule: "no-internal" denies if the destination address is in 10.0.0.0/8, fc00::/7`,
		},
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:443 --destination 10.9.9.9", 1,
			`denied by rule "no-internal"`,
			`rule: "no-internal" denies: destinations 10.0.0.0/8, fc00::/7`,
		},
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:443 --destination 127.0.0.1", 1,
			"denied by access.allow_destinations",
			"guard: destination not allowed: 127.0.0.1 is loopback (access.allow_destinations)",
		},
		{
			rules, "", "10.1.2.3 CONNECT pypi.example.org:22", 1, `denied by rule "default"`,
			`rule: "default" denies: it has no conditions`,
		},
		{
			rules, "", "10.1.2.3 GET https://a.tracker.example/", 1, `denied by rule "tracker"`,
			"note: clients use CONNECT for https: also test CONNECT a.tracker.example:443",
		},
		{
			rules, "", "10.2.0.1 GET http://a.example/", 1, "denied by access.proxy_clients",
			"client: 10.2.0.1 may not use the proxy (access.proxy_clients)",
		},
		{
			rules, "", "10.1.2.3 GET http://a.example/ --user ann", 1, `denied by rule "default"`,
			"user: no user can log in (access.proxy_users is empty)",
		},
		{
			users, "", "10.1.2.3 GET http://a.example/ --user ann --destination 8.8.8.8", 0, `allowed by rule "ann"`,
			"user: ann, if the password is right (access.proxy_users)",
		},
		{
			users, "", "10.1.2.3 GET http://a.example/", 1, "denied by access.proxy_users",
			"user: the client must log in (access.proxy_users): set --user",
		},
		{
			rules, "report", "10.1.2.3 CONNECT a.example:443", 0,
			`allowed, because proxy.policy is report: rule "default" would deny it`,
			"guard: it checks the destination address (access.allow_destinations)",
		},
		{
			rules, "report", "10.1.2.3 CONNECT pypi.example.org:443", 0, "allowed",
			"rule: with proxy.policy enforce, it would depend on the destination address: set --destination",
		},
		{
			rules, "report", "10.1.2.3 CONNECT a.example:443 --destination 127.0.0.1", 1,
			"denied by access.allow_destinations", "",
		},
		{
			rules, "open", "10.1.2.3 CONNECT a.example:443", 0, "allowed",
			"rules: rules are ignored (proxy.policy is open)",
		},
		{"", "", "127.0.0.1 CONNECT a.example:443", 0, "allowed", "rule: no rule matches: the request is allowed"},
		{
			"", "", "127.0.0.1 GET gopher://127.0.0.1:25/", 1, "denied by gateways.allow_ports",
			"gateway: port not allowed: 25 is below 1024, and not the port of gopher (gateways.allow_ports)",
		},
		{
			"", "", "127.0.0.1 GET gopher://8.8.8.8:6379/", 1, "denied by gateways.deny_ports",
			"gateway: port not allowed: servers of another protocol than gopher listen at port 6379 " +
				"(gateways.deny_ports)",
		},
		{
			"", "", "127.0.0.1 GET gopher://8.8.8.8:7070/", 0, "allowed",
			"guard: connections to 8.8.8.8:7070 are allowed (access.allow_destinations)",
		},
		{"", "", "127.0.0.1 GET gopher://127.0.0.1/", 1, "denied by access.allow_destinations", ""},
		{
			"", "", "127.0.0.1 POST gopher://a.example/", 1, "denied",
			"gateway: only GET and HEAD are supported for gopher",
		},
		{
			"", "", "127.0.0.1 HEAD FTP://a.example/", 0, "allowed",
			"gateway: ftp is retrieved, and this port is allowed (gateways.enabled, gateways.allow_ports, " +
				"gateways.deny_ports)",
		},
		{
			"", "", "127.0.0.1 GET foo://a.example/", 1, "denied by gateways.templates",
			"gateway: there is no gateway for foo (gateways.templates)",
		},
		{
			"", "", "127.0.0.1 GET file:///etc/passwd", 1, "denied by file.roots",
			"gateway: no files are served (file.roots)",
		},
		{
			"", "", "127.0.0.1 GET news:comp.lang.c", 1, "denied by news.servers",
			"gateway: the URL names no server, and none is configured (news.servers)",
		},
		{"", "", "127.0.0.1 GET news://a.example/comp.lang.c", 0, "allowed", ""},
		{
			"", "", "127.0.0.1 GET mailto:a@b.example", 0, "allowed",
			"gateway: mailto is explained: nothing is retrieved",
		},
		{
			"", "", "127.0.0.1 GET telnet://127.0.0.1:25/", 0, "allowed",
			"gateway: telnet is explained: nothing is retrieved",
		},
		{"", "", "192.0.2.1 GET mailto:a@b.example", 1, "denied by access.proxy_clients", ""},
		{others, "", "127.0.0.1 GET gopher://a.example:300/", 0, "allowed", ""},
		{others, "", "127.0.0.1 GET gopher://8.8.8.8:7070/", 1, "denied by gateways.deny_ports", ""},
		{
			others, "", "127.0.0.1 GET wais://a.example/db", 0, "allowed",
			"gateway: clients are redirected to another gateway (gateways.templates)",
		},
		{
			others, "", "127.0.0.1 GET z39.50s://a.example/db", 1, "denied by gateways.enabled",
			"gateway: z39.50s is turned off (gateways.enabled)",
		},
		{
			others, "", "127.0.0.1 GET file:///srv/a", 0, "allowed",
			"gateway: files below /srv are served, where they exist (file.roots)",
		},
		{
			others, "", "127.0.0.1 GET news:1@b.example", 0, "allowed",
			"guard: it checks the destination address (access.allow_destinations)",
		},
		{
			others, "", "127.0.0.1 GET ftp://bob@a.example/", 1, "denied by ftp.login",
			"gateway: only the user anonymous can log in (ftp.login)",
		},
		{others, "", "127.0.0.1 GET ftp://Anonymous@a.example/", 0, "allowed", ""},
		{
			rules, "", "10.1.2.3 GET gopher://pypi.example.org:8000/", 1,
			"depends on the destination address: set --destination", "",
		},
		{rules, "", "10.1.2.3 GET telnet://pypi.example.org:8000/", 0, "allowed", ""},
		{rules, "", "10.1.2.3 GET mailto:a@b.example", 1, `denied by rule "default"`, ""},
		{
			sites, "", "http://www.test/api/x?b=1&utm_source=y&a=2", 0, "allowed",
			"site: proxy.sites.1: www.test/api is the longest matching path for /api/x; its server gets " +
				"http://127.0.0.1:9001/v2/x?b=1&a=2 (proxy.sites.1.servers)\n" +
				"site: not used, because less specific: proxy.sites.0 (www.test), proxy.sites.4 (*.test)\nsite: " +
				"more specific, for other paths: proxy.sites.2 (www.test/api/admin), proxy.sites.5 " +
				"(www.test/api/admin/deep)\n" +
				"site: parameters are removed: utm_source (proxy.sites.0.ignore_parameters)\n",
		},
		{
			sites, "", "127.0.0.1 GET https://WWW.test/other", 0, "allowed",
			"site: proxy.sites.0: www.test matches all paths that no other entry matches; its servers get " +
				"http://127.0.0.1:9000/other or http://127.0.0.1:9002/other (proxy.sites.0.servers)",
		},
		{
			sites, "", "http://www.test/old/a", 0, "allowed",
			"site: proxy.sites.3: www.test/old is the longest matching path for /old/a; urnd responds with 301 to " +
				"https://new.test/a\n",
		},
		{
			sites, "", "http://www.test/old", 0, "allowed",
			"site: proxy.sites.3: www.test/old is the exact path; urnd responds with 301 to https://new.test\n",
		},
		{
			sites, "", "http://a.test/", 0, "allowed",
			"site: proxy.sites.4: *.test matches all paths that no other entry matches; urnd responds with 503\n",
		},
		{
			sites, "", "http://www.test/api/admin/x", 1, "denied by proxy.sites.2.users",
			"client: 127.0.0.1 may use this site (proxy.sites.2.clients: 127.0.0.0/8)\nuser: the client must log in " +
				"(proxy.sites.2.users): set --user\n",
		},
		{
			sites, "", "127.0.0.1 GET http://www.test/api/admin/x --user ann", 0, "allowed",
			"user: ann, if the password is right (proxy.sites.2.users)\n",
		},
		{
			sites, "", "10.1.2.3 GET http://www.test/api/admin/deep/x --user ann", 1, "denied by proxy.sites.2.clients",
			"client: 10.1.2.3 may not use this site (proxy.sites.2.clients)\n",
		},
		{
			sites, "", "192.0.2.1 GET http://www.test/", 1, "denied by access.resolve_clients",
			"client: 192.0.2.1 may not use this site (access.resolve_clients)\n",
		},
		{sites, "", "http://www.test/", 0, "allowed", "user: this site requires no login\n"},
		{rules, "", "here GET http://a.example/", 2, "", ""},
		{rules, "", "10.1.2.3 GET", 2, "", ""},
		{rules, "", "10.1.2.3 GET http://a.example/ --colour", 2, "", ""},
		{rules, "", "10.1.2.3 GET http://a.example/ --destination a.example", 2, "", ""},
		{rules, "", "10.1.2.3 GET a.example:443", 2, "", ""},
		{rules, "", "10.1.2.3 GET urn:example:a", 2, "", ""},
		{rules, "", "10.1.2.3 GET http://010.0.0.1/", 2, "", ""},
		{rules, "", "10.1.2.3 CONNECT https://a.example/", 2, "", ""},
		{rules, "closed", "10.1.2.3 GET http://a.example/", 2, "", ""},
		{"missing.yaml", "", "10.1.2.3 GET http://a.example/", 2, "", ""},
	} {
		t.Run(tt.mode+" "+tt.args, func(t *testing.T) {
			if tt.mode != "" {
				t.Setenv("URND_PROXY_POLICY", tt.mode)
			}
			args := append([]string{"access", "test", "--config", tt.file}, strings.Fields(tt.args)...)
			out, err := run(t, "", args...)
			status := 0
			if err != nil {
				status = cli.StatusOf(err)
			}
			summary, steps, _ := strings.Cut(out, "\n")
			if status != tt.status || summary != tt.summary || !strings.Contains("\n"+steps, "\n"+tt.step) {
				t.Errorf("status %d, want %d: %v\n%s", status, tt.status, err, out)
			}
			if (status == 1) != errors.Is(err, cli.ErrReported) {
				t.Errorf("%v is not reported", err)
			}
			if status == cli.StatusUsage {
				return
			}
			out, err = run(t, "", append(args, "--output=json")...)
			var document access.Verdict
			if jsonErr := json.Unmarshal([]byte(out),
				&document); jsonErr != nil || (document.Result == access.ResultAllowed) != (err == nil) ||
				document.Summary() != tt.summary || len(document.Steps) == 0 {
				t.Errorf("%v, %v: %s", jsonErr, err, out)
			}
		})
	}
}

// Hosts that the configuration accepts in a rule are valid.
func TestPolicyOf(t *testing.T) {
	for _, host := range []string{
		"a", "A.Example.", ".example.org", ".org", "_a.example", "*.example.org", "a*b?c.*.example", "*-a.example", "?",
		"192.0.2.1", "192.0.2.0/24", "2001:db8::1", "[2001:db8::1]", "2001:db8::/32", "::ffff:192.0.2.1",
		"xn--bcher-kva.example",
		strings.Repeat("a.", 126) + "a",
	} {
		c := config.Default()
		c.Proxy.Rules = []config.ProxyRule{{
			ID: "a", Action: "allow", Hosts: []string{host},
			Ports: []config.PortRange{{First: 1, Last: 2}},
		}}
		if err := c.Validate(); err != nil {
			t.Errorf("%q: %v", host, err)
		}
		if _, err := testPolicy(c); err != nil {
			t.Errorf("%q: %v", host, err)
		}
	}
	c := config.Default()
	c.Proxy.Rules = []config.ProxyRule{{ID: "a"}, {ID: "a"}}
	if _, err := testPolicy(c); err == nil || !strings.HasPrefix(err.Error(), "proxy.rules: ") {
		t.Errorf("two rules of an id: %v", err)
	}
}
