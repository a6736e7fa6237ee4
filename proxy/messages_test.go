package proxy_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// Requests are forwarded with one canonical framing, whatever that of the client was (RFC 9112 section 6).
func TestFramingOfRequests(t *testing.T) {
	o := always(t, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
	s := start(t, nil)
	for _, tt := range []struct{ name, method, fields, body, framing, sent string }{
		{"a length", "POST", "Content-Length: 4\r\n", "body", "Content-Length: 4", "body"},
		{
			"chunks", "POST", "Transfer-Encoding: chunked\r\n", "2\r\nbo\r\n2;x=y\r\ndy\r\n0\r\n\r\n",
			"Transfer-Encoding: chunked", "body",
		},
		{"no content", "POST", "Content-Length: 0\r\n", "", "Content-Length: 0", ""},
		{"none", "POST", "", "", "Content-Length: 0", ""},
		{"GET", "GET", "", "", "", ""},
		{"GET with content", "GET", "Content-Length: 4\r\n", "body", "Content-Length: 4", "body"},
		{
			"trailers", "PUT", "Trailer: X-T\r\nTransfer-Encoding: chunked\r\n", "4\r\nbody\r\n0\r\nX-T: 1\r\n\r\n",
			"Transfer-Encoding: chunked", "body|X-T: 1",
		},
		{
			"a length that Connection names", "POST", "Connection: Content-Length\r\nContent-Length: 4\r\n", "body",
			"Content-Length: 4", "body",
		},
	} {
		answer := s.ask(t, tt.method+" http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n"+tt.fields+"\r\n"+tt.body)[0]
		if answer.StatusCode != 200 {
			t.Errorf("%s: %d", tt.name, answer.StatusCode)
			continue
		}
		framing := append(field(o.last(), "Content-Length"), field(o.last(), "Transfer-Encoding")...)
		_, want, _ := strings.Cut(tt.framing, ": ")
		if got := strings.Join(framing, ", "); got != want {
			t.Errorf("%s: the framing is %q", tt.name, got)
		}
		if got := dechunk(o.last()); got != tt.sent {
			t.Errorf("%s: the body is %q", tt.name, got)
		}
	}
}

// dechunk returns the content of a message, and its trailers after "|".
func dechunk(message string) string {
	head, body, _ := strings.Cut(message, "\r\n\r\n")
	if !strings.Contains(head, "chunked") {
		return body
	}
	content, in := "", bufio.NewReader(strings.NewReader(body))
	for {
		line, err := in.ReadString('\n')
		var n int
		if _, scanErr := fmt.Sscanf(line, "%x", &n); err != nil || scanErr != nil {
			return content + fmt.Sprint(err, scanErr)
		}
		if n == 0 {
			break
		}
		part := make([]byte, n+2)
		_, _ = io.ReadFull(in, part)
		content += string(part[:n])
	}
	rest, _ := io.ReadAll(in)
	if trailers := strings.TrimSuffix(string(rest), "\r\n"); trailers != "" {
		return content + "|" + strings.TrimSuffix(trailers, "\r\n")
	}
	return content
}

// The length that an origin states in a response without content (RFC 9110 section 8.6, RFC 9112 section 6.3).
func TestResponsesWithoutContent(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct{ name, method, answer, status, length, body string }{
		{"HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 42\r\n\r\n", "200 OK", "[42]", ""},
		{"HEAD of chunks", "HEAD", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "200 OK", "[]", ""},
		{
			"204 with a length", "GET", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 No Content",
			"[]", "",
		},
		{
			"HEAD, 204 with a length", "HEAD", "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", "204 No Content",
			"[]", "",
		},
		{
			"304 with a length", "GET", "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\nContent-Length: 5\r\n\r\n",
			"304 Not Modified", "[]", "",
		},
		{
			"bytes beyond the length", "GET",
			"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "200 OK",
			"[2]", "ok",
		},
		{"bytes behind HEAD", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil", "200 OK", "[4]", ""},
		{
			"205 with content", "GET", "HTTP/1.1 205 Reset Content\r\nContent-Length: 0\r\n\r\n", "205 Reset Content",
			"[0]", "",
		},
		{
			"a length twice", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok", "200 OK",
			"[2]", "ok",
		},
		{
			"a length that Connection names", "GET",
			"HTTP/1.1 200 OK\r\nConnection: Content-Length\r\nContent-Length: 2\r\n\r\nok", "200 OK", "[2]", "ok",
		},
		{"Pragma", "GET", "HTTP/1.1 200 OK\r\nPragma: no-cache\r\nContent-Length: 2\r\n\r\nok", "200 OK", "[2]", "ok"},
	} {
		o := always(t, tt.answer)
		answer, broken := s.bytes(t,
			tt.method+" http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\nIf-None-Match: \"a\"\r\n\r\n")
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		if line, _, _ := strings.Cut(head, "\r\n"); line != "HTTP/1.1 "+tt.status || broken || body != tt.body {
			t.Errorf("%s: %q, %q, broken off: %v", tt.name, line, body, broken)
		}
		if got := fmt.Sprint(field(answer, "Content-Length")); got != tt.length {
			t.Errorf("%s: Content-Length %s", tt.name, got)
		}
		if got := fmt.Sprint(field(answer, "Cache-Control")); got != "[]" { // RFC 9111 section 5.4
			t.Errorf("%s: Cache-Control %s", tt.name, got)
		}
	}
}

// A response that is incomplete at the origin is not completed for the client (RFC 9112 section 8).
func TestResponsesThatBreakOff(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		name, answer string
		broken       bool
	}{
		{"a length", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", true},
		{"chunks", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nhalf\r\n", true},
		{"a chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n8\r\nhalf", true},
		{
			"no last line", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nhalf\r\n0\r\n",
			true,
		},
		{
			"a chunk that is none",
			"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n4\r\nhalf\r\nxyz\r\n\r\n", true,
		},
		{"the end of the connection is that of the body", "HTTP/1.1 200 OK\r\n\r\nhalf", false},
	} {
		o := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
			if _, err := readMessage(in); err == nil {
				_, _ = io.WriteString(c, tt.answer)
			}
		})
		answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(answer)), nil)
		if err == nil {
			_, err = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		if broken := err != nil; broken != tt.broken {
			t.Errorf("%s: %v, %q", tt.name, err, answer)
		}
	}
}

// Trailers are forwarded if the framing supports them (RFC 9110 section 6.5).
func TestTrailersOfResponses(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct{ name, version, trailer, want string }{
		{"announced", "1.1", "Trailer: X-T\r\n", "X-T: 1\r\n"},
		{"not announced", "1.1", "", "X-T: 1\r\n"},
		{"HTTP/1.0", "1.0", "Trailer: X-T\r\n", ""},
	} {
		o := always(t, "HTTP/1.1 200 OK\r\n"+tt.trailer+
			"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-T: 1\r\nContent-Length: 9\r\n\r\n")
		answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/"+tt.version+
			"\r\nHost: a\r\nConnection: close, TE\r\nTE: trailers\r\n\r\n")
		head, body, _ := strings.Cut(answer, "\r\n\r\n")
		want := "2\r\nok\r\n0\r\n" + tt.want + "\r\n"
		if tt.version == "1.0" {
			want = "ok"
		}
		if body != want || tt.version == "1.0" && strings.Contains(head, "Trailer") {
			t.Errorf("%s: %q, %q", tt.name, head, body)
		}
	}
}

// Interim responses are forwarded with their own fields, but not to HTTP/1.0 (RFC 9110 section 15.2).
func TestInterimResponses(t *testing.T) {
	o := always(t, "HTTP/1.1 102 Processing\r\nX-Early: 0\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n"+
		"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\nHTTP/1.1 200 "+
		"OK\r\nContent-Length: 2\r\n\r\nok")
	s := start(t, nil)
	c := s.dial(t)
	c.send(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n\r\n")
	c.expect(t, "HTTP/1.1 102 Processing\r\nX-Early: 0\r\nVia: 1.1 urnd\r\n\r\n")
	c.expect(t, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nVia: 1.1 urnd\r\n\r\n")
	head := c.head(t)
	if !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") || strings.Contains(head, "Link") ||
		strings.Contains(head, "X-Early") {
		t.Errorf("%q", head)
	}
	c.expect(t, "ok")
	answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/1.0\r\nHost: a\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200 OK\r\n") || strings.Contains(answer, "chunked") ||
		strings.Contains(answer, " 103 ") || !strings.HasSuffix(answer, "\r\n\r\nok") {
		t.Errorf("HTTP/1.0: %q", answer)
	}
}

// The reason phrase is that of the origin, or if it is empty that of RFC 9110 (RFC 9112 section 4).
func TestReasons(t *testing.T) {
	s := start(t, nil)
	for _, line := range []string{"599 Whatever", "200 Fein", "404 n\xe4", "302 \xe6\x9c\xac", "200 OK"} {
		o := always(t, "HTTP/1.1 "+line+"\r\nContent-Length: 0\r\n\r\n")
		answer, _ := s.bytes(t, "GET http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
		if got, _, _ := strings.Cut(answer, "\r\n"); got != "HTTP/1.1 "+line {
			t.Errorf("%q is sent as %q", line, got)
		}
	}
	odd, plain := always(t, "HTTP/1.1 200 Odd\r\nContent-Length: 0\r\n\r\n"),
		always(t, "HTTP/1.1 200 OK\r\nContent-Length: 23\r\n\r\nHTTP/1.1 200 OK\r\nA: b\r\n")
	c := s.dial(t) // it is not reused for the next response, and a body has none
	for range 3 {
		c.send(t, "GET http://"+odd.addr+"/ HTTP/1.1\r\nHost: a\r\n\r\nGET http://"+plain.addr+
			"/ HTTP/1.1\r\nHost: a\r\n\r\n")
		if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 Odd\r\n") {
			t.Errorf("%q", head)
		}
		if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") {
			t.Errorf("%q", head)
		}
		c.expect(t, "HTTP/1.1 200 OK\r\nA: b\r\n")
	}
}

// A client that expects 100 gets that of the origin, or its final response; then no body is read (RFC 9110
// section 10.1.1).
func TestExpect(t *testing.T) {
	const request = "POST http://%s/ HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n"
	var read atomic.Int32
	o := listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
		head, err := readSection(in)
		if err != nil {
			return
		}
		p.record(head)
		if strings.HasPrefix(head, "POST /no ") {
			_, _ = io.WriteString(c,
				"HTTP/1.1 417 Expectation Failed\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno")
			n, _ := io.Copy(io.Discard, in)
			read.Add(int32(n))
			return
		}
		_, _ = io.WriteString(c, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
		body := make([]byte, 4)
		_, _ = io.ReadFull(in, body)
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 4\r\n\r\n%s", body)
	})
	s := start(t, nil)
	c := s.dial(t)
	c.send(t, fmt.Sprintf(request, o.addr))
	c.expect(t, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nVia: 1.1 urnd\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n")
	c.send(t, "body")
	if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") ||
		strings.Contains(head, "Connection: close") {
		t.Errorf("%q", head)
	}
	c.expect(t, "body")
	if got := field(o.last(), "Expect"); fmt.Sprint(got) != "[100-continue]" {
		t.Errorf("Expect: %q", got)
	}
	answer, broken := s.bytes(t, strings.Replace(fmt.Sprintf(request, o.addr), "/ HTTP", "/no HTTP", 1))
	if !strings.HasPrefix(answer, "HTTP/1.1 417 ") || broken || !strings.HasSuffix(answer, "\r\n\r\nno") ||
		!strings.Contains(answer,
			"\r\nConnection: close\r\n") {
		t.Errorf("%q, %v", answer, broken)
	}
	if read.Load() != 0 {
		t.Errorf("%d bytes were sent to a client that refuses them", read.Load())
	}
}

// A response may come before the end of the request body, and then closes the connection, whether the client
// goes on sending or not (RFC 9112 section 9.5).
func TestEarlyAnswers(t *testing.T) {
	o := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		if _, err := readSection(in); err == nil {
			_, _ = io.WriteString(c,
				"HTTP/1.1 413 Too Large\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
			_, _ = io.Copy(io.Discard, in)
		}
	})
	s := startOn(t, nil, nil)
	for _, framing := range []string{
		"Content-Length: 100000\r\n\r\nhalf",
		"Transfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n",
	} {
		c := s.dial(t)
		began := time.Now()
		c.send(t, "POST http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n"+framing)
		if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 413 Too Large\r\n") ||
			!strings.Contains(head, "\r\nConnection: close\r\n") {
			t.Errorf("%q", head)
		}
		c.expect(t, "no")
		if took := time.Since(began); took >= bodyTimeout {
			t.Errorf("the answer came after %v", took)
		}
	}
}

// An origin that responds while it reads gets the complete body, however early its response starts.
func TestBothWaysAtOnce(t *testing.T) {
	const parts, size = 64, 4 << 10
	o := listenRaw(t, func(_ *peer, c net.Conn, in *bufio.Reader) {
		if _, err := readSection(in); err != nil {
			return
		}
		_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n", parts*size)
		_, _ = io.CopyN(c, in, parts*size)
	})
	s := start(t, nil)
	c := s.dial(t)
	c.send(t, fmt.Sprintf("POST http://%s/ HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n", o.addr, parts*size))
	for i := range parts {
		part := strings.Repeat(string(rune('a'+i%26)), size)
		c.send(t, part)
		if i == 0 {
			if head := c.head(t); !strings.HasPrefix(head, "HTTP/1.1 200 OK\r\n") {
				t.Fatalf("%q", head)
			}
		}
		c.expect(t, part)
	}
}

// If an idle connection was closed, a GET is sent at most twice, and a POST once (RFC 9112 section 9.3.1).
func TestIdleConnectionsThatClose(t *testing.T) {
	s := start(t, nil)
	for _, tt := range []struct {
		method       string
		status, sent int
	}{{"GET", 200, 3}, {"POST", 502, 2}, {"HEAD", 200, 3}} {
		o := listenRaw(t, func(p *peer, c net.Conn, in *bufio.Reader) {
			request, err := readMessage(in)
			if err != nil {
				return
			}
			p.record(request)
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
			if request, err = readMessage(in); err == nil {
				p.record(request)
			}
		})
		first := s.get(t, "http://"+o.addr+"/").StatusCode
		second := s.ask(t, tt.method+" http://"+o.addr+"/ HTTP/1.1\r\nHost: a\r\n\r\n")[0].StatusCode
		if sent := len(o.requests()); first != 200 || second != tt.status || sent != tt.sent {
			t.Errorf("%s: %d, %d after %d requests", tt.method, first, second, sent)
		}
	}
}
