package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

var (
	errTargetTooLong  = errors.New("the request-target is longer than limits.target allows")
	errHeaderTooLarge = errors.New("the header is larger than limits.header allows")
	errMethod         = errors.New("this method is not answered here")
	errClient         = errors.New("this client may not use the proxy (access.proxy_clients)")
	errConnect        = errors.New("CONNECT is not offered")
	errLoop           = errors.New("the request came through this proxy before")
	errConnections    = errors.New("this client has as many connections as it may have (limits.client_connections)")
	errRate           = errors.New("this client sends more requests than it may (limits.rate)")
	errResolve        = errors.New("this client may not resolve names (access.resolve_clients)")
	errLogin          = errors.New("a user and a password are asked for (access.proxy_users)")
	errPassword       = errors.New("the proxy asks for a user and a password (access.proxy_users)")
	errFetches        = fmt.Errorf("%w: as many requests fetch something as may (limits.requests)", resolver.ErrBusy)
	errMalformed      = errors.New("the request cannot be read as HTTP/1.1 (RFC 9112)")
)

// statuses is the one table from errors to HTTP status. The first row that is
// in the chain of an error counts; what is in none of them is 500.
var statuses = [...]struct {
	err    error
	status int
}{
	{errTargetTooLong, http.StatusRequestURITooLong},
	{errHeaderTooLarge, http.StatusRequestHeaderFieldsTooLarge},
	{errMethod, http.StatusMethodNotAllowed},
	{errClient, http.StatusForbidden},
	{errConnect, http.StatusNotImplemented},
	{errLoop, http.StatusLoopDetected},
	{errMalformed, http.StatusBadRequest},
	{errBatchSize, http.StatusRequestEntityTooLarge},
	{errBatch, http.StatusBadRequest},
	{errBusy, http.StatusServiceUnavailable},
	{errConnections, http.StatusTooManyRequests},
	{errRate, http.StatusTooManyRequests},
	{errResolve, http.StatusForbidden},
	{errAdmin, http.StatusForbidden},
	{errAdminPage, http.StatusForbidden},
	{errAdminCertificate, http.StatusForbidden},
	{errAdminHost, http.StatusMisdirectedRequest},
	{errAdminToken, http.StatusUnauthorized},
	{errSelection, http.StatusBadRequest},
	{errLogin, http.StatusUnauthorized},
	{errPassword, http.StatusProxyAuthRequired},
	{resolver.ErrBusy, http.StatusServiceUnavailable},
	{resolver.ErrForbidden, http.StatusForbidden},
	{netguard.ErrForbidden, http.StatusForbidden},
	{resolver.ErrNotFound, http.StatusNotFound},
	{resolver.ErrGone, http.StatusGone},
	{resolver.ErrUnsupported, http.StatusNotFound},
	{resolver.ErrService, http.StatusNotImplemented},
	{scheme.ErrUnsupported, http.StatusNotImplemented},
	{context.DeadlineExceeded, http.StatusGatewayTimeout},
	{resolver.ErrUnreachable, http.StatusBadGateway},
	{context.Canceled, http.StatusServiceUnavailable},
}

// statusOf returns the status for an error.
func statusOf(err error) int {
	var parse *uri.ParseError
	if errors.As(err, &parse) {
		return http.StatusBadRequest
	}
	for _, row := range statuses {
		if errors.Is(err, row.err) {
			return row.status
		}
	}
	var netErr net.Error
	if errors.As(err, &netErr) {
		if netErr.Timeout() {
			return http.StatusGatewayTimeout
		}
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}
