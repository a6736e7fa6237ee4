package tunnel

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"slices"
	"time"
)

// Hello is with what a client begins a tunnel.
type Hello struct {
	IsTLS bool // a ClientHello (RFC 8446 section 4.1.2) that can be read; false for anything else
	// IsUnreadable is whether it begins as TLS, and no ClientHello can be read. A server may be able to.
	IsUnreadable bool
	// ServerName is the name of the server in it (RFC 6066 section 3), "" for none.
	ServerName string
	// IsEncrypted is whether it has, or seems to have, another ClientHello in it (RFC 9849): ServerName is that of the outer one.
	IsEncrypted bool
}

// Look decides by the Hello of a client whether its tunnel goes on: an error ends it before the server gets a byte. It is called once,
// before the end of Carry, and not at all where the client sends nothing.
type Look func(Hello) error

// encryptedClientHello is the extension of RFC 9849 section 5.
const encryptedClientHello = 0xfe0d

// maxHello bounds what is read of a client before it is known what it is: crypto/tls takes messages of 64 KiB, in records.
const maxHello = 128 << 10

var (
	errSeen     = errors.New("the ClientHello was read")
	errTooLarge = errors.New("a ClientHello is too large")
)

// look reads what a client begins with, in as many pieces as it comes, and asks its Look. What was read is its early then. The error is
// of Look, or of reading.
func (t *activity) look(ctx context.Context, from *side) error {
	seen := &seenConn{early: from.early, from: from.Reader, note: t.note}
	hello := readHello(ctx, seen)
	if seen.err != nil && (len(seen.seen) == 0 || !errors.Is(seen.err, io.EOF)) {
		return seen.err
	}
	from.early = append(seen.seen, seen.early...)
	return from.look(hello)
}

// isRecord reports whether a byte is the first one of a record in which a ClientHello is, or which servers skip before it, as those of Go do
// with alerts: change_cipher_spec, alert or handshake (RFC 8446 section 5.1).
func isRecord(first byte) bool { return 20 <= first && first <= 22 }

// readHello reads a ClientHello. What is none is known by its first byte, so that nothing waits for more, or by what is wrong with it.
func readHello(ctx context.Context, conn *seenConn) (h Hello) {
	var first [1]byte
	if n, _ := conn.Read(first[:]); n == 0 || !isRecord(first[0]) {
		return Hello{}
	}
	conn.again = true
	server := tls.Server(conn, &tls.Config{
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			h = Hello{IsTLS: true, ServerName: info.ServerName, IsEncrypted: slices.Contains(info.Extensions, encryptedClientHello)}
			return nil, errSeen
		},
	})
	_ = server.HandshakeContext(ctx) // it fails: with errSeen, or as there is no ClientHello
	h.IsUnreadable = !h.IsTLS
	return h
}

// seenConn is the connection of a client that keeps what is read from it, and to which nothing is written.
type seenConn struct {
	net.Conn // nil: only the methods below are called
	early    []byte
	from     io.Reader
	note     func()
	seen     []byte
	again    bool  // what was seen is read once more
	err      error // of reading
}

// Read implements net.Conn.
func (c *seenConn) Read(p []byte) (n int, err error) {
	switch {
	case c.again:
		c.again = false
		return copy(p, c.seen), nil // one byte
	case len(c.early) > 0:
		n = copy(p, c.early)
		c.early = c.early[n:]
	case len(c.seen) > maxHello:
		return 0, errTooLarge
	default:
		if n, err = c.from.Read(p); err != nil {
			c.err = err
		}
		c.note()
	}
	c.seen = append(c.seen, p[:n]...)
	return n, err
}

// Write implements net.Conn: alerts of TLS are for nobody.
func (*seenConn) Write(p []byte) (int, error) { return len(p), nil }

// Close implements net.Conn: who carries the tunnel closes the connection.
func (*seenConn) Close() error { return nil }

// SetWriteDeadline implements net.Conn.
func (*seenConn) SetWriteDeadline(time.Time) error { return nil }
