package forward_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// stored fills the cache with responses for a URI in two languages.
func (w *web) stored(t *testing.T, target, body string, server func(*forward.Request)) {
	t.Helper()
	w.answers(200, body, "Cache-Control", "max-age=60", "Vary", "Accept-Language", "Etag", `"1"`)
	for _, language := range []string{"de", "en"} {
		testserver.Wait(t, "a response is stored", func() bool {
			r := requested(t, http.MethodGet, target, "Accept-Language", language)
			server(r)
			return w.serve(t, r).cached == "hit"
		})
	}
	w.last()
}

// All stored variants are fetched again, with the selecting fields of their clients, from the server of the site. If
// that fails they are unchanged; if the new response is not cacheable, they are invalidated (RFC 9111 section 4.3).
func TestRefresh(t *testing.T) {
	const target = "http://www.example/b"
	fails := func(scheme.Request) (*scheme.Resource, error) { return nil, resolver.ErrUnreachable }
	for name, tt := range map[string]struct {
		answer  func(scheme.Request) (*scheme.Resource, error)
		count   int
		failure string
		then    string // the client's next response, and the result of the cache
	}{
		"new": {func(scheme.Request) (*scheme.Resource, error) {
			return respond(200, "new", "Cache-Control", "max-age=60", "Vary", "Accept-Language"), nil
		}, 2, "", "new hit"},
		"as they were": {func(r scheme.Request) (*scheme.Resource, error) {
			if r.Fields.Get("If-None-Match") != `"1"` {
				return respond(500, "not a validation"), nil
			}
			return respond(304, "", "Etag", `"1"`), nil
		}, 2, "", "old hit"},
		"not reached": {fails, 0, "0 of 2 stored responses were fetched again", "old hit"},
		"a server in need": {
			func(scheme.Request) (*scheme.Resource, error) { return respond(503, "no"), nil }, 0,
			target + " responded with status 503", "old hit",
		},
		"no longer for all": {func(scheme.Request) (*scheme.Resource, error) {
			return respond(200, "own", "Cache-Control", "no-store"), nil
		}, 2, "", "own miss"},
	} {
		w := newWeb(t, newStore(t), nil)
		key, site := parsed(t, target),
			&forward.Site{Pool: pool(t, "http://192.0.2.7:8080"), Forwarded: forward.ForwardedNothing}
		atServer := func(r *forward.Request) { r.Site = site }
		w.stored(t, target, "old", atServer)
		w.mu.Lock()
		w.answer = tt.answer
		w.mu.Unlock()
		count, err := w.Refresh(t.Context(), key, site)
		if count != tt.count || (err != nil) != (tt.failure != "") ||
			err != nil && !strings.Contains(err.Error(), tt.failure) {
			t.Errorf("%s: %d, %v", name, count, err)
		}
		if err != nil && problem.Status(err) != http.StatusBadGateway {
			t.Errorf("%s: %v", name, err)
		}
		var languages []string
		for _, sent := range w.requested {
			languages = append(languages, sent.Fields.Get("Accept-Language"))
			if sent.URI.String() != "http://192.0.2.7:8080/b" || sent.Host != "www.example" ||
				sent.Fields.Get("Cache-Control") != "no-cache" || sent.Interim != nil ||
				sent.Fields.Has("X-Forwarded-Host") {
				t.Errorf("%s: %+v", name, sent)
			}
		}
		if got := strings.Join(languages, " "); got != "de en" && got != "en de" {
			t.Errorf("%s: variants in %s are asked for", name, got)
		}
		r := requested(t, http.MethodGet, target, "Accept-Language", "de")
		atServer(r)
		if client := w.serve(t, r); client.Body.String()+" "+client.cached != tt.then {
			t.Errorf("%s: then %q, %s, %v", name, &client.Body, client.cached, client.err)
		}
	}
}

// A purged response is validated before reuse (RFC 9111 section 4.3).
func TestPurge(t *testing.T) {
	const target = "http://www.example/b"
	w := newWeb(t, newStore(t), nil)
	if n := w.Purge(t.Context(), parsed(t, target)); n != 0 {
		t.Errorf("nothing: %d", n)
	}
	w.stored(t, target, "old", func(*forward.Request) {})
	if n := w.Purge(t.Context(), parsed(t, target)); n != 2 {
		t.Errorf("%d", n)
	}
	w.answers(304, "", "Etag", `"1"`)
	if client := w.get(t, target, "Accept-Language", "de"); client.cached != "revalidated" ||
		client.Body.String() != "old" {
		t.Errorf("%s %q", client.cached, &client.Body)
	}
	if sent, count := w.last(); count != 1 || sent.Fields.Get("If-None-Match") != `"1"` {
		t.Errorf("%d, %v", count, sent.Fields)
	}
}
