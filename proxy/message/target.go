// Package message holds requests and replies as values: it parses request-targets, finds
// the client, and builds replies. Its functions are pure, except Write and Abort.
package message

import (
	"net/url"
	"strings"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Form is the form of a request-target.
type Form uint8

// The forms of request-targets.
const (
	FormPath    Form = iota // GET /urn:ietf:rfc:2648, or ?uri=
	FormTarget              // GET urn:ietf:rfc:2648, as to a proxy
	FormTHTTP               // GET /uri-res/N2L?urn:ietf:rfc:2648, RFC 2169 section 2
	FormAPI                 // GET /api/v1/resolve?uri=urn:ietf:rfc:2648
	FormForward             // GET http://example.org/, as to a proxy
	FormHome                // GET /
)

var formNames = [...]string{"path", "target", "thttp", "api", "forward", "home"}

// String returns the form in one word.
func (f Form) String() string { return formNames[f] }

// Request is a parsed request-target.
type Request struct {
	Form  Form
	Query resolver.Query // with the service that the URN selects
	Other uri.URI        // the second URI of I=I
}

const (
	thttpPrefix = "/uri-res/"
	// PathResolve is the path of the JSON API, and PathExplain an alias of it. Both return a
	// trace.
	PathResolve = "/api/v1/resolve"
	PathExplain = "/api/v1/explain"
)

// Parse parses a request-target as it was sent: http.ServeMux would clean its slashes and
// dots, which are part of a name. The error is a *uri.ParseError or a *resolver.Negative;
// the form is set even then.
func Parse(target string) (Request, error) {
	switch {
	case target == "/":
		return Request{Form: FormHome}, nil
	case strings.HasPrefix(target, thttpPrefix):
		return parseTHTTP(target)
	case strings.HasPrefix(target, PathResolve+"?"), target == PathResolve:
		return parseParameters(FormAPI, target, strings.TrimPrefix(target, PathResolve))
	case strings.HasPrefix(target, PathExplain+"?"), target == PathExplain:
		return parseParameters(FormAPI, target, strings.TrimPrefix(target, PathExplain))
	case strings.HasPrefix(target, "/?"):
		return parseParameters(FormPath, target, target[1:])
	case strings.HasPrefix(target, "/"):
		return parseURI(FormPath, target[1:], resolver.I2L)
	default:
		r, err := parseURI(FormTarget, target, resolver.I2L)
		if _, ok := r.Query.URI.Authority(); ok {
			r.Form = FormForward
			err = r.Query.URI.Check()
		}
		return r, err
	}
}

func parseURI(f Form, text string, service resolver.Service) (Request, error) {
	q, err := resolver.ParseQuery(text, service)
	return Request{Form: f, Query: q.Selected()}, err
}

// parseTHTTP parses /uri-res/<service>?<uri>. All after the first "?" is the URI, and its
// percent-encodings are not decoded (RFC 2169 section 2).
func parseTHTTP(target string) (Request, error) {
	name, text, ok := strings.Cut(target[len(thttpPrefix):], "?")
	service, known := resolver.ParseService(name)
	if !known {
		return Request{Form: FormTHTTP}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "there is no service of this name in RFC 2169 or RFC 2483",
		}
	}
	if !ok {
		return Request{Form: FormTHTTP}, missing(target, ruleTHTTP)
	}
	if service == resolver.IisI {
		return parsePair(target, text)
	}
	// The path says which service: it is not that of a directive in the URI.
	q, err := resolver.ParseQuery(text, service)
	return Request{Form: FormTHTTP, Query: q}, err
}

// parsePair parses the two URIs of I=I. RFC 2169 does not define a form; in urnd they are
// separated by an encoded space, the first one that an absolute URI follows.
func parsePair(target, text string) (Request, error) {
	const space = "%20"
	for i := strings.Index(text, space); i >= 0; {
		// The second one first: it mostly fails at its first octets.
		if b, err := uri.Parse(text[i+len(space):]); err == nil {
			if a, err := uri.Parse(text[:i]); err == nil {
				q, err := resolver.NewQuery(a, resolver.IisI)
				return Request{Form: FormTHTTP, Query: q, Other: b}, err
			}
		}
		next := strings.Index(text[i+1:], space)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return Request{Form: FormTHTTP}, missing(target, rulePair)
}

// parseParameters parses the parameters uri and service of query, which begins with "?".
func parseParameters(f Form, target, query string) (Request, error) {
	text, ok := parameter(query, "uri")
	if !ok {
		return Request{Form: f}, missing(target, ruleParameter)
	}
	service := resolver.I2L
	name, explicit := parameter(query, "service")
	if explicit {
		var known bool
		if service, known = resolver.ParseService(name); !known {
			return Request{Form: f}, &resolver.Negative{
				Kind: resolver.ErrService, Reason: "there is no service of this name in RFC 2483",
			}
		}
	}
	if service == resolver.IisI {
		return Request{Form: f}, missing(target, rulePair)
	}
	var q resolver.Query
	var err error
	if f == FormAPI {
		q, err = resolver.ParseQuery(text, service)
	} else {
		q, err = typedQuery(text, service)
	}
	if !explicit {
		q = q.Selected()
	}
	return Request{Form: f, Query: q}, err
}

// typedQuery returns the question about an identifier that a user has typed.
func typedQuery(text string, service resolver.Service) (resolver.Query, error) {
	u, err := uri.FromIRI(text)
	if err != nil {
		return resolver.Query{}, err
	}
	return resolver.NewQuery(u, service)
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
