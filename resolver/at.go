package resolver

import "time"

// ParseAt returns the time of a text for Query.At, and whether it is one: a time of RFC 3339, or a date
// in UTC, which means its end, so that all of the day has happened.
func ParseAt(text string) (at time.Time, ok bool) {
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.AddDate(0, 0, 1).Add(-time.Millisecond), true
	}
	at, err := time.Parse(time.RFC3339, text)
	return at, err == nil
}
