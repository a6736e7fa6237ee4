package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Window is a span of time of some days of the week, "Mon-Fri 08:00-18:00". The zero value is no time.
type Window struct {
	Days [7]bool // by time.Weekday: those on which it begins
	// From and To are minutes since midnight, at most 1440. Where To is not behind From it ends on the next day.
	From, To int
}

const minutesOfDay = 24 * 60

// UnmarshalText reads days, a span, or both: "Sat,Sun", "22:00-06:00", "Mon-Fri 08:00-18:00".
func (w *Window) UnmarshalText(text []byte) error {
	days, span, both := strings.Cut(string(text), " ")
	if !both && strings.Contains(days, ":") {
		days, span, both = "Mon-Sun", days, true
	}
	read := Window{To: minutesOfDay}
	if both && !read.setSpan(strings.TrimSpace(span)) {
		return fmt.Errorf("%q is not a time such as Mon-Fri 08:00-18:00, Sat,Sun or 22:00-06:00", text)
	}
	for part := range strings.SplitSeq(days, ",") {
		if !read.addDays(part) {
			return fmt.Errorf("%q is not a time such as Mon-Fri 08:00-18:00: days are Mon, Tue, Wed, Thu, Fri, Sat and Sun", text)
		}
	}
	*w = read
	return nil
}

// setSpan sets a span such as "08:00-18:00", and reports whether it is one.
func (w *Window) setSpan(text string) bool {
	from, to, ok := strings.Cut(text, "-")
	var isFrom, isTo bool
	w.From, isFrom = minutesOf(from)
	w.To, isTo = minutesOf(to)
	return ok && isFrom && isTo && w.From != w.To && w.From != minutesOfDay
}

// addDays adds a day, or a range of them, which may go over the end of the week, and reports whether it is one.
func (w *Window) addDays(text string) bool {
	first, last, isRange := strings.Cut(text, "-")
	if !isRange {
		last = first
	}
	from, to := dayOf(first), dayOf(last)
	if from < 0 || to < 0 {
		return false
	}
	for day := from; ; day = (day + 1) % 7 {
		w.Days[day] = true
		if day == to {
			return true
		}
	}
}

// dayOf returns the time.Weekday of an abbreviation, or -1.
func dayOf(text string) int {
	for day := range 7 {
		if strings.EqualFold(text, time.Weekday(day).String()[:3]) {
			return day
		}
	}
	return -1
}

// minutesOf returns the minutes since midnight of "08:30"; "24:00" is the end of a day.
func minutesOf(text string) (minutes int, ok bool) {
	hour, minute, ok := strings.Cut(text, ":")
	h, err := strconv.ParseUint(hour, 10, 8)
	m, minuteErr := strconv.ParseUint(minute, 10, 8)
	minutes = int(h)*60 + int(m)
	return minutes, ok && err == nil && minuteErr == nil && len(minute) == 2 && m < 60 && minutes <= minutesOfDay
}

// String returns the window as UnmarshalText reads it: the days in their order from Monday.
func (w Window) String() string {
	var days []string
	for i := range 7 {
		if day := (i + 1) % 7; w.Days[day] {
			days = append(days, time.Weekday(day).String()[:3])
		}
	}
	return fmt.Sprintf("%s %02d:%02d-%02d:%02d", strings.Join(days, ","), w.From/60, w.From%60, w.To/60, w.To%60)
}

// MarshalText returns String.
func (w Window) MarshalText() ([]byte, error) { return []byte(w.String()), nil }
