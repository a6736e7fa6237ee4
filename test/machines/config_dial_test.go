//go:build e2e

package machines

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.yaml.in/yaml/v3"
	"google.golang.org/protobuf/proto"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// emptyZone is the zone of a root without rules.
const emptyZone = "$TTL 60\n@ SOA ns.elsewhere.test. admin.elsewhere.test. 1 3600 600 86400 60\n@ NS " +
	"ns.elsewhere.test.\n"

// dialCase is a configuration that names a server, and the expected report.
type dialCase struct {
	change  func(*config.Config)
	message string
	ok      bool
	logged  string // log of a daemon, if it differs
}

// testDialled checks that urnd config check --dial reports for each server whether it is usable, and that a
// daemon with the configuration logs the same.
func testDialled(t *testing.T, setting string, cases map[string]dialCase) {
	t.Helper()
	dns := testserver.StartBIND(t, testserver.Zone{Name: "urn.example.org", Text: emptyZone}).Addr()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := startInstance(t, dns, c.change)
			file := filepath.Join(t.TempDir(), "urnd.yaml")
			writeConfiguration(t, file, w.Config)
			out, err := urndtest.Run(t, "", "config", "check", "--dial", file)
			line := ""
			for l := range strings.Lines(out) {
				if strings.HasPrefix(l, setting+": ") {
					line = strings.TrimSpace(l)
				}
			}
			if c.ok != (err == nil) || !strings.Contains(line, c.message) || strings.Contains(line, ": ok") != c.ok ||
				strings.Contains(out, "staple") {
				t.Errorf("%v\n%s", err, out)
			}
			if c.ok {
				return
			}
			if c.logged == "" {
				c.logged = c.message
			}
			w.WaitForLog(t, c.logged)
			if strings.Contains(w.Log(), "staple") {
				t.Error("the log has the password")
			}
		})
	}
}

// writeConfiguration writes a configuration to a file.
func writeConfiguration(t *testing.T, path string, c config.Config) {
	t.Helper()
	text, err := yaml.Marshal(config.ToPlain(c.Map()))
	if err == nil {
		err = os.WriteFile(path, text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestConfigCheckDialsShared(t *testing.T) {
	t.Parallel()
	ca, other := testserver.NewAuthority(t), testserver.NewAuthority(t)
	server := testserver.StartRedisTLS(t, ca, "--requirepass", "correct horse")
	_, port, _ := strings.Cut(server.TLSAddr(), ":")
	key, password, wrong := writeTemp(t, "secret", strings.Repeat("k", 64)), writeTemp(t, "secret", "correct horse\n"),
		writeTemp(t, "secret", "battery staple")
	at := func(url, password, ca string) func(*config.Config) {
		return func(c *config.Config) {
			c.Cache.Shared, c.Cache.SharedKey, c.Cache.SharedPassword, c.Cache.SharedCA, c.Cache.SharedTimeout = url,
				key, password, ca, time.Second
		}
	}
	testDialled(t, "cache.shared", map[string]dialCase{
		"right": {at("rediss://"+server.TLSAddr(), password, ca.File), "ok: redis 7", true, ""},
		"no server": {
			at("redis://127.0.0.1:1", password, ""), "connection refused at this address and port", false,
			"",
		},
		"password": {at("redis://"+server.Addr(), wrong, ""), "wrong or missing user or password", false, ""},
		"user": {
			at("redis://nobody@"+server.Addr(), password, ""), "wrong or missing user or password", false,
			"",
		},
		"authority": {at("rediss://"+server.TLSAddr(), password, other.File), "of an unknown authority", false, ""},
		"host name": {at("rediss://localhost:"+port, password, ca.File), "certificate for another name", false, ""},
		"TLS, not said": {
			at("redis://"+server.TLSAddr(), password, ""), "for TLS use rediss: instead of redis:", false,
			"",
		},
		"no TLS":   {at("rediss://"+server.Addr(), password, ca.File), "no TLS at this port", false, ""},
		"database": {at("redis://"+server.Addr()+"/77", password, ""), "no database of this number", false, ""},
	})
}

func TestConfigCheckDialsPostgres(t *testing.T) {
	t.Parallel()
	ca, other := testserver.NewAuthority(t), testserver.NewAuthority(t)
	server := testserver.StartPostgres(t)
	server.Certify(ca.Issue(time.Hour, "127.0.0.1"))
	plain := testserver.StartPostgres(t)
	plain.Query("", "CREATE DATABASE newer")
	plain.Query("newer", "CREATE TABLE goose_db_version (version_id bigint, is_applied boolean)")
	plain.Query("newer", "INSERT INTO goose_db_version VALUES (99, true)")
	plain.Query("", "CREATE ROLE reader LOGIN")
	server.Query("", "CREATE ROLE urnd LOGIN PASSWORD 'correct horse'")
	server.Query("", "CREATE DATABASE names OWNER urnd")
	server.RequirePassword("urnd")
	_, port, _ := strings.Cut(server.Addr(), ":")
	password, wrong := writeTemp(t, "secret", "correct horse\n"), writeTemp(t, "secret", "battery staple")
	at := func(url, password string) func(*config.Config) {
		return func(c *config.Config) { c.Registry.Store, c.Registry.Password = url, password }
	}
	as := func(addr string) string { return strings.Replace(server.URLAt(addr, "names"), "postgres@", "urnd@", 1) }
	verified := "?sslmode=verify-full&sslrootcert="
	testDialled(t, "registry.store", map[string]dialCase{
		"right": {at(as(server.Addr())+verified+ca.File, password), "ok: PostgreSQL ", true, ""},
		"no server": {
			at("postgres://urnd@127.0.0.1:1/names", password), "connection refused at this address and port",
			false, "",
		},
		"password": {at(as(server.Addr()), wrong), "wrong or missing user or password", false, ""},
		"user": {
			at(strings.Replace(as(server.Addr()), "urnd@", "nobody@", 1), wrong),
			"wrong or missing user or password", false, "",
		},
		"authority": {at(as(server.Addr())+verified+other.File, password), "of an unknown authority", false, ""},
		"host name": {at(as("localhost:"+port)+verified+ca.File, password), "certificate for another name", false, ""},
		"no TLS":    {at(plain.URLAt(plain.Addr(), "")+"?sslmode=require", ""), "does not support TLS", false, ""},
		"database":  {at(plain.URL("none"), ""), "no database of this name", false, ""},
		"newer":     {at(plain.URL("newer"), ""), "schema 99", false, ""},
		"rights": {
			at(strings.Replace(plain.URL(""), "postgres@", "reader@", 1), ""), "grant CREATE on the schema", false,
			"permission denied for schema public",
		},
	})
}

// TestConfigCheckDialsReplica checks that a replica is only read, and that the check creates no registry.
func TestConfigCheckDialsReplica(t *testing.T) {
	t.Parallel()
	server := testserver.StartPostgres(t)
	replica := server.StartStandby()
	file := filepath.Join(t.TempDir(), "urnd.yaml")
	c := config.Default()
	c.DNS.Servers = nil
	c.Registry.Store, c.Registry.Replica = server.URL(""), replica.URL("")
	c.DDDS.Enabled = false
	writeConfiguration(t, file, c)
	out, err := urndtest.Run(t, "", "config", "check", "--dial", file)
	if err == nil || !strings.Contains(out, "without a registry: urnd will create it") ||
		!strings.Contains(out, "replica with a different schema: 0") {
		t.Errorf("%v\n%s", err, out)
	}
	if has := server.Query("", "SELECT count(*) FROM pg_class WHERE relname = 'version'"); has != "0" {
		t.Error("it has made a registry")
	}
	w := startInstance(t, "127.0.0.1:9", func(d *config.Config) { d.Registry = c.Registry })
	testserver.Wait(t, "the registry is open", func() bool { return !strings.Contains(w.readiness(t), "registry") })
	testserver.Wait(t, "the replica has it",
		func() bool { return replica.Query("", "SELECT to_regclass('version')") != "" })
	out, err = urndtest.Run(t, "", "config", "check", "--dial", file)
	if !strings.Contains(out, "registry.store: "+server.URL("")+": ok: PostgreSQL ") ||
		!strings.Contains(out, ", read-only") {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestConfigCheckDialsOthers checks that DNS and the trace collector are checked concurrently, and that a
// server without a response does not hide others.
func TestConfigCheckDialsOthers(t *testing.T) {
	t.Parallel()
	var got spans
	receiver := httptest.NewServer(&got)
	defer receiver.Close()
	bind := testserver.StartBIND(t, testserver.Zone{Name: "a.example", Text: emptyZone})
	file := filepath.Join(t.TempDir(), "urnd.yaml")
	text := "dns: {servers: ['" + bind.Addr() +
		"', '127.0.0.1:9'], timeout: 500ms, rounds: 1}\nddds: {roots: [a.example]}\n"
	for collector, ok := range map[string]bool{receiver.URL: true, "http://127.0.0.1:9": false} {
		if err := os.WriteFile(file, []byte(text+"telemetry: {endpoint: '"+collector+"', sample: 1000}\n"),
			0o600); err != nil {
			t.Fatal(err)
		}
		out, err := urndtest.Run(t, "", "config", "check", "--dial", file)
		if err == nil || !strings.Contains(out, "dns.servers: 127.0.0.1:9: unusable: ") ||
			strings.Contains(out, "telemetry.endpoint: "+collector+": ok") != ok ||
			strings.Contains(out, "whether the servers of these settings respond") {
			t.Errorf("%v\n%s", err, out)
		}
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	if len(got.all) != 1 || got.all[0].Name != "config check" {
		t.Errorf("the collector has %v", got.all)
	}
}

// spans is an OpenTelemetry collector.
type spans struct {
	mu  sync.Mutex
	all []*trace.Span
}

// ServeHTTP implements http.Handler.
func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var sent collector.ExportTraceServiceRequest
	if r.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
		http.Error(w, "no traces", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range sent.ResourceSpans {
		for _, scope := range resource.ScopeSpans {
			s.all = append(s.all, scope.Spans...)
		}
	}
}
