package problem

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// row is an error with its status, a header field that is required with it, and the
// setting that decides where the text of the error does not name it.
type row struct {
	err         error
	status      int
	name, value string
	setting     string
	// inside is whether the text of the error may tell of the network of urnd, such as addresses: clients get other words.
	inside bool
}

const (
	basic  = `Basic realm="urnd", charset="UTF-8"`
	bearer = `Bearer realm="urnd"` //nolint:gosec // the name of a scheme
)

// statuses is the only table from errors to HTTP statuses. The first row in the chain of an
// error applies; an error in no row is 500.
var statuses = [...]row{
	{err: ErrFetchPerson, status: http.StatusForbidden}, // before what other locations of a name say
	{err: ErrTargetTooLong, status: http.StatusRequestURITooLong},
	{err: ErrHeaderTooLarge, status: http.StatusRequestHeaderFieldsTooLarge},
	{err: ErrVersion, status: http.StatusHTTPVersionNotSupported},
	{err: ErrCoding, status: http.StatusNotImplemented},
	{err: ErrUnknownMethod, status: http.StatusNotImplemented},
	{err: ErrMethod, status: http.StatusMethodNotAllowed},
	{err: ErrTunnelPort, status: http.StatusForbidden},
	{err: httpcache.ErrOnlyIfCached, status: http.StatusGatewayTimeout, inside: true},
	{err: ErrLoop, status: http.StatusLoopDetected},
	{err: ErrMalformed, status: http.StatusBadRequest},
	{err: ErrExpectation, status: http.StatusExpectationFailed},
	{err: ErrHeadTimeout, status: http.StatusRequestTimeout},
	{err: ErrBodyTimeout, status: http.StatusRequestTimeout, inside: true},
	{err: scheme.ErrBody, status: http.StatusBadRequest, inside: true},
	{err: ErrNotTLS, status: http.StatusBadRequest},
	{err: ErrBatchSize, status: http.StatusRequestEntityTooLarge},
	{err: ErrBatchTime, status: http.StatusServiceUnavailable},
	{err: ErrBatch, status: http.StatusBadRequest},
	{err: ErrBatches, status: http.StatusServiceUnavailable},
	{err: ErrConnections, status: http.StatusTooManyRequests},
	{err: ErrRate, status: http.StatusTooManyRequests},
	{err: ErrDatetime, status: http.StatusBadRequest},
	{err: ErrNoPage, status: http.StatusNotFound},
	{err: resolver.ErrCursor, status: http.StatusBadRequest},
	{err: ErrNotAcceptable, status: http.StatusNotAcceptable},
	{err: ErrHost, status: http.StatusForbidden},
	{err: ErrResolveClient, status: http.StatusForbidden},
	{err: ErrBrowseClient, status: http.StatusForbidden},
	{err: ErrProxyClient, status: http.StatusForbidden},
	{err: ErrConnectionAuth, status: http.StatusForbidden},
	{err: ErrFetchSite, status: http.StatusForbidden},
	{err: ErrFetchHost, status: http.StatusForbidden},
	{err: ErrPurgeClient, status: http.StatusForbidden},
	{err: ErrLogin, status: http.StatusUnauthorized, name: "Www-Authenticate", value: basic},
	{err: ErrProxyLogin, status: http.StatusProxyAuthRequired, name: "Proxy-Authenticate", value: basic},
	{err: ErrAdminClient, status: http.StatusForbidden},
	{err: ErrAdminRelayed, status: http.StatusForbidden},
	{err: ErrAdminOrigin, status: http.StatusForbidden},
	{err: ErrAdminCertificate, status: http.StatusForbidden},
	{err: ErrAdminHost, status: http.StatusMisdirectedRequest},
	{err: ErrAdminToken, status: http.StatusUnauthorized, name: "Www-Authenticate", value: bearer},
	{err: ErrAdminPath, status: http.StatusNotFound},
	{err: ErrSelection, status: http.StatusBadRequest},
	{err: ErrPlainLogin, status: http.StatusForbidden},
	{err: ErrForm, status: http.StatusForbidden},
	{err: ErrTokenRequired, status: http.StatusUnauthorized, name: "Www-Authenticate", value: bearer},
	{err: ErrNoRegistry, status: http.StatusNotFound},
	{err: ErrNotDeleted, status: http.StatusMethodNotAllowed},
	{err: ErrPrecondition, status: http.StatusPreconditionRequired},
	{err: ErrUnmatched, status: http.StatusPreconditionFailed},
	{err: ErrContentType, status: http.StatusUnsupportedMediaType},
	{err: ErrDocumentSize, status: http.StatusRequestEntityTooLarge},
	{err: ErrDocument, status: http.StatusBadRequest},
	{err: registry.ErrKeyReused, status: http.StatusUnprocessableEntity},
	{err: registry.ErrShare, status: http.StatusTooManyRequests}, // RFC 6585 section 4
	{err: registry.ErrJobs, status: http.StatusServiceUnavailable},
	{err: registry.ErrExports, status: http.StatusServiceUnavailable},
	{err: registry.ErrNoJobs, status: http.StatusNotImplemented, setting: "StateDirectory of systemd, or cache.directory"},
	{err: registry.ErrJobEnded, status: http.StatusConflict},
	{err: registry.ErrJob, status: http.StatusNotFound},
	{err: registry.ErrToken, status: http.StatusUnauthorized, name: "Www-Authenticate", value: bearer + `, error="invalid_token"`}, // RFC 6750 section 3.1
	{err: registry.ErrNoStore, status: http.StatusServiceUnavailable, inside: true},
	{err: registry.ErrSchema, status: http.StatusServiceUnavailable, inside: true},
	{err: registry.ErrDamaged, status: http.StatusInternalServerError, inside: true},
	{err: registry.ErrDenied, status: http.StatusForbidden},
	{err: registry.ErrUnknown, status: http.StatusNotFound},
	{err: registry.ErrCursor, status: http.StatusBadRequest},
	{err: registry.ErrHistory, status: http.StatusGone},
	{err: registry.ErrConflict, status: http.StatusPreconditionFailed},
	{err: registry.ErrExhausted, status: http.StatusConflict},
	{err: registry.ErrInvalid, status: http.StatusUnprocessableEntity},
	{err: resolver.ErrBusy, status: http.StatusServiceUnavailable, inside: true},
	{err: netguard.ErrOwn, status: http.StatusForbidden, inside: true},
	{err: netguard.ErrForbidden, status: http.StatusForbidden, setting: "access.allow_destinations", inside: true},
	{err: policy.ErrPort, status: http.StatusBadRequest},
	{err: policy.ErrDenied, status: http.StatusForbidden, setting: "proxy.rules"},
	{err: resolver.ErrForbidden, status: http.StatusForbidden, inside: true},
	{err: resolver.ErrNotFound, status: http.StatusNotFound},
	{err: resolver.ErrGone, status: http.StatusGone},
	{err: resolver.ErrUnsupported, status: http.StatusNotFound},
	{err: resolver.ErrService, status: http.StatusNotImplemented},
	{err: scheme.ErrUnsupported, status: http.StatusNotImplemented},
	{err: scheme.ErrMethod, status: http.StatusNotImplemented},
	{err: scheme.ErrPort, status: http.StatusForbidden, setting: "gateways.allow_ports"},
	{err: scheme.ErrOff, status: http.StatusForbidden},
	{err: scheme.ErrResponse, status: http.StatusBadGateway, inside: true},
	{err: httpcache.ErrUnasked, status: http.StatusBadGateway, inside: true},
	{err: context.DeadlineExceeded, status: http.StatusGatewayTimeout, inside: true},
	{err: resolver.ErrUnreachable, status: http.StatusBadGateway, inside: true},
	{err: context.Canceled, status: http.StatusServiceUnavailable, inside: true},
}

// rowOf returns the row of an error.
func rowOf(err error) row {
	if parseOf(err) != nil {
		return row{err: err, status: http.StatusBadRequest}
	}
	var refusal *scheme.Refusal
	if errors.As(err, &refusal) {
		return row{err: err, status: refusal.Status}
	}
	for _, r := range statuses {
		if errors.Is(err, r.err) {
			return r
		}
	}
	var netErr net.Error
	switch {
	case errors.As(err, &netErr) && netErr.Timeout():
		return row{err: context.DeadlineExceeded, status: http.StatusGatewayTimeout, inside: true}
	case netErr != nil:
		return row{err: resolver.ErrUnreachable, status: http.StatusBadGateway, inside: true}
	default:
		return row{err: err, status: http.StatusInternalServerError}
	}
}

// parseOf returns what is wrong with the URI of a client, nil where nothing is: for one that a server or a record gave, or a
// rule made, the client is not to blame.
func parseOf(err error) *uri.ParseError {
	var parse *uri.ParseError
	if !errors.As(err, &parse) || errors.Is(err, resolver.ErrUnreachable) || errors.Is(err, scheme.ErrResponse) {
		return nil
	}
	return parse
}

// Status returns the status for an error.
func Status(err error) int { return rowOf(err).status }

// Setting returns the setting that decides, "" where the text of the error names it or there is none.
func Setting(err error) string { return rowOf(err).setting }

// NotAllowed returns the error of a method that a resource of urnd has not, by those which it has: of one that urnd knows
// nowhere it is another one (RFC 9110 sections 15.5.6 and 15.6.2).
func NotAllowed(method, allow string) error {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace, "PURGE":
		return &MethodError{Allow: allow}
	default:
		return fmt.Errorf("%w: %q", ErrUnknownMethod, method)
	}
}

// MethodError is ErrMethod with the supported methods.
type MethodError struct {
	Allow string // the value of Allow: "GET, HEAD"
}

func (*MethodError) Error() string { return ErrMethod.Error() }

// Unwrap returns ErrMethod.
func (*MethodError) Unwrap() error { return ErrMethod }

// PersonError is ErrFetchPerson with the URI that is retrieved then, without its password, and the target of this server that a
// person opens for it: "" is the one that was asked for, whose password no page shows.
type PersonError struct{ URI, Opens string }

func (*PersonError) Error() string { return ErrFetchPerson.Error() }

// Unwrap returns ErrFetchPerson.
func (*PersonError) Unwrap() error { return ErrFetchPerson }

// fields returns the header fields of a response to an error.
func fields(err error, status int) (fields httpmessage.Fields) {
	if r := rowOf(err); r.name != "" {
		fields.Add(r.name, r.value)
	}
	var method *MethodError
	if errors.As(err, &method) {
		fields.Set("Allow", method.Allow)
	}
	if errors.Is(err, ErrFetchPerson) { // the click on its link is that of a page of this server
		fields.Set("Referrer-Policy", "same-origin")
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		fields.Set("Retry-After", "1")
	}
	return fields
}
