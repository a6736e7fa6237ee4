package proxy

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// form is how a client put its question.
type form uint8

const (
	formPath    form = iota // GET /urn:ietf:rfc:2648, or ?uri=
	formTarget              // GET urn:ietf:rfc:2648, as a proxy is asked
	formTHTTP               // GET /uri-res/N2L?urn:ietf:rfc:2648, RFC 2169 section 2
	formAPI                 // GET /api/v1/resolve?uri=urn:ietf:rfc:2648
	formForward             // GET http://example.org/, as a proxy is asked
	formHome                // GET /
)

var formNames = [...]string{"path", "target", "thttp", "api", "forward", "home"}

// String returns the form in one word.
func (f form) String() string { return formNames[f] }

// request is what a request-target asks for.
type request struct {
	form  form
	query resolver.Query // with the service that the URN selects
	other uri.URI        // the second one of I=I
}

const (
	thttpPrefix = "/uri-res/"
	apiResolve  = "/api/v1/resolve"
	apiExplain  = "/api/v1/explain" // another name: both explain
	apiOpenAPI  = "/api/v1/openapi.json"
)

// parseTarget reads a request-target as it came over the wire: a router would
// have cleaned its slashes and dots, and lost what a name is made of. The
// error is a *uri.ParseError or a *resolver.Negative.
func parseTarget(target string) (request, error) {
	switch {
	case target == "/":
		return request{form: formHome}, nil
	case strings.HasPrefix(target, thttpPrefix):
		return parseTHTTP(target)
	case strings.HasPrefix(target, apiResolve+"?"), target == apiResolve:
		return parseParameters(formAPI, target, strings.TrimPrefix(target, apiResolve))
	case strings.HasPrefix(target, apiExplain+"?"), target == apiExplain:
		return parseParameters(formAPI, target, strings.TrimPrefix(target, apiExplain))
	case strings.HasPrefix(target, "/?"):
		return parseParameters(formPath, target, target[1:])
	case strings.HasPrefix(target, "/"):
		return parseURI(formPath, target[1:], resolver.I2L)
	default:
		r, err := parseURI(formTarget, target, resolver.I2L)
		if _, ok := r.query.URI.Authority(); ok {
			r.form = formForward
			err = r.query.URI.Check()
		}
		return r, err
	}
}

func parseURI(f form, text string, service resolver.Service) (request, error) {
	u, err := uri.Parse(text)
	return newRequest(f, u, service), err
}

func newRequest(f form, u uri.URI, service resolver.Service) request {
	return request{form: f, query: resolver.Query{URI: u, Service: service}.Selected()}
}

// parseTHTTP reads /uri-res/<service>?<uri>. All behind the first "?" is the
// URI, its percent-encodings as they are (RFC 2169 section 2).
func parseTHTTP(target string) (request, error) {
	name, text, ok := strings.Cut(target[len(thttpPrefix):], "?")
	service, known := resolver.ParseService(name)
	if !known {
		return request{form: formTHTTP}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "there is no service of this name in RFC 2169 or RFC 2483",
		}
	}
	if !ok {
		return request{form: formTHTTP}, missing(target, ruleTHTTP)
	}
	if service == resolver.IisI {
		return parsePair(target, text)
	}
	return parseURI(formTHTTP, text, service)
}

// parsePair reads the two URIs of I=I. RFC 2169 has no form for them; ours is to
// separate them by an encoded space, the first behind which an absolute URI begins.
func parsePair(target, text string) (request, error) {
	const space = "%20"
	for i := strings.Index(text, space); i >= 0; {
		// The second fails at its first octets, mostly.
		if b, err := uri.Parse(text[i+len(space):]); err == nil {
			if a, err := uri.Parse(text[:i]); err == nil {
				return request{form: formTHTTP, query: resolver.Query{URI: a, Service: resolver.IisI}, other: b}, nil
			}
		}
		next := strings.Index(text[i+1:], space)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return request{form: formTHTTP}, missing(target, rulePair)
}

// parseParameters reads the parameters uri and service of query, "?" included.
func parseParameters(f form, target, query string) (request, error) {
	text, ok := parameter(query, "uri")
	if !ok {
		return request{form: f}, missing(target, ruleParameter)
	}
	service := resolver.I2L
	if name, ok := parameter(query, "service"); ok {
		var known bool
		if service, known = resolver.ParseService(name); !known {
			return request{form: f}, &resolver.Negative{
				Kind: resolver.ErrService, Reason: "there is no service of this name in RFC 2483",
			}
		}
	}
	if service == resolver.IisI {
		return request{form: f}, missing(target, rulePair)
	}
	if f == formAPI {
		return parseURI(f, text, service)
	}
	u, err := uri.FromIRI(text) // a person may have typed it
	return newRequest(f, u, service), err
}

// parameter returns the value of a parameter, percent-decoded once. A plus
// stays a plus: a URI has no spaces, and URNs begin their r-component with one.
func parameter(query, name string) (string, bool) {
	query = strings.TrimPrefix(query, "?")
	for pair := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(pair, "=")
		if key != name {
			continue
		}
		if decoded, err := url.PathUnescape(value); err == nil {
			value = decoded
		}
		return value, true
	}
	return "", false
}

var (
	ruleTHTTP     = uri.Rule{Name: "THTTP", Section: "RFC 2169 section 2", Says: `the service is followed by "?" and a URI`}
	rulePair      = uri.Rule{Name: "I=I", Section: "urnd's THTTP", Says: `two absolute URIs are separated by "%20"`}
	ruleParameter = uri.Rule{Name: "parameter", Section: "urnd's API", Says: `the parameter "uri" holds the URI, percent-encoded`}
)

func missing(target string, rule uri.Rule) error {
	return &uri.ParseError{Input: target, Offset: len(target), Rule: rule}
}
