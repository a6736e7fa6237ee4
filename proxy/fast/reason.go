package fast

// Reason is why a request is not answered by the fast path, in one word for metrics; "" where it is.
type Reason string

// The reasons.
const (
	Partial     Reason = "partial"     // its head has not come as a whole
	Method      Reason = "method"      // neither GET nor HEAD
	Target      Reason = "target"      // it has octets or a form that the fast path leaves to the parser
	Field       Reason = "field"       // a field that the fast path does not know, or that changes the request
	Form        Reason = "form"        // it is not for a name or a response that a cache may have
	Uncached    Reason = "uncached"    // no cache has a fresh answer
	Size        Reason = "size"        // by HTTP/2 there is no room for its content in the flow-control window, or in one frame
	Access      Reason = "access"      // the client or the request is refused, or has to log in
	Rate        Reason = "rate"        // the client has sent too many requests
	Negotiation Reason = "negotiation" // several answers, of which the client prefers one
	Session     Reason = "session"     // a server has authenticated the connection: what it sends is for this client
	Trace       Reason = "trace"       // it is traced or logged in detail
)
