package http1_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/urnd/urnd/internal/httpmessage"
)

// respond returns the output for a request, by Begin and by Continue, which must be equal, and whether the
// connection closes.
func respond(t *testing.T, request string, write func(w httpmessage.ResponseWriter)) (response string, ended bool) {
	t.Helper()
	var got [2]string
	for i := range got {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
				if i == 0 {
					write(w)
					return nil
				}
				r.Clone()
				return later(func() { write(w) })
			})
			w.serve()
			w.send(request)
			got[i] = w.came()
			ended = w.ended()
			w.finish()
			if len(w.panicked) > 0 {
				t.Errorf("panicked: %v", w.panicked)
			}
		})
	}
	if got[0] != got[1] {
		t.Errorf("Begin sent %q, Continue %q", got[0], got[1])
	}
	return got[0], ended
}

const (
	get     = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	head    = "HEAD / HTTP/1.1\r\nHost: h\r\n\r\n"
	old     = "GET / HTTP/1.0\r\n\r\n"
	oldKept = "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"
	closes  = "GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
)

// fieldsOf returns fields.
var fieldsOf = httpmessage.NewFields

func write(w io.Writer, content string) { _, _ = io.WriteString(w, content) }

func TestResponse(t *testing.T) {
	const large = 3 << 10
	tests := []struct {
		name    string
		request string
		write   func(w httpmessage.ResponseWriter)
		want    string
		ended   bool
	}{
		{
			"nothing", get, func(httpmessage.ResponseWriter) {},
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 0\r\n\r\n", false,
		},
		{
			"little content", get, func(w httpmessage.ResponseWriter) { write(w, "a"); write(w, "b") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 2\r\n\r\nab", false,
		},
		{
			"more content: RFC 9112 section 7.1", get,
			func(w httpmessage.ResponseWriter) { write(w, strings.Repeat("a", large)); write(w, "b") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Transfer-Encoding: chunked\r\n\r\nc00\r\n" +
				strings.Repeat("a", large) +
				"\r\n1\r\nb\r\n0\r\n\r\n", false,
		},
		{
			"little content, then more", get,
			func(w httpmessage.ResponseWriter) { write(w, "b"); write(w, strings.Repeat("a", large)) },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Transfer-Encoding: chunked\r\n\r\n" +
				"1\r\nb\r\nc00\r\n" + strings.Repeat("a", large) +
				"\r\n0\r\n\r\n", false,
		},
		{
			"flushed", get, func(w httpmessage.ResponseWriter) {
				write(w, "a")
				_ = w.Flush()
				write(w, "")
				write(w, "b")
			},
			"HTTP/1.1 200 OK\r\n" + dateLine + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n1\r\nb\r\n0\r\n\r\n", false,
		},
		{"length", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(201, "", fieldsOf("X", "y", "content-length", "3", "Z", "z"))
			write(w, "ab")
			write(w, "c")
		}, "HTTP/1.1 201 Created\r\nX: y\r\ncontent-length: 3\r\nZ: z\r\n" + dateLine + "\r\nabc", false},
		{"two lengths", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "3", "Content-Length", "4"))
			write(w, "abc")
		}, "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n" + dateLine + "\r\nabc", false},
		{"an invalid length", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "+3"))
			write(w, "abc")
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 3\r\n\r\nabc", false},
		{"large with a length", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "100000"))
			write(w, strings.Repeat("a", 100_000))
		}, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n" + dateLine + "\r\n" + strings.Repeat("a", 100_000), false},
		{"buffers", get, func(w httpmessage.ResponseWriter) {
			_, _ = w.WriteBuffers([][]byte{[]byte("ab"), nil, []byte("c")})
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 3\r\n\r\nabc", false},
		{"large buffers", get, func(w httpmessage.ResponseWriter) {
			a := []byte(strings.Repeat("a", 10_000))
			_, _ = w.WriteBuffers([][]byte{a, a})
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Transfer-Encoding: chunked\r\n\r\n4e20\r\n" +
			strings.Repeat("a", 20_000) +
			"\r\n0\r\n\r\n", false},
		{
			"read from", get, func(w httpmessage.ResponseWriter) { _, _ = w.ReadFrom(strings.NewReader("abc")) },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 3\r\n\r\nabc", false,
		},
		{
			"the client closes: RFC 9112 section 9.6", closes, func(w httpmessage.ResponseWriter) { write(w, "a") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\nConnection: close\r\n\r\na", true,
		},
		{"the handler closes", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Connection", "X, Close", "Content-Length", "0"))
		}, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n" + dateLine + "Connection: close\r\n\r\n", true},
		{
			"HTTP/1.0: RFC 9112 section 9.3", old, func(w httpmessage.ResponseWriter) { write(w, "a") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\nConnection: close\r\n\r\na", true,
		},
		{
			"HTTP/1.0 that keeps the connection", oldKept, func(w httpmessage.ResponseWriter) { write(w, "a") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\nConnection: keep-alive\r\n\r\na", false,
		},
		{"HTTP/1.0 has no chunks: RFC 9112 section 6.1", oldKept, func(w httpmessage.ResponseWriter) {
			write(w, "a")
			_ = w.Flush()
			write(w, "b")
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Connection: close\r\n\r\nab", true},
		{
			"a reason phrase", get, func(w httpmessage.ResponseWriter) { w.WriteHeader(404, "Nothing\r\nhere", nil) },
			"HTTP/1.1 404 Nothing  here\r\n" + dateLine + "Content-Length: 0\r\n\r\n", false,
		},
		{
			"an unknown status", get, func(w httpmessage.ResponseWriter) { w.WriteHeader(299, "", nil) },
			"HTTP/1.1 299 \r\n" + dateLine + "Content-Length: 0\r\n\r\n", false,
		},
		{"the framing of an origin", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Transfer-Encoding", "chunked"))
			write(w, "a")
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\n\r\na", false},
		{"a second head", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(404, "", nil)
			w.WriteHeader(200, "", nil)
		}, "HTTP/1.1 404 Not Found\r\n" + dateLine + "Content-Length: 0\r\n\r\n", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ended := respond(t, test.request, test.write)
			if got != test.want || ended != test.ended {
				t.Errorf("got %q, ended %t\nwant %q, ended %t", got, ended, test.want, test.ended)
			}
		})
	}
}

// Responses without content: RFC 9110 sections 9.3.2, 15.3.5, 15.4.5 and 8.6.
func TestResponseWithoutContent(t *testing.T) {
	tests := []struct {
		name    string
		request string
		write   func(w httpmessage.ResponseWriter)
		want    string
	}{
		{
			"HEAD", head, func(w httpmessage.ResponseWriter) { write(w, "abc") },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 3\r\n\r\n",
		},
		{
			"HEAD of much", head, func(w httpmessage.ResponseWriter) { write(w, strings.Repeat("a", 100_000)) },
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 100000\r\n\r\n",
		},
		{"HEAD with a length", head, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "7"))
		}, "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n" + dateLine + "\r\n"},
		{
			"HEAD without a length", head, func(w httpmessage.ResponseWriter) { w.WriteHeader(200, "", nil) },
			"HTTP/1.1 200 OK\r\n" + dateLine + "\r\n",
		},
		{"204", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(204, "", fieldsOf("Content-Length", "0", "Content-Type", "text/plain"))
			write(w, "abc")
		}, "HTTP/1.1 204 No Content\r\nContent-Type: text/plain\r\n" + dateLine + "\r\n"},
		{"304", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(304, "", fieldsOf("Content-Length", "3", "Content-Type", "text/plain", "ETag", `"a"`))
			write(w, "abc")
		}, "HTTP/1.1 304 Not Modified\r\nETag: \"a\"\r\n" + dateLine + "\r\n"},
		{"1xx", get, func(w httpmessage.ResponseWriter) {
			w.WriteInterim(103, fieldsOf("Link", "</a>; rel=preload", "Content-Length", "3"))
			w.WriteHeader(100, "", nil)
			w.WriteInterim(101, nil)
			write(w, "a")
			w.WriteInterim(103, nil)
		}, "HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" +
			"HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\n\r\na"},
		{"1xx by HTTP/1.0", oldKept, func(w httpmessage.ResponseWriter) {
			w.WriteInterim(103, nil)
			w.WriteHeader(204, "", nil)
		}, "HTTP/1.1 204 No Content\r\n" + dateLine + "Connection: keep-alive\r\n\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, ended := respond(t, test.request, test.write); got != test.want || ended {
				t.Errorf("got %q, ended %t\nwant %q", got, ended, test.want)
			}
		})
	}
}

// Content that exceeds its length is an error; if it is shorter, the connection is aborted (RFC 9112 section 8).
func TestContentAgainstLength(t *testing.T) {
	begin := func(w httpmessage.ResponseWriter) { w.WriteHeader(200, "", fieldsOf("Content-Length", "3")) }
	got, ended := respond(t, get, func(w httpmessage.ResponseWriter) {
		begin(w)
		write(w, "abc")
		if n, err := w.Write([]byte("d")); n != 0 || err == nil {
			t.Errorf("wrote %d bytes: %v", n, err)
		}
		if n, err := w.WriteBuffers([][]byte{[]byte("d")}); n != 0 || err == nil {
			t.Errorf("wrote %d bytes: %v", n, err)
		}
	})
	if !strings.HasSuffix(got, "\r\n\r\nabc") || ended {
		t.Errorf("longer: %q, ended %t", got, ended)
	}
	got, ended = respond(t, get, func(w httpmessage.ResponseWriter) { begin(w); write(w, "ab") })
	if !strings.HasSuffix(got, "\r\n\r\nab") || !ended {
		t.Errorf("shorter: %q, ended %t", got, ended)
	}
	got, ended = respond(t, get, func(w httpmessage.ResponseWriter) {
		begin(w)
		_, _ = w.ReadFrom(io.LimitReader(strings.NewReader("ab"), 3))
	})
	if !strings.HasSuffix(got, "\r\n\r\nab") || !ended {
		t.Errorf("a file that is shorter: %q, ended %t", got, ended)
	}
}

// Field values and reason phrases cannot contain line ends (RFC 9110 section 5.5).
func TestLineEndsInFields(t *testing.T) {
	got, _ := respond(t, get, func(w httpmessage.ResponseWriter) {
		w.WriteInterim(103, fieldsOf("X", "a\r\nB: c"))
		w.WriteHeader(200, "O\nK", fieldsOf("X", "a\r\nB: c\x00d", "Y\r\nZ", "z", "A b", "c", "", "d", "Trailer", "T"))
		w.SetTrailer(fieldsOf("T", "a\nb", "T\n", "c"))
	})
	want := "HTTP/1.1 103 Early Hints\r\nX: a  B: c\r\n\r\n" +
		"HTTP/1.1 200 O K\r\nX: a  B: c d\r\nTrailer: T\r\n" +
		dateLine + "Transfer-Encoding: chunked\r\n\r\n0\r\nT: a b\r\n\r\n"
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

func TestDate(t *testing.T) {
	got, _ := respond(t, get, func(w httpmessage.ResponseWriter) {
		w.WriteHeader(200, "", fieldsOf("date", "Thu, 01 Jan 1970 00:00:00 GMT"))
	})
	if want := "HTTP/1.1 200 OK\r\ndate: Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n"; got != want {
		t.Errorf("got %q", got)
	}
}

// Trailers: RFC 9110 section 6.5, RFC 9112 section 7.1.2.
func TestResponseTrailers(t *testing.T) {
	tests := []struct {
		name    string
		request string
		write   func(w httpmessage.ResponseWriter)
		want    string
	}{
		{"announced", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Trailer", "X"))
			write(w, "a")
			w.SetTrailer(fieldsOf("X", "y", "Content-Length", "3"))
		}, "HTTP/1.1 200 OK\r\nTrailer: X\r\n" + dateLine +
			"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n"},
		{"not announced", get, func(w httpmessage.ResponseWriter) {
			write(w, "a")
			w.SetTrailer(fieldsOf("X", "y"))
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\nX: y\r\n\r\n"},
		{"behind a length", get, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "1"))
			write(w, "a")
			w.SetTrailer(fieldsOf("X", "y"))
		}, "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n" + dateLine + "\r\na"},
		{"HTTP/1.0", oldKept, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", nil)
			write(w, "a")
			w.SetTrailer(fieldsOf("X", "y"))
		}, "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\nConnection: keep-alive\r\n\r\na"},
		{"HEAD", head, func(w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Trailer", "X"))
			w.SetTrailer(fieldsOf("X", "y"))
		}, "HTTP/1.1 200 OK\r\nTrailer: X\r\n" + dateLine + "\r\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got, _ := respond(t, test.request, test.write); got != test.want {
				t.Errorf("got %q\nwant %q", got, test.want)
			}
		})
	}
}

// An aborted response does not look complete, and earlier responses are sent.
func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			write(w, "abc")
			if r.Target == "/flushed" {
				_ = w.Flush()
			}
			if r.Target != "/" {
				w.Abort()
				if _, err := w.Write([]byte("d")); err == nil {
					t.Error("wrote behind Abort")
				}
			}
			return nil
		})
		w.serve()
		w.send(get + "GET /aborted HTTP/1.1\r\nHost: h\r\n\r\n" + get)
		got := w.came()
		if fmt.Sprint(contentsOf(got)) != "[abc]" || !w.ended() || w.server.aborted {
			t.Errorf("got %q, a reset: %t", got, w.server.aborted)
		}
		w.finish()
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			write(w, "abc")
			_ = w.Flush()
			w.Abort()
			return nil
		})
		w.serve()
		w.send(get)
		if w.came(); !w.server.aborted || !w.ended() {
			t.Error("no reset")
		}
		w.finish()
	})
}

func TestEndEarly(t *testing.T) {
	tests := []struct {
		name    string
		request string
		fields  httpmessage.Fields
		want    string
		ok      bool
	}{
		{"chunks", get, nil, "\r\n\r\n1\r\na\r\n", true},
		{"a length", get, fieldsOf("Content-Length", "3"), "\r\n\r\na", true},
		{"nothing is missing", get, fieldsOf("Content-Length", "1"), "\r\n\r\na", false},
		{"HTTP/1.0", old, nil, "\r\n\r\na", false},
		{"HTTP/1.0 with a length", old, fieldsOf("Content-Length", "3"), "\r\n\r\na", true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, ended := respond(t, test.request, func(w httpmessage.ResponseWriter) {
				if w.Truncate() {
					t.Error("ended before it was begun")
				}
				w.WriteHeader(http.StatusOK, "", test.fields)
				write(w, "a")
				if ok := w.Truncate(); ok != test.ok {
					t.Errorf("EndEarly is %t", ok)
				}
				if _, err := w.Write([]byte("b")); test.ok && err == nil {
					t.Error("wrote behind EndEarly")
				}
			})
			if test.ok && (!strings.HasSuffix(got, test.want) || !ended) {
				t.Errorf("got %q, ended %t", got, ended)
			}
		})
	}
}

// Writes to a client that has disconnected fail.
func TestWriteFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs [3]error
		w := newWorld(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			write(w, "a")
			errs[0] = w.Flush()
			_, errs[1] = w.Write([]byte("b"))
			_, errs[2] = w.ReadFrom(strings.NewReader("c"))
			return nil
		})
		w.serve()
		w.server.out.set(func(s *stream) { s.broken = true })
		w.send(get)
		w.came()
		for i, err := range errs {
			if !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%d: %v", i, err)
			}
		}
		w.finish()
	})
}
