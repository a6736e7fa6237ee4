package httpmessage

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
)

// pseudonym is the prefix of the names of all urnd instances in Via and CDN-Loop.
const pseudonym = "urnd"

// ViaField and loopField are the header fields that list the intermediaries of a message.
const (
	ViaField  = "Via"
	loopField = "Cdn-Loop"
)

// ViaName is the unique pseudonym of one urnd instance in Via (RFC 9110 section 7.6.3) and CDN-Loop (RFC 8586).
// The zero value is a name that is not unique.
type ViaName struct {
	id, entry, name string
}

// NewViaName returns a unique ViaName.
func NewViaName() ViaName {
	id := "-" + strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // not a secret
	return ViaName{id, protocolOf + pseudonym + id, pseudonym + id}
}

// protocolOf is the HTTP version in an element of Via.
const protocolOf = "1.1 "

// String returns the element of Via.
func (n ViaName) String() string { return cmp.Or(n.entry, protocolOf+pseudonym) }

// maxUrnds limits the urnd instances on the path of a request: a chain is permitted, but a loop must end.
const maxUrnds = 4

// Loops reports whether a request with these fields has passed this instance before, or has passed too many
// instances.
func (n ViaName) Loops(request Header) bool {
	via, loop := request(ViaField), request(loopField)
	return len(via) > 0 && n.visited(via, receivedBy) || len(loop) > 0 && n.visited(loop, cdnID)
}

// visited reports whether the lines of a field contain the name of this instance, or too many names of urnd.
// nameOf extracts the name from an element.
func (n ViaName) visited(lines []string, nameOf func(element string) string) bool {
	urnds := 0
	for _, line := range lines {
		for element := range strings.SplitSeq(line, ",") {
			name := nameOf(strings.TrimSpace(element))
			if n.id != "" && name == pseudonym+n.id {
				return true
			}
			if strings.HasPrefix(name, pseudonym) {
				urnds++
			}
		}
	}
	return urnds >= maxUrnds
}

// receivedBy returns the name in an element of Via, its second word.
func receivedBy(element string) string {
	_, rest, _ := strings.Cut(element, " ")
	name, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	return name
}

// cdnID returns the name in an element of CDN-Loop: RFC 8586 section 2.
func cdnID(element string) string {
	name, _, _ := strings.Cut(element, ";")
	return strings.TrimSpace(name)
}

// AddTo appends this instance to the Via and CDN-Loop fields of a forwarded request.
func (n ViaName) AddTo(f *Fields) {
	f.Add(ViaField, n.String())
	f.Add(loopField, cmp.Or(n.name, pseudonym))
}

// FieldsFor returns the Via and CDN-Loop fields for requests on behalf of a client's request, including this
// instance.
func (n ViaName) FieldsFor(request Header) Fields {
	var f Fields
	for _, name := range [...]string{ViaField, loopField} {
		for _, line := range request(name) {
			f.Add(name, line)
		}
	}
	n.AddTo(&f)
	return f
}
