package bulk

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/sqlite/sorter"
)

// unit is what all lines of a name say; of one version of it, where they have versions.
type unit struct {
	line
	lines int64 // how many there are
	order []byte
}

// units makes units of sorted lines.
type units struct {
	sorted *sorter.Sorter
	reject func(Rejection)
	record []byte // the next one; nil at the end
	begun  bool
}

// next returns the next unit; io.EOF after the last one.
func (u *units) next() (unit, error) {
	if !u.begun {
		u.begun = true
		if err := u.advance(); err != nil {
			return unit{}, err
		}
	}
	if u.record == nil {
		return unit{}, io.EOF
	}
	l, err := lineOf(u.record)
	if err != nil {
		return unit{}, err
	}
	all := unit{line: l, lines: 1, order: bytes.Clone(orderOf(u.record))}
	for {
		if err := u.advance(); err != nil {
			return unit{}, err
		}
		if u.record == nil || !bytes.Equal(orderOf(u.record), all.order) {
			return all, nil
		}
		if l, err = lineOf(u.record); err != nil {
			return unit{}, err
		}
		all.lines++
		if err := all.combine(l); err != nil {
			u.reject(Rejection{Line: l.number, Input: l.entry.String(), Reason: err})
		}
	}
}

func (u *units) advance() (err error) {
	if u.record, err = u.sorted.Next(); errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

var errTargets = fmt.Errorf("its name has more than %d targets", registry.MaxTargets)

// combine adds what a further line says. It changes nothing where that contradicts.
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
		return errTargets
	}
	a.Targets = targets
	for _, s := range b.Successors {
		if !slices.Contains(a.Successors, s) {
			a.Successors = append(a.Successors, s)
		}
	}
	u.take(l)
	return nil
}

// contradicts returns an error where a line says something else.
func (u *unit) contradicts(l line) error {
	a, b := &u.entry, l.entry
	if err := u.contradictsSource(l); err != nil {
		return err
	}
	for _, t := range []struct {
		name string
		a, b string
	}{
		{"reason", a.Reason, b.Reason},
		{"alias", a.Alias, b.Alias},
		{"metadata", u.metadata(), l.metadata()},
		{"contact", a.Contact, b.Contact},
		{"redirect", statusText(a.Redirect), statusText(b.Redirect)},
		{"pattern", a.Pattern, b.Pattern},
		{"by", a.By, b.By},
		{"note", a.Note, b.Note},
	} {
		if t.a != "" && t.b != "" && t.a != t.b {
			return fmt.Errorf("its %s is not that of line %d, which has the same name", t.name, u.number)
		}
	}
	if err := u.contradictMembers(l); err != nil {
		return err
	}
	if u.said.has(fieldStatus) && l.said.has(fieldStatus) && a.Status != b.Status {
		return fmt.Errorf("its status is not that of line %d, which has the same name", u.number)
	}
	if u.said.has(fieldIfVersion) && l.said.has(fieldIfVersion) && u.ifVersion != l.ifVersion {
		return fmt.Errorf("its if_version is not that of line %d, which has the same name", u.number)
	}
	if !agree(a.Changed, b.Changed) || !agree(a.Since, b.Since) {
		return fmt.Errorf("its times are not those of line %d, which has the same name", u.number)
	}
	return nil
}

// contradictsSource returns an error where two entries of a foreign format have one name, and are not one entry.
func (u *unit) contradictsSource(l line) error {
	switch {
	case u.source != l.source:
		return fmt.Errorf("%.200q of line %d has the same name: the identifiers are equivalent here", u.source, u.number)
	case u.source != "" && u.said.has(fieldTargets) && l.said.has(fieldTargets) && !slices.Equal(u.entry.Targets, l.entry.Targets):
		return fmt.Errorf("its targets are not those of line %d, which has the same identifier", u.number)
	default:
		return nil
	}
}

// take takes what was not said before.
func (u *unit) take(l line) {
	a, b := &u.entry, l.entry
	for _, t := range []struct {
		a *string
		b string
	}{
		{&a.Reason, b.Reason},
		{&a.Alias, b.Alias},
		{&a.Contact, b.Contact},
		{&a.Pattern, b.Pattern},
		{&a.By, b.By},
		{&a.Note, b.Note},
	} {
		if *t.a == "" {
			*t.a = t.b
		}
	}
	u.takeMetadata(l)
	if l.said.has(fieldStatus) {
		a.Status = b.Status
	}
	if l.said.has(fieldIfVersion) {
		u.ifVersion = l.ifVersion
	}
	if a.Changed.IsZero() {
		a.Changed = b.Changed
	}
	if a.Since.IsZero() {
		a.Since = b.Since
	}
	a.Redirect = cmp.Or(a.Redirect, b.Redirect)
	a.Authoritative = a.Authoritative || b.Authoritative
	a.Sandbox = a.Sandbox || b.Sandbox
	u.said |= l.said
}

func agree(a, b time.Time) bool { return a.IsZero() || b.IsZero() || a.Equal(b) }

// over returns the record of a name when the unit has changed it.
func (u *unit) over(before registry.Record) registry.Record {
	record, own := before, u.entry.Record
	if u.said.has(fieldStatus) {
		record.Status = own.Status
	}
	if u.said.has(fieldReason) {
		record.Reason = own.Reason
	}
	if u.said.has(fieldSuccessors) {
		record.Successors = own.Successors
	}
	if u.said.has(fieldTargets) {
		record.Targets = own.Targets
		if len(own.Targets) > 0 {
			record.Alias = "" // a name has one or the other
		}
	}
	if u.said.has(fieldAlias) {
		record.Alias = own.Alias
		if own.Alias != "" && len(own.Targets) == 0 {
			record.Targets = nil
		}
	}
	if u.said.has(fieldMetadata) {
		record.Metadata = ""
	}
	if u.said.has(fieldMember) {
		record.Metadata = overMembers(record.Metadata, own.Metadata)
	} else if u.said.has(fieldMetadata) {
		record.Metadata = own.Metadata
	}
	if u.said.has(fieldContact) {
		record.Contact = own.Contact
	}
	u.setRules(&record)
	if record.Status != registry.Withdrawn {
		record.Reason, record.Successors = "", nil
	}
	return record
}

// setRules sets in a record what the unit says of how it is resolved, and what of it is of prefixes.
func (u *unit) setRules(record *registry.Record) {
	own := &u.entry.Record
	if u.said.has(fieldRedirect) {
		record.Redirect = own.Redirect
	}
	if u.said.has(fieldPattern) {
		record.Pattern = own.Pattern
	}
	if u.said.has(fieldAuthoritative) {
		record.Authoritative = own.Authoritative
	}
	if u.said.has(fieldSandbox) {
		record.Sandbox = own.Sandbox
	}
}
