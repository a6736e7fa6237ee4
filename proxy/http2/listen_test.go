package http2_test

import (
	"context"
	"crypto/tls"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/urnd/urnd/proxy/http2"
	"github.com/urnd/urnd/proxy/listen"
)

var _ http2.Conn = (*listen.Conn)(nil)

// Connections of package listen are served over TLS, also after being idle, and end with the server.
func TestListen(t *testing.T) {
	t.Parallel()
	web := httptest.NewTLSServer(nil)
	defer web.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := http2.NewServer(config(site(), nil))
	defer s.Close()
	server := listen.NewServer(listen.ServerConfig{
		Serve: func(c *listen.Conn) {
			if protocol, err := c.Handshake(); err == nil && protocol == "h2" {
				s.Serve(c)
			}
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler), ReadHeaderTimeout: waitTime, ShutdownTimeout: waitTime,
		TLS: &tls.Config{Certificates: web.TLS.Certificates, MinVersion: tls.VersionTLS12},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, listener) }()
	client := web.Client()
	client.Transport.(*http.Transport).ForceAttemptHTTP2 = true
	for path, size := range map[string]int64{"/small": 0, "/later": 0, "/large": 10 << 20} {
		response, err := client.Get("https://" + listener.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		n, err := io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		if err != nil || response.ProtoMajor != 2 || n < size || n == 0 {
			t.Errorf("%s: %s, %d bytes, %v", path, response.Proto, n, err)
		}
	}
	cancel()
	within(t, "the server", func() {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}
