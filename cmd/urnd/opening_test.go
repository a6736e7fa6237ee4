package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli/store"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/resolver/registry"
)

// onSockets is an urnd on sockets that were opened before it, as those of systemd, with a registry in a PostgreSQL that a test can let hang.
type onSockets struct {
	*fileDaemon
	relay *testserver.Relay
	admin testService
}

// openingSettings are those of the registry that is filled by fillForOpening.
func openingSettings(store string) string {
	return "registry: {store: '" + store + "', only: ['urn:example:', 'ark:/12345/', 'hdl:20.500.1/'], hosts: [purl.example], " +
		"digital_link: [{root: 'https://id.example/', name: n, contact: c, terms: 'https://example.org/'}], handles: [{prefix: '20.500.1'}]}"
}

// fillForOpening registers names of all kinds.
func fillForOpening(t *testing.T, server *testserver.Postgres) {
	t.Helper()
	c := config.Default()
	c.Registry.Store = server.URL("")
	c.Registry.Only = []string{"urn:example:", "ark:/12345/", "hdl:20.500.1/"}
	c.Registry.Hosts = []string{"purl.example"}
	c.Registry.DigitalLink = digitalLinks()
	names, err := namesOf(c)
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), c.Registry)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r := siteRegistry{newRegistry(s, names, time.Now, nil), ""}
	for _, name := range []string{"urn:example:a", "urn:example:b", "ark:/12345/x1", "https://purl.example/a", "hdl:20.500.1/a"} {
		r.put(t, registry.Name(name), registry.Record{Targets: targets("https://a.example/1")})
	}
	r.put(t, registry.Name(linkRoot+gtin), linked("gs1:defaultLink https://a.example/1"))
}

// startOnSockets starts an urnd whose registry hangs, and returns before that is open.
func startOnSockets(t *testing.T, settings ...string) *onSockets {
	t.Helper()
	server := testserver.StartPostgres(t)
	fillForOpening(t, server)
	relay := testserver.StartRelay(t, server.Socket())
	relay.Freeze()
	l := newFileDaemon(t, append([]string{openingSettings(server.URLAt(relay.Addr(), "") + "?connect_timeout=60")}, settings...)...)
	sockets := make(map[string][]net.Listener)
	for _, name := range []string{nameHTTP, nameAdmin} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		sockets[name] = []net.Listener{listener}
	}
	l.url = "http://" + sockets[nameHTTP][0].Addr().String()
	o := &onSockets{fileDaemon: l, relay: relay, admin: testService{url: "http://" + sockets[nameAdmin][0].Addr().String()}}
	l.startInProcess(t, sockets)
	return o
}

// opens is a request for a name, whose response does not depend on when it was sent.
type opens struct{ method, host, target, body string }

func (o opens) String() string { return o.method + " " + o.host + o.target }

// do returns the status of the response, and where it leads.
func (o opens) do(ctx context.Context, address string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, o.method, address, strings.NewReader(o.body))
	if err != nil {
		return "", err
	}
	request.URL.Opaque, request.Host = o.target, o.host
	if o.body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	transport := http.Transport{DisableKeepAlives: true}
	response, err := transport.RoundTrip(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	fails := ""
	if bytes.Contains(body, []byte("not available")) { // a line of a batch
		fails = " not available"
	}
	return fmt.Sprint(response.StatusCode, " ", response.Header.Get("Location"), fails), err
}

// Clients that have waited in the sockets for urnd wait for its registry, too, in all ways to ask for a name, and nobody else does.
func TestRequestsWaitForTheRegistry(t *testing.T) {
	w := startOnSockets(t)
	all := []opens{
		{target: "/urn:example:a"},
		{target: "/urn:example:b"},
		{target: "/urn:example:a?+x=y"},
		{target: "/?uri=urn:example:a"},
		{target: "/uri-res/N2L?urn:example:a"},
		{target: "/uri-res/N2C?urn:example:a"},
		{target: "/api/v1/resolve?uri=urn:example:a"},
		{method: "POST", target: "/api/v1/resolve", body: `["urn:example:a", "urn:example:b", "ark:/12345/x1"]`},
		{target: "/api/v1/explain?uri=urn:example:a"},
		{target: "/timegate/urn:example:a"},
		{target: "/timemap/urn:example:a"},
		{target: "/urn:example:a?+info"},
		{target: "/ark:/12345/x1"},
		{target: "/ark:/12345/x1?info"},
		{target: "/hdl:20.500.1/a"},
		{target: "/api/handles/20.500.1/a"},
		{host: "purl.example", target: "/a"},
		{host: "id.example", target: gtin},
		{host: "id.example", target: gtin + "?linkType=linkset"},
		{method: "HEAD", target: "/urn:example:a"},
	}
	outcomes := make([]string, len(all))
	var asking sync.WaitGroup
	for i := range all {
		if all[i].method == "" {
			all[i].method = "GET"
		}
		asking.Go(func() {
			var err error
			if outcomes[i], err = all[i].do(t.Context(), w.url); err != nil {
				t.Errorf("%s: %v", all[i], err)
			}
		})
	}
	testserver.Wait(t, "all wait", func() bool { return w.holds(t, len(all)) })
	if got := w.get(t, "/urn:book:1"); got.location != "https://a.example/1" {
		t.Errorf("a name that the registry is not asked for: %+v", got)
	}
	for _, method := range []string{"GET", "HEAD"} {
		response, err := (&http.Client{}).Do(&http.Request{Method: method, URL: mustParse(t, w.admin.url+"/readyz")})
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || method == "GET" && !strings.Contains(string(text), `"the registry is being opened: `) {
			t.Errorf("%s /readyz: %s\n%s", method, response.Status, text)
		}
	}
	if got := w.admin.get(t, "/healthz"); got.status != 200 {
		t.Errorf("/healthz: %+v", got)
	}
	if got := w.admin.get(t, "/metrics").body; !strings.Contains(got, "\nurnd_ready 0\n") || !strings.Contains(got, "\nurnd_registry_available 0\n") {
		t.Error("the metrics say that it is ready")
	}
	if n := w.logged("urnd is ready"); n > 0 {
		t.Error("systemd is told that it is ready")
	}
	w.relay.Thaw()
	asking.Wait()
	for i, o := range all {
		if after, err := o.do(t.Context(), w.url); err != nil || outcomes[i] != after || strings.HasPrefix(after, "5") || strings.HasSuffix(after, "available") {
			t.Errorf("%s: %s, and %s when the registry is open, %v", o, outcomes[i], after, err)
		}
	}
	w.ready(t)
	if got := w.admin.get(t, "/readyz"); got.status != 200 {
		t.Errorf("/readyz: %+v", got)
	}
}

func mustParse(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// holds reports whether so many requests, or more, wait for the registry.
func (w *onSockets) holds(t *testing.T, n int) bool {
	t.Helper()
	var used int
	_, rest, _ := strings.Cut(w.admin.get(t, "/metrics").body, `urnd_limit_used{limit="opening"} `)
	_, _ = fmt.Sscan(rest, &used)
	return used >= n
}

// Who leaves waits no longer; beyond the share of a client, requests are refused at once, with a time to come again; a stop ends the wait.
func TestWaitForTheRegistryIsBounded(t *testing.T) {
	w := startOnSockets(t, "limits: {requests: 8, client_share: 50, drain_time: 0s, shutdown_timeout: 1m}")
	name := opens{method: "GET", target: "/urn:example:a"}
	var conns []*net.TCPConn
	for range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "GET /urn:example:a HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		conns = append(conns, conn.(*net.TCPConn))
	}
	testserver.Wait(t, "they wait", func() bool { return w.holds(t, 4) })
	for range 3 {
		response, err := http.Get(w.url + name.target)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != http.StatusServiceUnavailable || response.Header.Get("Retry-After") == "" {
			t.Errorf("beyond the share: %s, Retry-After %q", response.Status, response.Header.Get("Retry-After"))
		}
	}
	for _, conn := range conns { // who closes only its own side waits for its answer
		if err := errors.Join(conn.SetLinger(0), conn.Close()); err != nil {
			t.Error(err)
		}
	}
	testserver.Wait(t, "nobody waits", func() bool { return !w.holds(t, 1) })
	var waiting sync.WaitGroup
	for range 3 {
		waiting.Go(func() {
			if got, err := name.do(t.Context(), w.url); err != nil || !strings.HasPrefix(got, "503") {
				t.Errorf("urnd is stopped: %s, %v", got, err)
			}
		})
	}
	testserver.Wait(t, "they wait", func() bool { return w.holds(t, 3) })
	began := time.Now()
	w.stop()
	waiting.Wait()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("the stop took %s", took)
	}
}

// A registry that cannot be opened ends the wait.
func TestWaitForARegistryThatFails(t *testing.T) {
	systemd := listenNotify(t)
	w := startOnSockets(t)
	var waiting sync.WaitGroup
	waiting.Go(func() {
		if got := w.get(t, "/urn:example:a"); got.status != 503 {
			t.Errorf("%+v", got)
		}
	})
	testserver.Wait(t, "it waits", func() bool { return w.holds(t, 1) })
	w.relay.Cut()
	waiting.Wait()
	w.ready(t)
	systemd.expect(t, "^READY=1\nSTATUS=Not ready: the registry cannot be asked: .*connection .*; "+statusPattern[len("STATUS="):])
	if got := w.admin.get(t, "/readyz"); got.status != 503 || !strings.Contains(got.body, `"the registry cannot be asked: `) {
		t.Errorf("/readyz: %+v", got)
	}
	w.relay.Thaw()
	w.relay.Restore()
	testserver.Wait(t, "it is ready", func() bool { return w.admin.get(t, "/readyz").status == 200 })
}
