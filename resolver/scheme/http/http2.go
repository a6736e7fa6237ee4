package http

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"sync/atomic"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// http2Conn is an HTTP/2 connection, which carries concurrent exchanges as streams. The standard library
// implements it (RFC 9113).
type http2Conn struct {
	*http.ClientConn
	handler *Handler
	key     key
	from    netip.AddrPort
	shared  bool        // other requests may use it; guarded by sharedConns.mu
	used    atomic.Bool // it has carried an exchange
}

func (c *http2Conn) pooled() bool { return c.used.Load() }

// receiveWindow is how many bytes of a response an origin may send that the client has not read: RFC 9113 section
// 5.2. It limits the rate, to a window a round trip, and the memory that a slow client may take: the library would
// allow 4 MiB.
const receiveWindow = 1 << 20

// newHTTP2 starts HTTP/2 on a connection and reserves a stream for the first request. Without TLS there is no
// ALPN, so the server must be known to speak HTTP/2 (RFC 9113 section 3.3).
func (h *Handler) newHTTP2(ctx context.Context, opened net.Conn, r *request, from netip.AddrPort) (*http2Conn, error) {
	use := func(context.Context, string, string) (net.Conn, error) { return opened, nil }
	transport := &http.Transport{
		DialContext:            use,
		DialTLSContext:         use,
		Protocols:              new(http.Protocols),
		DisableCompression:     true, // the client gets the content coding that it requested
		DisableKeepAlives:      false,
		IdleConnTimeout:        h.config.IdleTimeout,
		ResponseHeaderTimeout:  h.config.HeaderTimeout,
		ExpectContinueTimeout:  h.config.ContinueTimeout,
		MaxResponseHeaderBytes: http1.MaxResponseHead,
		HTTP2:                  &http.HTTP2Config{MaxReceiveBufferPerStream: receiveWindow},
	}
	transport.Protocols.SetHTTP2(r.target.secure)
	transport.Protocols.SetUnencryptedHTTP2(r.target.h2c)
	client, err := transport.NewClientConn(ctx, r.target.scheme(), r.target.address)
	if err != nil {
		_ = opened.Close()
		return nil, fmt.Errorf("starting HTTP/2: %w", err)
	}
	if err := client.Reserve(); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("starting HTTP/2: %w", err)
	}
	c := &http2Conn{ClientConn: client, handler: h, key: r.target.key, from: from}
	if r.keepsAlive() {
		h.shared.add(c)
	}
	client.SetStateHook(func(*http.ClientConn) { h.shared.changed(c) })
	return c, nil
}

// exchange implements carrier. A stream must have been reserved.
func (c *http2Conn) exchange(ctx context.Context, r *request) (*scheme.Resource, error) {
	stream, cancel := context.WithCancel(ctx)
	if r.Interim != nil {
		relay := &interimRelay{request: r}
		defer relay.end()
		stream = httptrace.WithClientTrace(stream, &httptrace.ClientTrace{Got1xxResponse: relay.add})
	}
	var stall *stallTimer
	if timeout := c.handler.config.StallTimeout; timeout > 0 {
		stall = &stallTimer{timeout: timeout, cancel: cancel}
	}
	out, sent := c.request(stream, r)
	sent.stall = stall
	response, err := c.RoundTrip(out)
	if err != nil {
		cancel()
		r.started = sent.started.Load()
		if isTimeout(err) { // the connection may be dead: the library would use it for the next requests, too
			c.handler.shared.retire(c)
		}
		return nil, sent.blame(ctx, wrapNoResponse(err))
	}
	c.used.Store(true)
	fields := httpmessage.FromHeader(response.Header)
	if scheme.HasConnectionToken(fields) {
		c.handler.shared.retire(c)
	}
	length := int64(-1)
	if lines := response.Header["Content-Length"]; len(lines) > 0 { // the library ignores an invalid Content-Length
		if length, err = http1.ParseLength(lines); err != nil {
			_ = response.Body.Close()
			cancel()
			return nil, responseError(err)
		}
	}
	resource := &scheme.Resource{
		Response: httpmessage.Response{
			Status: response.StatusCode, Reason: http.StatusText(response.StatusCode), Fields: fields,
			ContentLength: length, RemoteAddr: c.from,
			Trailer: &httpmessage.Trailer{Names: slices.Sorted(maps.Keys(response.Trailer))},
		},
	}
	if http1.HasNoContent(r.Method, response.StatusCode) {
		// The library would report the Content-Length of a body that is not sent as a missing body.
		_ = response.Body.Close()
		response.Body = http.NoBody
		if r.Method != http.MethodHead {
			resource.ContentLength = 0
		}
	}
	resource.Body = &http2Body{
		response: response, trailer: resource.Trailer, sent: sent, ctx: ctx, stall: stall, cancel: cancel,
	}
	return resource, nil
}

// request converts a request for the standard library.
func (c *http2Conn) request(ctx context.Context, r *request) (*http.Request, *sentBody) {
	fields := r.Fields.Filter(func(f httpmessage.Field) bool { return !isFraming(f) })
	if r.takesTrailers() {
		fields.Add("Te", "trailers")
	}
	if r.expects {
		fields.Add("Expect", "100-continue")
	}
	header := http.Header{"User-Agent": nil} // nil keeps the library from adding its own
	fields.CopyTo(header)
	// An opaque URL keeps the path unchanged; the library removes the authority from it if it equals Host.
	host := cmp.Or(r.Host, r.target.authority)
	opaque := "//" + host + r.target.line
	if r.target.line == "*" {
		opaque = "*"
	}
	out := (&http.Request{
		Method: r.Method, URL: &url.URL{Scheme: r.target.scheme(), Host: r.target.authority, Opaque: opaque},
		Host: host, Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	sent := &sentBody{Reader: r.Body}
	if r.hasBody() {
		out.Body, out.ContentLength = sent, r.length
		if r.Trailer != nil {
			out.Trailer = r.Trailer.Announced()
			out.Body = httpmessage.AtEnd(sent, func() { r.Trailer.Fields.CopyTo(out.Trailer) })
		}
	}
	return out, sent
}

// http2Body is the body of an HTTP/2 response.
type http2Body struct {
	response *http.Response
	trailer  *httpmessage.Trailer
	sent     *sentBody
	ctx      context.Context //nolint:containedctx // its cancellation also ends the body, which has no context
	stall    *stallTimer
	cancel   context.CancelFunc
}

// Read implements io.Reader. At io.EOF the trailer section is complete.
func (b *http2Body) Read(p []byte) (int, error) {
	b.stall.begin()
	n, err := b.response.Body.Read(p)
	expired := b.stall.end()
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.trailer.Fields = httpmessage.FromHeader(b.response.Trailer).Filter(func(f httpmessage.Field) bool {
			return http1.TrailerField(f.Name)
		})
	case expired:
		err = fmt.Errorf("reading the response: %w", os.ErrDeadlineExceeded)
	default:
		err = b.sent.blame(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *http2Body) Close() error {
	err := b.response.Body.Close()
	b.cancel()
	closeBody(b.sent.Reader)
	return err
}
