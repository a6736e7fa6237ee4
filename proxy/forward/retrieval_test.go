package forward_test

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// retrieval returns a Retrieval of locations for a client with the given fields.
func retrieval(t *testing.T, locations []string, fields ...string) forward.Retrieval {
	t.Helper()
	r := forward.Retrieval{
		Method: http.MethodGet, Fields: httpmessage.NewFields(fields...), Client: netip.MustParseAddr("192.0.2.1"),
		Allow: func(uri.URI, bool) (func(netip.AddrPort) error, error) { return nil, nil },
	}
	for _, location := range locations {
		r.Locations = append(r.Locations, resolver.Location{URI: location, From: &resolver.Source{}})
	}
	return r
}

// retrieved returns the response for a client, by N2R or N2Rs.
func (w *web) retrieved(t *testing.T, all bool, r forward.Retrieval) *recorder {
	t.Helper()
	retrieve := w.Resource
	if all {
		retrieve = w.Resources
	}
	reply, err := retrieve(t.Context(), r)
	if err != nil {
		return &recorder{err: err}
	}
	return written(reply)
}

// partsOf returns the bodies and locations of a multipart, or those of a single response.
func partsOf(t *testing.T, client *recorder) (parts []string) {
	t.Helper()
	kind, parameters, err := mime.ParseMediaType(client.Fields.Get("Content-Type"))
	if err != nil || kind != "multipart/alternative" {
		return []string{client.Fields.Get("Content-Location") + " " + client.Body.String()}
	}
	for in := multipart.NewReader(&client.Body, parameters["boundary"]); ; {
		part, err := in.NextPart()
		if errors.Is(err, io.EOF) {
			return parts
		}
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(part)
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part.Header.Get("Content-Location")+" "+string(body))
	}
}

// shop has resources by path: a status, a redirect, or an image type, whose negotiation rejects other types.
func shop(r scheme.Request) (*scheme.Resource, error) {
	switch path := r.URI.Path(); {
	case r.URI.Check() != nil:
		return nil, r.URI.Check()
	case path == "/unreachable":
		return nil, resolver.ErrUnreachable
	case path == "/moved":
		return respond(302, "", "Location", "/image/gif"), nil
	case path == "/loop":
		return respond(302, "", "Location", "/loop"), nil
	case path == "/local":
		return respond(302, "", "Location", "file:///etc/passwd"), nil
	case path == "/no-uri":
		return respond(302, "", "Location", "http://["), nil
	case path == "/no-host":
		return respond(302, "", "Location", "http:///a"), nil
	case path == "/elsewhere":
		return respond(302, "", "Location", "http://b.example/image/gif"), nil
	case path == "/exotic":
		return respond(302, "", "Location", "exotic://b.example/"), nil
	case r.URI.Scheme() == "exotic":
		return nil, fmt.Errorf("%w: exotic", scheme.ErrUnsupported)
	case strings.HasPrefix(path, "/image/"):
		kind := path[1:]
		if accept := r.Fields.List("Accept"); accept != "" && !strings.Contains(accept, kind) &&
			!strings.Contains(accept, "*") {
			return respond(406, ""), nil
		}
		return respond(200, kind, "Content-Type", kind, "Etag", `"1"`, "Set-Cookie", "a=b", "X-Other", "1"), nil
	default:
		status := 0
		_, err := fmt.Sscanf(path, "/%d", &status)
		return respond(status, "no"), err
	}
}

// RFC 2169 sections 3.3 and 3.4: N2R returns the first available resource, and N2Rs all of them as parts. If
// all origins say that it does not exist, or is gone, so does urnd.
func TestResources(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = shop
	const at = "http://a.example"
	for _, tt := range []struct {
		paths    string
		accept   string
		one, all string // the resources
		status   int    // of the error, 0 for none
	}{
		{"/image/gif /image/png", "", "/image/gif image/gif", "/image/gif image/gif|/image/png image/png", 0},
		{
			"/404 /unreachable /moved /image/png", "", "/image/gif image/gif",
			"/image/gif image/gif|/image/png image/png", 0,
		},
		{"/404 /image/png", "", "/image/png image/png", "/image/png image/png", 0},
		{"/image/gif /image/jpeg /image/png", "image/png", "/image/png image/png", "/image/png image/png", 0},
		{
			"/image/gif /image/jpeg /image/png", "image/jpeg, image/png;q=0.5", "/image/jpeg image/jpeg",
			"/image/jpeg image/jpeg|/image/png image/png", 0,
		},
		{"/image/gif /image/png", "image/*", "/image/gif image/gif", "/image/gif image/gif|/image/png image/png", 0},
		{
			"/image/gif /image/png", "no media range *", "/image/gif image/gif",
			"/image/gif image/gif|/image/png image/png", 0,
		},
		{"", "", "", "", 404},
		{"/404", "", "", "", 404},
		{"/404 /410", "", "", "", 404},
		{"/410 /410", "", "", "", 410},
		{"/404 /500", "", "", "", 502},
		{"/500", "", "", "", 502},
		{"/unreachable", "", "", "", 502},
		{"/loop", "", "", "", 502},
		{"/no-uri", "", "", "", 502},
		{"/no-host", "", "", "", 502},
		{"[", "", "", "", 502},
		{"[ /404", "", "", "", 502},
		{"[ /image/gif", "", "/image/gif image/gif", "/image/gif image/gif", 0},
		{"/exotic", "", "", "", 502},
		{"/local", "", "", "", 403},
	} {
		var locations []string
		for path := range strings.FieldsSeq(tt.paths) {
			locations = append(locations, at+path)
		}
		var fields []string
		if tt.accept != "" {
			fields = []string{"Accept", tt.accept}
		}
		for _, all := range []bool{false, true} {
			client := w.retrieved(t, all, retrieval(t, locations, fields...))
			want := tt.one
			if all {
				want = tt.all
			}
			if tt.status != 0 {
				if client.err == nil || problem.Status(client.err) != tt.status {
					t.Errorf("%s, all %t: %v", tt.paths, all, client.err)
				}
				continue
			}
			if client.err != nil {
				t.Errorf("%s, all %t: %v", tt.paths, all, client.err)
				continue
			}
			h := client.Fields
			if h.Get("Set-Cookie")+h.Get("X-Other") != "" || !strings.HasPrefix(h.Get("Content-Security-Policy"),
				"sandbox; default-src 'none'") || h.Get("Cross-Origin-Resource-Policy") != "same-origin" {
				t.Errorf("%s, all %t: it may act as a page of this server: %v", tt.paths, all, h)
			}
			if got := strings.ReplaceAll(strings.Join(partsOf(t, client), "|"), at, ""); got != want {
				t.Errorf("%s, all %t: %s, want %s", tt.paths, all, got, want)
			}
		}
		if len(w.slots) != 0 {
			t.Errorf("%s: %d fetches are under way", tt.paths, len(w.slots))
		}
	}
	client := w.retrieved(t, true,
		retrieval(t, []string{at + "/image/gif", at + "/image/png"}, "Accept", "text/html;q=0, image/*;q=0, */*;q=0"))
	if !errors.Is(client.err, problem.ErrNotAcceptable) && problem.Status(client.err) != http.StatusNotAcceptable {
		t.Errorf("none is acceptable: %v", client.err)
	}
	many := make([]string, 2*forward.MaxResources)
	for i := range many {
		many[i] = fmt.Sprint(at, "/image/", i)
	}
	if got := partsOf(t, w.retrieved(t, true, retrieval(t, many))); len(got) != forward.MaxResources {
		t.Errorf("%d resources of %d", len(got), len(many))
	}
}

// The request for a resource of a name is urnd's own: with the Accept fields of the client, and none of its
// credentials; each redirect is checked by Allow.
func TestRetrievals(t *testing.T) {
	via := httpmessage.NewViaName()
	w := newWeb(t, nil, func(c *forward.Config) { c.Via = via })
	w.answer = shop
	fields := []string{
		"Accept", "image/gif", "Accept-Language", "de", "Accept-Encoding", "gzip", "Via", "1.1 other", "Cookie",
		"secret", "Authorization", "secret", "User-Agent", "its own", "Range", "bytes=0-1",
	}
	names := []string{
		"Accept", "Accept-Language", "Accept-Encoding", "User-Agent", "Via", "Cookie",
		"Authorization", "Range",
	}
	for _, tt := range []struct {
		location string
		all      bool
		want     string
	}{
		{
			"http://a.example/image/gif", false,
			"Accept=image/gif Accept-Language=de Accept-Encoding=gzip User-Agent=urnd Via=1.1 other Via=" +
				via.String(),
		},
		// Parts are not decoded.
		{
			"http://a.example/image/gif", true,
			"Accept=image/gif Accept-Language=de User-Agent=urnd Via=1.1 other Via=" + via.String(),
		},
		{
			"ftp://a.example/image/gif#f", false,
			`Accept=listing of "image/gif", fetched true, by "" Accept-Language=de Accept-Encoding=gzip User-Agent=urnd Via=1.1 other Via=` + via.String(),
		},
	} {
		client := w.retrieved(t, tt.all, retrieval(t, []string{tt.location}, fields...))
		sent, _ := w.last()
		if got := linesOf(sent.Fields, names...); got != tt.want || client.err != nil {
			t.Errorf("%s, all %t: %v\n%s, want\n%s", tt.location, tt.all, client.err, got, tt.want)
		}
		if location, _, _ := strings.Cut(tt.location, "#"); sent.URI.String() != location ||
			sent.Client != netip.MustParseAddr("192.0.2.1") {
			t.Errorf("%s: %+v", tt.location, sent)
		}
	}
	refused := errors.New("not there")
	var allowed []string
	r := retrieval(t, []string{"http://a.example/elsewhere", "http://a.example/moved"})
	r.Allow = func(u uri.URI, crossSite bool) (func(netip.AddrPort) error, error) {
		allowed = append(allowed, fmt.Sprint(u, " ", crossSite))
		if host, _ := u.Host(); host == "b.example" {
			return nil, refused
		}
		return nil, nil
	}
	if client := w.retrieved(t, false, r); client.err != nil || client.Body.String() != "image/gif" {
		t.Errorf("%+v", client)
	}
	if got := strings.Join(allowed,
		", "); got != "http://a.example/elsewhere false, http://b.example/image/gif true, http://a.example/moved "+
		"false, http://a.example/image/gif false" {
		t.Errorf("it was allowed to ask %s", got)
	}
	for range cap(w.slots) {
		w.slots <- struct{}{}
	}
	if client := w.retrieved(t, true, r); !errors.Is(client.err, resolver.ErrBusy) {
		t.Errorf("beyond the limit: %v", client.err)
	}
}

// An aborted resource must not look complete.
func TestResourceThatBreaksOff(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(scheme.Request) (*scheme.Resource, error) {
		resource := respond(200, "", "Content-Type", "text/x")
		resource.Body = io.NopCloser(io.MultiReader(strings.NewReader("half"), broken{}))
		return resource, nil
	}
	locations := []string{"http://a.example/", "http://b.example/"}
	for _, all := range []bool{false, true} {
		if client := w.retrieved(t, all, retrieval(t, locations)); client.err != nil || !client.Aborted ||
			!strings.Contains(client.Body.String(),
				"half") || len(w.slots) != 0 {
			t.Errorf("all %t: %+v", all, client)
		}
	}
	if client := w.get(t, "http://a.example/"); client.err != nil || !client.Aborted || client.broken == nil {
		t.Errorf("forwarded: %+v", client)
	}
}

// broken is a source that fails.
type broken struct{}

// Read implements io.Reader.
func (broken) Read([]byte) (int, error) { return 0, errBroken }

var errBroken = errors.New("it breaks off")

// The client's Accept is sent along all redirects: doi.org redirects to the agency that has the metadata.
func TestAcceptOfRedirects(t *testing.T) {
	w := newWeb(t, nil, nil)
	w.answer = func(r scheme.Request) (*scheme.Resource, error) {
		if r.URI.Path() == "/doi" {
			return respond(302, "", "Location", "/agency"), nil
		}
		return respond(200, "metadata", "Content-Type", "application/x-made"), nil
	}
	for _, accept := range []string{
		"application/vnd.citationstyles.csl+json, */*;q=0.1",
		"application/rdf+xml;q=0.5, application/vnd.citationstyles.csl+json;q=1.0",
		"text/x-bibliography; style=apa; locale=de-DE", "text/html", "*/*",
	} {
		client := w.retrieved(t, false, retrieval(t, []string{"http://a.example/doi"}, "Accept", accept))
		var requested []string
		for _, r := range w.requested {
			requested = append(requested, r.URI.Path()+" "+r.Fields.List("Accept"))
		}
		w.last()
		if want := "/doi " + accept + "|/agency " + accept; client.err != nil || client.Body.String() != "metadata" ||
			strings.Join(requested, "|") != want ||
			!strings.HasPrefix(client.Fields.Get("Vary"), "Accept, ") {
			t.Errorf("%s: %+v, asked %q", accept, client, requested)
		}
	}
}
