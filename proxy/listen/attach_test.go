package listen_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/proxy/listen"
)

// attached counts how often it is closed.
type attached struct{ closed atomic.Int32 }

func (a *attached) Close() error {
	a.closed.Add(1)
	return nil
}

// What is kept with a connection is one for all of its requests, and is closed when it ends or is taken over.
func TestAttach(t *testing.T) {
	var made atomic.Int32
	var last atomic.Pointer[attached]
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			a, _ := listen.Attach(r, func() io.Closer {
				made.Add(1)
				return new(attached)
			}).(*attached)
			last.Store(a)
			switch r.URL.Path {
			case "/panic":
				panic(http.ErrAbortHandler)
			case "/hijack":
				conn, _, err := http.NewResponseController(w).Hijack()
				if err == nil {
					fmt.Fprintf(conn, "HTTP/1.1 101 A\r\n\r\nclosed %d times", a.closed.Load())
					conn.Close()
				}
			}
		})
	})
	for i, path := range []string{"/", "/panic", "/hijack"} {
		c := call(t, listener.Addr().String(), "127.0.0.1")
		for range 2 {
			c.send(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			c.served(t, 200)
		}
		a := last.Load()
		if a == nil || made.Load() != int32(i+1) || a.closed.Load() != 0 {
			t.Fatalf("%s: %v, %d made", path, a, made.Load())
		}
		if path != "/" {
			c.send(t, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n")
			if text, err := io.ReadAll(c.in); err != nil || path == "/hijack" && string(text) != "HTTP/1.1 101 A\r\n\r\nclosed 1 times" {
				t.Errorf("%s: %q, %v", path, text, err)
			}
		}
		c.Close()
		testserver.Wait(t, path+" is closed", func() bool { return a.closed.Load() == 1 })
	}
}

func TestAttachNothing(t *testing.T) {
	own, pool := certificates(t)
	listener := localListener(t)
	serve(t, listener, func(c *listen.ServerConfig) {
		c.TLS = own
		c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprint(w, r.ProtoMajor, listen.Attach(r, func() io.Closer { return new(attached) }) != nil)
		})
	})
	for h2, want := range map[bool]string{true: "2 false", false: "1 true"} {
		response, err := client(t, pool, h2).Get("https://" + listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if text, err := io.ReadAll(response.Body); err != nil || string(text) != want {
			t.Errorf("HTTP/2 %t: %q, %v", h2, text, err)
		}
		response.Body.Close()
	}
	if listen.Attach(httptest.NewRequest("GET", "/", nil), nil) != nil {
		t.Error("a request of no server")
	}
}
