package ftp

import (
	"strconv"
	"strings"
	"time"
)

// findDate returns the index of the field where the date of a line starts, after the size, and the offset where
// it ends; the index is 0 for none. The time is zero if only the shape of the date is recognized: its language
// or format is unknown.
func findDate(fields []field, now time.Time) (at int, modified time.Time, end int) {
	for i := 2; i < len(fields); i++ {
		if !isNumber(fields[i-1].text) {
			continue
		}
		if modified, end, ok := unixDate(fields[i:], now); ok {
			return i, modified, end
		}
	}
	for i := 2; i < len(fields); i++ {
		if !isNumber(fields[i-1].text) {
			continue
		}
		if end, ok := dateShape(fields[i:], now); ok {
			return i, time.Time{}, end
		}
	}
	return 0, time.Time{}, 0
}

// unixDate parses the date at the start of fields and returns the offset of its end: "Jan 2 15:04", "Jan 2
// 2006", either with the day first, or ISO 8601.
func unixDate(fields []field, now time.Time) (t time.Time, end int, ok bool) {
	if strings.IndexByte(fields[0].text, '-') == len("2006") {
		if t, end, ok := isoDate(fields); ok {
			return t, end, true
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

// isoDate parses the dates of GNU ls --time-style: full-iso, long-iso, and the form of iso for other years.
func isoDate(fields []field) (t time.Time, end int, ok bool) {
	if len(fields) >= 3 {
		if t, err := time.Parse("2006-01-02 15:04:05 -0700",
			fields[0].text+" "+fields[1].text+" "+fields[2].text); err == nil {
			return t.UTC(), fields[2].end, true
		}
	}
	if len(fields) >= 2 && isClock(fields[1].text) {
		for _, layout := range [...]string{"2006-01-02 15:04", "2006-01-02 15:04:05"} {
			if t, err := time.Parse(layout, fields[0].text+" "+fields[1].text); err == nil {
				return t, fields[1].end, true
			}
		}
		return time.Time{}, 0, false
	}
	t, err := time.Parse("2006-01-02", fields[0].text)
	return t, fields[0].end + 1, err == nil // ls pads it to the width of "01-02 15:04"
}

// dateShape returns the offset where a date of any language ends: day and month in either order, or both in one
// word, followed by a time of day or a year.
func dateShape(fields []field, now time.Time) (end int, ok bool) {
	const words = 3
	if len(fields) >= words {
		first, second, last := fields[0].text, fields[1].text, fields[2].text
		isYear := isYear(last, now) && (!isNumber(first) || !isNumber(second))
		if (isYear || isClock(last)) && !isClock(first) && !isClock(second) && (isDay(first) || isDay(second)) {
			return fields[2].end, true
		}
	}
	if len(fields) >= 2 && isDay(fields[0].text) && !isNumber(fields[0].text) && isClock(fields[1].text) {
		return fields[1].end, true
	}
	return 0, false
}

// isNumber reports whether a word consists of digits, of any number.
func isNumber(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }

// leading returns the number at the start of a word, and its number of digits.
func leading(text string) (number, digits int) {
	digits = len(text) - len(strings.TrimLeft(text, "0123456789"))
	number, err := strconv.Atoi(text[:digits])
	if err != nil {
		return 0, 0
	}
	return number, digits
}

// isDay reports whether a word starts with a day of the month, such as "12." and "12日".
func isDay(text string) bool {
	number, digits := leading(text)
	return digits > 0 && digits <= 2 && number >= 1 && number <= 31
}

// isYear reports whether a word starts with a year from 1970 to next year.
func isYear(text string, now time.Time) bool {
	const first = 1970
	number, digits := leading(text)
	return digits == len("2006") && number >= first && number <= now.Year()+1
}

// isClock reports whether a word is a time of day, with or without seconds.
func isClock(text string) bool {
	hour, digits := leading(text)
	return digits > 0 && digits <= 2 && hour <= 24 && len(text) >= digits+len(":04") && text[digits] == ':' &&
		strings.Trim(text, "0123456789:.") == ""
}

// recent parses a date without a year. It is in the last year, or up to a day ahead, because clocks and time
// zones of servers differ.
func recent(date string, now time.Time) (time.Time, bool) {
	const ahead = 24 * time.Hour
	t, err := time.Parse("Jan 2 15:04", date) // year 0 is a leap year
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

// dosDate parses the date of MS-DOS "dir". ok is false if it is no date; the time is zero if only its shape is
// recognized.
func dosDate(date, clock string) (t time.Time, ok bool) {
	for _, day := range [...]string{"01-02-06", "01-02-2006", "2006-01-02", "02.01.2006"} {
		for _, hour := range [...]string{"03:04PM", "15:04"} {
			if t, err := time.Parse(day+" "+hour, date+" "+clock); err == nil {
				return t, true
			}
		}
	}
	isDate := len(date) >= len("1-2-06") && strings.Trim(date, "0123456789.-") == "" && strings.ContainsAny(date, ".-")
	return time.Time{}, isDate && isClock(strings.TrimRight(clock, "APM"))
}
