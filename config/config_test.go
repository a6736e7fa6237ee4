package config_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/urnd/urnd/config"
)

func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// lines removes the columns from the positions in an error or message; TestColumns checks columns.
func lines(text any) string {
	return regexp.MustCompile(`(urnd\.(?:yaml|toml):\d+):\d+`).ReplaceAllString(fmt.Sprint(text), "$1")
}

func paths(err error) []string {
	var failures config.Diagnostics
	errors.As(err, &failures)
	var paths []string
	for _, f := range failures {
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

// keys returns the paths of all settings in nested maps.
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

// TestExampleNamespace requires that the commented namespace of the example is valid.
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
	if err != nil || len(got.Namespaces) != 1 || len(got.Namespaces[0].Targets) != 4 {
		t.Errorf("%s\n%+v, %v", text, got.Namespaces, err)
	}
}

// TestSettings requires that the declared settings are exactly the fields.
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
		if _, isSwitch := value.(bool); !isSwitch && s.DescribeBounds() == "" {
			t.Errorf("%s has neither bound nor form", s.Path)
		}
	}
	slices.Sort(declared)
	if !slices.Equal(declared, known) {
		t.Errorf("declared %q\nwant %q", declared, known)
	}
}

// TestElements requires that the declared settings of tables in lists are exactly their fields.
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

// keysOfType returns the paths of all settings in a type.
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
	want.DNS.Servers = []config.Server{
		{AddrPort: netip.MustParseAddrPort("192.0.2.1:53")},
		{AddrPort: netip.MustParseAddrPort("[2001:db8::1]:5353")},
	}
	want.DNS.Timeout = 500 * time.Millisecond
	want.Namespaces = []config.Namespace{{
		NID:     "Example",
		Targets: []config.Target{{Template: "https://example.org/{nss}"}},
	}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
}

func TestAllErrorsReported(t *testing.T) {
	_, err := config.Load(write(t, "urnd.yaml", `
listen: {service: nowhere, servce: x}
dns: {servers: [ns.example.org], timeout: soon, rounds: 0}
ddds: {roots: ["a..b"], uri_roots: ["-"], root_options: [{root: a.b, servers: [tls://x]}]}
resolve: {order: [ddds, ddds, magic]}
urn: {accept: [rfc8141, rfc3986]}
slp: {agents: [da.example], scopes: [], timeout: 0}
cache: {answers: lots, stale_for: -1s}
access: {allow_destinations: [10.0.0]}
limits: {target: 10}
log: {level: loud, format: xml}
colour: blue
namespaces:
  - {nid: urn, fold: sideways, pattern: "("}
  - {nid: a1, targets: [{template: "{"}, {template: nowhere}, {}], extra: 1}
  - nid: a2
    targets: [{template: "http://a/", rel: "Described By", title: "a\nb", context: "\x00", type: x, language: "?"}]
  - {nid: A1, check: sometimes, thttp: ["http://a.example/x", "ftp://a", "https://a.example:8443"]}
`), nil)
	want := []string{
		"access.allow_destinations.0", "cache.answers", "cache.stale_for", "colour",
		"ddds.root_options.0.root", "ddds.root_options.0.servers.0", "ddds.roots.0", "ddds.uri_roots.0",
		"dns.rounds", "dns.servers.0", "dns.timeout", "limits.target", "listen.servce", "listen.service.0",
		"log.format", "log.level", "namespaces.0.fold", "namespaces.0.nid", "namespaces.0.pattern",
		"namespaces.1.extra", "namespaces.1.targets.0.template", "namespaces.1.targets.1.template",
		"namespaces.1.targets.2.template", "namespaces.2.targets.0.context", "namespaces.2.targets.0.language",
		"namespaces.2.targets.0.rel",
		"namespaces.2.targets.0.title",
		"namespaces.2.targets.0.type",
		"namespaces.3.check", "namespaces.3.nid", "namespaces.3.thttp.0", "namespaces.3.thttp.1", "resolve.order.1",
		"resolve.order.2", "slp.agents.0", "slp.scopes", "slp.timeout", "urn.accept.1",
	}
	if got := slices.Compact(paths(err)); !slices.Equal(got, want) {
		t.Errorf("faults at %q\nwant %q\n%v", got, want, err)
	}
}

func TestErrorsAcrossSettings(t *testing.T) {
	_, err := config.Load(write(t, "urnd.yaml", `
listen: {service: "127.0.0.1:1", admin: "127.0.0.1:1"}
limits: {target: 1MiB}
urn: {accept: []}
access: {allow_destinations: ["::ffff:10.0.0.0/104"]}
dns:
namespaces: [{nid: example, targets: [{template: "{scheme}:{+r}"}]}]
`), nil)
	want := []string{
		"access.allow_destinations.0", "limits.target", "listen.admin", "namespaces.0.targets.0.template",
		"urn.accept",
	}
	if got := paths(err); !slices.Equal(got, want) {
		t.Errorf("faults at %q, want %q\n%v", got, want, err)
	}
}

// TestEnvironment: a variable with an empty value disables a setting; spaces in lists are ignored.
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

// TestMapRoundTrip requires that the printed configuration is read back unchanged.
func TestMapRoundTrip(t *testing.T) {
	want := config.Default()
	loopback := want.Access.ProxyClients
	want.DNS.Servers = []config.Server{{AddrPort: netip.MustParseAddrPort("[2001:db8::1]:5353")}}
	want.DNS.Servers = append(want.DNS.Servers,
		config.Server{AddrPort: netip.MustParseAddrPort("192.0.2.1:853"), TLS: true, Name: "dns.example"})
	want.DDDS.RootOptions = []config.RootOptions{{Root: "urn.arpa", Servers: want.DNS.Servers, RequireDNSSEC: true}}
	want.Cache.Answers = 1234567
	want.Log.Level = slog.LevelDebug
	want.Namespaces = []config.Namespace{{
		NID: "example", Fold: "lower", Order: []string{"thttp", "namespace"},
		THTTP: []string{"https://r.example"}, Schemes: []string{"ftp"},
		Targets: []config.Target{{Template: "https://a/{nss}"}},
	}}
	want.Proxy.Rules = []config.ProxyRule{{
		ID: "a", Action: "deny", Clients: loopback, Users: []string{"a"}, Methods: []string{"GET"},
		Schemes: []string{"connect"}, Hosts: []string{".a"},
		Ports: []config.PortRange{{First: 443, Last: 443}, {First: 8000, Last: 8999}}, Destinations: loopback,
		Groups: []string{"staff"}, Paths: []string{"/a/*"}, Hellos: []string{"none"}, ClientsFrom: []string{"/c"},
		HostsFrom: []string{"/h"}, URLsFrom: []string{"/u"},
		DestinationsFrom: []string{"/d"},
		Times: []config.Window{{
			Days: [7]bool{false, true, true, true, true, true, false}, From: 8 * 60,
			To: 18*60 + 30,
		}},
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

// TestHealth: health checks of targets require a valid contact and interval.
func TestHealth(t *testing.T) {
	for _, c := range []struct{ settings, failure string }{
		{"health_interval: 168h, health_contact: 'mailto:a@a.example'", ""},
		{"health_interval: 168h, health_contact: 'https://a.example/links?a=1'", ""},
		{"health_interval: 168h", "registry.health_contact"},
		{"health_interval: 1m, health_contact: a@a.example", "must be 0 or at least 1h"},
		{"health_contact: 'a@a.example) evil ('", "neither a URL nor a mail address"},
		{"health_contact: nobody", "neither a URL nor a mail address"},
		{"health_rate: 0", "not between"},
		{"health_pause: 2h", "not between"},
	} {
		_, err := config.Load(write(t, "urnd.yaml", "registry: {"+c.settings+"}\n"), nil)
		if c.failure == "" && err != nil ||
			c.failure != "" && (err == nil || !strings.Contains(err.Error(), c.failure)) {
			t.Errorf("%s: %v", c.settings, err)
		}
	}
}
