package ftp

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// entry is a directory entry; names are raw bytes.
type entry struct {
	name     string
	kind     string // a scheme.Item constant
	target   string // of a symbolic link
	size     int64  // in bytes; -1 if unknown
	modified time.Time
	// noSize and noTime are true if the server states the value in an unknown format.
	noSize, noTime bool
}

// shown reports whether the name can be a path segment of a URI that names this entry. "." and ".." cannot,
// nor can a name with a separator or a line end.
func (e entry) shown() bool {
	return e.name != "" && e.name != "." && e.name != ".." && !strings.ContainsAny(e.name, "/\r\n\x00")
}

// item converts the entry. base is the URI of the directory and ends in a slash.
func (e entry) item(base string) scheme.Item {
	item := scheme.Item{
		Kind: e.kind, Name: scheme.DecodeText(e.name), URI: base + escape(e.name), Modified: e.modified,
		Note: e.note(),
	}
	if e.kind == scheme.ItemDirectory {
		item.URI += "/"
	}
	if e.kind == scheme.ItemFile {
		if e.size >= 0 {
			size := e.size // a copy, so that the pointer does not keep e in memory
			item.Size = &size
		}
		if named := scheme.MediaType(e.name, nil); named != "application/octet-stream" {
			item.Type = named
		}
	}
	return item
}

// note returns the target of a symbolic link, and the fields of the server that could not be parsed.
func (e entry) note() string {
	notes := make([]string, 0, 3)
	if e.target != "" {
		notes = append(notes, scheme.DecodeText(e.target))
	}
	if e.noSize {
		notes = append(notes, "size unknown")
	}
	if e.noTime {
		notes = append(notes, "time unknown")
	}
	return strings.Join(notes, ", ")
}

// sortEntries sorts directories first, then by name, ignoring case.
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
		return cmp.Or(cmp.Compare(rank(a.entry), rank(b.entry)), strings.Compare(a.lower, b.lower),
			strings.Compare(a.name, b.name))
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
