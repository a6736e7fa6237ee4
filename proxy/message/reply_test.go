package message_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/proxytest"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// TestRedirect covers RFC 2169 section 3.1 (303), RFC 9111 section 5.2.2.1 and RFC 9211 section 2.
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
		{
			route.FormTarget, true, resolver.CacheMiss, time.Minute, 302, "urnd; fwd=uri-miss; stored; ttl=60",
			"max-age=60",
		},
		{route.FormTarget, true, resolver.CacheMiss, 0, 302, "urnd; fwd=uri-miss; ttl=0", "no-store"},
		{
			route.FormTHTTP, true, resolver.CacheCollapsed, time.Minute, 303,
			"urnd; fwd=uri-miss; collapsed; stored; ttl=60", "max-age=60",
		},
		{
			route.FormTHTTP, false, resolver.CacheStale, -5 * time.Second, 302, "urnd; hit; detail=stale-on-error; ttl=-5",
			"max-age=0",
		},
		{route.FormPath, false, resolver.Uncached, time.Hour, 302, "urnd; fwd=bypass", "max-age=3600"},
	} {
		r := message.Redirect(tt.form.RedirectStatus(tt.http11), location, "Accept",
			resolver.Answer{TTL: tt.ttl, Cache: tt.state}, nil)
		if r.Status != tt.status || r.Location != location || r.Vary != "Accept" || r.CacheStatus != tt.cacheStatus ||
			r.CacheControl != tt.lifetime || r.Cache != tt.state {
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
	stream := func(w message.Stream) error {
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
			message.Reply{
				Status: 302, Location: "http://a/", CacheControl: "max-age=1", CacheStatus: "urnd; hit",
				Vary: "Accept",
			},
			[]string{
				"Cache-Control: max-age=1", "Cache-Status: urnd; hit", "Content-Length: 0", "Location: http://a/",
				"Vary: Accept",
			},
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
			message.Reply{
				Status: 200, ContentType: "text/html", Body: []byte("b"),
				Fields: httpmessage.NewFields("Content-Security-Policy", "sandbox", "Allow", "GET"),
			},
			[]string{
				"Allow: GET", "Content-Length: 1", "Content-Security-Policy: sandbox", "Content-Type: text/html",
				"X-Content-Type-Options: nosniff",
			},
			"b",
		},
		{"a stream", message.Reply{Status: 200, Stream: stream}, []string{}, "stream"},
	} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			closed := 0
			tt.reply.Close = func() { closed++ }
			var w proxytest.Recorder
			message.Write(&w, method, tt.reply, nil)
			body := tt.body
			if method == http.MethodHead {
				body = ""
			}
			if got := w.Lines(); w.Status != tt.reply.Status || w.Body.String() != body ||
				!slices.Equal(got, tt.lines) {
				t.Errorf("%s, %s: %d %q %q, want %q", method, tt.name, w.Status, got, &w.Body, tt.lines)
			}
			if closed != 1 {
				t.Errorf("%s, %s: closed %d times", method, tt.name, closed)
			}
		}
	}
}

// TestWriteOfAStreamThatFails: a stream that fails aborts the response, so that a truncated body does not look
// complete. If the framing shows the truncation, the client gets the bytes written so far.
func TestWriteOfAStreamThatFails(t *testing.T) {
	for _, tt := range []struct {
		err                    error
		endsEarly              bool
		wantEnded, wantAborted bool
	}{
		{nil, false, false, false},
		{nil, true, false, false},
		{errors.New("the origin left"), false, false, true},
		{errors.New("the origin left"), true, true, false},
	} {
		w := proxytest.Recorder{EndsEarly: tt.endsEarly}
		message.Write(&w, http.MethodGet,
			message.Reply{Status: 200, Stream: func(message.Stream) error { return tt.err }}, nil)
		if w.EndedEarly != tt.wantEnded || w.Aborted != tt.wantAborted {
			t.Errorf("%+v: ended early: %t, aborted: %t", tt, w.EndedEarly, w.Aborted)
		}
	}
}

// TestWriteInScratch: the buffer for the header section is reused; the fields of the reply itself must not
// change.
func TestWriteInScratch(t *testing.T) {
	const note = "a"
	var scratch message.Scratch
	r := message.Reply{
		Status: 302, Fields: httpmessage.NewFields("Link", "<a>"), ContentType: "text/plain",
		Body: []byte(note),
	}
	for range 2 {
		var w proxytest.Recorder
		message.Write(&w, http.MethodGet, r, &scratch)
		if len(r.Fields) != 1 || w.Fields.Get("Link") != "<a>" || w.Fields.Get("Content-Length") != "1" ||
			w.Body.String() != note {
			t.Errorf("%v: %v %q", r.Fields, w.Fields, &w.Body)
		}
		scratch.Reset()
	}
}

// TestFresh requires that a pre-rendered reply gets the current lifetimes.
func TestFresh(t *testing.T) {
	var text httpmessage.ValueBuffer
	r := message.Document("text/plain", nil, resolver.Answer{TTL: time.Hour})
	r.SetFreshness(90*time.Second, time.Minute, 2*time.Hour, &text)
	if r.CacheStatus != "urnd; hit; ttl=90" || r.CacheControl != "max-age=60" || r.SharedMaxAge != 2*time.Hour ||
		r.Cache != resolver.CacheHit {
		t.Errorf("%+v", r)
	}
	if r.SetFreshness(0, 0, 0, &text); r.CacheStatus != "urnd; hit; ttl=0" || r.CacheControl != "no-store" {
		t.Errorf("at its end: %+v", r)
	}
}

// TestPrecondition covers RFC 9110 section 13.2.2, for documents only.
func TestPrecondition(t *testing.T) {
	tagged := message.Reply{
		Status: 200, ContentType: "text/plain", Body: []byte("a"),
		Fields: httpmessage.NewFields("ETag", `"1"`, "Content-Encoding", "gzip"),
	}
	untagged := message.Reply{Status: 200}
	missing := message.Reply{Status: 404, Fields: httpmessage.NewFields("ETag", `"1"`)}
	for _, tt := range []struct {
		reply  message.Reply
		method string
		fields httpmessage.Fields
		want   int
	}{
		{tagged, "GET", nil, 0},
		{tagged, "GET", httpmessage.NewFields("If-None-Match", `"1"`), 304},
		{tagged, "HEAD", httpmessage.NewFields("If-None-Match", `W/"1"`), 304},
		{tagged, "GET", httpmessage.NewFields("If-None-Match", `"2"`), 0},
		{tagged, "GET", httpmessage.NewFields("If-Match", `"2"`), 412},
		{tagged, "POST", httpmessage.NewFields("If-None-Match", `"1"`), 0},
		{untagged, "GET", httpmessage.NewFields("If-None-Match", "*"), 0},
		{missing, "GET", httpmessage.NewFields("If-None-Match", `"1"`), 0},
	} {
		if got := tt.reply.Precondition(tt.method, tt.fields.Values); got != tt.want {
			t.Errorf("%s %v of %v: %d, want %d", tt.method, tt.fields, tt.reply.Fields, got, tt.want)
		}
	}
	unmodified := tagged.NotModified()
	if unmodified.Status != 304 || unmodified.Body != nil || unmodified.ContentType != "" ||
		unmodified.Fields.Has("Content-Encoding") || !tagged.Fields.Has("Content-Encoding") {
		t.Errorf("%+v of %+v", unmodified, tagged)
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
		if r.Status != 200 || r.ContentType != "text/plain" || string(r.Body) != "a" ||
			r.CacheStatus != tt.cacheStatus || r.CacheControl != tt.lifetime || r.Cache != tt.answer.Cache {
			t.Errorf("%+v: %+v", tt.answer, r)
		}
	}
	r := message.JSON(201, map[string]string{"uri": "http://a/?b&<c>"})
	if r.Status != 201 || r.ContentType != "application/json" || r.CacheControl != "no-store" ||
		string(r.Body) != "{\n  \"uri\": \"http://a/?b&<c>\"\n}\n" {
		t.Errorf("JSON: %+v %s", r, r.Body)
	}
	if got := string(message.MarshalLine([]string{"a\nb", "<"})); got != `["a\nb","<"]`+"\n" {
		t.Errorf("a line: %q", got)
	}
}

// TestFields requires that a query to a resolution server has nothing of the client's request.
func TestFields(t *testing.T) {
	own := httpmessage.NewViaName()
	var fields httpmessage.Fields
	question := message.QueryFields(own)
	question(message.WithTraceparent(t.Context(), "00-client"), &fields)
	if fields.Get("Traceparent") != "00-client" {
		t.Errorf("a fetch: %v", &fields)
	}
	question(resolver.WithSpan(t.Context(), "00-own"), &fields)
	if fields.Get("Via") != own.String() || fields.Get("Traceparent") != "00-own" || len(fields) != 2 {
		t.Errorf("%v", &fields)
	}
}

func TestHops(t *testing.T) {
	for value, want := range map[string]uint8{"0": 0, "1": 1, "3": 3, "4": 4, "999": 4} {
		if got, err := message.Hops(httpmessage.NewFields(resolver.HopsField, value).Values); got != want ||
			err != nil {
			t.Errorf("%q: %d, %v", value, got, err)
		}
	}
	for _, lines := range [][]string{{""}, {"-1"}, {"1000"}, {"a"}, {"1", "2"}, {" 1"}} {
		header := httpmessage.FromHeader(http.Header{resolver.HopsField: lines})
		if got, err := message.Hops(header.Values); !errors.As(err, new(*uri.ParseError)) {
			t.Errorf("%q: %d, %v", lines, got, err)
		}
	}
}

// TestRedirectAllocations requires that cached redirects, the hot path, do not allocate.
func TestRedirectAllocations(t *testing.T) {
	answer := resolver.Answer{TTL: 90e9, Cache: resolver.CacheHit}
	scratch := message.Scratch{Head: make(httpmessage.Fields, 0, 16)}
	write := func() {
		scratch.Reset()
		message.Write(discard{}, http.MethodGet,
			message.Redirect(http.StatusFound, "https://a.example/", "", answer, &scratch.Text), &scratch)
	}
	write()
	if n := testing.AllocsPerRun(100, write); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// discard is a response writer that discards everything.
type discard struct{ httpmessage.ResponseWriter }

func (discard) WriteHeader(int, string, httpmessage.Fields) {}
func (discard) Write(p []byte) (int, error)                 { return len(p), nil }
