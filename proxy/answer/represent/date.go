package represent

import (
	"strconv"
	"strings"
	"time"
)

// date returns a date in its own precision: 2026, 2026-11 or 2026-11-26; "" for an invalid one. It parses
// these, times of RFC 3339, of which it returns the day, and 20261126, the form of ERC.
func date(text string) string {
	text = strings.TrimSpace(text)
	if day, _, found := strings.Cut(text, "T"); found {
		text = day
	} else if day, _, found := strings.Cut(text, " "); found && len(day) == len(time.DateOnly) {
		text = day
	}
	for _, layout := range []string{time.DateOnly, "2006-01", "2006"} {
		if t, err := time.Parse(layout, text); err == nil && t.Year() > 0 {
			return t.Format(layout)
		}
	}
	if t, err := time.Parse("20060102", text); err == nil && t.Year() > 0 {
		return t.Format(time.DateOnly)
	}
	return ""
}

// dateParts returns the year, and the month and day if they are known.
func dateParts(date string) []int {
	var parts []int
	for part := range strings.SplitSeq(date, "-") {
		if n, err := strconv.Atoi(part); err == nil {
			parts = append(parts, n)
		}
	}
	return parts
}

// year returns the year of a date; "" for none.
func year(date string) string {
	y, _, _ := strings.Cut(date, "-")
	return y
}
