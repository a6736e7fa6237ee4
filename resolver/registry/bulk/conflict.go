package bulk

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// isOf reports whether a unit was made from the current version of an entry. If the unit has a time of
// change, that has to match too: another registry may have a different version with the same number.
func (u *mergedRecord) isOf(e registry.Entry) bool {
	return u.fields.has(fieldIfVersion) && u.ifVersion == e.Version && !u.isElsewhere(e)
}

// isElsewhere reports whether a unit has a time of change that differs from that of an entry.
func (u *mergedRecord) isElsewhere(e registry.Entry) bool {
	return !u.entry.Changed.IsZero() && !u.entry.Changed.Equal(e.Changed)
}

// mayChange returns an error unless a unit may replace an entry by a record. The error is
// registry.ErrConflict if the change of another user would be lost.
func (r *run) mayChange(u *mergedRecord, before registry.Entry, after registry.Record) error {
	if before.Kind == registry.KindPrefix {
		if err := r.Actor.CheckRole(registry.Admin, before.Key); err != nil {
			return err
		}
	}
	hasVersion := u.fields.has(fieldIfVersion)
	revives := before.Status == registry.Withdrawn && after.Status != registry.Withdrawn
	switch {
	case u.isOf(before), !hasVersion && (!before.Exists() || isFirst(before.Record, after)):
		return nil
	case r.Overwrite && (!hasVersion || !revives): // the author of the line did not know that the name is withdrawn
		return nil
	case !before.Exists():
		return conflict("line_unregistered", "the line is based on version %d of %s, which is not registered",
			u.ifVersion, before.Key).
			With("Version", strconv.Itoa(u.ifVersion))
	}
	from := "the line has no if_version"
	if hasVersion {
		from = fmt.Sprintf("the line is based on version %d", u.ifVersion)
		if u.ifVersion == before.Version {
			from += " of another registry, of " + field.FormatTime(u.entry.Changed)
		}
	}
	code, help := "line_conflict", "export again and repeat the edit, or import with overwrite"
	if revives {
		code, help = "line_withdrawn", "to restore a withdrawn name, use set --activate or a line based on this version"
	}
	reason := conflict(code, "%s has version %d of %s, by %s, %s: %s; %s",
		before.Key, before.Version, field.FormatTime(before.Changed), before.By, from, both(before.Record, after),
		help).
		With("Version", strconv.Itoa(before.Version), "By", before.By)
	of := &Conflict{Key: before.Key, Version: before.Version, Record: after, reason: reason}
	if hasVersion {
		of.From = u.ifVersion
	}
	return of
}

// Conflict is the error of a line that would overwrite a later change by another user, or that has no
// if_version. It wraps registry.ErrConflict.
type Conflict struct {
	Key     registry.Key
	Version int             // the registered version
	From    int             // the version that the line was made from; 0 if the line has no if_version
	Record  registry.Record // the record that the line would write
	reason  error
}

// Error implements error.
func (c *Conflict) Error() string { return c.reason.Error() }

// Unwrap returns the underlying error.
func (c *Conflict) Unwrap() error { return c.reason }

// isFirst reports whether a record only adds fields to a reserved name that has neither target nor alias yet.
func isFirst(before, after registry.Record) bool {
	if before.Status != registry.Reserved || after.Status == registry.Withdrawn ||
		len(before.Targets) > 0 || before.Alias != "" || before.Sandbox != after.Sandbox {
		return false
	}
	for _, f := range field.RecordFields() {
		if f.Type != field.Status && !f.ReadOnly && !f.Empty(&before) && !f.Equal(&before, &after) {
			return false
		}
	}
	return true
}

// Bounds of the differences that an error lists.
const (
	shownDifferences = 10
	shownText        = 200 // bytes of a value
)

// both lists the differences between the record in the registry and the record of the line, with both values.
func both(before, after registry.Record) string {
	var all []string
	for _, d := range field.Differences(before, after) {
		if len(all) == shownDifferences {
			all = append(all, "and more")
			break
		}
		switch {
		case d.After == "":
			all = append(all, fmt.Sprintf("only the registry has the %s %q", d.Field, bounded(d.Before)))
		case d.Before == "":
			all = append(all, fmt.Sprintf("only the line has the %s %q", d.Field, bounded(d.After)))
		default:
			all = append(all, fmt.Sprintf("the %s is %q in the registry and %q in the line", d.Field, bounded(d.Before),
				bounded(d.After)))
		}
	}
	return strings.Join(all, "; ")
}

func bounded(text string) string {
	if len(text) <= shownText {
		return text
	}
	return strings.ToValidUTF8(text[:shownText], "") + "..."
}
