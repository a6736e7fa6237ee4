package ddds

// protocol is a protocol of the SERVICES field.
type protocol struct {
	scheme string
	// viaTHTTP means that urnd can ask the server itself, by THTTP: HTTP with paths by
	// convention (RFC 2169). For other protocols the server is a location.
	viaTHTTP bool
}

// lookupProtocol returns a protocol by its name in lower case (RFC 3404 section 4.4). A
// protocol without a URI scheme, such as "rcds", is not supported: urnd can neither ask
// its servers nor return them as locations.
func lookupProtocol(name string) (protocol, bool) {
	switch name {
	case "thttp", "http":
		return protocol{scheme: "http", viaTHTTP: true}, true
	case "https":
		return protocol{scheme: "https", viaTHTTP: true}, true
	case "z3950":
		return protocol{scheme: "z39.50s"}, true // a session: RFC 2056 section 2
	}
	return protocol{}, false
}
