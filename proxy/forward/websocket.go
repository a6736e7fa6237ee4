package forward

import (
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // RFC 6455 section 4.2.2 has it, and it protects nothing
	"encoding/base64"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// A client of HTTP/2 opens a WebSocket by an extended CONNECT (RFC 8441), and its server is asked by HTTP/1.1 (RFC 6455 section 4).
// The fields of the handshake of that are between this server and the other one: by HTTP/2 there are none.
const (
	webSocketKey    = "Sec-WebSocket-Key"
	webSocketAccept = "Sec-WebSocket-Accept"
)

var (
	errUnchanged = fmt.Errorf("%w: it answered without opening the WebSocket", scheme.ErrResponse)
	errAccept    = fmt.Errorf("%w: its Sec-WebSocket-Accept is not that of the handshake", scheme.ErrResponse)
)

// IsWebSocket reports whether a protocol is that of WebSockets, the only one that a client of HTTP/2 can change to.
func IsWebSocket(protocol string) bool { return uri.EqualFold(protocol, "websocket") }

// newWebSocketKey returns the nonce of a handshake: RFC 6455 section 4.1.
func newWebSocketKey() string {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // it never fails
	return base64.StdEncoding.EncodeToString(nonce[:])
}

// acceptOf returns what a server answers to the nonce of a handshake: RFC 6455 section 4.2.2.
func acceptOf(key string) string {
	const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	sum := sha1.Sum([]byte(key + guid)) //nolint:gosec // see above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// switchStream tells a client of HTTP/2 that its WebSocket is open (RFC 8441 section 5), and carries what follows on its stream.
func (p *Proxy) switchStream(ctx context.Context, w ResponseWriter, agreed httpmessage.Fields, server io.ReadWriteCloser) error {
	fields := httpcache.EndToEnd(agreed)
	fields.Del(webSocketAccept)
	client, early, err := p.acceptStream(w, fields)
	if client == nil || err != nil { // it has gone, or cannot be taken over
		return err
	}
	p.tunnels.Carry(ctx, client, early, server, nil)
	return nil
}
