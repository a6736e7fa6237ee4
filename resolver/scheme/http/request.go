package http

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"golang.org/x/net/http/httpguts"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver/scheme"
)

var (
	errMethod = errors.New("method not applicable to a resource")
	errField  = errors.New("invalid field")
	errShared = errors.New("HTTP/2 connections to the server are shared, and allow no upgrade")
)

// request is a validated request with its framing.
type request struct {
	scheme.Request
	target  target
	length  int64 // length of the body in bytes; -1 is chunked
	expects bool  // Expect: 100-continue
	upgrade bool
	started bool // the body may have been read in part
	check   func(netip.AddrPort) error
	handler *Handler
	first   exchange // the first attempt
}

// newRequest validates a request and sets its framing; upstream is the proxy to use, nil for none.
func (h *Handler) newRequest(in scheme.Request, upstream *Upstream) (*request, error) {
	if !httpguts.ValidHeaderFieldName(in.Method) || strings.EqualFold(in.Method, http.MethodConnect) {
		return nil, fmt.Errorf("%w: %q", errMethod, in.Method)
	}
	if err := checkFields(in.Fields); err != nil {
		return nil, err
	}
	to, err := newTarget(in, upstream)
	if err != nil {
		return nil, err
	}
	if in.Host != "" && !httpguts.ValidHostHeader(in.Host) {
		return nil, fmt.Errorf("%w: %q", errHostField, in.Host)
	}
	r := &request{Request: in, target: to, upgrade: in.Fields.Has("Upgrade"), check: refusing(in.Check), handler: h}
	if err := r.checkConnection(); err != nil {
		return nil, err
	}
	switch {
	case in.Body == nil:
	case in.ContentLength < 0 || in.Trailer != nil:
		r.length = -1
	default:
		r.length = in.ContentLength
	}
	r.expects = r.length != 0 && httpguts.HeaderValuesContainsToken(in.Fields.Values("Expect"), "100-continue")
	return r, nil
}

// checkConnection returns an error for a request that no connection can carry.
func (r *request) checkConnection() error {
	switch {
	case r.target.h2c && (r.upgrade || r.Bound != nil): // RFC 9113 section 8.6
		return errShared
	case r.target.upstream != Upstream{}:
		return r.handler.checkBehind(r.target.address, r.check)
	default:
		return nil
	}
}

// checkFields rejects bytes that would end a field line, or inject another one: RFC 9110 section 5.
func checkFields(fields httpmessage.Fields) error {
	for _, f := range fields {
		if !httpguts.ValidHeaderFieldName(f.Name) {
			return fmt.Errorf("%w: name %q", errField, f.Name)
		}
		if !httpguts.ValidHeaderFieldValue(f.Value) {
			return fmt.Errorf("%w: value of %s", errField, f.Name)
		}
	}
	return nil
}

// interim forwards an interim response: RFC 9110 section 15.2.
func (r *request) interim(status int, fields httpmessage.Fields) {
	if r.Interim != nil && status != http.StatusContinue {
		r.Interim.Interim(status, fields)
	}
}

// hasBody reports whether the request has a body.
func (r *request) hasBody() bool { return r.length != 0 }

// repeatable reports whether a failed request may be retried automatically: RFC 9110 section 9.2.2.
func (r *request) repeatable(err error) bool {
	if !errors.As(err, new(noResponseError)) || r.started {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	default:
		return false
	}
}

// isSafe reports whether a request may be sent again although the server may be processing it: RFC 9110 section
// 9.2.1.
func (r *request) isSafe() bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !r.hasBody() && !r.started && r.Bound == nil
}

// keepsAlive reports whether the connection may be reused.
func (r *request) keepsAlive() bool {
	return r.Bound != nil ||
		!r.isPrivate() && r.handler.pool.Enabled() &&
			!httpguts.HeaderValuesContainsToken(r.Fields.Values("Connection"), "close")
}

// isPrivate reports whether the server may authenticate the connection as that of the client. It is then used
// for this request only.
func (r *request) isPrivate() bool {
	return r.Bound == nil && scheme.CredentialsOf(r.Fields) != scheme.CredentialsPerRequest
}

func closeBody(body io.Reader) {
	if closer, ok := body.(io.Closer); ok {
		_ = closer.Close()
	}
}
