package forward

import (
	"encoding/binary"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// The head of a response that a stored one is the answer of is made of pieces, in the order of net/http. They are few octets of text, since
// there are as many as stored responses: a kind, and for some, numbers.

// owner stands for a Proxy, which what it has made does not keep in memory when it is replaced.
type owner struct{ _ byte }

// pieceKind is what a piece is, and whether it is ofContent.
type pieceKind byte

const (
	pieceLines  pieceKind = iota // stored lines: the first and the last one, as numbers of the stored fields
	pieceText                    // the number of its octets, and they
	pieceAge                     // a field as it is for this request, as the following ones
	pieceStatus                  // Cache-Status
	pieceVia
	pieceID
	pieceDate

	// ofContent is added to a piece that is left out of a 304.
	ofContent pieceKind = 0x80
)

// The beginnings of lines that end with a number.
const (
	ageLine    = "Age: "
	statusLine = "Cache-Status: urnd; hit; ttl="
)

// number returns the number at a place, as encoding/binary writes it, and the place behind it.
func number(head string, at int) (n, behind int) {
	if n = int(head[at]); n < 0x80 {
		return n, at + 1
	}
	n = 0
	for shift := 0; ; shift += 7 {
		digit := head[at]
		at++
		if n |= int(digit&0x7f) << shift; digit < 0x80 {
			return n, at
		}
	}
}

// newReadyHead returns the pieces of a head, without its status line.
func (p *Proxy) newReadyHead(r httpcache.Ready) string {
	stored := make(map[string]int, len(r.Stored()))
	for i := range r.Stored() {
		stored[r.StoredLines(i, i)] = i
	}
	variables := map[string]pieceKind{"Age": pieceAge, "Cache-Status": pieceStatus}
	if p.config.OwnField != "" && !r.Fields(false).Has(p.config.OwnField) {
		variables[p.config.OwnField] = pieceID
	}
	fields, unmodified := p.readyFields(r, false), p.readyFields(r, true)
	var h pieces
	for _, name := range slices.Sorted(maps.Keys(fields)) { // the order of http.Header.Write
		mark := pieceKind(0)
		if len(unmodified[name]) == 0 {
			mark = ofContent
		}
		for i, value := range fields[name] {
			var text strings.Builder
			_ = http.Header{name: {value}}.Write(&text) // a builder does not fail
			line := text.String()
			kind, isVariable := variables[name]
			number, isStored := stored[line]
			switch {
			case line == "": // net/http does not send it
			case isVariable && i == len(fields[name])-1:
				h.add(kind | mark)
			case isStored:
				h.addLine(r, number, mark)
			case line == p.via:
				h.add(pieceVia | mark)
			default:
				h.add(pieceText|mark, len(line))
				h.text = append(h.text, line...)
			}
		}
	}
	if _, ok := fields["Date"]; !ok {
		h.add(pieceDate)
	}
	return string(h.text)
}

// pieces is a head that is made.
type pieces struct {
	text []byte
	// lines is where the last piece is, where that is of stored lines; first and last are these.
	lines       int
	isLines     bool
	first, last int
}

// add adds a piece with its numbers.
func (h *pieces) add(kind pieceKind, numbers ...int) {
	h.isLines, h.lines = kind&^ofContent == pieceLines, len(h.text)
	h.text = append(h.text, byte(kind))
	for _, n := range numbers {
		h.text = binary.AppendUvarint(h.text, uint64(n)) //nolint:gosec // an index, or a length
	}
}

// addLine adds a stored line, to the piece before it where that ends with the line before it.
func (h *pieces) addLine(r httpcache.Ready, i int, mark pieceKind) {
	first := i
	if h.isLines && pieceKind(h.text[h.lines]) == pieceLines|mark && isBehind(r, h.last, i) {
		first = h.first
		h.text = h.text[:h.lines]
	}
	h.add(pieceLines|mark, first, i)
	h.first, h.last = first, i
}

// isBehind reports whether a stored line is the next one to another, in the order of StoredLines.
func isBehind(r httpcache.Ready, before, i int) bool {
	stored := r.Stored()
	a, b := stored[before], stored[i]
	if a.Name == "" || b.Name == "" || b.Name < a.Name || b.Name == a.Name && i < before {
		return false
	}
	return r.StoredLines(before, i) == r.StoredLines(before, before)+r.StoredLines(i, i)
}

// variable is what the fields have that differ each time, until they are sent: a number, as an age and a TTL of 0 are.
const variable = "0"

// readyFields returns the fields that Serve sets, with variable for Age, TTL and the request identifier.
func (p *Proxy) readyFields(r httpcache.Ready, isUnmodified bool) http.Header {
	a := &httpcache.Answer{
		Status: r.Status(), Fields: r.Fields(isUnmodified), Added: httpmessage.FieldsOf("Age", variable),
		ContentLength: r.Length(), Outcome: httpcache.Outcome{HasTTL: true},
	}
	if isUnmodified {
		a.Status, a.ContentLength = http.StatusNotModified, -1
	}
	header := make(http.Header)
	if p.config.OwnField != "" {
		header[p.config.OwnField] = []string{variable}
	}
	p.appendSentFields(nil, &Request{Request: httpmessage.Request{Method: http.MethodGet}}, a).CopyTo(header)
	return header
}

// appendStatusLine appends the status line that net/http sends, with the words of the origin, as ResponseWriter
// sends them: a status whose words it does not know has others only where the origin has sent some.
func appendStatusLine(dst []byte, status int, reason string) []byte {
	dst = strconv.AppendInt(append(dst, "HTTP/1.1 "...), int64(status), 10)
	known := http.StatusText(status)
	switch {
	case reason == known && known == "":
		dst = strconv.AppendInt(append(dst, " status code "...), int64(status), 10)
	case reason == "" && isMade(status):
		dst = append(append(dst, ' '), known...)
	default:
		dst = append(append(dst, ' '), reason...)
	}
	return append(dst, "\r\n"...)
}
