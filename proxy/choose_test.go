package proxy_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy"
	"github.com/urnd/urnd/resolver"
)

// sourced makes locations from "uri type language" lines.
func sourced(lines ...string) []resolver.Location {
	var locations []resolver.Location
	for _, line := range lines {
		words := append(strings.Fields(line), "", "")
		from := &resolver.Source{Name: "test"}
		for _, word := range words[1:] {
			if strings.Contains(word, "/") {
				from.Type = word
			} else if word != "" {
				from.Language = word
			}
		}
		locations = append(locations, resolver.Location{URI: words[0], From: from})
	}
	return locations
}

// A client is redirected to the location that it accepts best, of equal ones to the first.
func TestRedirectByAccept(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		locations        []string
		accept, language string
		want, vary       string
	}{
		{[]string{"http://a.example/", "http://b.example/"}, "text/html", "de", "http://a.example/", ""},
		{[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"}, "", "", "http://a.example/", "Accept"},
		{[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"}, "application/pdf, */*;q=0.1", "", "http://b.example/", "Accept"},
		{[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"}, "text/html;q=0, */*", "", "http://b.example/", "Accept"},
		{[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"}, "image/png", "", "http://a.example/", "Accept"},
		{[]string{"http://a.example/ text/html", "http://b.example/"}, "image/png", "", "http://b.example/", "Accept"},
		{[]string{"http://a.example/ de", "http://b.example/ en"}, "", "en-GB, de;q=0.5", "http://b.example/", "Accept-Language"},
		{[]string{"http://a.example/ de", "http://b.example/ pt-BR"}, "", "pt", "http://b.example/", "Accept-Language"},
		{[]string{"http://a.example/ de", "http://b.example/"}, "", "fr", "http://b.example/", "Accept-Language"},
		{[]string{"http://a.example/ de", "http://b.example/ en"}, "", "", "http://a.example/", "Accept-Language"},
		{
			[]string{"http://a.example/ text/html de", "http://b.example/ application/pdf de", "http://c.example/ application/pdf en"},
			"application/pdf", "en", "http://c.example/", "Accept, Accept-Language",
		},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Locations: sourced(tt.locations...)}, nil
		}
		response := s.get(t, "/urn:example:1", "Accept: "+tt.accept, "Accept-Language: "+tt.language)
		if response.StatusCode != http.StatusFound || response.Header.Get("Location") != tt.want || response.Header.Get("Vary") != tt.vary {
			t.Errorf("%q for %q, %q: %d to %q, Vary %q", tt.locations, tt.accept, tt.language, response.StatusCode, response.Header.Get("Location"), response.Header.Get("Vary"))
		}
	}
}

// A server that failed is skipped for a while, where there is another one.
func TestRedirectByHealth(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	down := "http://" + closed.Addr().String() + "/"
	closed.Close()
	up := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer up.Close()
	var later atomic.Int64
	s := start(t, func(c *proxy.Config) { c.Now = func() time.Time { return time.Unix(later.Load(), 0) } })
	s.next = withLocations(down, up.URL+"/")
	location := func() string { return s.get(t, "/urn:example:1").Header.Get("Location") }
	if got := location(); got != down {
		t.Errorf("before anybody knows: %s", got)
	}
	if response := s.get(t, "/uri-res/N2R?urn:example:1"); response.StatusCode != http.StatusOK {
		t.Errorf("the second one has it: %d", response.StatusCode)
	}
	if got := location(); got != up.URL+"/" {
		t.Errorf("while it is known to fail: %s", got)
	}
	list := text(t, s.get(t, "/uri-res/N2Ls?urn:example:1", "Accept: application/json"))
	if first, second, _ := strings.Cut(list, "},"); !strings.Contains(first, `"failing": true`) || strings.Contains(second, "failing") {
		t.Errorf("all locations: %s", list)
	}
	later.Store(31)
	if got := location(); got != down {
		t.Errorf("after a while: %s", got)
	}
	s.next = withLocations(down)
	if s.get(t, "/uri-res/N2R?urn:example:1"); location() != down {
		t.Error("the only server is skipped")
	}
}
