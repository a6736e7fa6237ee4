package forward

import (
	"context"
	"crypto/rand"
	"crypto/sha1" //nolint:gosec // required by RFC 6455 section 4.2.2, not for security
	"encoding/base64"
	"fmt"
	"io"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// An HTTP/2 client opens a WebSocket by an extended CONNECT (RFC 8441); the request to the server uses HTTP/1.1 (RFC
// 6455 section 4). The fields of that handshake are generated and verified by urnd: HTTP/2 has none.
const (
	webSocketKey    = "Sec-WebSocket-Key"
	webSocketAccept = "Sec-WebSocket-Accept"
)

var (
	errUnchanged = fmt.Errorf("%w: the response does not open the WebSocket", scheme.ErrInvalidResponse)
	errAccept    = fmt.Errorf("%w: Sec-WebSocket-Accept does not match the handshake", scheme.ErrInvalidResponse)
)

// IsWebSocket reports whether a protocol is websocket, the only one supported for an extended CONNECT.
func IsWebSocket(protocol string) bool { return uri.EqualFold(protocol, "websocket") }

// newWebSocketKey returns a nonce for a handshake (RFC 6455 section 4.1).
func newWebSocketKey() string {
	var nonce [16]byte
	_, _ = rand.Read(nonce[:]) // never fails
	return base64.StdEncoding.EncodeToString(nonce[:])
}

// acceptOf returns the server's response to a nonce (RFC 6455 section 4.2.2).
func acceptOf(key string) string {
	const guid = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
	sum := sha1.Sum([]byte(key + guid)) //nolint:gosec // see above
	return base64.StdEncoding.EncodeToString(sum[:])
}

// switchStream tells an HTTP/2 client that its WebSocket is open (RFC 8441 section 5), and carries the data
// of both sides on its stream.
func (p *Proxy) switchStream(
	ctx context.Context, w ResponseWriter, agreed httpmessage.Fields, server io.ReadWriteCloser,
) error {
	fields := httpcache.EndToEnd(agreed)
	fields.Del(webSocketAccept)
	client, early, err := p.acceptStream(w, fields)
	if client == nil || err != nil { // the client has disconnected, or the stream cannot be taken over
		return err
	}
	p.tunnels.Relay(ctx, client, early, server, nil)
	return nil
}
