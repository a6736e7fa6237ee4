package editor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/service"
)

// pathSelection is the path to which selected names are posted; each selection has a page below it.
const pathSelection = "/registry/selection"

// kindSelection is the kind of the drafts that change selected names.
const kindSelection bulk.Format = "selection"

// maxSelected limits the names of a selection, since they are changed in one transaction.
const maxSelected = 1000

// selection is the change of selected names.
type selection struct {
	Names []string
	Do    string // name of a task, "" before one is chosen
	// Values are the fields of the tasks, by name.
	Values map[string]string
	Note   string
}

// digest identifies the chosen change in the form that confirms its preview.
func (s *selection) digest() string {
	text, err := json.Marshal(s)
	if err != nil { // strings can always be encoded
		return ""
	}
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}

// serveSelect stores the names selected in a list, or all names found by a search, and redirects to the page
// of the selection.
func (e *Editor) serveSelect(p *Request) (message.Reply, error) {
	if p.Method != http.MethodPost {
		return seeOther(PathNames), nil
	}
	selected, err := p.Form["uri"], error(nil)
	q := filters(p.Form)
	if p.Form.Get("do") == "all" {
		selected, err = e.allFound(p)
	}
	if err == nil && len(selected) == 0 {
		p.Outcome = p.Panel.Writer.T("found.unselected")
		return seeOther(pageOf(PathNames, q)), nil
	}
	if err != nil {
		return message.Reply{}, err
	}
	d, err := e.Drafts.begin(p,
		draft{Kind: kindSelection, Select: &selection{Names: selected[:min(len(selected), maxSelected)]}}, nil)
	if err != nil {
		return message.Reply{}, err
	}
	return seeOther(draftPath(d)), nil
}

// allFound returns the names found by the search of a form.
func (e *Editor) allFound(p *Request) (all []string, err error) {
	search, err := searchOf(filters(p.Form))
	if err != nil {
		return nil, err
	}
	found, err := e.Service.List(p.Context(), p.Actor, search, service.Page{Limit: maxSelected})
	for i := range found.Entries {
		all = append(all, found.Entries[i].Name)
	}
	if err == nil && found.Next != "" && len(all) == maxSelected { // a search does not know whether it found the last
		found, err = e.Service.List(p.Context(), p.Actor, search, service.Page{Limit: 1, Cursor: found.Next})
	}
	if err == nil && found.Next != "" {
		err = invalid("selection_too_many", "Count", strconv.Itoa(maxSelected))
	}
	return all, err
}

// selectionPage is the data of the page of selected names.
type selectionPage struct {
	selection
	Field     pages.Content
	Path      string
	Error     pages.Content
	Tasks     []task
	Changes   []shownChange // preview
	Changed   int
	Unchanged int
	More      int // number of changes that are not shown
	AsOf      registry.Seq
	Checked   string // digest of the previewed change
}

// task is a change that can be applied to all selected names, with its fields.
type task struct {
	Name, Message string
	Fields        []taskField
	IsChosen      bool
}

type taskField struct{ Name, Message, Value string }

// tasks returns the tasks that the actor is authorized for, with the selected values.
func (s *selection) tasks(actor registry.Actor) (all []task) {
	add := func(name string, fields ...string) {
		one := task{Name: name, Message: "several.do_" + name, IsChosen: s.Do == name}
		for _, f := range fields {
			one.Fields = append(one.Fields, taskField{f, "several.field_" + f, s.Values[f]})
		}
		all = append(all, one)
	}
	add("tag", "tag")
	add("untag", "untag")
	add("contact", "contact")
	add("activate")
	add("reserve")
	add("replace", "replace", "with")
	if service.ToWithdraw.Check(actor, registry.KindName) == nil {
		add("withdraw", "reason")
	}
	return all
}

// serveSelection shows selected names with the preview of a change, and makes it.
func (e *Editor) serveSelection(p *Request) (message.Reply, error) {
	d, ok := e.Drafts.find(p, p.ID)
	if !ok || d.Kind != kindSelection || d.Select == nil {
		if p.Form.Get("do") == doSave {
			return gone(p, e.serveChanges)
		}
		return message.Reply{}, errNoDraft
	}
	switch {
	case p.Method != http.MethodPost:
		return e.showSelection(p, d, nil)
	case p.Form.Get("do") == doSave:
		return e.saveSelection(p, d)
	}
	s := d.Select
	s.Do, s.Note, s.Values = p.Form.Get("task"), strings.TrimSpace(p.Form.Get("note")), make(map[string]string)
	for _, t := range s.tasks(p.Actor) {
		for _, f := range t.Fields {
			s.Values[f.Name] = strings.TrimSpace(p.Form.Get(f.Name))
		}
	}
	if err := e.Drafts.update(d); err != nil {
		return message.Reply{}, err
	}
	return seeOther(draftPath(d)), nil
}

// saveSelection makes the previewed change, and redirects to its change set.
func (e *Editor) saveSelection(p *Request, d draft) (message.Reply, error) {
	if p.Form.Get("checked") != d.Select.digest() { // another tab may have chosen another change
		return e.showSelection(p, d, invalid("import_unchecked"))
	}
	asOf, _ := strconv.ParseInt(p.Form.Get("as_of"), 10, 64)
	changed, err := e.change(p, d.Select, false, registry.Seq(max(asOf, 1)))
	if err != nil {
		if !e.isFormError(p, err) {
			return message.Reply{}, err
		}
		return e.showSelection(p, d, err)
	}
	e.Drafts.end(d)
	set := registry.Seq(0) // the number of a change set is the Seq of its first version
	for _, c := range changed {
		if c.After.Seq > c.Before.Seq && (set == 0 || c.After.Seq < set) {
			set = c.After.Seq
		}
	}
	if set == 0 {
		return seeOther(PathNames), nil
	}
	p.Outcome = p.Panel.Writer.T("changes.done_saved")
	return seeOther(setPath(set, "")), nil
}

// showSelection shows a selection, and the preview of the chosen change.
func (e *Editor) showSelection(p *Request, d draft, failure error) (message.Reply, error) {
	page := selectionPage{
		selection: *d.Select, Field: p.Field.HTML(), Path: draftPath(d),
		Tasks: d.Select.tasks(p.Actor), Checked: d.Select.digest(),
	}
	if failure == nil && page.Do != "" {
		changed, err := e.change(p, d.Select, true, 0)
		if err != nil && !e.isFormError(p, err) && !errors.Is(err, registry.ErrUnknown) {
			return message.Reply{}, err
		}
		if failure = err; err == nil {
			page.preview(p.Panel.Writer, changed)
		}
	}
	page.Error = errorContent(p.Panel.Writer, failure)
	p.Panel.Crumbs = []pages.Item{{Label: p.Panel.Writer.Text("found.title"), Path: PathNames}}
	return withErrorStatus(e.show(p, p.Panel.Writer.Text("several.title", "Count", len(page.Names)), "selection.html",
		page), failure), nil
}

// preview adds the result of a dry run.
func (s *selectionPage) preview(in pages.Writer, changed []registry.Changed) {
	for i := range changed {
		s.AsOf = max(s.AsOf, changed[i].Before.Seq)
		c := changeOf(in, &changed[i])
		if len(c.Differences) == 0 {
			s.Unchanged++
			continue
		}
		if s.Changed++; len(s.Changes) == maxRevertShown {
			s.More++
			continue
		}
		s.Changes = append(s.Changes, c)
	}
}

// change makes the change of a selection as one change set; a dry run only returns the result. It fails if a
// name has changed after asOf; 0 does not check this.
func (e *Editor) change(p *Request, s *selection, dry bool, asOf registry.Seq) ([]registry.Changed, error) {
	do, err := s.change()
	if err != nil {
		return nil, err
	}
	edits := make([]registry.Edit, len(s.Names))
	for i, name := range s.Names {
		edits[i] = registry.Edit{
			Key: registry.Name(name), IfVersion: registry.AnyVersion, Note: s.Note, Activate: s.Do == "activate",
			Change: func(before registry.Entry) (registry.Record, error) {
				switch {
				case !before.Exists():
					return registry.Record{}, fmt.Errorf("%w: %s", registry.ErrUnknown, before.Key)
				case asOf > 0 && before.Seq > asOf:
					return registry.Record{},
						invalidAs(registry.ErrConflict, "selection_changed", "Name", name, "By", before.By)
				default:
					return do(before)
				}
			},
		}
	}
	if s.Do == "withdraw" {
		return e.Service.Withdraw(p.Context(), p.Actor, dry, edits...)
	}
	return e.Service.Change(p.Context(), p.Actor, dry, edits...)
}

// change returns the function that changes one name.
func (s *selection) change() (func(registry.Entry) (registry.Record, error), error) {
	value := func(field string, missing error) (string, error) {
		if s.Values[field] == "" {
			return "", missing
		}
		return s.Values[field], nil
	}
	switch s.Do {
	case "tag":
		tag, err := value("tag", invalid("missing_tag"))
		return of(func(r *registry.Record) { r.Metadata = withTag(r.Metadata, tag, true) }), err
	case "untag":
		tag, err := value("untag", invalid("missing_untag"))
		return of(func(r *registry.Record) { r.Metadata = withTag(r.Metadata, tag, false) }), err
	case "contact": // an empty value removes it
		return of(func(r *registry.Record) { r.Contact = s.Values["contact"] }), nil
	case "activate":
		return of(func(r *registry.Record) { r.Status, r.Reason, r.Successors = registry.Active, "", nil }), nil
	case "reserve":
		return of(func(r *registry.Record) { r.Status = registry.Reserved }), nil
	case "replace":
		from, err := value("replace", invalid("missing_replace"))
		to, missing := value("with", invalid("missing_with"))
		return of(func(r *registry.Record) {
			r.Targets = slices.Clone(r.Targets)
			for i, t := range r.Targets {
				if rest, ok := strings.CutPrefix(t.URI, from); ok {
					r.Targets[i].URI = to + rest
				}
			}
		}), errors.Join(err, missing)
	case "withdraw":
		reason, err := value("reason", invalid("missing_reason"))
		return registry.Withdraw(reason), err
	default:
		return nil, invalid("selection_no_task")
	}
}

// of returns the change of an entry that applies f to its record.
func of(f func(r *registry.Record)) func(registry.Entry) (registry.Record, error) {
	return func(before registry.Entry) (registry.Record, error) {
		r := before.Record
		f(&r)
		return r, nil
	}
}

// memberTags is the metadata member with the tags of a name: see registry.Search.
const memberTags = "tags"

// withTag returns metadata with a tag added or removed; other tags keep their order.
func withTag(metadata, tag string, with bool) string {
	members, _ := field.ParseMembers(json.RawMessage(metadata)) // the registry has validated it
	at := slices.IndexFunc(members, func(m field.Member) bool { return m.Name == memberTags })
	if at < 0 {
		at, members = len(members), append(members, field.Member{Name: memberTags, Value: json.RawMessage("null")})
	}
	var tags []json.RawMessage
	// A single tag outside a list; null is an empty list.
	if value := members[at].Value; json.Unmarshal(value, &tags) != nil {
		tags = []json.RawMessage{value}
	}
	is := func(v json.RawMessage) bool {
		var text string
		return json.Unmarshal(v, &text) == nil && strings.EqualFold(text, tag)
	}
	has := slices.ContainsFunc(tags, is)
	switch {
	case has == with:
		return metadata
	case with:
		tags = append(tags, field.AppendString(nil, tag))
	default:
		tags = slices.DeleteFunc(tags, is)
	}
	if len(tags) == 0 {
		members = slices.Delete(members, at, at+1)
	} else {
		members[at].Value, _ = field.Marshal(tags) // tags are valid JSON
	}
	if len(members) == 0 {
		return ""
	}
	return string(field.FormatObject(members))
}
