package listen_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/urnd/urnd/proxy/listen"
)

// oneConn accepts a connection that is there, and then others.
type oneConn struct {
	net.Listener
	conn chan net.Conn
}

func (l oneConn) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conn:
		return conn, nil
	default:
		return l.Listener.Accept()
	}
}

// A request means the same where its first octet came while the one before it was answered.
func TestRequestsWhoseFirstOctetWasWatched(t *testing.T) {
	const end = " HTTP/1.1\r\nHost: a\r\n\r\n"
	for _, tt := range []struct{ request, want string }{
		{"GET /a" + end, "200 /a"},
		{"GET /%" + end, "200 /%"},
		{"\r\nGET /%" + end, "200 /%"}, // RFC 9112 section 2.2
		{"\rGET /a" + end, "400 "},
	} {
		release := make(chan struct{})
		client, server := net.Pipe()
		t.Cleanup(func() { client.Close() })
		listener := oneConn{localListener(t), make(chan net.Conn, 1)}
		listener.conn <- server
		serve(t, listener, func(c *listen.ServerConfig) {
			c.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/slow" {
					<-release
				}
				w.Header().Set("Target", r.RequestURI)
			})
		})
		c := newCaller(client)
		c.send(t, "GET /slow"+end)
		c.send(t, tt.request[:1]) // it returns when the server has read that
		close(release)
		for _, want := range []string{"200 /slow", tt.want} {
			response, err := http.ReadResponse(c.in, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(response.StatusCode, " ", response.Header.Get("Target")); got != want {
				t.Fatalf("%q: %q, not %q", tt.request, got, want)
			}
			if want == "200 /slow" {
				go func() { _, _ = io.WriteString(client, tt.request[1:]) }()
			}
		}
		client.Close()
	}
}
