package http1_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
)

// A rejected request gets a response, after those of earlier requests, and its client can read it (RFC 9112
// section 9.6).
func TestRefusal(t *testing.T) {
	tests := []struct {
		name, request string
		status        int
	}{
		{"no request line", "hello\r\n\r\n", 400},
		{"a third empty line: RFC 9112 section 2.2", "\r\n\r\n\r\n" + get, 400},
		{"no Host: RFC 9112 section 3.2", "GET / HTTP/1.1\r\n\r\n", 400},
		{"a folded line: RFC 9112 section 5.2", "GET / HTTP/1.1\r\nHost: h\r\nA: b\r\n c\r\n\r\n", 400},
		{
			"a length and chunks: RFC 9112 section 6.3",
			"POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
		},
		{"a target that is too long", "GET /" + strings.Repeat("a", 20_000) + " HTTP/1.1\r\nHost: h\r\n\r\n", 414},
		{"such a target that has not ended", "GET /" + strings.Repeat("a", 20_000), 414},
		{"an expectation: RFC 9110 section 10.1.1", "GET / HTTP/1.1\r\nHost: h\r\nExpect: more\r\n\r\n", 417},
		{
			"a head that is too large",
			"GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("b", 20_000) + "\r\n\r\n", 431,
		},
		{"such a head that has not ended", "GET / HTTP/1.1\r\nHost: h\r\nA: " + strings.Repeat("b", 20_000), 431},
		{"such a head of short fields", "GET / HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("A: b\r\n", 4000), 431},
		{"a transfer coding", "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501},
		{"a version", "GET / HTTP/2.0\r\nHost: h\r\n\r\n", 505},
		{"the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, before := range []string{"", get, "POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na"} {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(answer)
					w.serve()
					w.send(before + test.request)
					got := w.came()
					if n := strings.Count(got, "HTTP/1.1 200 OK\r\n"); n != min(len(before), 1) {
						t.Errorf("%d responses before: %q", n, got)
					}
					last := got[strings.LastIndex(got, "HTTP/1.1 "):]
					if !strings.HasPrefix(last, fmt.Sprintf("HTTP/1.1 %d ", test.status)) ||
						!strings.Contains(last, "\r\n"+dateLine+"Connection: close\r\n\r\n") {
						t.Errorf("got %q", got)
					}
					if _, err := w.client.Write([]byte("more")); err != nil || !w.ended() {
						t.Errorf("the client cannot send more: %v", err)
					}
					time.Sleep(time.Second)
					w.finish()
					if !w.server.lingered || fmt.Sprint(w.refused) != fmt.Sprintf("[%d]", test.status) {
						t.Errorf("lingered: %t, refused: %v", w.server.lingered, w.refused)
					}
				})
			}
		})
	}
}

// The document of a rejected request uses its parsed parts, and is omitted for HEAD.
func TestRefusalDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(answer)
		var method, target string
		w.config.ErrorDocument = func(r *httpmessage.Incoming, _ int, reason string, _ bool) (int, string, []byte) {
			method, target = strings.Clone(r.Method), strings.Clone(r.Target)
			return 418, "text/html", []byte("<p>" + reason)
		}
		w.serve()
		w.send("HEAD /a HTTP/1.1\r\n\r\n")
		got := w.came()
		const begin = "HTTP/1.1 418 I'm a teapot\r\nContent-Type: text/html\r\nContent-Length: "
		if method != "HEAD" || target != "/a" || !strings.HasPrefix(got, begin) ||
			!strings.HasSuffix(got, "\r\n\r\n") {
			t.Errorf("%q %q: %q", method, target, got)
		}
		w.finish()
	})
}

// A header section that times out gets a response; a silent client gets none (RFC 9110 section 15.5.9).
func TestHeaderTimeout(t *testing.T) {
	tests := []struct {
		name   string
		sent   []string // at intervals of a second
		status string   // of the last response, "" for none
		after  time.Duration
	}{
		{"silence", nil, "", 10 * time.Second},
		{"empty lines", []string{"\r\n", "\r\n"}, "", 10 * time.Second},
		{"a third empty line", []string{"\r\n", "\r", "\n", "\r\n"}, "400", 3 * time.Second},
		{"two empty lines, and a request", []string{"\r", "\n\r\n", get}, "200", time.Minute},
		{"the beginning of a head", []string{"GET"}, "408", 10 * time.Second},
		{"byte by byte", strings.Split("GET / HT", ""), "408", 10 * time.Second},
		{"the beginning of a second head", []string{get, get + "GET"}, "408", 11 * time.Second},
		{"silence behind a request", []string{get}, "200", time.Minute},
		{"empty lines behind a request", []string{get, "\r\n", "", "\r\n"}, "200", time.Minute},
	}
	for _, test := range tests {
		for _, each := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, " each ", each), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					start := time.Now()
					w := newWorld(answer)
					w.server.each = each
					w.serve()
					for i, text := range test.sent {
						if i > 0 {
							time.Sleep(time.Second)
						}
						w.send(text)
					}
					w.served.Wait()
					if took := time.Since(start); took < test.after || took > test.after+2*time.Second {
						t.Errorf("it ended after %v", took)
					}
					got := w.came()
					last := ""
					if i := strings.LastIndex(got, "HTTP/1.1 "); i >= 0 {
						last = got[i+9 : i+12]
					}
					if last != test.status {
						t.Errorf("got %q", got)
					}
				})
			})
		}
	}
}

// Clear text on a TLS port is answered in clear text.
func TestRefusePlain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(answer)
		w.served.Go(func() { http1.NewServer(w.config).RejectPlainHTTP(w.server) })
		got := w.came()
		if want := "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n" + dateLine +
			"Connection: close\r\n\r\nplain HTTP"; got != want {
			t.Errorf("got %q", got)
		}
		w.finish()
		if !w.server.lingered {
			t.Error("it did not linger")
		}
	})
}
