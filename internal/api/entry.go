package api

import "github.com/urnd/urnd/resolver"

// Entry is an entry of the cache of answers.
type Entry struct {
	Key       string     `json:"key"`
	TTL       int64      `json:"ttl"` // seconds; negative when stale
	Locations []Location `json:"locations"`
	No        string     `json:"no,omitempty"` // the reason of a negative answer
}

// NewEntry returns the document of a cached answer.
func NewEntry(r resolver.CachedAnswer) Entry {
	document := Entry{Key: r.Key, TTL: Seconds(r.TTL), Locations: Locations(r.Locations)}
	if r.Err != nil {
		document.No = r.Err.Error()
	}
	return document
}
