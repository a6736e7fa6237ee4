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

// The head of a response that a stored one is the answer of is made of pieces, in the order of net/http. They are few octets of text, since there are
// as many as stored responses: a kind, and a number that only some have.

// owner stands for a Proxy, which what it has made does not keep in memory when it is replaced.
type owner struct{ _ byte }

// piece is a part of a head.
type piece struct {
	kind        pieceKind
	n           int  // of pieceLine and pieceText
	isOfContent bool // it is left out of a 304
}

type pieceKind byte

const (
	pieceLine   pieceKind = iota // the n-th line of the stored fields
	pieceText                    // n octets, which follow
	pieceAge                     // a field as it is for this request, as the following ones
	pieceStatus                  // Cache-Status
	pieceLength                  // Content-Length
	pieceVia
	pieceID
	pieceDate

	// ofContent is added to the kind of a piece that is left out of a 304.
	ofContent = 0x80
)

// The beginnings of lines that end with a number.
const (
	ageLine    = "Age: "
	statusLine = "Cache-Status: urnd; hit; ttl="
	lengthLine = "Content-Length: "
)

// cutPiece returns the first piece of a head that has one, and what is behind it: for pieceText, the octets first.
func cutPiece(head string) (one piece, rest string) {
	kind, rest := head[0], head[1:]
	one = piece{kind: pieceKind(kind &^ ofContent), isOfContent: kind&ofContent != 0}
	if one.kind > pieceText {
		return one, rest
	}
	for shift := 0; ; shift += 7 { // as encoding/binary writes it
		digit := rest[0]
		rest = rest[1:]
		if one.n |= int(digit&0x7f) << shift; digit < 0x80 {
			return one, rest
		}
	}
}

// newReadyHead returns the pieces of a head, without its status line.
func (p *Proxy) newReadyHead(r httpcache.Ready) string {
	stored := make(map[string]int, r.Lines())
	for i := range r.Lines() {
		stored[r.Line(i)] = i
	}
	variables := map[string]pieceKind{"Age": pieceAge, "Cache-Status": pieceStatus}
	if p.config.OwnField != "" && !r.Fields(false).Has(p.config.OwnField) {
		variables[p.config.OwnField] = pieceID
	}
	fields, unmodified := p.readyFields(r, false), p.readyFields(r, true)
	var head []byte
	for _, name := range slices.Sorted(maps.Keys(fields)) { // the order of http.Header.Write
		mark := byte(0)
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
				head = append(head, byte(kind)|mark)
			case isStored:
				head = binary.AppendUvarint(append(head, byte(pieceLine)|mark), uint64(number)) //nolint:gosec // an index
			case line == p.via:
				head = append(head, byte(pieceVia)|mark)
			case name == "Content-Length":
				head = append(head, byte(pieceLength)|mark)
			default:
				head = append(binary.AppendUvarint(append(head, byte(pieceText)|mark), uint64(len(line))), line...)
			}
		}
	}
	if _, ok := fields["Date"]; !ok {
		head = append(head, byte(pieceDate))
	}
	return string(head)
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
	p.sentFields(&Request{Request: httpmessage.Request{Method: http.MethodGet}}, a).CopyTo(header)
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
