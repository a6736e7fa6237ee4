package adversary

import (
	"fmt"
	"hash/fnv"
	"io"
	"net/http"
	"slices"
	"strings"
)

// sending is a request of a client in any version.
type sending struct {
	method, path, version string // "" stands for GET, / and HTTP/1.1
	// host is sent in Host or :authority; target is the request-target in HTTP/1. "" stands for those of the
	// requested resource.
	host, target string
	fields       []string // "Name: value"
	body         string
}

// bytes returns the bytes of the request in HTTP/1.
func (r sending) bytes() string {
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

// as returns the request with missing parts filled in, for a resource at a host, and with the client's name.
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
		*text = strings.NewReplacer("{host}", host, "{HOST}", strings.ToUpper(host), "{path}", path, "{encoded}",
			encodedPath(path)).Replace(*text)
	}
	if !slices.ContainsFunc(r.fields, func(field string) bool { return strings.HasPrefix(field, "User-Agent:") }) {
		r.fields = append(r.fields, "User-Agent: "+agent)
	}
	return r
}

// encodedPath returns an equivalent spelling of a path: RFC 3986 section 6.2.2.2.
func encodedPath(path string) string {
	last := len(path) - 1
	return fmt.Sprintf("%s%%%02x", path[:last], path[last])
}

// shape is the kind of a victim's request.
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

// shapes returns all kinds of victims' requests.
func shapes() []shape { return []shape{bare, browser, logged, ranged, conditional} }

// safelisted returns a shape without keyed fields, which prevent sharing a response.
func (s shape) safelisted() shape {
	return shape{s.name, slices.DeleteFunc(slices.Clone(s.fields), func(field string) bool {
		name, _, _ := strings.Cut(field, ":")
		return name == "Cookie" || name == "Origin" || name == "Range" || name == "If-None-Match"
	})}
}

// received is the response to a client; fault is the error if it is missing or incomplete.
type received struct {
	reply
	failure error
}

// isLast reports whether the connection cannot be used again.
func (r received) isLast() bool { return r.failure != nil || r.header.Get("Connection") == "close" }

// unequal lists fields that differ between two correct responses to the same request: fields about time,
// connection, framing, and the proxy itself.
var unequal = []string{
	"date", "age", "via", "cache-status", "x-request-id", "proxy-status", "server-timing", "server", "traceresponse",
	"connection", "keep-alive", "proxy-connection", "transfer-encoding", "content-length", "accept-ranges", "trailer",
	"x-serial", "x-varnish", "x-cache", "x-cache-lookup", "alt-svc",
}

// text returns all parts that must be equal, with names of the resource replaced by common ones.
func (r received) text(names *strings.Replacer) string {
	if r.failure != nil {
		return "no response: " + names.Replace(r.failure.Error())
	}
	var lines []string
	for name, values := range r.header {
		if !isIn(unequal, strings.ToLower(name)) {
			lines = append(lines, name+": "+strings.Join(values, ", "))
		}
	}
	slices.Sort(lines)
	// Names are at the beginning; the rest of a longer body is compared by its hash.
	const most = 64 << 10
	beginning, rest := r.body[:min(most, len(r.body))], ""
	if len(r.body) > most {
		hash := fnv.New64a()
		_, _ = io.WriteString(hash, r.body[most:])
		rest = fmt.Sprintf("... and %d bytes of hash %x", len(r.body)-most, hash.Sum64())
	}
	return names.Replace(fmt.Sprintf("%d\n%s\n\n%s", r.status, strings.Join(lines, "\n"), beginning)) + rest
}

// serial returns the number of the origin's request that was answered, "" if unknown.
func (r received) serial() string { return r.header.Get("X-Serial") }
