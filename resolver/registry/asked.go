package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Asked reports whether a registry that is asked only for what begins so is asked for a name, or for some name below a
// prefix; nil is asked for all.
func Asked(only []string, key Key) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(beginning string) bool {
		return strings.HasPrefix(key.Name, beginning) || key.Kind == KindPrefix && strings.HasPrefix(beginning, key.Name)
	})
}

// CheckChange returns an error that wraps ErrInvalid for a record that clients would get no answer by: what is accepted is
// answered. A key that the registry is not asked for may be changed where it is there already, or where the change says so
// (unresolvable). before is the zero value where there is no entry yet.
func (r *Registry) CheckChange(before Entry, key Key, record Record, unresolvable bool) error {
	if !before.Exists() && !unresolvable {
		if err := r.checkAnswered(key); err != nil {
			return err
		}
	}
	is, was := lacks(key.Kind, record), (*Error)(nil)
	if before.Exists() {
		was = lacks(key.Kind, before.Record)
	}
	if is == nil || was != nil && was.Code == is.Code { // from before it was refused: all else of it can be changed
		return nil
	}
	is.Reason = fmt.Errorf("%s %w", key, is.Reason)
	return is
}

// lacks returns what a record lacks, so that people are told nothing by it, or nil.
func lacks(kind Kind, record Record) *Error {
	switch {
	case kind == KindName && record.Status == Active && len(record.Targets) == 0 && record.Alias == "":
		return Invalid("leads_nowhere", "targets", "would be active, and lead nowhere: it needs a target, or to be an alias or reserved")
	case record.Status == Withdrawn && record.Reason == "" && len(record.Successors) == 0:
		return Invalid("reason_missing", "reason", "would be withdrawn without a reason or a successor: it is what people are told for decades")
	default:
		return nil
	}
}

// checkAnswered returns an error for a new key that clients would get no answer by.
func (r *Registry) checkAnswered(key Key) error {
	switch {
	case !Asked(r.config.Only, key):
		return Invalid("not_answered", "name", "%s would not be answered: this registry is asked only for what begins with %s%s",
			key, strings.Join(r.config.Only, ", "), r.meant(key))
	case r.lacksURN(key):
		return Invalid("name_without_urn", "name", "%s is no URN; do you mean urn:%s?", key, key).With("Name", key.Name)
	case key.Kind != KindName || r.config.Level == nil:
		return nil
	}
	if err := r.config.Level(key.Name); err != nil {
		return Invalid("not_answered", "name", "%s would not be answered: %w", key, err)
	}
	return nil
}

// lacksURN reports whether a name is a URN without "urn:", of a namespace that is known.
func (r *Registry) lacksURN(key Key) bool {
	return r.config.Suggest != nil && key.Kind == KindName && !strings.HasPrefix(key.Name, "urn:") &&
		slices.Contains(r.config.Suggest(key.Name), "urn:"+key.Name)
}

// meant returns what was probably meant by a key that the registry is not asked for, as the end of a message; "" if that is not known.
func (r *Registry) meant(key Key) string {
	if r.config.Suggest == nil || key.Kind == KindPrefix {
		return ""
	}
	for _, text := range r.config.Suggest(key.Name) {
		if name, err := r.config.Canonical(text); err == nil {
			text = name
		}
		if Asked(r.config.Only, Name(text)) {
			return fmt.Sprintf("; do you mean %s?", text)
		}
	}
	return ""
}

// ReadBeginnings adds what the names and prefixes of a store begin with, by one question for each.
func ReadBeginnings(ctx context.Context, store Store, into *resolver.Beginnings) error {
	err := store.Read(ctx, func(tx Tx) error {
		for _, kind := range []Kind{KindName, KindPrefix} {
			for after := ""; ; {
				entries, err := tx.List(kind, "", after, 1)
				if err != nil {
					return err
				}
				if len(entries) == 0 {
					break
				}
				beginning, _ := into.Add(entries[0].Name)
				after = max(beginning+"\U0010FFFF", entries[0].Name) // no name has that character: it is encoded
			}
		}
		return nil
	})
	if err == nil {
		into.Read()
		return nil
	}
	return fmt.Errorf("reading what the names of the registry begin with: %w", err)
}
