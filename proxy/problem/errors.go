package problem

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// Errors of rejected requests. The table statuses has the setting that decides, if any.
var (
	ErrTargetTooLong  = errors.New("the request target is too long")
	ErrHeaderTooLarge = errors.New("the request header is too large")
	ErrMalformed      = errors.New("the request is not valid HTTP/1.1 (RFC 9112)")
	ErrHeadTimeout    = errors.New("the client took too long to send the request header")
	ErrExpectation    = errors.New("the only supported expectation is 100-continue")
	ErrBodyTimeout    = errors.New("the client took too long to send the request body")
	ErrNotTLS         = errors.New("this port requires HTTPS, but the request is plain HTTP")
	ErrVersion        = errors.New("this HTTP version is not supported: use HTTP/1.1, or HTTP/2 over TLS (ALPN)")
	ErrCoding         = errors.New("the only supported transfer coding is chunked")
	ErrUnknownMethod  = errors.New("this method is unknown")
	ErrMethod         = errors.New("this resource does not support the method")
	ErrProtocol       = errors.New("this protocol upgrade is not supported: HTTP/2 streams support websocket only " +
		"(RFC 8441), and only with origins that urnd requests by HTTP/1.1")
	ErrTunnelPort         = errors.New("tunnels to this port are not allowed")
	ErrLoop               = errors.New("the request has already passed through this proxy")
	ErrTooManyConnections = errors.New("this client has too many connections")
	ErrTooManyRequests    = errors.New("this client sends too many requests")
	ErrTooManyFetches     = fmt.Errorf("%w: the limit of fetches is reached", resolver.ErrBusy)
	ErrTooManyStreams     = fmt.Errorf("%w: the limit of upgraded connections is reached", resolver.ErrBusy)
	ErrDocuments          = fmt.Errorf("%w: the memory limit of documents is reached; retry in a second",
		resolver.ErrBusy)
	ErrTooManyBatches = errors.New("too many batches are running; retry in a second")
	ErrBatchTimeout   = errors.New("the batch timed out before this name: send it again")
	ErrBatchSyntax    = errors.New("a batch is a JSON array of strings, or one JSON string per line")
	ErrBatchSize      = errors.New("a batch has at most 10000 URIs and 16 MiB")

	ErrDatetime = errors.New("Accept-Datetime is not an HTTP date such as Thu, 01 May 2031 12:00:00 GMT (RFC " +
		"7089 section 2.1.1)")
	ErrNoPage        = errors.New("there is no page at this address, and it is not an identifier")
	ErrNotAcceptable = errors.New("the resource exists, but in no media type that the client accepts")

	ErrUnknownHost = errors.New("unknown host name: requests with the privileges of this machine must use an " +
		"address, localhost or a name of this server")
	ErrResolveClient    = errors.New("this client is not allowed to resolve names")
	ErrSiteClient       = errors.New("this client is not allowed to access this site")
	ErrSiteFetch        = errors.New("this site is restricted to some clients, and cannot be fetched here")
	ErrSiteServers      = errors.New("no server of this site takes requests")
	ErrLoginUnavailable = errors.New("the client cannot be authenticated or authorized at the moment; retry later")
	ErrBrowseClient     = errors.New("this client is not allowed to list names")
	ErrProxyClient      = errors.New("this client is not allowed to use the proxy")
	ErrCrossSiteFetch   = errors.New("cross-site request: pages of other sites may link to fetched resources, but " +
		"not embed them")
	ErrUserActivation = errors.New("the user has to confirm this request, because another site may have sent the " +
		"browser here")
	ErrFetchHost = errors.New("unknown host name: browsers must use an address, localhost or a name of this " +
		"server to fetch")
	ErrPurgeClient   = errors.New("this client is not allowed to purge the cache")
	ErrLogin         = errors.New("a user name and a password are required")
	ErrProxyLogin    = errors.New("the proxy requires authentication")
	ErrSiteLogin     = errors.New("this site requires a user name and a password")
	ErrNegotiateOnly = errors.New("users log in by Negotiate, which only proxy requests support; this request " +
		"would need a password, and no passwords are configured")

	ErrAdminClient      = errors.New("this client is not allowed to use the admin interface")
	ErrAdminCertificate = errors.New("an administrator's client certificate is required")
	ErrAdminHost        = errors.New("unknown host name: use an address, localhost or one of listen.names for the " +
		"admin interface")
	ErrAdminRelayed = errors.New("the request came through a proxy that is not trusted to forward the client address")
	ErrAdminOrigin  = errors.New("cross-site request: pages of other sites are not allowed to use the admin interface")
	ErrAdminPath    = errors.New("the admin interface has no such path")
	ErrAdminToken   = errors.New("the administrator token is required")
	ErrSelection    = registry.ErrInvalidParameters // also for selections of cache entries

	ErrTokenRequired = errors.New("a token is required: create one by urnd registry token create, or use the " +
		"administrator token")
	ErrLoginWithoutTLS = errors.New("the login requires TLS (tls.client_ca, or a proxy of access.admin_proxies with " +
		"TLS) or a local connection, because the token could be read in transit")
	ErrFormExpired = errors.New("the form is invalid or has expired: reload the page and submit it again")

	ErrNoRegistry = errors.New("no registry is configured")
	ErrNotDeleted = errors.New("an assigned name cannot be deleted (RFC 1737 section 2): withdraw it by " +
		"POST to /api/v1/names/withdraw")
	ErrPreconditionRequired = errors.New("the entry already exists: send its version in If-Match to prevent lost " +
		"updates")
	ErrPreconditionFailed = errors.New("the current entity tag does not match If-Match")
	ErrContentType        = errors.New("the media type of the content is not supported")
	ErrDocument           = errors.New("the document cannot be read")
	ErrDocumentSize       = registry.ErrTooLarge // also for forms
)

// NotHTTP returns the error of a malformed message, with a reason.
func NotHTTP(reason string) error { return fmt.Errorf("%w: %s", ErrMalformed, reason) }

// Errors of connection-based authentication: RFC 4559 section 6.
var (
	ErrConnectionAuth = errors.New("NTLM and Negotiate authenticate a connection, and this one may carry requests " +
		"of several clients: use HTTP/1.1 without a proxy in between")
	ErrTooManyBoundConnections = fmt.Errorf("%w: the limit of connections bound to a client is reached",
		resolver.ErrBusy)
)

// Malformed returns the error of a request that the server rejects before any handler: by its status, its
// reason ("" for none), and the request target as far as it was read.
func Malformed(status int, reason, target string, maxTarget int, plainHTTP bool) error {
	switch {
	case plainHTTP:
		return ErrNotTLS
	case len(target) > maxTarget:
		return ErrTargetTooLong
	case status == http.StatusRequestHeaderFieldsTooLarge:
		return ErrHeaderTooLarge
	}
	switch status {
	case http.StatusHTTPVersionNotSupported:
		return ErrVersion
	case http.StatusNotImplemented:
		return ErrCoding
	case http.StatusExpectationFailed:
		return ErrExpectation
	case http.StatusRequestTimeout:
		return ErrHeadTimeout
	}
	var parse *uri.ParseError
	if _, err := route.Parse(target); target != "" && errors.As(err, &parse) {
		return parse
	}
	if reason != "" {
		return NotHTTP(reason)
	}
	return ErrMalformed
}
