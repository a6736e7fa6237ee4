package forward

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"time"

	"github.com/urnd/urnd/proxy/problem"
)

// Target is the target of a CONNECT.
type Target struct {
	Host string // in normal form, without brackets
	Port uint16
}

// Connect opens a tunnel to the target of a CONNECT (RFC 9110 section 9.3.6), and returns how many
// octets it carried to the client besides those that were written to w. An error means that nothing
// was sent.
func (p *Proxy) Connect(ctx context.Context, w ResponseWriter, r *Request, target Target) (carried int64, err error) {
	if !p.config.TunnelPort(target.Port) {
		return 0, problem.ErrTunnelPort
	}
	if _, err := netip.ParseAddr(target.Host); err == nil && !p.config.Literals {
		return 0, problem.ErrTunnelLiteral
	}
	release, err := p.config.Streams.Acquire(r.Share)
	if err != nil {
		return 0, err
	}
	defer release()
	server, err := p.config.Tunnel(ctx, net.JoinHostPort(target.Host, strconv.Itoa(int(target.Port))), r.Check)
	if err != nil {
		return 0, err
	}
	if at, err := netip.ParseAddrPort(server.RemoteAddr().String()); err == nil {
		w.SetServer(at)
	}
	if r.Major == 2 {
		p.connectStream(ctx, w, r, server)
		return 0, nil
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		return 0, fmt.Errorf("taking over the connection of a client: %w", err)
	}
	if _, err := io.WriteString(client, "HTTP/1.1 200 Connection established\r\nVia: "+p.config.Via.String()+"\r\n\r\n"); err != nil {
		_, _ = client.Close(), server.Close()
		return 0, nil // the client has gone
	}
	return p.carry(ctx, client, buffered, server), nil
}

// carry carries octets between a client and a server until both have ended.
func (p *Proxy) carry(ctx context.Context, client net.Conn, buffered *bufio.ReadWriter, server io.ReadWriteCloser) int64 {
	_ = client.SetDeadline(time.Time{}) // net/http may have set one
	side := sideOf(client)
	if n := buffered.Reader.Buffered(); n > 0 { // the client did not wait for the answer
		side.early, _ = buffered.Peek(n) // it has that many
	}
	return p.tunnel(ctx, side, sideOf(server))
}

// connectStream is the tunnel of a stream of HTTP/2: RFC 9113 section 8.5. Only the end of the handler
// ends what is sent, so that the tunnel ends with what comes from the server.
func (p *Proxy) connectStream(ctx context.Context, w http.ResponseWriter, r *Request, server net.Conn) {
	control := http.NewResponseController(w)
	w.Header().Set("Via", p.config.Via.String())
	w.WriteHeader(http.StatusOK)
	if err := control.Flush(); err != nil {
		_ = server.Close()
		return
	}
	body := r.Body
	if body == nil {
		body = http.NoBody
	}
	closes := func() error { return closed(body) }
	client := side{Reader: body, Writer: flushed{w, control}, closeWrite: closes, close: func() { _ = closes() }}
	p.tunnel(ctx, client, sideOf(server))
}

// flushed sends what is written at once.
type flushed struct {
	io.Writer
	control *http.ResponseController
}

// Write implements io.Writer.
func (f flushed) Write(b []byte) (int, error) {
	n, err := f.Writer.Write(b)
	if err == nil {
		err = f.control.Flush()
	}
	return n, err
}
