package editor

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

// editPage is the data of the form of a name.
type editPage struct {
	*editing
	Form   *nameForm
	Action string
	Errors failures
}

// input is a form field with its label.
type input struct {
	ID          string
	Label, Hint pages.Content
	Value       string
	Error       pages.Content
	Type        string
	Rows        int // of a text area; 0 for a single line
	IsRequired  bool
	// Suggestion is a suggested value, and Do the value of the button that accepts it; "" for none.
	Suggestion, Do string
}

// Describes returns the value of aria-describedby: the IDs of the error and the hint, "" for none.
func (i input) Describes() string {
	switch {
	case i.Error != "" && i.Hint != "":
		return i.ID + "-error " + i.ID + "-hint"
	case i.Error != "":
		return i.ID + "-error"
	case i.Hint != "":
		return i.ID + "-hint"
	default:
		return ""
	}
}

// Input returns a single-line field.
func (p editPage) Input(id string, label pages.Content, value string, hint pages.Content) input {
	made := input{ID: id, Label: label, Value: value, Hint: hint, Error: p.Errors.Of(id)}
	if strings.Contains(value, "\n") {
		made.Rows = 2 // browsers remove line breaks from a single-line field
	}
	return made
}

// Text returns a text area.
func (p editPage) Text(id string, label pages.Content, value string, hint pages.Content, rows int) input {
	i := p.Input(id, label, value, hint)
	i.Rows = rows
	return i
}

// Links returns links to the other pages of the name.
func (p editPage) Links() []pageLink {
	if p.isNew {
		if !p.IsPrefix && service.ToMint.Check(p.Actor, registry.KindName) == nil {
			return []pageLink{{Label: p.Panel.Writer.Text("found.next_free"), Target: pathMint}}
		}
		return nil
	}
	return newPageLinks(p.Request, p.subject, p.IsWithdrawn(), pathEdit)
}

// IsNew reports whether the name is not registered yet.
func (r *editing) IsNew() bool { return r.isNew }

// Version returns the version that the form was made from.
func (r *editing) Version() int { return r.version }

// Back returns the URL that cancels the form.
func (r *editing) Back() string {
	if r.isNew {
		return PathNames
	}
	return r.to(pathName)
}

// option is an option of a select element.
type option struct {
	Value, Label string
	IsChosen     bool
}

// Statuses returns the options of the status.
func (p editPage) Statuses() (all []option) {
	in := p.Panel.Writer
	for _, o := range [...]option{
		{Value: registry.Active.String(), Label: in.Text("edit.status_active")},
		{Value: registry.Reserved.String(), Label: in.Text("edit.status_reserved")},
		{Value: registry.Withdrawn.String(), Label: in.Text("edit.status_withdrawn")},
	} {
		o.IsChosen = o.Value == p.Form.texts["status"]
		offered := o.Value == registry.Active.String() || o.Value == p.Form.texts[inWas] ||
			o.Value == registry.Reserved.String() && p.Form.texts[inWas] == ""
		if o.IsChosen || offered {
			all = append(all, o)
		}
	}
	return all
}

// IsWithdrawn reports whether the form has the fields of a withdrawn name.
func (p editPage) IsWithdrawn() bool {
	return p.Form.texts[inWas] == registry.Withdrawn.String() || p.Form.texts["status"] == registry.Withdrawn.String()
}

// Redirects returns the options of the redirect status.
func (p editPage) Redirects() []option {
	all := []option{{Value: "", Label: p.Panel.Writer.Text("edit.redirect_default")}}
	for _, status := range []int{
		http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect,
	} {
		number := strconv.Itoa(status)
		all = append(all, option{Value: number, Label: number + " " + http.StatusText(status)})
	}
	known := false
	for i := range all {
		all[i].IsChosen = all[i].Value == p.Form.texts["redirect"]
		known = known || all[i].IsChosen
	}
	if !known {
		all = append(all, option{Value: p.Form.texts["redirect"], Label: p.Form.texts["redirect"], IsChosen: true})
	}
	return all
}

// Others returns the fields of the record that the template does not name, so that a new field of the record
// gets a form field. A test adds one.
func (p editPage) Others(named ...string) (inputs []input) {
	for _, f := range recordFields() {
		other := f.Kinds == field.Names && p.IsPrefix || f.Kinds == field.Prefixes && !p.IsPrefix
		if other || slices.Contains(named, f.Name) {
			continue
		}
		in := p.Input(f.Name, pages.Escaped(labelOf(p.Panel.Writer, f.Name)), p.Form.Get(f.Name), "")
		if in.Type = inputType(f.Type); f.Type == field.List {
			in.Rows = 2
		}
		inputs = append(inputs, in)
	}
	return inputs
}

// inputType returns the type of an HTML input element, "" for text.
func inputType(t field.Type) string {
	switch t {
	case field.Bool:
		return "checkbox"
	case field.Time:
		return "datetime-local"
	default:
		return ""
	}
}

// targetGroup is the group of form fields of a target.
type targetGroup struct {
	Number              int
	ID                  string // of the group element
	Rest                string
	RestID, RemoveID    string
	IsRemoved, IsFilled bool
	Main, More          []input
	IsOpen              bool // one of the fields in More is not empty
}

// mainFields is the number of fields of a target that are always visible.
const mainFields = 3

// Targets returns the groups of fields of the targets.
func (p editPage) Targets() []targetGroup {
	all := make([]targetGroup, len(p.Form.Targets))
	for i, t := range p.Form.Targets {
		g := targetGroup{
			Number: i + 1, ID: "t" + strconv.Itoa(i), Rest: t[inRest],
			RestID: targetField(i, inRest), RemoveID: targetField(i, inRemove),
			IsRemoved: t[inRemove] == yes, IsFilled: !t.empty(),
		}
		for n, f := range targetFields() {
			label, hint := p.Panel.Writer.T("label."+f.Name), pages.Content("")
			switch {
			case f.Type == field.Time:
				label, hint = p.Panel.Writer.T("edit.label_"+f.Name), `<span class="zone">UTC</span>`
			case f.Name == "context":
				hint = p.Panel.Writer.T("edit.hint_context")
			}
			in := p.Input(targetField(i, f.Name), label, t[f.Name], hint)
			if f.Name == inURI && in.Error != "" {
				in.Suggestion, in.Do = suggestedTarget(in.Value, p.IsPrefix), doSuggestion+" "+strconv.Itoa(i)
			}
			if in.Type = inputType(f.Type); n < mainFields {
				g.Main = append(g.Main, in)
				continue
			}
			g.More = append(g.More, in)
			g.IsOpen = g.IsOpen || in.Value != "" || in.Error != ""
		}
		all[i] = g
	}
	return all
}
