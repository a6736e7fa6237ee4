package fast

import (
	"net/http"
	"sync/atomic"
	"time"
)

// Date has the text of the field Date, which is made once a second. The zero value is ready. It is safe for
// concurrent use.
type Date struct {
	last atomic.Pointer[date]
}

// date is the text of one second.
type date struct {
	second int64
	text   []byte
}

// At returns the text for a time, which must not be changed.
func (d *Date) At(now time.Time) []byte {
	second := now.Unix()
	if last := d.last.Load(); last != nil && last.second == second {
		return last.text
	}
	made := &date{second, now.UTC().AppendFormat(nil, http.TimeFormat)}
	d.last.Store(made)
	return made.text
}
