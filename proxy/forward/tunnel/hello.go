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

// Hello describes the first bytes that a client sends in a tunnel.
type Hello struct {
	IsTLS bool // a readable ClientHello (RFC 8446 section 4.1.2); false for anything else
	// Unreadable is whether the bytes begin like TLS, but contain no readable ClientHello. The server may
	// be able to read it.
	Unreadable bool
	// ServerName is the server name in the ClientHello (RFC 6066 section 3), "" for none.
	ServerName string
	// Encrypted is whether it contains, or seems to contain, an encrypted ClientHello (RFC 9849):
	// ServerName is then the outer one.
	Encrypted bool
}

// Check decides by the Hello whether a tunnel continues: an error ends it before the server gets a byte. It is
// called once, before Relay returns, and not if the client sends nothing.
type Check func(Hello) error

// encryptedClientHello is the extension type of RFC 9849 section 5.
const encryptedClientHello = 0xfe0d

// maxHello limits the bytes that are read until they are classified: crypto/tls accepts messages of 64 KiB,
// split into records.
const maxHello = 128 << 10

var (
	errSeen     = errors.New("the ClientHello was read")
	errTooLarge = errors.New("the ClientHello is too large")
)

// checkHello reads the first bytes of a client, however fragmented, and calls its check. The bytes read become
// from.early. The error is that of check, or of reading.
func (t *activity) checkHello(ctx context.Context, from *side) error {
	seen := &seenConn{early: from.early, from: from.Reader, note: t.note}
	hello := readHello(ctx, seen)
	if seen.err != nil && (len(seen.seen) == 0 || !errors.Is(seen.err, io.EOF)) {
		return seen.err
	}
	from.early = append(seen.seen, seen.early...)
	return from.check(hello)
}

// isRecord reports whether a byte is the type of a TLS record that may contain a ClientHello, or that servers
// may skip before it, as Go's do with alerts: change_cipher_spec, alert or handshake (RFC 8446 section 5.1).
func isRecord(first byte) bool { return 20 <= first && first <= 22 }

// readHello reads a ClientHello. Other data is recognized by its first byte, so that it does not wait for
// more, or by an error of the handshake.
func readHello(ctx context.Context, conn *seenConn) (h Hello) {
	var first [1]byte
	if n, _ := conn.Read(first[:]); n == 0 || !isRecord(first[0]) {
		return Hello{}
	}
	conn.again = true
	server := tls.Server(conn, &tls.Config{
		GetConfigForClient: func(info *tls.ClientHelloInfo) (*tls.Config, error) {
			h = Hello{
				IsTLS: true, ServerName: info.ServerName,
				Encrypted: slices.Contains(info.Extensions, encryptedClientHello),
			}
			return nil, errSeen
		},
	})
	_ = server.HandshakeContext(ctx) // always fails: with errSeen, or without a ClientHello
	h.Unreadable = !h.IsTLS
	return h
}

// seenConn is a client's connection that records the bytes read, and discards writes.
type seenConn struct {
	net.Conn // nil: only the methods below are called
	early    []byte
	from     io.Reader
	note     func()
	seen     []byte
	again    bool  // the recorded byte is read again
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

// Write implements net.Conn: TLS alerts are discarded.
func (*seenConn) Write(p []byte) (int, error) { return len(p), nil }

// Close implements net.Conn: the tunnel closes the connection.
func (*seenConn) Close() error { return nil }

// SetWriteDeadline implements net.Conn.
func (*seenConn) SetWriteDeadline(time.Time) error { return nil }
