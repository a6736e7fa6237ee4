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
	ErrTargetTooLong  = errors.New("the request-target is longer than is allowed here")
	ErrHeaderTooLarge = errors.New("the header is larger than is allowed here")
	ErrMalformed      = errors.New("the request is not valid HTTP/1.1 (RFC 9112)")
	ErrHeadTimeout    = errors.New("the client took too long to send the head of its request")
	ErrExpectation    = errors.New("no expectation but 100-continue can be met")
	ErrBodyTimeout    = errors.New("the client took too long to send the next part of its body")
	ErrNotTLS         = errors.New("this port speaks HTTPS, and the request is plain HTTP")
	ErrVersion        = errors.New("this version of HTTP is not spoken here: HTTP/1.1 is, and HTTP/2 where TLS chooses it (ALPN)")
	ErrCoding         = errors.New("no transfer coding but chunked is supported")
	ErrUnknownMethod  = errors.New("this method is not known here")
	ErrMethod         = errors.New("this method is not supported here")
	ErrProtocol       = errors.New("the protocol of a stream or of a connection cannot be changed to this one here: by HTTP/2 it can be to " +
		"websocket alone (RFC 8441), and only for servers that are asked by HTTP/1.1")
	ErrTunnelPort  = errors.New("a tunnel to this port is not allowed")
	ErrLoop        = errors.New("the request has come through this proxy before")
	ErrConnections = errors.New("this client has too many connections")
	ErrRate        = errors.New("this client sends too many requests")
	ErrFetches     = fmt.Errorf("%w: the limit of fetches is reached", resolver.ErrBusy)
	ErrStreams     = fmt.Errorf("%w: the limit of upgraded connections is reached", resolver.ErrBusy)
	ErrDocuments   = fmt.Errorf("%w: the memory for documents is used up; try again in a second", resolver.ErrBusy)
	ErrBatches     = errors.New("too many batches are running; try again in a second")
	ErrBatchTime   = errors.New("the time of the batch is over: send this name again")
	ErrBatch       = errors.New("a batch is a JSON array of strings, or one JSON string a line")
	ErrBatchSize   = errors.New("a batch has at most 10000 URIs and 16 MiB")

	ErrDatetime = errors.New("the field Accept-Datetime has no date of HTTP, such as Thu, 01 May 2031 12:00:00 GMT (RFC " +
		"7089 section 2.1.1)")
	ErrNoPage        = errors.New("there is no page of this address, and it is not the name of anything")
	ErrNotAcceptable = errors.New("the resource exists, but in none of the media types that the client accepts")

	ErrHost          = errors.New("this machine has rights here that are not lent to requests for another host")
	ErrResolveClient = errors.New("this client may not resolve names")
	ErrSiteClient    = errors.New("this client may not ask for this site")
	ErrSiteFetch     = errors.New("this site is for some clients alone, and not shown by others")
	ErrSiteServers   = errors.New("no server of this site takes requests")
	ErrLoginUnknown  = errors.New("it cannot be found out who the client is, or what it may do")
	ErrBrowseClient  = errors.New("this client may not list names")
	ErrProxyClient   = errors.New("this client may not use the proxy")
	ErrFetchSite     = errors.New("a page of another site may only link to what is fetched here, and not load it with the " +
		"rights of its reader")
	ErrFetchPerson = errors.New("a person has to open this: a page of another site may have led the browser here")
	ErrFetchHost   = errors.New("browsers are sent what is fetched here by an address, localhost or a name of this server " +
		"alone: the name of another site may lead here")
	ErrPurgeClient = errors.New("this client may not purge the cache")
	ErrLogin       = errors.New("a user and a password are required")
	ErrProxyLogin  = errors.New("the proxy requires a login")
	ErrSiteLogin   = errors.New("this site requires a user and a password")
	ErrProxyAlone  = errors.New("users log in here by Negotiate, which is for requests to the proxy: this one would need a password, and there are none")

	ErrAdminClient      = errors.New("this client may not use the admin interface")
	ErrAdminCertificate = errors.New("a client certificate of administrators is required")
	ErrAdminHost        = errors.New("the admin interface is not reached by this host name, but by an address, localhost or one " +
		"of listen.names")
	ErrAdminRelayed = errors.New("the request has come through a proxy that is not trusted to name its client")
	ErrAdminOrigin  = errors.New("a page of another site may not use the admin interface")
	ErrAdminPath    = errors.New("the admin interface has no such path")
	ErrAdminToken   = errors.New("the token of administrators is required")
	ErrSelection    = registry.ErrSelection // also for selections of cache entries

	ErrTokenRequired = errors.New("a token is required: one that urnd registry token create makes, or that of administrators")
	ErrPlainLogin    = errors.New("logging in needs TLS (tls.client_ca, or a proxy of access.admin_proxies that has it), or a connection of this machine: " +
		"others could read the token on its way")
	ErrForm = errors.New("the form is not of this page, or was sent before urnd was restarted: load the page again, and send it once more")

	ErrNoRegistry = errors.New("no registry is configured")
	ErrNotDeleted = errors.New("a name that was assigned is never unassigned (RFC 1737 section 2): withdraw it by POST to " +
		"/api/v1/names/withdraw")
	ErrPrecondition = errors.New("there is such an entry already: send its version as If-Match, so that nobody's change is lost")
	ErrUnmatched    = errors.New("the entity tag of the document is none of those in If-Match")
	ErrContentType  = errors.New("the content is not of a media type that is taken here")
	ErrDocument     = errors.New("the document cannot be read")
	ErrDocumentSize = registry.ErrLarge // also for forms
)

// NotHTTP returns the error of a malformed message, with a reason.
func NotHTTP(reason string) error { return fmt.Errorf("%w: %s", ErrMalformed, reason) }

// Errors of connection-based authentication: RFC 4559 section 6.
var (
	ErrConnectionAuth = errors.New("NTLM and Negotiate are about a connection, and requests of several clients may come by this one: " +
		"HTTP/1.1 without a proxy in between is required")
	ErrBound = fmt.Errorf("%w: the limit of connections that belong to a client is reached", resolver.ErrBusy)
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
