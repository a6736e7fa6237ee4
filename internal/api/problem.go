package api

// Problem is a problem document of RFC 9457, of type "about:blank", with members that say
// which octet of which input broke which rule.
type Problem struct {
	Title  string `json:"title"`
	Status int    `json:"status"`
	// Code is what went wrong, in snake_case, for programs and for the texts of pages: other than Detail it stays.
	Code   string `json:"code"`
	Detail string `json:"detail"`
	// Pointer is where in the document of a name that was sent the error is (RFC 6901).
	Pointer string `json:"pointer,omitempty"`
	Input   string `json:"input,omitempty"`
	Offset  *int   `json:"offset,omitempty"`
	// Rule is the production that is broken, as its specification writes it, and RuleCode which rule it is, as uri.Rule has it: other than Detail
	// both stay.
	Rule     string `json:"rule,omitempty"`
	RuleCode string `json:"rule_code,omitempty"`
	Section  string `json:"section,omitempty"`
	Trace    []Step `json:"trace,omitempty"`
	// Record is that of the name, in the registry of the site.
	Record *Record `json:"record,omitempty"`
	// Suggestions are the identifiers that may have been meant.
	Suggestions []string `json:"suggestions,omitempty"`
	// RuleValue is what the message of RuleCode has in place of {{.Value}}.
	RuleValue string `json:"-"`
	// Values are those of the message of Code on pages: pairs of a name and a text. More is what Detail says beyond that message, in English, and
	// Setting the setting that decides; both "" for nothing.
	Values  []string `json:"-"`
	More    string   `json:"-"`
	Setting string   `json:"-"`
	// IsPage is whether a page of this server was asked for, and none is there.
	IsPage bool `json:"-"`
	// Called is the title of what a name named that is no longer in use, Citation a line to cite it, and Page the path of the page about it, for
	// pages.
	Called   string `json:"-"`
	Citation string `json:"-"`
	Page     string `json:"-"`
	// Typed is what a person typed into a form, for its page.
	Typed string `json:"-"`
	// Forwarded is whether a URL was asked for as of a proxy, and not where a name leads.
	Forwarded bool `json:"-"`
	// Fetched is whether it was asked for at /fetch, and Refused whether a server of another protocol than
	// HTTP has refused it, in the words of Detail. Input is then the URI.
	Fetched  bool `json:"-"`
	Refused  bool `json:"-"`
	Declined bool `json:"-"` // by urnd, and not by the words of a server
	// MayFetch is whether it was asked for at /fetch by who may do so.
	MayFetch bool `json:"-"`
	// Denied is whether a rule of the site denies the request, and Reason what the site says of that, "" for nothing.
	Denied bool   `json:"-"`
	Reason string `json:"-"`
	// Noun is what servers of the URI have, as scheme.Info has it; "" is "resource".
	Noun string `json:"-"`
	// Retrieves is the URI that is retrieved where a person opens it, "" for other problems, and Opens the target of this
	// server for it, "" for the same one again.
	Opens, Retrieves string `json:"-"`
}

// Failed is the line of a batch for a URI that has no answer.
type Failed struct {
	Input string  `json:"input"`
	Error Problem `json:"error"`
}
