package forward_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/balance"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// pool returns the servers of a site.
func pool(t *testing.T, urls ...string) *balance.Pool {
	t.Helper()
	config := balance.Config{Now: time.Now}
	for _, url := range urls {
		config.Servers = append(config.Servers, balance.Server{URL: parsed(t, url)})
	}
	return balance.New(config)
}

// RFC 9110 section 7.2: the server of a site gets the requested path, and the host of the key. The next server is
// tried if nothing was sent, so that no request is repeated that may have been processed (section 9.2.2).
func TestServersOfSites(t *testing.T) {
	site := &forward.Site{TLS: &tls.Config{ServerName: "inside.example"}}
	for name, tt := range map[string]struct {
		method    string
		others    int
		errs      []error // of the servers, in order; nil for a response
		requested string  // in order
		err       error
	}{
		"the first answers":  {"GET", 2, []error{nil}, "https://0.example/b?c", nil},
		"the second answers": {"GET", 2, []error{errRefused, nil}, "https://0.example/b?c http://1.example/b?c", nil},
		"none can be connected to": {
			"GET", 2,
			[]error{errRefused, netguard.ErrConnectTimeout, netguard.ErrLookup},
			"https://0.example/b?c http://1.example/b?c http://2.example/b?c", netguard.ErrLookup,
		},
		"one that was asked": {"POST", 2, []error{scheme.ErrNoResponse}, "https://0.example/b?c", scheme.ErrNoResponse},
		"one that may be asked again": {
			"GET", 2, []error{scheme.ErrNoResponse, nil}, "https://0.example/b?c http://1.example/b?c", nil,
		},
		"one that was not asked": {
			"GET", 2,
			[]error{resolver.ErrUnreachable},
			"https://0.example/b?c",
			resolver.ErrUnreachable,
		},
		"one that is not allowed": {
			"GET", 2,
			[]error{resolver.ErrForbidden},
			"https://0.example/b?c",
			resolver.ErrForbidden,
		},
		"there are no others": {"GET", 0, []error{errRefused}, "https://0.example/b?c", resolver.ErrUnreachable},
		"a body that may have begun": {
			"POST", 2,
			[]error{errRefused},
			"https://0.example/b?c",
			resolver.ErrUnreachable,
		},
		"a method without a body": {
			"DELETE", 2,
			[]error{errRefused, nil},
			"https://0.example/b?c http://1.example/b?c", nil,
		},
	} {
		w := newWeb(t, nil, nil)
		left := tt.errs
		w.answer = func(scheme.Request) (*scheme.Resource, error) {
			err := left[0]
			if left = left[1:]; err != nil {
				return nil, err
			}
			return respond(200, ""), nil
		}
		r := requested(t, tt.method, "http://www.example:8080/b?c")
		if tt.method == http.MethodPost {
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader("body")), 4
		}
		r.Site = &forward.Site{
			TLS:  site.TLS,
			Pool: pool(t, []string{"https://0.example", "http://1.example", "http://2.example"}[:tt.others+1]...),
		}
		client := w.serve(t, r)
		if !errors.Is(client.err, tt.err) {
			t.Errorf("%s: %v", name, client.err)
		}
		var asked []string
		for _, sent := range w.requested {
			asked = append(asked, sent.URI.String())
			if sent.Host != "www.example:8080" || sent.TLS != site.TLS {
				t.Errorf("%s: Host %q", name, sent.Host)
			}
		}
		if got := strings.Join(asked, " "); got != tt.requested {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// The check of addresses, the quota and the spelling of a request reach the handler. If all slots of fetches
// are in use, or the client has disconnected, no origin is contacted.
func TestRequestsOfClients(t *testing.T) {
	w := newWeb(t, nil, nil)
	refuse := errors.New("not for this client")
	r := requested(t, http.MethodGet, "http://a.example/b%2Fc")
	r.Spelling, r.QuotaAddr = "/b%2fc", netip.MustParseAddr("192.0.2.1")
	r.Check = func(at netip.AddrPort) error {
		if at.Port() == 25 {
			return refuse
		}
		return nil
	}
	if client := w.serve(t, r); client.err != nil {
		t.Fatal(client.err)
	}
	sent, _ := w.last()
	if sent.Spelling != r.Spelling || sent.Client != r.QuotaAddr || sent.Host != "" ||
		!errors.Is(sent.Check(netip.MustParseAddrPort("192.0.2.2:25")), refuse) {
		t.Errorf("%+v", sent)
	}
	for range cap(w.slots) {
		w.slots <- struct{}{}
	}
	busy, upgrade := w.get(t, "http://a.example/"),
		w.get(t, "http://a.example/", "Connection", "Upgrade", "Upgrade", "a")
	if _, count := w.last(); !errors.Is(busy.err, resolver.ErrBusy) || !errors.Is(upgrade.err, resolver.ErrBusy) ||
		count != 0 {
		t.Errorf("%v, %v", busy.err, upgrade.err)
	}
	for range cap(w.slots) {
		<-w.slots
	}
	for _, err := range []error{resolver.ErrUnreachable, context.DeadlineExceeded} {
		w.answer = func(scheme.Request) (*scheme.Resource, error) { return nil, err }
		if client := w.get(t, "http://a.example/"); !errors.Is(client.err, err) || len(w.slots) != 0 {
			t.Errorf("%v: %v, %d fetches", err, client.err, len(w.slots))
		}
	}
}

// Interim responses are forwarded without hop-by-hop fields, unless by HTTP/1.0 (RFC 9110 section 15.2).
func TestInterimResponses(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(r scheme.Request) (*scheme.Resource, error) {
		if r.Interim != nil {
			r.Interim.Interim(103, respond(103, "", "Link", "</a>; rel=preload", "Connection", "X-Hop", "X-Hop",
				"1").Fields)
		}
		return respond(200, "ok", "X-Final", "1"), nil
	}
	for name, tt := range map[string]struct {
		change func(*forward.Request)
		want   int
	}{
		"forwarded": {func(*forward.Request) {}, 1},
		"fetched":   {func(r *forward.Request) { r.Fetched = true }, 0},
	} {
		r := requested(t, http.MethodGet, "http://a.example/")
		tt.change(r)
		client := w.serve(t, r)
		if client.err != nil || len(client.Interim) != tt.want || client.Body.String() != "ok" ||
			client.Fields.Get("Link") != "" {
			t.Errorf("%s: %+v", name, client)
		}
		for _, interim := range client.Interim {
			if interim.Status != 103 || len(interim.Fields) != 2 || interim.Fields.Get("Link") != "</a>; rel=preload" ||
				!strings.HasPrefix(interim.Fields.Get("Via"), "1.1 urnd") {
				t.Errorf("%s: %+v", name, interim)
			}
		}
	}
}

// A site's server with HTTP/2 without TLS gets target URIs of the scheme http, and is avoided as such (RFC
// 9113 section 3.3). Its connections are shared, so they cannot be authenticated.
func TestServersOfH2C(t *testing.T) {
	w := newWeb(t, nil, nil)
	for server, want := range map[string]struct {
		uri string
		h2c bool
	}{
		"h2c://0.example":        {"http://0.example/b?c", true},
		"h2c://0.example:50051":  {"http://0.example:50051/b?c", true},
		"h2c://[2001:db8::1]:81": {"http://[2001:db8::1]:81/b?c", true},
		"http://0.example":       {"http://0.example/b?c", false},
	} {
		r := requested(t, http.MethodPost, "https://www.example/b?c")
		r.Site = &forward.Site{Pool: pool(t, server)}
		client := w.serve(t, r)
		if sent, _ := w.last(); client.err != nil || sent.URI.String() != want.uri || sent.H2C != want.h2c ||
			sent.Host != "www.example" {
			t.Errorf("%s: %v, %s %t for %s", server, client.err, sent.URI, sent.H2C, sent.Host)
		}
		if got := forward.ServerOf(server); got+"/b?c" != want.uri {
			t.Errorf("%s is avoided as %s", server, got)
		}
	}
	r := requested(t, http.MethodGet, "https://www.example/", "Authorization", "Negotiate YQ==")
	r.Site, r.Session = &forward.Site{Pool: pool(t, "h2c://0.example")}, new(forward.Session)
	if client := w.serve(t, r); !errors.Is(client.err, problem.ErrConnectionAuth) {
		t.Errorf("%v", client.err)
	}
}
