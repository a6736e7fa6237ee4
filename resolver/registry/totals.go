package registry

import "strings"

// Totals are the numbers of entries in a namespace or scheme.
type Totals struct {
	Active    int64 `json:"active"`
	Reserved  int64 `json:"reserved"`
	Withdrawn int64 `json:"withdrawn"`
	Aliases   int64 `json:"aliases"` // included in the numbers above
	Targets   int64 `json:"targets"`
	Prefixes  int64 `json:"prefixes"`
}

// Add adds n times the contribution of an entry; n may be negative.
func (t *Totals) Add(e *Entry, n int64) {
	if !e.Exists() {
		return
	}
	if e.Kind == KindPrefix {
		t.Prefixes += n
		return
	}
	switch e.Status {
	case Active:
		t.Active += n
	case Reserved:
		t.Reserved += n
	case Withdrawn:
		t.Withdrawn += n
	}
	if e.Alias != "" {
		t.Aliases += n
	}
	t.Targets += n * int64(len(e.Targets))
}

// Plus returns the sum of two Totals.
func (t Totals) Plus(other Totals) Totals {
	t.Active += other.Active
	t.Reserved += other.Reserved
	t.Withdrawn += other.Withdrawn
	t.Aliases += other.Aliases
	t.Targets += other.Targets
	t.Prefixes += other.Prefixes
	return t
}

// Namespace returns the namespace or scheme of a name: "urn:nbn", "https".
func Namespace(name string) string {
	scheme, rest, _ := strings.Cut(name, ":")
	if scheme != "urn" {
		return scheme
	}
	nid, _, _ := strings.Cut(rest, ":")
	return scheme + ":" + nid
}
