package api

import "github.com/urnd/urnd/resolver"

// Entry is what the cache of answers has for a key.
type Entry struct {
	Key       string     `json:"key"`
	TTL       int64      `json:"ttl"` // seconds; negative when stale
	Locations []Location `json:"locations"`
	No        string     `json:"no,omitempty"` // why there are none
}

// NewEntry returns the document of what is remembered.
func NewEntry(r resolver.CachedAnswer) Entry {
	document := Entry{Key: r.Key, TTL: Seconds(r.TTL), Locations: Locations(r.Locations)}
	if r.Err != nil {
		document.No = r.Err.Error()
	}
	return document
}
