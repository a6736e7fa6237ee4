package listen

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"
)

// net/http refuses a request whose path has a percent sign that begins no triplet (RFC 3986 section 2.1), before any handler.
// Programs send such paths, and origins answer them. So while the request line is read, another octet stands for each of
// them, and the handler gets the target as it came. Only lines that are seen from their first octet are changed, and not
// those of requests that came in one read with the one before: what is taken for a path there could be a body. net/http
// refuses them as ever, as it does by HTTP/2, whose fields only it reads.

// standIn is any octet that net/url reads as itself.
const standIn = '_'

// replaceStray replaces the percent signs of the last octets of the request line that begin no triplet, as far as is known:
// of one that is not complete the rest is still to come.
func (c *requestConn) replaceStray(last []byte) {
	before := len(c.line) - len(last)
	if !c.isLineStart || before < 0 || bytes.IndexByte(last, '%') < 0 {
		return
	}
	start, end := pathOf(c.line)
	for i := max(start, before); i < end; i++ {
		if c.line[i] == '%' && !isTriplet(c.line[i:end]) {
			last[i-before] = standIn
			c.isReplaced = true
		}
	}
}

// pathOf returns where the path of the target is in a request line, or in the beginning of one; nowhere where there is none.
func pathOf(line []byte) (start, end int) {
	start = bytes.IndexByte(line, ' ') + 1
	if start == 0 {
		return 0, 0
	}
	if i := bytes.Index(line[start:], []byte("://")); i >= 0 && line[start] != '/' {
		start += i + len("://")
		start += max(bytes.IndexAny(line[start:], "/? "), 0)
	}
	if start == len(line) || line[start] != '/' {
		return 0, 0
	}
	if i := bytes.IndexAny(line[start:], "? "); i >= 0 {
		return start, start + i
	}
	return start, len(line)
}

// isTriplet reports whether a text begins with a percent-encoded octet.
func isTriplet[T string | []byte](text T) bool {
	return len(text) > 2 && text[0] == '%' && isHex(text[1]) && isHex(text[2])
}

func isHex(b byte) bool { return '0' <= b && b <= '9' || 'a' <= b|0x20 && b|0x20 <= 'f' }

// restoreTarget gives a request the target that its client has sent, and its URL the path that this means. It returns false
// where what net/http has read is no request of that line.
func (c *requestConn) restoreTarget(r *http.Request) bool {
	if !c.isReplaced {
		return true
	}
	c.isReplaced = false
	_, target, _ := strings.Cut(string(c.line), " ")
	target = strings.TrimSuffix(strings.TrimRight(target, "\r"), " "+r.Proto)
	if len(target) != len(r.RequestURI) {
		return false
	}
	var encoded strings.Builder
	isQuery := false
	for i := range len(target) {
		isQuery = isQuery || target[i] == '?'
		switch {
		case target[i] == r.RequestURI[i]:
			encoded.WriteByte(target[i])
		case target[i] != '%' || r.RequestURI[i] != standIn || isQuery:
			return false
		case isTriplet(target[i:]):
			encoded.WriteByte('%')
		default:
			encoded.WriteString("%25")
		}
	}
	u, err := url.ParseRequestURI(encoded.String())
	if err != nil {
		return false
	}
	r.RequestURI, r.URL = target, u
	return true
}
