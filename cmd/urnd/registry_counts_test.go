package main

import (
	"io"
	"net/http"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/internal/cli"
	"github.com/urnd/urnd/resolver/registry"
)

const browser = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"

// Every kind of answer of the registry is counted, by name and day, people and bots apart, also over a
// reload; those of other systems are not.
func TestResolutionsAreCounted(t *testing.T) {
	r := newSiteRegistry(t)
	const name = "urn:example:a"
	r.put(t, registry.Name(name), registry.Record{Targets: targets("https://example.org/a")})
	r.put(t, registry.Name("urn:example:alias"), registry.Record{Alias: name})
	r.put(t, registry.Name("urn:example:gone"), registry.Record{Targets: targets("https://example.org/b")})
	r.apply(t, registry.Edit{Key: registry.Name("urn:example:gone"), IfVersion: registry.Any, Change: registry.Withdraw("it had errors")})
	r.put(t, registry.Prefix("urn:example:below:"), registry.Record{Targets: targets("https://example.org/below/")})
	w := startWithRegistry(t, r, nil)
	get := func(path, userAgent, body string) {
		t.Helper()
		method := http.MethodGet
		if body != "" {
			method = http.MethodPost
		}
		request, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("User-Agent", userAgent)
		response, err := http.DefaultTransport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil { // a batch ends when its client leaves
			t.Fatal(err)
		}
		if err := response.Body.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{
		"/" + name, "/URN:EXAMPLE:a", "/urn:example:alias", "/uri-res/N2Ls?" + name, "/uri-res/N2C?" + name, "/uri-res/N2Ns?" + name,
		"/api/v1/resolve?uri=" + name, "/api/v1/explain?uri=" + name,
	} {
		get(path, browser, "")
		get(path, "curl/8.14.1", "")
		get(path, "curl/8.14.1", "")
	}
	w.hangups <- syscall.SIGHUP
	w.waitForLog(t, "was reloaded")
	get("/"+name, browser, "")
	get("/api/v1/resolve", "curl/8.14.1", `["urn:example:a","urn:example:gone","urn:example:other"]`)
	get("/urn:example:gone", browser, "")
	get("/uri-res/N2C?urn:example:gone", browser, "")
	get("/urn:example:below:x", browser, "")
	get("/urn:ietf:rfc:2648", browser, "")
	get("/urn:example:unknown", browser, "")
	w.stop()

	day := w.clock.now().UTC().Format("2006-01-02")
	for _, tt := range []struct{ args, want string }{
		{name + " --since " + day, "  people  bots  day\n       9    17  " + day + "\n       9    17  all\n"},
		{name + " --json", `{"name":"urn:example:a","periods":[{"period":"` + day + `","people":9,"bots":17}],"sum":{"people":9,"bots":17}}` + "\n"},
		{name + " --until 2001-01-01", "  people  bots  day\n       0     0  all\n"},
		{name + " --day 2001-01-01 --json", `{"name":"urn:example:a","periods":[],"sum":{"people":0,"bots":0}}` + "\n"},
		{"urn:example:below: --prefix", "  people  bots  day\n       1     0  " + day + "\n       1     0  all\n"},
		{"--since " + day, "  people  bots  day\n      12    18  " + day + "\n      12    18  all\n"},
		{"--day 2001-01-01 --json", `{"periods":[],"sum":{"people":0,"bots":0}}` + "\n"},
		{"--top 2", "  people  bots  name\n       9    17  urn:example:a\n       2     1  urn:example:gone\n      12    18  all\n"},
		{"--top 1 --day 2001-01-01 --json", `{"names":[],"sum":{"people":0,"bots":0}}` + "\n"},
	} {
		out, err := run(t, "", append([]string{"registry", "stats", "--store", "sqlite:" + r.path}, strings.Fields(tt.args)...)...)
		if err != nil || out != tt.want {
			t.Errorf("stats %s: %v\n%s\nwant\n%s", tt.args, err, out, tt.want)
		}
	}
	for args, want := range map[string]string{
		"--top 0":              "from 1 to 10000",
		name + " --top 3":      "exclude each other",
		name + " --day monday": `"monday" is not a day`,
	} {
		_, err := run(t, "", append([]string{"registry", "stats", "--store", "sqlite:" + r.path}, strings.Fields(args)...)...)
		if err == nil || !strings.Contains(err.Error(), want) || cli.StatusOf(err) != 2 {
			t.Errorf("stats %s: %v, want %q", args, err, want)
		}
	}
}

// redirectOf returns a cached redirect of the registry, made by a handler without a network.
func redirectOf(tb testing.TB, r siteRegistry, count bool) func() {
	tb.Helper()
	c := config.Default()
	c.Registry.Store, c.Registry.Count, c.DDDS.Enabled = "sqlite:"+r.path, count, false
	p, err := wireAll(c, newDependencies())
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.close)
	p.openRegistry(tb.Context(), tb.Output())
	request := &http.Request{
		Method: http.MethodGet, RequestURI: "/urn:example:a", ProtoMajor: 1, ProtoMinor: 1, Header: http.Header{"User-Agent": {browser}},
		RemoteAddr: netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), 1).String(),
	}
	w := &discardWriter{header: http.Header{}}
	redirect := func() {
		clear(w.header)
		p.service.ServeHTTP(w, request)
	}
	redirect()
	redirect()
	if location := w.header.Get("Location"); location != "https://example.org/a" || !strings.HasPrefix(w.header.Get("Cache-Status"), "urnd; hit") {
		tb.Fatalf("the redirect leads to %q: %q", location, w.header.Get("Cache-Status"))
	}
	return redirect
}

// Counting allocates nothing for a cached redirect.
func TestCountingIsFree(t *testing.T) {
	r := newSiteRegistry(t)
	r.put(t, registry.Name("urn:example:a"), registry.Record{Targets: targets("https://example.org/a")})
	without := leastAllocations(redirectOf(t, r, false))
	if with := leastAllocations(redirectOf(t, r, true)); with > without {
		t.Errorf("a redirect makes %v allocations where it is counted, %v where it is not", with, without)
	}
}

// leastAllocations returns how many allocations a function makes at least: with the race detector a sync.Pool forgets some of what it
// gets, at random.
func leastAllocations(f func()) float64 {
	least := testing.AllocsPerRun(10, f)
	for range 20 {
		least = min(least, testing.AllocsPerRun(10, f))
	}
	return least
}
