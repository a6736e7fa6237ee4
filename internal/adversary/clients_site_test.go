package adversary

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// site describes an origin's behavior for one resource: the response is a function of the complete request,
// which the body repeats. The zero value responds with 200 and without freshness.
type site struct {
	// fields of each response, "Name: value".
	fields []string
	// reacts returns a status and additional fields for a request; nil is 200.
	reacts func(r *visit) (status int, fields []string)
	// ignores lists request fields that do not change the response, in addition to unkeyed ones.
	ignores []string
	// size is the minimum size of the body in bytes; chunked omits the length, and endless is an infinite body.
	size             int
	chunked, endless bool
	// gated holds requests of attackers until the player releases them; stalls does so within the body.
	gated, stalls bool
	// own handles the request instead of all of the above and reports whether the connection persists. nil does
	// not.
	own func(v *visit) bool
}

// visit is a request received by an origin.
type visit struct {
	*http.Request
	*resource
	content string // content of the request
	conn    *siteConnection
	serial  int // number of the request for this resource, from 1
}

// User-Agent identifies the client; it is a safelisted field that selects nothing.
const (
	attackerAgent = "attacker/1"
	victimAgent   = "victim/1"
)

func (v *visit) isAttacker() bool { return strings.Contains(v.UserAgent(), attackerAgent) }

func (v *visit) isVictim() bool { return v.UserAgent() == victimAgent }

// safelistedFields lists request fields that origins are assumed to ignore unless Vary names them. Origins of
// these tests do not repeat them. A cache could share nothing without this assumption.
var safelistedFields = []string{
	"user-agent", "referer", "dnt", "sec-*", "from", "save-data", "upgrade-insecure-requests", // about the client
	"accept", "accept-*", // negotiation, RFC 9110 section 12.5: Vary names the selecting fields
	"device-memory", "downlink", "dpr", "rtt", "viewport-width", "width", // client hints, the same
	"traceparent", "tracestate", "baggage", "b3", "x-b3-*", "x-request-id", "x-correlation-id", // of traces
	"via", "cdn-loop", "urnd-hops", "max-forwards", // of proxies
	"connection", "keep-alive", "te", "content-length", "expect", "priority", // of the message, RFC 9218
	// Handled by the cache itself, RFC 9111 sections 4.3 and 5.2, RFC 9110 section 14.
	"range", "if-range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "cache-control",
	"pragma",
	// Added to each request by other proxies: the same for all clients.
	"x-varnish",
}

// isIn reports whether a list contains the name of a field; "a*" matches all names beginning with a.
func isIn(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool {
		prefix, isPrefix := strings.CutSuffix(one, "*")
		return one == name || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// folded returns the name of a field in lower case as CGI passes it to programs, which cannot distinguish - and
// _ (RFC 3875 section 4.1.18).
func folded(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// echo returns the text in which a request is repeated. Fields named by Vary are included even if they are
// unkeyed.
func (v *visit) echo() string {
	method := v.Method
	if method == http.MethodHead {
		method = http.MethodGet // RFC 9110 section 9.3.2
	}
	lines := []string{"method " + method, "target " + v.RequestURI, "host " + v.Host, "content " + v.content}
	varying := v.varying()
	for name, values := range v.Header {
		name = folded(name)
		if slices.Contains(varying, name) || !isIn(safelistedFields, name) && !isIn(v.site.ignores, name) {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	return padded(v.names.Replace(strings.Join(lines, "\n")), v.site.size)
}

// padded pads a text to a minimum size.
func padded(text string, size int) string {
	if missing := size - len(text); missing > 0 {
		text += strings.Repeat("\n0123456789abcde", missing/16+1)
	}
	return text
}

// varying returns the names in Vary in lower case.
func (v *visit) varying() (names []string) {
	for _, field := range v.site.fields {
		if list, ok := strings.CutPrefix(field, "Vary: "); ok {
			for name := range strings.SplitSeq(list, ",") {
				names = append(names, strings.ToLower(strings.TrimSpace(name)))
			}
		}
	}
	return names
}

// resource is the state of one resource at an origin.
type resource struct {
	site site
	// names replaces the names of the resource and its server by common ones.
	names *strings.Replacer
	// attackedPort is the port of the attacked server, if there are two.
	attackedPort string
	// arrived is closed when a request of the attacker is received, asked when one of the victim is.
	arrived, requested chan struct{}
	// release releases held requests; failing resets their connection instead.
	release, failing chan struct{}

	mu               sync.Mutex
	serials, at, top int
	lines            []string // the requests, for the report
}

func newResource(s site, names *strings.Replacer) *resource {
	return &resource{
		site: s, names: names, arrived: make(chan struct{}), requested: make(chan struct{}),
		release: make(chan struct{}), failing: make(chan struct{}),
	}
}

// enters counts a request and notes the arrival of its client.
func (r *resource) enters(v *visit) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.serials++
	r.at++
	r.top = max(r.top, r.at)
	v.serial = r.serials
	const most = 40
	if len(r.lines) < most {
		r.lines = append(r.lines, fmt.Sprintf("%s %s Host: %s %.600q", v.Method, v.RequestURI, v.Host, v.Header))
	}
	open := r.requested
	if v.isAttacker() {
		open = r.arrived
	}
	closeOnce(open)
}

func (r *resource) leaves() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at--
}

// seen returns the number of requests, the maximum of concurrent ones, and their lines.
func (r *resource) seen() (all, atOnce int, lines string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.serials, r.top, strings.Join(r.lines, "\n        ")
}

// let ends held requests by a response, or by closing the connection.
func (r *resource) let(end chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	closeOnce(end)
}

// closeOnce closes a channel unless it is closed. It is not safe for concurrent use.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// isHeld waits while the resource holds a request, and reports whether the request may proceed then.
func (v *visit) isHeld() (goesOn bool) {
	late := time.NewTimer(waitLimit)
	defer late.Stop()
	select {
	case <-v.release:
		return true
	case <-v.failing:
		return false
	case <-v.conn.server.done:
		return false
	case <-late.C:
		return false
	}
}
