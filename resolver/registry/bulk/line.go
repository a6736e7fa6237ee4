package bulk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/foreign"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/title"
)

// line is what one line of the input says of a name.
type line struct {
	number int64
	said   fields // the fields that it has, also those that are empty
	entry  registry.Entry
	// ifVersion is the version that the line was made from, 0 for none, if it says fieldIfVersion.
	ifVersion int
	more      []registry.Target // of the column targets, which come after those of single columns
	members   []field.Member    // of the metadata, that have columns of their own
	unmapped  []foreign.Unmapped
	source    string // the identifier in the foreign format, "" where each line says a part of its name
}

// whole reports whether the line is a version as it was, from an export. What it does not say is empty;
// of other lines that stays as it is.
func (l *line) whole() bool { return l.entry.Version > 0 || !l.entry.Changed.IsZero() }

// set takes the text of a cell.
func (l *line) set(c column, text string) error {
	if c.field >= fieldURI {
		return l.setTarget(c, text)
	}
	if c.field == fieldIgnored {
		return nil
	}
	if c.field == fieldMember {
		l.setMember(c.member, text)
		return nil
	}
	if (c.field == fieldStatus || c.field == fieldIfVersion) && strings.TrimSpace(text) == "" {
		return nil // the status stays as it is: a name that was withdrawn is not to come back by an empty cell
	}
	if err := l.setOwn(c.field, text); err != nil {
		return malformed(columnNames[c.field], text, err)
	}
	l.said.add(c.field)
	return nil
}

// setOwn takes what is not of a target.
func (l *line) setOwn(f fieldID, text string) (err error) {
	e := &l.entry
	switch f {
	case fieldName:
		if text = strings.TrimSpace(text); text != "" {
			e.Name = text
		}
	case fieldPrefix:
		l.setPrefix(strings.TrimSpace(text))
	case fieldVersion:
		e.Version, err = versionNumber(text)
	case fieldIfVersion:
		l.ifVersion, err = versionNumber(text)
	case fieldTargets:
		var uris []string
		uris, err = words(text, registry.MaxTargets)
		for _, uri := range uris {
			l.more = append(l.more, registry.Target{URI: uri})
		}
	case fieldChanged:
		e.Changed, err = field.ParseTime(text)
	case fieldBy:
		e.By, err = text, checkText(text)
	case fieldNote:
		e.Note, err = text, checkText(text)
	default:
		return field.OfRecord()[f-fieldRecord].SetText(&e.Record, text)
	}
	if err != nil {
		return fmt.Errorf("the %s: %w", columnNames[f], err)
	}
	return nil
}

// words returns the words of a text, of which there are at most so many.
func words(text string, most int) (all []string, err error) {
	for word := range strings.FieldsSeq(text) {
		if len(all) == most {
			return nil, fmt.Errorf("there are more than %d", most)
		}
		all = append(all, word)
	}
	return all, nil
}

// versionNumber reads the number of a version, 0 for none.
func versionNumber(text string) (int, error) {
	n, err := field.ParseNumber(text)
	if n < 0 {
		err = fmt.Errorf("%d is not positive", n)
	}
	return n, err
}

// setPrefix takes the column prefix: whether the name is a prefix, or the prefix itself.
func (l *line) setPrefix(text string) {
	switch is, err := field.ParseBool(text); {
	case err != nil: // no word for true or false
		l.entry.Key = registry.Prefix(text)
	case is:
		l.entry.Kind = registry.KindPrefix
	}
}

// setTarget takes a cell of a target.
func (l *line) setTarget(c column, text string) error {
	l.said.add(fieldTargets)
	if text == "" {
		return nil
	}
	for len(l.entry.Targets) <= c.target {
		l.entry.Targets = append(l.entry.Targets, registry.Target{})
	}
	if err := field.OfTarget()[c.field-fieldURI].SetText(&l.entry.Targets[c.target], text); err != nil {
		return malformed(columnNames[c.field], text, err)
	}
	return nil
}

// malformed returns why a value cannot be in its column: what is known better stays.
func malformed(column, text string, err error) error {
	var coded *registry.Error
	if errors.As(err, &coded) {
		return err
	}
	return refusal("line_column", "%w", err).With("Column", column, "Value", text)
}

var errNoTarget = refusal("line_no_target", "it describes a target without a URI")

// finish checks the line as a whole, when all was set.
func (l *line) finish() error {
	if l.entry.Name == "" {
		return refusal("line_no_name", "it has no name")
	}
	if err := l.finishTargets(); err != nil {
		return err
	}
	if err := l.finishMembers(); err != nil {
		return err
	}
	if !l.whole() {
		l.entry.Since = time.Time{} // the registry sets it
	}
	if l.entry.Since.IsZero() {
		l.said &^= 1 << fieldSince
	}
	if l.entry.Version > 0 && l.entry.Changed.IsZero() {
		return refusal("line_no_time", "it has a version, and no time when that was made, in the column changed")
	}
	return nil
}

// finishTargets leaves out targets that are empty, and adds those of the column targets.
func (l *line) finishTargets() error {
	targets := l.entry.Targets[:0]
	for _, t := range l.entry.Targets {
		switch {
		case t.URI != "":
			targets = append(targets, t)
		case t != registry.Target{}:
			return errNoTarget
		}
	}
	l.entry.Targets = append(targets, l.more...)
	return nil
}

// check makes the names of the line canonical, and checks all else.
func (l *line) check(r *registry.Registry, actor registry.Actor) error {
	key, err := r.CanonicalKey(l.entry.Key)
	if err != nil {
		return err
	}
	l.entry.Key = key
	if err := actor.May(registry.Writer, key); err != nil {
		return err
	}
	record := l.entry.Record
	if !l.said.has(fieldStatus) && !l.whole() {
		record.Status = registry.Withdrawn // so that reason and successors are checked
	}
	record, err = r.Check(key, record)
	if err != nil {
		return err
	}
	record.Status, record.Since = l.entry.Status, l.entry.Since
	l.entry.Record = record
	return nil
}

// checkText checks a text that a version has beside its record.
func checkText(text string) error {
	if len(text) > registry.MaxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("it is not UTF-8 text of at most %d bytes", registry.MaxText)
	}
	return nil
}

// lineOfItem returns the line that an entry of a foreign format is. It says what is not empty.
func lineOfItem(i *foreign.Item) line {
	l := line{number: i.Line, entry: i.Entry, unmapped: i.Unmapped, source: i.ID}
	for n, f := range field.OfRecord() {
		if !f.Empty(&l.entry.Record) {
			l.said.add(fieldRecord + fieldID(n))
		}
	}
	if i.Active {
		l.said.add(fieldStatus)
	}
	l.more, l.entry.Targets = l.entry.Targets, nil
	return l
}

// memberPrefix begins the name of a column that is a member of the metadata: "metadata.title".
const memberPrefix = "metadata."

// none is the value of a member that a line empties.
const none = "null"

// memberColumn returns the column that is a member of the metadata; is is false for the names of others.
func memberColumn(name string) (c column, is bool) {
	name = strings.TrimSpace(name)
	if len(name) <= len(memberPrefix) || !strings.EqualFold(name[:len(memberPrefix)], memberPrefix) {
		return column{}, false
	}
	return column{field: fieldMember, member: strings.TrimSpace(name[len(memberPrefix):])}, true
}

// setMember takes the cell of a member of the metadata, which is text. An empty one empties the member. That of keywords is a list, whose
// values are separated by semicolons: those of Chinese, too.
func (l *line) setMember(name, cell string) {
	value := none
	switch {
	case strings.TrimSpace(cell) == "":
	case slices.ContainsFunc(title.Parts(), func(p title.Part) bool { return p.List && p.Member == name }):
		value = listOf(cell)
	default:
		value = string(field.AppendString(nil, cell))
	}
	l.members = append(l.members, field.Member{Name: name, Value: json.RawMessage(value)})
	l.said.add(fieldMember)
}

// listOf returns the values of a cell as a JSON array.
func listOf(cell string) string {
	var list []byte
	for value := range strings.FieldsFuncSeq(cell, func(r rune) bool { return r == ';' || r == '\uff1b' }) {
		if value = strings.TrimSpace(value); value == "" {
			continue
		}
		separator := byte('[')
		if list != nil {
			separator = ','
		}
		list = field.AppendString(append(list, separator), value)
	}
	if list == nil {
		return none
	}
	return string(append(list, ']'))
}

// finishMembers makes metadata of members. Those that the line empties are null in it: see overMembers.
func (l *line) finishMembers() error {
	if !l.said.has(fieldMember) {
		return nil
	}
	if l.entry.Metadata != "" {
		return refusal("line_members", "it has metadata, and members of it in columns of their own")
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
			return u.contradicted(memberPrefix+m.Name, "its metadata.%s is not that of line %d, which has the same name", m.Name, u.number)
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
	if json.Unmarshal([]byte(cell), &b) != nil { // a list
		return value == cell || json.Unmarshal([]byte(value), &a) == nil && listOf(a) == cell
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
