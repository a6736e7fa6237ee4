package fast

import (
	"strings"
	"unsafe"
)

// Copy is a copy of the octets of a request, which lasts.
type Copy struct{ from, to string }

// CopyTo makes another request the same, over a copy of the octets.
func (r *Request) CopyTo(to *Request) Copy {
	c := Copy{from: r.text, to: strings.Clone(r.text)}
	*to = *r // all of it, so that what a request gets besides is not forgotten
	to.Target, to.Host, to.text = c.Of(r.Target), c.Of(r.Host), c.to
	for i, f := range r.fields[:r.count] {
		to.fields[i] = field{c.Of(f.name), c.Of(f.value), c.Of(f.spelling)}
	}
	clear(to.fields[r.count:]) // they lie over octets
	return c
}

// Of returns a text that lies over the octets as a part of their copy, and any other one as it is.
func (c Copy) Of(text string) string {
	at, ok := c.find(text)
	if !ok {
		return text
	}
	return c.to[at : at+len(text)]
}

// Lasting is Of, but returns a copy of any other text.
func (c Copy) Lasting(text string) string {
	at, ok := c.find(text)
	if !ok {
		return strings.Clone(text)
	}
	return c.to[at : at+len(text)]
}

// find returns where a text lies in the octets, and whether it does.
func (c Copy) find(text string) (at int, ok bool) {
	start, base := uintptr(unsafe.Pointer(unsafe.StringData(text))), uintptr(unsafe.Pointer(unsafe.StringData(c.from))) //nolint:gosec // they are compared alone
	if start < base || start-base > uintptr(len(c.from)) {
		return 0, false
	}
	at = int(start - base)
	return at, text != "" && at+len(text) <= len(c.from) && c.to[at:at+len(text)] == text
}
