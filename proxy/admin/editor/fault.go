package editor

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/uri"
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
func (f *faults) add(field, text string) { *f = append(*f, fault{field, text}) }

// known are the errors of the registry that people meet who fill in forms, by what their texts have, with the field that they are about. A test
// makes each of them.
func known() []struct{ text, field, message string } {
	return []struct{ text, field, message string }{
		{"the metadata has more than", inMetadata, "fault.metadata_long"},
		{"the contact has more than", "contact", "fault.long"},
		{"the reason has more than", "reason", "fault.long"},
		{"note has more than", inNote, "fault.long"},
		{"would be active, and lead nowhere", targetField(0, inURI), "fault.nowhere"},
		{"more than 100 targets", targetField(0, inURI), "fault.targets"},
		{"own successor", "successors", "fault.own_successor"},
		{"cannot be a successor", "successors", "fault.successor"},
		{" successors", "successors", "fault.successors"},
		{"an alias is a name", "alias", "fault.alias_targets"},
		{"alias of itself", "alias", "fault.alias_itself"},
		{" aliases", "alias", "fault.alias_chain"},
		{"the pattern has more", "pattern", "fault.long"},
		{"the pattern", "pattern", "fault.pattern"},
		{"status of a redirect", "redirect", "fault.redirect"},
		{"needs a reason", "reason", "fault.reason"},
		{"without a reason", "reason", "fault.reason"},
		{"must end with a character", "name", "fault.prefix_end"},
		{"the name has more than", "name", "fault.name_long"},
		{"cannot be reserved again", "status", "fault.reserved"},
		{"would not be answered", "name", "fault.unanswered"},
	}
}

// ofTarget are the errors that are about one target.
func ofTarget() []struct{ text, field, message string } {
	return []struct{ text, field, message string }{
		{"it ends before it begins", "until", "fault.ends_early"},
		{"it has more than", inURI, "fault.target_long"},
		{"relation", "rel", "fault.relation"},
		{"the rest of a name would", inURI, "fault.server_end"},
		{"the title", "title", "fault.long"},
		{"the note", inNote, "fault.long"},
		{"the context", "context", "fault.long"},
		{"the language", "language", "fault.long"},
		{"the media type", "type", "fault.long"},
	}
}

// faultOf returns what was refused in words, at the field that it is about, as far as that is known.
func faultOf(in pages.Writer, err error, n *nameForm) fault {
	text := err.Error()
	other := in.Text("fault.refused", "Reason", pages.Isolated(sentence(text)))
	if n == nil || problem.Status(err) >= http.StatusInternalServerError {
		return fault{"", other}
	}
	for i, t := range n.Targets {
		_, said, is := strings.Cut(text, fmt.Sprintf("target %q: ", t[inURI]))
		if t[inURI] == "" || !is {
			continue
		}
		for _, k := range ofTarget() {
			if strings.Contains(said, k.text) {
				return fault{targetField(i, k.field), in.Text(k.message)}
			}
		}
		return fault{targetField(i, inURI), targetFault(in, t[inURI], n.isPrefix)}
	}
	for _, k := range known() {
		if strings.Contains(text, k.text) {
			return fault{k.field, in.Text(k.message)}
		}
	}
	var parse *uri.ParseError
	if !errors.As(err, &parse) {
		return fault{"", other}
	}
	at := ""
	switch {
	case slices.Contains(lines(n.Get("successors")), parse.Input):
		at = "successors"
	case n.Get("alias") == parse.Input:
		at = "alias"
	}
	return fault{at, nameFault(in, parse)}
}

// nameFault says what is wrong with a name, and from where on.
func nameFault(in pages.Writer, err *uri.ParseError) string {
	if rest := err.Input[min(err.Offset, len(err.Input)):]; rest != "" && err.Offset > 0 {
		return in.Text("fault.name_at", "Rest", pages.Isolated(cut(rest)), "Name", pages.Isolated(cut(err.Input)))
	}
	return in.Text("fault.name", "Name", pages.Isolated(cut(err.Input)))
}

// targetFault says what is wrong with the URI of a target.
func targetFault(in pages.Writer, typed string, isPrefix bool) string {
	if meant := meantTarget(typed, isPrefix); meant != "" {
		return in.Text("fault.target_meant", "URI", pages.Isolated(meant))
	}
	return in.Text("fault.target")
}

// meantTarget returns the URI that somebody has probably meant who has typed one without a scheme, or with characters that a URI has encoded; ""
// where that is not known. Those of a prefix may be templates, which are not encoded.
func meantTarget(typed string, isPrefix bool) string {
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

// isHost reports whether a text begins with the name of a host, as people write addresses: www.example.org/page.
func isHost(text string) bool {
	host, _, _ := strings.Cut(text, "/")
	host, port, hasPort := strings.Cut(host, ":")
	isName := !strings.ContainsAny(host, " ?#@%{}<>\"'()") && strings.Contains(strings.Trim(host, "."), ".")
	return isName && (!hasPort || port != "" && strings.Trim(port, "0123456789") == "")
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
