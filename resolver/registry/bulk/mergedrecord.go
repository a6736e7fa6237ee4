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

// mergedRecord is the merged lines of a name, or of one version of a name if the lines have versions.
type mergedRecord struct {
	line
	lines int64 // the number of merged lines
	// rejected is how many of them contradict the others; they were reported on their own.
	rejected   int64
	order      []byte
	superseded bool // a later version of the name follows
}

// recordMerger merges sorted lines to units.
type recordMerger struct {
	sorted *sorter.Sorter
	reject func(Rejection)
	ahead  []byte // the next record; nil if it was not read yet
	err    error  // the error of reading ahead
}

// peek returns the next record without consuming it.
func (u *recordMerger) peek() ([]byte, error) {
	if u.ahead == nil && u.err == nil {
		u.ahead, u.err = u.sorted.Next()
	}
	return u.ahead, u.err
}

// next returns the next unit; io.EOF after the last one.
func (u *recordMerger) next() (mergedRecord, error) {
	record, err := u.peek()
	if err != nil {
		return mergedRecord{}, err
	}
	all := mergedRecord{order: bytes.Clone(orderOf(record))}
	for bytes.Equal(orderOf(record), all.order) {
		l, err := lineOf(record)
		if err != nil {
			return mergedRecord{}, err
		}
		if all.lines++; all.lines == 1 {
			all.line = l
		} else if err := all.addLine(l); err != nil {
			all.rejected++
			u.reject(Rejection{Line: l.number, Input: l.entry.String(), Reason: err})
		}
		u.ahead = nil
		if record, err = u.peek(); errors.Is(err, io.EOF) {
			all.superseded = false
			break
		} else if err != nil {
			return mergedRecord{}, err
		}
		all.superseded = all.entry.Version > 0 && bytes.Equal(keyOf(orderOf(record)), keyOf(all.order))
	}
	return all, nil
}

// addLine merges a further line. It changes nothing if the line contradicts the unit.
func (u *mergedRecord) addLine(l line) error {
	a, b := &u.entry, l.entry
	if err := u.checkConflict(l); err != nil {
		return err
	}
	targets := slices.Clone(a.Targets)
	for _, t := range b.Targets {
		if u.full() || !slices.Contains(targets, t) {
			targets = append(targets, t)
		}
	}
	if len(targets) > registry.MaxTargets {
		return &registry.Error{
			Code:   "too_many_targets",
			Reason: fmt.Errorf("name with more than %d targets", registry.MaxTargets),
		}
	}
	a.Targets = targets
	u.merge(l)
	return nil
}

// conflictingField returns the name of a record field in which a line contradicts the unit, "" for none.
func (u *mergedRecord) conflictingField(l line) string {
	a, b := &u.entry.Record, &l.entry.Record
	for _, f := range field.RecordFields() {
		if f.ReadOnly || f.Type == field.List || f.Type == field.Targets { // these are merged
			continue
		}
		both := !f.Empty(a) && !f.Empty(b)
		switch f.Type { //nolint:exhaustive // others compare by value
		case field.Status:
			both = u.fields.has(fieldStatus) && l.fields.has(fieldStatus)
		case field.JSON:
			both = u.metadata() != "" && l.metadata() != ""
		}
		if both && !f.Equal(a, b) {
			return f.Name
		}
	}
	return ""
}

// checkConflict returns an error if a line contradicts the unit.
func (u *mergedRecord) checkConflict(l line) error {
	if err := u.checkSourceConflict(l); err != nil {
		return err
	}
	a, b := &u.entry, &l.entry
	other := func(name string) error {
		return u.conflictError(name, "%s differs from line %d of the same name", name, u.number)
	}
	if name := u.conflictingField(l); name != "" {
		return other(name)
	}
	for _, t := range [...][3]string{{"by", a.By, b.By}, {"note", a.Note, b.Note}} {
		if t[1] != "" && t[2] != "" && t[1] != t[2] {
			return other(t[0])
		}
	}
	if err := u.checkMemberConflict(l); err != nil {
		return err
	}
	if u.fields.has(fieldIfVersion) && l.fields.has(fieldIfVersion) && u.ifVersion != l.ifVersion {
		return other("if_version")
	}
	if !agree(a.Changed, b.Changed) || !agree(a.Since, b.Since) {
		return u.conflictError(columnNames[fieldChanged], "times differ from line %d of the same name", u.number)
	}
	return nil
}

// conflictError returns the error of a further line of a name in which this field differs.
func (u *mergedRecord) conflictError(field, format string, args ...any) error {
	return refusal("line_contradicts", format, args...).With("Field", field, "Line", strconv.FormatInt(u.number, 10))
}

// checkSourceConflict returns an error if two different entries of a foreign format have the same canonical
// name.
func (u *mergedRecord) checkSourceConflict(l line) error {
	switch {
	case u.source != l.source:
		return refusal("line_equivalent", "same name as %.200q of line %d: the identifiers are equivalent here",
			u.source, u.number).
			With("Name", u.source, "Line", strconv.FormatInt(u.number, 10))
	case u.source != "" && u.fields.has(fieldTargets) && l.fields.has(fieldTargets) &&
		!slices.Equal(u.entry.Targets, l.entry.Targets):
		return u.conflictError(columnNames[fieldTargets],
			"targets differ from line %d of the same identifier", u.number)
	default:
		return nil
	}
}

// merge sets the fields that the unit does not have yet.
func (u *mergedRecord) merge(l line) {
	a, b := &u.entry, &l.entry
	for _, f := range field.RecordFields() {
		switch {
		case f.Type == field.Status:
			if l.fields.has(fieldStatus) {
				a.Status = b.Status
			}
		case f.Type == field.JSON:
			u.mergeMetadata(l)
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
	if l.fields.has(fieldIfVersion) {
		u.ifVersion = l.ifVersion
	}
	if a.Changed.IsZero() {
		a.Changed = b.Changed
	}
	a.By, a.Note = cmp.Or(a.By, b.By), cmp.Or(a.Note, b.Note)
	u.fields |= l.fields
}

func agree(a, b time.Time) bool { return a.IsZero() || b.IsZero() || a.Equal(b) }

// override returns the record after the unit has changed it.
func (u *mergedRecord) override(before registry.Record) registry.Record {
	record, own := before, u.entry.Record
	for i, f := range field.RecordFields() {
		reported := u.fields.has(fieldRecord + fieldID(i))
		if reported && !f.ReadOnly && f.Type != field.JSON {
			f.Copy(&record, &own)
		}
	}
	switch { // a name has targets or an alias, not both
	case u.fields.has(fieldTargets) && len(own.Targets) > 0 && !u.fields.has(fieldAlias):
		record.Alias = ""
	case u.fields.has(fieldAlias) && own.Alias != "" && len(own.Targets) == 0:
		record.Targets = nil
	}
	record.Metadata = u.overrideMetadata(before.Metadata)
	if record.Status != registry.Withdrawn {
		clearWithdrawn(&record)
	}
	return record
}

// overrideMetadata returns the metadata after the unit has changed it.
func (u *mergedRecord) overrideMetadata(before string) string {
	if u.fields.has(fieldMetadata) {
		before = u.metadata()
	}
	if u.fields.has(fieldMember) {
		return overrideMembers(before, u.entry.Metadata)
	}
	return before
}

// clearWithdrawn clears the fields that only withdrawn names have.
func clearWithdrawn(record *registry.Record) {
	for _, f := range field.RecordFields() {
		if f.WithdrawnOnly {
			f.Copy(record, &registry.Record{})
		}
	}
}
