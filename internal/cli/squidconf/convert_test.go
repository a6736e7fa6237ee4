package squidconf

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/uri"
)

var update = flag.Bool("update", false, "write the samples in testdata and the table in docs/squid.md")

var disk = Files{Read: os.ReadFile, Glob: filepath.Glob, CheckFormat: checkFormat}

// checkFormat rejects formats with the token %>p, which urnd does not support.
func checkFormat(format string) error {
	if strings.Contains(format, "%>p") {
		return errors.New("there is no token %>p: write %>a")
	}
	return nil
}

// load returns the configuration that urnd reads from a result.
func load(t testing.TB, r Result) config.Config {
	t.Helper()
	path := filepath.Join(t.TempDir(), "urnd.yaml")
	if err := os.WriteFile(path, []byte(r.YAML), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := config.Load(path, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, r.YAML)
	}
	return c
}

func convertText(t testing.TB, text string) Result {
	t.Helper()
	r, err := Convert(filesOf(map[string]string{"/e/squid.conf": text}), "/e/squid.conf")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return r
}

// policyOf returns the rules of a configuration without lists, and with the port of tunnels.
func policyOf(t testing.TB, c config.Config) *policy.Policy {
	t.Helper()
	var rules []policy.Rule
	for _, r := range c.Proxy.Rules {
		rule := policy.Rule{
			ID: r.ID, Deny: r.Action == "deny", Clients: r.Clients, Users: r.Users, Methods: r.Methods,
			Schemes: r.Schemes, Hosts: r.Hosts, Paths: r.Paths, Destinations: r.Destinations,
		}
		for _, w := range r.Times {
			rule.Times = append(rule.Times, policy.Window{Days: w.Days, From: w.From, To: w.To, Zone: time.UTC})
		}
		for _, p := range r.Ports {
			rule.Ports = append(rule.Ports, policy.PortRange(p))
		}
		rules = append(rules, rule)
	}
	p, err := policy.New(policy.ModeEnforce, rules)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func portOf(text string) uint16 {
	port, _ := strconv.ParseUint(text, 10, 16)
	return uint16(port)
}

// request is a request that both sides decide.
type request struct {
	client, method, url string // host:port for CONNECT
	at                  time.Time
}

// allowed returns the decision of urnd.
func allowed(t testing.TB, c config.Config, p *policy.Policy, r request) bool {
	t.Helper()
	client := netip.MustParseAddr(r.client)
	if !slices.ContainsFunc(c.Access.ProxyClients, func(n netip.Prefix) bool { return n.Contains(client) }) {
		return false
	}
	requested := policy.Request{Client: client, Method: r.method, Time: r.at}
	if r.method == "CONNECT" {
		host, port, _ := strings.Cut(r.url, ":")
		requested.Host, requested.Port = host, portOf(port)
		if !slices.ContainsFunc(c.Proxy.ConnectPorts,
			func(p config.PortRange) bool { return p.First <= requested.Port && requested.Port <= p.Last }) {
			return false
		}
	} else {
		u, err := uri.Parse(r.url)
		if err != nil {
			t.Fatal(err)
		}
		if requested, err = policy.NewRequest(client, "", r.method, u); err != nil {
			t.Fatal(err)
		}
		requested.Time = r.at
	}
	return !p.DecideFor(requested, netip.MustParseAddr("192.0.2.1")).Deny
}

// The samples are converted to the expected files; -update writes them.
func TestConvert(t *testing.T) {
	samples, err := filepath.Glob("testdata/*.conf")
	if err != nil || len(samples) == 0 {
		t.Fatal(err, samples)
	}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			files := Files{Read: func(name string) ([]byte, error) {
				return os.ReadFile(filepath.Join("testdata",
					strings.NewReplacer("/etc/squid/rooms", "lists/teachers", "/etc/squid/porn", "lists/blocked", "/e/",
						"").Replace(name)))
			}, Glob: filepath.Glob, CheckFormat: checkFormat}
			r, err := Convert(files, "/e/"+filepath.Base(sample))
			if filepath.Base(sample) == "accel.conf" {
				var parse *ParseError
				if !errors.As(err, &parse) || parse.Line != 1 ||
					!strings.Contains(parse.Message, "a reverse proxy is not converted") {
					t.Error(err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			load(t, r)
			golden := strings.TrimSuffix(sample, ".conf") + ".yaml"
			if *update {
				if err := os.WriteFile(golden, []byte(r.YAML), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil || r.YAML != string(want) {
				t.Errorf("%v\n%s", err, r.YAML)
			}
			for _, secret := range []string{"peersecret", "ldapsecret"} {
				if text := r.YAML + fmt.Sprint(r.Unconverted, r.Unneeded); strings.Contains(text, secret) {
					t.Errorf("a password is printed: %s", text)
				}
			}
			if sample == "testdata/debian.conf" && len(r.Unconverted) > 0 {
				t.Errorf("%+v", r.Unconverted)
			}
		})
	}
}

// The configuration in Debian's package is converted without loss.
func TestConvertPackaged(t *testing.T) {
	const path = "/etc/squid/squid.conf"
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the package squid is not installed: %v", err)
	}
	r, err := Convert(disk, path)
	if err != nil || len(r.Unconverted) > 0 {
		t.Fatalf("%v, %+v", err, r.Unconverted)
	}
	load(t, r)
}

// Lines become settings, or are reported.
func TestConvertLines(t *testing.T) {
	for _, tt := range []struct {
		text string
		want string // parts of the YAML, separated by "|"
		lost string // of the first loss: directive and reason
	}{
		{"http_port [::1]:3128\nhttp_port 80", "service: ['[::1]:3128', '[::]:80']", ""},
		{"https_port 3129 tls-cert=/a.pem tls-key=/b.pem", "", "https_port tls-cert: missing"},
		{"http_port 3128 ssl-bump tls-cert=/a.pem", "", "http_port ssl-bump: missing"},
		{"cache deny all", "responses: 0B", ""},
		{"cache_mem 1 GB", "responses: 1024MiB", ""},
		{"cache_dir rock /a 100\ncache_dir ufs /b 200 16 256", "disk: 300MiB", ""},
		{
			"refresh_pattern -i \\.gif$ 1440 50% 9999 override-expire", "",
			"refresh_pattern lifetimes by pattern, least ones, and options: missing",
		},
		{"access_log none", "", ""},
		{"access_log /a/b.log mine\nlogformat mine %>a %ru", "format: squid:%>a %ru|file: /var/log/urnd/b.log", ""},
		{"access_log /a/b.log other", "", "access_log no logformat other is there: the log has that of Squid"},
		{"access_log syslog:daemon.info squid", "format: squid|syslog: unix:/dev/log", ""},
		{
			"access_log stdio:/a/b.log combined\naccess_log /a/c.log common",
			"format: squid_combined|format: squid_common|file: /var/log/urnd/c.log", "",
		},
		{"access_log udp://192.0.2.1:5000 squid", "", "access_log logs by UDP and TCP as Squid sends them: missing"},
		{"via off", "", "via Via is always sent (RFC 9110 section 7.6.3)"},
		{"forwarded_for truncate", `forwarded: "off"`, "forwarded_for this mode: missing"},
		{"client_ip_max_connections 20\nrequest_header_max_size 64 KB", "client_connections: 20|header: 64KiB", ""},
		{"connect_timeout 2 minutes\nread_timeout 99 weeks", "connect_timeout: 120s|origin_idle: 86400s", ""},
		{"icap_enable on", "", "icap_enable missing"},
		{"no_such thing", "", "no_such Squid 5 does not support this directive"},
		{"auth_param ntlm program /usr/lib/squid/ntlm -s secret", "", "auth_param ntlm: missing"},
		{"auth_param negotiate program negotiate -s secret", "", "auth_param the program is missing"},
		{
			"auth_param negotiate program /usr/lib/squid/negotiate_kerberos_auth -s GSS_C_NO_NAME -k /etc/a.keytab\n" +
				"auth_param negotiate children 20 startup=0 idle=1\nauth_param negotiate keep_alive off",
			"for: negotiate|command: [/usr/lib/squid/negotiate_kerberos_auth, -s, GSS_C_NO_NAME, -k, " +
				"/etc/a.keytab]|processes: 20",
			"http_access clients without login are allowed",
		},
		{
			"auth_param basic program /usr/lib/squid/basic_ldap_auth -P -b dc=example -H ldap://a\nauth_param basic " +
				"children 300 startup=1 concurrency=4\n" +
				"auth_param basic credentialsttl 2 hours\nauth_param basic casesensitive on",
			"for: passwords|command: [/usr/lib/squid/basic_ldap_auth, -P, -b, dc=example, -H, " +
				"'ldap://a']|processes: 256|concurrency: 4|ttl: 7200s|" +
				"case_sensitive: true", "http_access clients without login are allowed",
		},
		{
			"auth_param basic program /usr/lib/squid/basic_ldap_auth -D cn=a -w secret", "-W, /etc/urnd/ldap-password",
			"auth_param the password of -w is not shown",
		},
		{
			"external_acl_type ldap ttl=300 negative_ttl=10 children-max=7 concurrency=0 %LOGIN " +
				"/usr/lib/squid/ext_ldap_group_acl -b dc=example",
			"for: groups|command: [/usr/lib/squid/ext_ldap_group_acl, -b, dc=example]|processes: 7|ttl: " +
				"300s|negative_ttl: 10s", "",
		},
		{
			"external_acl_type ip %SRC /usr/lib/squid/ext_file_userip_acl", "",
			"external_acl_type programs that are asked for other than the user and a group: missing",
		},
		{
			"cache_peer a.example parent 443 0 tls name=x tls-cafile=/ca.pem carp\nnever_direct allow all",
			"proxies: ['https://a.example:443']|balance: hash_url", "cache_peer tls-cafile: missing",
		},
		{
			"cache_peer a.example parent 8080 0 login=PASSTHRU", "proxies: ['http://a.example:8080', direct]",
			"cache_peer this kind of login: missing",
		},
		{
			"cache_peer 10.0.0.1 parent 8080 0 originserver", "",
			"cache_peer the server of a site (originserver): missing",
		},
		{"cache_peer s sibling 3128 3130", "", "cache_peer sibling: missing"},
		{"never_direct allow all", "", "never_direct no parent is for all hosts: other hosts go direct"},
		{"acl d src 10.0.0.0/8\nalways_direct allow d", "", "always_direct ways by more than hosts: missing"},
		{"http_access allow", "it has no acl, and Squid ignores it", ""},
		{"acl e all-of\nhttp_access allow e", "action: deny", ""},
		{"http_access deny x", "It denies more than Squid did", "acl x no acl has this name"},
	} {
		r := convertText(t, tt.text+"\nacl last src 192.0.2.1\nhttp_access allow last\n")
		load(t, r)
		for part := range strings.SplitSeq(tt.want, "|") {
			if !strings.Contains(r.YAML, part) {
				t.Errorf("%s: no %s in\n%s", tt.text, part, r.YAML)
			}
		}
		lost := ""
		if len(r.Unconverted) > 0 {
			lost = r.Unconverted[0].Directive + " " + r.Unconverted[0].Reason
		}
		if lost != tt.lost {
			t.Errorf("%s: %q is lost, want %q", tt.text, lost, tt.lost)
		}
	}
}

// An acl with an unknown part allows nothing.
func TestUnknownAllowsNothing(t *testing.T) {
	const acls = "acl net src 10.0.0.0/8\nacl odd browser x\nacl part dstdom_regex ^b ^a\\.example$\nacl all1 " +
		"all-of net !odd\nacl any1 any-of !odd\n" +
		"acl any2 any-of !part\nacl nested any-of all1 any1\nacl names any-of names names names names names names\n"
	requested := request{"10.0.0.1", "GET", "http://c.example/", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	for _, line := range []string{
		"allow odd", "allow !odd", "allow part", "allow !part", "allow all1", "allow !all1", "allow any1",
		"allow !any1", "allow any2", "allow nested", "allow !nested", "allow names", "allow !names", "allow none",
		"allow !none", "deny odd", "deny !odd", "deny part", "deny !any2", "deny all1", "deny none", "deny !none",
	} {
		r := convertText(t, acls+"http_access "+line+"\nhttp_access "+
			map[bool]string{true: "deny", false: "allow"}[strings.HasPrefix(line, "allow")]+" all\n")
		c := load(t, r)
		if allowed(t, c, policyOf(t, c), requested) || len(r.Unconverted) == 0 {
			t.Errorf("%s allows, or loses nothing:\n%s", line, r.YAML)
		}
	}
}

// Users of a file with bcrypt hashes can log in, and then everyone has to.
func TestConvertUsers(t *testing.T) {
	text := "auth_param basic program /usr/lib/squid/basic_ncsa_auth /e/users\nacl u proxy_auth REQUIRED\nacl b " +
		"proxy_auth bob\n" +
		"acl l src 10.0.0.0/8\nhttp_access deny b\nhttp_access allow l\nhttp_access allow u\n"
	for user, isFile := range map[string]bool{"alice:$2y$05$x": true, "alice:$apr1$x": false, "Alice:$2y$05$x": false} {
		r, err := Convert(filesOf(map[string]string{"/e/squid.conf": text, "/e/users": user}), "/e/squid.conf")
		if err != nil {
			t.Fatal(err)
		}
		c := load(t, r)
		first := r.Unconverted[0].Directive + " " + r.Unconverted[0].Reason
		if first != "http_access clients without login are allowed" || (c.Access.ProxyUsers != "") != isFile ||
			(len(c.Access.Helpers) == 1) == isFile {
			t.Errorf("%s: %s\n%s", user, first, r.YAML)
		}
	}
}

// Acls mean what Squid 5.7 makes of them, even if it is unexpected.
func TestACLsMatchSquid(t *testing.T) {
	const program = "auth_param basic program /usr/lib/squid/basic_ldap_auth -b dc=example\n"
	files := map[string]string{
		"/e/none": "# none\n", "/e/empty": "", "/e/left": "alice # since May\nbob\n",
		"/e/required": "REQUIRED\n", "/e/second": "bob\nREQUIRED\n",
	}
	for _, tt := range []struct{ text, want string }{
		{"acl Bad src 192.0.2.1\nacl bad src 192.0.2.9\nhttp_access deny BAD", "clients: [192.0.2.1/32, 192.0.2.9/32]"},
		{"acl localhost src 192.0.2.1\nhttp_access deny localhost", "clients: [127.0.0.1/32, 192.0.2.1/32, '::1/128']"},
		{"acl manager proto cache_object\nhttp_access deny manager", "action: allow"},
		{"acl zero dst 0.0.0.0\nhttp_access deny zero", "squid.conf-3\n      action: allow"},
		{"acl d dstdomain \"/e/none\"\nhttp_access deny d", "hosts_from: [/e/none]"},
		{"acl d dst \"/e/none\"\nhttp_access deny d", "destinations_from: [/e/none]"},
		{"acl d dst \"/e/empty\"\nhttp_access deny d", "the file /e/empty is empty, and is not loaded if it is not"},
		{program + "acl u proxy_auth \"/e/left\"\nhttp_access deny u", "users: [alice, bob]"},
		{program + "acl u proxy_auth bob REQUIRED\nhttp_access deny u", "users: [REQUIRED, bob]"},
		{program + "acl u proxy_auth m\xfcller\nhttp_access deny u", "It denies more than Squid did"},
		{
			program + "external_acl_type g %LOGIN /g\nacl u external g m\xfcller\nhttp_access deny u",
			"It denies more than Squid did",
		},
		{program + "acl u proxy_auth -i REQUIRED\nhttp_access deny u", "users: [required]"},
		{program + "acl u proxy_auth \"/e/second\"\nhttp_access deny u", "users: [REQUIRED, bob]"},
		{program + "acl u proxy_auth \"/e/required\"\nhttp_access deny u", "action: deny\n\n"},
		{program + "acl u proxy_auth bob\nacl u proxy_auth REQUIRED\nhttp_access deny u", "action: deny\n\n"},
	} {
		files["/e/squid.conf"] = tt.text + "\nhttp_access allow all\n"
		r, err := Convert(filesOf(files), "/e/squid.conf")
		if err != nil {
			t.Fatal(err)
		}
		load(t, r)
		if _, rules, _ := strings.Cut(r.YAML, "rules:"); !strings.Contains(rules+"\n", tt.want) {
			t.Errorf("%s: no %q in\n%s", tt.text, tt.want, r.YAML)
		}
	}
}

// Acls of a group program become groups in rules, if users can log in.
func TestConvertGroups(t *testing.T) {
	const program = "external_acl_type ldap %LOGIN /usr/lib/squid/ext_ldap_group_acl -b dc=example\n"
	const rules = "acl staff external ldap staff board\nhttp_access allow staff\nhttp_access deny all\n"
	for text, want := range map[string]string{
		"auth_param basic program /usr/lib/squid/basic_ldap_auth -b dc=example\n" + program +
			rules: "groups: [board, staff]",
		program + rules: "acls of programs but those for groups, of users who log in: missing",
	} {
		r, err := Convert(filesOf(map[string]string{"/e/squid.conf": text}), "/e/squid.conf")
		if err != nil {
			t.Fatal(err)
		}
		load(t, r)
		if !strings.Contains(r.YAML, want) {
			t.Errorf("%s\nwant %s", r.YAML, want)
		}
	}
}

// squidAllows decides like Squid, by acls that the test evaluates itself.
func squidAllows(lines []string, holds map[string]func(request) bool, r request) bool {
	last := false
	for _, line := range lines {
		words := strings.Fields(line)
		all := true
		for _, word := range words[2:] {
			name, negated := strings.CutPrefix(word, "!")
			all = all && holds[name](r) != negated
		}
		last = words[1] == "allow"
		if all {
			return last
		}
	}
	return !last
}

// Rules decide like http_access, including negations; a line that cannot be expressed is converted to a
// stricter one.
func TestRulesDecideAsSquid(t *testing.T) {
	const acls = "acl net1 src 10.0.0.0/8\nacl net2 src 10.1.0.0/16 192.0.2.0/24\nacl dom dstdomain .a.example " +
		"b.example\nacl sub dstdomain .x.a.example\n" +
		"acl safe port 80 443 1025-65535\nacl tls port 443\nacl get method GET\nacl ftp proto FTP HTTP\nacl path " +
		"urlpath_regex ^/p/\n" +
		"acl work time MTWHF 08:00-17:59\nacl odd dstdom_regex ^b\nacl both any-of dom net2\nacl pair all-of net1 " +
		"tls\n" +
		"acl lunch time MTWHFAS 12:00-12:59\nacl more dstdomain c.example .example\nacl deep urlpath_regex ^/p/x\n"
	hostOf := func(r request) string {
		_, rest, ok := strings.Cut(r.url, "://")
		if !ok {
			rest = r.url
		}
		host, _, _ := strings.Cut(rest, "/")
		host, _, _ = strings.Cut(host, ":")
		return host
	}
	portOf := func(r request) string {
		for _, port := range []string{":8443", ":443", ":22"} {
			if strings.Contains(r.url, port) {
				return port[1:]
			}
		}
		if strings.HasPrefix(r.url, "ftp:") {
			return "21"
		}
		return "80"
	}
	holds := map[string]func(request) bool{
		"all":  func(request) bool { return true },
		"net1": func(r request) bool { return strings.HasPrefix(r.client, "10.") },
		"net2": func(r request) bool {
			return strings.HasPrefix(r.client, "10.1.") || strings.HasPrefix(r.client, "192.0.2.")
		},
		"dom": func(r request) bool {
			return strings.HasSuffix("."+hostOf(r), ".a.example") || hostOf(r) == "b.example"
		},
		"sub":  func(r request) bool { return strings.HasSuffix("."+hostOf(r), ".x.a.example") },
		"safe": func(r request) bool { return portOf(r) != "22" && portOf(r) != "21" },
		"tls":  func(r request) bool { return portOf(r) == "443" },
		"get":  func(r request) bool { return r.method == "GET" },
		"ftp":  func(r request) bool { return strings.HasPrefix(r.url, "ftp:") || strings.HasPrefix(r.url, "http:") },
		"path": func(r request) bool { return strings.Contains(r.url, "/p/") },
		"work": func(r request) bool {
			return r.at.Weekday() >= time.Monday && r.at.Weekday() <= time.Friday && r.at.Hour() >= 8 &&
				r.at.Hour() < 18
		},
		"lunch":   func(r request) bool { return r.at.Hour() == 12 },
		"deep":    func(r request) bool { return strings.Contains(r.url, "/p/x") },
		"more":    func(r request) bool { return strings.HasSuffix(hostOf(r), ".example") },
		"odd":     func(r request) bool { return strings.HasPrefix(hostOf(r), "b") },
		"CONNECT": func(r request) bool { return r.method == "CONNECT" },
	}
	holds["both"] = func(r request) bool { return holds["dom"](r) || holds["net2"](r) }
	holds["pair"] = func(r request) bool { return holds["net1"](r) && holds["tls"](r) }
	names := []string{
		"all", "net1", "net2", "dom", "sub", "safe", "tls", "get", "ftp", "path", "work", "odd",
		"CONNECT", "both", "pair", "lunch", "more", "deep",
	}
	var requests []request
	for _, client := range []string{"10.1.0.1", "10.2.0.1", "192.0.2.9", "2001:db8::1"} {
		for _, host := range []string{"a.example", "w.x.a.example", "b.example", "c.example"} {
			for _, at := range []time.Time{
				time.Date(2026, 11, 30, 17, 59, 30, 0, time.UTC),
				time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC),
			} {
				for _, what := range []string{
					"GET http://H/", "POST http://H/p/x", "GET http://H:22/",
					"GET ftp://H/p/", "CONNECT H:443", "CONNECT H:8443",
				} {
					method, url, _ := strings.Cut(strings.Replace(what, "H", host, 1), " ")
					requests = append(requests, request{client, method, url, at})
				}
			}
		}
	}
	random := rand.New(rand.NewPCG(1, 2)) // reproducible
	exact := 0
	const cases = 80
	for i := range cases {
		lines := [][]string{
			{
				"http_access deny !CONNECT both sub", "http_access allow !dom", "http_access allow net1 net1 !CONNECT",
				"http_access deny both",
			},
			{
				"http_access deny !dom work", "http_access allow both both work", "http_access deny sub",
				"http_access deny net2",
			},
			{"http_access deny net1 !path", "http_access deny deep", "http_access allow net1"},
			{
				"http_access allow net1 !path", "http_access allow deep", "http_access deny net2",
				"http_access allow all",
			},
			nil,
		}[min(i, 4)]
		for range 1 + random.IntN(5) {
			if lines != nil && i < 4 {
				break
			}
			line := "http_access " + []string{"allow", "deny"}[random.IntN(2)]
			for range 1 + random.IntN(3) {
				line += " " + []string{"", "!"}[random.IntN(2)] + names[random.IntN(len(names))]
			}
			lines = append(lines, line)
		}
		r := convertText(t, acls+strings.Join(lines, "\n"))
		c := load(t, r)
		p := policyOf(t, c)
		if len(r.Unconverted) == 0 {
			exact++
		}
		for _, requested := range requests {
			squid, urnd := squidAllows(lines, holds, requested), allowed(t, c, p, requested)
			if urnd && !squid || len(r.Unconverted) == 0 && squid != urnd {
				t.Fatalf("%+v: Squid %v, urnd %v, by\n%s\n%s", requested, squid, urnd,
					strings.Join(lines, "\n"), r.YAML)
			}
		}
	}
	if exact < cases/2 {
		t.Errorf("only %d of %d were exact", exact, cases)
	}
}

// Every result is a configuration that urnd can read.
func FuzzConvert(f *testing.F) {
	for _, name := range []string{"testdata/debian.conf", "testdata/office.conf"} {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text))
	}
	for _, r := range carriedRows() {
		for name := range strings.FieldsSeq(r.names) {
			f.Add(name + " 1 parent 3 4 login=a:b tls weight=2\nhttp_access allow CONNECT\n" + name + " /a b\n" + name +
				" on\n")
		}
	}
	f.Add("acl a dst ::ffff:0:0/96 0.0.0.0/8 ::/0\nacl b url_regex ^https://a.example/b ^/ -i .\nacl b time SMA " +
		"1:2-24:00\nhttp_access deny !a b\nhttp_access allow !b")
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Convert(filesOf(map[string]string{"/e/squid.conf": text}), "/e/squid.conf")
		if err == nil {
			load(t, r)
		}
	})
}
