package editor

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver/registry"
)

// fault is what is wrong with a field of a form, or with all of it where Field is "".
type fault struct{ Field, Text string }

// faults are those of a form.
type faults []fault

// Of returns what is wrong with a field, "" for nothing.
func (f faults) Of(field string) string {
	for _, one := range f {
		if one.Field == field {
			return one.Text
		}
	}
	return ""
}

// add adds one.
func (f *faults) add(field, format string, arguments ...any) {
	*f = append(*f, fault{field, fmt.Sprintf(format, arguments...)})
}

// faultOf returns what was refused, at the field that it is about, as far as that is known. Otherwise than an error, it leaves people
// what they have typed.
func faultOf(err error, n *nameForm) fault {
	text := err.Error()
	if problem.Status(err) >= http.StatusInternalServerError {
		return fault{"", problem.New(err).Detail}
	}
	if n == nil {
		return fault{"", sentence(text)}
	}
	for i, t := range n.Targets {
		if t[inURI] != "" && strings.Contains(text, fmt.Sprintf("target %q", t[inURI])) {
			return fault{targetField(i, inURI), sentence(text)}
		}
	}
	for _, f := range [...][2]string{
		{"the metadata", "metadata"},
		{"the contact", "contact"},
		{"the reason", "reason"},
		{"the note", "note"},
		{"note: ", "note"},
		{"would be active, and lead nowhere", targetField(0, inURI)},
		{"more than 100 targets", targetField(0, inURI)},
		{"own successor", "successors"},
		{"be a successor", "successors"},
		{" successors", "successors"},
		{"an alias is a name", "alias"},
		{"an alias of itself", "alias"},
		{"aliases", "alias"},
		{"pattern", "pattern"},
		{"status of a redirect", "redirect"},
		{"needs a reason", "reason"},
		{"without a reason", "reason"},
	} {
		if strings.Contains(text, f[0]) {
			return fault{f[1], sentence(text)}
		}
	}
	return fault{"", sentence(text)}
}

// sentence returns the text of an error without what a page says by its place.
func sentence(text string) string {
	return strings.TrimPrefix(text, registry.ErrInvalid.Error()+": ")
}

// statusOf returns the status of a form that is shown again because of an error.
func statusOf(err error) int {
	if err == nil {
		return http.StatusUnprocessableEntity
	}
	return problem.Status(err)
}

// refuses reports whether an error is about what was typed, which the page of the form says. Of others the form is shown again by who has called
// the page.
func (e *Editor) refuses(p *Request, err error) bool {
	refuses := false
	switch problem.Status(err) {
	case http.StatusBadRequest, http.StatusConflict, http.StatusPreconditionFailed, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity:
		refuses = !errors.Is(err, registry.ErrUnknown)
	}
	if refuses {
		e.Failed(p.Request, p.Actor, err)
	}
	return refuses
}

// isAsked reports whether an error is about what was searched for: the form of a search is shown again.
func isAsked(err error) bool {
	status := problem.Status(err)
	return status == http.StatusBadRequest || status == http.StatusUnprocessableEntity
}
