package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/pires/go-proxyproto"
)

// ErrPlainHTTP means that a client sends HTTP in clear text to a TLS port.
var ErrPlainHTTP = errors.New("the client sent plain HTTP to a TLS port")

var (
	errNoHeader = errors.New("the connection does not begin with a PROXY protocol header")
	errTooMany  = errors.New("the client has too many connections")
)

// errHandshakeAlone is the error of a client that selects an unsupported protocol by ALPN.
var errHandshakeAlone = errors.New("TLS handshake: the client supports no protocol of this server (ALPN)")

// Handshake reads the header of the PROXY protocol and completes TLS, within the header timeout. A protocol
// must call it first. It returns the protocol negotiated by ALPN, "h2" or "http/1.1", which is also the
// default for a client without ALPN; "" without TLS. After an error the client gets no response, except for
// ErrPlainHTTP: then Write sends clear text to the socket, for an error response, and Linger should be
// called. The read deadline remains that of the first header section. Further calls return the same values.
func (c *Conn) Handshake() (protocol string, err error) {
	if !c.handshaken {
		c.handshaken = true
		c.protocol, c.err = c.handshake()
	}
	return c.protocol, c.err
}

func (c *Conn) handshake() (protocol string, err error) {
	if c.proxied != nil {
		if err := c.identify(); err != nil {
			return "", err
		}
	}
	if c.tls == nil {
		return "", nil
	}
	err = c.tls.HandshakeContext(context.Background()) // limited by the deadlines of the connection
	var header tls.RecordHeaderError
	switch {
	case err == nil:
		state := c.tls.ConnectionState()
		c.serverName = state.ServerName
		switch state.NegotiatedProtocol {
		case http2:
			return http2, nil
		case "", http1:
			return http1, nil
		default: // the client only needs the handshake, like a certificate authority (RFC 8737 section 3)
			return "", errHandshakeAlone
		}
	case errors.As(err, &header) && header.Conn != nil && looksLikeHTTP(header.RecordHeader):
		c.in, c.out, c.tls = c.client, c.client, nil
		return "", ErrPlainHTTP
	default:
		c.tracked.server.config.Log.Debug("TLS handshake failed", "client", c.remote, "error", err)
		return "", fmt.Errorf("TLS handshake: %w", err)
	}
}

// identify reads the client's address from the PROXY protocol header, and counts the connection as that of
// the client, which may have too many.
func (c *Conn) identify() error {
	header := c.proxied.ProxyHeader()
	if header == nil {
		return errNoHeader
	}
	c.remote = proxiedClient(header, c.client.RemoteAddr())
	addr := addrOf(c.remote)
	if !addr.IsValid() || addr.IsUnspecified() {
		return nil
	}
	if !c.client.member.Move(addr) {
		c.client.socket.refuse(c.client.Conn)
		return errTooMany
	}
	return nil
}

// newProxied returns the reader of the PROXY protocol header, which is required.
func newProxied(conn net.Conn, timeout time.Duration) *proxyproto.Conn {
	return proxyproto.NewConn(conn, proxyproto.WithPolicy(proxyproto.REQUIRE), proxyproto.SetReadHeaderTimeout(timeout))
}

// isSender reports whether connections from an address begin with a PROXY protocol header.
func isSender(senders []netip.Prefix, addr netip.Addr) bool {
	return slices.ContainsFunc(senders, func(p netip.Prefix) bool { return p.Contains(addr) })
}

// proxiedClient returns the address of the client: that of the header, or that of the sender if the header
// says that the sender speaks for itself or knows no client (UNKNOWN and LOCAL: sections 2.1 and 2.2), as
// health checks do. It is 0.0.0.0 for clients without an IP address, such as on a Unix domain socket: the
// sender's address would give them its rights.
func proxiedClient(header *proxyproto.Header, sender net.Addr) net.Addr {
	switch {
	case header.Command.IsLocal():
		return sender
	case !header.TransportProtocol.IsStream() || header.TransportProtocol.IsUnix() || header.SourceAddr == nil:
		return &net.TCPAddr{IP: net.IPv4zero}
	default:
		return header.SourceAddr
	}
}

// Secure reports whether the connection uses TLS. It is valid after Handshake, like TLS and ServerName.
func (c *Conn) Secure() bool { return c.tls != nil }

// ServerName returns the server name of the TLS handshake (RFC 6066 section 3), "" for none.
func (c *Conn) ServerName() string { return c.serverName }

// TLS returns a new copy of the TLS state, nil without TLS.
func (c *Conn) TLS() *tls.ConnectionState {
	if c.tls == nil {
		return nil
	}
	state := c.tls.ConnectionState()
	return &state
}

// The protocols that are offered by ALPN: RFC 7301 section 6 and RFC 9113 section 3.2.
const (
	http1 = "http/1.1"
	http2 = "h2"
)

// offering returns a copy of a configuration that offers HTTP/1.1, and also HTTP/2 unless http1Only.
func offering(config *tls.Config, http1Only bool) *tls.Config {
	config = config.Clone()
	config.NextProtos = []string{http2, http1}
	if http1Only {
		config.NextProtos = config.NextProtos[1:]
	}
	return config
}

// looksLikeHTTP reports whether the bytes in place of a TLS record begin an HTTP request.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "GET h", "CONNE", "DELET", "PATCH", "TRACE", "GET u":
		return true
	}
	return false
}
