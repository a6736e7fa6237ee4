package http2_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	framing "golang.org/x/net/http2"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http2"
)

// A malformed field section is a stream error, or is rejected by a response, after which the stream is reset.
func TestMalformedRequests(t *testing.T) {
	t.Parallel()
	c := serve(t, atOnce(plain), nil).open(t)
	pseudo := func(method, scheme, authority, path string) []string {
		return []string{":method: " + method, ":scheme: " + scheme, ":authority: " + authority, ":path: " + path}
	}
	const reset, refused = "PROTOCOL_ERROR", "400"
	for _, tt := range []struct {
		section string
		want    string
		fields  []string
	}{
		{"8.1", "200", get("/")},
		{"8.2", reset, get("/", "X-Upper: a")},
		{"8.2.1", reset, get("/", "x y: a")},
		{"8.2.1", reset, get("/", "x\x00: a")},
		{"8.2.1", reset, get("/", "x\x7f: a")},
		{"8.2.1", reset, get("/", "\xff: a")},
		{"8.2.1", reset, get("/", "x: a\x00b")},
		{"8.2.1", reset, get("/", "x: a\nb")},
		{"8.2.1", reset, get("/", "x: a\r\nb: c")},
		{"8.2.1", reset, get("/", "x:  a")},
		{"8.2.1", reset, get("/", "x: a\t")},
		{"8.2.1", "200", get("/", "x: \xe4")},
		{"8.2.2", refused, get("/", "connection: close")},
		{"8.2.2", refused, get("/", "keep-alive: 1")},
		{"8.2.2", refused, get("/", "proxy-connection: close")},
		{"8.2.2", refused, get("/", "transfer-encoding: chunked")},
		{"8.2.2", refused, get("/", "upgrade: h2c")},
		{"8.2.2", refused, get("/", "te: gzip")},
		{"8.2.2", refused, get("/", "te: trailers, chunked")},
		{"8.2.2", "200", get("/", "te: trailers")},
		{"8.3", reset, get("/", ":status: 200")},
		{"8.3", reset, get("/", ":unknown: a")},
		{"8.3", reset, []string{":method: GET", "x: y", ":scheme: https", ":authority: a", ":path: /"}},
		{"8.3", reset, get("/", "x: y", ":path: /")},
		{"8.3.1", reset, append([]string{":path: /b"}, get("/")...)},
		{"8.3.1", reset, append([]string{":method: GET"}, get("/")...)},
		{"8.3.1", reset, append([]string{":authority: "}, get("/")...)},
		{"8.3.1", reset, append([]string{":path: "}, get("/")...)},
		{"8.3.1", reset, get("/")[1:]},
		{"8.3.1", reset, append(get("/")[:1:1], get("/")[2:]...)},
		{"8.3.1", reset, get("/")[:3]},
		{"8.3.1", "200", append(get("/")[:2:2], ":path: /", "host: a")},
		{"8.3.1", reset, pseudo("GET", "ftp", "a", "/")},
		{"8.3.1", reset, pseudo("", "https", "a", "/")},
		{"8.3.1", refused, pseudo("G T", "https", "a", "/")},
		{"8.3.1", refused, pseudo("(", "https", "a", "/")},
		{"8.3.1", reset, pseudo("GET\r\nX: y", "https", "a", "/")},
		{"8.3.1", reset, pseudo("GET", "https", "a", "")},
		{"8.3.1", refused, pseudo("GET", "https", "a", "urn:ietf:rfc:2648")},
		{"8.3.1", refused, pseudo("GET", "https", "a", "http://b.example/")},
		{"8.3.1", refused, pseudo("GET", "https", "a", "*")},
		{"8.3.1", "200", pseudo("OPTIONS", "https", "a", "*")},
		{"8.3.1", refused, pseudo("GET", "https", "a", "/a b")},
		{"8.3.1", refused, pseudo("GET", "https", "a", "/a HTTP/1.1")},
		{"8.3.1", reset, pseudo("GET", "https", "a", "/a\r\nX: y")},
		{"8.3.1", reset, pseudo("GET", "https", "a", "/\x00")},
		{"8.3.1", refused, pseudo("GET", "https", "a b", "/")},
		{"8.3.1", refused, pseudo("GET", "https", "a/b", "/")},
		{"8.3.1", reset, pseudo("GET", "https", "\x00", "/")},
		{"8.3.1", refused, get("/", "host: b.example")},
		{"8.3.1", refused, get("/", "host: a.example", "host: a.example")},
		{"8.3.1", "200", get("/", "host: A.example")},
		{"8.5", "200", []string{":method: CONNECT", ":authority: a:443"}},
		{"8.5", reset, []string{":method: CONNECT", ":scheme: https", ":authority: a:443", ":path: /"}},
		{"8.5", reset, []string{":method: CONNECT"}},
		{"8.5", reset, []string{":method: CONNECT", ":authority: a:443", ":path: "}},
		{"8.5", reset, append([]string{":protocol: websocket"}, pseudo("CONNECT", "https", "a", "/")...)},
		{"8.1.1", refused, get("/", "content-length: 5")},
		{"8.1.1", refused, get("/", "content-length: -1")},
		{"8.1.1", refused, get("/", "content-length: +0")},
		{"8.1.1", refused, get("/", "content-length: 0, 0")},
		{"8.1.1", refused, get("/", "content-length: 0", "content-length: 0")},
		{"8.1.1", "200", get("/", "content-length: 0")},
	} {
		a := c.receive(c.ask(true, tt.fields...))
		if got := a.status + a.code; got != tt.want {
			t.Errorf("%q (RFC 9113 section %s): %v, want %s", tt.fields, tt.section, a, tt.want)
		}
	}
}

// A rejected request is reset after its response (RFC 9113 section 8.1.1), whose document is configurable.
func TestRefusal(t *testing.T) {
	t.Parallel()
	var statuses []int
	c := serve(t, atOnce(plain), func(c *http2.Config) {
		c.ErrorDocument = func(r *httpmessage.Incoming, status int, reason string, _ bool) (int, string, []byte) {
			return status, "text/html", fmt.Appendf(nil, "<p>%s %d %s", r.Target, status, reason)
		}
		c.Rejected = func(status int) { statuses = append(statuses, status) }
	}).open(t)
	a := c.receive(c.ask(true, get("/x", "connection: close")...))
	const want = "<p>/x 400 a connection-specific field: connection"
	if a.status != "400" || a.body != want || a.field("content-type") != "text/html" {
		t.Errorf("%v", a)
	}
	for {
		frame, err := c.ReadFrame()
		if err != nil {
			t.Fatal(err)
		}
		if f, ok := frame.(*framing.RSTStreamFrame); ok {
			if f.ErrCode != framing.ErrCodeProtocol {
				t.Errorf("%v", f)
			}
			break
		}
	}
	if fmt.Sprint(statuses) != "[400]" {
		t.Errorf("%v", statuses)
	}
}

// A field section that is too large gets 431, and does not affect the next request: RFC 9113 section 10.5.1.
func TestLargeFields(t *testing.T) {
	t.Parallel()
	c := serve(t, atOnce(plain), func(c *http2.Config) { c.MaxHeaderBytes = 8 << 10 }).open(t)
	for _, tt := range []struct {
		name, want string
		fields     []string
	}{
		{"small", "200", []string{"x: " + strings.Repeat("x", 7000)}},
		{"one that is too large", "431", []string{"x: " + strings.Repeat("x", 10_000)}},
		{"many", "431", strings.Split(strings.Repeat("a: b\n", 300)+"c: d", "\n")},
		{"a malformed one behind", "431", []string{"x: " + strings.Repeat("x", 10_000), "connection: close"}},
		{"small again", "200", []string{"y: z"}},
	} {
		a := c.receive(c.ask(true, get("/", tt.fields...)...))
		if a.status != tt.want {
			t.Errorf("%s: %v", tt.name, a)
		}
		if a = c.receive(c.ask(true, get("/")...)); a.status != "200" || strings.Contains(a.body, "x=") {
			t.Errorf("behind %s: %v", tt.name, a)
		}
	}
	head := append([]string{":method: HEAD"}, get("/", "x: "+strings.Repeat("x", 10_000))[1:]...)
	if a := c.receive(c.ask(true, head...)); a.status != "431" || a.body != "" {
		t.Errorf("HEAD: %v", a)
	}
	huge := get("/", "x: "+strings.Repeat("\xfe", 100_000))
	if a := c.receive(c.ask(true, huge...)); !strings.HasPrefix(a.code, "GOAWAY") {
		t.Errorf("a huge one: %v", a)
	}
}

// Strings of a request stay valid, fields keep their order, and requests do not share memory.
func TestFieldsOfRequests(t *testing.T) {
	t.Parallel()
	var all []string
	h := later(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
		all = append(all, r.Target, r.Fields.Get("x"))
		plain(r, w)
	})
	c := serve(t, h, nil).open(t)
	var want []string
	for i := range 100 {
		path, value := fmt.Sprintf("/%d", i), strings.Repeat("v", i)
		want = append(want, path, value)
		a := c.receive(c.ask(true, get(path, "b: 1", "x: "+value, "a: 2", "b: 3")...))
		if !strings.HasSuffix(a.body, fmt.Sprintf("%s HTTP/2.0 b=1 x=%s a=2 b=3", path, value)) {
			t.Fatalf("%v", a)
		}
	}
	if strings.Join(all, " ") != strings.Join(want, " ") {
		t.Errorf("%v", all)
	}
}

// The properties of the connection that a handler sees.
func TestConnection(t *testing.T) {
	t.Parallel()
	type counter struct{ n int }
	h := handler{begin: func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) bool {
		state, ok := r.Conn.State().(*counter)
		if !ok {
			state = new(counter)
			r.Conn.SetState(state)
		}
		state.n++
		w.WriteHeader(200, "", nil)
		text(w, fmt.Sprint(r.Conn.RemoteAddr(), " ", r.Conn.LocalAddr(), " ", r.Conn.Secure(), " ", r.Conn.ServerName(),
			" ", r.Conn.Attached() == nil, " ", w.HalfClosed() != nil, " ", w.Truncate(), " ", state.n))
		return true
	}}
	stopped := time.Now() // an idle connection loses its state
	c := serve(t, h, func(c *http2.Config) { c.Now = func() time.Time { return stopped } }).open(t)
	for i := range 3 {
		want := fmt.Sprint("192.0.2.1:50000 127.0.0.1:443 true server.example true true false ", i+1)
		if a := c.receive(c.ask(true, get("/")...)); a.body != want {
			t.Errorf("%v", a)
		}
	}
}
