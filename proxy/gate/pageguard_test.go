package gate_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/gate"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// The header fields that browsers send for a navigation, and for a subresource.
const (
	agentField  = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"
	acceptPage  = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
	acceptImage = "Accept: image/avif,image/webp,*/*;q=0.8"
	acceptAny   = "Accept: */*"
)

func metadata(site, mode, dest string, more ...string) []string {
	return append([]string{
		agentField, acceptPage, "Sec-Fetch-Site: " + site, "Sec-Fetch-Mode: " + mode,
		"Sec-Fetch-Dest: " + dest,
	}, more...)
}

// retrievals are the targets that cause a retrieval, of a name that resolves to location or of location itself.
func retrievals(location string) []string {
	return []string{
		route.FetchTarget(location), "/fetch?uri=" + location, route.FetchTarget("urn:example:a"),
		"/uri-res/N2R?urn:example:a", "/uri-res/N2Rs?urn:example:a", "/uri-res/I2R?urn:example:a",
		"/uri-res/I2Rs?urn:example:a", "/uri-res/L2R?" + location, "/urn:example:a?s=I2R",
		"/?service=I2R&uri=urn:example:a",
	}
}

// retrieving returns a function that returns the error for the retrieval of a location by a request with
// fields "Name: value", from an address that may use the proxy.
func retrieving(t testing.TB) func(from, host, target, location string, fields []string) error {
	t.Helper()
	ask := asking(t)
	return func(from, host, target, location string, fields []string) error {
		header := make(http.Header)
		for _, field := range fields {
			name, value, _ := strings.Cut(field, ": ")
			header.Add(name, value)
		}
		g := gate.New(gate.Config{
			Access:   gate.Access{Resolve: prefixes("0.0.0.0/0"), Proxy: prefixes(from + "/32")},
			OwnHosts: route.NewOwnHosts("urnd.example"), Now: at,
		})
		client := gate.Client{Addr: netip.MustParseAddr(from), Header: httpmessage.NewHeader(header), Host: host}
		requested := ask(http.MethodGet, target, host, client.Addr.IsLoopback())
		v := g.Admit(t.Context(), &client, &requested)
		if v.Err != nil || !requested.Retrieves {
			return v.Err
		}
		u, err := uri.Parse(location)
		if err != nil {
			t.Fatal(err)
		}
		if err = gate.MayRetrieve(v.Initiator, u, false); errors.Is(err, problem.ErrCrossSiteFetch) {
			t.Errorf("%s: it is refused after the name was resolved", target)
		}
		return err
	}
}

// A page of another site cannot cause a retrieval with the rights of its reader: Fetch Metadata section 2,
// RFC 6454 section 7, RFC 9110 section 10.1.3. asks is a request made by a page; lines are servers that may
// take a URL for commands.
func TestPagesOfOtherSites(t *testing.T) {
	const allowed, refused, asked = "allowed", "refused", "asked"
	retrieve := retrieving(t)
	for _, tt := range []struct {
		name       string
		fields     []string
		web, lines string
	}{
		{"a program", nil, allowed, allowed},
		{"curl", []string{"User-Agent: curl/8.14.1", acceptAny}, allowed, allowed},
		{"an address that was typed", metadata("none", "navigate", "document", "Sec-Fetch-User: ?1"), allowed, allowed},
		{"a page that is shown again", metadata("none", "navigate", "document"), allowed, asked},
		{"a link of urnd", metadata("same-origin", "navigate", "document", "Sec-Fetch-User: ?1"), allowed, allowed},
		{
			"a link of urnd, by a browser that shows no person", metadata("same-origin", "navigate", "document"),
			allowed, allowed,
		},
		{"a link", metadata("cross-site", "navigate", "document", "Sec-Fetch-User: ?1"), allowed, allowed},
		{
			"a link of a neighbour", metadata("same-site", "navigate", "document", "Sec-Fetch-User: ?1"),
			allowed, allowed,
		},
		{"meta refresh, window.open", metadata("cross-site", "navigate", "document"), asked, asked},
		{"the same of a neighbour", metadata("same-site", "navigate", "document"), asked, asked},
		{
			"what is shown before it is clicked",
			metadata("cross-site", "navigate", "document", "Sec-Fetch-User: ?1", "Sec-Purpose: prefetch;prerender"),
			asked, asked,
		},
		{"a frame", metadata("cross-site", "navigate", "iframe", "Sec-Fetch-User: ?1"), refused, refused},
		{"an image", metadata("cross-site", "no-cors", "image"), refused, refused},
		{"a script of a neighbour", metadata("same-site", "no-cors", "script"), refused, refused},
		{"a prefetch", metadata("cross-site", "no-cors", "document"), refused, refused},
		{"fetch", metadata("cross-site", "cors", "empty", "Origin: https://evil.example"), refused, refused},
		{"an unknown site", metadata("cross-planet", "no-cors", "image"), refused, refused},
		{"no mode", []string{agentField, acceptPage, "Sec-Fetch-Site: cross-site"}, refused, refused},

		{
			"by http: a link of urnd",
			[]string{agentField, acceptPage, "Referer: http://urnd.example/fetch?uri=gopher://a.example/1"},
			allowed,
			allowed,
		},
		{"by http: a link", []string{agentField, acceptPage, "Referer: http://evil.example/"}, asked, asked},
		{
			"by http: a link of another port",
			[]string{agentField, acceptPage, "Referer: http://urnd.example:81/"},
			asked,
			asked,
		},
		{"by http: a page without an origin", []string{agentField, acceptPage, "Referer: about:blank"}, asked, asked},
		{"by http: an image", []string{agentField, acceptImage, "Referer: http://evil.example/"}, refused, refused},
		{"by http: no-cors fetch", []string{agentField, acceptAny, "Referer: http://evil.example/"}, refused, refused},
		{"by http: fetch", []string{agentField, acceptAny, "Origin: http://evil.example"}, refused, refused},
		{"by http: fetch of a page", []string{agentField, acceptPage, "Origin: http://evil.example"}, refused, refused},
		{"by http: fetch by a frame with a sandbox", []string{agentField, acceptAny, "Origin: null"}, refused, refused},
		{"by http: a page that hides itself", []string{agentField, acceptPage}, allowed, asked},
		{"by http: its image", []string{agentField, acceptImage}, allowed, asked},
		{"by http: its script", []string{agentField, acceptAny}, allowed, asked},
		{"by http: an old browser", []string{"User-Agent: Opera/9.80", acceptAny}, allowed, asked},
	} {
		for _, location := range []string{"http://origin.example/", "gopher://a.example/1"} {
			want := tt.lines
			if strings.HasPrefix(location, "http") {
				want = tt.web
			}
			for _, target := range retrievals(location) {
				err := retrieve("127.0.0.1", "urnd.example", target, location, tt.fields)
				got := allowed
				switch {
				case errors.As(err, new(*problem.UserActivationError)):
					got = asked
				case errors.Is(err, problem.ErrCrossSiteFetch):
					got = refused
				case err != nil:
					got = err.Error()
				}
				if got != want {
					t.Errorf("%s: %s at %s: %s, want %s", tt.name, target, location, got, want)
				}
			}
		}
	}
}

// The name of another site may resolve to urnd later (DNS rebinding), also for clients on other machines: its
// page would be same-origin.
func TestRetrievalByNameOfAnotherSite(t *testing.T) {
	const location = "gopher://a.example/1"
	retrieve := retrieving(t)
	for _, target := range retrievals(location) {
		for host, want := range map[string]error{"urnd.example": nil, "evil.example:8141": problem.ErrFetchHost} {
			for name, tt := range map[string]struct {
				fields []string
				want   error
			}{
				"a page": {[]string{agentField, acceptAny, "Referer: http://" + host + "/"}, want},
				"a page of a browser that says that it is a program": {[]string{
					"User-Agent: curl/8.14.1",
					"Accept-Language: de",
				}, want},
				"a program": {nil, nil},
			} {
				if err := retrieve("198.51.100.1", host, target, location, tt.fields); !errors.Is(err, tt.want) ||
					(err == nil) != (tt.want == nil) {
					t.Errorf("%s by %s: %s: %v, want %v", target, host, name, err, tt.want)
				}
			}
		}
	}
}
