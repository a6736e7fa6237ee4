// Package http fetches "http" and "https" resources.
package http

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
)

// Config is the configuration of a Handler.
type Config struct {
	// Dial opens connections. It must restrict destinations.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// HeaderTimeout is how long an origin may take to send the header of its response.
	HeaderTimeout time.Duration
	// MaxIdle bounds the idle connections; 0 disables keep-alive.
	MaxIdle int
}

// Handler fetches by HTTP. It does not follow redirects, and has no cache. The caller must
// close it. It is safe for concurrent use.
type Handler struct {
	transport *http.Transport
}

// New returns a Handler.
func New(config Config) *Handler {
	return &Handler{transport: &http.Transport{
		DialContext:            config.Dial,
		DisableCompression:     true, // the client gets the content coding that it requested
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           config.MaxIdle,
		DisableKeepAlives:      config.MaxIdle == 0,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        90 * time.Second,
		TLSHandshakeTimeout:    10 * time.Second,
		ResponseHeaderTimeout:  config.HeaderTimeout,
		MaxResponseHeaderBytes: 256 << 10,
	}}
}

// Fetch implements scheme.Handler.
func (h *Handler) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	body := &requestBody{Reader: r.Body}
	var reader io.Reader
	if r.Body != nil {
		reader = body
	}
	request, err := http.NewRequestWithContext(ctx, r.Method, r.URI.String(), reader)
	if err != nil {
		return nil, fmt.Errorf("fetching %s: %w", r.URI.Scheme(), err)
	}
	request.Header = r.Header
	request.ContentLength = r.ContentLength
	response, err := h.RoundTrip(request) //nolint:bodyclose // the caller of Fetch closes it
	if err != nil {
		return nil, body.blame(err)
	}
	return &scheme.Resource{
		Status: response.StatusCode, Header: response.Header, Trailer: response.Trailer,
		Body: response.Body, ContentLength: response.ContentLength,
	}, nil
}

// RoundTrip implements http.RoundTripper, for clients that make requests of their own. Its
// errors are of the same kinds as those of Fetch.
func (h *Handler) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := h.transport.RoundTrip(request)
	if err == nil {
		if err = check(request, response); err == nil {
			return response, nil
		}
		_ = response.Body.Close()
	}
	kind := resolver.ErrUnreachable
	var netErr net.Error
	switch {
	case errors.Is(err, netguard.ErrForbidden):
		kind = resolver.ErrForbidden
	case errors.As(err, &netErr) && netErr.Timeout():
		kind = context.DeadlineExceeded
	}
	return nil, fmt.Errorf("fetching from %s: %w: %w", request.URL.Hostname(), kind, err)
}

// Close closes idle connections.
func (h *Handler) Close() { h.transport.CloseIdleConnections() }
