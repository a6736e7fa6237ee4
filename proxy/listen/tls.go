package listen

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
)

// secureConn is a connection with TLS that hides it from net/http, which would write its
// refusals itself, below requestConn. The handshake is made with the first Read, on the
// goroutine of the connection, within the header timeout; net/http recognises HTTP/2 by its
// preface, which it sees where ALPN has chosen that.
type secureConn struct {
	*tls.Conn
	raw       net.Conn
	handshake func() error // runs once
	isHTTP2   bool         // ALPN has chosen it; set by handshake
}

func newSecureConn(conn net.Conn, config *tls.Config, log *slog.Logger) *secureConn {
	c := &secureConn{Conn: tls.Server(conn, config), raw: conn}
	c.handshake = sync.OnceValue(func() error {
		err := c.HandshakeContext(context.Background()) // the deadlines of the connection bound it
		if err != nil {
			log.Debug("TLS handshake failed", "client", conn.RemoteAddr(), "error", err)
		}
		c.isHTTP2 = c.ConnectionState().NegotiatedProtocol == "h2"
		return err
	})
	return c
}

// Read implements net.Conn.
func (c *secureConn) Read(p []byte) (int, error) {
	if err := c.handshake(); err != nil {
		return 0, err
	}
	return c.Conn.Read(p)
}

// plain returns the connection on which a refusal can be sent: c itself, or the one without
// TLS to a client that speaks plain HTTP; nil where the handshake failed otherwise. It is
// called after a Read.
func (c *secureConn) plain() net.Conn {
	err := c.handshake()
	var header tls.RecordHeaderError
	switch {
	case err == nil:
		return c
	case errors.As(err, &header) && header.Conn != nil && looksLikeHTTP(header.RecordHeader):
		return c.raw
	default:
		return nil
	}
}

// looksLikeHTTP reports whether the octets in place of a TLS record begin an HTTP request.
func looksLikeHTTP(header [5]byte) bool {
	switch string(header[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "OPTIO", "GET h", "CONNE", "DELET", "PATCH", "TRACE", "GET u":
		return true
	}
	return false
}

// tlsConfig returns a copy of config that offers HTTP/1.1, and HTTP/2 unless that is all.
func tlsConfig(config *tls.Config, isAll bool) *tls.Config {
	config = config.Clone()
	config.NextProtos = []string{"h2", "http/1.1"}
	if isAll {
		config.NextProtos = config.NextProtos[1:]
	}
	return config
}

// protocols returns the protocols of a server. With TLS, HTTP/2 is "unencrypted" to
// net/http, which does not see the TLS.
func protocols(http2 bool) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	p.SetUnencryptedHTTP2(http2)
	return p
}
