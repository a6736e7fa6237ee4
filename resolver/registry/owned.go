package registry

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/urnd/urnd/resolver"
)

// Owned reports whether a key is covered by the owned prefixes: a name begins with one of them, or a prefix
// overlaps with one of them. nil covers every key.
func Owned(only []string, key Key) bool {
	return len(only) == 0 || slices.ContainsFunc(only, func(beginning string) bool {
		return strings.HasPrefix(key.Name, beginning) ||
			key.Kind == KindPrefix && strings.HasPrefix(beginning, key.Name)
	})
}

// CheckChange returns an error that wraps ErrInvalid for a record that could not be resolved, so that every
// accepted entry has a response. A key outside of the owned prefixes can be changed if it already exists, or if
// unresolvable is set. before is the zero value for a new entry.
func (r *Registry) CheckChange(before Entry, key Key, record Record, unresolvable bool) error {
	if !before.Exists() && !unresolvable {
		if err := r.checkResolvable(key); err != nil {
			return err
		}
	}
	is, was := lacks(key.Kind, record), (*Error)(nil)
	if before.Exists() {
		was = lacks(key.Kind, before.Record)
	}
	// The deficiency predates this check: other fields remain editable.
	if is == nil || was != nil && was.Code == is.Code {
		return nil
	}
	is.Reason = fmt.Errorf("%s %w", key, is.Reason)
	return is
}

// lacks returns an error for a record that lacks the fields needed to respond to clients, or nil.
func lacks(kind Kind, record Record) *Error {
	switch {
	case kind == KindName && record.Status == Active && len(record.Targets) == 0 && record.Alias == "":
		return Invalid("no_target", "targets",
			"active name without a target: add a target, make it an alias or reserve it")
	case record.Status == Withdrawn && record.Reason == "" && len(record.Successors) == 0:
		return Invalid("reason_missing", "reason",
			"withdrawal without a reason or a successor: add one, the page of the name shows it from now on")
	default:
		return nil
	}
}

// checkResolvable returns an error for a new key that would never be resolved.
func (r *Registry) checkResolvable(key Key) error {
	switch {
	case !Owned(r.config.OwnedPrefixes, key):
		return Invalid("not_answered", "name",
			"%s cannot be resolved here: outside the prefixes of this registry, %s%s",
			key, strings.Join(r.config.OwnedPrefixes, ", "), r.suggestions(key))
	case r.lacksURN(key):
		return Invalid("name_without_urn", "name", "%s is not a URN: did you mean urn:%s?", key,
			key).With("Name", key.Name)
	case key.Kind != KindName || r.config.CheckLevel == nil:
		return nil
	}
	if err := r.config.CheckLevel(key.Name); err != nil {
		return Invalid("not_answered", "name", "%s cannot be resolved here: %w", key, err)
	}
	return nil
}

// lacksURN reports whether a name is a URN of a known namespace without its "urn:".
func (r *Registry) lacksURN(key Key) bool {
	return r.config.Suggest != nil && key.Kind == KindName && !strings.HasPrefix(key.Name, "urn:") &&
		slices.Contains(r.config.Suggest(key.Name), "urn:"+key.Name)
}

// suggestions returns a suggestion for a key outside of the owned prefixes, as the end of an error message; "" if
// there is none.
func (r *Registry) suggestions(key Key) string {
	if r.config.Suggest == nil || key.Kind == KindPrefix {
		return ""
	}
	for _, text := range r.config.Suggest(key.Name) {
		if name, err := r.config.Canonical(text); err == nil {
			text = name
		}
		if Owned(r.config.OwnedPrefixes, Name(text)) {
			return fmt.Sprintf("; did you mean %s?", text)
		}
	}
	return ""
}

// ReadPrefixes adds the distinct beginnings of the names and prefixes of a store, by one query per beginning.
func ReadPrefixes(ctx context.Context, store Store, into *resolver.PrefixSet) error {
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
				// No name contains U+10FFFF: it is percent-encoded.
				after = max(beginning+"\U0010FFFF", entries[0].Name)
			}
		}
		return nil
	})
	if err == nil {
		into.MarkLoaded()
		return nil
	}
	return fmt.Errorf("reading the first parts of the registered names: %w", err)
}
