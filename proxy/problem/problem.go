package proxy

import (
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// problem is a problem document of RFC 9457, of type "about:blank", with
// members that say which octet of which input broke which rule.
type problem struct {
	Title   string     `json:"title"`
	Status  int        `json:"status"`
	Detail  string     `json:"detail"`
	Input   string     `json:"input,omitempty"`
	Offset  *int       `json:"offset,omitempty"`
	Rule    string     `json:"rule,omitempty"`
	Section string     `json:"section,omitempty"`
	Trace   []stepJSON `json:"trace,omitempty"`
}

// newProblem describes an error about input, which may be empty.
func newProblem(err error, input string) problem {
	status := statusOf(err)
	p := problem{Title: http.StatusText(status), Status: status, Detail: err.Error(), Input: input}
	var parse *uri.ParseError
	if errors.As(err, &parse) {
		p.Detail = parse.Rule.Says
		p.Input, p.Offset = parse.Input, &parse.Offset
		p.Rule, p.Section = parse.Rule.Name, parse.Rule.Section
	}
	if status == http.StatusInternalServerError {
		p.Detail = "urnd failed at this; its log says more"
	}
	return p
}

// The representations of a problem, best first.
var (
	typeProblem = contenttype.NewMediaType("application/problem+json")
	typeJSON    = contenttype.NewMediaType("application/json")
	typeHTML    = contenttype.NewMediaType("text/html")
	problemDocs = []contenttype.MediaType{typeProblem, typeJSON, typeHTML}
)

// prefersHTML reports whether the client would rather have text/html than JSON.
func prefersHTML(r *http.Request) bool {
	chosen, _, err := contenttype.GetAcceptableMediaType(r, problemDocs)
	return err == nil && chosen.Equal(typeHTML)
}

// writeProblem answers an error about input, as a page for people or as JSON.
func writeProblem(w http.ResponseWriter, r *http.Request, err error, input string, trace []resolver.Step) {
	p := newProblem(err, input)
	header := w.Header()
	header.Set("Vary", "Accept")
	header.Set("Cache-Control", "no-store")
	var n *resolver.Negative
	if errors.As(err, &n) && n.Cache != resolver.Uncached {
		header.Set("Cache-Status", string(appendCacheStatus(nil, n.Cache, n.TTL)))
		header.Set("Cache-Control", string(appendCacheControl(nil, n.TTL)))
	}
	switch p.Status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests:
		header.Set("Retry-After", "1")
	case http.StatusUnauthorized:
		if errors.Is(err, errAdminToken) {
			header.Set("WWW-Authenticate", `Bearer realm="urnd"`)
			break
		}
		header.Set("WWW-Authenticate", `Basic realm="urnd", charset="UTF-8"`)
	case http.StatusProxyAuthRequired:
		header.Set("Proxy-Authenticate", `Basic realm="urnd", charset="UTF-8"`)
	}
	if p.Status == http.StatusMethodNotAllowed {
		header.Set("Allow", methods(r))
	}
	var body []byte
	if prefersHTML(r) {
		header.Set("Content-Type", "text/html; charset=utf-8")
		header.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'")
		body = errorPage(p)
	} else {
		header.Set("Content-Type", "application/problem+json")
		p.Trace = stepsJSON(trace)
		body = marshal(p)
	}
	header.Set("X-Content-Type-Options", "nosniff")
	write(w, r, p.Status, body)
}

// marshal prints v as JSON for people and programs alike: indented, and with
// "&" and "<" as they are.
func marshal(v any) []byte {
	var b jsonBuffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(v); err != nil {
		return []byte("{}\n") // none of our types can fail
	}
	return b
}

type jsonBuffer []byte

func (b *jsonBuffer) Write(p []byte) (int, error) {
	*b = append(*b, p...)
	return len(p), nil
}

// write sends a whole body, or its length alone to HEAD.
func write(w http.ResponseWriter, r *http.Request, status int, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // a client that left needs no answer
	}
}

// methods returns the methods that are answered at the target of r.
func methods(r *http.Request) string {
	if target, _, _ := strings.Cut(r.RequestURI, "?"); target == apiResolve {
		return "GET, HEAD, POST"
	}
	if r.URL.Path == adminEntries {
		return "GET, HEAD, DELETE"
	}
	return "GET, HEAD"
}
