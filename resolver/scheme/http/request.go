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
	errMethod = errors.New("the method is none of a request for a resource")
	errField  = errors.New("a field that HTTP does not allow")
	errShared = errors.New("the server is asked by HTTP/2, whose connections belong to no client and change no protocol")
)

// request is a request that was checked, with its framing.
type request struct {
	scheme.Request
	target  target
	length  int64 // of the body; -1 is chunked
	expects bool  // 100-continue
	upgrade bool
	begun   bool // the body may have been read in part
	check   func(netip.AddrPort) error
	handler *Handler
	first   exchange // of those that it is sent by
}

// newRequest checks a request, and frames it anew, to be sent through an upstream proxy, nil for none.
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
	r.expects = r.length != 0 && httpguts.HeaderValuesContainsToken(in.Fields.Lines("Expect"), "100-continue")
	return r, nil
}

// checkConnection refuses a request for which no connection could be used.
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

// checkFields refuses what would end a field line, or stand for another one: RFC 9110 section 5.
func checkFields(fields httpmessage.Fields) error {
	for _, f := range fields {
		if !httpguts.ValidHeaderFieldName(f.Name) {
			return fmt.Errorf("%w: the name %q", errField, f.Name)
		}
		if !httpguts.ValidHeaderFieldValue(f.Value) {
			return fmt.Errorf("%w: the value of %s", errField, f.Name)
		}
	}
	return nil
}

// interim passes on an interim response: RFC 9110 section 15.2.
func (r *request) interim(status int, fields httpmessage.Fields) {
	if r.Interim != nil && status != http.StatusContinue {
		r.Interim.Interim(status, fields)
	}
}

// hasBody reports whether a body is sent.
func (r *request) hasBody() bool { return r.length != 0 }

// repeatable reports whether a request that failed may be sent once more: RFC 9110 section 9.2.2.
func (r *request) repeatable(err error) bool {
	if !errors.As(err, new(unanswered)) || r.begun {
		return false
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodOptions, http.MethodTrace, http.MethodPut, http.MethodDelete:
		return true
	default:
		return false
	}
}

// isSafe reports whether a request may be sent again although it may be served at this moment: RFC 9110 section 9.2.1.
func (r *request) isSafe() bool {
	return (r.Method == http.MethodGet || r.Method == http.MethodHead) && !r.hasBody() && !r.begun && r.Bound == nil
}

// keepsAlive reports whether the connection may be used again.
func (r *request) keepsAlive() bool {
	return r.Bound != nil || !r.isPrivate() && r.handler.pool.Enabled() && !httpguts.HeaderValuesContainsToken(r.Fields.Lines("Connection"), "close")
}

// isPrivate reports whether the server may take the connection for that of the client from now on, which then is used
// for this request alone.
func (r *request) isPrivate() bool {
	return r.Bound == nil && scheme.CredentialsOf(r.Fields) != scheme.CredentialsOfRequest
}

func closeBody(body io.Reader) {
	if closer, ok := body.(io.Closer); ok {
		_ = closer.Close()
	}
}
