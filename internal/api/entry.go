package api

import (
	"time"

	"github.com/urnd/urnd/cache"
	"github.com/urnd/urnd/resolver"
)

// Entry is an entry of the cache of answers.
type Entry struct {
	Key       string     `json:"key"`
	TTL       int64      `json:"ttl"` // seconds; negative when stale
	Locations []Location `json:"locations"`
	No        string     `json:"no,omitempty"` // why there are none
}

// NewEntry returns the document of an entry.
func NewEntry(e *cache.Entry[resolver.Locations], now time.Time) Entry {
	document := Entry{Key: e.Key, TTL: Seconds(e.TTL(now)), Locations: Locations(e.Value)}
	if err := e.Err(); err != nil {
		document.No = err.Error()
	}
	return document
}
