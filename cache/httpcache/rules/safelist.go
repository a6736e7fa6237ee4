package rules

import (
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
)

// SafelistedField is a field of requests that does not keep a response from being stored for others.
type SafelistedField struct {
	// Name is the name as net/http spells it, or the beginning of names where it ends with "*".
	Name, Reason string
}

// The reasons.
const (
	negotiation = "negotiates a representation: an origin that selects by it says so in Vary (RFC 9110 section 12.5.5)"
	ofBrowsers  = "set by browsers; tells about the client, not about the resource"
	ofTraces    = "names a request for traces and logs"
	ofProxies   = "added by each proxy on the way, by urnd too"
	ofTheCache  = "handled by the cache (RFC 9111)"
	ofMessages  = "frames a message, or says how it is sent"
)

// safelisted are the fields whose values cannot make a response that others must not get, and those that the
// rules of this cache handle. All others could have made a response: an open world, since nobody can know
// what an origin looks at (X-Forwarded-Host, X-HTTP-Method-Override, SCRIPT_NAME).
var safelisted = [...]SafelistedField{
	{"Accept", negotiation},
	{"Accept-Charset", negotiation},
	{"Accept-Datetime", negotiation + ", also of times (RFC 7089)"},
	{"Accept-Encoding", negotiation},
	{"Accept-Language", negotiation},
	{"Authorization", ofTheCache + ": section 3.5"},
	{"B3", ofTraces},
	{"Baggage", ofTraces},
	{"Cache-Control", ofTheCache + ": section 5.2.1"},
	{"Cdn-Loop", ofProxies + " (RFC 8586)"},
	{"Content-Length", ofMessages},
	{"Cookie", ofTheCache + ": with it only explicit freshness counts"},
	{"Device-Memory", ofBrowsers},
	{"Dnt", ofBrowsers},
	{"Downlink", ofBrowsers},
	{"Dpr", ofBrowsers},
	{"Expect", ofMessages},
	{"From", "tells who runs a robot (RFC 9110 section 10.1.2)"},
	{"Host", "is part of the key"},
	{"If-Match", ofTheCache + ": section 4.3.2"},
	{"If-Modified-Since", ofTheCache + ": section 4.3.2"},
	{"If-None-Match", ofTheCache + ": section 4.3.2"},
	{"If-Range", ofTheCache + ": section 4.3.2"},
	{"If-Unmodified-Since", ofTheCache + ": section 4.3.2"},
	{"Origin", ofTheCache + ": a response that allows one site alone is for requests with this field alone"},
	{"Pragma", ofTheCache + ": section 5.4"},
	{"Priority", "says how urgent a response is (RFC 9218)"},
	{"Range", ofTheCache + ": section 3.3"},
	{"Referer", "tells where the client comes from"},
	{"Rtt", ofBrowsers},
	{"Save-Data", ofBrowsers},
	{"Sec-*", ofBrowsers + " (Fetch section 2.2.2)"},
	{"Traceparent", ofTraces + " (W3C Trace Context)"},
	{"Tracestate", ofTraces + " (W3C Trace Context)"},
	{"Upgrade-Insecure-Requests", ofBrowsers},
	{"Urnd-Hops", ofProxies},
	{"User-Agent", "tells which program asks; an origin that selects by it says so in Vary"},
	{"Via", ofProxies},
	{"Viewport-Width", ofBrowsers},
	{"Width", ofBrowsers},
	{"X-B3-*", ofTraces},
	{"X-Correlation-Id", ofTraces},
	{"X-Request-Id", ofTraces},
}

// SafelistedFields returns the fields that are safelisted in each Cache, in the order of their names.
func SafelistedFields() []SafelistedField { return slices.Clone(safelisted[:]) }

// fieldSet is a set of names of fields, and of their beginnings.
type fieldSet struct {
	names    map[string]bool // as net/http spells them
	prefixes []string        // likewise
}

func newFieldSet(names []string) *fieldSet {
	set := &fieldSet{names: make(map[string]bool, len(names))}
	for _, name := range names {
		set.add(http.CanonicalHeaderKey(folded(name)))
	}
	return set
}

// safelistedNames returns the names of the safelisted fields.
func safelistedNames() []string {
	names := make([]string, 0, len(safelisted))
	for _, one := range safelisted {
		names = append(names, one.Name)
	}
	return names
}

func (s *fieldSet) add(name string) {
	if prefix, ok := strings.CutSuffix(name, "*"); ok {
		s.prefixes = append(s.prefixes, http.CanonicalHeaderKey(prefix))
		return
	}
	s.names[name] = true
}

// has reports whether a field is in the set, by its name as net/http spells it.
func (s *fieldSet) has(name string) bool {
	begins := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
	return s.names[name] || slices.ContainsFunc(s.prefixes, begins)
}

// folded returns the name of a field with "-" for "_": CGI, WSGI and PHP take them for the same (RFC 3875
// section 4.1.18).
func folded(name string) string { return strings.ReplaceAll(name, "_", "-") }

// Safelist are the fields of requests that cannot have made a response which others must not get.
type Safelist struct {
	known, configured *fieldSet
}

// NewSafelist returns the safelist with further names, or beginnings of names where they end with "*".
func NewSafelist(names []string) *Safelist {
	return &Safelist{newFieldSet(safelistedNames()), newFieldSet(names)}
}

// has reports whether a field of a request cannot have made a response that others must not get. One that an
// application takes for another field is not safelisted as that one is: no Vary names it, and no rule of the cache has
// seen it.
func (l *Safelist) has(name string, r *httpmessage.Request, added []string) bool {
	switch {
	case l.known.names[name]: // nearly all are
		return true
	case l.configured.has(http.CanonicalHeaderKey(folded(name))), slices.Contains(added, name):
		return true
	case strings.Contains(name, "_"):
		return false
	case name == "Content-Type":
		return r.Method == http.MethodPost // of a body: RFC 9110 section 9.3.3
	default:
		return l.known.has(name)
	}
}

// Unkeyed returns the fields of a request that could have made its response, and are in no key, as net/http spells
// them. added are fields that are not the client's.
func (l *Safelist) Unkeyed(r *httpmessage.Request, added []string) []string {
	var names []string
	for _, f := range r.Fields {
		if name := f.Canonical(); !slices.Contains(hopFields[:], name) && !l.has(name, r, added) {
			names = append(names, name)
		}
	}
	return names
}
