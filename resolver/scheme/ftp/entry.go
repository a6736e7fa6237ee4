package ftp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// entry is one name of a directory, as octets.
type entry struct {
	name     string
	kind     string // of scheme.Item
	target   string // of a link
	size     int64  // -1 where it is not known
	modified time.Time
	// noSize and noTime are whether the server says it, in a form that cannot be read.
	noSize, noTime bool
}

// isShown reports whether the name can be a segment of a URI that leads to it: "." and ".." do not, nor
// does one that leads elsewhere.
func (e entry) isShown() bool {
	return e.name != "" && e.name != "." && e.name != ".." && !strings.ContainsAny(e.name, "/\r\n\x00")
}

// item returns the entry of the directory whose URI is base, which ends in a slash.
func (e entry) item(base string) scheme.Item {
	item := scheme.Item{Kind: e.kind, Name: scheme.Text(e.name), URI: base + escape(e.name), Modified: e.modified, Note: e.note()}
	if e.kind == scheme.ItemDirectory {
		item.URI += "/"
	}
	if e.kind == scheme.ItemFile {
		if e.size >= 0 {
			size := e.size // not of e, which would be kept for it
			item.Size = &size
		}
		if named := scheme.MediaType(e.name, nil); named != "application/octet-stream" {
			item.Type = named
		}
	}
	return item
}

// note returns the target of a link, and which fields of the server cannot be read.
func (e entry) note() string {
	notes := make([]string, 0, 3)
	if e.target != "" {
		notes = append(notes, scheme.Text(e.target))
	}
	if e.noSize {
		notes = append(notes, "size unknown")
	}
	if e.noTime {
		notes = append(notes, "time unknown")
	}
	return strings.Join(notes, ", ")
}

// sortEntries puts directories first, and then names in the order of the alphabet, without regard to case.
func sortEntries(entries []entry) {
	type keyed struct {
		lower string
		entry
	}
	all := make([]keyed, len(entries))
	for i, e := range entries {
		all[i] = keyed{strings.ToLower(e.name), e}
	}
	slices.SortFunc(all, func(a, b keyed) int {
		return cmp.Or(cmp.Compare(rank(a.entry), rank(b.entry)), strings.Compare(a.lower, b.lower), strings.Compare(a.name, b.name))
	})
	for i := range all {
		entries[i] = all[i].entry
	}
}

func rank(e entry) int {
	if e.kind == scheme.ItemDirectory {
		return 0
	}
	return 1
}
