package adversary

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// site is what an origin does for one resource: the response is a function of the whole request, which
// the body repeats. The zero value answers 200 and says nothing of freshness.
type site struct {
	// fields of each response, "Name: value".
	fields []string
	// reacts returns a status, and further fields, for a request; nil is 200.
	reacts func(r *visit) (status int, fields []string)
	// ignores are fields of requests that do not change the response, beside the harmless ones.
	ignores []string
	// size is that of the body in octets, at least; chunked does not say it, and endless is a body without end.
	size             int
	chunked, endless bool
	// gated holds requests of attackers until the player lets them go; stalls does so in the middle of the body.
	gated, stalls bool
	// own answers in place of all that; it reports whether the connection stays. nil does not.
	own func(v *visit) bool
}

// visit is a request as an origin sees it.
type visit struct {
	*http.Request
	*resource
	content string // of the request
	conn    *siteConnection
	serial  int // of the requests for this resource, from 1
}

// Who is asking is said in User-Agent, which selects nothing: it is harmless by the list.
const (
	attackerAgent = "attacker/1"
	victimAgent   = "victim/1"
)

func (v *visit) isAttacker() bool { return strings.Contains(v.UserAgent(), attackerAgent) }

func (v *visit) isVictim() bool { return v.UserAgent() == victimAgent }

// harmlessFields are the fields of a request that origins are taken not to answer by, unless Vary names
// them: they are left out of what the origins of these tests repeat. That is the rule of issue 23; a
// cache could share nothing without it.
var harmlessFields = []string{
	"user-agent", "referer", "dnt", "sec-*", "from", "save-data", "upgrade-insecure-requests", // who asks, and how
	"accept", "accept-*", // negotiation, RFC 9110 section 12.5: Vary names what selects
	"device-memory", "downlink", "dpr", "rtt", "viewport-width", "width", // client hints, likewise
	"traceparent", "tracestate", "baggage", "b3", "x-b3-*", "x-request-id", "x-correlation-id", // of traces
	"via", "cdn-loop", "urnd-hops", "max-forwards", // of proxies
	"connection", "keep-alive", "te", "content-length", "expect", "priority", // of the message, RFC 9218
	// What the cache itself handles, RFC 9111 sections 4.3 and 5.2 and RFC 9110 section 14.
	"range", "if-range", "if-none-match", "if-modified-since", "if-match", "if-unmodified-since", "cache-control", "pragma",
	// What proxies of other makers add to each request: the same for all.
	"x-varnish",
}

// isIn reports whether a list has the name of a field; "a*" are all that begin with a.
func isIn(list []string, name string) bool {
	return slices.ContainsFunc(list, func(one string) bool {
		prefix, isPrefix := strings.CutSuffix(one, "*")
		return one == name || isPrefix && strings.HasPrefix(name, prefix)
	})
}

// folded is the name of a field as CGI hands it to programs, which see no difference between - and _ (RFC
// 3875 section 4.1.18), in lower case.
func folded(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "-") }

// echo is the text that a request is repeated as. Fields that Vary names count, harmless or not.
func (v *visit) echo() string {
	method := v.Method
	if method == http.MethodHead {
		method = http.MethodGet // RFC 9110 section 9.3.2
	}
	lines := []string{"method " + method, "target " + v.RequestURI, "host " + v.Host, "content " + v.content}
	varying := v.varying()
	for name, values := range v.Header {
		name = folded(name)
		if slices.Contains(varying, name) || !isIn(harmlessFields, name) && !isIn(v.site.ignores, name) {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	return padded(v.names.Replace(strings.Join(lines, "\n")), v.site.size)
}

// padded makes a text so long, at least.
func padded(text string, size int) string {
	if missing := size - len(text); missing > 0 {
		text += strings.Repeat("\n0123456789abcde", missing/16+1)
	}
	return text
}

// varying are the names in Vary, in lower case.
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
	// names replaces the names of the resource and of its server by some that all resources have.
	names *strings.Replacer
	// attackedPort is that of the server that is attacked, where there are two.
	attackedPort string
	// arrived is closed when a request of the attacker is here, asked when one of the victim is.
	arrived, asked chan struct{}
	// release lets what is held go on; failing drops its connection instead.
	release, failing chan struct{}

	mu               sync.Mutex
	serials, at, top int
	lines            []string // the requests, for the report
}

func newResource(s site, names *strings.Replacer) *resource {
	return &resource{
		site: s, names: names, arrived: make(chan struct{}), asked: make(chan struct{}),
		release: make(chan struct{}), failing: make(chan struct{}),
	}
}

// enters counts a request, and says who has arrived.
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
	open := r.asked
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

// seen returns how many requests there were, how many at once at most, and their lines.
func (r *resource) seen() (all, atOnce int, lines string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.serials, r.top, strings.Join(r.lines, "\n        ")
}

// let ends what is held: by an answer, or by the end of the connection.
func (r *resource) let(end chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	closeOnce(end)
}

// closeOnce closes a channel that may be closed; only one goroutine at a time may call it.
func closeOnce(c chan struct{}) {
	select {
	case <-c:
	default:
		close(c)
	}
}

// isHeld waits while the resource holds a request, and reports whether it may go on then.
func (v *visit) isHeld() (goesOn bool) {
	late := time.NewTimer(patience)
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
