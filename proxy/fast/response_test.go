package fast_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/fast"
)

// sink is a connection that remembers what is written.
type sink struct {
	bytes.Buffer
	isAborted, isEnding bool
}

func (s *sink) WriteBuffers(buffers net.Buffers) (int64, error) { return buffers.WriteTo(&s.Buffer) }
func (s *sink) Abort()                                          { s.isAborted = true }
func (s *sink) IsEnding() bool                                  { return s.isEnding }
func (s *sink) Drain() bool                                     { return true }
func (s *sink) SetReadDeadline(time.Time) error                 { return nil }

// replies are handlers, by what they do.
func replies(t *testing.T) map[string]http.HandlerFunc {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, bytes.Repeat([]byte("f"), 100_000), 0o600); err != nil {
		t.Fatal(err)
	}
	set := func(w http.ResponseWriter, pairs ...string) {
		for i := 0; i < len(pairs); i += 2 {
			w.Header()[pairs[i]] = append(w.Header()[pairs[i]], pairs[i+1])
		}
	}
	text := func(w http.ResponseWriter, body string) { _, _ = io.WriteString(w, body) }
	flush := func(w http.ResponseWriter) {
		if err := http.NewResponseController(w).Flush(); err != nil {
			t.Errorf("flush: %v", err)
		}
	}
	return map[string]http.HandlerFunc{
		"nothing":         func(http.ResponseWriter, *http.Request) {},
		"text":            func(w http.ResponseWriter, _ *http.Request) { text(w, "<html>hello") },
		"two writes":      func(w http.ResponseWriter, _ *http.Request) { text(w, "a"); text(w, "b") },
		"2048 octets":     func(w http.ResponseWriter, _ *http.Request) { text(w, strings.Repeat("x", 2048)) },
		"a coded body":    func(w http.ResponseWriter, _ *http.Request) { set(w, "Content-Encoding", "gzip"); text(w, "xyz") },
		"an untyped body": func(w http.ResponseWriter, _ *http.Request) { w.Header()["Content-Type"] = nil; text(w, "<html>") },
		"304": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Type", "a/b", "Content-Length", "3", "Etag", `"x"`)
			w.WriteHeader(304)
		},
		"204": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "0", "Allow", "GET")
			w.WriteHeader(204)
		},
		"304 with a body": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(304); text(w, "no") },
		"a length":        func(w http.ResponseWriter, _ *http.Request) { set(w, "Content-Length", "5"); text(w, "12345") },
		"a length of 0":   func(w http.ResponseWriter, _ *http.Request) { set(w, "Content-Length", "0"); w.WriteHeader(404) },
		"more than that": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "5")
			text(w, "123")
			text(w, "456")
		},
		"fields": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "X-B", "2", "X-A", "1", "X-A", " 3 ", "Date", "never", "x-c", "4", "Set-Cookie", "a=b")
			text(w, "x")
		},
		"line ends":          func(w http.ResponseWriter, _ *http.Request) { set(w, "X-A", "1\r\nX-B: 2", "X-C", "\nx"); text(w, "x") },
		"a name with spaces": func(w http.ResponseWriter, _ *http.Request) { set(w, "X A", "1", "X:B", "2"); text(w, "x") },
		"an unknown status":  func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(299); text(w, "x") },
		"a second status":    func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(404); w.WriteHeader(200); text(w, "x") },
		"a stream":           func(w http.ResponseWriter, _ *http.Request) { text(w, "one"); flush(w); text(w, "two"); flush(w) },
		"nothing in a stream": func(w http.ResponseWriter, _ *http.Request) {
			text(w, "one")
			flush(w)
			text(w, "")
			text(w, "two")
		},
		"a flushed head": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200); flush(w); text(w, "two") },
		"trailers": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Trailer", "X-Sum")
			text(w, "one")
			set(w, "X-Sum", "1", http.TrailerPrefix+"X-More", "2")
			flush(w)
		},
		"announced trailers": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Trailer", "X-Sum")
			text(w, "one")
			set(w, "X-Sum", "1")
		},
		"early hints": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Link", "</a>", "Content-Length", "1")
			w.WriteHeader(103)
			clear(w.Header())
			text(w, "one")
		},
		"close": func(w http.ResponseWriter, _ *http.Request) { set(w, "Connection", "close"); text(w, "x") },
		"a file": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "100000", "Content-Type", "a/b")
			f, err := os.Open(file)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			_, _ = io.Copy(w, io.LimitReader(f, 100_000))
		},
		"a megabyte": func(w http.ResponseWriter, _ *http.Request) {
			set(w, "Content-Length", "1000000")
			for range 10 {
				text(w, strings.Repeat("m", 100_000))
			}
		},
		"a long stream": func(w http.ResponseWriter, _ *http.Request) {
			for i := range 100 {
				text(w, strings.Repeat(fmt.Sprint(i), 100))
			}
		},
	}
}

// TestResponseIsThatOfNetHTTP compares what both write.
func TestResponseIsThatOfNetHTTP(t *testing.T) {
	t.Parallel()
	for name, handler := range replies(t) {
		for _, method := range [...]string{http.MethodGet, http.MethodHead} {
			t.Run(name+", "+method, func(t *testing.T) {
				t.Parallel()
				server := httptest.NewUnstartedServer(handler)
				server.Config.ErrorLog = log.New(io.Discard, "", 0)
				server.Start()
				defer server.Close()
				expected, closes := byNetHTTP(t, server.Listener.Addr().String(), method)
				var conn sink
				var r fast.Response
				r.Reset(&conn, &fast.Request{Method: method}, func() []byte { return []byte("now") })
				handler(&r, httptest.NewRequest(method, "/", http.NoBody))
				persists := r.Finish()
				if got := dechunked(t, conn.String(), method); got != expected {
					t.Errorf("got\n%.1000q\nnet/http sends\n%.1000q", got, expected)
				}
				if persists == closes {
					t.Errorf("the connection persists: %t, that of net/http closes: %t", persists, closes)
				}
			})
		}
	}
}

var dates = regexp.MustCompile("Date: [A-Z][^\r]*GMT")

// byNetHTTP returns what net/http sends, and whether it closes the connection.
func byNetHTTP(t *testing.T, address, method string) (sent string, closes bool) {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "%s / HTTP/1.1\r\nHost: a\r\n\r\n", method)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	octets, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	text := string(octets)
	again, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	request := fmt.Sprintf("%s / HTTP/1.1\r\nHost: a\r\n\r\n", method)
	fmt.Fprint(again, request+request)
	if err := again.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	twice, err := io.ReadAll(again)
	if err != nil {
		t.Fatal(err)
	}
	return dechunked(t, dates.ReplaceAllString(text, "Date: now"), method), len(twice) == len(octets)
}

// dechunked is a response with its chunks as one, since their sizes are a matter of buffers.
func dechunked(t *testing.T, text, method string) string {
	t.Helper()
	at := strings.LastIndex(text[:min(len(text), 2000)], "HTTP/1.1 ")
	if at < 0 {
		return text
	}
	response, err := http.ReadResponse(bufio.NewReader(strings.NewReader(text[at:])), &http.Request{Method: method})
	if err != nil || len(response.TransferEncoding) == 0 || method == http.MethodHead {
		return text
	}
	body, err := io.ReadAll(response.Body)
	head, _, _ := strings.Cut(text, "\r\n\r\n")
	if at > 0 {
		_, rest, _ := strings.Cut(text[at:], "\r\n\r\n")
		head = strings.TrimSuffix(text, rest)
	}
	return fmt.Sprint(head, "|", string(body), "|", response.Trailer, err)
}

func TestResponseIsAborted(t *testing.T) {
	t.Parallel()
	var conn sink
	var r fast.Response
	r.Reset(&conn, &fast.Request{Method: http.MethodGet}, func() []byte { return []byte("now") })
	r.Header()["Content-Length"] = []string{"10"}
	_, _ = io.WriteString(&r, "12345")
	if r.Finish() {
		t.Error("a response that is too short ends like a complete one")
	}
	if err := r.SetWriteDeadline(time.Unix(1, 0)); err != nil || !conn.isAborted {
		t.Errorf("the connection is not aborted: %v", err)
	}
	if _, err := io.WriteString(&r, "x"); err == nil {
		t.Error("an aborted response goes on")
	}
}

func TestResponseOfAServerThatEnds(t *testing.T) {
	t.Parallel()
	conn := sink{isEnding: true}
	var r fast.Response
	r.Reset(&conn, &fast.Request{Method: http.MethodGet}, func() []byte { return []byte("now") })
	r.SetReason(http.StatusOK, "Fine")
	_, _ = io.WriteString(&r, "12345")
	persists := r.Finish()
	if text := conn.String(); persists || !strings.HasPrefix(text, "HTTP/1.1 200 Fine\r\n") || !strings.Contains(text, "\r\nConnection: close\r\n") {
		t.Errorf("got %q, persists: %t", text, persists)
	}
}
