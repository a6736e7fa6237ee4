package plaintext

import (
	"fmt"
	"strings"
	"time"
)

// dayEnd is the last moment of a day that is stored: times have milliseconds.
const dayEnd = 24*time.Hour - time.Millisecond

// ParseTime reads what a person or a client writes for a time: one of RFC 3339, or a date in UTC, which is its first moment.
func ParseTime(text string) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		t, err = time.Parse(time.DateOnly, text)
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is neither a date, such as 2031-05-01, nor a time, such as 2031-05-01T10:00:00Z", text)
	}
	return t.UTC(), nil
}

// ParseTimeEnd is ParseTime where a date is its last moment, so that all of the day has happened.
func ParseTimeEnd(text string) (time.Time, error) {
	t, err := ParseTime(text)
	if err == nil && len(strings.TrimSpace(text)) == len(time.DateOnly) {
		t = t.Add(dayEnd)
	}
	return t, err
}

// ParseDay reads a date, which is a day in UTC.
func ParseDay(text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, strings.TrimSpace(text))
	if err != nil {
		return time.Time{}, fmt.Errorf("%.40q is not a day, such as 2031-05-01", text)
	}
	return day, nil
}
