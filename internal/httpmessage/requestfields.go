package httpmessage

import (
	"slices"
	"strings"

	"github.com/urnd/urnd/uri"
)

// FieldUse is a bit set that classifies a request header field. The zero value is an unknown field: an origin
// may interpret it in any way, it is forwarded unless Connection names it, and it prevents a response from
// being shared.
type FieldUse uint16

const (
	// Plain is a field that does not affect which stored response is served, apart from the conditions, ranges
	// and content negotiation that the cache implements: RFC 9110 sections 12 to 14. A request with any other
	// field is not served in the goroutine that reads the connection.
	Plain FieldUse = 1 << iota
	// Safelisted is a field that does not prevent a response from being shared; RequestField.Reason says why.
	Safelisted
	// Weighted is a list of alternatives with weights, in which the order is not significant: RFC 9110 section
	// 12.4.2.
	Weighted
	// Conditional is a precondition: RFC 9110 section 13.1.
	Conditional
	// Ranged is a field of range requests: RFC 9110 sections 13.1.5 and 14.2.
	Ranged
	// HopByHop is a field of a single connection, which is neither stored nor forwarded: RFC 9110 section
	// 7.6.1. The fields of proxy authentication are consumed by the proxy.
	HopByHop
	// ConnectionSpecific is a field that makes an HTTP/2 message malformed: RFC 9113 section 8.2.2.
	ConnectionSpecific
	// EndToEnd is a field for all recipients that Connection must not name (RFC 9110 section 7.6.1). It is
	// forwarded even if Connection names it: otherwise a client could remove no-store or a credential and make
	// the cache see another message than the one that was sent.
	EndToEnd
	// Framing is a field about the transmission of the message, which every forwarder generates anew.
	Framing
	// FromProxy is a field in which a proxy in front describes the client or the original request.
	FromProxy
	// NamesClient is a FromProxy field that contains the address of the client.
	NamesClient
	// LoopDetection is a field by which a proxy detects forwarding loops: RFC 9110 section 7.6.3.
	LoopDetection
	// Dropped is a field that is never forwarded.
	Dropped
	// Secret is a field with credentials: TRACE, logs and administrative interfaces never show it.
	Secret
	// Logged is a field whose value is recorded in the access log.
	Logged
)

// RequestField describes a known request header field.
type RequestField struct {
	// Name is the registered spelling of the name, or a prefix followed by "*", which applies to names without
	// a row of their own.
	Name string
	Use  FieldUse
	// Reason is why the field is Safelisted: why no value of it can produce a response that must not be shared.
	// It is "" for a field that is not safelisted.
	Reason string
}

// Reasons for safelisting fields.
const (
	negotiation   = "content negotiation; an origin that selects by it says so in Vary" // RFC 9110 section 12.5.5
	browserFields = "set by browsers, about the client"
	traceFields   = "IDs for traces and logs"
	proxyFields   = "set by each proxy"
	cacheFields   = "handled by the cache" // RFC 9111
	messageFields = "framing"
	unrelated     = "does not change the content"
)

// requestFields is the table of known request fields, sorted by name. Any other field could affect a response,
// because a proxy cannot know which fields an origin reads (X-HTTP-Method-Override, SCRIPT_NAME).
var requestFields = [...]RequestField{
	{"Accept", Plain | EndToEnd | Weighted, negotiation},
	{"Accept-*", EndToEnd, ""},
	{"Accept-Charset", Plain | EndToEnd | Weighted, negotiation},
	{"Accept-Datetime", EndToEnd, negotiation}, // RFC 7089
	{"Accept-Encoding", Plain | EndToEnd | Weighted, negotiation},
	{"Accept-Language", Plain | EndToEnd | Weighted, negotiation},
	{"Access-Control-*", EndToEnd, ""},
	{"Authorization", EndToEnd | Secret, cacheFields}, // section 3.5
	{"B3", 0, traceFields},
	{"Baggage", 0, traceFields},
	{"Cache-Control", EndToEnd, cacheFields},            // section 5.2.1
	{"CDN-Loop", EndToEnd | LoopDetection, proxyFields}, // RFC 8586
	{"Connection", HopByHop | ConnectionSpecific | Framing, ""},
	{"Content-*", EndToEnd, ""}, // package rules safelists Content-* of POST
	{"Content-Length", EndToEnd | Framing, messageFields},
	{"Cookie", Plain | EndToEnd | Secret, cacheFields}, // with it, only explicit freshness counts
	{"Device-Memory", 0, browserFields},
	{"DNT", Plain, browserFields},
	{"Downlink", 0, browserFields},
	{"DPR", 0, browserFields},
	{"Expect", EndToEnd | Framing, messageFields},
	{"Forwarded", Plain | EndToEnd | FromProxy | NamesClient, ""},
	{"From", EndToEnd, unrelated}, // RFC 9110 section 10.1.2
	{"Host", EndToEnd | Framing | Logged, "part of the key"},
	{"HTTP2-Settings", HopByHop, ""},
	{"If-*", EndToEnd, ""},
	{"If-Match", EndToEnd | Conditional, cacheFields},                  // section 4.3.2
	{"If-Modified-Since", Plain | EndToEnd | Conditional, cacheFields}, // section 4.3.2
	{"If-None-Match", Plain | EndToEnd | Conditional, cacheFields},     // section 4.3.2
	{"If-Range", Plain | EndToEnd | Conditional | Ranged, cacheFields}, // section 4.3.2
	{"If-Unmodified-Since", EndToEnd | Conditional, cacheFields},       // section 4.3.2
	{"Keep-Alive", HopByHop | ConnectionSpecific | Framing, ""},
	{"Max-Forwards", EndToEnd, ""},
	// a response that allows a single site is for requests with this field only
	{"Origin", Plain | EndToEnd, cacheFields},
	{"Pragma", EndToEnd, cacheFields}, // section 5.4
	{"Prefer", EndToEnd, ""},
	{"Priority", Plain, unrelated}, // RFC 9218
	{"Proxy", Dropped, ""},         // not an HTTP field: CGI maps it to HTTP_PROXY (CVE-2016-5385)
	{"Proxy-Authenticate", HopByHop, ""},
	{"Proxy-Authentication-Info", HopByHop, ""},
	{"Proxy-Authorization", HopByHop | Secret, ""},
	{"Proxy-Connection", Plain | HopByHop | ConnectionSpecific | Framing, ""},
	{"Range", Plain | EndToEnd | Ranged, cacheFields}, // section 3.3
	{"Referer", Plain | EndToEnd | Logged, unrelated},
	{"RTT", 0, browserFields},
	{"Save-Data", Plain, browserFields},
	{"Sec-*", Plain | EndToEnd, browserFields}, // Fetch section 2.2.2
	{"TE", HopByHop | Framing, ""},
	{"Traceparent", 0, traceFields}, // W3C Trace Context
	{"Tracestate", 0, traceFields},  // W3C Trace Context
	{"Trailer", HopByHop | Framing, ""},
	{"Transfer-Encoding", HopByHop | ConnectionSpecific | Framing, ""},
	{"Upgrade", HopByHop | ConnectionSpecific, ""},
	{"Upgrade-Insecure-Requests", Plain, browserFields},
	{"Urnd-Hops", LoopDetection, proxyFields},
	{"User-Agent", Plain | EndToEnd | Logged, negotiation}, // RFC 9110 section 12.1
	{"Via", Plain | EndToEnd | LoopDetection, proxyFields},
	{"Viewport-Width", 0, browserFields},
	{"Width", 0, browserFields},
	{"X-B3-*", 0, traceFields},
	{"X-Correlation-ID", 0, traceFields},
	{"X-Forwarded-*", EndToEnd | FromProxy, ""},
	{"X-Forwarded-For", Plain | EndToEnd | FromProxy | NamesClient, ""},
	{"X-Forwarded-Host", Plain | EndToEnd | FromProxy, ""},
	{"X-Forwarded-Port", Plain | EndToEnd | FromProxy, ""},
	{"X-Forwarded-Proto", Plain | EndToEnd | FromProxy, ""},
	{"X-Forwarded-Server", Plain | EndToEnd | FromProxy, ""},
	{"X-Real-IP", Plain | EndToEnd | FromProxy | NamesClient, ""},
	{"X-Request-ID", Logged, traceFields},
	{"X-Requested-With", Plain, ""},
}

// RequestFields returns the known request fields, sorted by name.
func RequestFields() []RequestField {
	fields := slices.Clone(requestFields[:])
	for i := range fields {
		fields[i].Use = fields[i].all()
	}
	return fields
}

// all returns the use of a field including Safelisted, which its reason implies.
func (f *RequestField) all() FieldUse {
	if f.Reason != "" {
		return f.Use | Safelisted
	}
	return f.Use
}

// UseOf returns the use of a request header field; the name is case-insensitive. A name with "_" differs from
// the same name with "-", although CGI maps both to one variable (RFC 3875 section 4.1.18).
func UseOf(name string) FieldUse {
	if name == "" {
		return 0
	}
	first := uri.Lower(name[0])
	if len(name) < len(fieldsByName.byLength) {
		last := uri.Lower(name[len(name)-1])
		known := fieldsByName.byLength[len(name)]
		for i := range known {
			f := &known[i]
			if f.last == last && f.first == first && (f.name == name || uri.EqualFold(f.name, name)) {
				return f.use
			}
		}
	}
	prefixes := fieldsByName.prefixes
	for i := range prefixes {
		f := &prefixes[i]
		if f.first == first && len(name) >= len(f.name) && uri.EqualFold(f.name, name[:len(f.name)]) {
			if strings.IndexByte(name, '_') >= 0 {
				return 0
			}
			return f.use
		}
	}
	return 0
}

// indexedField is a name or a prefix of names, with its first and last byte in lower case: a mismatch usually
// shows there.
type indexedField struct {
	name        string
	first, last byte
	use         FieldUse
}

const maxFieldName = len("Proxy-Authentication-Info")

// fieldIndex finds fields by the length of their names, at most maxFieldName bytes, and by their prefixes.
type fieldIndex struct {
	byLength [maxFieldName + 1][]indexedField
	prefixes []indexedField
}

var fieldsByName = newFieldIndex()

func newFieldIndex() *fieldIndex {
	var x fieldIndex
	for _, f := range requestFields {
		name, isPrefix := strings.CutSuffix(f.Name, "*")
		indexed := indexedField{name, uri.Lower(name[0]), uri.Lower(name[len(name)-1]), f.all()}
		if isPrefix {
			x.prefixes = append(x.prefixes, indexed)
		} else {
			x.byLength[len(name)] = append(x.byLength[len(name)], indexed)
		}
	}
	return &x
}
