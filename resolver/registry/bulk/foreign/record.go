package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// record is an entry of named values: an object of JSON, or a row of a table, whose cells are texts. What is not taken of it has no place
// in the registry.
type record struct {
	line    int64
	name    string // of the member that it is, of an object whose members are entries
	text    string
	members []field.Member
	inner   [][]*record // objects within it that were taken, those of a member together
	parent  *record     // which it is within
	prefix  string      // of the names of its members
	bad     error       // why it would not arrive as it is
	err     error       // why it is not what the format has
}

// newRecord returns the record that is an object of JSON.
func newRecord(object json.RawMessage) *record {
	r := &record{text: string(object)}
	r.members, r.err = field.ParseMembers(object)
	return r
}

// entries makes items of records: set takes what a record says. noun is what a record is.
func entries(next func() (*record, error), noun string, set func(r *record, i *Item)) Entries {
	return func() (*Item, error) {
		r, err := next()
		if err != nil {
			return nil, err
		}
		if r.bad != nil {
			return rejected(r.line, r.text, "%w", r.bad), nil //nolint:nilerr // the entry is rejected by it
		}
		i := newItem(r.line, r.text)
		if r.err == nil {
			set(r, i)
		}
		if r.err != nil {
			return rejected(r.line, cmp.Or(r.name, r.text), "it is no %s: %w", noun, r.err), nil //nolint:nilerr // as above
		}
		i.loseMembers(r.rest())
		return i, nil
	}
}

// take decodes the first value that is not empty of the members with some names, without regard to case.
func (r *record) take(into any, names ...string) {
	for _, name := range names {
		at := slices.IndexFunc(r.members, func(m field.Member) bool { return strings.EqualFold(m.Name, name) })
		if at < 0 {
			continue
		}
		value := r.members[at].Value
		r.members = slices.Delete(r.members, at, at+1)
		if isEmptyJSON(value) {
			continue
		}
		if err := json.Unmarshal(value, into); err != nil {
			r.fail(fmt.Errorf("%s%s: %w", r.prefix, name, err))
		}
		return
	}
}

// fail notes why the entry is not what the format has. The first reason counts.
func (r *record) fail(err error) {
	for r.parent != nil {
		r = r.parent
	}
	r.err = cmp.Or(r.err, err)
}

// string takes a text.
func (r *record) string(names ...string) (text string) {
	r.take(&text, names...)
	return text
}

// scalar takes a text, or what stands for one, such as a number.
func (r *record) scalar(names ...string) string {
	var value json.RawMessage
	if r.take(&value, names...); len(value) > 0 && value[0] == '"' {
		return strings.Trim(string(value), `"`)
	}
	return string(value)
}

// skip takes what follows from the rest, or says nothing of a name.
func (r *record) skip(names ...string) {
	for _, name := range names {
		r.take(new(json.RawMessage), name)
	}
}

// records takes the object that a member is, or those of a list. Their names have a prefix.
func (r *record) records(prefix, name string) []*record {
	var value json.RawMessage
	r.take(&value, name)
	objects := []json.RawMessage{value}
	if len(value) == 0 || value[0] == '[' && json.Unmarshal(value, &objects) != nil {
		return nil
	}
	all := make([]*record, len(objects))
	for n, object := range objects {
		all[n] = newRecord(object)
		all[n].parent, all[n].prefix = r, prefix
		r.fail(all[n].err)
	}
	r.inner = append(r.inner, all)
	return all
}

// rest returns the names of the members that were not taken and are not empty, and those of objects within it.
func (r *record) rest() []string {
	var names []string
	for _, m := range r.members {
		if !isEmptyJSON(m.Value) {
			names = append(names, r.prefix+m.Name)
		}
	}
	slices.Sort(names)
	for _, group := range r.inner {
		var inner []string
		for _, of := range group {
			inner = append(inner, of.rest()...)
		}
		if len(group) > 1 {
			slices.Sort(inner)
		}
		names = append(names, slices.Compact(inner)...)
	}
	return names
}

// isEmptyJSON reports whether a value says nothing.
func isEmptyJSON(value json.RawMessage) bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}"}, strings.Join(strings.Fields(string(value)), ""))
}

// textOr takes a member if it is a text, and leaves it if it has another type.
func (r *record) textOr(member string) (text string) {
	at := slices.IndexFunc(r.members, func(m field.Member) bool { return strings.EqualFold(m.Name, member) })
	if at >= 0 && r.members[at].Value[0] == '"' {
		r.take(&text, member)
	}
	return text
}

// texts takes a list of texts, or the parts of a text between separators, without spaces around them.
func (r *record) texts(separators, member string) (all []string) {
	all = strings.FieldsFunc(r.textOr(member), func(c rune) bool { return strings.ContainsRune(separators, c) })
	r.take(&all, member)
	for n := range all {
		all[n] = strings.TrimSpace(all[n])
	}
	return all
}
