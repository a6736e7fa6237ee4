package httpmessage

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Date has the value of the field Date (RFC 9110 section 6.6.1), which is made once a second. The zero value is ready. It is safe for
// concurrent use.
type Date struct {
	last atomic.Pointer[dateText]
}

// dateText is the value in one second.
type dateText struct {
	second int64
	text   string
}

// At returns the value at a time.
func (d *Date) At(now time.Time) string {
	second := now.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	made := &dateText{second, now.UTC().Format(http.TimeFormat)}
	d.last.Store(made)
	return made.text
}
