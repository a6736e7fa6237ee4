// Package page has what all pages of the admin interface share: the authenticated request for a page, the
// description of a page, and the writer of replies. Requests of net/http enter; HTML pages and problem
// documents (RFC 9457) leave, subject to the preconditions of RFC 9110 section 13.
package page

import (
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/service"
	"github.com/urnd/urnd/uri"
)

// Request is a request for a page. The actor is authorized to visit the page, and the CSRF token of a posted
// form is valid.
type Request struct {
	*http.Request
	Actor registry.Actor // the zero value on the login page
	ID    string         // the segment of the path for "{id}"
	Form  url.Values     // the fields of a posted form; nil for none
	Field pages.Field    // the hidden field that each form must contain
	Panel pages.Panel    // the frame of the content
	// Outcome is the result of the form, if the reply is a redirect: the next page shows it once.
	Outcome pages.Content
}

// ErrorContent returns an error in the language of the reader: the message of its code, with the syntax rule that an
// identifier violates. Errors without a code are problem reasons.
func ErrorContent(in pages.Writer, err error) pages.Content {
	var coded *registry.Error
	if errors.As(err, &coded) { // the problem document of a URI that cannot be parsed has other codes
		reported := in.Message(coded.Code, coded.Values...)
		var parse *uri.ParseError
		if errors.As(err, &parse) {
			reported += " " + in.Rule(parse.Rule.Code, parse.Rule.Value)
		}
		return reported
	}
	return in.Reason(problem.New(err))
}

// Page describes one page of the admin interface, which serves GET, HEAD and the POST of a form.
type Page struct {
	Path        string // "{id}" is one segment
	Label       string // the message with its name in the navigation; "" for none
	Description string // the message that describes it in the index; "" for none
	// the use of the registry that the visitor must be authorized for; 0: administrators only
	Use service.Permission
	// MaxFile is the maximum size in bytes of an uploaded file; 0 for forms without a file.
	MaxFile int64
	Serve   func(r *Request) (message.Reply, error)
	// Redisplay shows a posted form as it was submitted, without effect; nil if there is none, or nothing was
	// typed in it.
	Redisplay func(r *Request) (message.Reply, error)
}

// ReadOnly returns the Serve of a page without a form: POST is an error.
func ReadOnly(serve func(r *Request) (message.Reply, error)) func(r *Request) (message.Reply, error) {
	return func(r *Request) (message.Reply, error) {
		if r.Method == http.MethodPost {
			return message.Reply{}, problem.NotAllowed(r.Method, "GET, HEAD")
		}
		return serve(r)
	}
}

// Writer writes replies with pages of a design.
type Writer struct{ Design *pages.Design }

// Show returns the reply with a page, which must not be stored.
func (w Writer) Show(p *pages.Panel) message.Reply {
	return message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}.WithPage(message.Page(w.Design.Panel(p)))
}

// Fail sends the reply to a failed request.
func (w Writer) Fail(to http.ResponseWriter, r *http.Request, err error) {
	w.Write(to, r, w.Problem(r, err))
}

// Problem returns the reply to a failed request: a page for browsers, a problem document for the API.
func (w Writer) Problem(r *http.Request, err error) message.Reply {
	if route.IsAPI(r.URL.Path) {
		return problem.Reply(w.Design, nil, err)
	}
	return problem.Reply(w.Design, httpmessage.NewHeader(r.Header), err)
}

// Write sends a reply, subject to the preconditions of its request.
func (w Writer) Write(to http.ResponseWriter, r *http.Request, reply message.Reply) {
	switch reply.Precondition(r.Method, httpmessage.NewHeader(r.Header)) {
	case http.StatusNotModified:
		reply = reply.NotModified()
	case http.StatusPreconditionFailed:
		if reply.Close != nil {
			reply.Close()
		}
		reply = w.Problem(r, problem.ErrPreconditionFailed)
	}
	send(to, r.Method, reply)
}

// send sends a reply with net/http, in addition to the header fields that w has already.
func send(w http.ResponseWriter, method string, reply message.Reply) {
	if reply.Close != nil {
		defer reply.Close()
	}
	reply.AppendFields(nil, nil).CopyTo(w.Header())
	w.WriteHeader(reply.Status)
	switch {
	case method == http.MethodHead:
	case reply.Stream == nil && len(reply.Body) > 0:
		_, _ = w.Write(reply.Body) // it fails only if the client has disconnected
	case reply.Stream != nil:
		control := http.NewResponseController(w)
		if reply.Stream(stream{w, control}) != nil {
			_ = control.SetWriteDeadline(time.Unix(1, 0)) // a truncated response must not look complete
		}
	}
}

// stream is an http.ResponseWriter as a message.Stream.
type stream struct {
	io.Writer
	*http.ResponseController
}

// Flush implements message.Stream.
func (s stream) Flush() error { return s.ResponseController.Flush() }
