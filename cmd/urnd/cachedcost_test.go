package main

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"

	"github.com/urnd/urnd/config"
)

// tcpClient is a connection to a server, whose requests do not allocate on the client side.
type tcpClient struct {
	net.Conn
	request, response []byte
}

// newCachedClient returns a connection for a request with field lines. Its response is cached, and has the
// given status.
func newCachedClient(tb testing.TB, status int, target string, lines ...string) *tcpClient {
	tb.Helper()
	c := config.Default()
	c.DDDS.Enabled = false
	loopback, documentation := netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")
	c.Access.TrustedProxies, c.Access.AllowDestinations = []netip.Prefix{loopback}, []netip.Prefix{loopback}
	c.Access.ResolveClients, c.Access.ProxyClients = []netip.Prefix{loopback, documentation},
		[]netip.Prefix{loopback, documentation}
	client := dialServer(tb, c)
	head := "GET " + target + " HTTP/1.1\r\nHost: localhost\r\nUser-Agent: test\r\nAccept: */*\r\n"
	client.request = []byte(head + strings.Join(append(lines, ""), "\r\n") + "\r\n")
	client.fill(tb, head+"\r\n")
	for range 8 { // they fill pools
		if client.exchange(tb); client.status() != status {
			tb.Fatalf("%q", client.response[:400])
		}
	}
	return client
}

// dialServer returns a connection to a server with a configuration. The caller must set its request.
func dialServer(tb testing.TB, c config.Config) *tcpClient {
	tb.Helper()
	d := newDependencies()
	p, err := wireAll(c, d)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(p.close)
	p.openRegistry(tb.Context(), io.Discard)
	conn, err := net.Dial("tcp", serveClients(tb, c, p.service, d))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { conn.Close() })
	return &tcpClient{Conn: conn, response: make([]byte, 64<<10)}
}

// fill sends the request without its field lines, as often as a cache needs.
func (c *tcpClient) fill(tb testing.TB, request string) {
	tb.Helper()
	plain := *c
	plain.request = []byte(request)
	for range 4 {
		plain.exchange(tb)
	}
}

// status returns the status of the last response.
func (c *tcpClient) status() int {
	status, err := strconv.Atoi(string(c.response[len("HTTP/1.1 "):][:3]))
	if err != nil {
		return 0
	}
	return status
}

// exchange sends the request, and reads the response.
func (c *tcpClient) exchange(tb testing.TB) {
	tb.Helper()
	c.send(tb, c.request)
}

// send sends a request, and reads the response.
func (c *tcpClient) send(tb testing.TB, request []byte) {
	tb.Helper()
	if _, err := c.Write(request); err != nil {
		tb.Fatal(err)
	}
	for read := 0; ; {
		more, err := c.Read(c.response[read:])
		if err != nil {
			tb.Fatal(err)
		}
		read += more
		if end := lengthOf(c.response[:read]); end >= 0 && read >= end {
			return
		}
	}
}

// lengthOf returns the length of the response at the beginning of text, -1 if its header is incomplete.
func lengthOf(text []byte) int {
	head := bytes.Index(text, []byte("\r\n\r\n"))
	if head < 0 {
		return -1
	}
	length := head + len("\r\n\r\n")
	const field = "\r\nContent-Length: "
	if at := bytes.Index(text[:head], []byte(field)); at >= 0 {
		body := 0
		for _, digit := range text[at+len(field):] {
			if digit < '0' || digit > '9' {
				break
			}
			body = 10*body + int(digit-'0')
		}
		length += body
	}
	return length
}

// form is a form of a request that the caches serve.
type form struct {
	name, target string
	lines        []string
	status       int
}

// forms returns the forms of requests that the caches serve. page is the URL of a stored response.
func forms(page string) []form {
	const name = "/urn:ietf:rfc:2648"
	client := "X-Forwarded-For: 192.0.2.7"
	return []form{
		{"canonical", name, nil, http.StatusFound},
		{"to-be-normalized", "/URN:ISBN:0-395-36341-1", nil, http.StatusFound},
		{"THTTP", "/uri-res/N2L?urn:ietf:rfc:2648", nil, http.StatusSeeOther},
		{"proxy", "urn:ietf:rfc:2648", nil, http.StatusFound},
		{"page", page, nil, http.StatusOK},
		{"forwarded-for", name, []string{client}, http.StatusFound},
		{"forwarded-for-and-others", name, []string{
			client + ", 127.0.0.2", "X-Forwarded-Proto: https", "X-Forwarded-Host: a.example",
			"X-Real-IP: 192.0.2.7",
		}, http.StatusFound},
		{"forwarded", name, []string{"Forwarded: for=192.0.2.7;proto=https"}, http.StatusFound},
		{"page-forwarded-for", page, []string{client}, http.StatusOK},
		{"if-none-match", page, []string{`If-None-Match: "v1"`}, http.StatusNotModified},
		{"if-none-match-of-many", page, []string{`If-None-Match: "v0", W/"v1"`}, http.StatusNotModified},
		{
			"if-modified-since", page,
			[]string{"If-Modified-Since: Fri, 31 Dec 1999 00:00:00 GMT"},
			http.StatusNotModified,
		},
		{"range", page, []string{"Range: bytes=10-99"}, http.StatusPartialContent},
		{"range-of-the-end", page, []string{"Range: bytes=-10"}, http.StatusPartialContent},
		{"if-range", page, []string{"Range: bytes=10-", `If-Range: "v1"`}, http.StatusPartialContent},
		{"if-range-not", page, []string{"Range: bytes=10-", `If-Range: "v0"`}, http.StatusOK},
		{"range-not-satisfiable", page, []string{"Range: bytes=5000-"}, http.StatusRequestedRangeNotSatisfiable},
		{"parameter", "/?uri=urn:ietf:rfc:2648", nil, http.StatusFound},
		{"parameter-encoded", "/?uri=urn%3Aietf%3Arfc%3A2648", nil, http.StatusFound},
		{"q-component", name + "?=a=b", nil, http.StatusFound},
		{"r-component", name + "?+r", nil, http.StatusFound},
		{"r-and-q-component", name + "?+r?=a=b", nil, http.StatusFound},
	}
}

// newPage serves a cacheable page of 1 KiB, and returns its URL.
func newPage(tb testing.TB) string {
	tb.Helper()
	body := bytes.Repeat([]byte("0123456789abcdef"), 64)
	origin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "max-age=3600")
		w.Header().Set("Etag", `"v1"`)
		w.Header().Set("Last-Modified", "Fri, 31 Dec 1999 00:00:00 GMT")
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write(body)
	}))
	tb.Cleanup(origin.Close)
	return origin.URL + "/page"
}

// A cache hit does not allocate, in any spelling of the request.
func TestCachedAllocatesNothing(t *testing.T) {
	limit := 0.0
	if raceDetector { // a sync.Pool drops some items on purpose
		limit = 16
	}
	for _, f := range forms(newPage(t)) {
		client := newCachedClient(t, f.status, f.target, f.lines...)
		if n := testing.AllocsPerRun(2000, func() { client.exchange(t) }); n > limit {
			t.Errorf("%s: %v allocations", f.name, n)
		}
	}
}

// BenchmarkCached measures a cache hit on one connection, with client and server in this process.
func BenchmarkCached(b *testing.B) {
	for _, f := range forms(newPage(b)) {
		b.Run(f.name, func(b *testing.B) {
			client := newCachedClient(b, f.status, f.target, f.lines...)
			b.ReportAllocs()
			for b.Loop() {
				client.exchange(b)
			}
		})
	}
}
