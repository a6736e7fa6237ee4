package forward_test

import (
	"errors"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/scheme"
)

// Statuses that would have another meaning as those of this server: RFC 9110 sections 15.4 and 15.5.2. A
// redirect to another server that trusts lines needs user activation.
func TestFetchedStatuses(t *testing.T) {
	const base = "http://a.example/b"
	w := newWeb(t, nil, nil)
	for _, tt := range []struct {
		status   int // of the origin
		location string
		want     int
		leads    string // "" for none
	}{
		{401, "", 403, ""},
		{407, "", 502, ""},
		{404, "", 404, ""},
		{302, "/there", 302, route.FetchTarget("http://a.example/there")},
		{302, "/café x", 302, route.FetchTarget("http://a.example/caf%C3%A9%20x")},
		{308, "https://c.example/", 308, route.FetchTarget("https://c.example/")},
		{301, "gopher://b.example/1", 301, route.CrossSiteFetchTarget("gopher://b.example/1")},
		{302, "urn:example:a", 302, route.CrossSiteFetchTarget("urn:example:a")},
		{302, "file:///etc/passwd", 403, ""},
		{302, "news:a@b.example", 403, ""},
		{302, "http://[", 502, ""},
		{302, "http://", 502, ""},
		{302, "", 302, ""},
		{201, "http://[", 201, ""},
		{300, "/there", 300, ""}, // RFC 9110 section 15.4.1: the client may choose
	} {
		fields := []string{"Www-Authenticate", "Basic realm=a", "Proxy-Authenticate", "Basic realm=a"}
		if tt.location != "" {
			fields = append(fields, "Location", tt.location)
		}
		w.answers(tt.status, "no", fields...)
		r := requested(t, http.MethodGet, base)
		r.Fetched = true
		client := w.serve(t, r)
		status := client.Status
		if client.err != nil {
			status = problem.Status(client.err)
		}
		if h := client.Fields; status != tt.want || h.Get("Location") != tt.leads ||
			h.Get("Www-Authenticate")+h.Get("Proxy-Authenticate") != "" {
			t.Errorf("%d to %q: %d %v, %v", tt.status, tt.location, status, h, client.err)
		}
		if len(w.slots) != 0 {
			t.Errorf("%d to %q: a fetch is under way", tt.status, tt.location)
		}
	}
	w.answers(302, "", "Location", "ftp://a.example/c")
	r := requested(t, http.MethodGet, "ftp://a.example/b")
	r.Fetched = true
	if got := w.serve(t, r).Fields.Get("Location"); got != route.FetchTarget("ftp://a.example/c") {
		t.Errorf("on one server of FTP: %s", got)
	}
}

// A response at /fetch only has the fields whose meaning is the same for this server, is private to its
// client (RFC 9111 section 5.2.2.7), and cannot run code.
func TestFetchedFields(t *testing.T) {
	const sandbox = "sandbox; default-src 'none'; style-src 'unsafe-inline'; frame-ancestors "
	w := newWeb(t, nil, nil)
	for _, tt := range []struct {
		target, embedder, control string
		made                      bool // urnd rendered the document
		want                      string
	}{
		{
			"http://a.example/b", "", "", false,
			"Cache-Control=private Content-Location=http://a.example/b Cross-Origin-Resource-Policy=same-origin " +
				"Referrer-Policy=no-referrer Content-Security-Policy=" + sandbox + "'none' Vary=Accept",
		},
		{
			"http://a.example/b", "", "public, max-age=60, s-maxage=9", false,
			"Cache-Control=private, max-age=60 Content-Location=http://a.example/b " +
				"Cross-Origin-Resource-Policy=same-origin Referrer-Policy=no-referrer Content-Security-Policy=" +
				sandbox + "'none' Vary=Accept",
		},
		{
			"http://u:secret@a.example/b", "", `private="Set-Cookie", no-cache="X, public"`, false,
			`Cache-Control=private, no-cache="X, public" Content-Location=http://u@a.example/b Cross-Origin-Resource-Policy=same-origin Referrer-Policy=no-referrer Content-Security-Policy=` + sandbox + "'none' Vary=Accept",
		},
		{
			"http://a.example/b", "https://c.example", "no-store", false,
			"Cache-Control=private, no-store Content-Location=http://a.example/b " +
				"Cross-Origin-Resource-Policy=cross-origin Referrer-Policy=no-referrer Content-Security-Policy=" +
				sandbox + "https://c.example Vary=Accept Vary=Origin, Referer",
		},
		{
			"http://a.example/b", "", "", true,
			"Cache-Control=private Content-Location=http://a.example/b Cross-Origin-Resource-Policy=same-origin " +
				"Referrer-Policy=no-referrer Content-Security-Policy=" + sandbox + "'none' Vary=Accept",
		},
		{
			"ftp://a.example/b", "", "max-age=60", true,
			"Cache-Control=private, max-age=60 Cross-Origin-Resource-Policy=same-origin Referrer-Policy=same-origin " +
				"Content-Security-Policy=default-src 'none' Vary=Accept",
		},
		{
			"ftp://a.example/b", "", "max-age=60", false,
			"Cache-Control=private, max-age=60 Content-Location=ftp://a.example/b " +
				"Cross-Origin-Resource-Policy=same-origin Referrer-Policy=no-referrer Content-Security-Policy=" +
				sandbox + "'none' Vary=Accept",
		},
	} {
		fields := []string{
			"Content-Type", "text/x", "Etag", `"1"`, "Vary", "Accept", "Set-Cookie", "a=b", "X-Other", "1", "Link",
			"</a>; rel=preload", "Clear-Site-Data", "*",
		}
		if tt.control != "" {
			fields = append(fields, "Cache-Control", tt.control)
		}
		if tt.made {
			fields = append(fields, "Content-Security-Policy", "default-src 'none'")
		}
		w.answers(200, "ok", fields...)
		r := requested(t, http.MethodGet, tt.target, "Cookie", "secret", "Authorization", "secret", "Referer",
			"http://c.example/", "X-Secret", "1",
			"Range", "bytes=0-", "Te", "trailers", "Connection", "Upgrade", "Upgrade", "a")
		r.Fetched, r.Embedder = true, tt.embedder
		client := w.serve(t, r)
		got := client.Fields
		if client.err != nil || client.Status != 200 || client.Body.String() != "ok" || got.Get("Etag") != `"1"` ||
			got.Get("Content-Type") != "text/x" || got.Get("Via") == "" ||
			got.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %+v", tt.target, client)
		}
		var all []string
		for _, name := range []string{
			"Cache-Control", "Content-Location", "Cross-Origin-Resource-Policy", "Referrer-Policy",
			"Content-Security-Policy", "Vary", "Set-Cookie", "X-Other", "Link", "Clear-Site-Data",
		} {
			for _, line := range got.Values(name) {
				all = append(all, name+"="+line)
			}
		}
		if got := strings.Join(all, " "); got != tt.want {
			t.Errorf("%s for %q:\n%s, want\n%s", tt.target, tt.embedder, got, tt.want)
		}
		if sent, _ := w.last(); linesOf(sent.Fields, "Range", "Cookie", "Authorization", "Referer", "X-Secret", "Te",
			"Upgrade") != "Range=bytes=0-" {
			t.Errorf("%s: the origin gets %v", tt.target, sent.Fields)
		}
	}
}

// Without a response there is nothing to show: an error of another protocol is reported with its text.
func TestFetchedFailure(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(scheme.Request) (*scheme.Resource, error) { return nil, scheme.ErrInvalidResponse }
	r := requested(t, http.MethodGet, "http://a.example/")
	r.Fetched = true
	if client := w.serve(t, r); !errors.Is(client.err, scheme.ErrInvalidResponse) || client.Status != 0 ||
		client.Body.Len() > 0 || len(client.Fields) > 0 {
		t.Errorf("%+v", client)
	}
}

// No shared cache may store a response for clients of the proxy, even if it is in urnd's cache, and
// X-Request-Id remains that of urnd (RFC 9111 section 5.2.2.7).
func TestFetchedIsPrivate(t *testing.T) {
	for sent, want := range map[string]string{
		"":                            "private",
		"public, max-age=60":          "private, max-age=60",
		"S-MaxAge=9, max-age=60":      "private, max-age=60",
		`private="Set-Cookie", a="b"`: "private, a=b",
		`no-cache="X, public"`:        `private, no-cache="X, public"`,
		"no-store":                    "private, no-store",
	} {
		w := newWeb(t, newStore(t), nil)
		fields := []string{"Etag", `"1"`, httpmessage.RequestIDField, "that of the origin"}
		if sent != "" {
			fields = append(fields, "Cache-Control", sent)
		}
		w.answers(200, "", fields...)
		for _, condition := range []string{"X-Other", "If-None-Match"} {
			r := requested(t, http.MethodGet, "http://a.example/b", condition, `"1"`)
			r.Fetched = true
			client := new(recorder)
			_, err := w.Serve(t.Context(), client, r)
			if got := client.Fields; err != nil || got.Get("Cache-Control") != want ||
				got.Has(httpmessage.RequestIDField) ||
				got.Get("Cross-Origin-Resource-Policy") != "same-origin" || got.Get("Via") == "" {
				t.Errorf("%q, %s: %d %v, want %q, %v", sent, condition, client.Status, got, want, err)
			}
		}
	}
}

// A response that the origin selects by the client that urnd identifies is only used for that client (RFC
// 9111 section 4.1).
func TestFetchedByClient(t *testing.T) {
	for _, tt := range []struct {
		forwarded forward.Forwarded
		name      string
		one, two  string
	}{
		{forward.ForwardedFor, "X-Forwarded-For", "198.51.100.1", "198.51.100.2"},
		{forward.ForwardedStandard, "Forwarded", "for=198.51.100.1", "for=198.51.100.2"},
		{forward.ForwardedOff, "X-Forwarded-For", "", ""},
		{forward.ForwardedTransparent, "X-Forwarded-For", "", ""},
	} {
		w := newWeb(t, newStore(t), func(c *forward.Config) { c.Forwarded = tt.forwarded })
		w.answer = func(r scheme.Request) (*scheme.Resource, error) {
			return respond(200, strings.Join(r.Fields.Values(tt.name), ", "), "Cache-Control", "max-age=60", "Vary",
				tt.name), nil
		}
		get := func(client, want string) (hit bool) {
			r := requested(t, http.MethodGet, "http://a.example/", "X-Forwarded-For", client)
			r.Fetched, r.Trusted, r.Client = true, true, netip.MustParseAddr(client)
			got := w.serve(t, r)
			if got.err != nil || got.Status != 200 || got.Body.String() != want {
				t.Errorf("%s to %s: %d %q, want %q, %v", tt.name, client, got.Status, &got.Body, want, got.err)
			}
			return strings.HasPrefix(got.Fields.Get("Cache-Status"), "urnd; hit")
		}
		testserver.Wait(t, "the response of one client is stored", func() bool { return get("198.51.100.1", tt.one) })
		if hit := get("198.51.100.2", tt.two); hit != (tt.two == "") {
			t.Errorf("%s: the other client gets the stored response: %t", tt.name, hit)
		}
	}
}
