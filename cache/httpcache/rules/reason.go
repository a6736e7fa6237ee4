package rules

// Reason is the first rule that forbids storing a response; the zero value is none. The decision itself returns
// it, so that explanations need no second decision. The numbers may change, the codes may not.
type Reason uint8

// The reasons, in the order in which they are checked.
const (
	ReasonNone Reason = iota
	ReasonMethod
	ReasonAuthorization
	ReasonRequestNoStore
	ReasonOverride
	ReasonClient
	ReasonInterim
	ReasonParts
	ReasonMustUnderstand
	ReasonNoStore
	ReasonPrivate
	ReasonManyFields
	ReasonStatus
	ReasonVary
	ReasonContentRange
	ReasonUnkeyed
	ReasonRange
	ReasonCookie
	ReasonSetCookie
	ReasonOrigin
	ReasonClientError
	ReasonRequestOfError
	ReasonFreshness
	ReasonSize
	reasons // number of reasons
)

// reasonTexts are the code, the section and the sentence of each reason.
var reasonTexts = [reasons]struct{ code, section, sentence string }{
	ReasonMethod: {
		"method", "RFC 9111 section 3",
		"the method, or a GET with content, has no response that answers later requests",
	},
	ReasonAuthorization: {
		"authorization", "RFC 9111 section 3.5",
		"the request has Authorization, and the response none of public, must-revalidate and s-maxage",
	},
	ReasonRequestNoStore: {"request-no-store", "RFC 9111 section 5.2.1.5", "the request has no-store"},
	ReasonOverride:       {"override", "RFC 9111 section 3", "the configuration of the site says never"},
	ReasonClient: {
		"client", "RFC 9111 section 3",
		"the response was made for this client, whatever its fields say",
	},
	ReasonInterim: {
		"not-modified", "RFC 9111 section 3",
		"the response is 304 to a condition of the client, or not a final one",
	},
	ReasonParts: {
		"parts", "RFC 9111 section 3.3",
		"the response has several ranges, or one without Content-Range",
	},
	ReasonMustUnderstand: {
		"must-understand", "RFC 9111 section 5.2.2.3",
		"the response has must-understand, and a status whose caching is not implemented",
	},
	ReasonNoStore:    {"no-store", "RFC 9111 section 5.2.2.5", "the response has no-store"},
	ReasonPrivate:    {"private", "RFC 9111 section 5.2.2.7", "the response has private, and the cache is shared"},
	ReasonManyFields: {"fields", "RFC 9110 section 5.4", "the response has more lines of fields than are stored"},
	ReasonStatus: {
		"status", "RFC 9111 section 3",
		"the status is not one that may be stored without max-age, s-maxage, public or Expires",
	},
	ReasonVary:         {"vary", "RFC 9111 section 4.1", `Vary is "*", or names more fields than are compared`},
	ReasonContentRange: {"content-range", "RFC 9110 section 14.4", "the place of the part in the whole is not known"},
	ReasonUnkeyed: {
		"unkeyed", "RFC 9111 section 4.1",
		"the request has a field that may have made the response, and Vary does not name it",
	},
	ReasonRange: {"range", "RFC 9110 section 14.2", "the request has Range, and the status is neither 200 nor 206"},
	ReasonCookie: {
		"cookie", "RFC 9111 section 7.3",
		"the request has Cookie, and the response no max-age, s-maxage or Expires",
	},
	ReasonSetCookie: {
		"set-cookie", "RFC 9111 section 7.3",
		"the response has Set-Cookie, and no max-age, s-maxage or Expires",
	},
	ReasonOrigin: {
		"origin", "Fetch section 3.3.3",
		"the request has Origin, and the response is for one site without Vary: Origin",
	},
	ReasonClientError: {"client-error", "RFC 9110 section 15.5", "the status is about the client or its request alone"},
	ReasonRequestOfError: {
		"error", "RFC 9111 section 4",
		"the response is an error, and the request has fields that it may be about",
	},
	ReasonFreshness: {
		"freshness", "RFC 9111 section 4.2",
		"the response has no freshness lifetime, and no validator to revalidate it by",
	},
	ReasonSize: {"size", "RFC 9111 section 3", "the content is larger than the largest that is stored"},
}

// Code returns a short name for programs, a token of RFC 9651; "" for no reason.
func (r Reason) Code() string { return r.text().code }

// Section returns the section of the standard that contains the rule or its basis; "" for no reason.
func (r Reason) Section() string { return r.text().section }

// String returns the rule as a sentence; "" for no reason.
func (r Reason) String() string { return r.text().sentence }

func (r Reason) text() (text struct{ code, section, sentence string }) {
	if r < reasons {
		text = reasonTexts[r]
	}
	return text
}

// Reasons returns all reasons except ReasonNone.
func Reasons() []Reason {
	all := make([]Reason, 0, reasons-1)
	for r := ReasonNone + 1; r < reasons; r++ {
		all = append(all, r)
	}
	return all
}
