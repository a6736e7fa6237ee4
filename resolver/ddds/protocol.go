package ddds

// protocol is how one speaks with what a record leads to.
type protocol struct {
	scheme string
	// asked is that urnd asks the server itself, by THTTP: HTTP with an agreement on
	// paths (RFC 2169). Others are locations, for who speaks with them.
	asked bool
}

// lookupProtocol returns what is known of a protocol of the SERVICES field, in lower
// case (RFC 3404 section 4.4). One that has no scheme of URIs, such as "rcds", can be
// neither asked nor told to anybody.
func lookupProtocol(name string) (protocol, bool) {
	switch name {
	case "thttp", "http":
		return protocol{scheme: "http", asked: true}, true
	case "https":
		return protocol{scheme: "https", asked: true}, true
	case "z3950":
		return protocol{scheme: "z39.50s"}, true // a session: RFC 2056 section 2
	}
	return protocol{}, false
}
