package http1_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
)

// handler is an httpmessage.Handler from a function.
type handler func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation

func (h handler) Begin(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
	return h(r, w)
}

// later is a Continuation from a function.
type later func()

func (f later) Continue() { f() }

// world is a server with one connection.
type world struct {
	server    *end
	client    *end
	panicked  []any
	refused   []int
	config    http1.Config
	served    sync.WaitGroup
	draining  atomic.Bool
	bodyBound time.Duration
}

// newWorld returns a server of a handler, whose connection is not served yet.
func newWorld(h handler) *world {
	w := &world{bodyBound: time.Minute}
	w.server, w.client = newPipe()
	w.server.draining = func() bool { return w.draining.Load() }
	w.config = http1.Config{
		Handler: h, Now: time.Now, MaxHeaderBytes: 16 << 10,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute,
		BodyDeadline: func() time.Time { return time.Now().Add(w.bodyBound) },
		Panicked:     func(value any, _ []byte) { w.panicked = append(w.panicked, value) },
		ErrorDocument: func(_ *httpmessage.Incoming, status int, reason string, plain bool) (int, string, []byte) {
			if plain {
				reason = "plain HTTP"
			}
			return status, "text/plain", []byte(reason)
		},
		Rejected: func(status int) { w.refused = append(w.refused, status) },
	}
	return w
}

// serve serves the connection like package listen, until it ends.
func (w *world) serve() {
	server := http1.NewServer(w.config)
	w.served.Go(func() {
		server.Serve(w.server)
		for resume := w.server.resume; resume != nil; resume = w.server.resume {
			w.server.resume = nil
			resume(w.server.await())
		}
	})
}

// send sends a text as the client.
func (w *world) send(text string) { _, _ = w.client.Write([]byte(text)) }

// came returns the output since the last call, when the server is blocked. It is for synctest.
func (w *world) came() string {
	synctest.Wait()
	w.client.in.mu.Lock()
	defer w.client.in.mu.Unlock()
	text := string(w.client.in.data)
	w.client.in.data = nil
	return text
}

// ended reports whether the connection has ended for the client.
func (w *world) ended() bool {
	synctest.Wait()
	w.client.in.mu.Lock()
	defer w.client.in.mu.Unlock()
	return w.client.in.ended || w.client.in.broken
}

// finish closes the connection by the client, and waits for the server.
func (w *world) finish() {
	_ = w.client.Close()
	w.served.Wait()
}

// dateLine is the field Date at the start time of synctest.
const dateLine = "Date: Sat, 01 Jan 2000 00:00:00 GMT\r\n"

// answer is a Handler of the tests: the path selects its behavior.
func answer(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
	fields := httpmessage.NewFields("Content-Type", "text/plain")
	path, argument, _ := strings.Cut(strings.TrimPrefix(r.Target, "/"), "/")
	switch path {
	case "cached": // answered by Begin, with a length
		fields.Add("Content-Length", fmt.Sprint(len(argument)))
		w.WriteHeader(http.StatusOK, "", fields)
		_, _ = io.WriteString(w, argument)
		return nil
	case "small": // answered by Begin, without an explicit length
		_, _ = io.WriteString(w, argument)
		return nil
	}
	r.Clone()
	path, argument, _ = strings.Cut(strings.TrimPrefix(r.Target, "/"), "/")
	return later(func() {
		switch path {
		case "waited":
			_, _ = io.WriteString(w, argument)
		case "echo":
			content := []byte("none")
			if r.Body != nil {
				content, _ = io.ReadAll(r.Body)
			}
			w.WriteHeader(http.StatusOK, "", fields)
			_, _ = w.Write(content)
		case "ignore": // the body
			w.WriteHeader(http.StatusForbidden, "", fields)
			_, _ = io.WriteString(w, argument)
		}
	})
}

func TestKeepAlive(t *testing.T) {
	for _, each := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(answer)
			w.server.each = each
			w.serve()
			for i := range 5 {
				w.send(fmt.Sprintf("GET /cached/%d HTTP/1.1\r\nHost: h\r\n\r\n", i))
				want := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1\r\n"+dateLine+
					"\r\n%d", i)
				if got := w.came(); got != want {
					t.Errorf("got %q, want %q", got, want)
				}
				w.send("GET /waited/abc HTTP/1.1\r\nHost: h\r\n\r\n")
				if got, want := w.came(), "HTTP/1.1 200 OK\r\n"+dateLine+"Content-Length: 3\r\n\r\nabc"; got != want {
					t.Errorf("got %q, want %q", got, want)
				}
			}
			w.finish()
		})
	}
}

// Requests received in one read are answered by one write.
func TestPipelining(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(answer)
		w.serve()
		w.send(strings.Repeat("GET /cached/a HTTP/1.1\r\nHost: h\r\n\r\n", 16))
		if got := strings.Count(w.came(), "\r\n\r\na"); got != 16 {
			t.Errorf("%d responses", got)
		}
		if w.server.out.writes != 1 {
			t.Errorf("%d writes", w.server.out.writes)
		}
		w.finish()
	})
}

func TestContent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(answer)
		w.serve()
		w.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhelloGET /cached/b HTTP/1.1\r\nHost: " +
			"h\r\n\r\n")
		got := w.came()
		if !strings.HasSuffix(got, "\r\n\r\nb") || !strings.Contains(got, "\r\n\r\nhelloHTTP/1.1 200 OK\r\n") {
			t.Errorf("got %q", got)
		}
		w.send("POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhe")
		if got := w.came(); got != "" {
			t.Errorf("got %q before the content", got)
		}
		w.send("llo")
		if got := w.came(); !strings.HasSuffix(got, "\r\n\r\nhello") {
			t.Errorf("got %q", got)
		}
		w.finish()
	})
}
