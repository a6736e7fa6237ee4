package forward

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/urnd/urnd/internal/netguard"
	"github.com/urnd/urnd/internal/quota"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

const (
	// failureTTL is how long a server that failed is avoided where there are others, and how long the failure of one
	// client waits for that of another.
	failureTTL = 30 * time.Second
	// maxFailing bounds the servers that are remembered.
	maxFailing = 4096
)

// Failures remembers the servers whose last fetches failed. A server of HTTP that cannot be connected to fails at once:
// no request was sent, and no rule was about its addresses. Else it fails by what two clients saw, with no answer to
// anybody since the request of the second one: what one client asks for may make any server slow, or end the connection.
// It is safe for concurrent use.
type Failures struct {
	now func() time.Time

	mu      sync.Mutex
	servers map[string]*health // by scheme and authority; those without requests under way and failures are removed
	spare   *health            // of a server that was removed, for the next one; nil for none
}

// health is what is known of one server.
type health struct {
	underWay int        // fetches, which Proxy bounds
	answered time.Time  // the last answer while fetches are under way
	client   netip.Addr // whose fetch failed last: see quota.Network
	failed   time.Time  // when that was, the zero value where none failed since the last answer
	until    time.Time  // the server is avoided
}

// NewFailures returns Failures without a failure.
func NewFailures(now func() time.Time) *Failures {
	return &Failures{now: now, servers: make(map[string]*health)}
}

// observed is a scheme.Handler that records its failures.
type observed struct {
	scheme.Handler
	failures *Failures
}

// Observe returns a Handler like next that records which servers fail.
func (f *Failures) Observe(next scheme.Handler) scheme.Handler { return observed{next, f} }

// Fetch implements scheme.Handler.
func (o observed) Fetch(ctx context.Context, r scheme.Request) (resource *scheme.Resource, err error) {
	server := serverOf(r.URI)
	if server == "" {
		return o.Handler.Fetch(ctx, r)
	}
	h, begun := o.failures.begin(server)
	err = context.Canceled // where the handler panics
	defer func() { o.failures.end(server, h, r, begun, err) }()
	return o.Handler.Fetch(ctx, r)
}

func (f *Failures) begin(server string) (*health, time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	h := f.servers[server]
	if h == nil {
		if h = f.spare; h == nil {
			h = new(health)
		}
		f.spare = nil
		f.servers[server] = h
	}
	h.underWay++
	return h, f.now()
}

// end records the outcome of a fetch.
func (f *Failures) end(server string, h *health, r scheme.Request, begun time.Time, err error) {
	blame := nobody
	if err != nil {
		blame = blameOf(server, r, err)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	h.underWay--
	switch client := quota.Network(r.Client); {
	case err == nil:
		*h = health{underWay: h.underWay, answered: now}
	case blame == nobody:
	case blame == everybody:
		h.until, h.client, h.failed = now.Add(failureTTL), client, now
	case !h.answered.Before(begun): // it answers others
	case !h.failed.IsZero() && h.client != client && now.Sub(h.failed) < failureTTL:
		h.until = now.Add(failureTTL)
		fallthrough
	default:
		h.client, h.failed = client, now
	}
	switch {
	case !h.failed.IsZero():
		delete(f.servers, server)
		f.servers[strings.Clone(server)] = h // its text may be that of a URI, which is not to stay
		f.makeRoom(now)
	case h.underWay == 0:
		delete(f.servers, server)
		*h = health{}
		f.spare = h
	}
}

// blames is what an error says of a server.
type blames uint8

const (
	nobody    blames = iota // nothing
	oneClient               // that it fails for one client
	everybody               // that it fails for all
)

// blameOf returns what the error of a fetch says of the server. A refusal by urnd and a client that left are not failures
// of the server; nor is a refusal by the server itself, whatever its status: it has answered.
func blameOf(server string, r scheme.Request, err error) blames {
	var refusal *scheme.Refusal
	switch {
	case errors.As(err, &refusal) || errors.Is(err, context.Canceled) || problem.Status(err) < http.StatusBadGateway:
		return nobody
	// FTP may have sent commands before it connects for data; what is checked for one client may leave others more addresses.
	case strings.HasPrefix(server, "http") && r.Check == nil && isUnreachable(err):
		return everybody
	default:
		return oneClient
	}
}

// makeRoom forgets a failure where those of more servers than maxFailing are remembered: one that is over, or the oldest of
// those that only one client has seen, or else the oldest. f.mu is held.
func (f *Failures) makeRoom(now time.Time) {
	if len(f.servers) <= maxFailing {
		return
	}
	first := ""
	for server, h := range f.servers {
		switch {
		case h.underWay > 0:
		case now.Sub(h.failed) >= failureTTL:
			delete(f.servers, server)
		case first == "" || h.isBefore(f.servers[first], now):
			first = server
		}
	}
	if len(f.servers) > maxFailing {
		delete(f.servers, first)
	}
}

// isBefore reports whether a failure is forgotten before another one.
func (h *health) isBefore(other *health, now time.Time) bool {
	if isAvoided := now.Before(h.until); isAvoided != now.Before(other.until) {
		return !isAvoided
	}
	return h.failed.Before(other.failed)
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

// Avoided returns the servers that are avoided where there are others, at most so many.
func (f *Failures) Avoided(most int) (all []resolver.Avoided) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.now()
	for server, h := range f.servers {
		if len(all) == most {
			break
		}
		if now.Before(h.until) {
			all = append(all, resolver.Avoided{Server: server, Until: h.until})
		}
	}
	return all
}

// Failing reports whether the server of a location failed in the last 30 seconds.
func (f *Failures) Failing(location string) bool {
	f.mu.Lock()
	empty := len(f.servers) == 0
	f.mu.Unlock()
	if empty {
		return false
	}
	u, err := uri.Parse(location)
	if err != nil {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	h, ok := f.servers[serverOf(u)]
	return ok && f.now().Before(h.until)
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
