package bulk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// unit is the merged lines of a name, or of one version of a name if the lines have versions.
type unit struct {
	line
	lines int64 // the number of merged lines
	order []byte
}

// units merges sorted lines to units.
type units struct {
	sorted *sorter.Sorter
	reject func(Rejection)
	ahead  []byte // the next record; nil if it was not read yet
	err    error  // the error of reading ahead
}

// record returns the next record without consuming it.
func (u *units) record() ([]byte, error) {
	if u.ahead == nil && u.err == nil {
		u.ahead, u.err = u.sorted.Next()
	}
	return u.ahead, u.err
}

// next returns the next unit; io.EOF after the last one.
func (u *units) next() (unit, error) {
	record, err := u.record()
	if err != nil {
		return unit{}, err
	}
	all := unit{order: bytes.Clone(orderOf(record))}
	for bytes.Equal(orderOf(record), all.order) {
		l, err := lineOf(record)
		if err != nil {
			return unit{}, err
		}
		if all.lines++; all.lines == 1 {
			all.line = l
		} else if err := all.combine(l); err != nil {
			u.reject(Rejection{Line: l.number, Input: l.entry.String(), Reason: err})
		}
		u.ahead = nil
		if record, err = u.record(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return unit{}, err
		}
	}
	return all, nil
}

// combine merges a further line. It changes nothing if the line contradicts the unit.
func (u *unit) combine(l line) error {
	a, b := &u.entry, l.entry
	if err := u.contradicts(l); err != nil {
		return err
	}
	targets := slices.Clone(a.Targets)
	for _, t := range b.Targets {
		if u.whole() || !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	if len(targets) > registry.MaxTargets {
		return &registry.Error{Code: "too_many_targets", Reason: fmt.Errorf("name with more than %d targets", registry.MaxTargets)}
	}
	a.Targets = targets
	u.take(l)
	return nil
}

// otherField returns the name of a record field in which a line contradicts the unit, "" for none.
func (u *unit) otherField(l line) string {
	a, b := &u.entry.Record, &l.entry.Record
	for _, f := range field.OfRecord() {
		if f.ReadOnly || f.Type == field.List || f.Type == field.Targets { // these are merged
			continue
		}
		both := !f.Empty(a) && !f.Empty(b)
		switch f.Type { //nolint:exhaustive // others compare by value
		case field.Status:
			both = u.said.has(fieldStatus) && l.said.has(fieldStatus)
		case field.JSON:
			both = u.metadata() != "" && l.metadata() != ""
		}
		if both && !f.Equal(a, b) {
			return f.Name
		}
	}
	return ""
}

// contradicts returns an error if a line contradicts the unit.
func (u *unit) contradicts(l line) error {
	if err := u.contradictsSource(l); err != nil {
		return err
	}
	a, b := &u.entry, &l.entry
	other := func(name string) error {
		return u.contradicted(name, "%s differs from line %d of the same name", name, u.number)
	}
	if name := u.otherField(l); name != "" {
		return other(name)
	}
	for _, t := range [...][3]string{{"by", a.By, b.By}, {"note", a.Note, b.Note}} {
		if t[1] != "" && t[2] != "" && t[1] != t[2] {
			return other(t[0])
		}
	}
	if err := u.contradictMembers(l); err != nil {
		return err
	}
	if u.said.has(fieldIfVersion) && l.said.has(fieldIfVersion) && u.ifVersion != l.ifVersion {
		return other("if_version")
	}
	if !agree(a.Changed, b.Changed) || !agree(a.Since, b.Since) {
		return u.contradicted(columnNames[fieldChanged], "times differ from line %d of the same name", u.number)
	}
	return nil
}

// contradicted returns the error of a further line of a name in which this field differs.
func (u *unit) contradicted(field, format string, args ...any) error {
	return refusal("line_contradicts", format, args...).With("Field", field, "Line", strconv.FormatInt(u.number, 10))
}

// contradictsSource returns an error if two different entries of a foreign format have the same canonical
// name.
func (u *unit) contradictsSource(l line) error {
	switch {
	case u.source != l.source:
		return refusal("line_equivalent", "same name as %.200q of line %d: the identifiers are equivalent here", u.source, u.number).
			With("Name", u.source, "Line", strconv.FormatInt(u.number, 10))
	case u.source != "" && u.said.has(fieldTargets) && l.said.has(fieldTargets) && !slices.Equal(u.entry.Targets, l.entry.Targets):
		return u.contradicted(columnNames[fieldTargets], "targets differ from line %d of the same identifier", u.number)
	default:
		return nil
	}
}

// take sets the fields that the unit does not have yet.
func (u *unit) take(l line) {
	a, b := &u.entry, &l.entry
	for _, f := range field.OfRecord() {
		switch {
		case f.Type == field.Status:
			if l.said.has(fieldStatus) {
				a.Status = b.Status
			}
		case f.Type == field.JSON:
			u.takeMetadata(l)
		case f.Type == field.List:
			texts := f.Lines(&a.Record)
			for _, text := range f.Lines(&b.Record) {
				if !slices.Contains(texts, text) {
					texts = append(texts, text)
				}
			}
			f.SetList(&a.Record, texts)
		case f.Empty(&a.Record): // not targets, which combine has merged
			f.Copy(&a.Record, &b.Record)
		}
	}
	if l.said.has(fieldIfVersion) {
		u.ifVersion = l.ifVersion
	}
	if a.Changed.IsZero() {
		a.Changed = b.Changed
	}
	a.By, a.Note = cmp.Or(a.By, b.By), cmp.Or(a.Note, b.Note)
	u.said |= l.said
}

func agree(a, b time.Time) bool { return a.IsZero() || b.IsZero() || a.Equal(b) }

// over returns the record after the unit has changed it.
func (u *unit) over(before registry.Record) registry.Record {
	record, own := before, u.entry.Record
	for i, f := range field.OfRecord() {
		said := u.said.has(fieldRecord + fieldID(i))
		if said && !f.ReadOnly && f.Type != field.JSON {
			f.Copy(&record, &own)
		}
	}
	switch { // a name has targets or an alias, not both
	case u.said.has(fieldTargets) && len(own.Targets) > 0 && !u.said.has(fieldAlias):
		record.Alias = ""
	case u.said.has(fieldAlias) && own.Alias != "" && len(own.Targets) == 0:
		record.Targets = nil
	}
	record.Metadata = u.overMetadata(before.Metadata)
	if record.Status != registry.Withdrawn {
		clearWithdrawn(&record)
	}
	return record
}

// overMetadata returns the metadata after the unit has changed it.
func (u *unit) overMetadata(before string) string {
	if u.said.has(fieldMetadata) {
		before = u.metadata()
	}
	if u.said.has(fieldMember) {
		return overMembers(before, u.entry.Metadata)
	}
	return before
}

// clearWithdrawn clears the fields that only withdrawn names have.
func clearWithdrawn(record *registry.Record) {
	for _, f := range field.OfRecord() {
		if f.OfWithdrawn {
			f.Copy(record, &registry.Record{})
		}
	}
}
