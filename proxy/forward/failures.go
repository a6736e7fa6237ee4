package forward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// failureTTL is how long a server that failed is avoided where there are others.
const failureTTL = 30 * time.Second

// Failures remembers the servers whose last fetches failed. A server of HTTP that cannot be connected to fails at once:
// no request was sent, and no rule was about its addresses. Else it fails by what two clients saw, with no answer to
// anybody since the request of the second one: what one client asks for may make any server slow, or end the connection.
// It is safe for concurrent use.
type Failures struct {
	backoff *resolver.Backoff // by scheme and authority
}

// NewFailures returns Failures without a failure.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{resolver.NewBackoff(failureTTL, now)}
}

// What is reported of a server: the errors of fetches have what a client requested.
var (
	ErrUnconnectable = errors.New("it cannot be connected to")
	ErrUnanswered    = errors.New("it did not answer two clients")
)

// observed is a scheme.Handler that records its failures.
type observed struct {
	scheme.Handler
	failures *Failures
}

// Observe returns a Handler like next that records which servers fail.
func (f *Failures) Observe(next scheme.Handler) scheme.Handler { return observed{next, f} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	server := serverOf(r.URI)
	if server == "" {
		return o.Handler.Fetch(ctx, r)
	}
	attempt := o.failures.backoff.Begin(server)
	defer attempt.Abandon() // where the error is no failure of the server, and where the handler panics
	resource, err := o.Handler.Fetch(ctx, r)
	if err == nil {
		attempt.Answered()
		return resource, nil
	}
	switch failureScopeOf(server, r, err) {
	case scopeServer:
		attempt.Unreachable(ErrUnconnectable)
	case scopeClient:
		attempt.Failed(quota.Network(r.Client).String(), ErrUnanswered, nil)
	case scopeNone:
	}
	return resource, err
}

// failureScope is for whom a server fails by the error of a fetch.
type failureScope uint8

const (
	scopeNone   failureScope = iota // the error says nothing about the server
	scopeClient                     // for the client that requested
	scopeServer                     // for all clients
)

// failureScopeOf returns the scope of an error. A refusal by urnd and a client that left are not failures of the server;
// nor is a refusal by the server itself, whatever its status: it has answered.
func failureScopeOf(server string, r scheme.Request, err error) failureScope {
	var refusal *scheme.Refusal
	switch {
	case errors.As(err, &refusal) || errors.Is(err, context.Canceled) || problem.Status(err) < http.StatusBadGateway:
		return scopeNone
	// FTP may have sent commands before it connects for data; what is checked for one client may leave others more addresses.
	case strings.HasPrefix(server, "http") && r.Check == nil && isUnreachable(err):
		return scopeServer
	default:
		return scopeClient
	}
}

// isUnreachable reports whether an error is of connecting to an address, to which nothing was sent. What this machine
// lacks, such as a free port, says nothing of the server.
func isUnreachable(err error) bool {
	var operation *net.OpError
	if errors.Is(err, netguard.ErrConnectTimeout) {
		return true
	}
	if !errors.As(err, &operation) || operation.Op != "dial" {
		return false
	}
	for _, cause := range [...]syscall.Errno{syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.ETIMEDOUT, syscall.EHOSTDOWN} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// Avoided returns the servers that are avoided where there are others, as ServerOf names them.
func (f *Failures) Avoided() []resolver.Avoided { return f.backoff.Avoided() }

// Failing reports whether the server of a location failed in the last 30 seconds.
func (f *Failures) Failing(location string) bool {
	if f.backoff.Empty() {
		return false
	}
	server := ServerOf(location)
	return server != "" && f.backoff.Failing(server)
}

// ServerOf returns the scheme and authority of a location, "" where it has none. A server of a site that speaks HTTP/2
// without TLS is one of http.
func ServerOf(location string) string {
	if rest, ok := strings.CutPrefix(location, schemeH2C+"://"); ok {
		location = "http://" + rest
	}
	u, err := uri.Parse(location)
	if err != nil {
		return ""
	}
	return serverOf(u)
}

// serverOf returns the scheme and authority of u, "" where it has no authority.
func serverOf(u uri.URI) string {
	u = u.Normalize()
	authority, ok := u.Authority()
	if !ok {
		return ""
	}
	host, _ := u.Host()
	if name := uri.CanonicalHost(host); name != host {
		return u.Scheme() + "://" + strings.Replace(authority, host, name, 1)
	}
	return u.String()[:len(u.Scheme())+len("://")+len(authority)] // in lower case, as it is normal
}
