package proxy_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/proxy/compress"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// TestWhy: the explanation of a handler matches the responses that its clients get. It sends no request
// unless told to.
func TestWhy(t *testing.T) {
	t.Parallel()
	o := always(t, "HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Length: 2\r\n\r\nok")
	why := func(h *proxy.Handler, text string, send bool) (proxy.Explanation, error) {
		u, err := uri.ParseRaw(text)
		if err != nil {
			t.Fatal(err)
		}
		return h.Explain(t.Context(), u, httpmessage.NewFields("Accept", "*/*"), send)
	}
	var config proxy.Config
	s := site(t, []string{o.addr}, func(c *proxy.Config) {
		c.Sites[0].Route.Spelling = route.SpellingExact
		c.Sites[0].Route.Parameters.Ignored = []string{"utm_*"}
		moved, err := uri.ParseTemplate("https://new.example{+rest}")
		if err != nil {
			t.Fatal(err)
		}
		old := proxy.Site{
			Route:         route.Site{Host: "www.example", Path: "/old"},
			FixedResponse: &proxy.FixedResponse{Status: 301, Location: &moved},
		}
		c.Sites = append(c.Sites, old)
		config = *c
	})
	h := proxy.New(config) // a second handler beside that of the server, with the same cache
	if e, err := why(h, "http://www.example/a?utm_x=1#f", false); err != nil ||
		e.Key.String() != "http://www.example/a" || e.Site == nil || e.Reply != nil ||
		e.Cache.Forwarded != "uri-miss" || e.Sent != nil || len(o.requests()) != 0 {
		t.Errorf("%+v, %v, %q", e, err, o.requests())
	}
	if e, err := why(h, "http://www.example/old/%7ea", false); err != nil || e.Reply == nil || e.Reply.Status != 301 ||
		e.Reply.Location != "https://new.example/~a" {
		t.Errorf("%+v, %v", e.Reply, err)
	}
	if e, err := why(h, "http://WWW.example./%7ea", true); err != nil || e.Sent == nil || !e.Sent.Outcome.Stored ||
		e.Cache.Forwarded != "" || e.Spelling != "/%7ea" {
		t.Errorf("%+v, %v", e, err)
	}
	if got := s.visit(t, "GET", "/%7ea", "www.example").Header.Get("Cache-Status"); got[:9] != "urnd; hit" {
		t.Errorf("a client gets %s", got)
	}
	if e, err := why(h, "http://other.example/", false); err != nil || e.Site != nil ||
		e.Cache.Forwarded != "uri-miss" {
		t.Errorf("%+v, %v", e, err)
	}
	if _, err := why(h, "urn:a1:b", false); !errors.Is(err, problem.ErrSelection) {
		t.Error(err)
	}
}

// The explanation of a compressed response uses the coding that clients get.
func TestWhyOfCompressed(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("text ", 1000)
	o := always(t,
		fmt.Sprintf("HTTP/1.1 200 OK\r\nCache-Control: max-age=60\r\nContent-Type: text/plain\r\nContent-Length: "+
			"%d\r\n\r\n%s", len(text), text))
	var config proxy.Config
	s := site(t, []string{o.addr}, func(c *proxy.Config) {
		c.Compress = compress.New(compress.Config{Codings: []string{compress.Gzip}, Types: []string{"text/*"}})
		config = *c
	})
	if got := s.visit(t, "GET", "/a", "www.example",
		"Accept-Encoding: br, gzip").Header.Get("Content-Encoding"); got != compress.Gzip {
		t.Fatalf("a client gets %q", got)
	}
	u, err := uri.ParseRaw("http://www.example/a")
	if err != nil {
		t.Fatal(err)
	}
	for accepted, want := range map[string]string{"deflate, gzip": "", "gzip;q=0": "vary-miss"} {
		e, err := proxy.New(config).Explain(t.Context(), u, httpmessage.NewFields("Accept-Encoding", accepted), false)
		if err != nil || e.Cache.Forwarded != want {
			t.Errorf("%s: %q, %v", accepted, e.Cache.Forwarded, err)
		}
	}
}
