package answer_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/urnd/urnd/resolver"
)

// sourced returns locations of "uri type language" lines.
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

// A client is redirected to the location that it prefers, or to the first of equal ones.
func TestRedirectByAccept(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		locations        []string
		accept, language string
		want, vary       string
	}{
		{[]string{"http://a.example/", "http://b.example/"}, "text/html", "de", "http://a.example/", "Accept"},
		{
			[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"},
			"", "", "http://a.example/",
			"Accept",
		},
		{
			[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"},
			"application/pdf, */*;q=0.1", "",
			"http://b.example/", "Accept",
		},
		{
			[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"},
			"text/html;q=0, */*", "",
			"http://b.example/", "Accept",
		},
		{
			[]string{"http://a.example/ text/html", "http://b.example/ application/pdf"},
			"image/png", "",
			"http://a.example/", "Accept",
		},
		{[]string{"http://a.example/ text/html", "http://b.example/"}, "image/png", "", "http://b.example/", "Accept"},
		{
			[]string{"http://a.example/", "http://b.example/ text/turtle"},
			"text/html, */*;q=0.8", "",
			"http://a.example/", "Accept",
		},
		{
			[]string{"http://a.example/", "http://b.example/ text/turtle"},
			"text/turtle, */*;q=0.8", "",
			"http://b.example/", "Accept",
		},
		{
			[]string{"http://a.example/", "http://b.example/ de"},
			"", "en, *;q=0.5", "http://a.example/",
			"Accept, Accept-Language",
		},
		{
			[]string{"http://a.example/ de", "http://b.example/ en"},
			"", "en-GB, de;q=0.5", "http://b.example/",
			"Accept, Accept-Language",
		},
		{
			[]string{"http://a.example/ de", "http://b.example/ pt-BR"},
			"", "pt", "http://b.example/",
			"Accept, Accept-Language",
		},
		{
			[]string{"http://a.example/ de", "http://b.example/"},
			"", "fr", "http://b.example/",
			"Accept, Accept-Language",
		},
		{
			[]string{"http://a.example/ de", "http://b.example/ en"},
			"", "", "http://a.example/",
			"Accept, Accept-Language",
		},
		{
			[]string{
				"http://a.example/ text/html de", "http://b.example/ application/pdf de",
				"http://c.example/ application/pdf en",
			},
			"application/pdf", "en", "http://c.example/", "Accept, Accept-Language",
		},
	} {
		s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
			return resolver.Answer{Locations: sourced(tt.locations...)}, nil
		}
		response := s.get(t, "/urn:example:1", "Accept: "+tt.accept, "Accept-Language: "+tt.language)
		if response.StatusCode != http.StatusFound || response.Header.Get("Location") != tt.want ||
			response.Header.Get("Vary") != tt.vary {
			t.Errorf("%q for %q, %q: %d to %q, Vary %q", tt.locations, tt.accept, tt.language, response.StatusCode,
				response.Header.Get("Location"),
				response.Header.Get("Vary"))
		}
	}
}

// The path selects the service, whatever the directive of the draft.
func TestServiceOfThePathWins(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/")
	for target, want := range map[string]string{
		"/uri-res/N2C?urn:example:a?s=I2L":         "application/ld+json",
		"/?uri=urn:example:a%3Fs=I2L&service=I2Ls": "text/uri-list",
		"/urn:example:a?s=I2Ls":                    "text/uri-list",
	} {
		if response := s.get(t, target, "Accept: */*"); response.StatusCode != http.StatusOK ||
			response.Header.Get("Content-Type") != want {
			t.Errorf("%s: %d %s", target, response.StatusCode, response.Header.Get("Content-Type"))
		}
	}
	if response := s.get(t, "/urn:example:a?s=i2ls", "Accept: */*"); response.StatusCode != http.StatusFound {
		t.Errorf("a service in lower case (draft section 2.3): %d", response.StatusCode)
	}
}

// RFC 2169 section 2: equivalent URNs have the same answer for every service, except for the comment of a
// list, which repeats the requested URN.
func TestEquivalentURNs(t *testing.T) {
	s := start(t, nil)
	for _, family := range [][]string{
		{"urn:cid:foo@huh.com", "URN:CID:foo@huh.com"},
		// RFC 8141 section 3.2
		{"urn:example:a123,z456", "URN:example:a123,z456", "urn:EXAMPLE:a123,z456", "urn:example:a123,z456?+abc"},
		{"urn:example:a123%2Cz456", "URN:EXAMPLE:a123%2cz456"},
		{"urn:isbn:0-395-36341-1", "URN:ISBN:0395363411"},
	} {
		for _, request := range []string{"/uri-res/N2L?", "/uri-res/N2Ls?", "/uri-res/N2C?", "/uri-res/N2Ns?", "/"} {
			for _, s.http10 = range []bool{true, false} {
				answer := func(name string) string {
					r := s.get(t, request+name)
					body := strings.TrimPrefix(text(t, r), "# "+name+"\r\n")
					return r.Status + " " + r.Header.Get("Location") + " " + r.Header.Get("Content-Type") + " " +
						r.Header.Get("Cache-Control") + "\n" + body
				}
				for _, name := range family[1:] {
					if first, got := answer(family[0]), answer(name); got != first {
						t.Errorf("%s%s, HTTP/1.0 %t: %q, and %s: %q", request, family[0], s.http10, first, name, got)
					}
				}
			}
		}
	}
}

// RFC 2169 section 3.1: 303 by THTTP, and 302 for clients that do not know it. RFC 2483 section 4.1: errors.
func TestRedirects(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		target string
		http10 bool
		err    error
		status int
	}{
		{"/urn:x1:a", false, nil, 302},
		{"/uri-res/N2L?urn:x1:a", false, nil, 303},
		{"/uri-res/N2L?urn:x1:a", true, nil, 302},
		{"/uri-res/L2L?http://a.example/", false, nil, 303},
		{"/urn:x1:a", false, &resolver.Negative{Kind: resolver.ErrNotFound}, 404},
		{"/urn:x1:a", false, &resolver.Negative{Kind: resolver.ErrGone}, 410},
		{"/uri-res/N2Ls?urn:x1:a", false, resolver.ErrUnreachable, 502},
		{"/api/v1/resolve?uri=urn:x1:a", false, context.DeadlineExceeded, 504},
	} {
		s.http10 = tt.http10
		if s.next = withLocations("http://a.example/"); tt.err != nil {
			s.next = failing(tt.err)
		}
		if response := s.get(t, tt.target); response.StatusCode != tt.status ||
			(response.Header.Get("Location") != "") != (tt.err == nil) {
			t.Errorf("%s, HTTP/1.0 %t, %v: %d %v, want %d", tt.target, tt.http10, tt.err, response.StatusCode,
				response.Header, tt.status)
		}
	}
}

// The query of a name is part of the name: it is not interpreted as that of a page.
func TestLanguageIsNoPartOfNames(t *testing.T) {
	s := start(t, nil)
	s.next = withLocations("http://a.example/")
	for target, want := range map[string]string{
		"/urn:example:a?=lang=de":                   "http://a.example/?lang=de",
		"/?uri=urn:example:a?=b&lang=de":            "http://a.example/?b",
		"/?lang=de&uri=urn%3Aexample%3Aa%3F%3Dl%26": "http://a.example/?l&",
		"/uri-res/N2L?urn:example:a?=lang=de":       "http://a.example/?lang=de",
		"/?lang=de&uri=urn:example:a":               "http://a.example/",
	} {
		if response := s.asked(t, target, "Accept: text/html"); response.StatusCode/100 != 3 ||
			response.Header.Get("Location") != want {
			t.Errorf("%s: %s %q", target, response.Status, response.Header)
		}
	}
}
