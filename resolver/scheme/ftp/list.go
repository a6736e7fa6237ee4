package ftp

import (
	"strings"
	"time"

	"github.com/urnd/urnd/resolver/scheme"
)

// parseList reads a line of the reply to LIST, which no standard describes: RFC 959 section 4.1.3 leaves it to
// the server. now is for dates without a year; there is no zone, so they are taken for UTC. skip is true for
// a line of no name.
func parseList(line string, now time.Time) (e entry, skip, ok bool) {
	const total = "total "
	isTotal := len(line) > len(total) && strings.EqualFold(line[:len(total)], total) && parseSize(strings.TrimSpace(line[len(total):])) >= 0
	if isTotal || strings.TrimSpace(line) == "" {
		return entry{}, true, true
	}
	if e, ok = parseUnix(line, now); !ok {
		e, ok = parseDOS(line)
	}
	return e, false, ok
}

// field is a word of a line, which ends at an offset.
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

// parseUnix reads the form of "ls -l": mode, links, user, perhaps group, size or device, date, name. What is
// between the mode and the size differs between servers, so the date is looked for: it follows a number,
// and has one of four forms.
func parseUnix(line string, now time.Time) (entry, bool) {
	const most = 12 // words before the name
	fields := fieldsOf(line, most)
	if len(fields) < 4 || strings.IndexByte("-dlbcpsD", fields[0].text[0]) < 0 || len(fields[0].text) > 1 && len(fields[0].text) < 10 {
		return entry{}, false
	}
	for i := 2; i < len(fields); i++ {
		size := parseSize(fields[i-1].text)
		if size < 0 {
			continue
		}
		modified, end, ok := unixDate(fields[i:], now)
		if !ok || end+1 >= len(line) {
			continue
		}
		e := entry{name: line[end+1:], kind: scheme.ItemOther, size: size, modified: modified}
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
	return entry{}, false
}

// unixDate reads the date that fields begin with, and returns where it ends: "Jan 2 15:04", "Jan 2 2006",
// either with the day first, or "2006-01-02 15:04".
func unixDate(fields []field, now time.Time) (t time.Time, end int, ok bool) {
	if len(fields) >= 2 && strings.IndexByte(fields[0].text, '-') == len("2006") {
		if t, err := time.Parse("2006-01-02 15:04", fields[0].text+" "+fields[1].text); err == nil {
			return t, fields[1].end, true
		}
	}
	if len(fields) < 3 {
		return time.Time{}, 0, false
	}
	month, day, clock := fields[0].text, fields[1].text, fields[2].text
	if parseSize(month) >= 0 {
		month, day = day, month
	}
	if parseSize(day) < 0 {
		return time.Time{}, 0, false
	}
	if strings.IndexByte(clock, ':') < 0 {
		t, err := time.Parse("Jan 2 2006", month+" "+day+" "+clock)
		return t, fields[2].end, err == nil
	}
	t, ok = recent(month+" "+day+" "+clock, now)
	return t, fields[2].end, ok
}

// recent reads a date without a year, which is of the last half year, or nearly: the clocks of servers
// differ, and their zones.
func recent(date string, now time.Time) (time.Time, bool) {
	const ahead = 24 * time.Hour
	t, err := time.Parse("Jan 2 15:04", date) // of year 0, which has a February 29
	if err != nil {
		return time.Time{}, false
	}
	this := now.UTC().Year()
	for _, year := range [...]int{this + 1, this, this - 1} {
		at := time.Date(year, t.Month(), t.Day(), t.Hour(), t.Minute(), 0, 0, time.UTC)
		if at.Day() == t.Day() && !at.After(now.Add(ahead)) {
			return at, true
		}
	}
	return time.Time{}, false
}

// parseDOS reads the form of "dir" of MS-DOS: date, time, "<DIR>" or a size, name.
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
	e := entry{
		name: strings.TrimLeft(line[fields[2].end:], " "), kind: scheme.ItemFile, modified: modified,
		size: parseSize(strings.ReplaceAll(fields[2].text, ",", "")),
	}
	switch what := strings.ToUpper(fields[2].text); {
	case what == "<DIR>":
		e.kind = scheme.ItemDirectory
	case what == "<JUNCTION>", strings.HasPrefix(what, "<SYMLINK"):
		e.kind = scheme.ItemLink
	case e.size < 0:
		return entry{}, false
	}
	return e, true
}

func dosDate(date, clock string) (time.Time, bool) {
	for _, day := range [...]string{"01-02-06", "01-02-2006", "2006-01-02"} {
		for _, hour := range [...]string{"03:04PM", "15:04"} {
			if t, err := time.Parse(day+" "+hour, date+" "+clock); err == nil {
				return t, true
			}
		}
	}
	return time.Time{}, false
}
