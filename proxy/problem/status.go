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
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// row maps an error to its code, its status, a header field that the status requires, and the setting that
// decides.
type row struct {
	err         error
	code        string // code of the problem in snake_case; stable, and the key of its message in all languages
	status      int
	name, value string
	setting     string
	// internal is true if the text of the error may reveal the internal network, such as addresses: clients get
	// another text.
	internal bool
	// opaque is true if internal is, and the text may quote a program of the site: clients get that of err alone.
	opaque bool
}

const (
	basic  = `Basic realm="urnd", charset="UTF-8"`
	bearer = `Bearer realm="urnd"` //nolint:gosec // the name of a scheme

	// codeInternal is the code of an internal error, whose details are only in the log.
	codeInternal = "internal_error"
)

// statuses is the only table from errors to HTTP statuses. The first row whose error is wrapped applies; an
// error in no row is 500.
var statuses = [...]row{
	// Takes precedence over errors of other locations of a name.
	{err: ErrUserActivation, code: "person_opens", status: http.StatusForbidden},
	{err: ErrTargetTooLong, code: "target_too_long", status: http.StatusRequestURITooLong, setting: "limits.target"},
	{
		err: ErrHeaderTooLarge, code: "header_too_large", status: http.StatusRequestHeaderFieldsTooLarge,
		setting: "limits.header",
	},
	{err: ErrVersion, code: "http_version", status: http.StatusHTTPVersionNotSupported},
	{err: ErrCoding, code: "transfer_coding", status: http.StatusNotImplemented},
	{err: ErrUnknownMethod, code: "method_unknown", status: http.StatusNotImplemented},
	{err: ErrMethod, code: "method_not_supported", status: http.StatusMethodNotAllowed},
	{err: ErrProtocol, code: "protocol_not_supported", status: http.StatusNotImplemented},
	{err: ErrTunnelPort, code: "tunnel_port", status: http.StatusForbidden, setting: "proxy.connect_ports"},
	{err: httpcache.ErrOnlyIfCached, code: "nothing_stored", status: http.StatusGatewayTimeout, internal: true},
	{err: ErrLoop, code: "proxy_loop", status: http.StatusLoopDetected},
	{err: ErrMalformed, code: "request_malformed", status: http.StatusBadRequest},
	{err: ErrExpectation, code: "expectation", status: http.StatusExpectationFailed},
	{err: ErrHeadTimeout, code: "head_timeout", status: http.StatusRequestTimeout, setting: "limits.header_timeout"},
	{
		err: ErrBodyTimeout, code: "body_timeout", status: http.StatusRequestTimeout, internal: true,
		setting: "limits.body_timeout",
	},
	{err: scheme.ErrRequestBody, code: "body_unread", status: http.StatusBadRequest, internal: true},
	{err: ErrNotTLS, code: "plain_http", status: http.StatusBadRequest},
	{err: ErrBatchSize, code: "batch_too_large", status: http.StatusRequestEntityTooLarge},
	{err: ErrBatchTimeout, code: "batch_timeout", status: http.StatusServiceUnavailable},
	{err: ErrBatchSyntax, code: "batch_malformed", status: http.StatusBadRequest},
	{err: ErrTooManyBatches, code: "too_many_batches", status: http.StatusServiceUnavailable},
	{
		err: ErrTooManyConnections, code: "too_many_connections", status: http.StatusTooManyRequests,
		setting: "limits.client_connections",
	},
	{err: ErrTooManyRequests, code: "too_many_requests", status: http.StatusTooManyRequests, setting: "limits.rate"},
	{err: ErrDatetime, code: "datetime_malformed", status: http.StatusBadRequest},
	{err: ErrNoPage, code: "no_page", status: http.StatusNotFound},
	{err: resolver.ErrCursor, code: "list_cursor", status: http.StatusBadRequest},
	{err: route.ErrNamesLong, code: "field_too_long", status: http.StatusBadRequest},
	{err: route.ErrNamesText, code: "field_no_text", status: http.StatusBadRequest},
	{err: route.ErrPath, code: "path_ambiguous", status: http.StatusBadRequest},
	{err: route.ErrNamesStatus, code: "status_unknown", status: http.StatusBadRequest},
	{err: ErrNotAcceptable, code: "not_acceptable", status: http.StatusNotAcceptable},
	{err: ErrUnknownHost, code: "host_without_rights", status: http.StatusForbidden, setting: "listen.names"},
	{
		err: ErrResolveClient, code: "client_may_not_resolve", status: http.StatusForbidden,
		setting: "access.resolve_clients",
	},
	{err: ErrSiteClient, code: "client_may_not_ask_site", status: http.StatusForbidden, setting: "proxy.sites"},
	{err: ErrSiteFetch, code: "site_not_shown", status: http.StatusForbidden, setting: "proxy.sites"},
	{err: ErrSiteServers, code: "site_without_servers", status: http.StatusServiceUnavailable, setting: "proxy.sites"},
	{
		err: ErrBrowseClient, code: "client_may_not_browse", status: http.StatusForbidden,
		setting: "access.browse_clients",
	},
	{err: ErrProxyClient, code: "client_may_not_proxy", status: http.StatusForbidden, setting: "access.proxy_clients"},
	{err: ErrConnectionAuth, code: "connection_authentication", status: http.StatusForbidden, setting: "listen.http2"},
	{err: ErrCrossSiteFetch, code: "fetch_by_other_site", status: http.StatusForbidden, setting: "access.embedders"},
	{err: ErrFetchHost, code: "fetch_by_other_host", status: http.StatusForbidden, setting: "listen.names"},
	{err: ErrPurgeClient, code: "client_may_not_purge", status: http.StatusForbidden, setting: "access.purge_clients"},
	{
		err: ErrLogin, code: "login_required", status: http.StatusUnauthorized, name: "Www-Authenticate", value: basic,
		setting: "access.proxy_users",
	},
	{
		err: ErrSiteLogin, code: "site_login_required", status: http.StatusUnauthorized, name: "Www-Authenticate",
		value: basic, setting: "proxy.sites",
	},
	{
		err: ErrProxyLogin, code: "proxy_login_required", status: http.StatusProxyAuthRequired,
		name: "Proxy-Authenticate", value: basic, setting: "access.proxy_users",
	},
	{err: ErrNegotiateOnly, code: "login_to_proxy_alone", status: http.StatusForbidden, setting: "access.helpers"},
	{
		err: ErrLoginUnavailable, code: "login_unavailable", status: http.StatusServiceUnavailable,
		setting: "access.helpers", internal: true, opaque: true,
	},
	{
		err: ErrAdminClient, code: "client_may_not_administer", status: http.StatusForbidden,
		setting: "access.admin_clients",
	},
	{err: ErrAdminRelayed, code: "admin_relayed", status: http.StatusForbidden, setting: "access.admin_proxies"},
	{err: ErrAdminOrigin, code: "admin_by_other_site", status: http.StatusForbidden},
	{err: ErrAdminCertificate, code: "admin_certificate", status: http.StatusForbidden, setting: "tls.client_ca"},
	{err: ErrAdminHost, code: "admin_host", status: http.StatusMisdirectedRequest},
	{
		err: ErrAdminToken, code: "admin_token", status: http.StatusUnauthorized, name: "Www-Authenticate",
		value: bearer, setting: "access.admin_token",
	},
	{err: ErrAdminPath, code: "admin_path", status: http.StatusNotFound},
	{err: ErrSelection, code: "selection_malformed", status: http.StatusBadRequest},
	{err: ErrLoginWithoutTLS, code: "login_without_tls", status: http.StatusForbidden},
	{err: ErrFormExpired, code: "form_expired", status: http.StatusForbidden},
	{
		err: ErrTokenRequired, code: "token_required", status: http.StatusUnauthorized, name: "Www-Authenticate",
		value: bearer, setting: "access.admin_token",
	},
	{err: ErrNoRegistry, code: "no_registry", status: http.StatusNotFound, setting: "registry.store"},
	{err: ErrNotDeleted, code: "name_not_deleted", status: http.StatusMethodNotAllowed},
	{err: ErrPreconditionRequired, code: "precondition_required", status: http.StatusPreconditionRequired},
	{err: ErrPreconditionFailed, code: "precondition_failed", status: http.StatusPreconditionFailed},
	{err: ErrContentType, code: "content_type", status: http.StatusUnsupportedMediaType},
	{err: ErrDocumentSize, code: "document_too_large", status: http.StatusRequestEntityTooLarge},
	{err: ErrDocument, code: "document_unread", status: http.StatusBadRequest},
	{err: registry.ErrKeyReused, code: "request_key_reused", status: http.StatusUnprocessableEntity},
	{err: registry.ErrTokenLimit, code: "department_share", status: http.StatusTooManyRequests}, // RFC 6585 section 4
	{err: registry.ErrJobLimit, code: "too_many_jobs", status: http.StatusServiceUnavailable},
	{err: registry.ErrExportLimit, code: "too_many_exports", status: http.StatusServiceUnavailable},
	{
		err: registry.ErrJobsDisabled, code: "no_jobs", status: http.StatusNotImplemented,
		setting: "StateDirectory of systemd, or cache.directory",
	},
	{err: registry.ErrJobEnded, code: "job_ended", status: http.StatusConflict},
	{err: registry.ErrUnknownJob, code: "job_unknown", status: http.StatusNotFound},
	// RFC 6750 section 3.1.
	{
		err: registry.ErrInvalidToken, code: "token_not_valid", status: http.StatusUnauthorized,
		name: "Www-Authenticate", value: bearer + `, error="invalid_token"`,
	},
	{err: registry.ErrUnavailable, code: "registry_unavailable", status: http.StatusServiceUnavailable, internal: true},
	{err: registry.ErrSchema, code: "registry_version", status: http.StatusServiceUnavailable, internal: true},
	{err: registry.ErrDamaged, code: codeInternal, status: http.StatusInternalServerError, internal: true},
	{err: registry.ErrDenied, code: "registry_denied", status: http.StatusForbidden},
	{err: registry.ErrUnknown, code: "entry_unknown", status: http.StatusNotFound},
	{err: registry.ErrInvalidCursor, code: "cursor_unknown", status: http.StatusBadRequest},
	{err: registry.ErrForeignCursor, code: "history_gone", status: http.StatusGone},
	{err: registry.ErrConflict, code: "entry_changed", status: http.StatusPreconditionFailed},
	{err: registry.ErrExhausted, code: "numbers_exhausted", status: http.StatusConflict},
	{err: registry.ErrInvalid, code: "entry_not_valid", status: http.StatusUnprocessableEntity},
	{
		err: ErrTooManyFetches, code: "too_many_fetches", status: http.StatusServiceUnavailable,
		setting: "limits.fetches", internal: true,
	},
	{
		err: ErrTooManyStreams, code: "too_many_streams", status: http.StatusServiceUnavailable,
		setting: "limits.streams", internal: true,
	},
	{
		err: ErrDocuments, code: "documents_memory", status: http.StatusServiceUnavailable, setting: "limits.documents",
		internal: true,
	},
	{
		err: ErrTooManyBoundConnections, code: "too_many_bound_connections", status: http.StatusServiceUnavailable,
		setting: "a quarter of limits.outgoing", internal: true,
	},
	{err: resolver.ErrSearchLimit, code: "too_many_browse", status: http.StatusServiceUnavailable, internal: true},
	{err: resolver.ErrBusy, code: "busy", status: http.StatusServiceUnavailable, internal: true},
	{err: netguard.ErrOwn, code: "destination_is_this_server", status: http.StatusForbidden, internal: true},
	{
		err: netguard.ErrForbidden, code: "destination_forbidden", status: http.StatusForbidden,
		setting: "access.allow_destinations", internal: true,
	},
	{err: policy.ErrPort, code: "port_out_of_range", status: http.StatusBadRequest},
	{err: policy.ErrDenied, code: "rule_denies", status: http.StatusForbidden, setting: "proxy.rules"},
	{err: resolver.ErrForbidden, code: "destination_not_allowed", status: http.StatusForbidden, internal: true},
	{err: resolver.ErrNotFound, code: "name_not_found", status: http.StatusNotFound},
	{err: resolver.ErrGone, code: "name_gone", status: http.StatusGone},
	{err: resolver.ErrUnsupported, code: "no_rule", status: http.StatusNotFound},
	{err: resolver.ErrService, code: "service_not_offered", status: http.StatusNotImplemented},
	{err: scheme.ErrUnsupported, code: "scheme_not_supported", status: http.StatusNotImplemented},
	{err: scheme.ErrMethod, code: "scheme_method", status: http.StatusNotImplemented},
	{err: scheme.ErrPort, code: "port_not_allowed", status: http.StatusForbidden, setting: "gateways.allow_ports"},
	{err: scheme.ErrDisabled, code: "scheme_off", status: http.StatusForbidden},
	{err: scheme.ErrInvalidResponse, code: "response_not_valid", status: http.StatusBadGateway, internal: true},
	{err: httpcache.ErrUnexpectedNotModified, code: "unexpected_304", status: http.StatusBadGateway, internal: true},
	{err: context.DeadlineExceeded, code: "timeout", status: http.StatusGatewayTimeout, internal: true},
	{err: resolver.ErrUnreachable, code: "source_unreachable", status: http.StatusBadGateway, internal: true},
	{err: context.Canceled, code: "cancelled", status: http.StatusServiceUnavailable, internal: true},
}

// rowOf returns the row of an error.
func rowOf(err error) row {
	if parseOf(err) != nil {
		return row{err: err, code: "not_valid", status: http.StatusBadRequest}
	}
	var refusal *scheme.StatusError
	if errors.As(err, &refusal) {
		return row{err: err, code: "server_refused", status: refusal.Status}
	}
	for _, r := range statuses {
		if !errors.Is(err, r.err) {
			continue
		}
		if errors.As(err, new(*LoginError)) {
			r.setting = "access.helpers"
		}
		return r
	}
	var netErr net.Error
	switch {
	case errors.As(err, &netErr) && netErr.Timeout():
		return row{err: context.DeadlineExceeded, code: "timeout", status: http.StatusGatewayTimeout, internal: true}
	case netErr != nil:
		return row{
			err: resolver.ErrUnreachable, code: "source_unreachable", status: http.StatusBadGateway,
			internal: true,
		}
	default:
		return row{err: err, code: codeInternal, status: http.StatusInternalServerError}
	}
}

// parseOf returns the syntax error in a URI of the client, nil for none. A URI from a server, a record or a
// rule does not count: the client did not cause it.
func parseOf(err error) *uri.ParseError {
	var parse *uri.ParseError
	if !errors.As(err, &parse) || errors.Is(err, resolver.ErrUnreachable) || errors.Is(err, scheme.ErrInvalidResponse) {
		return nil
	}
	return parse
}

// Status returns the HTTP status for an error.
func Status(err error) int { return rowOf(err).status }

// Setting returns the setting that decides, "" for none.
func Setting(err error) string { return rowOf(err).setting }

// NotAllowed returns the error of a method that a resource does not support; allow lists those that it
// supports. A known method is a 405, an unknown one a 501 (RFC 9110 sections 15.5.6 and 15.6.2).
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
	Allow string // value of Allow: "GET, HEAD"
}

func (*MethodError) Error() string { return ErrMethod.Error() }

// Unwrap returns ErrMethod.
func (*MethodError) Unwrap() error { return ErrMethod }

// LoginError is ErrProxyLogin with the authentication schemes for the client.
type LoginError struct {
	// InProgress is true while a Negotiate login continues; Token is then the server's token in base64.
	InProgress bool
	Token      string
	// HasPasswords is true if the client may log in by a password, too.
	HasPasswords bool
}

func (*LoginError) Error() string { return ErrProxyLogin.Error() }

// Unwrap returns ErrProxyLogin.
func (*LoginError) Unwrap() error { return ErrProxyLogin }

// addTo adds the challenges, the strongest scheme first: RFC 4559 section 4.1, and RFC 9110 section 11.7.1.
func (l *LoginError) addTo(fields *httpmessage.Fields) {
	const name = "Proxy-Authenticate"
	if l.Token != "" {
		fields.Add(name, "Negotiate "+l.Token)
	} else {
		fields.Add(name, "Negotiate")
	}
	if l.HasPasswords {
		fields.Add(name, basic)
	}
}

// UserActivationError is ErrUserActivation: a user activation is required. URI is the URI that it would fetch, without
// its password. Target is the request target of the link that the user opens; "" is the requested target, whose
// password no page shows.
type UserActivationError struct{ URI, Target string }

func (*UserActivationError) Error() string { return ErrUserActivation.Error() }

// Unwrap returns ErrUserActivation.
func (*UserActivationError) Unwrap() error { return ErrUserActivation }

// fields returns the header fields of a response to an error.
func fields(err error, status int) (fields httpmessage.Fields) {
	var login *LoginError
	if r := rowOf(err); errors.As(err, &login) {
		login.addTo(&fields)
	} else if r.name != "" {
		fields.Add(r.name, r.value)
	}
	var method *MethodError
	if errors.As(err, &method) {
		fields.Set("Allow", method.Allow)
	}
	if errors.Is(err, ErrUserActivation) { // the click on its link must count as same-origin
		fields.Set("Referrer-Policy", "same-origin")
	}
	if status == http.StatusServiceUnavailable || status == http.StatusTooManyRequests {
		fields.Set("Retry-After", "1")
	}
	return fields
}
