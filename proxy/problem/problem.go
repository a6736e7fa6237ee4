// Package problem converts errors to HTTP responses. An error enters; a response leaves, with the status from
// one table and a body that gives the reason: a problem document (RFC 9457), or an HTML page for browsers.
// Errors of the forward proxy also set Proxy-Status (RFC 9209).
package problem

import (
	"errors"
	"net/http"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/internal/api"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/internal/redact"
	"github.com/urnd/urnd/proxy/gate/policy"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// Failure is an error with additional members of its problem document.
type Failure struct {
	Err   error
	Input string          // the input that failed; "" if the error contains it
	Trace []resolver.Step // resolution steps before the error; nil without a trace
	// Suggestions are identifiers that may have been meant, and Typed is the input as the user typed it.
	Suggestions []string
	Typed       string
	Vary        string // a request field, besides Accept, that the error depends on; "" for none
	Fetched     bool   // the request was for a URL at /fetch
	Noun        string // noun for a resource of the URL in Input: see scheme.Info
}

func (f *Failure) Error() string { return f.Err.Error() }

// Unwrap returns the error.
func (f *Failure) Unwrap() error { return f.Err }

// WithURI returns a Failure with the identifier that err is about.
func WithURI(err error, u uri.URI) error { return &Failure{Err: err, Input: u.String()} }

// New returns the problem document of an error. It contains no password of a URL: RFC 3986 section 7.5.
func New(err error) api.Problem {
	row, told := rowOf(err), describe(err)
	status := row.status
	p := api.Problem{
		Title: http.StatusText(status), Status: status, Code: told.code, Detail: told.detail,
		Values: told.values, More: told.more, Setting: row.setting, Record: api.NewRecord(resolver.RecordOf(err)),
	}
	var failure *Failure
	if errors.As(err, &failure) {
		p.Input, p.Trace, p.Suggestions = redact.URLs(failure.Input), api.Steps(failure.Trace), failure.Suggestions
		p.Typed, p.Fetched = redact.URLs(failure.Typed), failure.Fetched
		p.Noun = failure.Noun
	}
	p.MayFetch = p.Fetched && !errors.Is(err, ErrProxyClient) && !errors.Is(err, ErrUnknownHost)
	var denied *policy.Denied
	if p.Denied = errors.As(err, &denied); p.Denied && denied.Reason != "" {
		p.Reason = denied.Reason
		p.Detail += ": " + denied.Reason
	}
	if coded := ofRegistry(err); coded != nil {
		p.Pointer = coded.Pointer()
	}
	p.IsPage = errors.Is(err, ErrNoPage) || errors.Is(err, ErrAdminPath)
	cite(&p)
	var refusal *scheme.StatusError
	p.Refused = errors.As(err, &refusal)
	p.Declined = p.Refused && refusal.Local
	var person *UserActivationError
	if errors.As(err, &person) {
		p.Opens, p.Retrieves = person.Target, person.URI
	}
	if parse := parseOf(err); parse != nil {
		p.Detail = parse.Rule.Requirement
		input, offset := redact.URLsAt(parse.Input, parse.Offset)
		p.Input, p.Offset = input, &offset
		p.Rule, p.Section, p.RuleCode, p.RuleValue, p.More = parse.Rule.Name, parse.Rule.Section, parse.Rule.Code,
			parse.Rule.Value, ""
	}
	if p.Setting != "" {
		p.Detail += " (" + p.Setting + ")"
	}
	if status == http.StatusInternalServerError {
		p.Code, p.Values, p.More, p.Detail = codeInternal, nil, "", "internal error; see the log of urnd"
	}
	return p
}

// The representations of a problem, preferred first.
const typeJSON = "application/problem+json"

func representations() []contenttype.MediaType {
	return []contenttype.MediaType{
		contenttype.NewMediaType(typeJSON), contenttype.NewMediaType("application/json"),
		contenttype.NewMediaType(pages.Type),
	}
}

// PrefersHTML reports whether a client prefers text/html over JSON.
func PrefersHTML(header httpmessage.Header) bool {
	chosen, _, err := contenttype.GetAcceptableMediaTypeFromHeader(header.List("Accept"), representations())
	return err == nil && chosen.Equal(contenttype.NewMediaType(pages.Type))
}

// Reply returns the reply to a request that failed with err: an HTML page in a language negotiated by
// Accept-Language, or a problem document. header is that of the request.
func Reply(design *pages.Design, header httpmessage.Header, err error) message.Reply {
	return reply(design, header, New(err), err)
}

// ProxyReply is Reply for a request that the proxy called name could not forward: RFC 9209.
func ProxyReply(design *pages.Design, header httpmessage.Header, name string, err error) message.Reply {
	p := New(err)
	p.Forwarded = true
	r := reply(design, header, p, err)
	r.Fields.Set("Proxy-Status", ProxyStatus(name, err))
	return r
}

func reply(design *pages.Design, header httpmessage.Header, p api.Problem, err error) message.Reply {
	r := message.Reply{Status: p.Status, Vary: "Accept", CacheControl: message.NoStore, Fields: fields(err, p.Status)}
	var n *resolver.Negative
	if errors.As(err, &n) {
		r.Cache = n.Cache
		if n.Cache != resolver.Uncached {
			r.CacheStatus, r.CacheControl = message.CacheStatus(n.Cache, n.TTL), message.MaxAge(n.Lifetime())
			r.SharedMaxAge = n.SharedLifetime()
		}
	}
	var failure *Failure
	if errors.As(err, &failure) && failure.Vary != "" {
		r.Vary += ", " + failure.Vary
	}
	if PrefersHTML(header) {
		r = r.WithPage(message.Page(design.For(header.List(pages.Vary)).Problem(p)))
	} else {
		r.ContentType, r.Body = typeJSON, message.Marshal(p)
	}
	return r.WithRecord(resolver.RecordOf(err))
}

// Short returns the problem document of an error for a connection that is rejected before a request was read.
func Short(err error) (status int, contentType string, body []byte) {
	p := New(err)
	return p.Status, typeJSON, message.Marshal(p)
}
