package ftp

import (
	"strings"

	"github.com/urnd/urnd/resolver/scheme"
	"github.com/urnd/urnd/uri"
)

// parseMLSD reads a line of the reply to MLSD: RFC 3659 section 7.2. skip is true for a directory itself, and
// that above it.
func parseMLSD(line string) (e entry, skip, ok bool) {
	facts, name, found := strings.Cut(line, " ")
	if !found || facts != "" && !strings.HasSuffix(facts, ";") {
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
		case uri.EqualFold(key, "modify"):
			e.modified = parseTime(value)
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
