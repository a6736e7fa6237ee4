package http1_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

const maxHeader = 8 << 10

// parsed formats a parsed request, the status of its error, or "incomplete".
func parsed(text string) string {
	var r httpmessage.Incoming
	n, err := http1.ParseRequest([]byte(text), &r, maxHeader)
	var failed *http1.Error
	switch {
	case errors.As(err, &failed):
		return fmt.Sprint(failed.Status)
	case err != nil:
		return err.Error()
	case n == 0:
		return "incomplete"
	}
	return describe(&r) + rest(text[n:])
}

func describe(r *httpmessage.Incoming) string {
	text := fmt.Sprintf("%s %s %s host=%s", r.Method, r.Target, r.Proto(), r.Host)
	switch {
	case r.ContentLength < 0:
		text += " chunked"
	case r.ContentLength > 0:
		text += fmt.Sprint(" length=", r.ContentLength)
	}
	if r.Close {
		text += " closes"
	}
	if http1.ExpectsContinue(r) {
		text += " expects"
	}
	if r.Trailer != nil && len(r.Trailer.Names) > 0 {
		text += fmt.Sprint(" trailer=", strings.Join(r.Trailer.Names, "+"))
	}
	return text
}

func rest(text string) string {
	if text == "" {
		return ""
	}
	return fmt.Sprintf(" rest=%q", text)
}

// TestRequests parses each request of the table, in one piece and byte by byte.
func TestRequests(t *testing.T) {
	for v := range vectors(t, "testdata/requests.txt") {
		if got := parsed(v.text); got != v.want {
			t.Errorf("%s: section %s, %q: %s, want %s", v.where, v.section, v.text, got, v.want)
		}
		for i := range len(v.text) {
			got := parsed(v.text[:i])
			if got == "incomplete" || got == v.want {
				continue
			}
			complete, _, ok := strings.Cut(v.want, " rest=")
			if !ok || got != complete && !strings.HasPrefix(got, complete+" rest=") {
				t.Errorf("%s: %q: %s, and as a whole %s", v.where, v.text[:i], got, v.want)
			}
		}
	}
}

// TestRequestFields checks that fields keep order and spelling, except for those that Incoming represents
// otherwise.
func TestRequestFields(t *testing.T) {
	text := "POST /a HTTP/1.1\r\nx-B: 1\r\nhOST: a\r\nTransfer-Encoding: chunked\r\nX-b:\t2 \r\nTRAILER: C, d\r\n" +
		"Connection: close, TE\r\nE:\r\n\r\n"
	var r httpmessage.Incoming
	n, err := http1.ParseRequest([]byte(text), &r, maxHeader)
	want := httpmessage.NewFields("x-B", "1", "X-b", "2", "Connection", "close, TE", "E", "")
	if err != nil || n != len(text) || !slices.Equal(r.Fields, want) {
		t.Errorf("%d, %v: %q", n, err, r.Fields)
	}
	if names := r.Trailer.Names; !slices.Equal(names, []string{"C", "D"}) {
		t.Errorf("trailer: %q", names)
	}
}

// TestRequestsOneAfterAnother checks that an Incoming can be reused, and that a clone outlives the buffer.
func TestRequestsOneAfterAnother(t *testing.T) {
	buffer := []byte("GET /a HTTP/1.1\r\nHost: a\r\nX: y\r\n\r\nGET /b HTTP/1.0\r\n\r\n")
	var r httpmessage.Incoming
	n, err := http1.ParseRequest(buffer, &r, maxHeader)
	if err != nil || describe(&r) != "GET /a HTTP/1.1 host=a" || len(r.Fields) != 1 {
		t.Fatalf("%v: %s", err, describe(&r))
	}
	m, err := http1.ParseRequest(buffer[n:], &r, maxHeader)
	if err != nil || n+m != len(buffer) || describe(&r) != "GET /b HTTP/1.0 host= closes" || len(r.Fields) != 0 {
		t.Fatalf("%v: %s", err, describe(&r))
	}
	r.Clone()
	clear(buffer)
	if got := describe(&r); got != "GET /b HTTP/1.0 host= closes" {
		t.Errorf("cloned: %s", got)
	}
}

// TestRequestLimits checks the documented limits to the byte. An error leaves the method and the target in the
// Incoming.
func TestRequestLimits(t *testing.T) {
	target := func(n int) string { return "/" + strings.Repeat("a", n-1) }
	fields := func(n int) string { // a head of n bytes
		const before, after = "GET / HTTP/1.1\r\nHost: a\r\nX: ", "\r\n\r\n"
		return before + strings.Repeat("b", n-len(before)-len(after)) + after
	}
	many := func(n int) string { return "GET / HTTP/1.0\r\n" + strings.Repeat("a:\r\n", n) + "\r\n" }
	const line, host = " HTTP/1.1\r\n", "Host: a\r\n\r\n"
	for name, tt := range map[string]struct {
		text string
		want int // 0 for no error
	}{
		"the longest target":       {"GET " + target(maxHeader-len("GET "+line+"\r\n")) + " HTTP/1.0\r\n\r\n", 0},
		"a longer target":          {"GET " + target(maxHeader) + line + host, 414},
		"the beginning of one":     {"GET " + target(maxHeader-len("GET ")), 414},
		"a target that never ends": {"GET " + target(10*maxHeader), 414},
		"the largest head":         {fields(maxHeader), 0},
		"a larger head":            {fields(maxHeader + 1), 431},
		"a head that never ends":   {fields(2 * maxHeader)[:2*maxHeader-3], 431},
		"a method that never ends": {strings.Repeat("A", maxHeader), 431},
		"as many fields as memory": {many(maxHeader / 32), 0},
		"more fields":              {many(maxHeader/32 + 1), 431},
	} {
		var r httpmessage.Incoming
		n, err := http1.ParseRequest([]byte(tt.text), &r, maxHeader)
		var failed *http1.Error
		status := 0
		if errors.As(err, &failed) {
			status = failed.Status
		}
		if status != tt.want || tt.want == 0 && n != len(tt.text) {
			t.Errorf("%s: %d, %v", name, n, err)
		}
		if tt.want == 414 && (r.Method != "GET" || len(r.Target) < maxHeader-len("GET ")) {
			t.Errorf("%s: %q %.10q", name, r.Method, r.Target)
		}
	}
}

// TestRefusedTargets checks that the error for a target with a space or a control character retains the whole
// target.
func TestRefusedTargets(t *testing.T) {
	for text, want := range map[string]string{
		"GET /no thing:x HTTP/1.1\r\nHost: a\r\n\r\n": "/no thing:x",
		"GET /a\x7fb HTTP/1.1\r\nHost: a\r\n\r\n":     "/a\x7fb",
		"GET /a\tb HTTP/1.0\r\n\r\n":                  "/a\tb",
		"GET /a b\r\nHost: a HTTP/1.1\r\n\r\n":        "/a",
		"GET /a HTTP/1.1\nX: y HTTP/1.1\r\n\r\n":      "/a",
		"GET  HTTP/1.1\r\nHost: a\r\n\r\n":            "",
		"GET /a HTTP/2.0\r\nHost: a\r\n\r\n":          "/a",
		"GET /a HTTP/1.1 HTTP/1.1\r\nHost: a\r\n\r\n": "/a HTTP/1.1",
	} {
		var r httpmessage.Incoming
		if _, err := http1.ParseRequest([]byte(text), &r, maxHeader); err == nil || r.Target != want {
			t.Errorf("%q: %q, %v", text, r.Target, err)
		}
	}
}

const (
	browser = "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: resolver.example\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0\r\n" +
		"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8\r\n" +
		"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br, zstd\r\nConnection: keep-alive\r\n" +
		"Upgrade-Insecure-Requests: 1\r\nSec-Fetch-Dest: document\r\nSec-Fetch-Mode: navigate\r\n" +
		"Sec-Fetch-Site: none\r\nSec-Fetch-User: ?1\r\nPriority: u=0, i\r\n\r\n"
	curl = "GET http://origin.example/path?query HTTP/1.1\r\nHost: origin.example\r\n" +
		"User-Agent: curl/8.14.1\r\nAccept: */*\r\n\r\n"
	six = "GET /urn:ietf:rfc:2648 HTTP/1.1\r\nHost: resolver.example\r\n" +
		"User-Agent: Mozilla/5.0 (X11; Linux x86_64)\r\nAccept: text/html,*/*;q=0.8\r\n" +
		"Accept-Language: en-US,en;q=0.5\r\nAccept-Encoding: gzip, deflate, br\r\nConnection: keep-alive\r\n\r\n"
)

func TestRequestAllocations(t *testing.T) {
	var r httpmessage.Incoming
	for _, text := range []string{browser, curl, six} {
		b := []byte(text)
		if n := testing.AllocsPerRun(100, func() {
			if n, err := http1.ParseRequest(b, &r, maxHeader); err != nil || n != len(b) {
				t.Error(n, err)
			}
			if n, err := http1.ParseRequest(b[:len(b)-1], &r, maxHeader); err != nil || n != 0 {
				t.Error(n, err)
			}
		}); n > 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, tt := range []struct{ name, text string }{{"browser", browser}, {"curl", curl}, {"six", six}} {
		b.Run(tt.name, func(b *testing.B) {
			head := []byte(tt.text)
			var r httpmessage.Incoming
			b.ReportAllocs()
			b.SetBytes(int64(len(head)))
			for b.Loop() {
				if n, err := http1.ParseRequest(head, &r, maxHeader); n == 0 || err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("incomplete", func(b *testing.B) {
		head := []byte("GET / HTTP/1.1\r\n" + strings.Repeat("X: "+strings.Repeat("y", 40)+"\r\n", 100))
		var r httpmessage.Incoming
		b.SetBytes(int64(len(head)))
		for b.Loop() {
			if n, err := http1.ParseRequest(head, &r, maxHeader); n != 0 || err != nil {
				b.Fatal(err)
			}
		}
	})
}
