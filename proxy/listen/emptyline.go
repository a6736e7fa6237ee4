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
