package listen

// emptyLine is what was seen of an empty line before a request line, of which a server ignores one at least: RFC 9112
// section 2.2. net/http does so behind a POST alone. One that came together with the request before it is net/http's, which
// refuses it: by then where a request begins is known to nobody else.
type emptyLine uint8

const (
	noEmptyLine emptyLine = iota
	half                  // its CR has come
	whole
)

// behind returns the octets behind an empty line, where the first octets of a request are one or its beginning. A CR that no LF
// follows takes the place of the octet behind it, wherever the octets were divided: a request line that begins so is refused.
func (e *emptyLine) behind(octets []byte) []byte {
	if *e == noEmptyLine && octets[0] == '\r' && (len(octets) == 1 || octets[1] == '\n') {
		*e, octets = half, octets[1:]
	}
	if *e == half && len(octets) > 0 {
		if *e = whole; octets[0] == '\n' {
			return octets[1:]
		}
		octets[0] = '\r'
	}
	return octets
}

// isSkippedByWatch reports whether an empty line may be removed from what comes while a request is answered: where that begins
// the next one, and net/http has nothing of it. Behind a request that asks for another protocol it may be of that; behind a
// POST, net/http removes one.
func (c *requestConn) isSkippedByWatch() bool {
	h := &c.head
	return h.control.Load() != controlUnknown && h.isAll && !h.changes && !h.isPost
}
