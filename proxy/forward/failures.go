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

// failureTTL is how long a failing server is avoided if there are others.
const failureTTL = 30 * time.Second

// Failures records the servers whose last fetches failed. An HTTP server that refuses connections is marked
// at once: no request was sent, and no rule restricted its addresses. Otherwise it takes the failures of two
// clients, with no response to any client since the second one sent its request: a single client may request
// things that make any server slow, or make it close the connection. It is safe for concurrent use.
type Failures struct {
	backoff *resolver.Backoff // by scheme and authority
}

// NewFailures returns empty Failures.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{resolver.NewBackoff(failureTTL, now)}
}

// The reported errors of servers: those of the fetches contain requests of clients.
var (
	ErrUnconnectable = errors.New("connection failed")
	ErrUnanswered    = errors.New("no response to two clients")
)

// observed is a scheme.Handler that records failures.
type observed struct {
	scheme.Handler
	failures *Failures
}

// Wrap returns a Handler like next that records which servers fail.
func (f *Failures) Wrap(next scheme.Handler) scheme.Handler { return observed{next, f} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (*scheme.Resource, error) {
	server := serverOf(r.URI)
	if server == "" {
		return o.Handler.Fetch(ctx, r)
	}
	attempt := o.failures.backoff.Begin(server)
	defer attempt.Abandon() // if the error is not a failure of the server, or the handler panics
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

// failureScope is the set of clients for which a failed fetch marks the server.
type failureScope uint8

const (
	scopeNone   failureScope = iota // none: the error says nothing about the server
	scopeClient                     // the client of the request
	scopeServer                     // all clients
)

// failureScopeOf returns the scope of an error. A denial by urnd and a disconnect of the client are not
// failures of the server, nor is an error response of the server itself, whatever its status.
func failureScopeOf(server string, r scheme.Request, err error) failureScope {
	var refusal *scheme.StatusError
	switch {
	case errors.As(err, &refusal) || errors.Is(err, context.Canceled) || problem.Status(err) < http.StatusBadGateway:
		return scopeNone
	// FTP may have sent commands before it connects for data; a check of one client's addresses may leave
	// other clients more of them.
	case strings.HasPrefix(server, "http") && r.Check == nil && isUnreachable(err):
		return scopeServer
	default:
		return scopeClient
	}
}

// isUnreachable reports whether an error occurred while connecting to an address, before anything was sent. A
// shortage of this machine, such as of free ports, does not count.
func isUnreachable(err error) bool {
	var operation *net.OpError
	if errors.Is(err, netguard.ErrConnectTimeout) {
		return true
	}
	if !errors.As(err, &operation) || operation.Op != "dial" {
		return false
	}
	for _, cause := range [...]syscall.Errno{
		syscall.ECONNREFUSED, syscall.EHOSTUNREACH, syscall.ENETUNREACH,
		syscall.ETIMEDOUT, syscall.EHOSTDOWN,
	} {
		if errors.Is(err, cause) {
			return true
		}
	}
	return false
}

// Avoided returns the servers that are avoided if there are others, in the form of ServerOf.
func (f *Failures) Avoided() []resolver.Avoided { return f.backoff.Avoided() }

// Failing reports whether the server of a location is marked: it has failed in the last 30 seconds.
func (f *Failures) Failing(location string) bool {
	if f.backoff.Empty() {
		return false
	}
	server := ServerOf(location)
	return server != "" && f.backoff.Failing(server)
}

// ServerOf returns the scheme and authority of a location, "" without an authority. The scheme h2c, of a
// site's server with HTTP/2 without TLS, is returned as http.
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

// serverOf returns the scheme and authority of u, "" without an authority.
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
	return u.String()[:len(u.Scheme())+len("://")+len(authority)] // in lower case, because u is normalized
}
