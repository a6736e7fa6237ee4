package http1

import (
	"net/http"
	"sync/atomic"
	"time"
)

// date has the value of the field Date, which is made once a second. The zero value is ready. It is safe for concurrent
// use.
type date struct {
	last atomic.Pointer[dateText]
}

// dateText is the value in one second.
type dateText struct {
	second int64
	text   string
}

// at returns the value at a time: RFC 9110 section 6.6.1.
func (d *date) at(now time.Time) string {
	second := now.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	made := &dateText{second, now.UTC().Format(http.TimeFormat)}
	d.last.Store(made)
	return made.text
}
