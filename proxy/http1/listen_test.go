package http1_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/http1"
	"github.com/urnd/urnd/proxy/listen"
)

var _ http1.Conn = (*listen.Conn)(nil)

// Connections of package listen are served, and clients that are asked to close them lose no request.
func TestListen(t *testing.T) {
	w := newWorld(func(r *httpmessage.Incoming, w httpmessage.ResponseWriter) httpmessage.Continuation {
		if strings.HasPrefix(r.Target, "/begin") {
			write(w, r.Target)
			return nil
		}
		r.Clone()
		return later(func() { _, _ = w.ReadFrom(r.Body) })
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	socket := listen.NewSocket(listener, listen.SocketConfig{})
	server := http1.NewServer(w.config)
	connections := listen.NewServer(listen.ServerConfig{
		Serve: func(c *listen.Conn) {
			if _, err := c.Handshake(); err == nil {
				server.Serve(c)
			}
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler), ReadHeaderTimeout: 10 * time.Second,
		ShutdownTimeout: 5 * time.Second,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- connections.Serve(ctx, socket.Listener()) }()
	var clients sync.WaitGroup
	busy := make(chan struct{}, 20)
	for i := range 10 {
		clients.Go(func() { requestAll(t, fmt.Sprintf("http://%s/begin/%d", listener.Addr(), i), busy) })
	}
	for range 10 {
		<-busy
	}
	connections.AnnounceShutdown(t.Context())
	stop()
	_ = socket.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	clients.Wait()
}

// requestAll sends requests until the server asks to close the connection, and signals when some were answered.
func requestAll(t *testing.T, url string, busy chan<- struct{}) {
	client := &http.Client{Transport: new(http.Transport)}
	defer client.CloseIdleConnections()
	for i := 0; ; i++ {
		want := strings.Repeat("content ", i+1)
		response, err := client.Post(strings.Replace(url, "begin", "echo", 1), "text/plain", strings.NewReader(want))
		if i%2 == 0 && err == nil && !response.Close {
			_, _ = io.Copy(io.Discard, response.Body) // so that the connection is reused
			_ = response.Body.Close()
			want = fmt.Sprint("/begin/", i)
			response, err = client.Get(url[:strings.LastIndex(url, "/begin")] + want)
		}
		if err != nil {
			t.Error(err)
			busy <- struct{}{}
			return
		}
		got, err := io.ReadAll(response.Body)
		_ = response.Body.Close()
		if err != nil || string(got) != want {
			t.Errorf("got %.50q, want %.50q: %v", got, want, err)
		}
		if i == 10 {
			busy <- struct{}{}
		}
		if response.Close {
			return
		}
	}
}

// The last response is completely received by a client that has sent another request before it (RFC 9112 section 9.6).
func TestLastResponse(t *testing.T) {
	const length = 256 << 10 // fits into the socket buffers
	begun, release, served := make(chan struct{}), make(chan struct{}), make(chan struct{})
	w := newWorld(continues(func(_ *httpmessage.Incoming, w httpmessage.ResponseWriter) {
		close(begun)
		<-release
		w.WriteHeader(http.StatusOK, "", fieldsOf("Connection", "close", "Content-Length", fmt.Sprint(length)))
		write(w, strings.Repeat("a", length))
	}))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := http1.NewServer(w.config)
	connections := listen.NewServer(listen.ServerConfig{
		Serve: func(c *listen.Conn) {
			server.Serve(c)
			close(served)
		},
		Now: time.Now, Log: slog.New(slog.DiscardHandler), ReadHeaderTimeout: 10 * time.Second,
		ShutdownTimeout: 5 * time.Second,
	})
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- connections.Serve(ctx, listener) }()
	client, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(client, get)
	<-begun
	_, _ = io.WriteString(client, get)
	close(release)
	<-served
	response, err := http.ReadResponse(bufio.NewReader(client), nil)
	if err == nil {
		var n int64
		if n, err = io.Copy(io.Discard, response.Body); n != length {
			t.Errorf("%d bytes", n)
		}
	}
	if err != nil {
		t.Error(err)
	}
	_ = client.Close()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
