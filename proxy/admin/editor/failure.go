package editor

import (
	"errors"
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/admin/page"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
)

// failure is the error of a form field, or of the whole form if Field is "".
type failure struct {
	Field string
	Text  pages.Content
}

// failures are the errors of a form.
type failures []failure

// Of returns the error of a field, "" for none.
func (f failures) Of(field string) pages.Content {
	for _, one := range f {
		if one.Field == field {
			return one.Text
		}
	}
	return ""
}

// add appends an error.
func (f *failures) add(field string, text pages.Content) { *f = append(*f, failure{field, text}) }

// errorContent returns an error in the language of the reader, "" for nil.
func errorContent(in pages.Writer, err error) pages.Content {
	if err == nil {
		return ""
	}
	return page.ErrorContent(in, err)
}

// failureOf returns an error of the service as the error of the form field that it concerns.
func failureOf(in pages.Writer, err error, n *nameForm) failure {
	made := failure{"", errorContent(in, err)}
	var coded *registry.Error
	switch {
	case !errors.As(err, &coded):
	case coded.Target > 0:
		made.Field = targetField(n.targetAt(coded.Target), coded.Field)
	case coded.Field == "targets":
		made.Field = targetField(0, inURI)
	default:
		made.Field = coded.Field
	}
	return made
}

// invalid returns an ErrInvalid with a code, and the values of its message.
func invalid(code string, values ...string) error {
	return invalidAs(registry.ErrInvalid, code, values...)
}

// invalidAs is refuse for an error of another class.
func invalidAs(class error, code string, values ...string) error {
	return &registry.Error{Class: class, Code: code, Values: values, Reason: errors.New(code)}
}

// suggestedTarget returns the URI that was probably intended by text without a scheme, or with characters that
// must be percent-encoded; "" if unknown. Targets of a prefix may be templates, which are not encoded.
func suggestedTarget(typed string, isPrefix bool) string {
	switch {
	case resolver.CheckLocation(typed) == nil:
		return ""
	case isPrefix && isHost(typed):
		return "https://" + typed
	case isPrefix:
		return ""
	}
	for _, text := range []string{typed, "https://" + strings.TrimPrefix(typed, "//")} {
		u, err := uri.FromIRI(text)
		if err != nil || resolver.CheckLocation(u.String()) != nil {
			continue
		}
		if text == typed || isHost(strings.TrimPrefix(typed, "//")) {
			return u.String()
		}
	}
	return ""
}

// isHost reports whether a text begins with a host name, like www.example.org/page.
func isHost(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	host, port, hasPort := strings.Cut(host, ":")
	isName := !strings.ContainsAny(host, " ?#@%{}<>\"'()") && strings.Contains(strings.Trim(host, "."), ".")
	return isName && (!hasPort || port != "" && strings.Trim(port, "0123456789") == "")
}

// withErrorStatus returns the reply with the status of err; unchanged if err is nil.
func withErrorStatus(reply message.Reply, err error) message.Reply {
	if err != nil {
		reply.Status = problem.Status(err)
	}
	return reply
}

// statusOf returns the status of a form that is shown again because of an error.
func statusOf(err error) int {
	if err == nil {
		return http.StatusUnprocessableEntity
	}
	return problem.Status(err)
}

// isFormError reports whether an error concerns the submitted form, and is shown by its page. The caller of the
// page handles other errors, and preserves the form.
func (e *Editor) isFormError(p *Request, err error) bool {
	refuses := false
	switch problem.Status(err) {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge,
		http.StatusUnprocessableEntity:
		refuses = !errors.Is(err, registry.ErrUnknown)
	}
	if refuses {
		e.Failed(p.Request, p.Actor, err)
	}
	return refuses
}

// isQueryError reports whether an error concerns the parameters of a search: its form is then shown again.
func isQueryError(err error) bool {
	status := problem.Status(err)
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}
