package listen_test

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/urnd/urnd/proxy/listen"
)

// pipes is a listener of in-memory connections, which have no buffers.
type pipes struct {
	net.Listener
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func newPipes() *pipes { return &pipes{conns: make(chan net.Conn), closed: make(chan struct{})} }

func (p *pipes) Addr() net.Addr { return new(net.TCPAddr) }

func (p *pipes) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

// dial returns a connection, and a channel that is closed when the server has closed it.
func (p *pipes) dial() (client net.Conn, ended chan struct{}) {
	client, server := net.Pipe()
	ended = make(chan struct{})
	p.conns <- &endedConn{Conn: server, end: sync.OnceFunc(func() { close(ended) })}
	return client, ended
}

type endedConn struct {
	net.Conn
	end func()
}

func (c *endedConn) Close() error {
	c.end()
	return c.Conn.Close()
}

// A connection that is closed for another one is not counted from then on: it ends soon, even if its client
// does not read the last bytes of the protocol, such as a GOAWAY, or of TLS.
func TestCloseGraceIsShort(t *testing.T) {
	own, _ := certificates(t)
	for name, goodbye := range map[string]string{"goodbye": "goodbye", "close_notify": ""} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				listener := newPipes()
				limit := listen.NewConnectionLimit(listen.ConnectionLimits{Connections: 1}, time.Now)
				deadline := func() time.Time { return time.Now().Add(time.Minute) }
				socket := listen.NewSocket(listener, listen.SocketConfig{Limit: limit, WriteDeadline: deadline})
				server := listen.NewServer(listen.ServerConfig{
					Serve: func(c *listen.Conn) {
						_, _ = c.Handshake()
						if _, err := c.Read(make([]byte, 1)); !timedOut(err) {
							return // the other connection
						}
						if c.SetServing() {
							t.Error("it goes on")
						}
						_, _ = c.Write([]byte(goodbye))
					},
					Now: time.Now, Log: slog.New(slog.DiscardHandler), TLS: own,
					ReadHeaderTimeout: time.Hour, ShutdownTimeout: time.Minute,
				})
				ctx, stop := context.WithCancel(t.Context())
				served := make(chan error)
				go func() { served <- server.Serve(ctx, socket.Listener()) }()
				client, ended := listener.dial()
				conn := tls.Client(client, &tls.Config{
					InsecureSkipVerify: true, SessionTicketsDisabled: true, MaxVersion: tls.VersionTLS12,
				})
				if err := conn.Handshake(); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				began := time.Now()
				other, _ := listener.dial()
				<-ended
				if took := time.Since(began); took > 300*time.Millisecond {
					t.Errorf("it takes %v", took)
				}
				_ = client.Close()
				_ = other.Close()
				stop()
				if err := <-served; err != nil {
					t.Error(err)
				}
				_ = socket.Close()
			})
		})
	}
}
