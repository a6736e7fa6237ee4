package forward_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/forward"
)

const storedURI = "http://a.example/b"

// store fills the cache with the response for a URI, and returns the one for a request without selecting fields.
func (w *web) store(t testing.TB, target string) httpcache.Found {
	t.Helper()
	if client := w.get(t, target); client.err != nil {
		t.Fatal(client.err)
	}
	var found httpcache.Found
	testserver.Wait(t, "it is stored", func() (ok bool) {
		found, ok = w.cache.Find(target, "", httpmessage.Fields(nil).Values, time.Now())
		return ok
	})
	return found
}

// The fields of a stored response keep their order and spelling, with the additions of RFC 9111 section 5.1,
// RFC 9110 section 7.6.3 and RFC 9211, whether sent by Serve or found by Find.
func TestAppendStored(t *testing.T) {
	date := time.Now().UTC().Format(http.TimeFormat)
	via := httpmessage.NewViaName()
	for _, tt := range []struct {
		name     string
		status   int
		stored   httpmessage.Fields
		want     string // without Age, Via and Cache-Status of urnd, and without Content-Length
		modified string // of 304; "-" for none, as with 404
		age      string
	}{
		{
			"a page", 200,
			httpmessage.NewFields("date", date, "Content-Type", "text/html", "content-encoding", "br", "ETag", `"1"`,
				"Set-Cookie", "a=b", "Set-Cookie", "c=d"),
			"date: " + date + "|Content-Type: text/html|content-encoding: br|ETag: \"1\"",
			"date: " + date + "|ETag: \"1\"", "0",
		},
		{"nothing", 200, nil, "", "", "0"},
		{
			"several proxies", 200, httpmessage.NewFields("Via", "1.0 a, 1.1 b", "Via", "1.1 c", "Cache-Status",
				"a; hit; ttl=0", "Age", "7"),
			"Via: 1.0 a, 1.1 b|Via: 1.1 c|Cache-Status: a; hit; ttl=0",
			"Via: 1.0 a, 1.1 b|Via: 1.1 c|Cache-Status: a; hit; ttl=0", "7",
		},
		{
			"fields of one connection", 200,
			httpmessage.NewFields("Trailer", "X-T", "Connection", "close, X-C", "X-C", "1", "Transfer-Encoding",
				"chunked", "Keep-Alive", "1", "X-Kept", "1"),
			"X-Kept: 1", "X-Kept: 1", "0",
		},
		{
			"that of urnd", 200, httpmessage.NewFields(httpmessage.RequestIDField, "origin"), "X-Request-Id: origin",
			"X-Request-Id: origin", "0",
		},
		{"404", 404, httpmessage.NewFields("X-A", "", "X-A", "2"), "X-A: |X-A: 2", "-", "0"},
	} {
		w := newWeb(t, newStore(t), func(c *forward.Config) { c.Via = via })
		w.answers(tt.status, "body", append(pairs(tt.stored), "Cache-Control", "max-age=60")...)
		found := w.store(t, storedURI)
		if found.Status() != tt.status || found.Reason() != "Words" || found.Length() != 4 {
			t.Errorf("%s: %d %q, %d bytes", tt.name, found.Status(), found.Reason(), found.Length())
		}
		for _, unmodified := range []bool{false, true} {
			want, length := tt.want, "4"
			if unmodified {
				want, length = tt.modified, ""
			}
			if want == "-" {
				continue
			}
			got := w.AppendStored(nil, found, forward.Part{}, unmodified, nil)
			condition := "X-Other"
			if unmodified {
				condition = "If-None-Match"
			}
			for from, fields := range map[string]httpmessage.Fields{
				"found":  got,
				"served": w.get(t, storedURI, condition, "*").Fields,
			} {
				if end := fields.Values("Via"); len(end) == 0 || end[len(end)-1] != via.String() {
					t.Errorf("%s, %s: Via: %q", tt.name, from, end)
				}
				if end := fields.Values("Cache-Status"); len(end) == 0 ||
					!strings.HasPrefix(end[len(end)-1], "urnd; hit; ttl=") {
					t.Errorf("%s, %s: Cache-Status: %q", tt.name, from, end)
				}
				if age := fields.Values("Age"); len(age) != 1 || age[0] < tt.age {
					t.Errorf("%s, %s: Age: %q", tt.name, from, age)
				}
				if fields.Get("Content-Length") != length {
					t.Errorf("%s, %s: Content-Length: %q, want %q", tt.name, from,
						fields.Values("Content-Length"), length)
				}
				if rest := others(fields); rest != want {
					t.Errorf("%s, %s, unmodified %t:\n%s, want\n%s", tt.name, from, unmodified, rest, want)
				}
			}
		}
	}
}

// pairs returns fields as pairs of a name and a value.
func pairs(fields httpmessage.Fields) (all []string) {
	for _, f := range fields {
		all = append(all, f.Name, f.Value)
	}
	return all
}

// others returns the lines of fields except Cache-Control and those that urnd adds, such as a missing Date.
func others(fields httpmessage.Fields) string {
	var lines []string
	for _, f := range fields {
		own := strings.Contains(f.Value, "urnd") || f.HasName("Age") || f.HasName("Content-Length") ||
			f.HasName("Cache-Control") || f.Name == "Date"
		if !own {
			lines = append(lines, f.Name+": "+f.Value)
		}
	}
	return strings.Join(lines, "|")
}

// RFC 9110 section 15.3.7: a part has Content-Range, and its own length.
func TestAppendStoredPart(t *testing.T) {
	w := newWeb(t, newStore(t), nil)
	w.answers(200, "0123456789", "Cache-Control", "max-age=60", "ETag", `"1"`)
	found := w.store(t, storedURI)
	for value, want := range map[string]string{
		"bytes=2-4": "bytes 2-4/10 3", "bytes=-1": "bytes 9-9/10 1",
		"bytes=7-99": "bytes 7-9/10 3",
	} {
		part, ok := found.Part(http.MethodGet, httpmessage.NewFields("Range", value).Values)
		if !ok || part.Status != http.StatusPartialContent {
			t.Errorf("%s: %+v, %t", value, part, ok)
			continue
		}
		got := w.AppendStored(nil, found, part, false, new(httpmessage.ValueBuffer))
		if text := got.Get("Content-Range") + " " + got.Get("Content-Length"); text != want {
			t.Errorf("%s: %q, want %q", value, text, want)
		}
		served := w.get(t, storedURI, "Range", value)
		if served.Status != 206 || served.Fields.Get("Content-Range") != got.Get("Content-Range") ||
			int64(served.Body.Len()) != part.Length() {
			t.Errorf("%s: %+v is served", value, served)
		}
	}
}

// A response that Serve selects by a field of the request is found; one selected by a field that Serve changes is not.
func TestFindSelects(t *testing.T) {
	for _, tt := range []struct {
		vary  string
		named forward.Forwarded
		key   string
		want  bool
		site  *forward.Site
	}{
		{
			"X-Forwarded-For", forward.ForwardedTransparent, storedURI, false,
			&forward.Site{Forwarded: forward.ForwardedFor},
		},
		{"X-Forwarded-For", forward.ForwardedFor, storedURI, true, &forward.Site{}},
		{"X-A", forward.ForwardedFor, storedURI, true, nil},
		{"X-Forwarded-For", forward.ForwardedTransparent, storedURI, true, nil},
		{"X-Forwarded-For", forward.ForwardedFor, storedURI, false, nil},
		{"Forwarded, X-A", forward.ForwardedOff, storedURI, false, nil},
		{"Forwarded", forward.ForwardedStandard, storedURI, false, nil},
		{"X-A", forward.ForwardedTransparent, "https://a.example/b", true, nil},
		{"X-A", forward.ForwardedTransparent, "ftp://a.example/b", false, nil},
	} {
		w := newWeb(t, newStore(t), func(c *forward.Config) { c.Forwarded = forward.ForwardedTransparent })
		w.answers(200, "body", "Cache-Control", "max-age=60", "Vary", tt.vary)
		w.store(t, tt.key)
		p := forward.New(forward.Config{Cache: w.cache, Forwarded: tt.named, Via: httpmessage.NewViaName()})
		none := func(string) []string { return nil }
		if _, ok := p.Find(tt.key, "", tt.site, none, time.Now()); ok != tt.want {
			t.Errorf("%+v: found is %t", tt, ok)
		}
	}
}

// A challenge is not found, as it may concern a connection. A hit allocates next to nothing.
func TestFind(t *testing.T) {
	w := newWeb(t, newStore(t), nil)
	w.answers(401, "", "Cache-Control", "public, max-age=60", "WWW-Authenticate", "Basic realm=a")
	w.store(t, storedURI)
	none := func(string) []string { return nil }
	if _, ok := w.Find(storedURI, "", nil, none, time.Now()); ok {
		t.Error("a challenge is found")
	}
	w.answers(200, "body", "Cache-Control", "max-age=60", "ETag", `"1"`, "Content-Type", "text/html")
	const other = "http://a.example/c"
	w.store(t, other)
	fields, text := make(httpmessage.Fields, 0, 16), new(httpmessage.ValueBuffer)
	for _, unmodified := range []bool{false, true} {
		if n := testing.AllocsPerRun(100, func() {
			text.Reset()
			found, ok := w.Find(other, "", nil, none, time.Now())
			if !ok {
				t.Error("it is not found")
			}
			fields = w.AppendStored(fields[:0], found, forward.Part{}, unmodified, text)
		}); n > 0 && !unmodified || n > 1 { // fields of the content are removed from a copy
			t.Errorf("unmodified: %t: %v allocations", unmodified, n)
		}
	}
}

// BenchmarkServe measures a cache hit of a typical request.
func BenchmarkServe(b *testing.B) {
	w := newWeb(b, newStore(b), nil)
	w.answers(200, "body", "Server", "x", "Content-Type", "text/html", "ETag", `"1"`, "Cache-Control", "max-age=1000")
	w.store(b, storedURI)
	target := parsed(b, storedURI)
	fields := httpmessage.NewFields("Accept", "text/html", "Accept-Encoding", "gzip", "Accept-Language", "de",
		"User-Agent", "test",
		"Referer", "http://a.example/", "Cookie", "a=b")
	b.ReportAllocs()
	for b.Loop() {
		client := discarding{}
		requested := &forward.Request{
			Request: httpmessage.Request{Method: http.MethodGet, URI: target, Fields: slices.Clone(fields)},
			Key:     target, Major: 1, Minor: 1,
		}
		if word, err := w.Serve(b.Context(), client, requested); err != nil || word != "hit" {
			b.Fatal(word, err)
		}
	}
}

// discarding is a ResponseWriter that discards everything.
type discarding struct{ overHTTP }

func (discarding) WriteHeader(int, string, httpmessage.Fields) {}
func (discarding) Write(p []byte) (int, error)                 { return len(p), nil }
func (discarding) Flush() error                                { return nil }
