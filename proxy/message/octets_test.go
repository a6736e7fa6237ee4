package message_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/resolver"
)

// served returns the octets that net/http sends for a reply, with the request identifier in a field of its own where there is
// one, and the date that they have.
func served(t *testing.T, method, id string, reply message.Reply) (octets, date string) {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if id != "" {
			w.Header()[httpmessage.RequestIDField] = []string{id}
		}
		message.Write(w, r.Method, reply)
	}))
	defer server.Close()
	conn, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, method+" / HTTP/1.1\r\nHost: a\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	var read bytes.Buffer
	response, err := http.ReadResponse(bufio.NewReader(io.TeeReader(conn, &read)), &http.Request{Method: method})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, response.Body); err != nil {
		t.Fatal(err)
	}
	return read.String(), response.Header.Get("Date")
}

// The octets of a fast redirect are those of net/http for the same reply: RFC 9112 section 2.1.
func TestFastRedirect(t *testing.T) {
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		for _, tt := range []struct {
			status int
			ttl    time.Duration
			id     string
			body   string
			cache  resolver.CacheState
			tags   message.Tags
			shared time.Duration
		}{
			{302, 90 * time.Second, "", `<a href="http://a.example/">Moved</a>`, resolver.CacheHit, "", 0},
			{303, 1999 * time.Millisecond, "0af7651916cd43dd", "b", resolver.CacheMiss, message.Xkey, time.Hour},
			{302, time.Minute, "a:b", "b", resolver.CacheHit, message.SurrogateKey, 0},
			{308, time.Minute, "", "b", resolver.CacheHit, message.CacheTag, time.Hour},
			{302, 0, "a:b", strings.Repeat("a", 1999), resolver.CacheCollapsed, message.CacheTag, 0}, // net/http knows the length of a short body alone
		} {
			const link = `<http://a/urn:a1:b-c>; rel="cite-as"`
			const location, kind = "http://a.example/?b&<c>", "text/html; charset=utf-8"
			reply := message.Redirect(tt.status, location, "", resolver.Answer{TTL: tt.ttl, Cache: tt.cache})
			reply.ContentType, reply.Body, reply.Shared = kind, []byte(tt.body), tt.shared
			reply = reply.Marked(tt.tags, "urn:a1:b-c")
			var cors, vary string
			if tt.id != "" { // as of a name
				reply.Vary, vary = "Accept", "Vary: Accept\r\n"
				if reply.Header == nil {
					reply.Header = make(http.Header)
				}
				reply.AddLink(link)
				reply.Header["Access-Control-Allow-Origin"], cors = []string{"*"}, "Access-Control-Allow-Origin: *\r\n"
			}
			want, date := served(t, method, tt.id, reply)
			fast := message.FastRedirect{
				Status: tt.status, Location: location, ContentType: kind, TTL: tt.ttl, Lifetime: tt.ttl, Cache: tt.cache, RequestID: tt.id,
				Date: []byte(date), Body: reply.Body, IsHead: method == http.MethodHead, Shared: tt.shared, Tags: tt.tags, Name: "urn:a1:b-c", CORS: cors, Vary: vary,
			}
			if tt.id != "" {
				fast.Link = []byte(link)
			}
			if got := string(fast.AppendTo([]byte("before "))); got != "before "+want {
				t.Errorf("%s, %+v:\n%q, and by net/http\n%q", method, tt, got, want)
			}
			room := make([]byte, 0, len(want))
			if n := testing.AllocsPerRun(100, func() { fast.AppendTo(room) }); n > 0 {
				t.Errorf("%v allocations", n)
			}
		}
	}
}

// So are those of a reply that was prepared, whatever its fields are; what differs each time is in its place.
func TestPrepared(t *testing.T) {
	list := message.Document("text/uri-list", []byte("# urn:a1:b\r\nhttp://a.example/\r\n"), resolver.Answer{})
	list.Vary = "Accept"
	linked := list
	linked.Header = http.Header{
		"Link": {`<urn:a1:b>; rel="canonical"`, `</api>; rel="service-desc"`}, "X-Content-Type-Options": {"other"},
		"Zzz": {"last"}, "Aaa": {"first"},
	}
	problem := message.Reply{Status: 410, ContentType: "application/problem+json", Vary: "Accept", Body: []byte(`{"status": 410}`)}
	marked := list
	marked.Shared, marked.CacheControl = time.Minute, message.MaxAge(time.Minute)
	for _, reply := range []message.Reply{list, linked, problem, marked.Marked(message.SurrogateKey, "urn:a1:b")} {
		prepared := message.Prepare(reply)
		if prepared.Status != reply.Status || prepared.ContentType != reply.ContentType || !bytes.Equal(prepared.Body, reply.Body) {
			t.Errorf("%+v of %+v", prepared, reply)
		}
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			for _, ttl := range []time.Duration{0, time.Second, time.Hour} {
				const id = "0af7651916cd43dd"
				reply.CacheControl, reply.CacheStatus = message.MaxAge(ttl), message.CacheStatus(resolver.CacheHit, ttl)
				if reply.Shared > 0 {
					reply.Header["Cdn-Cache-Control"] = []string{message.MaxAge(ttl)}
				}
				want, date := served(t, method, id, reply)
				if got := string(prepared.AppendTo([]byte("before "), ttl, ttl, ttl, id, []byte(date), method == http.MethodHead)); got != "before "+want {
					t.Errorf("%s for %s:\n%q, and by net/http\n%q", method, ttl, got, want)
				}
			}
		}
		room := make([]byte, 0, 1024)
		if n := testing.AllocsPerRun(100, func() { prepared.AppendTo(room, time.Hour, time.Hour, time.Hour, "a", []byte("b"), false) }); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

// RFC 5829 section 3.3: what came instead of a name is linked to; RFC 9651 section 3.3.6: a name for trial is marked.
func TestWithRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		record *resolver.Record
		want   []string
	}{
		"none":                 {nil, nil},
		"one with nothing new": {&resolver.Record{Status: "active"}, nil},
		"for trial":            {&resolver.Record{Sandbox: true}, []string{"Urnd-Sandbox: ?1"}},
	} {
		if got := lines(message.Reply{}.WithRecord(tt.record).Header); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// Clients take one of several lines.
func TestLinksAreOneField(t *testing.T) {
	var r message.Reply
	r.AddLink("<a>; rel=b")
	r.AddLink("<c>; rel=d")
	if got := lines(r.Header); !slices.Equal(got, []string{"Link: <a>; rel=b, <c>; rel=d"}) {
		t.Errorf("%q", got)
	}
}
