package api

// Explanation explains how a request for a URL is processed. It is the document of /api/v1/responses/why, and of urnd
// cache why --output json.
type Explanation struct {
	URL string `json:"url"`
	// Key is the cache key of responses: the normalized URL without the parameters that its site ignores.
	Key      string         `json:"key"`
	Spelling string         `json:"spelling,omitempty"` // path and query sent instead of those of Key
	Site     *ExplainedSite `json:"site,omitempty"`     // site of urnd for the URL; none for URLs of the proxy
	// Outcome is hit, stale (a stored response is served while it is validated), origin, or urnd (which
	// responds itself).
	Outcome  string  `json:"outcome"`
	Reason   *Reason `json:"reason,omitempty"` // of Outcome
	Status   int     `json:"status,omitempty"` // of a response of urnd itself
	Location string  `json:"location,omitempty"`
	// Rule is the setting of the rule that applies to the selected response, or to the response of the sent
	// request.
	Rule string `json:"rule,omitempty"`
	// Set if the request was sent; the other fields describe the state after it.
	Sent      *SentRequest        `json:"sent,omitempty"`
	Responses []ExplainedResponse `json:"responses"`
}

// ExplainedSite is the configuration entry for a URL.
type ExplainedSite struct {
	Setting string   `json:"setting"`
	Host    string   `json:"host"`
	Path    string   `json:"path,omitempty"` // "" for all paths without another entry
	Rules   []string `json:"rules"`          // rules of its cache as texts
}

// Reason is a reason with a description.
type Reason struct {
	Code    string `json:"code"`
	Text    string `json:"text"`
	Section string `json:"section,omitempty"` // section of the RFC
	Advice  string `json:"advice,omitempty"`  // configuration that changes the result, if any
}

// SentRequest describes the response to a request that was sent for the explanation.
type SentRequest struct {
	Status      int     `json:"status"`
	CacheStatus string  `json:"cache_status"` // RFC 9211
	Stored      bool    `json:"stored"`
	NotStored   *Reason `json:"not_stored,omitempty"`
}

// ExplainedResponse is a stored response with the source of its freshness lifetime.
type ExplainedResponse struct {
	Response

	Selected   bool   `json:"selected,omitempty"` // selected by the request
	Received   string `json:"received"`           // RFC 3339
	FreshUntil string `json:"fresh_until"`
	Lifetime   int64  `json:"lifetime"` // seconds
	// LifetimeFrom is s-maxage, max-age, Expires, heuristic or override (a rule of the site); "" if there is no
	// lifetime.
	LifetimeFrom string `json:"lifetime_from,omitempty"`
}
