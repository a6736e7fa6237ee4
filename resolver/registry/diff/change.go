package diff

import (
	"fmt"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/field"
)

// Kind is the kind of a change of a name.
type Kind string

// The kinds.
const (
	Added     Kind = "added" // or only in the second registry
	Changed   Kind = "changed"
	Withdrawn Kind = "withdrawn"
	Redacted  Kind = "redacted"
	Removed   Kind = "removed" // purged, or only in the first registry
)

// Change is the difference of a name, as a JSON document.
type Change struct {
	Name   string `json:"name"`
	Prefix bool   `json:"prefix,omitempty"` // it is a prefix
	Change Kind   `json:"change"`
	// Before and After are version numbers, 0 for none.
	Before      int                `json:"version_before,omitempty"`
	After       int                `json:"version_after,omitempty"`
	Differences []field.Difference `json:"differences"`
}

// Of returns the difference of the versions of a change.
func Of(c registry.Changed) Change {
	change := Change{
		Name: c.After.Name, Prefix: c.After.Kind == registry.KindPrefix, Change: kindOf(&c), Before: c.Before.Version,
		After:       c.After.Version,
		Differences: []field.Difference{},
	}
	for _, d := range field.Differences(c.Before.Record, c.After.Record) {
		if !c.Before.Exists() {
			d.Before = "" // there was no status
		}
		if !c.After.Exists() {
			d.After = ""
		}
		if d.Before != d.After {
			change.Differences = append(change.Differences, d)
		}
	}
	return change
}

func kindOf(c *registry.Changed) Kind {
	switch {
	case !c.After.Exists():
		return Removed
	case !c.Before.Exists():
		return Added
	case c.After.Redacted && !c.Before.Redacted:
		return Redacted
	case c.After.Status == registry.Withdrawn && c.Before.Status != registry.Withdrawn:
		return Withdrawn
	default:
		return Changed
	}
}

// key returns the name, or the prefix followed by "*".
func (c *Change) key() string {
	if c.Prefix {
		return c.Name + "*"
	}
	return c.Name
}

// heading describes the change of the name in one line.
func (c *Change) heading() string {
	switch c.Change {
	case Removed:
		return c.key() + ": purged"
	case Added:
		return fmt.Sprintf("%s: registered, version %d", c.key(), c.After)
	case Redacted:
		return fmt.Sprintf("%s: version %d redacted", c.key(), c.After)
	case Changed, Withdrawn:
	}
	if c.Before == c.After {
		return fmt.Sprintf("%s: unchanged, version %d", c.key(), c.After)
	}
	return fmt.Sprintf("%s: version %d", c.key(), c.After)
}

// comparison describes in one line which of two registries have the name.
func (c *Change) comparison() string {
	switch c.Change {
	case Removed:
		return c.key() + ": only in the first"
	case Added:
		return c.key() + ": only in the second"
	case Changed, Withdrawn, Redacted:
	}
	return c.key() + ": differs"
}
