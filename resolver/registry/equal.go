package registry

import (
	"slices"
	"time"
)

// Equal reports whether two records are equal as they are stored.
func (r *Record) Equal(other *Record) bool {
	return r.Status == other.Status && SameTime(r.Since, other.Since) && r.Reason == other.Reason &&
		r.Alias == other.Alias && r.Metadata == other.Metadata && r.Contact == other.Contact &&
		r.Redirect == other.Redirect && r.Pattern == other.Pattern &&
		r.Authoritative == other.Authoritative && r.Sandbox == other.Sandbox &&
		slices.Equal(r.Successors, other.Successors) && slices.EqualFunc(r.Targets, other.Targets, Target.Equal)
}

// Equal reports whether two targets are equal as they are stored.
func (t Target) Equal(other Target) bool {
	same := SameTime(t.From, other.From) && SameTime(t.Until, other.Until)
	t.From, t.Until = other.From, other.Until
	return same && t == other
}

// SameTime reports whether times are equal as they are stored: to the millisecond, in any zone.
func SameTime(a, b time.Time) bool { return a.IsZero() == b.IsZero() && a.UnixMilli() == b.UnixMilli() }
