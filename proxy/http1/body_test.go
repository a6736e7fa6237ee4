package http1_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	syntax "github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
)

// continues returns a Handler that answers all requests by a Continuation.
func continues(f func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)) handler {
	return func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
		r.Clone()
		return later(func() { f(r, w) })
	}
}

// echo answers with the content of a request, its error and its trailer.
func echo(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
	if r.Body == nil {
		write(w, "none")
		return
	}
	content, err := io.ReadAll(r.Body)
	if _, again := r.Body.Read(make([]byte, 1)); err == nil && !errors.Is(again, io.EOF) {
		err = fmt.Errorf("behind the end: %w", again)
	}
	_, _ = fmt.Fprintf(w, "%s %v", content, err)
	if r.Trailer != nil {
		_, _ = fmt.Fprintf(w, " %v %v", r.Trailer.Names, r.Trailer.Fields)
	}
}

// contentsOf returns the contents of responses with a length, with the status if it is not 200.
func contentsOf(responses string) (contents []string) {
	for part := range strings.SplitSeq(responses, "HTTP/1.1 ") {
		if part == "" {
			continue
		}
		head, content, _ := strings.Cut(part, "\r\n\r\n")
		if status := head[:3]; status != "200" {
			content = status + " " + content
		}
		if strings.Contains(head, "Connection: close") {
			content += " (closed)"
		}
		contents = append(contents, strings.TrimSpace(content))
	}
	return contents
}

// Content is read to its end and not beyond, however it is split.
func TestContentFraming(t *testing.T) {
	const chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
	const behind = "GET / HTTP/1.1\r\nHost: h\r\n\r\n"
	tests := []struct{ name, request, want string }{
		{"no content", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n", "none"},
		{"a length", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello", "hello <nil>"},
		{
			"chunks", chunked + "4\r\nhell\r\n1;a=\"b;\"\r\no\r\n0\r\n\r\n",
			"hello <nil> [] []",
		},
		{
			"trailers", "POST / HTTP/1.1\r\nHost: h\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n" +
				"1\r\na\r\n0\r\nX: y\r\nZ: z\r\n\r\n",
			"a <nil> [X] [{X y} {Z z}]",
		},
		{"an empty line behind", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na\r\n", "a <nil>"},
		{"two empty lines behind", "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\na\r\n\r\n", "a <nil>"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			text := test.request + behind
			for cut := range len(text) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(continues(echo))
					w.serve()
					w.send(text[:cut])
					got := w.came()
					w.send(text[cut:])
					got += w.came()
					if want := []string{test.want, "none"}; fmt.Sprint(contentsOf(got)) != fmt.Sprint(want) {
						t.Errorf("cut at %d: got %q", cut, got)
					}
					w.finish()
				})
			}
		})
	}
}

// The expectation 100-continue: RFC 9110 section 10.1.1.
func TestExpectContinue(t *testing.T) {
	const request = "POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n"
	tests := []struct {
		name   string
		head   string
		handle func(r *httpmessage.Incoming, w httpmessage.ResponseWriter)
		before string // sent before the content arrives
		behind string
	}{
		{
			"sent when the content is read", request, echo,
			"HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 11\r\n\r\nhello <nil>",
		},
		{"sent once", request, func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			w.WriteInterim(100, nil)
			echo(r, w)
		}, "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 11\r\n\r\nhello <nil>"},
		{"the content is not read", request, func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			w.WriteHeader(403, "", nil)
		}, "HTTP/1.1 403 Forbidden\r\n" + dateLine + "Content-Length: 0\r\nConnection: close\r\n\r\n", ""},
		{"never behind a final response", request, func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			w.WriteHeader(200, "", fieldsOf("Content-Length", "5"))
			_ = w.Flush()
			_, _ = io.Copy(w, r.Body)
		}, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n" + dateLine + "Connection: close\r\n\r\n", "hello"},
		{
			"ignored by HTTP/1.0",
			"POST / HTTP/1.0\r\nConnection: keep-alive\r\nExpect: 100-continue\r\nContent-Length: 5\r\n\r\n", echo,
			"", "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 11\r\nConnection: keep-alive\r\n\r\nhello <nil>",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(continues(test.handle))
				w.serve()
				w.send(test.head)
				if got := w.came(); got != test.before {
					t.Errorf("got %q", got)
				}
				w.send("hello")
				if got := w.came(); got != test.behind {
					t.Errorf("behind the content got %q", got)
				}
				w.finish()
			})
		})
	}
}

// Unread content is discarded before the response if it is small, so that the connection persists; otherwise
// the response comes early, and the client can read it (RFC 9112 section 9.6).
func TestUnreadContent(t *testing.T) {
	const begin, much = "POST / HTTP/1.1\r\nHost: h\r\n", 1 << 20
	refuse := func(w httpmessage.ResponseWriter) {
		w.WriteHeader(403, "", nil)
		write(w, "no")
	}
	chunk := "1000\r\n" + strings.Repeat("a", 4096) + "\r\n"
	tests := []struct {
		name, head, rest string
		early            bool // the response precedes the rest
		closed           bool
	}{
		{"little, in one read", begin + "Content-Length: 5\r\n\r\nhello", "", true, false},
		{"little", begin + "Content-Length: 5\r\n\r\nh", "ello", false, false},
		{"little in chunks", begin + "Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n", "0\r\n\r\n", false, false},
		{"much", begin + fmt.Sprintf("Content-Length: %d\r\n\r\n", much), strings.Repeat("a", much), true, true},
		{"much in chunks", begin + "Transfer-Encoding: chunked\r\n\r\n", strings.Repeat(chunk, 100), false, true},
		{
			"little of a client that closes", begin + "Connection: close\r\nContent-Length: 5\r\n\r\n", "hello",
			true, true,
		},
		{"a chunk that is none", begin + "Transfer-Encoding: chunked\r\n\r\n", "x\r\n", false, true},
	}
	for _, test := range tests {
		for _, by := range []string{"Begin", "Continue"} {
			t.Run(test.name+" by "+by, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
						if by == "Begin" {
							refuse(w)
							return nil
						}
						r.Clone()
						return later(func() { refuse(w) })
					})
					w.serve()
					w.send(test.head)
					got := w.came()
					if (got != "") != test.early {
						t.Errorf("got %q before the rest", got)
					}
					w.send(test.rest)
					got += w.came()
					want := []string{"403 no"}
					if test.closed {
						want[0] += " (closed)"
					}
					if fmt.Sprint(contentsOf(got)) != fmt.Sprint(want) {
						t.Errorf("got %q", got)
					}
					if test.closed {
						time.Sleep(time.Second)
						if synctest.Wait(); !w.server.lingered || !w.server.closed {
							t.Errorf("lingered: %t, closed: %t", w.server.lingered, w.server.closed)
						}
					} else {
						w.send(get)
						if got := w.came(); fmt.Sprint(contentsOf(got)) != "[403 no]" {
							t.Errorf("the next response is %q", got)
						}
					}
					w.finish()
				})
			})
		}
	}
}

// A client that reads while it sends is not waited for.
func TestFullDuplex(t *testing.T) {
	for _, framing := range []string{"Content-Length: 6", "Transfer-Encoding: chunked"} {
		synctest.Test(t, func(t *testing.T) {
			parts := []string{"ab", "cd", "ef"}
			w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
				if r.Body == nil {
					return
				}
				read := make(chan string)
				go func() {
					defer close(read)
					p := make([]byte, 2)
					for {
						n, err := r.Body.Read(p)
						if n > 0 {
							read <- string(p[:n])
						}
						if err != nil {
							return
						}
					}
				}()
				time.Sleep(time.Millisecond) // of synctest: by then it is being read
				if err := w.Flush(); err != nil {
					t.Error(err)
				}
				for part := range read {
					write(w, part)
					_ = w.Flush()
				}
			}))
			w.serve()
			w.send("POST / HTTP/1.1\r\nHost: h\r\n" + framing + "\r\n\r\n")
			time.Sleep(time.Second)
			if got := w.came(); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
				t.Errorf("the response begins with %q", got)
			}
			for _, part := range parts {
				if strings.Contains(framing, "chunked") {
					w.send("2\r\n" + part + "\r\n")
				} else {
					w.send(part)
				}
				if got := w.came(); !strings.HasPrefix(got, "2\r\n"+part+"\r\n") {
					t.Errorf("got %q", got)
				}
			}
			if strings.Contains(framing, "chunked") {
				w.send("0\r\n\r\n")
			}
			w.came()
			w.send(get)
			if got := w.came(); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
				t.Errorf("the next response is %q", got)
			}
			w.finish()
		})
	}
}

// Each part of the content has a deadline (Config.BodyDeadline).
func TestBodyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			_, err := io.ReadAll(r.Body)
			if !errors.Is(err, os.ErrDeadlineExceeded) || !w.BodyTimedOut() || w.Context().Err() == nil {
				t.Errorf("error %v, late %t, context %v", err, w.BodyTimedOut(), w.Context().Err())
			}
			w.WriteHeader(408, "", nil)
		}))
		w.serve()
		start := time.Now()
		w.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 3\r\n\r\n")
		time.Sleep(50 * time.Second)
		w.send("a")
		time.Sleep(50 * time.Second)
		w.send("b")
		time.Sleep(time.Hour)
		if got := w.came(); fmt.Sprint(contentsOf(got)) != "[408  (closed)]" {
			t.Errorf("got %q", got)
		}
		w.finish()
		if at := w.server.suspendedBy; !at.IsZero() {
			t.Errorf("it was parked, %v behind the start", at.Sub(start))
		}
	})
}

// A handler interrupts a read by a deadline in the past, and the rest of the content is still handled.
func TestSetReadDeadline(t *testing.T) {
	for _, parts := range [][2]string{
		{"Content-Length: 5\r\n\r\nhe", "llo"},
		{"Transfer-Encoding: chunked\r\n\r\n5\r\nhe", "llo\r\n0\r\n\r\n"},
		{"Transfer-Encoding: chunked\r\n\r\n1\r\nh\r\n000", "4\r\nello\r\n0\r\n\r\n"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
				read := make(chan error)
				go func() {
					_, err := io.ReadAll(r.Body)
					read <- err
				}()
				time.Sleep(time.Millisecond) // of synctest: by then it is being read
				_ = w.SetReadDeadline(time.Unix(1, 0))
				err := <-read
				if !errors.Is(err, os.ErrDeadlineExceeded) || w.BodyTimedOut() || w.Context().Err() != nil {
					t.Errorf("error %v, late %t, context %v", err, w.BodyTimedOut(), w.Context().Err())
				}
				_ = w.SetReadDeadline(time.Time{})
				write(w, "early")
			}))
			w.serve()
			w.send("POST / HTTP/1.1\r\nHost: h\r\n" + parts[0])
			time.Sleep(time.Second)
			if got := w.came(); got != "" {
				t.Errorf("got %q before the content", got)
			}
			w.send(parts[1])
			if got := w.came(); fmt.Sprint(contentsOf(got)) != "[early]" {
				t.Errorf("got %q", got)
			}
			w.finish()
		})
	}
}

// A client that does not send the rest of unread content gets its response late, and complete.
func TestUnreadContentStalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(continues(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			start := time.Now()
			w.WriteHeader(200, "", fieldsOf("Content-Length", "2"))
			write(w, "a")
			if err := w.Context().Err(); err != nil || time.Since(start) != time.Minute {
				t.Errorf("the context is %v after %v", err, time.Since(start))
			}
			write(w, "b")
		}))
		w.serve()
		w.send("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe")
		time.Sleep(2 * time.Minute)
		if got := w.came(); fmt.Sprint(contentsOf(got)) != "[ab (closed)]" || !w.ended() {
			t.Errorf("got %q", got)
		}
		w.finish()
	})
}

// A disconnect in the middle of the content ends the request.
func TestContentCutOff(t *testing.T) {
	for _, framing := range []string{"Content-Length: 6\r\n\r\nab", "Transfer-Encoding: chunked\r\n\r\n6\r\nab"} {
		synctest.Test(t, func(t *testing.T) {
			called := false
			w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
				called = true
				content, err := io.ReadAll(r.Body)
				if string(content) != "ab" || !errors.Is(err, io.ErrUnexpectedEOF) || w.Context().Err() == nil ||
					w.BodyTimedOut() {
					t.Errorf("read %q: %v; context %v", content, err, w.Context().Err())
				}
				w.WriteHeader(400, "", nil)
			}))
			w.serve()
			w.send("POST / HTTP/1.1\r\nHost: h\r\n" + framing)
			_ = w.client.CloseWrite()
			if got := w.came(); fmt.Sprint(contentsOf(got)) != "[400  (closed)]" || !called {
				t.Errorf("got %q", got)
			}
			w.finish()
		})
	}
}

// Malformed content is an error of reads, to which the handler responds: the client is still there, so that
// the request continues.
func TestMalformedContentIsAnswered(t *testing.T) {
	for _, framing := range []string{"x\r\n", "1\r\naXX\r\n", "0\r\nno field\r\n\r\n"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
				_, err := io.ReadAll(r.Body)
				if !errors.As(err, new(*syntax.Error)) || w.Context().Err() != nil {
					t.Errorf("%q: %v; context %v", framing, err, w.Context().Err())
				}
				w.WriteHeader(400, "", nil)
			}))
			w.serve()
			w.send("POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n" + framing)
			if got := w.came(); fmt.Sprint(contentsOf(got)) != "[400  (closed)]" {
				t.Errorf("%q: got %q", framing, got)
			}
			w.finish()
		})
	}
}

// Begin may use the strings of a request after its response, before which the rest of the content was discarded.
func TestTextsBehindUnreadContent(t *testing.T) {
	for name, framing := range map[string]string{
		"chunked": "Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + strings.Repeat("x", 1000) + "\r\n0\r\n\r\n",
		"length":  "Content-Length: 1000\r\n\r\n" + strings.Repeat("x", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var method, target, value string
				w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
					write(w, strings.Repeat("r", 4<<10))
					method, target, value = strings.Clone(r.Method), strings.Clone(r.Target),
						strings.Clone(r.Fields.Get("A"))
					return nil
				})
				w.serve()
				head, content, _ := strings.Cut(framing, "\r\n\r\n")
				w.send("POST /target HTTP/1.1\r\nHost: h\r\nA: value\r\n" + head + "\r\n\r\n")
				_ = w.came()
				w.send(content)
				_ = w.came()
				if method != "POST" || target != "/target" || value != "value" {
					t.Errorf("method %q, target %q, A: %q", method, target, value)
				}
				w.finish()
			})
		})
	}
}
