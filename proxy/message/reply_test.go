package message_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// lines returns the fields of a header as "Name: value", sorted.
func lines(header http.Header) []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(header)) {
		for _, value := range header[name] {
			all = append(all, name+": "+value)
		}
	}
	return all
}

// RFC 2169 section 3.1 (303), RFC 9111 section 5.2.2.1 and RFC 9211 section 2.
func TestRedirect(t *testing.T) {
	const location = "http://a.example/"
	for _, tt := range []struct {
		form                  route.Form
		http11                bool
		state                 resolver.CacheState
		ttl                   time.Duration
		status                int
		cacheStatus, lifetime string
	}{
		{route.FormPath, true, resolver.CacheHit, 90 * time.Second, 302, "urnd; hit; ttl=90", "max-age=90"},
		{route.FormPath, true, resolver.CacheHit, 1999 * time.Millisecond, 302, "urnd; hit; ttl=1", "max-age=1"},
		{route.FormTarget, true, resolver.CacheMiss, time.Minute, 302, "urnd; fwd=uri-miss; stored; ttl=60", "max-age=60"},
		{route.FormTarget, true, resolver.CacheMiss, 0, 302, "urnd; fwd=uri-miss; ttl=0", "no-store"},
		{route.FormTHTTP, true, resolver.CacheCollapsed, time.Minute, 303, "urnd; fwd=uri-miss; collapsed; stored; ttl=60", "max-age=60"},
		{route.FormTHTTP, false, resolver.CacheStale, -5 * time.Second, 302, "urnd; hit; detail=stale-on-error; ttl=-5", "max-age=0"},
		{route.FormPath, false, resolver.Uncached, time.Hour, 302, "urnd; fwd=bypass", "max-age=3600"},
	} {
		r := message.Redirect(tt.form.RedirectStatus(tt.http11), location, "Accept", resolver.Answer{TTL: tt.ttl, Cache: tt.state})
		if r.Status != tt.status || r.Location != location || r.Vary != "Accept" || r.CacheStatus != tt.cacheStatus || r.CacheControl != tt.lifetime || r.Cache != tt.state {
			t.Errorf("%s, %s for %s: %+v", tt.form, tt.state, tt.ttl, r)
		}
		if got := message.CacheStatus(tt.state, tt.ttl); got != tt.cacheStatus {
			t.Errorf("Cache-Status of %s for %s: %q", tt.state, tt.ttl, got)
		}
		if got := message.MaxAge(tt.ttl); got != tt.lifetime {
			t.Errorf("Cache-Control for %s: %q", tt.ttl, got)
		}
	}
}

func TestWrite(t *testing.T) {
	const policy = "Content-Security-Policy: default-src 'none'; form-action 'self'; frame-ancestors 'none'"
	stream := func(w http.ResponseWriter) error {
		_, err := io.WriteString(w, "stream")
		return err
	}
	for _, tt := range []struct {
		name  string
		reply message.Reply
		lines []string
		body  string
	}{
		{"nothing but a status", message.Reply{Status: 204}, []string{"Content-Length: 0"}, ""},
		{
			"a redirect",
			message.Reply{Status: 302, Location: "http://a/", CacheControl: "max-age=1", CacheStatus: "urnd; hit", Vary: "Accept"},
			[]string{"Cache-Control: max-age=1", "Cache-Status: urnd; hit", "Content-Length: 0", "Location: http://a/", "Vary: Accept"},
			"",
		},
		{
			"a document",
			message.Reply{Status: 404, ContentType: "text/plain", Body: []byte("body")},
			[]string{"Content-Length: 4", policy, "Content-Type: text/plain", "X-Content-Type-Options: nosniff"},
			"body",
		},
		{
			"fields of its own",
			message.Reply{Status: 200, ContentType: "text/html", Body: []byte("b"), Header: http.Header{"Content-Security-Policy": {"sandbox"}, "Allow": {"GET"}}},
			[]string{"Allow: GET", "Content-Length: 1", "Content-Security-Policy: sandbox", "Content-Type: text/html", "X-Content-Type-Options: nosniff"},
			"b",
		},
		{"a stream", message.Reply{Status: 200, Stream: stream}, nil, "stream"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			closed := 0
			tt.reply.Close = func() { closed++ }
			w := httptest.NewRecorder()
			w.Header().Set("X-Before", "kept")
			message.Write(w, method, tt.reply)
			body := tt.body
			if method == http.MethodHead {
				body = ""
			}
			want := append(slices.Clone(tt.lines), "X-Before: kept")
			slices.Sort(want)
			if got := lines(w.Header()); w.Code != tt.reply.Status || w.Body.String() != body || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %d %q %q, want %q", method, tt.name, w.Code, got, w.Body, want)
			}
			if closed != 1 {
				t.Errorf("%s, %s: closed %d times", method, tt.name, closed)
			}
		}
	}
}

// deadlines is a response whose write deadline is recorded.
type deadlines struct {
	*httptest.ResponseRecorder
	at time.Time
}

func (d *deadlines) SetWriteDeadline(at time.Time) error {
	d.at = at
	return nil
}

// A stream that fails ends its connection: the part must not look like the complete body.
func TestWriteOfAStreamThatFails(t *testing.T) {
	for _, fault := range []error{nil, errors.New("the origin left")} {
		w := &deadlines{ResponseRecorder: httptest.NewRecorder()}
		message.Write(w, http.MethodGet, message.Reply{Status: 200, Stream: func(http.ResponseWriter) error { return fault }})
		if aborted := !w.at.IsZero() && w.at.Before(time.Now()); aborted != (fault != nil) {
			t.Errorf("%v: aborted: %t", fault, aborted)
		}
	}
}

// A reply never writes into fields that responses share.
func TestWriteSharesNothing(t *testing.T) {
	r := message.Reply{Status: 302, Location: "http://a/", CacheControl: "no-store", Vary: "Accept"}
	w := httptest.NewRecorder()
	message.Write(w, http.MethodGet, r)
	for _, name := range []string{"Location", "Cache-Control", "Vary", "Content-Length"} {
		w.Header().Add(name, "another")
	}
	again := httptest.NewRecorder()
	message.Write(again, http.MethodGet, r)
	want := []string{"Cache-Control: no-store", "Content-Length: 0", "Location: http://a/", "Vary: Accept"}
	if got := lines(again.Header()); !slices.Equal(got, want) {
		t.Errorf("the next response has %q", got)
	}
}

// A line end in a value begins no other field.
func TestLineEndsInFields(t *testing.T) {
	const end = "a\r\nX-Injected: 1\nX-Other: 2\r\n\r\nbody"
	reply := message.Reply{
		Status: 200, Location: end, ContentType: end, Vary: end, CacheControl: end, CacheStatus: end,
		Header: http.Header{"Content-Location": {end}}, Body: []byte("own"),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { message.Write(w, r.Method, reply) }))
	defer server.Close()
	response, err := server.Client().Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || string(body) != "own" || response.Header["X-Injected"] != nil || response.Header["X-Other"] != nil {
		t.Errorf("%q, %q, %v", lines(response.Header), body, err)
	}
	if got := response.Header.Get("Content-Location"); !strings.Contains(got, "X-Injected") {
		t.Errorf("Content-Location: %q", got)
	}
}

func TestDocuments(t *testing.T) {
	for _, tt := range []struct {
		answer                resolver.Answer
		cacheStatus, lifetime string
	}{
		{resolver.Answer{TTL: time.Minute, Cache: resolver.CacheHit}, "urnd; hit; ttl=60", "max-age=60"},
		{resolver.Answer{TTL: time.Minute}, "", "max-age=60"},
	} {
		r := message.Document("text/plain", []byte("a"), tt.answer)
		if r.Status != 200 || r.ContentType != "text/plain" || string(r.Body) != "a" || r.CacheStatus != tt.cacheStatus || r.CacheControl != tt.lifetime || r.Cache != tt.answer.Cache {
			t.Errorf("%+v: %+v", tt.answer, r)
		}
	}
	r := message.JSON(201, map[string]string{"uri": "http://a/?b&<c>"})
	if r.Status != 201 || r.ContentType != "application/json" || r.CacheControl != "no-store" || string(r.Body) != "{\n  \"uri\": \"http://a/?b&<c>\"\n}\n" {
		t.Errorf("JSON: %+v %s", r, r.Body)
	}
	if got := string(message.Line([]string{"a\nb", "<"})); got != `["a\nb","<"]`+"\n" {
		t.Errorf("a line: %q", got)
	}
}

// A question to a resolution server has nothing of the client's request.
func TestFields(t *testing.T) {
	own := httpmessage.NewViaName()
	var fields httpmessage.Fields
	question := message.Question(own)
	question(message.WithTraceparent(t.Context(), "00-client"), &fields)
	if fields.Value("Traceparent") != "00-client" {
		t.Errorf("a fetch: %v", &fields)
	}
	question(resolver.WithSpan(t.Context(), "00-own"), &fields)
	if fields.Value("Via") != own.String() || fields.Value("Traceparent") != "00-own" || len(fields) != 2 {
		t.Errorf("%v", &fields)
	}
}

func TestHops(t *testing.T) {
	for value, want := range map[string]uint8{"0": 0, "1": 1, "3": 3, "4": 4, "999": 4} {
		if got, err := message.Hops(httpmessage.FieldsOf(resolver.HopsField, value).Lines); got != want || err != nil {
			t.Errorf("%q: %d, %v", value, got, err)
		}
	}
	for _, lines := range [][]string{{""}, {"-1"}, {"1000"}, {"a"}, {"1", "2"}, {" 1"}} {
		if got, err := message.Hops(httpmessage.FromHeader(http.Header{resolver.HopsField: lines}).Lines); !errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%q: %d, %v", lines, got, err)
		}
	}
}

// Cached redirects, the hot path, make few allocations.
func TestRedirectAllocations(t *testing.T) {
	answer := resolver.Answer{TTL: 90e9, Cache: resolver.CacheHit}
	w := httptest.NewRecorder()
	write := func() {
		clear(w.Header())
		message.Write(w, http.MethodGet, message.Redirect(http.StatusFound, "https://a.example/", "", answer))
	}
	write()
	if n := testing.AllocsPerRun(100, write); n > 2 {
		t.Errorf("%v allocations, want 2", n)
	}
}
