package config_test

import (
	"errors"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
)

func write(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func paths(err error) []string {
	var faults config.Faults
	errors.As(err, &faults)
	var paths []string
	for _, f := range faults {
		paths = append(paths, f.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestDefaultIsValid(t *testing.T) {
	if err := config.Default().Validate(); err != nil {
		t.Error(err)
	}
	got, err := config.Load("", nil)
	if err != nil || !reflect.DeepEqual(got, config.Default()) {
		t.Errorf("without any source: %+v, %v", got, err)
	}
}

// keys returns the dotted paths of all settings in nested maps.
func keys(prefix string, m map[string]any) []string {
	var all []string
	for key, value := range m {
		if inner, ok := value.(map[string]any); ok {
			all = append(all, keys(prefix+key+".", inner)...)
			continue
		}
		all = append(all, prefix+key)
	}
	slices.Sort(all)
	return all
}

func TestExampleIsTheDefault(t *testing.T) {
	if text, err := os.ReadFile("example.yaml"); err != nil || string(text) != config.Example() {
		t.Errorf("example.yaml is not the output of make generate: %v", err)
	}
	got, err := config.Load("example.yaml", nil)
	if err != nil || !reflect.DeepEqual(got, config.Default()) {
		t.Errorf("example.yaml is not the default: %+v, %v", got, err)
	}
	var file map[string]any
	if err := yaml.Unmarshal([]byte(config.Example()), &file); err != nil {
		t.Fatal(err)
	}
	if got, want := keys("", file), keys("", config.Default().Map()); !slices.Equal(got, want) {
		t.Errorf("example.yaml has the keys %q, want %q", got, want)
	}
}

// The commented namespace of the example is a valid one.
func TestExampleNamespace(t *testing.T) {
	_, block, _ := strings.Cut(config.Example(), "# namespaces:\n")
	text := "namespaces:\n"
	for line := range strings.Lines(block) {
		if !strings.HasPrefix(line, "#") {
			break
		}
		text += strings.TrimPrefix(line, "#")
	}
	got, err := config.Load(write(t, "urnd.yaml", text), nil)
	if err != nil || len(got.Namespaces) != 1 || len(got.Namespaces[0].Targets) != 3 {
		t.Errorf("%s\n%+v, %v", text, got.Namespaces, err)
	}
}

// Every leaf can be set by the file, the environment and a flag, and they go
// before each other in this order.
func TestEveryLeaf(t *testing.T) {
	values := map[string][3]string{ // file, environment, flag
		"listen.service":              {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		"listen.redirect_tls":         {"true", "true", "false"},
		"listen.fast_path":            {"false", "false", "true"},
		"listen.http2":                {"false", "false", "true"},
		"listen.admin":                {"127.0.0.1:1", "unix:/run/urnd/admin.sock", "127.0.0.1:3"},
		"listen.tls":                  {"127.0.0.1:1", "127.0.0.1:2", "127.0.0.1:3"},
		"listen.proxy_protocol":       {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"tls.certificate":             {"/a.pem", "credential:certificate", "c.pem"},
		"tls.key":                     {"/a.pem", "credential:key", "c.pem"},
		"tls.client_ca":               {"/a.pem", "credential:ca", "c.pem"},
		"cache.directory":             {"/a", "/b", "/c"},
		"cache.max_saved":             {"1MiB", "2MiB", "3MiB"},
		"access.resolve_clients":      {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"access.proxy_users":          {"/a", "credential:users", "/c"},
		"access.fresh_clients":        {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"access.embedders":            {"https://a.example", "https://b.example,http://c.example:81", "https://d.example"},
		"access.cors":                 {"https://a.example", "https://b.example,http://c.example:81", "*"},
		"access.security_contact":     {"mailto:a@a.example", "https://b.example/contact", "mailto:c@c.example"},
		"access.admin_clients":        {"127.0.0.0/16", "127.0.0.1/32,::1/128", "127.0.0.2/32"},
		"access.admin_token":          {"/a", "credential:token", "/c"},
		"access.trusted_proxies":      {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"limits.write_timeout":        {"1s", "2s", "3s"},
		"limits.client_share":         {"1", "2", "3"},
		"limits.batch_timeout":        {"1s", "2s", "3s"},
		"limits.drain_time":           {"1s", "2s", "3s"},
		"limits.body_timeout":         {"1s", "2s", "3s"},
		"listen.names":                {"a.example", "b.example,c.example", "d.example"},
		"access.admin_proxies":        {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"limits.connections":          {"1", "2", "3"},
		"limits.client_connections":   {"1", "2", "3"},
		"limits.requests":             {"1", "2", "3"},
		"limits.fetches":              {"5", "6", "7"},
		"limits.streams":              {"5", "6", "7"},
		"limits.bound_connections":    {"5", "6", "7"},
		"limits.documents":            {"5MiB", "6MiB", "7MiB"},
		"limits.rate":                 {"1", "2", "3"},
		"limits.outgoing":             {"1", "2", "3"},
		"limits.dns_queries":          {"1", "2", "3"},
		"limits.memory":               {"324MiB", "325MiB", "326MiB"},
		"reload.watch":                {"true", "true", "false"},
		"log.access":                  {"json", "squid", "combined"},
		"log.access_file":             {"/a", "/b", "/c"},
		"telemetry.endpoint":          {"http://a.example:4318", "https://b.example", "http://c.example"},
		"telemetry.sample":            {"2", "3", "4"},
		"dns.servers":                 {"192.0.2.1:53", "192.0.2.2:53,[2001:db8::1]:53", "192.0.2.3:5353"},
		"dns.timeout":                 {"1s", "3s", "4s"},
		"dns.rounds":                  {"1", "3", "4"},
		"ddds.enabled":                {"false", "false", "false"},
		"ddds.roots":                  {"a.example.", "b.example.,c.example.", "d.example."},
		"ddds.max_domains":            {"6", "7", "8"},
		"resolve.timeout":             {"1s", "2s", "3s"},
		"resolve.backoff":             {"1s", "2s", "3s"},
		"resolve.order":               {"namespace", "namespace,ddds", "ddds"},
		"registry.store":              {"sqlite:/a", "sqlite:/b", "postgres://c/d"},
		"registry.replica":            {"postgres://a/b", "postgres://c/d", "postgres://e/f"},
		"registry.password":           {"/a", "/b", "credential:c"},
		"registry.ttl":                {"1m0s", "2m0s", "3m0s"},
		"registry.only":               {"urn:a:", "urn:b:", "urn:c:"},
		"registry.count":              {"false", "false", "false"},
		"resolve.rule_ttl":            {"1h0m0s", "2h0m0s", "3h0m0s"},
		"resolve.elsewhere":           {"https://a.example/{+urn}", "https://b.example/{+urn}", "https://c.example/{+urn}"},
		"resolve.unknown_status":      {"501", "502", "501"},
		"cache.answers":               {"1MiB", "2MiB", "3MiB"},
		"dns.hedge_after":             {"1s", "2s", "3s"},
		"dns.min_ttl":                 {"1s", "2s", "3s"},
		"dns.max_ttl":                 {"1m0s", "2m0s", "3m0s"},
		"dns.refresh_ahead":           {"false", "false", "true"},
		"dns.mixed_case":              {"false", "false", "true"},
		"ddds.uri_roots":              {"uri.arpa.", "a.example,b.example", "c.example"},
		"ddds.fallback":               {"true", "true", "false"},
		"ddds.refer":                  {"true", "true", "false"},
		"thttp.timeout":               {"1s", "2s", "3s"},
		"thttp.max_body":              {"1MiB", "2MiB", "3MiB"},
		"thttp.max_locations":         {"1", "2", "3"},
		"thttp.default_ttl":           {"1s", "2s", "3s"},
		"thttp.max_ttl":               {"1m0s", "2m0s", "3m0s"},
		"slp.agents":                  {"192.0.2.1:427", "192.0.2.2:427,192.0.2.3:1", "192.0.2.4:427"},
		"slp.multicast":               {"true", "true", "false"},
		"slp.group":                   {"239.0.0.1:427", "239.0.0.2:1", "239.0.0.3:427"},
		"slp.scopes":                  {"a", "b,c", "d"},
		"slp.language":                {"de", "en-GB", "fr"},
		"slp.timeout":                 {"1s", "2s", "3s"},
		"slp.none_ttl":                {"1s", "2s", "3s"},
		"urn.accept":                  {"rfc8141", "rfc2141,draft", "draft"},
		"cache.records":               {"1MiB", "2MiB", "3MiB"},
		"cache.stale_for":             {"1s", "2s", "3s"},
		"cache.retry_after":           {"1s", "2s", "3s"},
		"access.allow_destinations":   {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"access.proxy_clients":        {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"proxy.policy":                {"report", "open", "enforce"},
		"proxy.spelling":              {"original", "redirect", "normal"},
		"proxy.forwarded":             {"off", "forwarded", "x-forwarded-for"},
		"proxy.connect_ports":         {"443-444", "1-2,8000-8999", "8443-8444"},
		"proxy.connect_addresses":     {"false", "false", "true"},
		"proxy.pac_proxies":           {"a.example:1", "b.example:1,https://c.example:2", "d.example:3"},
		"proxy.pac_direct":            {"a.example", ".b.example,c.example", "192.0.2.1"},
		"proxy.targeted":              {"A-Cache-Control", "B-Cache-Control,CDN-Cache-Control", "C"},
		"cache.responses":             {"128MiB", "129MiB", "130MiB"},
		"cache.max_response":          {"1MiB", "2MiB", "3MiB"},
		"cache.heuristic_percent":     {"1", "2", "3"},
		"cache.heuristic_max":         {"1s", "2s", "3s"},
		"cache.harmless_fields":       {"x-a-*", "x-b-*,x-c", "x-d"},
		"cache.collapse_timeout":      {"1s", "2s", "3s"},
		"cache.collapse_limit":        {"1", "2", "3"},
		"cache.disk":                  {"1MiB", "2MiB", "3MiB"},
		"cache.disk_directory":        {"/a", "/b", "/c"},
		"access.purge_clients":        {"10.0.0.0/8", "10.1.0.0/16,::1/128", "10.2.0.0/16"},
		"limits.tunnel_idle":          {"1s", "2s", "3s"},
		"limits.target":               {"1KiB", "2KiB", "3KiB"},
		"limits.header":               {"15KiB", "16KiB", "17KiB"},
		"limits.header_timeout":       {"1s", "2s", "3s"},
		"limits.idle_timeout":         {"1s", "2s", "3s"},
		"limits.connect_timeout":      {"1s", "2s", "3s"},
		"limits.origin_timeout":       {"1s", "2s", "3s"},
		"limits.origin_idle":          {"1s", "2s", "3s"},
		"limits.shutdown_timeout":     {"1s", "2s", "3s"},
		"log.level":                   {"DEBUG", "WARN", "ERROR"},
		"log.format":                  {"json", "text", "journald"},
		"proxy.underscores_in_fields": {"true", "true", "false"},
		"limits.network_factor":       {"1", "2", "3"},

		"gateways.allow_ports": {"1-2", "3-4,5-6", "7-8"},
		"gateways.deny_ports":  {"1-2", "3-4,5-6", "7-8"},
		"gateways.timeout":     {"1s", "2s", "3s"},
		"gateways.max_entries": {"1", "2", "3"},
		"gateways.max_listing": {"1MiB", "2MiB", "3MiB"},
		"gateways.ttl":         {"1s", "2s", "3s"},
		"ftp.enabled":          {"false", "false", "true"},
		"ftp.anonymous":        {"a@", "b@", "c@"},
		"ftp.login":            {"false", "false", "true"},
		"ftp.tls":              {"never", "required", "offered"},
		"ftp.max_idle":         {"1", "2", "3"},
		"ftp.idle":             {"1s", "2s", "3s"},
		"news.max_idle":        {"1", "2", "3"},
		"news.idle":            {"1s", "2s", "3s"},
		"gopher.enabled":       {"false", "false", "true"},
		"news.enabled":         {"false", "false", "true"},
		"news.servers":         {"a.example:119", "b.example:1,tls://c.example:2", "d.example:3"},
		"news.login":           {"/a", "credential:b", "/c"},
		"news.page":            {"1", "2", "3"},
		"wais.enabled":         {"false", "false", "true"},
		"wais.records":         {"1", "2", "3"},
		"file.roots":           {"/a", "/b,/c", "/d"},

		"registry.health_interval":    {"1h0m0s", "2h0m0s", "3h0m0s"},
		"registry.health_rate":        {"1", "2", "3"},
		"registry.health_concurrency": {"1", "2", "3"},
		"registry.health_pause":       {"1s", "2s", "3s"},
		"registry.health_contact":     {"https://a.example/", "mailto:b@b.example", "c@c.example"},
	}
	for _, key := range keys("", config.Default().Map()) {
		value, ok := values[key]
		if !ok {
			if key != "namespaces" && key != "ddds.root_options" && key != "resolve.identifiers" && key != "proxy.rules" && key != "proxy.upstreams" && key != "proxy.origins" && key != "gateways.templates" { // a list of tables has no place in a variable
				t.Errorf("%s is not tested", key)
			}
			continue
		}
		t.Run(key, func(t *testing.T) {
			section, leaf, _ := strings.Cut(key, ".")
			text := value[0]
			if reflect.TypeOf(config.Default().Map()[section].(map[string]any)[leaf]).Kind() == reflect.Slice {
				text = "[" + text + "]"
			}
			file := section + ":\n  " + leaf + ": " + text + "\n"
			switch key { // these need another setting
			case "listen.tls":
				file += "tls: {certificate: a, key: b}\n"
			case "registry.health_interval":
				file += "  health_contact: a@a.example\n"
			case "tls.client_ca":
				file += "  certificate: a\n  key: b\n"
			}
			path := write(t, "urnd.yaml", file)
			check := func(what, want string, flags map[string]any) {
				t.Helper()
				c, err := config.Load(path, flags)
				if err != nil {
					t.Errorf("by %s: %v", what, err)
					return
				}
				if got := print(t, c, section, leaf); got != want {
					t.Errorf("by %s: %s, want %s", what, got, want)
				}
			}
			check("file", value[0], nil)
			t.Setenv("URND_"+strings.ToUpper(section+"_"+leaf), value[1])
			check("environment", value[1], nil)
			check("flag", value[2], map[string]any{key: value[2]})
		})
	}
}

// print returns a setting in the form of the environment.
func print(t *testing.T, c config.Config, section, leaf string) string {
	t.Helper()
	text, err := yaml.Marshal(c.Map()[section].(map[string]any)[leaf])
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(strings.TrimPrefix(strings.TrimSpace(string(text)), "- "), "\n- ", ",")
	return strings.Trim(strings.ReplaceAll(joined, `'`, ""), `"`)
}

// Every setting is declared, and nothing else is.
func TestSettings(t *testing.T) {
	known := keys("", config.Default().Map())
	var declared []string
	for _, s := range config.Settings() {
		if s.Doc == "" {
			t.Errorf("%s has no documentation", s.Path)
		}
		if s.IsSection() {
			continue
		}
		declared = append(declared, s.Path)
		section, leaf, _ := strings.Cut(s.Path, ".")
		value := config.Default().Map()[section]
		if leaf != "" {
			value = value.(map[string]any)[leaf]
		}
		if _, isSwitch := value.(bool); !isSwitch && s.Bound() == "" {
			t.Errorf("%s has neither bound nor form", s.Path)
		}
	}
	slices.Sort(declared)
	if !slices.Equal(declared, known) {
		t.Errorf("declared %q\nwant %q", declared, known)
	}
}

// Every setting in a list of tables is declared, too.
func TestElements(t *testing.T) {
	var declared []string
	for _, s := range config.Elements() {
		if s.Doc == "" {
			t.Errorf("%s has no documentation", s.Path)
		}
		declared = append(declared, s.Path)
	}
	slices.Sort(declared)
	var known []string
	for _, key := range keysOfType("", reflect.TypeFor[config.Config]()) {
		if strings.Contains(key, ".*.") {
			known = append(known, key)
		}
	}
	slices.Sort(known)
	if !slices.Equal(declared, known) {
		t.Errorf("declared %q\nwant %q", declared, known)
	}
}

// keysOfType returns the paths of all settings.
func keysOfType(prefix string, typ reflect.Type) []string {
	var all []string
	for field := range typ.Fields() {
		key := field.Tag.Get("mapstructure")
		if key == "" {
			continue
		}
		all = append(all, prefix+key)
		inner, between := field.Type, "."
		if inner.Kind() == reflect.Slice {
			inner, between = inner.Elem(), ".*."
		}
		if inner.Kind() == reflect.Struct {
			all = append(all, keysOfType(prefix+key+between, inner)...)
		}
	}
	return all
}

func TestTOML(t *testing.T) {
	got, err := config.Load(write(t, "urnd.toml", `
[dns]
servers = ["192.0.2.1", "[2001:db8::1]:5353"]
timeout = "500ms"
[[namespaces]]
nid = "Example"
[[namespaces.targets]]
template = "https://example.org/{nss}"
`), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := config.Default()
	want.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort("192.0.2.1:53")}, {AddrPort: netip.MustParseAddrPort("[2001:db8::1]:5353")}}
	want.DNS.Timeout = 500 * time.Millisecond
	want.Namespaces = []config.Namespace{{NID: "Example", Targets: []config.Target{{Template: "https://example.org/{nss}"}}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	_, err := config.Load(write(t, "urnd.yaml", `
listen: {service: nowhere, servce: x}
dns: {servers: [ns.example.org], timeout: soon, rounds: 0}
ddds: {roots: ["a..b"], uri_roots: ["-"], max_domains: 99, root_options: [{root: a.b, servers: [tls://x]}]}
resolve: {order: [ddds, ddds, magic]}
urn: {accept: [rfc8141, rfc3986]}
slp: {agents: [da.example], scopes: [], language: "", timeout: 0}
cache: {answers: lots, stale_for: -1s}
access: {allow_destinations: [10.0.0]}
limits: {target: 10}
log: {level: loud, format: xml}
colour: blue
namespaces:
  - {nid: urn, fold: sideways, pattern: "("}
  - {nid: a1, targets: [{template: "{"}, {template: nowhere}, {}], extra: 1}
  - {nid: A1, check: sometimes, thttp: ["http://a.example/x", "ftp://a", "https://a.example:8443"]}
`), nil)
	want := []string{
		"access.allow_destinations.0", "cache.answers", "cache.stale_for", "colour", "ddds.max_domains", "ddds.root_options.0.root", "ddds.root_options.0.servers.0", "ddds.roots.0", "ddds.uri_roots.0",
		"dns.rounds", "dns.servers.0", "dns.timeout", "limits.target", "listen.servce", "listen.service.0", "log.format", "log.level",
		"namespaces.0.fold", "namespaces.0.nid", "namespaces.0.pattern",
		"namespaces.1.extra", "namespaces.1.targets.0.template", "namespaces.1.targets.1.template", "namespaces.1.targets.2.template",
		"namespaces.2.check", "namespaces.2.nid", "namespaces.2.thttp.0", "namespaces.2.thttp.1", "resolve.order.1", "resolve.order.2", "slp.agents.0", "slp.language", "slp.scopes", "slp.timeout", "urn.accept.1",
	}
	if got := slices.Compact(paths(err)); !slices.Equal(got, want) {
		t.Errorf("faults at %q\nwant %q\n%v", got, want, err)
	}
}

func TestFaultsBetweenSettings(t *testing.T) {
	_, err := config.Load(write(t, "urnd.yaml", `
listen: {service: "127.0.0.1:1", admin: "127.0.0.1:1"}
limits: {target: 1MiB}
urn: {accept: []}
access: {allow_destinations: ["::ffff:10.0.0.0/104"]}
dns:
namespaces: [{nid: example, targets: [{template: "{scheme}:{+r}"}]}]
`), nil)
	want := []string{"access.allow_destinations.0", "limits.target", "listen.admin", "namespaces.0.targets.0.template", "urn.accept"}
	if got := paths(err); !slices.Equal(got, want) {
		t.Errorf("faults at %q, want %q\n%v", got, want, err)
	}
}

// A variable that is set and empty turns a setting off; spaces in lists are ignored.
func TestEnvironment(t *testing.T) {
	t.Setenv("URND_LISTEN_ADMIN", "")
	t.Setenv("URND_ACCESS_PROXY_CLIENTS", "")
	t.Setenv("URND_DNS_SERVERS", "192.0.2.1, 192.0.2.2")
	c, err := config.Load("", nil)
	if err != nil || c.Listen.Admin != "" || len(c.Access.ProxyClients) != 0 || len(c.DNS.Servers) != 2 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestUnreadableFile(t *testing.T) {
	for _, path := range []string{"missing.yaml", write(t, "urnd.ini", ""), write(t, "urnd.yaml", "a: [")} {
		if _, err := config.Load(path, nil); err == nil || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// The printed configuration is read back unchanged.
func TestMapRoundTrip(t *testing.T) {
	want := config.Default()
	loopback := want.Access.ProxyClients
	want.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort("[2001:db8::1]:5353")}}
	want.DNS.Servers = append(want.DNS.Servers, config.Server{AddrPort: netip.MustParseAddrPort("192.0.2.1:853"), TLS: true, Name: "dns.example"})
	want.DDDS.RootOptions = []config.RootOptions{{Root: "urn.arpa", Servers: want.DNS.Servers, RequireDNSSEC: true}}
	want.Cache.Answers = 1234567
	want.Log.Level = slog.LevelDebug
	want.Namespaces = []config.Namespace{{NID: "example", Fold: "lower", Order: []string{"thttp", "namespace"}, THTTP: []string{"https://r.example"}, Schemes: []string{"ftp"}, Targets: []config.Target{{Template: "https://a/{nss}"}}}}
	want.Proxy.Rules = []config.ProxyRule{{
		ID: "a", Action: "deny", Clients: loopback, Users: []string{"a"}, Methods: []string{"GET"}, Schemes: []string{"connect"}, Hosts: []string{".a"},
		Ports: []config.PortRange{{First: 443, Last: 443}, {First: 8000, Last: 8999}}, Destinations: loopback,
	}}
	text, err := yaml.Marshal(want.Map())
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Load(write(t, "urnd.yaml", string(text)), nil)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%s\ngot %+v, %v", text, got, err)
	}
}

// Checks of targets need a contact, and neither it nor the interval is just anything.
func TestHealth(t *testing.T) {
	for _, c := range []struct{ settings, fault string }{
		{"health_interval: 168h, health_contact: 'mailto:a@a.example'", ""},
		{"health_interval: 168h, health_contact: 'https://a.example/links?a=1'", ""},
		{"health_interval: 168h", "registry.health_contact"},
		{"health_interval: 1m, health_contact: a@a.example", "less than 1h"},
		{"health_contact: 'a@a.example) evil ('", "neither a URL nor a mail address"},
		{"health_contact: nobody", "neither a URL nor a mail address"},
		{"health_rate: 0", "not between"},
		{"health_concurrency: 257", "not between"},
		{"health_pause: 2h", "not between"},
	} {
		_, err := config.Load(write(t, "urnd.yaml", "registry: {"+c.settings+"}\n"), nil)
		if c.fault == "" && err != nil || c.fault != "" && (err == nil || !strings.Contains(err.Error(), c.fault)) {
			t.Errorf("%s: %v", c.settings, err)
		}
	}
}
