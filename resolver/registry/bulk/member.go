package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver/registry/field"
)

// memberPrefix begins the name of a column that is a member of the metadata: "metadata.title".
const memberPrefix = "metadata."

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
		value = string(field.AppendString(nil, cell))
	}
	l.members = append(l.members, field.Member{Name: name, Value: json.RawMessage(value)})
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

func isNone(m field.Member) bool { return string(m.Value) == none }

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
		if i := indexOf(all, m.Name); i >= 0 && !isNone(m) && !isNone(all[i]) && !bytes.Equal(all[i].Value, m.Value) {
			return fmt.Errorf("its metadata.%s is not that of line %d, which has the same name", m.Name, u.number)
		}
	}
	return nil
}

// takeMembers adds the members of a further line that the unit does not have.
func (u *unit) takeMembers(l line) {
	all := membersOf(u.entry.Metadata)
	for _, m := range membersOf(l.entry.Metadata) {
		switch i := indexOf(all, m.Name); {
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
		switch i := indexOf(all, m.Name); {
		case i >= 0 && isNone(m):
			all = slices.Delete(all, i, i+1)
		case i >= 0 && !isSameText(string(all[i].Value), string(m.Value)):
			all[i].Value = m.Value
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
	if json.Unmarshal([]byte(value), &a) != nil || value == none {
		a = value
	}
	return a == b
}

func indexOf(all []field.Member, name string) int {
	return slices.IndexFunc(all, func(m field.Member) bool { return m.Name == name })
}

// membersOf returns the members of an object, in their order; nil for "".
func membersOf(object string) []field.Member {
	all, _ := field.ParseMembers(json.RawMessage(object)) // the registry has checked it
	return all
}

// objectOf returns the object with members, "" where there are none.
func objectOf(all []field.Member) string {
	if len(all) == 0 {
		return ""
	}
	return string(field.FormatObject(all))
}
