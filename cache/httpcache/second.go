package httpcache

import "time"

// second is a time of a stored response by an HTTP-date, which has no fraction of a second; 0 is none. It takes a third of the memory of a
// time.Time, and has nothing for the collector of garbage to look at.
type second int64

// beforeDates is the Unix time of the second before the first one that an HTTP-date can say, that of the year 1.
const beforeDates = -62135596801

// secondOf returns the second of a time, 0 for the zero value.
func secondOf(t time.Time) second {
	if t.IsZero() {
		return 0
	}
	return second(t.Unix() - beforeDates)
}

// time returns the beginning of the second, the zero value for none.
func (s second) time() time.Time {
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(int64(s)+beforeDates, 0).UTC()
}
