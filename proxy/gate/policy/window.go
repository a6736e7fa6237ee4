package policy

import "time"

// Window is a daily period on some days of the week, by the local time of a zone: on the days of a daylight
// saving change it is longer or shorter. The zero value contains no time.
type Window struct {
	Days [7]bool // by time.Weekday: the days on which it begins
	// From and To are minutes since midnight, at most 1440. The window includes From and excludes To, which
	// is on the next day if To is not after From.
	From, To int
	Zone     *time.Location // nil for UTC
	Name     string         // as configured
}

// Has reports whether a time is in the window.
func (w Window) Has(t time.Time) bool {
	if w.Zone == nil {
		w.Zone = time.UTC
	}
	t = t.In(w.Zone)
	day, minute := t.Weekday(), t.Hour()*60+t.Minute()
	if w.From < w.To {
		return w.Days[day] && w.From <= minute && minute < w.To
	}
	before := (day + 6) % 7
	return w.Days[day] && w.From <= minute || w.Days[before] && minute < w.To
}

// String returns the name.
func (w Window) String() string { return w.Name }
