package forward

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strconv"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/forward/tunnel"
	"github.com/urnd/urnd/proxy/problem"
)

// Target is the target of a CONNECT.
type Target struct {
	Host string // in normal form, without brackets
	Port uint16
}

// Connect opens a tunnel to the target of a CONNECT (RFC 9110 section 9.3.6), and returns the number of bytes
// sent to the client. If it returns an error, nothing was sent.
func (p *Proxy) Connect(ctx context.Context, w ResponseWriter, r *Request, target Target) (carried int64, err error) {
	switch {
	case r.Major == 1 && r.hasBody(): // it has no meaning, and would be in front of the data of the tunnel
		return 0, fmt.Errorf("%w: CONNECT with content (RFC 9110 section 9.3.6)", problem.ErrMalformed)
	case !p.config.TunnelPort(target.Port):
		return 0, problem.ErrTunnelPort
	}
	permit, err := p.config.Streams.Acquire(r.QuotaAddr)
	if err != nil {
		return 0, err
	}
	defer permit.Release()
	server, err := p.config.Tunnel(ctx, net.JoinHostPort(target.Host, strconv.Itoa(int(target.Port))), r.Check)
	if err != nil {
		return 0, err
	}
	at, err := netip.ParseAddrPort(server.RemoteAddr().String())
	if err == nil {
		w.SetServer(at)
	}
	client, early, err := p.established(w, r)
	if err != nil {
		_ = server.Close()
		return 0, err
	}
	if client == nil { // the client has disconnected
		_ = server.Close()
		return 0, nil
	}
	var look tunnel.Check
	if r.TunnelCheck != nil {
		look = func(hello tunnel.Hello) error { return r.TunnelCheck(hello, at) }
	}
	return p.tunnels.Relay(ctx, client, early, server, look), nil
}

// established tells the client that the tunnel is open, and takes over its connection, or its HTTP/2 stream
// (RFC 9113 section 8.5). early is the data already received; client is nil if it has disconnected.
func (p *Proxy) established(w ResponseWriter, r *Request) (client net.Conn, early []byte, err error) {
	if r.Major == 2 {
		return p.acceptStream(w, nil)
	}
	client, early, err = w.Hijack()
	if err != nil {
		return nil, nil, fmt.Errorf("hijacking the client connection: %w", err)
	}
	const established = "HTTP/1.1 200 Connection established\r\nVia: "
	if _, err := io.WriteString(client, established+p.config.Via.String()+"\r\n\r\n"); err != nil {
		_ = client.Close()
		return nil, nil, nil //nolint:nilerr // the client has gone
	}
	return client, early, nil
}

// acceptStream answers a CONNECT of HTTP/2 with 200 and fields, and takes over its stream. early is the data
// already received; client is nil if it has disconnected.
func (p *Proxy) acceptStream(w ResponseWriter, fields httpmessage.Fields) (client net.Conn, early []byte, err error) {
	fields.Add("Via", p.config.Via.String())
	w.WriteHeader(http.StatusOK, "", fields)
	if err := w.Flush(); err != nil {
		return nil, nil, nil //nolint:nilerr // the client has gone
	}
	if client, early, err = w.Hijack(); err != nil {
		return nil, nil, fmt.Errorf("hijacking the client stream: %w", err)
	}
	return client, early, nil
}
