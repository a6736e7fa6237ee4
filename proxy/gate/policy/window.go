package policy

import (
	"fmt"
	"strings"
	"time"
)

// Window is a span of time of some days of the week, by the clock on the wall of a zone: on a day on which the clock is changed it is
// longer or shorter than on others. The zero value is no time.
type Window struct {
	Days [7]bool // by time.Weekday: those on which it begins
	// From and To are minutes since midnight, at most 1440. It begins with From, and ends before To: on the next day where To is not
	// behind From.
	From, To int
	Zone     *time.Location // nil is UTC
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

// String returns the window as "Mon,Tue 08:00-18:00".
func (w Window) String() string {
	var days []string
	for day, is := range w.Days {
		if is {
			days = append(days, time.Weekday(day).String()[:3])
		}
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.Join(days, ","), w.From/60, w.From%60, w.To/60, w.To%60)
}
