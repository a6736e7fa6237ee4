package admin_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/admin"
	"github.com/urnd/urnd/proxy/admin/session"
	"github.com/urnd/urnd/proxy/admin/status"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// fakeCaches implements api.Caches, and records purges.
type fakeCaches struct {
	purged []string
	found  []api.Entry
	err    error
}

func (m *fakeCaches) Stats() any {
	return map[string]any{"caches": map[string]any{"answers": map[string]any{
		"lookups":   map[string]int{"hit": 1},
		"evictions": 2, "entries": 3, "bytes": 4,
	}}}
}

func (m *fakeCaches) Lookup(uri.URI) ([]api.Entry, error) { return m.found, m.err }

func (m *fakeCaches) Purge(_ context.Context, s resolver.Selection, soft bool) (int, error) {
	if m.err != nil {
		return 0, m.err
	}
	words := []string{s.Name.String(), s.Namespace, s.Prefix}
	if s.All {
		words = append(words, "all")
	}
	if soft {
		words = append(words, "soft")
	}
	m.purged = append(m.purged, strings.Join(strings.Fields(strings.Join(words, " ")), " "))
	return 1, nil
}

// newAdminHandler returns the admin handler of a modified configuration.
func newAdminHandler(caches *fakeCaches, change func(*admin.Config)) http.Handler {
	config := admin.Config{
		Clients: []netip.Prefix{loopback()}, Caches: caches, Responses: &fakeResponses{},
		Log: slog.New(slog.DiscardHandler),
		HasResponses: scheme.Infos{{
			Names:     []string{"ftp", "file", "gopher", "news", "mailto"},
			Cacheable: true,
		}}.Cacheable,
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/plain; version=0.0.4")
			_, _ = io.WriteString(w, "up 1\n")
		}),
		Health:   func() (unready, degraded []string) { return nil, nil },
		State:    fixedState,
		Sessions: session.New(time.Now),
		Settings: admin.Settings{
			Values: func() any { return map[string]any{"dns": map[string]any{"timeout": "2s"}} },
			Origins: func() any {
				return map[string]any{"settings": []map[string]any{{
					"setting": "dns.timeout", "value": "2s",
					"is_default": true, "origin": "default",
				}}}
			},
			Sections: func() []status.Section {
				return []status.Section{{
					Name: "dns",
					Settings: []status.Setting{{
						Path: "dns.timeout", Value: "<2s>",
						Origin: status.Origin{From: status.FromDefault},
					}},
				}}
			},
		},
	}
	if change != nil {
		change(&config)
	}
	return admin.New(config)
}

// adminRequest sends a request "METHOD TARGET" from a peer, with header fields "Name: value". Its context is
// already done, so that profiles take no time.
func adminRequest(h http.Handler, peer, request string, fields ...string) *http.Response {
	method, target, _ := strings.Cut(request, " ")
	ctx, leave := context.WithCancel(context.Background())
	leave()
	r := httptest.NewRequestWithContext(ctx, method, target, nil)
	r.Host, r.RemoteAddr = "127.0.0.1:8142", peer
	for _, field := range fields {
		name, value, _ := strings.Cut(field, ": ")
		switch name {
		case "Host":
			r.Host = value
			continue
		case "Certificate": // verified by the handshake
			r.TLS = &tls.ConnectionState{VerifiedChains: [][]*x509.Certificate{{}}}
			continue
		}
		r.Header.Add(name, value)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func text(t testing.TB, response *http.Response) string {
	t.Helper()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}

func loopback() netip.Prefix { return netip.MustParsePrefix("127.0.0.0/8") }

func TestAdminAccess(t *testing.T) {
	everywhere := []netip.Prefix{loopback(), netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("::1/128")}
	open := func(c *admin.Config) {
		c.OwnHosts, c.Proxies = route.NewOwnHosts("Admin.example."),
			[]netip.Prefix{netip.MustParsePrefix("192.0.2.80/32")}
	}
	locked := func(c *admin.Config) { open(c); c.Token = []byte(adminToken); c.Clients = everywhere }
	certified := func(c *admin.Config) { open(c); c.RequireCertificate = true; c.Clients = everywhere }
	both := func(c *admin.Config) { certified(c); locked(c) }
	const here, there, else_, proxied = "127.0.0.1:1", "192.0.2.1:1", "198.51.100.1:1", "192.0.2.80:1"
	const get, purge = "GET /api/v1/cache", "DELETE /api/v1/cache/entries?all=true"
	for _, tt := range []struct {
		name, peer, request string
		change              func(*admin.Config)
		fields              []string
		status              int
	}{
		{"this machine", here, get, open, nil, 200},
		{"by IPv4 in IPv6", "[::ffff:127.0.0.1]:1", get, open, nil, 200},
		{"another machine", there, get, open, nil, 403},
		{"another machine, its health", there, "GET /healthz", open, nil, 403},
		{"another machine, with the token", else_, get, locked, []string{"Authorization: Bearer " + adminToken}, 403},
		{"IPv6, where it is not named", "[::1]:1", get, open, nil, 403},
		{"no token", there, get, locked, nil, 401},
		{"no token on this machine", here, get, locked, nil, 401},
		{"no token by IPv6 on this machine", "[::1]:1", get, locked, nil, 401},
		{"the token", there, get, locked, []string{"Authorization: Bearer " + adminToken}, 200},
		{"the token, on this machine", here, purge, locked, []string{"Authorization: Bearer " + adminToken}, 200},
		{
			"the token, through a proxy", there, get, locked,
			[]string{"Authorization: Bearer " + adminToken, "X-Forwarded-For: 192.0.2.7"},
			403,
		},
		{"the token, through a trusted proxy", proxied, get, locked, []string{
			"Authorization: Bearer " + adminToken, "X-Forwarded-For: 192.0.2.7",
			"Host: admin.example",
		}, 200},
		{
			"the token, through a trusted proxy, from elsewhere", proxied, get, locked,
			[]string{"Authorization: Bearer " + adminToken, "Forwarded: for=198.51.100.1"},
			403,
		},
		{
			"the token, through a trusted proxy that does not name its client", proxied, get, locked,
			[]string{"Authorization: Bearer " + adminToken, "Via: 1.1 proxy"},
			403,
		},
		{
			"the token, by a strange name", there, get, locked,
			[]string{"Authorization: Bearer " + adminToken, "Host: evil.example"},
			421,
		},
		{"through a proxy that says so", here, get, open, []string{"Via: 1.1 urnd"}, 403},
		{"health through a proxy", here, "GET /healthz", open, []string{"Via: 1.1 urnd"}, 403},
		{"a wrong token", there, get, locked, []string{"Authorization: Bearer 0123456789abcdeX"}, 401},
		{"a part of it", there, get, locked, []string{"Authorization: Bearer " + adminToken[:15]}, 401},
		{"more than it", there, get, locked, []string{"Authorization: Bearer " + adminToken + "0"}, 401},
		{"an empty one", there, get, locked, []string{"Authorization: Bearer "}, 401},
		{"by Basic", there, get, locked, []string{"Authorization: Basic " + adminToken}, 401},
		{"in the query", there, get + "?token=" + adminToken, locked, nil, 401},
		{"what is not there", there, "GET /nothing", locked, nil, 401},
		{"health without the token", there, "GET /healthz", locked, nil, 200},
		{"readiness without the token", there, "GET /readyz", locked, nil, 200},
		{"a way around", there, "GET /healthz/../api/v1/cache", locked, nil, 401},
		{"a socket in the file system", "@", get, locked, nil, 200},
		{"such a socket, without a name", "", purge, locked, nil, 200},
		{"a certificate", there, get, certified, []string{"Certificate: shown"}, 200},
		{"no certificate, by a connection from before", here, get, certified, nil, 403},
		{"a certificate, from elsewhere", else_, get, certified, []string{"Certificate: shown"}, 403},
		{"a certificate, by name", there, get, certified, []string{"Host: admin.example", "Certificate: shown"}, 200},
		{"a certificate without the token", there, get, both, []string{"Certificate: shown"}, 401},
		{
			"a certificate and the token", there, get, both,
			[]string{"Certificate: shown", "Authorization: Bearer " + adminToken},
			200,
		},
		{"the token without a certificate", there, get, both, []string{"Authorization: Bearer " + adminToken}, 403},
		{"by name: DNS rebinding", here, get, open, []string{"Host: evil.example:8142"}, 421},
		{"a purge by name", here, purge, open, []string{"Host: evil.example"}, 421},
		{"a name that looks like an address", here, get, open, []string{"Host: 127.0.0.1.evil.example"}, 421},
		{"no name", here, get, open, []string{"Host: "}, 421},
		{"localhost", here, get, open, []string{"Host: LocalHost:8142"}, 200},
		{"an address of IPv6", here, get, open, []string{"Host: [::1]:8142"}, 200},
		{"an address alone", here, get, open, []string{"Host: 127.0.0.1"}, 200},
		{"an address of no machine, which leads to this one", here, get, open, []string{"Host: 0.0.0.0:8142"}, 421},
		{"another one of its network", here, get, open, []string{"Host: 0.1.2.3"}, 421},
		{"that of IPv6", here, get, open, []string{"Host: [::]:8142"}, 421},
		{"that of IPv4 in IPv6", here, get, open, []string{"Host: [::ffff:0.0.0.0]:8142"}, 421},
		{"that of IPv6, with a zone", here, get, open, []string{"Host: [::%25lo]:8142"}, 421},
		{"health by name", here, "GET /healthz", open, []string{"Host: probe.example"}, 200},
		{"through a proxy on this machine", here, get, open, []string{"X-Forwarded-For: 198.51.100.1"}, 403},
		{"through such a proxy, by the other field", here, get, open, []string{"Forwarded: for=198.51.100.1"}, 403},
		{
			"through such a proxy, hidden by an empty field", here, get, open,
			[]string{"X-Forwarded-For: ", "X-Forwarded-For: 198.51.100.1"},
			403,
		},
		{"the other field, hidden so", here, get, open, []string{"Forwarded: ", "Forwarded: for=198.51.100.1"}, 403},
		{"a page of another site purges", here, purge, open, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{"a page of another site, in an old browser", here, purge, open, []string{"Origin: https://evil.example"}, 403},
		{"a page of a neighbour's port", here, purge, open, []string{"Sec-Fetch-Site: same-site"}, 403},
		{"a form of another site", here, "POST /debug/pprof/symbol", open, []string{"Sec-Fetch-Site: cross-site"}, 403},
		{
			"a page of another site reads", here, get, open,
			[]string{"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"},
			403,
		},
		{
			"a page of another site reads, in an old browser", here, get, open,
			[]string{"Referer: https://evil.example/"},
			403,
		},
		{
			"a page of another site takes a profile", here, "GET /debug/pprof/profile?seconds=1", open,
			[]string{"Referer: https://evil.example/"},
			403,
		},
		{"a link of another site", here, "GET /debug/pprof/cmdline", open, []string{
			"Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate",
			"Sec-Fetch-Dest: document", "Sec-Fetch-User: ?1",
		}, 403},
		{"a page of another site, health", here, "GET /healthz", open, []string{"Origin: https://evil.example"}, 403},
		{"a frame with a sandbox", here, get, open, []string{"Origin: null"}, 403},
		{"an address that was typed", here, get, open, []string{"Sec-Fetch-Site: none"}, 200},
		{
			"a link of its own, in an old browser", here, get, open,
			[]string{"Host: 127.0.0.1:8142", "Referer: http://127.0.0.1:8142/"},
			200,
		},
		{
			"a link of another port", here, get, open,
			[]string{"Host: 127.0.0.1:8142", "Referer: http://127.0.0.1:8141/"},
			403,
		},
		{"a program purges", here, purge, open, nil, 200},
		{"a page of its own", here, purge, open, []string{"Sec-Fetch-Site: same-origin"}, 200},
		{"what is not there, on this machine", here, "GET /nothing", open, nil, 404},
		{"no such method", here, "PUT /api/v1/cache/entries", open, nil, 405},
		{"HEAD", here, "HEAD /api/v1/cache", open, nil, 200},
	} {
		response := adminRequest(newAdminHandler(&fakeCaches{}, tt.change), tt.peer, tt.request, tt.fields...)
		body := text(t, response)
		if response.StatusCode != tt.status {
			t.Errorf("%s: %d %s", tt.name, response.StatusCode, body)
		}
		if kind := response.Header.Get("Content-Type"); response.StatusCode >= 400 &&
			(kind != "application/problem+json" || !json.Valid([]byte(body))) {
			t.Errorf("%s: an error of type %q: %s", tt.name, kind, body)
		}
		requested, allowed := response.Header.Get("WWW-Authenticate"), response.Header.Get("Allow")
		if (requested == `Bearer realm="urnd"`) != (tt.status == 401) ||
			(allowed == "GET, HEAD, DELETE") != (tt.status == 405) {
			t.Errorf("%s: asks for %q, allows %q", tt.name, requested, allowed)
		}
		if strings.Contains(body, adminToken) {
			t.Errorf("%s: tells the token: %s", tt.name, body)
		}
	}
}

// A client of a Unix socket has no IP address, and needs no token.
func TestAdminUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "admin.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(newAdminHandler(&fakeCaches{},
		func(c *admin.Config) { c.Token, c.Clients = []byte(adminToken), nil }))
	server.Listener.Close()
	server.Listener = listener
	server.Start()
	defer server.Close()
	client := http.Client{Transport: &http.Transport{
		DialContext:       func(context.Context, string, string) (net.Conn, error) { return net.Dial("unix", path) },
		DisableKeepAlives: true,
	}}
	response, err := client.Get("http://admin/api/v1/cache")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("%d", response.StatusCode)
	}
}

// Nothing is purged without exactly one valid selection.
func TestAdminSelection(t *testing.T) {
	for query, want := range map[string]string{
		"uri=URN:ISBN:0-395-36341-1&mode=hard":       "URN:ISBN:0-395-36341-1",
		"uri=http%3A%2F%2Fa.example%2F%3F&mode=hard": "http://a.example/?",
		"namespace=ISBN&mode=hard":                   "isbn",
		"prefix=urn:isbn:0&mode=hard":                "urn:isbn:0",
		"all=true&mode=hard":                         "all",
		"all=true":                                   "all soft",
		"uri=urn:a1:b&mode=soft":                     "urn:a1:b soft",
		"uri=&namespace=isbn&prefix=":                "isbn soft",
	} {
		m := &fakeCaches{}
		response := adminRequest(newAdminHandler(m, nil), "127.0.0.1:1", "DELETE /api/v1/cache/entries?"+query)
		if body := text(t, response); response.StatusCode != 200 || strings.Join(m.purged, ";") != want ||
			body != "{\n  \"purged\": 1\n}\n" {
			t.Errorf("%s: %d %s purged %q", query, response.StatusCode, body, m.purged)
		}
	}
	for _, query := range []string{
		"", "uri=", "mode=soft", "uri=urn:a1:b&all=true", "namespace=isbn&prefix=urn:", "uri=a", "namespace=-a",
		"namespace=a:b", "namspace=isbn", "all=false", "all=yes", "all=1&mode=maybe", "uri=urn:a1:b&soft=true",
		"uri=urn:a1:b&mode=refresh", "uri=%zz&all=true", "uri=urn:a1:b&uri=urn:a1:c",
	} {
		m := &fakeCaches{}
		response := adminRequest(newAdminHandler(m, nil), "127.0.0.1:1", "DELETE /api/v1/cache/entries?"+query)
		if body := text(t, response); response.StatusCode != 400 || len(m.purged) > 0 {
			t.Errorf("%q: %d %s purged %q", query, response.StatusCode, body, m.purged)
		}
	}
	for _, query := range []string{"", "?uri=", "?uri=a", "?url=urn:a1:b"} {
		if got := adminRequest(newAdminHandler(&fakeCaches{}, nil), "127.0.0.1:1",
			"GET /api/v1/cache/entries"+query).StatusCode; got != 400 {
			t.Errorf("lookup %q: %d", query, got)
		}
	}
}

func TestAdminDocuments(t *testing.T) {
	m := &fakeCaches{found: []api.Entry{
		remembered("urn:a1:b", 60,
			[]resolver.Location{{
				URI:  "https://a.example/?a&b",
				From: &resolver.Source{Name: "ddds", Type: "text/html"},
			}}, nil),
		remembered("urn:a1:b I2Ls", -1, nil, errors.New("not found")),
	}}
	h := newAdminHandler(m, func(c *admin.Config) {
		c.Health = func() (unready, degraded []string) { return []string{"it stops"}, []string{"DNS"} }
	})
	for request, want := range map[string]string{
		"GET /healthz":                            `200 {"status":"ok"}`,
		"GET /readyz":                             `503 {"degraded":["DNS"],"status":"not ready","unready":["it stops"]}`,
		"GET /api/v1/cache":                       `200 {"caches":{"answers":{"bytes":4,"entries":3,"evictions":2,"lookups":{"hit":1}}}}`,
		"GET /api/v1/config":                      `200 {"dns":{"timeout":"2s"}}`,
		"GET /api/v1/cache/entries?uri=urn:a1:b":  `200 {"entries":[{"key":"urn:a1:b","locations":[{"source":"ddds","type":"text/html","uri":"https://a.example/?a&b"}],"ttl":60},{"key":"urn:a1:b I2Ls","locations":[],"no":"not found","ttl":-1}]}`,
		"GET /api/v1/cache/entries?uri=URN:A1:b#": `200 {"entries":[{"key":"urn:a1:b","locations":[{"source":"ddds","type":"text/html","uri":"https://a.example/?a&b"}],"ttl":60},{"key":"urn:a1:b I2Ls","locations":[],"no":"not found","ttl":-1}]}`,
	} {
		response := adminRequest(h, "127.0.0.1:1", request)
		var document any
		if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
			t.Errorf("%s: %v", request, err)
			continue
		}
		var got strings.Builder
		encoder := json.NewEncoder(&got)
		encoder.SetEscapeHTML(false)
		_ = encoder.Encode(document)
		status, body, _ := strings.Cut(want, " ")
		if response.Status[:3] != status || strings.TrimSpace(got.String()) != body {
			t.Errorf("%s: %s %s", request, response.Status, got.String())
		}
		for name, want := range map[string]string{
			"Content-Type": "application/json", "Cache-Control": "no-store",
			"X-Content-Type-Options": "nosniff",
		} {
			if got := response.Header.Get(name); got != want {
				t.Errorf("%s: %s: %q", request, name, got)
			}
		}
	}
}

func TestAdminProfiles(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, nil)
	for target, part := range map[string]string{
		"/debug/pprof/": "goroutine", "/debug/pprof/goroutine?debug=1": "goroutine profile",
		"/debug/pprof/heap?debug=1": "heap profile", "/debug/pprof/cmdline": "admin",
		"/debug/pprof/symbol": "num_symbols", "/debug/pprof/trace": "go 1.",
		"/debug/pprof/profile": "",
	} {
		response := adminRequest(h, "127.0.0.1:1", "GET "+target)
		if body := text(t, response); response.StatusCode != 200 || !strings.Contains(body, part) {
			t.Errorf("%s: %d %.200s", target, response.StatusCode, body)
		}
	}
}

// Profiles are taken one at a time, and are limited to a minute.
func TestAdminProfilesAreBounded(t *testing.T) {
	server := httptest.NewServer(newAdminHandler(&fakeCaches{}, nil))
	defer server.Close()
	get := func(ctx context.Context, target string) (int, error) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL+"/debug/pprof/"+target, http.NoBody)
		if err != nil {
			return 0, err
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		return response.StatusCode, nil
	}
	for _, query := range []string{
		"profile?seconds=61", "trace?seconds=3600", "trace?seconds=1e9", "heap?seconds=61", "profile?seconds=-1",
		"profile?seconds=0", "trace?seconds=NaN", "profile?seconds=x", "goroutine?seconds=99999999999999999999",
	} {
		if status, err := get(t.Context(), query); status != 400 {
			t.Errorf("%s: %d %v", query, status, err)
		}
	}
	ctx, leave := context.WithCancel(t.Context())
	first := make(chan struct{})
	go func() {
		defer close(first)
		for ctx.Err() == nil { // its request may compete with the loop below
			_, _ = get(ctx, "trace?seconds=60")
		}
	}()
	testserver.Wait(t, "one is taken", func() bool { status, _ := get(t.Context(), "goroutine"); return status == 503 })
	for query, want := range map[string]int{"profile?seconds=1": 503, "heap?seconds=1": 503, "": 200, "cmdline": 200} {
		if status, err := get(t.Context(), query); status != want {
			t.Errorf("%s beside another: %d %v", query, status, err)
		}
	}
	leave()
	<-first
	testserver.Wait(t, "the next one is taken",
		func() bool { status, _ := get(t.Context(), "goroutine"); return status == 200 })
}

// remembered returns the document of a cache entry with a TTL in seconds.
func remembered(key string, ttl int, locations []resolver.Location, err error) api.Entry {
	return api.NewEntry(resolver.CachedAnswer{
		Key: key, TTL: time.Duration(ttl) * time.Second, Locations: locations,
		Err: err,
	})
}

// Any number of wrong tokens does not lock out the right one at the same address.
func TestTokenGuesses(t *testing.T) {
	h := newAdminHandler(&fakeCaches{}, func(c *admin.Config) {
		c.Token, c.Clients = []byte(adminToken), []netip.Prefix{loopback()}
	})
	for _, path := range []string{"/api/v1/cache", "/metrics"} {
		for range 48 {
			if got := adminRequest(h, "127.0.0.1:1", "GET "+path,
				"Authorization: Bearer wrong").StatusCode; got != 401 {
				t.Errorf("%s with a wrong token: %d", path, got)
			}
			if got := adminRequest(h, "127.0.0.1:1", "GET "+path,
				"Authorization: Bearer "+adminToken).StatusCode; got != 200 {
				t.Errorf("%s with the right token: %d", path, got)
			}
		}
	}
}

// A panic is reported, and gets an error response.
func TestAdminPanic(t *testing.T) {
	var reported any
	h := newAdminHandler(&fakeCaches{}, func(c *admin.Config) {
		c.Settings.Values = func() any { panic("a fault") }
		c.Panicked = func(value any, _ []byte) { reported = value }
	})
	if got := adminRequest(h, "127.0.0.1:1", "GET /api/v1/config").StatusCode; got != http.StatusInternalServerError ||
		reported != "a fault" {
		t.Errorf("%d, reported %v", got, reported)
	}
}
