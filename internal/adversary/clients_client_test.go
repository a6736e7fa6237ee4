package adversary

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
)

// client is a connection of a client to the proxy, used by one goroutine.
type client interface {
	// send sends a request; receive reads its response, whose body is truncated at a size.
	send(r sending) error
	receive(r sending, most int64) received
	Close() error
}

// route is a way to request a resource.
type route struct {
	name     string
	tls, h2  bool
	absolute bool   // absolute-form, as for a forward proxy
	version  string // HTTP/1 version, "" for 1.1
}

// Routes of urnd.
var (
	site1     = route{name: "site"}
	site10    = route{name: "site by HTTP/1.0", version: "HTTP/1.0"}
	siteTLS   = route{name: "site by TLS", tls: true}
	siteH2    = route{name: "site by HTTP/2", tls: true, h2: true}
	forward1  = route{name: "forward proxy", absolute: true}
	forward10 = route{name: "forward proxy by HTTP/1.0", absolute: true, version: "HTTP/1.0"}
)

func routes() []route { return []route{site1, site10, siteTLS, siteH2, forward1, forward10} }

// open connects to the proxy. buffer is the size of the kernel's receive buffer, or in HTTP/2 of the stream
// window; 0 is unlimited.
func (r route) open(ctx context.Context, service, secure, from string, buffer int) (client, error) {
	address, protocol := service, "http/1.1"
	if r.tls {
		address = secure
	}
	conn, err := connect(ctx, address, from)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.(*net.TCPConn); ok && buffer > 0 && !r.h2 {
		_ = tcp.SetReadBuffer(buffer)
	}
	if !r.tls {
		return &clientH1{conn, bufio.NewReader(conn)}, nil
	}
	if r.h2 {
		protocol = "h2"
	}
	secured := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{protocol}})
	if err := secured.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	if r.h2 {
		return newClientH2(secured, buffer)
	}
	return &clientH1{secured, bufio.NewReader(secured)}, nil
}

// clientH1 is a client of HTTP/1.
type clientH1 struct {
	net.Conn
	reader *bufio.Reader
}

func (c *clientH1) send(r sending) error {
	_, err := io.WriteString(c, r.bytes())
	return err
}

func (c *clientH1) receive(r sending, most int64) received {
	for {
		got, err := http.ReadResponse(c.reader, &http.Request{Method: r.method})
		if err != nil {
			return received{failure: err}
		}
		body, err := io.ReadAll(io.LimitReader(got.Body, most))
		if got.StatusCode >= 200 {
			return received{reply{got.StatusCode, got.Header, string(body)}, err}
		}
	}
}
