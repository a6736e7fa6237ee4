package proxy_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

var fresh = regexp.MustCompile(`^[0-9a-f]{16}$`)

// The request identifier is new, or that of a trusted proxy if it is valid.
func TestRequestIDs(t *testing.T) {
	const given = "X-Request-Id: "
	trusted := startObserved(t,
		func(c *proxy.Config) { c.SendRequestID, c.Access.Trusted = true, []netip.Prefix{loopback} })
	others := startObserved(t, func(c *proxy.Config) { c.SendRequestID = true })
	seen := make(map[string]bool)
	for _, tt := range []struct {
		name  string
		s     observedServer
		field string
		want  string // "" for a new one
	}{
		{"none", trusted, "X: y", ""},
		{
			"that of a trusted proxy", trusted, given + "0af7651916cd43dd8448eb211c80319c",
			"0af7651916cd43dd8448eb211c80319c",
		},
		{"an encoded end of line", trusted, given + "a%0d%0ab", ""},
		{"that of a client that is not trusted", others, given + "abc", ""},
		{"one for a request that fails", others, given + "abc", ""},
	} {
		target := "/urn:a1:b"
		if strings.Contains(tt.name, "fails") {
			target = "/urn:a"
		}
		response := tt.s.get(t, target, tt.field)
		e := tt.s.event(t)
		ids := response.Header.Values("X-Request-Id")
		if len(ids) != 1 || ids[0] != e.ID || tt.want != "" && e.ID != tt.want ||
			tt.want == "" && (!fresh.MatchString(e.ID) || seen[e.ID]) {
			t.Errorf("%s: %q, and %q in the response", tt.name, e.ID, ids)
			continue
		}
		seen[e.ID] = true
	}
}

// Failures have an identifier in the response and the log, even if SendRequestID is false.
func TestRequestIDsOfFailures(t *testing.T) {
	var log bytes.Buffer
	s := start(t, func(c *proxy.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	if id := s.get(t, "/urn:a1:b").Header.Get("X-Request-Id"); id != "" {
		t.Errorf("a request that succeeds is named %q", id)
	}
	if id := s.get(t, "/urn:a").Header.Get("X-Request-Id"); !fresh.MatchString(id) {
		t.Errorf("a fault of the client is named %q", id)
	}
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	for _, target := range []string{"/urn:a1:b", "/uri-res/N2R?urn:a1:b", "/api/v1/resolve?uri=urn:a1:b"} {
		log.Reset()
		id := s.get(t, target, "X-Request-Id: mine").Header.Get("X-Request-Id")
		if !fresh.MatchString(id) || strings.Count(log.String(), "request="+id+" ") != 1 {
			t.Errorf("%s: %q, and the log: %s", target, id, log.String())
		}
	}
}

// A description that lacks metadata of an unreachable authority succeeds, and the log has the failure.
func TestIncompleteAnswerIsLogged(t *testing.T) {
	var log bytes.Buffer
	s := start(t, func(c *proxy.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	response := s.get(t, "/uri-res/N2C?urn:a1:b")
	id := response.Header.Get("X-Request-Id")
	want := `msg="answer incomplete" status=200 client=127.0.0.1 request=` + id + " "
	if response.StatusCode != http.StatusOK || !fresh.MatchString(id) || !strings.Contains(log.String(), want) {
		t.Errorf("%d, %q, and the log: %s", response.StatusCode, id, log.String())
	}
}

// All failures of a batch, which run concurrently, are logged with the identifier of its response.
func TestRequestIDsOfBatches(t *testing.T) {
	var log bytes.Buffer
	s := start(t, func(c *proxy.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	const names = 200
	body := strings.Repeat("\"urn:a1:b\"\n", names)
	response := s.ask(t, fmt.Sprintf("POST /api/v1/resolve HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n%s",
		len(body), body))[0]
	text(t, response) // to its end
	id := response.Header.Get("X-Request-Id")
	if n := strings.Count(log.String(), "request="+id+" "); !fresh.MatchString(id) || n != names {
		t.Errorf("%d of %d failures are logged with %q", n, names, id)
	}
}

// A response has one identifier: that of the origin, if it sends one.
func TestRequestIDsOfTheForwardProxy(t *testing.T) {
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-Request-Id", "origin")
		_, _ = io.WriteString(w, "body")
	}))
	defer web.Close()
	w := startObserved(t, func(c *proxy.Config) { c.SendRequestID = true })
	ids := w.get(t, web.URL+"/").Header.Values("X-Request-Id")
	if e := w.event(t); len(ids) != 1 || ids[0] != "origin" || !fresh.MatchString(e.ID) {
		t.Errorf("%q, and %q in the log", ids, e.ID)
	}
}
