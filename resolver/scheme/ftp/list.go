package ftp

import (
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// parseList parses a line of the reply to LIST, whose format RFC 959 section 4.1.3 leaves to the server. now
// resolves dates without a year. Lines have no time zone, so times are taken for UTC. skip is true for a line
// without an entry.
func parseList(line string, now time.Time) (e entry, skip, ok bool) {
	const total = "total "
	isTotal := len(line) > len(total) && strings.EqualFold(line[:len(total)], total) &&
		parseSize(strings.TrimSpace(line[len(total):])) >= 0
	if isTotal || strings.TrimSpace(line) == "" {
		return entry{}, true, true
	}
	if e, ok = parseUnix(line, now); !ok {
		e, ok = parseDOS(line)
	}
	return e, false, ok
}

// field is a word of a line; end is the offset where it ends.
type field struct {
	text string
	end  int
}

// fieldsOf returns the words of a line, at most limit.
func fieldsOf(line string, limit int) []field {
	fields := make([]field, 0, limit)
	for i := 0; i < len(line) && len(fields) < limit; {
		for i < len(line) && line[i] == ' ' {
			i++
		}
		start := i
		for i < len(line) && line[i] != ' ' {
			i++
		}
		if i > start {
			fields = append(fields, field{line[start:i], i})
		}
	}
	return fields
}

// parseUnix parses the format of "ls -l": mode, links, user, perhaps group, size or device, date, name. The
// fields between mode and size differ between servers, so it searches for the date, which follows a number.
func parseUnix(line string, now time.Time) (entry, bool) {
	const most = 12 // words before the name
	fields := fieldsOf(line, most)
	if len(fields) < 4 || strings.IndexByte("-dlbcpsD", fields[0].text[0]) < 0 ||
		len(fields[0].text) > 1 && len(fields[0].text) < 10 {
		return entry{}, false
	}
	at, modified, end := findDate(fields, now)
	if at == 0 || end+1 >= len(line) {
		return entry{}, false
	}
	size := parseSize(fields[at-1].text)
	e := entry{
		name: line[end+1:], kind: scheme.ItemOther, size: size, modified: modified, noSize: size < 0,
		noTime: modified.IsZero(),
	}
	// NetWare has its rights in brackets, and pads with spaces.
	if strings.Contains(fields[0].text+fields[1].text, "[") {
		if e.name = strings.TrimLeft(e.name, " "); e.name == "" {
			return entry{}, false
		}
	}
	switch line[0] {
	case '-':
		e.kind = scheme.ItemFile
	case 'd':
		e.kind = scheme.ItemDirectory
	case 'l':
		e.kind = scheme.ItemLink
		if name, target, found := strings.Cut(e.name, " -> "); found && name != "" {
			e.name, e.target = name, target
		}
	}
	return e, true
}

// parseDOS parses the format of MS-DOS "dir": date, time, "<DIR>" or a size, name.
func parseDOS(line string) (entry, bool) {
	const most = 4
	fields := fieldsOf(line, most)
	if len(fields) < most {
		return entry{}, false
	}
	if upper := strings.ToUpper(fields[2].text); upper == "AM" || upper == "PM" {
		fields = fieldsOf(line, most+1)
		if len(fields) <= most {
			return entry{}, false
		}
		fields[1].text += upper
		fields = append(fields[:2], fields[3:]...)
	}
	modified, ok := dosDate(strings.ReplaceAll(fields[0].text, "/", "-"), strings.ToUpper(fields[1].text))
	if !ok {
		return entry{}, false
	}
	size := strings.ReplaceAll(fields[2].text, ",", "")
	e := entry{
		name: strings.TrimLeft(line[fields[2].end:], " "), kind: scheme.ItemFile, modified: modified,
		noTime: modified.IsZero(), size: parseSize(size), noSize: isNumber(size) && parseSize(size) < 0,
	}
	switch what := strings.ToUpper(fields[2].text); {
	case what == "<DIR>":
		e.kind = scheme.ItemDirectory
	case what == "<JUNCTION>", strings.HasPrefix(what, "<SYMLINK"):
		e.kind = scheme.ItemLink
	case !isNumber(size):
		return entry{}, false
	}
	return e, true
}
