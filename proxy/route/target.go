// Package route classifies HTTP requests: it decides by method, request-target and host what a request is
// for. A RequestHead, and an Endpoint, the end of the connection that received it, enter; a Request
// leaves, with the parsed identifier or normalized target URI, or the error of an invalid target.
// Request-targets are those of RFC 9112 section 3.2; the forms for names are those of RFC 2169 (THTTP), RFC
// 7089 (Memento), the Handle System and urnd's own API. The package does no input or output, and uses no
// cache; access control is that of package gate.
package route

import (
	"net/url"
	"strings"
	"time"

	"github.com/urnd/urnd/internal/plaintext"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// Target is a parsed request-target.
type Target struct {
	Form Form
	// Text is the identifier as written in a path or a form field, "" for other forms. Typed is whether a
	// person typed it into a form.
	Text  string
	Typed bool
	Query resolver.Query // with the service that the URN selects
	// Identified is whether Query comes from the table of identifiers: the client sent no URL.
	Identified bool
	Other      uri.URI // the second URI of I=I
	// CrossSiteRedirect is whether another server redirected to the URI: see CrossSiteFetchTarget.
	CrossSiteRedirect bool
	// Sort is the order of a listing at /fetch: SortName, SortSize or SortTime; "" for the order of the
	// listing itself.
	Sort string
	// Inflection is that of an ARK of the registry.
	Inflection Inflection
	// Preview is whether the page about the name is requested instead of the redirect to its location.
	Preview Preview
	// Format is the requested format of a description, "" for the one that the client accepts.
	Format string
	// Handle is the requested handle, decoded. Values are the unparsed parameters that select some of its values.
	Handle, Values string
	// Language is the language that a reader has chosen for pages of this server, by the parameter lang of the front
	// page, its form and /fetch; "" for none. The query of a name has no such parameter: it is part of the name.
	Language string
	// Explains is whether the steps of the resolution are requested, as a document of Format; "" is the one
	// that the client accepts.
	Explains bool
	// Namespaces is the requested page about namespaces; nil for none.
	Namespaces *Namespaces
	// Docs is the requested page about the API; nil for none.
	Docs *Docs
	// Names is the requested list of names, Sitemap the requested part of a sitemap; nil for none.
	Names   *Names
	Sitemap *Sitemap
	// Memento is the requested Memento resource; the zero value is none.
	Memento Memento
}

// LooksLikePage reports whether the text in place of an identifier looks like the address of a page: a colon after a
// slash or a question mark does not end a scheme.
func (t *Target) LooksLikePage() bool {
	first := strings.IndexAny(t.Text, ":/?#")
	return !t.Typed && (first < 0 || t.Text[first] != ':')
}

// MayBeTitle reports whether a text typed into the form may be words of a title: it has no scheme, and is short
// enough for a search.
func (t *Target) MayBeTitle() bool {
	scheme, rest, ok := strings.Cut(t.Text, ":")
	hasScheme := ok && !strings.ContainsAny(scheme, " /?#") && !strings.HasPrefix(rest, " ")
	return t.Typed && !t.Identified && !hasScheme && len(t.Text) <= maxField
}

const (
	// PathTHTTP is the prefix of the paths of THTTP services (RFC 2169 section 2).
	PathTHTTP = "/uri-res/"
	// PathResolve is the path of the resolution API, which answers in JSON.
	PathResolve = "/api/v1/resolve"
	// PathOpenAPI is the path of the OpenAPI description of the API.
	PathOpenAPI = "/api/v1/openapi.json"
)

// Methods returns the methods supported by the target of a request to this server, as the value of Allow.
func (a *Request) Methods() string {
	path, _, _ := strings.Cut(a.Path, "?")
	switch {
	case path == PathResolve:
		return "GET, HEAD, POST"
	case a.Kind == KindName && a.Err == nil, a.Kind == KindDocument:
		return "GET, HEAD, OPTIONS"
	default:
		return "GET, HEAD"
	}
}

// Parse parses a request-target as sent: http.ServeMux would clean slashes and dots, which are part of a
// name. The error is a *uri.ParseError or a *resolver.Negative; the form is set even then.
func Parse(target string) (t Target, err error) {
	err = t.parse(target, nil)
	return t, err
}

// parse is Parse into a zero Target, which is too large to be copied for most requests. Strings of parameters
// use scratch; nil allocates them.
func (t *Target) parse(target string, scratch *Scratch) (err error) {
	if strings.HasPrefix(target, "/urn:") { // most requests
		return t.parseName(target[1:])
	}
	*t, err = parse(target, scratch)
	return err
}

func parse(target string, scratch *Scratch) (Target, error) {
	if m, identifier, ok, err := cutMemento(target); ok {
		return parseMemento(m, identifier, err)
	}
	if t, ok := parseNamespaces(target); ok {
		return t, nil
	}
	if t, ok := parseDocs(target); ok {
		return t, nil
	}
	switch {
	case target == "/":
		return Target{Form: FormHome}, nil
	case strings.HasPrefix(target, PathTHTTP):
		return parseTHTTP(target)
	case strings.HasPrefix(target, PathResolve+"?"), target == PathResolve:
		return parseParameters(FormAPI, target, strings.TrimPrefix(target, PathResolve), scratch)
	case strings.HasPrefix(target, PathExplain+"?"), target == PathExplain:
		r, err := parseParameters(FormAPI, target, strings.TrimPrefix(target, PathExplain), scratch)
		return explained(r, target), err
	case strings.HasPrefix(target, PathFetch+"?"), target == PathFetch:
		return parseFetch(target)
	case strings.HasPrefix(target, "/?"):
		return parseParameters(FormPath, target, target[1:], scratch)
	case strings.HasPrefix(target, "/"):
		return parsePath(target[1:])
	default:
		var r Target
		err := r.parseURI(FormTarget, target, resolver.I2L)
		if _, ok := r.Query.URI.Authority(); ok || r.Query.URI.MayLackHost() {
			r.Form = FormForward
			err = r.Query.URI.Check()
		}
		return r, err
	}
}

// parsePath parses the identifier in a path: plain, or percent-encoded as a whole.
func parsePath(text string) (t Target, err error) {
	if isEncoded(text) {
		if decoded, err := url.PathUnescape(text); err == nil {
			text = resolver.TrimPasted(decoded)
		}
	}
	err = t.parseName(text)
	return t, err
}

// parseName parses the identifier in a path, which is not percent-encoded as a whole.
func (t *Target) parseName(text string) error {
	err := t.parseURI(FormPath, text, resolver.I2L)
	if err != nil || !t.Query.IsURN() {
		t.Text = text
		if decoded, unescapeErr := url.PathUnescape(text); unescapeErr == nil {
			t.Text = resolver.TrimPasted(decoded)
		}
	}
	return err
}

// isEncoded reports whether a URI is percent-encoded as a whole: otherwise a colon follows the scheme.
func isEncoded(text string) bool {
	i := strings.IndexAny(text, ":%")
	return i > 0 && len(text) > i+2 && uri.EqualFold(text[i:i+3], "%3a")
}

// decodedWhole returns the text of a URI that may be percent-encoded as a whole.
func decodedWhole(text string) string {
	if isEncoded(text) {
		if decoded, err := url.PathUnescape(text); err == nil {
			return decoded
		}
	}
	return text
}

func (t *Target) parseURI(f Form, text string, service resolver.Service) (err error) {
	t.Form = f
	t.Query, err = resolver.ParseQuery(uri.EncodeRaw(text), service)
	t.Query.Service = t.Query.SelectedService()
	return err
}

// parseTHTTP parses /uri-res/<service>?<uri>, and urnd's extension /uri-res/<service>.<format>?<uri>. All after the
// first "?" is the URI, whose percent-encodings are not decoded (RFC 2169 section 2), unless it is encoded as a whole.
func parseTHTTP(target string) (Target, error) {
	name, text, ok := strings.Cut(target[len(PathTHTTP):], "?")
	name, format, hasFormat := strings.Cut(name, ".")
	service, known := resolver.ParseService(name)
	switch {
	case !known:
		return Target{Form: FormTHTTP}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "unknown service: it is not in RFC 2169 or RFC 2483",
			Code: "service_unknown",
		}
	case hasFormat && (service != resolver.I2C || format == ""):
		return Target{Form: FormTHTTP}, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "only a description has a format, as in N2C.jsonld",
			Code: "format_without_description",
		}
	}
	if !ok {
		return Target{Form: FormTHTTP}, missing(target, ruleTHTTP)
	}
	if service == resolver.IisI {
		return parsePair(target, text)
	}
	text = decodedWhole(text)
	// The service of the path takes precedence over a directive in the URI.
	q, err := resolver.ParseQuery(uri.EncodeRaw(text), service)
	return Target{Form: FormTHTTP, Query: q, Format: format}, err
}

// parsePair parses the two URIs of I=I. RFC 2169 does not define their syntax; urnd separates them by an
// encoded space, the first one that an absolute URI follows. Each may be percent-encoded as a whole.
func parsePair(target, text string) (Target, error) {
	const space = "%20"
	for i := strings.Index(text, space); i >= 0; {
		// The second one first: it mostly fails at its first bytes.
		if b, err := uri.ParseRaw(decodedWhole(text[i+len(space):])); err == nil {
			if a, err := uri.ParseRaw(decodedWhole(text[:i])); err == nil {
				q, err := resolver.NewQuery(a, resolver.IisI)
				return Target{Form: FormTHTTP, Query: q, Other: b}, err
			}
		}
		next := strings.Index(text[i+1:], space)
		if next < 0 {
			break
		}
		i += 1 + next
	}
	return Target{Form: FormTHTTP}, missing(target, rulePair)
}

// parseParameters parses the parameters uri and service of query, which begins with "?".
func parseParameters(f Form, target, query string, scratch *Scratch) (Target, error) {
	text, ok := rawParameter(query, "uri")
	text = scratch.unescape(text)
	r := Target{Form: f}
	if f != FormAPI {
		r.Language = languageOf(query)
	}
	if !ok {
		return withoutURI(r, target)
	}
	if f != FormAPI {
		text = resolver.TrimPasted(formText(query, text))
		r.Text, r.Typed = text, true
	}
	service, explicit, err := serviceOf(query)
	if err != nil {
		return r, err
	}
	if service == resolver.IisI {
		return Target{Form: f, Language: r.Language}, missing(target, rulePair)
	}
	if text == "" && r.Typed {
		return Target{Form: FormHome, Language: r.Language}, nil
	}
	if format, ok := parameter(query, "format"); ok && f != FormAPI {
		r.Format, explicit, service = format, true, resolver.I2C
	}
	var q resolver.Query
	if f == FormAPI {
		q, err = resolver.ParseQuery(uri.EncodeRaw(text), service)
	} else {
		q, err = typedQuery(text, service)
	}
	if !explicit {
		q = q.Selected()
	}
	if f == FormAPI && err == nil {
		q.At, err = timeOf(query)
	}
	r.Query = q
	return r, err
}

// withoutURI returns the target of a query without the parameter uri: the front page if there is a language,
// else an error.
func withoutURI(r Target, target string) (Target, error) {
	if r.Language == "" {
		return r, missing(target, ruleParameter)
	}
	return Target{Form: FormHome, Language: r.Language}, nil
}

// languageOf returns the parameter "lang" of a page of this server if it may be a language tag (RFC 5646), ""
// for none.
func languageOf(query string) string {
	const most = 35 // bytes
	tag, _ := rawParameter(query, "lang")
	if len(tag) > most {
		return ""
	}
	for i := range len(tag) {
		if c := tag[i]; c != '-' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') {
			return ""
		}
	}
	return tag
}

// timeOf returns the time in the parameter "at", the zero value for none.
func timeOf(query string) (time.Time, error) {
	text, ok := parameter(query, "at")
	if !ok || text == "" {
		return time.Time{}, nil
	}
	at, err := plaintext.ParseTimeEnd(text)
	if err != nil {
		return time.Time{}, &uri.ParseError{Input: text, Rule: ruleTime}
	}
	return at, nil
}

// serviceOf returns the service of the parameters of query, and whether it is explicit.
func serviceOf(query string) (service resolver.Service, explicit bool, err error) {
	name, explicit := parameter(query, "service")
	if !explicit {
		return resolver.I2L, false, nil
	}
	service, known := resolver.ParseService(name)
	if !known {
		return 0, true, &resolver.Negative{
			Kind: resolver.ErrService, Reason: "unknown service: it is not in RFC 2483",
			Code: "service_unknown",
		}
	}
	return service, true, nil
}

// BatchService returns the service of the target of a batch.
func BatchService(target string) (resolver.Service, error) {
	service, _, err := serviceOf(strings.TrimPrefix(target, PathResolve))
	return service, err
}

// formText returns the text of a form field: browsers send a space as a plus, and a colon as "%3A". A plus in
// a parameter with a literal colon, which a person or a program wrote, stays a plus, unless it is the first
// character: no URI begins with one (RFC 3986 section 3.1).
func formText(query, text string) string {
	raw, _ := rawParameter(query, "uri")
	if !strings.Contains(raw, "+") || strings.Contains(raw, ":") && raw[0] != '+' {
		return text
	}
	if decoded, err := url.QueryUnescape(raw); err == nil {
		return decoded
	}
	return text
}

// typedQuery returns the query for an identifier that a user has typed.
func typedQuery(text string, service resolver.Service) (resolver.Query, error) {
	u, err := uri.FromIRI(uri.EncodeRaw(text))
	if err != nil {
		return resolver.Query{Service: service}, err
	}
	return resolver.NewQuery(u, service)
}

// parameter returns the value of a parameter, percent-decoded once. A plus stays a plus: a URI has no spaces,
// and the r-component of a URN begins with one.
func parameter(query, name string) (string, bool) {
	value, ok := rawParameter(query, name)
	return (*Scratch)(nil).unescape(value), ok
}

// rawParameter returns the value of a parameter, not decoded.
func rawParameter(query, name string) (string, bool) {
	for pair := range strings.SplitSeq(strings.TrimPrefix(query, "?"), "&") {
		if key, value, _ := strings.Cut(pair, "="); key == name {
			return value, true
		}
	}
	return "", false
}

var (
	ruleTHTTP = uri.Rule{
		Code: "no_uri", Name: "THTTP", Section: "RFC 2169 section 2",
		Requirement: `the service is followed by "?" and a URI`,
	}
	rulePair = uri.Rule{
		Code: "pair", Name: "I=I", Section: "urnd's THTTP",
		Requirement: `two absolute URIs are separated by "%20"`,
	}
	ruleTime = uri.Rule{
		Code: "time", Name: "at", Section: "RFC 3339",
		Requirement: `the parameter "at" holds a date, such as 2031-05-01, or a date and a time, such as 2031-05-01T12:00:00Z`,
	}
	ruleParameter = uri.Rule{
		Code: "no_parameter", Name: "parameter", Section: "urnd's API",
		Requirement: `the parameter "uri" holds the URI, percent-encoded`,
	}
)

func missing(target string, rule uri.Rule) error {
	return &uri.ParseError{Input: target, Offset: len(target), Rule: rule}
}
