package answer_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// pastOf is a History with a number of versions of each name, one per day.
type pastOf int

func (n pastOf) Versions(_ context.Context, q resolver.Query) (resolver.Versions, error) {
	v := resolver.Versions{Name: q.URI, TTL: time.Minute}
	for i := range int(n) {
		v.Times = append(v.Times, time.Date(2031, 5, 1+i, 10, 0, 0, 0, time.UTC))
	}
	return v, nil
}

// registered resolves names like a registry with targets and metadata, and adds steps.
func registered(ctx context.Context, q resolver.Query) (resolver.Answer, error) {
	record := &resolver.Record{
		Name: q.URI.String(), Version: 2, Status: "active", Since: time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC),
		Contact:  "mailto:anna@a.example",
		Metadata: `{"title": "Kalevala", "creators": ["Lönnrot, Elias"], "issued": "1849"}`,
		Links:    []resolver.Link{{URI: "https://a.example/rdf", Rel: "describedby", Type: "application/rdf+xml"}},
	}
	t := resolver.TraceOf(ctx)
	t.Add(resolver.Step{Stage: "registry", Public: "the registry has <it>"}, "10.0.0.1 has it")
	return resolver.Answer{
		Locations: []resolver.Location{
			{
				URI: "https://a.example/1",
				From: &resolver.Source{
					Record: record, Type: "text/html",
					Relation: &resolver.Relation{Title: "The book"},
				},
			},
			{URI: "https://dead.example/1", From: &resolver.Source{Record: record, Language: "fi"}},
		},
		TTL: time.Minute, Cache: resolver.CacheMiss,
	}, nil
}

// namePage returns a Responder of a site with a registry.
func namePage(t testing.TB) *responder {
	s := start(t, func(c *answer.Config) {
		c.History = pastOf(30)
		c.Failing = func(location string) bool { return strings.Contains(location, "dead") }
	})
	s.next = registered
	return s
}

// based returns the response of a server with a base.
func (s *responder) based(t testing.TB, base, target string, fields ...string) *http.Response {
	t.Helper()
	parsed, err := route.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	header := headerOf(fields...)
	reply, err := s.Reply(t.Context(), &answer.Request{
		Target: &parsed, Header: httpmessage.NewHeader(header), HTTP11: true, IsName: parsed.Query.IsURN(), Base: base,
	})
	return written(header, reply, err)
}

func TestNamePage(t *testing.T) {
	s := namePage(t)
	response := s.based(t, "https://urn.example", "/uri-res/N2C.html?urn:example:a%2Cb", "Accept-Language: en")
	page := text(t, response)
	for _, want := range []string{
		"<h1><bdi>Kalevala</bdi></h1>", `<code id="name" dir="auto">urn:example:a%2Cb</code>`, "It is in use.",
		`<time datetime="2031-05-01">`,
		`<a href="mailto:anna@a.example">`,
		`<a href="https://a.example/1"><b dir="auto">The book</b><small>a.example · Web page</small></a>`,
		`<b class="unhealthy">its server does not respond now</b>`, `<small>Description · application/rdf+xml</small>`,
		"Lönnrot, Elias (1849): Kalevala. https://urn.example/urn:example:a%2Cb</p>",
		`src="/uri-res/N2C.qr?urn:example:a%2Cb"`, `<a href="/uri-res/N2C.bibtex?urn:example:a%2Cb">bibtex</a>`,
		">linkset</a>", ">jsonld</a>",
		`<a href="/memento/20310530100000/urn:example:a%2Cb"><time>2031-05-30 10:00:00</time></a>`,
		`<a href="/timemap/urn:example:a%2Cb">`,
		"<li><b>Registry of this site</b> <bdi>the registry has &lt;it&gt;</bdi></li>",
		`<a href="/api/v1/explain?uri=urn%3Aexample%3Aa%252Cb">`,
		`<th scope="row">version</th><td><code dir="auto">2</code></td>`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s", want)
		}
	}
	if n := strings.Count(page, "<time>"); n != 20 {
		t.Errorf("%d versions", n)
	}
	if strings.Contains(page, "10.0.0.1") {
		t.Error("an address of the internal network")
	}
	if t.Failed() {
		t.Log(page)
	}
	policy := response.Header.Get("Content-Security-Policy")
	if !strings.Contains(policy, "img-src 'self'") || response.Header.Get("Cache-Control") != "max-age=60" ||
		len(page) > 30_000 {
		t.Errorf("%v, %d bytes", response.Header, len(page))
	}
	// A name outside of the registry has no versions, but formats.
	s.next = func(_ context.Context, q resolver.Query) (resolver.Answer, error) { return at(q), nil }
	if page := text(t, s.based(t, "", "/uri-res/N2C.html?urn:example:b")); strings.Contains(page, "/timemap/") ||
		!strings.Contains(page, ">links</a>") {
		t.Error(page)
	}
}

// A withdrawn name has a page, too, with its successors and without its targets.
func TestNamePageOfGone(t *testing.T) {
	s := namePage(t)
	record := &resolver.Record{
		Name: "urn:example:a", Version: 3, Status: "withdrawn", Since: time.Date(2031, 5, 1, 0, 0, 0, 0, time.UTC),
		Reason: "<merged>", Contact: "Anna",
		Successors: []string{"urn:example:b"},
	}
	s.next = failing(&resolver.Negative{Kind: resolver.ErrGone, TTL: time.Minute, Record: record})
	response := s.based(t, "https://urn.example", "/uri-res/N2C.html?urn:example:a")
	page := text(t, response)
	for _, want := range []string{
		`Withdrawn on <time datetime="2031-05-01">2031-05-01</time>: <bdi>&lt;merged&gt;.</bdi></p>`,
		"<dd><bdi>Anna</bdi></dd>", `<a href="/urn:example:b"><code dir="auto">urn:example:b</code></a>`,
		"Withdrawn since 2031-05-01", "/timemap/",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("no %s:\n%s", want, page)
		}
	}
	if response.StatusCode != http.StatusGone || strings.Contains(page, "Locations") {
		t.Errorf("%d %s", response.StatusCode, page)
	}
}

// The format qr renders the URL of a name, whether or not it exists, without resolving it.
func TestCode(t *testing.T) {
	s := start(t, nil)
	s.next = func(context.Context, resolver.Query) (resolver.Answer, error) {
		t.Error("it was resolved")
		return resolver.Answer{}, resolver.ErrUnreachable
	}
	response := s.based(t, "https://urn.example", "/uri-res/N2C.qr?URN:example:a", "Accept: text/html")
	body := text(t, response)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "image/svg+xml" ||
		!strings.HasPrefix(body, "<svg ") ||
		!strings.Contains(body, "<title>urn:example:a</title>") ||
		response.Header.Get("Cache-Control") != "max-age=3600" ||
		!strings.Contains(response.Header.Get("Content-Security-Policy"), "default-src 'none'") ||
		response.Header.Get("Vary") != "" {
		t.Errorf("%d %v %s", response.StatusCode, response.Header, body)
	}
	for _, target := range []string{
		"/uri-res/N2C.qr?urn:example:" + strings.Repeat("a", 600),
		"/uri-res/L2C.qr?http://a.example/",
	} {
		if response := s.based(t, "https://urn.example", target); response.StatusCode != http.StatusNotImplemented {
			t.Errorf("%.40s: %d", target, response.StatusCode)
		}
	}
}

// The page of a name costs less than 400 us of CPU time per request of a crawler.
func BenchmarkNamePage(b *testing.B) {
	s := namePage(b)
	q := &answer.Request{
		Target: &route.Target{Form: route.FormTHTTP, Format: "html"},
		Header: httpmessage.NewHeader(headerOf("Accept-Language: de-AT,de;q=0.9")),
		HTTP11: true, IsName: true, Base: "https://urn.example",
	}
	u, err := uri.Parse("urn:example:a")
	if err != nil {
		b.Fatal(err)
	}
	if q.Query, err = resolver.NewQuery(u, resolver.I2C); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		reply, err := s.Reply(context.Background(), q)
		if err != nil || len(reply.Body) > 30_000 {
			b.Fatal(err, len(reply.Body))
		}
	}
}
