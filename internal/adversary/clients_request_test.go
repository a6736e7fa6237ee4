package adversary

import (
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
)

// sending is a request of a client, in any version.
type sending struct {
	method, path, version string // "" are GET, / and HTTP/1.1
	// host is sent in Host, or in :authority; target is the request-target by HTTP/1. "" are those of the
	// resource that is asked for.
	host, target string
	fields       []string // "Name: value"
	body         string
}

// octets are those of the request by HTTP/1.
func (r sending) octets() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %s %s\r\nHost: %s\r\n", r.method, r.target, r.version, r.host)
	for _, field := range r.fields {
		text.WriteString(field + "\r\n")
	}
	if r.body != "" {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(r.body))
	}
	return text.String() + "\r\n" + r.body
}

// as returns the request with what is not given, for a resource at a host, and with who asks.
func (r sending) as(agent, scheme, host, path string, absolute bool) sending {
	r.path, r.fields = path+r.path, slices.Clone(r.fields)
	for _, one := range []struct {
		value    *string
		fallback string
	}{{&r.method, http.MethodGet}, {&r.version, "HTTP/1.1"}, {&r.host, host}, {&r.target, r.path}} {
		if *one.value == "" {
			*one.value = one.fallback
		}
	}
	if absolute && strings.HasPrefix(r.target, "/") {
		r.target = scheme + "://" + r.host + r.target
	}
	for _, text := range []*string{&r.target, &r.host} {
		*text = strings.NewReplacer("{host}", host, "{HOST}", strings.ToUpper(host), "{path}", path, "{encoded}", encodedPath(path)).Replace(*text)
	}
	if !slices.ContainsFunc(r.fields, func(field string) bool { return strings.HasPrefix(field, "User-Agent:") }) {
		r.fields = append(r.fields, "User-Agent: "+agent)
	}
	return r
}

// encodedPath returns a path in another spelling: RFC 3986 section 6.2.2.2.
func encodedPath(path string) string {
	last := len(path) - 1
	return fmt.Sprintf("%s%%%02x", path[:last], path[last])
}

// shape is what a victim sends.
type shape struct {
	name   string
	fields []string
}

var (
	bare    = shape{"bare", []string{"Accept: */*"}}
	browser = shape{"browser", []string{
		"Accept: text/html,application/xhtml+xml,*/*;q=0.8", "Accept-Language: de,en;q=0.5", "Sec-Fetch-Site: none",
		"Sec-Fetch-Mode: navigate", "Sec-Fetch-User: ?1", "Sec-Fetch-Dest: document", "Upgrade-Insecure-Requests: 1",
		"Referer: http://a.example/",
	}}
	logged      = shape{"with a Cookie", []string{"Cookie: session=victim"}}
	ranged      = shape{"with Range", []string{"Range: bytes=0-19"}}
	conditional = shape{"conditional", []string{`If-None-Match: "other"`}}
)

// shapes are all that victims send.
func shapes() []shape { return []shape{bare, browser, logged, ranged, conditional} }

// harmless is a shape without the fields that others could not share a response to.
func (s shape) harmless() shape {
	return shape{s.name, slices.DeleteFunc(slices.Clone(s.fields), func(field string) bool {
		name, _, _ := strings.Cut(field, ":")
		return name == "Cookie" || name == "Origin" || name == "Range" || name == "If-None-Match"
	})}
}

// received is what a client got; fault is why it is none, or not whole.
type received struct {
	reply
	fault error
}

// isLast reports whether nothing can follow on the connection.
func (r received) isLast() bool { return r.fault != nil || r.header.Get("Connection") == "close" }

// unequal are the fields that differ between two right responses to the same request: those of the time, the
// connection and the framing, and those in which a proxy says what it did.
var unequal = []string{
	"date", "age", "via", "cache-status", "x-request-id", "proxy-status", "server-timing", "server", "traceresponse",
	"connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "accept-ranges", "trailer",
	"x-serial", "x-varnish", "x-cache", "x-cache-lookup", "alt-svc",
}

// text is all that must be equal. Names of the resource are replaced by those that all have.
func (r received) text(names *strings.Replacer) string {
	if r.fault != nil {
		return "no response: " + names.Replace(r.fault.Error())
	}
	var lines []string
	for name, values := range r.header {
		if !isIn(unequal, strings.ToLower(name)) {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	// Names are at the beginning; a longer body is compared by its hash.
	const most = 64 << 10
	beginning, rest := r.body[:min(most, len(r.body))], ""
	if len(r.body) > most {
		hash := fnv.New64a()
		_, _ = io.WriteString(hash, r.body[most:])
		rest = fmt.Sprintf("... and %d octets of hash %x", len(r.body)-most, hash.Sum64())
	}
	return names.Replace(fmt.Sprintf("%d\n%s\n\n%s", r.status, strings.Join(lines, "\n"), beginning)) + rest
}

// serial says which of the requests that the origin has seen was answered, "" where nothing says it.
func (r received) serial() string { return r.header.Get("X-Serial") }
