package api

// Why says what becomes of a request for a URL, and why: it is the document of /api/v1/responses/why, and of urnd cache why --output json.
type Why struct {
	URL string `json:"url"`
	// Key is the URL in normal form, without the parameters that its site ignores: by it responses are stored.
	Key      string   `json:"key"`
	Spelling string   `json:"spelling,omitempty"` // the path and query that are sent in place of those of Key
	Site     *WhySite `json:"site,omitempty"`     // the site of urnd that it is of; none for URLs of the proxy
	// Outcome is hit, stale (a stored response, while it is validated), origin or urnd (which answers itself).
	Outcome  string  `json:"outcome"`
	Reason   *Reason `json:"reason,omitempty"` // for Outcome
	Status   int     `json:"status,omitempty"` // of what urnd answers itself
	Location string  `json:"location,omitempty"`
	// Rule is the setting of the rule that is for the selected response, or for the one that was sent.
	Rule      string              `json:"rule,omitempty"`
	Sent      *SentRequest        `json:"sent,omitempty"` // where it was sent; the rest is as it is then
	Responses []ExplainedResponse `json:"responses"`
}

// WhySite is the entry of the configuration for a URL.
type WhySite struct {
	Setting string   `json:"setting"`
	Host    string   `json:"host"`
	Path    string   `json:"path,omitempty"` // "" is all paths that no other entry is for
	Rules   []string `json:"rules"`          // of its cache, in words
}

// Reason is a reason in words.
type Reason struct {
	Code    string `json:"code"`
	Text    string `json:"text"`
	Section string `json:"section,omitempty"` // of the RFC that says so
	Advice  string `json:"advice,omitempty"`  // what to write in the configuration, where that changes it
}

// SentRequest is what became of a request that was sent to explain it.
type SentRequest struct {
	Status      int     `json:"status"`
	CacheStatus string  `json:"cache_status"` // RFC 9211
	Stored      bool    `json:"stored"`
	NotStored   *Reason `json:"not_stored,omitempty"`
}

// ExplainedResponse is a stored response, and who says for how long it is fresh.
type ExplainedResponse struct {
	Response

	Selected   bool   `json:"selected,omitempty"` // the request selects it
	Received   string `json:"received"`           // RFC 3339
	FreshUntil string `json:"fresh_until"`
	Lifetime   int64  `json:"lifetime"` // seconds
	// LifetimeFrom is s-maxage, max-age, Expires, heuristic or override (a rule of the site), "" where nothing says it.
	LifetimeFrom string `json:"lifetime_from,omitempty"`
}
