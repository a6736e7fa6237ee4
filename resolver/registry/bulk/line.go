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

// line is a parsed line of the input: what it says of one name.
type line struct {
	number int64
	fields fields // the fields that the line has, including empty ones
	entry  registry.Entry
	// ifVersion is the version that the line was made from, 0 for none; valid if said has fieldIfVersion.
	ifVersion int
	more      []registry.Target // of the column targets, appended after those of single columns
	members   []field.Member    // members of the metadata that have columns of their own
	unmapped  []foreign.Unmapped
	source    string // the identifier in the foreign format; "" if each line has a part of the name's record
}

// full reports whether the line is a full version from an export. A field that it omits is empty; a field
// that any other line omits keeps its value.
func (l *line) full() bool { return l.entry.Version > 0 || !l.entry.Changed.IsZero() }

// set sets a field from the text of a cell.
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
		return nil // keep the status: an empty cell must not reactivate a withdrawn name
	}
	if err := l.setOwn(c.field, text); err != nil {
		return malformed(columnNames[c.field], text, err)
	}
	l.fields.add(c.field)
	return nil
}

// setOwn sets a field other than those of a target.
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
		return field.RecordFields()[f-fieldRecord].SetText(&e.Record, text)
	}
	if err != nil {
		return fmt.Errorf("the %s: %w", columnNames[f], err)
	}
	return nil
}

// words splits a text into words, at most the given number.
func words(text string, most int) (all []string, err error) {
	for word := range strings.FieldsSeq(text) {
		if len(all) == most {
			return nil, fmt.Errorf("more than %d", most)
		}
		all = append(all, word)
	}
	return all, nil
}

// versionNumber parses the number of a version, 0 for none.
func versionNumber(text string) (int, error) {
	n, err := field.ParseNumber(text)
	if n < 0 {
		err = fmt.Errorf("%d is not positive", n)
	}
	return n, err
}

// setPrefix sets the column prefix, which is a boolean or the prefix itself.
func (l *line) setPrefix(text string) {
	switch is, err := field.ParseBool(text); {
	case err != nil: // not a boolean
		l.entry.Key = registry.Prefix(text)
	case is:
		l.entry.Kind = registry.KindPrefix
	}
}

// setTarget sets a field of a target.
func (l *line) setTarget(c column, text string) error {
	l.fields.add(fieldTargets)
	if text == "" {
		return nil
	}
	for len(l.entry.Targets) <= c.target {
		l.entry.Targets = append(l.entry.Targets, registry.Target{})
	}
	if err := field.TargetFields()[c.field-fieldURI].SetText(&l.entry.Targets[c.target], text); err != nil {
		return malformed(columnNames[c.field], text, err)
	}
	return nil
}

// malformed returns the error of an invalid cell. A registry.Error, which is more specific, is returned
// unchanged.
func malformed(column, text string, err error) error {
	var coded *registry.Error
	if errors.As(err, &coded) {
		return err
	}
	return refusal("line_column", "%w", err).With("Column", column, "Value", text)
}

var errNoTarget = refusal("line_no_target", "target without a URI")

// finish checks the line after all fields were set.
func (l *line) finish() error {
	if l.entry.Name == "" {
		return refusal("line_no_name", "no name")
	}
	if err := l.finishTargets(); err != nil {
		return err
	}
	if err := l.finishMembers(); err != nil {
		return err
	}
	if !l.full() {
		l.entry.Since = time.Time{} // the registry sets it
	}
	if l.entry.Since.IsZero() {
		l.fields &^= 1 << fieldSince
	}
	if l.entry.Version > 0 && l.entry.Changed.IsZero() {
		return refusal("line_no_time", "version without its time in the column changed")
	}
	return nil
}

// finishTargets removes empty targets and appends those of the column targets.
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

// check canonicalizes the names of the line, and checks permissions and all fields.
func (l *line) check(r *registry.Registry, actor registry.Actor) error {
	key, err := r.CanonicalKey(l.entry.Key)
	if err != nil {
		return err
	}
	l.entry.Key = key
	if err := actor.CheckRole(registry.Writer, key); err != nil {
		return err
	}
	record := l.entry.Record
	if !l.fields.has(fieldStatus) && !l.full() {
		record.Status = registry.Withdrawn // so that the reason and the successors are checked too
	}
	record, err = r.Check(key, record)
	if err != nil {
		return err
	}
	record.Status, record.Since = l.entry.Status, l.entry.Since
	l.entry.Record = record
	return nil
}

// checkText checks the length and the encoding of a version's author or note.
func checkText(text string) error {
	if len(text) > registry.MaxText || !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return fmt.Errorf("not UTF-8 text of at most %d bytes", registry.MaxText)
	}
	return nil
}

// lineOfItem converts an entry of a foreign format to a line, with the fields that are not empty.
func lineOfItem(i *foreign.Item) line {
	l := line{number: i.Line, entry: i.Entry, unmapped: i.Unmapped, source: i.ID}
	for n, f := range field.RecordFields() {
		if !f.Empty(&l.entry.Record) {
			l.fields.add(fieldRecord + fieldID(n))
		}
	}
	if i.Active {
		l.fields.add(fieldStatus)
	}
	l.more, l.entry.Targets = l.entry.Targets, nil
	return l
}

// memberPrefix is the prefix of column names of metadata members: "metadata.title".
const memberPrefix = "metadata."

// none is the value of a member that the line deletes.
const none = "null"

// memberColumn parses the column name of a metadata member; the result is false for other names.
func memberColumn(name string) (c column, is bool) {
	name = strings.TrimSpace(name)
	if len(name) <= len(memberPrefix) || !strings.EqualFold(name[:len(memberPrefix)], memberPrefix) {
		return column{}, false
	}
	return column{field: fieldMember, member: strings.TrimSpace(name[len(memberPrefix):])}, true
}

// setMember sets a metadata member from a cell of text. An empty cell deletes the member. The cell of a list
// member, such as keywords, is split at semicolons, including the full-width semicolon of Chinese.
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
	l.fields.add(fieldMember)
}

// listOf splits a cell into a JSON array, none if it has no values.
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

// finishMembers merges the members into metadata. Deleted members are null in it: see overrideMembers.
func (l *line) finishMembers() error {
	if !l.fields.has(fieldMember) {
		return nil
	}
	if l.entry.Metadata != "" {
		return refusal("line_members", "both a metadata column and columns of its members")
	}
	if l.full() {
		l.members = slices.DeleteFunc(l.members, isNone)
	}
	l.entry.Metadata = objectOf(l.members)
	return nil
}

func isNone(m field.Member) bool { return string(m.Value) == none }

// metadata returns the line's replacement of all metadata, "" if the line has single members.
func (l *line) metadata() string {
	if l.fields.has(fieldMember) {
		return ""
	}
	return l.entry.Metadata
}

// mergeMetadata merges the metadata of a further line.
func (u *mergedRecord) mergeMetadata(l line) {
	switch {
	case l.fields.has(fieldMember):
		u.mergeMembers(l)
	case u.entry.Metadata == "":
		u.entry.Metadata = l.entry.Metadata
	}
}

// checkMemberConflict returns an error if a further line of a name has another value of a member.
func (u *mergedRecord) checkMemberConflict(l line) error {
	if !l.fields.has(fieldMember) {
		return nil
	}
	all := membersOf(u.entry.Metadata)
	for _, m := range membersOf(l.entry.Metadata) {
		if i := indexOf(all, m.Name); i >= 0 && !isNone(m) && !isNone(all[i]) && !bytes.Equal(all[i].Value, m.Value) {
			return u.conflictError(memberPrefix+m.Name, "metadata.%s differs from line %d of the same name",
				m.Name, u.number)
		}
	}
	return nil
}

// mergeMembers adds the members of a further line that the unit does not have.
func (u *mergedRecord) mergeMembers(l line) {
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

// overrideMembers applies changes of single members to metadata. Other members, and those whose text is equal,
// stay unchanged.
func overrideMembers(before, changes string) string {
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

// isSameText reports whether a member's value is equal to the text of a cell. Numbers, booleans and strings
// with other escapes compare by their text.
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

// membersOf returns the members of a JSON object, in order; nil for "".
func membersOf(object string) []field.Member {
	all, _ := field.ParseMembers(json.RawMessage(object)) // the registry has checked it
	return all
}

// objectOf returns the JSON object with these members, "" for none.
func objectOf(all []field.Member) string {
	if len(all) == 0 {
		return ""
	}
	return string(field.FormatObject(all))
}
