package pages

import "time"

// moment is a time in UTC as it is shown: to the minute, or the day where its server says no more.
type moment struct {
	time  time.Time
	isDay bool
}

// lastYear is the last one that RFC 3339 has.
const lastYear = 9999

// momentOf returns a time as it is shown, and false where it is not known.
func momentOf(t time.Time) (moment, bool) {
	t = t.UTC()
	if t.IsZero() || t.Year() < 1 || t.Year() > lastYear {
		return moment{}, false
	}
	return moment{t, t.Equal(t.Truncate(24 * time.Hour))}, true
}

// appendExact appends the time for machines: RFC 3339.
func (m moment) appendExact(b []byte) []byte {
	if m.isDay {
		return m.time.AppendFormat(b, time.DateOnly)
	}
	return m.time.AppendFormat(b, time.RFC3339)
}

// appendShort appends the time for people.
func (m moment) appendShort(b []byte) []byte {
	if m.isDay {
		return m.time.AppendFormat(b, time.DateOnly)
	}
	const minutes, between = len("2006-01-02T15:04"), len(time.DateOnly)
	end := len(b)
	b = m.appendExact(b)[:end+minutes]
	b[end+between] = ' '
	return b
}
