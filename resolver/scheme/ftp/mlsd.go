package ftp

import (
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// parseMLSD parses a line of the reply to MLSD: RFC 3659 section 7.2. skip is true for the directory itself and
// its parent.
func parseMLSD(line string) (e entry, skip, ok bool) {
	// A fact may have spaces, such as a link target of Pure-FTPd; so the facts end at a semicolon and a space.
	facts, name, found := strings.Cut(line, "; ")
	if after, bare := strings.CutPrefix(line, " "); bare { // no facts
		facts, name, found = "", after, true
	}
	if !found {
		return entry{}, false, false
	}
	e = entry{name: name, kind: scheme.ItemOther, size: -1}
	for fact := range strings.SplitSeq(facts, ";") {
		key, value, _ := strings.Cut(fact, "=")
		switch {
		case uri.EqualFold(key, "type"):
			skip = e.setType(value)
		case uri.EqualFold(key, "size"):
			e.size = parseSize(value)
			e.noSize = e.size < 0
		case uri.EqualFold(key, "modify"):
			e.modified = parseTime(value)
			e.noTime = e.modified.IsZero()
		}
	}
	return e, skip, true
}

func (e *entry) setType(value string) (skip bool) {
	switch lower := strings.ToLower(value); {
	case lower == "file":
		e.kind = scheme.ItemFile
	case lower == "dir":
		e.kind = scheme.ItemDirectory
	case lower == "cdir", lower == "pdir":
		return true
	case strings.HasPrefix(lower, "os.unix=slink"), strings.HasPrefix(lower, "os.unix=symlink"):
		e.kind = scheme.ItemLink
		_, e.target, _ = strings.Cut(value, ":")
	}
	return false
}
