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
	"net/textproto"
	"net/url"
	"slices"
	"sync/atomic"

	"github.com/urnd/urnd/internal/http1"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

// http2Conn is a connection of HTTP/2, which carries several exchanges at a time: the standard
// library speaks it (RFC 9113).
type http2Conn struct {
	*http.ClientConn
	handler *Handler
	key     key
	from    netip.AddrPort
	shared  bool        // others may use it; under the lock of sharedConns
	used    atomic.Bool // an exchange has begun before
}

func (c *http2Conn) pooled() bool { return c.used.Load() }

// newHTTP2 begins HTTP/2 on a connection, for a first request. One without TLS has no ALPN: that the server speaks HTTP/2
// is known before (RFC 9113 section 3.3).
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
	}
	transport.Protocols.SetHTTP2(r.target.secure)
	transport.Protocols.SetUnencryptedHTTP2(r.target.h2c)
	client, err := transport.NewClientConn(ctx, r.target.scheme(), r.target.address)
	if err != nil {
		_ = opened.Close()
		return nil, fmt.Errorf("beginning HTTP/2: %w", err)
	}
	if err := client.Reserve(); err != nil {
		_ = client.Close()
		return nil, fmt.Errorf("beginning HTTP/2: %w", err)
	}
	c := &http2Conn{ClientConn: client, handler: h, key: r.target.key, from: from}
	if r.keepsAlive() {
		h.shared.add(c)
	}
	client.SetStateHook(func(*http.ClientConn) { h.shared.changed(c) })
	return c, nil
}

// exchange implements carrier, on a connection that has a stream reserved.
func (c *http2Conn) exchange(ctx context.Context, r *request) (*scheme.Resource, error) {
	out, sent := c.request(ctx, r)
	response, err := c.RoundTrip(out)
	if err != nil {
		r.begun = sent.begun.Load()
		return nil, sent.blame(ctx, silence(err))
	}
	c.used.Store(true)
	fields := httpmessage.FromHeader(response.Header)
	if scheme.HasConnectionToken(fields) {
		c.handler.shared.retire(c)
	}
	length := int64(-1)
	if lines := response.Header["Content-Length"]; len(lines) > 0 { // the library takes it for none where it is not valid
		if length, err = http1.ParseLength(lines); err != nil {
			_ = response.Body.Close()
			return nil, responseError(err)
		}
	}
	resource := &scheme.Resource{
		Response: httpmessage.Response{
			Status: response.StatusCode, Reason: http.StatusText(response.StatusCode), Fields: fields,
			ContentLength: length, From: c.from, Trailer: &httpmessage.Trailer{Names: slices.Sorted(maps.Keys(response.Trailer))},
		},
	}
	if http1.HasNoContent(r.Method, response.StatusCode) {
		// The library takes the length of what is not sent for that of a body which is missing.
		_ = response.Body.Close()
		response.Body = http.NoBody
		if r.Method != http.MethodHead {
			resource.ContentLength = 0
		}
	}
	resource.Body = &http2Body{response: response, trailer: resource.Trailer, sent: sent, ctx: ctx}
	return resource, nil
}

// request returns a request for the standard library.
func (c *http2Conn) request(ctx context.Context, r *request) (*http.Request, *sentBody) {
	fields := r.Fields.Filter(func(f httpmessage.Field) bool { return !isFraming(f) })
	if r.takesTrailers() {
		fields.Add("Te", "trailers")
	}
	if r.expects {
		fields.Add("Expect", "100-continue")
	}
	header := http.Header{"User-Agent": nil} // or the library would add its own
	fields.CopyTo(header)
	if r.Interim != nil {
		n := 0
		ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(status int, header textproto.MIMEHeader) error {
			if n++; n > maxInterim {
				return invalid("more than %d interim responses", maxInterim)
			}
			r.interim(status, httpmessage.FromHeader(http.Header(header)))
			return nil
		}})
	}
	// The path is opaque, so that it is sent as it is; the library removes what is before it where that is the Host.
	host := cmp.Or(r.Host, r.target.authority)
	opaque := "//" + host + r.target.line
	if r.target.line == "*" {
		opaque = "*"
	}
	out := (&http.Request{
		Method: r.Method, URL: &url.URL{Scheme: r.target.scheme(), Host: r.target.authority, Opaque: opaque}, Host: host,
		Header: header, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
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

// http2Body is the body of a response of HTTP/2.
type http2Body struct {
	response *http.Response
	trailer  *httpmessage.Trailer
	sent     *sentBody
	ctx      context.Context //nolint:containedctx // it also ends the body, which has no context
}

// Read implements io.Reader. At the end the trailer is complete.
func (b *http2Body) Read(p []byte) (int, error) {
	n, err := b.response.Body.Read(p)
	switch {
	case err == nil:
	case errors.Is(err, io.EOF):
		b.trailer.Fields = httpmessage.FromHeader(b.response.Trailer).Filter(func(f httpmessage.Field) bool { return http1.TrailerField(f.Name) })
	default:
		err = b.sent.blame(b.ctx, err)
	}
	return n, err
}

// Close implements io.Closer.
func (b *http2Body) Close() error {
	err := b.response.Body.Close()
	closeBody(b.sent.Reader)
	return err
}
