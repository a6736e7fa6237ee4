package policy

import "time"

// Window is a span of time of some days of the week, by the clock on the wall of a zone: on a day on which the clock is changed it is
// longer or shorter than on others. The zero value is no time.
type Window struct {
	Days [7]bool // by time.Weekday: those on which it begins
	// From and To are minutes since midnight, at most 1440. It begins with From, and ends before To: on the next day where To is not
	// behind From.
	From, To int
	Zone     *time.Location // nil is UTC
	Name     string         // as it is configured
}

// Has reports whether a moment is in the window.
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
