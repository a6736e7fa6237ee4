package api

// Response is a stored response of the HTTP cache.
type Response struct {
	Status int `json:"status"`
	// Spelling is the path and query that were sent for it, empty for those of the URI in normal form.
	Spelling string `json:"spelling,omitempty"`
	// Selecting are the fields of requests that select it; one that is null must be missing.
	Selecting    map[string]*string `json:"selecting"`
	Age          int64              `json:"age"`  // seconds
	TTL          int64              `json:"ttl"`  // seconds; negative when stale
	Size         int64              `json:"size"` // of the content, in bytes; -1 while it is unknown
	ETag         string             `json:"etag,omitempty"`
	LastModified string             `json:"last_modified,omitempty"`
	// Where is where the content is: memory, disk; in none while it arrives.
	Where   []string `json:"where"`
	Tags    []string `json:"tags"`
	Partial bool     `json:"partial,omitempty"`
	Purged  bool     `json:"purged,omitempty"` // it must be validated before it is used
}
