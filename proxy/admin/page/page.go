// Package page has what the parts of the admin interface share that make pages for people: the request for a page, the page, and how replies
// are sent.
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

// Request is a request for a page with forms. It is of somebody who may see the page, and a form that is sent is one of this server.
type Request struct {
	*http.Request
	Actor registry.Actor // the zero value on the page to log in
	ID    string         // the segment of the path for "{id}"
	Form  url.Values     // the fields of a form; nil where none was sent
	Field pages.Field    // which each form must have
	Panel pages.Panel    // what is around the content
	// Outcome is what was done, where the reply leads to another page: that one shows it, once.
	Outcome pages.Content
}

// Said returns an error in words of the reader: by its code, with the rule that an identifier breaks, and in English what it says beyond that.
func Said(in pages.Writer, err error) pages.Content {
	var coded *registry.Error
	if errors.As(err, &coded) { // the document of a problem has others of a URI that cannot be read
		said := in.Says(coded.Code, coded.Values...)
		var parse *uri.ParseError
		if errors.As(err, &parse) {
			said += " " + in.Rule(parse.Rule.Code, parse.Rule.Value)
		}
		return said
	}
	return in.Reason(problem.New(err))
}

// Page is one of the pages of the admin interface: GET, HEAD, and POST of a form.
type Page struct {
	Path  string      // "{id}" is one segment
	Word  string      // the message of its name among the pages to which all lead; "" for none
	About string      // the message about it in the list of all that there is; "" for none
	Use   service.Use // what whoever sees it must be allowed to do with the registry; 0 is for administrators
	// MaxFile is how many bytes a file of its form may have; 0 for forms without one.
	MaxFile int64
	Serve   func(r *Request) (message.Reply, error)
	// Again shows the form as it was sent, and does nothing; nil: there is none, or it has nothing that was typed.
	Again func(r *Request) (message.Reply, error)
}

// Reading returns the Serve of a page that has no form to send.
func Reading(serve func(r *Request) (message.Reply, error)) func(r *Request) (message.Reply, error) {
	return func(r *Request) (message.Reply, error) {
		if r.Method == http.MethodPost {
			return message.Reply{}, problem.NotAllowed(r.Method, "GET, HEAD")
		}
		return serve(r)
	}
}

// Writer makes and sends replies with pages of a design.
type Writer struct{ Design *pages.Design }

// Show returns the reply with a page.
func (w Writer) Show(p *pages.Panel) message.Reply {
	return message.Reply{Status: http.StatusOK, CacheControl: message.NoStore}.WithPage(message.Page(w.Design.Panel(p)))
}

// Fail sends the reply to a request that failed.
func (w Writer) Fail(to http.ResponseWriter, r *http.Request, err error) {
	w.Write(to, r, w.Problem(r, err))
}

// Problem returns the reply to a request that failed: a page for browsers, but for those of the API.
func (w Writer) Problem(r *http.Request, err error) message.Reply {
	if route.IsAPI(r.URL.Path) {
		return problem.Reply(w.Design, nil, err)
	}
	return problem.Reply(w.Design, httpmessage.LinesOf(r.Header), err)
}

// Write sends a reply as the preconditions of its request want it.
func (w Writer) Write(to http.ResponseWriter, r *http.Request, reply message.Reply) {
	switch reply.Precondition(r.Method, httpmessage.LinesOf(r.Header)) {
	case http.StatusNotModified:
		reply = reply.NotModified()
	case http.StatusPreconditionFailed:
		if reply.Close != nil {
			reply.Close()
		}
		reply = w.Problem(r, problem.ErrUnmatched)
	}
	send(to, r.Method, reply)
}

// send sends a reply by net/http, with the fields that are set in w already.
func send(w http.ResponseWriter, method string, reply message.Reply) {
	if reply.Close != nil {
		defer reply.Close()
	}
	reply.AppendFields(nil, nil).CopyTo(w.Header())
	w.WriteHeader(reply.Status)
	switch {
	case method == http.MethodHead:
	case reply.Stream == nil && len(reply.Body) > 0:
		_, _ = w.Write(reply.Body) // it fails only where the client left
	case reply.Stream != nil:
		control := http.NewResponseController(w)
		if reply.Stream(stream{w, control}) != nil {
			_ = control.SetWriteDeadline(time.Unix(1, 0)) // the part must not look complete
		}
	}
}

// stream is the response of net/http as a message.Stream.
type stream struct {
	io.Writer
	*http.ResponseController
}

// Flush implements message.Stream.
func (s stream) Flush() error { return s.ResponseController.Flush() }
