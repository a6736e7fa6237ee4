package foreign

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// record is an entry of named values: a JSON object, or a row of a table, whose cells are strings. Values
// that are not taken are unmapped.
type record struct {
	line    int64
	name    string // the member name, if the record is a member of an object of entries
	text    string
	members []field.Member
	inner   [][]*record // nested objects that were taken, grouped by member
	parent  *record     // the record that contains it
	prefix  string      // prepended to the names of its members in messages
	bad     error       // the entry is not valid as a text or as JSON
	err     error       // the entry does not match its format
}

// newRecord returns a record of a JSON object.
func newRecord(object json.RawMessage) *record {
	r := &record{text: string(object)}
	r.members, r.err = field.ParseMembers(object)
	return r
}

// entries converts records to items: set takes the values of a record. noun names a record in messages.
func entries(next func() (*record, error), noun string, set func(r *record, i *Item)) Entries {
	return func() (*Item, error) {
		r, err := next()
		if err != nil {
			return nil, err
		}
		if r.bad != nil {
			return rejected(r.line, r.text, "%w", r.bad), nil //nolint:nilerr // the entry is rejected with the error
		}
		i := newItem(r.line, r.text)
		if r.err == nil {
			set(r, i)
		}
		if r.err != nil {
			return rejected(r.line, cmp.Or(r.name, r.text), "not a %s: %w", noun, r.err), nil //nolint:nilerr // as above
		}
		i.addUnmappedMembers(r.rest())
		return i, nil
	}
}

// take decodes the first non-empty value of the members with these names, case-insensitively, and removes it
// from the record.
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

// fail records that the entry does not match its format. The first error counts.
func (r *record) fail(err error) {
	for r.parent != nil {
		r = r.parent
	}
	r.err = cmp.Or(r.err, err)
}

// string takes a string.
func (r *record) string(names ...string) (text string) {
	r.take(&text, names...)
	return text
}

// scalar takes a string, or a number or boolean as text.
func (r *record) scalar(names ...string) string {
	var value json.RawMessage
	if r.take(&value, names...); len(value) > 0 && value[0] == '"' {
		return strings.Trim(string(value), `"`)
	}
	return string(value)
}

// skip discards members that are redundant, or not about the name.
func (r *record) skip(names ...string) {
	for _, name := range names {
		r.take(new(json.RawMessage), name)
	}
}

// records takes the object, or the array of objects, of a member. prefix is prepended to the names of their
// members in messages.
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

// rest returns the names of the non-empty members that were not taken, including those of nested objects.
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

// isEmptyJSON reports whether a value is null or empty.
func isEmptyJSON(value json.RawMessage) bool {
	return slices.Contains([]string{"null", `""`, "[]", "{}"}, strings.Join(strings.Fields(string(value)), ""))
}

// textOr takes a member if it is a string, and leaves it otherwise.
func (r *record) textOr(member string) (text string) {
	at := slices.IndexFunc(r.members, func(m field.Member) bool { return strings.EqualFold(m.Name, member) })
	if at >= 0 && r.members[at].Value[0] == '"' {
		r.take(&text, member)
	}
	return text
}

// texts takes an array of strings, or a string that is split at the separators. The results are trimmed.
func (r *record) texts(separators, member string) (all []string) {
	all = strings.FieldsFunc(r.textOr(member), func(c rune) bool { return strings.ContainsRune(separators, c) })
	r.take(&all, member)
	for n := range all {
		all[n] = strings.TrimSpace(all[n])
	}
	return all
}
