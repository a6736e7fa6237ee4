package http1_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
)

// closer counts its closes.
type closer struct{ closed int }

func (c *closer) Close() error { c.closed++; return nil }

// An idle connection releases its buffers, the state of the handler and its goroutine, and continues when
// data arrives.
func TestPark(t *testing.T) {
	for _, each := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			var states []*closer
			attached := new(closer)
			w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
				if r.Conn.State() == nil {
					states = append(states, new(closer))
					r.Conn.SetState(states[len(states)-1])
				}
				r.Clone()
				return later(func() {
					if got := w.Attach(func() io.Closer { return attached }); got != io.Closer(attached) {
						t.Errorf("attached %v", got)
					}
				})
			})
			w.server.each = each
			w.serve()
			for range 3 {
				for range 5 {
					w.send(get)
					if got := w.came(); !strings.HasPrefix(got, "HTTP/1.1 200 OK\r\n") {
						t.Errorf("got %q", got)
					}
				}
				time.Sleep(10 * time.Second)
				synctest.Wait()
				if w.server.resume == nil && w.server.suspendedBy.IsZero() {
					t.Error("it was not parked")
				}
				w.server.suspendedBy = time.Time{}
			}
			if len(states) != 3 || attached.closed != 0 {
				t.Errorf("%d states, attached closed %d times", len(states), attached.closed)
			}
			w.finish()
			for i, s := range states {
				if s.closed != 1 {
					t.Errorf("state %d was closed %d times", i, s.closed)
				}
			}
			if attached.closed != 1 || !w.server.closed || w.server.waits != 0 {
				t.Errorf("attached closed %d times, connection %t; %d waits", attached.closed, w.server.closed,
					w.server.waits)
			}
		})
	}
}

// What a handler has attached to a connection, such as a login by NTLM or Negotiate, stays until the
// connection closes, and belongs to no other one.
func TestAttach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bound []*closer
		w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			if attached := r.Conn.Attached(); attached != nil && attached != io.Closer(bound[0]) {
				t.Errorf("attached %v", attached)
			}
			r.Clone()
			return later(func() {
				w.Attach(func() io.Closer {
					bound = append(bound, new(closer))
					return bound[len(bound)-1]
				})
			})
		})
		w.serve()
		for range 3 {
			w.send(get)
			w.came()
			time.Sleep(10 * time.Second) // it gets parked
		}
		if len(bound) != 1 || bound[0].closed != 0 {
			t.Errorf("attached %d times, closed %d times", len(bound), bound[0].closed)
		}
		w.finish()
		if bound[0].closed != 1 {
			t.Errorf("closed %d times", bound[0].closed)
		}
	})
}

// A connection that was evicted while data arrived gets no response.
func TestEvicted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		called := false
		w := newWorld(func(*httpmessage.Incoming, httpmessage.ResponseWriter) httpmessage.Continuation {
			called = true
			return nil
		})
		w.server.dismissed = true
		w.serve()
		w.send(get)
		if got := w.came(); got != "" || called || !w.ended() {
			t.Errorf("got %q, called %t", got, called)
		}
		w.finish()
	})
}

// During a shutdown clients are asked to close their connections with the next response (RFC 9112 section 9.6).
func TestDraining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			r.Clone()
			return later(func() { <-release; write(w, "a") })
		})
		w.serve()
		w.send(get)
		w.came()
		w.draining.Store(true)
		close(release)
		want := "HTTP/1.1 200 OK\r\n" + dateLine + "Content-Length: 1\r\nConnection: close\r\n\r\na"
		if got := w.came(); got != want || !w.ended() {
			t.Errorf("got %q", got)
		}
		w.finish()
	})
}

// A panic ends only its own connection, and completed responses are sent.
func TestPanic(t *testing.T) {
	for _, by := range []string{"Begin", "Continue"} {
		for _, flushed := range []bool{false, true} {
			for _, each := range []bool{false, true} {
				t.Run(fmt.Sprint(by, " flushed ", flushed, " each ", each), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						w := newWorld(func(r *httpmessage.Incoming,
							w httpmessage.ResponseWriter,
						) httpmessage.Continuation {
							if r.Target == "/first" {
								write(w, "first")
								return nil
							}
							fail := func() {
								write(w, "partial")
								if flushed {
									_ = w.Flush()
								}
								panic("of a test")
							}
							if by == "Begin" {
								fail()
							}
							r.Clone()
							return later(fail)
						})
						w.server.each = each
						w.serve()
						w.send(get[:3])
						w.came()
						w.send(" /first HTTP/1.1\r\nHost: h\r\n\r\n" + get + get)
						got := w.came()
						if fmt.Sprint(w.panicked) != "[of a test]" || !w.ended() || w.server.aborted != flushed {
							t.Errorf("panicked: %v, reset: %t", w.panicked, w.server.aborted)
						}
						if !flushed && fmt.Sprint(contentsOf(got)) != "[first]" {
							t.Errorf("got %q", got)
						}
						w.finish()
						if w.server.waits != 0 {
							t.Errorf("%d waits", w.server.waits)
						}
					})
				})
			}
		}
	}
}

// Data received after the header section belongs to the owner of a taken-over connection (RFC 9110 sections
// 7.8 and 9.3.6).
func TestTakeOver(t *testing.T) {
	for _, head := range []string{
		"CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n",
		"GET / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
		"POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 2\r\n\r\nab",
	} {
		for _, behind := range []string{"", "tunnel"} {
			synctest.Test(t, func(t *testing.T) {
				attached := new(closer)
				w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
					if r.Target == "/first" {
						write(w, "first")
						return nil
					}
					r.Clone()
					return later(func() {
						w.Attach(func() io.Closer { return attached })
						if r.Body != nil {
							if _, _, err := w.Hijack(); err == nil {
								t.Error("taken over before the content was read")
							}
							_, _ = io.ReadAll(r.Body)
						}
						conn, read, err := w.Hijack()
						if err != nil {
							t.Error(err)
							return
						}
						if attached.closed != 1 || w.Context().Err() != nil {
							t.Errorf("attached closed %d times, context %v", attached.closed, w.Context().Err())
						}
						if _, err := w.Write([]byte("a")); err == nil {
							t.Error("wrote a response")
						}
						_, _ = conn.Write([]byte("switched\n"))
						_, _ = conn.Write(read)
						_, _ = io.Copy(struct{ io.Writer }{conn}, struct{ io.Reader }{conn})
						_ = conn.Close()
					})
				})
				w.serve()
				w.send("GET /first HTTP/1.1\r\nHost: h\r\n\r\n" + head + behind)
				if got := w.came(); !strings.HasSuffix(got, "\r\n\r\nfirstswitched\n"+behind) {
					t.Errorf("got %q", got)
				}
				time.Sleep(time.Hour)
				w.send("more")
				if got := w.came(); got != "more" {
					t.Errorf("got %q", got)
				}
				_ = w.client.CloseWrite()
				w.served.Wait()
				if !w.server.released || !w.server.closed || w.server.waits != 0 {
					t.Errorf("released %t, closed %t, %d waits", w.server.released, w.server.closed, w.server.waits)
				}
			})
		}
	}
}

// A connection cannot be taken over after the response has begun.
func TestTakeOverLate(t *testing.T) {
	_, _ = respond(t, get, func(w httpmessage.ResponseWriter) {
		w.WriteHeader(200, "", nil)
		if _, _, err := w.Hijack(); err == nil {
			t.Error("taken over")
		}
	})
}

// A connection that was closed meanwhile cannot be taken over.
func TestTakeOverClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var w *world
		w = newWorld(func(r *httpmessage.Incoming, rw httpmessage.ResponseWriter) httpmessage.Continuation {
			r.Clone()
			return later(func() {
				_ = w.server.Close()
				if conn, _, err := rw.Hijack(); err == nil || conn != nil {
					t.Errorf("took %v over: %v", conn, err)
				}
			})
		})
		w.serve()
		w.send(get)
		w.served.Wait()
		if w.server.released {
			t.Error("it was released, and has no owner")
		}
	})
}

// Data after a rejected CONNECT is not a request: its client meant it for the tunnel.
func TestRefusedTunnel(t *testing.T) {
	const connect = "CONNECT h:1 HTTP/1.1\r\nHost: h:1\r\n\r\n"
	for _, by := range []string{"Begin", "Continue"} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
				refuse := func() { w.WriteHeader(407, "", nil) }
				if by == "Begin" {
					refuse()
					return nil
				}
				r.Clone()
				return later(refuse)
			})
			w.serve()
			w.send(connect)
			got := w.came() // the client may retry with its credentials
			w.send(connect + "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
			got += w.came()
			if fmt.Sprint(contentsOf(got)) != "[407 407  (closed)]" || !w.ended() {
				t.Errorf("got %q", got)
			}
			w.finish()
		})
	}
}

// A disconnect while a request waits ends its context; a half-close does not.
func TestContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(continues(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			<-w.HalfClosed().Done()
			if w.Context().Err() != nil {
				t.Error("the context has ended")
			}
			write(w, "half-closed")
			_ = w.Flush()
			<-w.Context().Done()
		}))
		w.serve()
		w.send(get)
		if w.came(); w.server.waits != 1 {
			t.Errorf("%d waits", w.server.waits)
		}
		w.server.halfEnd()
		if got := w.came(); !strings.Contains(got, "half-closed") {
			t.Errorf("got %q", got)
		}
		w.server.cancel()
		w.came()
		w.finish()
		if w.server.waits != 0 {
			t.Errorf("%d waits", w.server.waits)
		}
	})
}

// The response is sent completely after a half-close of the client.
func TestHalfClose(t *testing.T) {
	for _, each := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(answer)
			w.server.each = each
			w.serve()
			w.send("GET /cached/a HTTP/1.1\r\nHost: h\r\n\r\nGET /waited/b HTTP/1.1\r\nHost: h\r\n\r\n" +
				"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\n\r\nc")
			_ = w.client.CloseWrite()
			if got := fmt.Sprint(contentsOf(w.came())); got != "[a b c]" || !w.ended() {
				t.Errorf("got %q", got)
			}
			w.finish()
		})
	}
}

// Interim responses may be written while the content is read, but not after the final response.
func TestInterimWhileReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(continues(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) {
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				for range 100 {
					w.WriteInterim(103, fieldsOf("Link", "</a>"))
				}
			}()
			content, _ := io.ReadAll(r.Body)
			w.WriteHeader(200, "", fieldsOf("Content-Length", "1"))
			_, _ = w.Write(content)
			<-ended
		}))
		w.serve()
		w.send("POST / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\na")
		got := w.came()
		const interim, proceed = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "HTTP/1.1 100 Continue\r\n\r\n"
		got = strings.Replace(strings.ReplaceAll(got, interim, ""), proceed, "", 1)
		if got != "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n"+dateLine+"\r\na" {
			t.Errorf("got %q", got)
		}
		w.finish()
	})
}

// A cloned request keeps its strings after its buffer was reused.
func TestClone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var kept []*httpmessage.Fields
		w := newWorld(continues(func(r *httpmessage.Incoming, _ httpmessage.ResponseWriter) {
			fields := r.Fields.Clone()
			kept = append(kept, &fields)
		}))
		w.serve()
		for i := range 3 {
			w.send(fmt.Sprintf("GET / HTTP/1.1\r\nHost: h\r\nA: value-%d\r\n\r\n", i))
			w.came()
		}
		for i, fields := range kept {
			if got := fields.Get("A"); got != fmt.Sprint("value-", i) {
				t.Errorf("%d: %q", i, got)
			}
		}
		w.finish()
	})
}

// A header section may arrive in single bytes, and exceed the first buffer.
func TestLargeHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value := strings.Repeat("v", 9_000)
		w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			write(w, fmt.Sprint(r.Fields.Get("A") == value))
			return nil
		})
		w.serve()
		request := []byte("GET / HTTP/1.1\r\nHost: h\r\nA: " + value + "\r\n\r\n")
		for part := range bytes.SplitSeq(request, []byte("v")) {
			w.send(string(part))
			if !bytes.HasSuffix(part, []byte("\r\n\r\n")) {
				w.send("v")
			}
			synctest.Wait()
		}
		w.send(string(request) + get)
		if got := fmt.Sprint(contentsOf(w.came())); got != "[true true false]" {
			t.Errorf("got %q", got)
		}
		w.finish()
	})
}

// With TLS, content is copied to be one record with the header section (RFC 8446 section 5.1).
func TestRecords(t *testing.T) {
	for secure, want := range map[bool]int{false: 2, true: 1} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
				write(w, strings.Repeat("a", 12_000))
				return nil
			})
			w.server.secure = secure
			w.serve()
			w.send(get)
			w.came()
			if w.server.out.writes != want {
				t.Errorf("secure %t: %d writes", secure, w.server.out.writes)
			}
			w.finish()
		})
	}
}

// A begun request is continued even if the client has disconnected before the earlier responses could be
// written: Continue releases the resources of Begin.
func TestContinuedWithoutClient(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var errs []error
		w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
			if r.Target == "/begin" {
				write(w, "begin")
				return nil
			}
			r.Clone()
			return later(func() {
				_, err := io.WriteString(w, "continue")
				_, _, taken := w.Hijack()
				errs = append(errs, w.Context().Err(), err, taken)
			})
		})
		w.send("GET /begin HTTP/1.1\r\nHost: h\r\n\r\n" + strings.Repeat(get, 2))
		_ = w.client.Close()
		w.serve()
		w.served.Wait()
		if len(errs) != 3 || errs[0] == nil || errs[1] == nil || errs[2] == nil {
			t.Errorf("the context, the write and the take-over ended with %v", errs)
		}
		if w.server.waits != 0 {
			t.Errorf("%d waits did not end", w.server.waits)
		}
	})
}
