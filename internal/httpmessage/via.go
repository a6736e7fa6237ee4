package httpmessage

import (
	"cmp"
	"math/rand/v2"
	"strconv"
	"strings"
)

// pseudonym is the prefix of the names of all urnds in Via and CDN-Loop.
const pseudonym = "urnd"

// The fields of what a message has come through.
const (
	ViaField  = "Via"
	loopField = "Cdn-Loop"
)

// ViaName is the name of one urnd in Via (RFC 9110 section 7.6.3) and CDN-Loop (RFC 8586), a
// unique pseudonym. The zero value is a name that is not unique.
type ViaName struct {
	id, entry, name string
}

// NewViaName returns a unique ViaName.
func NewViaName() ViaName {
	id := "-" + strconv.FormatUint(rand.Uint64(), 36) //nolint:gosec // it need not be secret
	return ViaName{id, protocolOf + pseudonym + id, pseudonym + id}
}

// protocolOf is the version of HTTP in an entry of Via.
const protocolOf = "1.1 "

// String returns the entry of Via.
func (n ViaName) String() string { return cmp.Or(n.entry, protocolOf+pseudonym) }

// maxUrnds bounds the urnds that a request has come through: they may be chained, but a
// loop must end.
const maxUrnds = 4

// Loops reports whether a request with such fields has come through this urnd before, or
// through too many.
func (n ViaName) Loops(request Lines) bool {
	via, loop := request(ViaField), request(loopField)
	return len(via) > 0 && n.visited(via, receivedBy) || len(loop) > 0 && n.visited(loop, cdnID)
}

// visited reports whether the lines of a field have the name of this urnd, or those of too many;
// nameOf returns the name in an element.
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

// receivedBy returns the name in an element of Via: the second word.
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

// AddTo adds this urnd to the fields of a request that is passed on, behind those before it.
func (n ViaName) AddTo(f *Fields) {
	f.Add(ViaField, n.String())
	f.Add(loopField, cmp.Or(n.name, pseudonym))
}

// Passed returns the fields of a request of a client that says what it has come through, for
// requests on its behalf.
func (n ViaName) Passed(request Lines) Fields {
	var f Fields
	for _, name := range [...]string{ViaField, loopField} {
		for _, line := range request(name) {
			f.Add(name, line)
		}
	}
	n.AddTo(&f)
	return f
}
