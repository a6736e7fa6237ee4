package listen

// skipEmptyLine skips an empty line that the first n octets of a request in p begin with, and returns how many octets p has
// then: a server ignores one at least (RFC 9112 section 2.2), and net/http does so behind a POST alone. One that came together
// with the request before it is net/http's, which refuses it: where a request begins in its buffer is known to nobody else.
func (c *requestConn) skipEmptyLine(p []byte, n int) (int, error) {
	for n == 1 && p[0] == '\r' {
		more, err := c.read(p[1:])
		if n += more; err != nil {
			return n, err
		}
	}
	if n < len(emptyLine) || string(p[:len(emptyLine)]) != emptyLine {
		return n, nil
	}
	if n = copy(p, p[len(emptyLine):n]); n > 0 {
		return n, nil
	}
	return c.read(p)
}

const emptyLine = "\r\n"

// emptyLines are the octets of empty lines that are still ignored behind a POST which did not go to net/http, as that does: clients
// of old send some behind its body. The zero value is none.
type emptyLines uint8

// maxEmptyLines is how many octets of them net/http ignores.
const maxEmptyLines = 4

// skip skips those that the first n octets of p begin with, and returns how many octets p has then.
func (e *emptyLines) skip(p []byte, n int) (left int) {
	skipped := 0
	for skipped < n && *e > 0 && (p[skipped] == '\r' || p[skipped] == '\n') {
		skipped++
		*e--
	}
	if skipped < n {
		*e = 0
	}
	return copy(p, p[skipped:n])
}

// IgnoreEmptyLines ignores empty lines before the next request.
func (f *FastConn) IgnoreEmptyLines() { f.empty = maxEmptyLines }
