package api

// Problem is a problem document (RFC 9457) of type "about:blank" with extension members that identify the byte
// of the input that violates a rule.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code identifies the problem in snake_case, for programs and for translated messages on pages; stable,
	// unlike Detail.
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Pointer is the location of the error in a submitted name document: a JSON Pointer (RFC 6901).
	Pointer string `json:"pointer,omitempty"`
	Input   string `json:"input,omitempty"`
	Offset  *int   `json:"offset,omitempty"`
	// Rule is the violated production in the notation of its specification, and RuleCode identifies it as in
	// uri.Rule; both are stable, unlike Detail.
	Rule     string `json:"rule,omitempty"`
	RuleCode string `json:"rule_code,omitempty"`
	Section  string `json:"section,omitempty"`
	Trace    []Step `json:"trace,omitempty"`
	// Record is the record of the name in the registry of the site.
	Record *Record `json:"record,omitempty"`
	// Suggestions are the identifiers that the client may have meant.
	Suggestions []string `json:"suggestions,omitempty"`
	// RuleValue replaces {{.Value}} in the message of RuleCode.
	RuleValue string `json:"-"`
	// Values are the parameters of the message of Code on pages: alternating names and values. More is the part
	// of Detail beyond that message, in English, and Setting the configuration setting that applies; both ""
	// for none.
	Values  []string `json:"-"`
	More    string   `json:"-"`
	Setting string   `json:"-"`
	// IsPage is set if a page of this server was requested that does not exist.
	IsPage bool `json:"-"`
	// Called is the title of the resource that a withdrawn name identified, Citation a line to cite it, and
	// Page the path of the page about it, for pages.
	Called   string `json:"-"`
	Citation string `json:"-"`
	Page     string `json:"-"`
	// Typed is the user's input to a form, for its page.
	Typed string `json:"-"`
	// Forwarded is set for a URL that was requested as from a proxy, not as a target of a name.
	Forwarded bool `json:"-"`
	// Fetched is set for a request to /fetch. Refused is set if a server of a protocol other than HTTP has
	// responded with an error, whose text is Detail; Input is then the URI.
	Fetched  bool `json:"-"`
	Refused  bool `json:"-"`
	Declined bool `json:"-"` // by urnd, not by a server
	// MayFetch is set for a request to /fetch by an authorized client.
	MayFetch bool `json:"-"`
	// Denied is set if a rule of the site denies the request. Reason is the text of the site for it, "" for
	// none.
	Denied bool   `json:"-"`
	Reason string `json:"-"`
	// Noun is the noun for resources of the URI's scheme, from scheme.Info; "" is "resource".
	Noun string `json:"-"`
	// Retrieves is the URI that is retrieved when a user opens it, "" for other problems. Opens is the request
	// target on this server that retrieves it, "" for the current one.
	Opens, Retrieves string `json:"-"`
}

// Failed is the line of a batch for a URI without an answer.
type Failed struct {
	Input string  `json:"input"`
	Error Problem `json:"error"`
}
