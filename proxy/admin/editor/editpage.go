package editor

import (
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
)

// editPage is what the form of a name shows.
type editPage struct {
	*editing
	Form   *nameForm
	Action string
	Faults faults
}

// input is a field with its label.
type input struct {
	ID, Label, Value, Hint, Fault, Type string
	Rows                                int // of a field of several lines
	IsRequired                          bool
}

// Describes are the identifiers of what describes the field, "" for nothing.
func (i input) Describes() string {
	switch {
	case i.Fault != "" && i.Hint != "":
		return i.ID + "-fault " + i.ID + "-hint"
	case i.Fault != "":
		return i.ID + "-fault"
	case i.Hint != "":
		return i.ID + "-hint"
	default:
		return ""
	}
}

// Input returns a field of one line.
func (p editPage) Input(id, label, value, hint string) input {
	made := input{ID: id, Label: label, Value: value, Hint: hint, Fault: p.Faults.Of(id)}
	if strings.Contains(value, "\n") {
		made.Rows = 2 // browsers leave line ends out of a field of one line
	}
	return made
}

// Text returns a field of several lines.
func (p editPage) Text(id, label, value, hint string, rows int) input {
	i := p.Input(id, label, value, hint)
	i.Rows = rows
	return i
}

// Leads are the pages of what is edited.
func (p editPage) Leads() []lead {
	if p.isNew {
		return nil
	}
	return leads(p.Request, p.subject, p.IsWithdrawn(), pathEdit)
}

// IsNew reports whether it is not registered yet.
func (r *editing) IsNew() bool { return r.isNew }

// Version is the one that was shown.
func (r *editing) Version() int { return r.version }

// Back is where one goes who does not want to change anything.
func (r *editing) Back() string {
	if r.isNew {
		return PathNames
	}
	return r.to(pathName)
}

// option is a choice.
type option struct {
	Value, Word string
	IsChosen    bool
}

// Statuses are the choices of the status.
func (p editPage) Statuses() (all []option) {
	for _, o := range [...]option{
		{Value: registry.Active.String(), Word: "active: it leads to its targets"},
		{Value: registry.Reserved.String(), Word: "reserved: it leads nowhere yet"},
		{Value: registry.Withdrawn.String(), Word: "withdrawn: it leads nowhere any more"},
	} {
		o.IsChosen = o.Value == p.Form.Status
		isOffered := o.Value == registry.Active.String() || o.Value == p.Form.Was || o.Value == registry.Reserved.String() && p.Form.Was == ""
		if o.IsChosen || isOffered {
			all = append(all, o)
		}
	}
	return all
}

// IsWithdrawn reports whether the form has the fields of what is withdrawn.
func (p editPage) IsWithdrawn() bool {
	return p.Form.Was == registry.Withdrawn.String() || p.Form.Status == registry.Withdrawn.String()
}

// Redirects are the choices of the status of redirects.
func (p editPage) Redirects() []option {
	all := []option{
		{Value: "", Word: "as its prefix says, or 302"},
		{Value: "301", Word: "301 Moved Permanently"},
		{Value: "302", Word: "302 Found"},
		{Value: "303", Word: "303 See Other"},
		{Value: "307", Word: "307 Temporary Redirect"},
		{Value: "308", Word: "308 Permanent Redirect"},
	}
	known := false
	for i := range all {
		all[i].IsChosen = all[i].Value == p.Form.Redirect
		known = known || all[i].IsChosen
	}
	if !known {
		all = append(all, option{Value: p.Form.Redirect, Word: p.Form.Redirect, IsChosen: true})
	}
	return all
}

// targetFields are the fields of a target.
type targetFields struct {
	Number              int
	ID                  string // of the group
	Rest                string
	RestID, RemoveID    string
	IsRemoved, IsFilled bool
	Main, More          []input
	IsOpen              bool // More has something
}

// Targets are the fields of the targets.
func (p editPage) Targets() []targetFields {
	all := make([]targetFields, len(p.Form.Targets))
	for i := range p.Form.Targets {
		t := &p.Form.Targets[i]
		in := func(name, kind, label, value string) input {
			made := p.Input(targetField(i, name), label, value, "")
			made.Type = kind
			return made
		}
		f := targetFields{
			Number: i + 1, ID: "t" + strconv.Itoa(i), Rest: t.Rest, RestID: targetField(i, "rest"), RemoveID: targetField(i, "remove"),
			IsRemoved: t.Remove == yes, IsFilled: !t.isEmpty(),
			Main: []input{in("uri", "", "URI", t.URI), in("type", "", "Media type", t.Type), in("language", "", "Language", t.Language)},
			More: []input{
				in("title", "", "Title", t.Title), in("rel", "", "Relation type", t.Rel), in("priority", "", "Priority", t.Priority),
				in("from", "datetime-local", "Valid from (UTC)", t.From), in("until", "datetime-local", "Valid until (UTC)", t.Until),
				in("context", "", "Context, such as a country", t.Context), in("note", "", "Note", t.Note),
			},
		}
		for _, more := range f.More {
			f.IsOpen = f.IsOpen || more.Value != "" || more.Fault != ""
		}
		all[i] = f
	}
	return all
}
