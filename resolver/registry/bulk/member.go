package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// memberPrefix begins the name of a column that is a member of the metadata: "metadata.title".
const memberPrefix = "metadata."

// member is a member of the metadata, whose value is JSON.
type member struct{ name, value string }

// none is the value of a member that a line empties.
const none = "null"

var errMembers = errors.New("it has metadata, and members of it in columns of their own")

// memberColumn returns the column that is a member of the metadata; is is false for the names of others.
func memberColumn(name string) (c column, is bool) {
	name = strings.TrimSpace(name)
	if len(name) <= len(memberPrefix) || !strings.EqualFold(name[:len(memberPrefix)], memberPrefix) {
		return column{}, false
	}
	return column{field: fieldMember, member: strings.TrimSpace(name[len(memberPrefix):])}, true
}

// setMember takes the cell of a member of the metadata, which is text. An empty one empties the member.
func (l *line) setMember(name, cell string) {
	value := none
	if strings.TrimSpace(cell) != "" {
		value = quoted(cell)
	}
	l.members = append(l.members, member{name, value})
	l.said.add(fieldMember)
}

// finishMembers makes metadata of members. Those that the line empties are null in it: see overMembers.
func (l *line) finishMembers() error {
	if !l.said.has(fieldMember) {
		return nil
	}
	if l.entry.Metadata != "" {
		return errMembers
	}
	if l.whole() {
		l.members = slices.DeleteFunc(l.members, isNone)
	}
	l.entry.Metadata = objectOf(l.members)
	return nil
}

func isNone(m member) bool { return m.value == none }

// metadata returns what a line says of all metadata, "" where that is in members.
func (l *line) metadata() string {
	if l.said.has(fieldMember) {
		return ""
	}
	return l.entry.Metadata
}

// takeMetadata takes what a further line says of metadata.
func (u *unit) takeMetadata(l line) {
	switch {
	case l.said.has(fieldMember):
		u.takeMembers(l)
	case u.entry.Metadata == "":
		u.entry.Metadata = l.entry.Metadata
	}
}

// contradictMembers returns an error where a further line of a name says something else of a member.
func (u *unit) contradictMembers(l line) error {
	if !l.said.has(fieldMember) {
		return nil
	}
	all := membersOf(u.entry.Metadata)
	for _, m := range membersOf(l.entry.Metadata) {
		if i := indexOf(all, m.name); i >= 0 && !isNone(m) && !isNone(all[i]) && all[i].value != m.value {
			return fmt.Errorf("its metadata.%s is not that of line %d, which has the same name", m.name, u.number)
		}
	}
	return nil
}

// takeMembers adds the members of a further line that the unit does not have.
func (u *unit) takeMembers(l line) {
	all := membersOf(u.entry.Metadata)
	for _, m := range membersOf(l.entry.Metadata) {
		switch i := indexOf(all, m.name); {
		case i < 0:
			all = append(all, m)
		case isNone(all[i]):
			all[i] = m
		}
	}
	u.entry.Metadata = objectOf(all)
}

// overMembers returns metadata when members of it were changed: others stay as they are, and so do those whose text is the same.
func overMembers(before, changes string) string {
	all := membersOf(before)
	for _, m := range membersOf(changes) {
		switch i := indexOf(all, m.name); {
		case i >= 0 && isNone(m):
			all = slices.Delete(all, i, i+1)
		case i >= 0 && !isSameText(all[i].value, m.value):
			all[i].value = m.value
		case i < 0 && !isNone(m):
			all = append(all, m)
		}
	}
	return objectOf(all)
}

// isSameText reports whether a value is the text of a cell: also a number, true or false is, and a string that is written in another way.
func isSameText(value, cell string) bool {
	var a, b string
	if json.Unmarshal([]byte(cell), &b) != nil {
		return false
	}
	if json.Unmarshal([]byte(value), &a) != nil || isNone(member{value: value}) {
		a = value
	}
	return a == b
}

func indexOf(all []member, name string) int {
	return slices.IndexFunc(all, func(m member) bool { return m.name == name })
}

// membersOf returns the members of an object, in their order; nil for "", and for what is no object.
func membersOf(object string) (all []member) {
	d := json.NewDecoder(strings.NewReader(object))
	if start, err := d.Token(); err != nil || start != json.Delim('{') {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return all
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return all
		}
		text, _ := name.(string) // of an object it is one
		all = append(all, member{text, string(value)})
	}
	return all
}

// objectOf returns the object with members, "" where there are none.
func objectOf(all []member) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	for i, m := range all {
		b.WriteByte("{,"[min(i, 1)])
		b.WriteString(quoted(m.name))
		b.WriteByte(':')
		b.WriteString(m.value)
	}
	b.WriteByte('}')
	return b.String()
}

// quoted returns a text as a string of JSON.
func quoted(text string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a string always is one
	return strings.TrimSuffix(b.String(), "\n")
}
