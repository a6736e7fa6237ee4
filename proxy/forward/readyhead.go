package forward

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// readyHead is what the heads of all responses that a stored response is the answer of have in common. It is
// immutable, and stays with the stored response.
type readyHead struct {
	owner   *owner
	text    []byte // of the status line and the fields
	runs    []run  // in the order of the text
	hasDate bool
}

// owner stands for a Proxy, which what it has made does not keep in memory when it is replaced.
type owner struct{ _ byte }

// run is a part of the text of a readyHead.
type run struct {
	end         int  // in the text
	next        next // what is sent behind it
	isOfContent bool // it is left out of a 304
}

// next is what is sent between two runs.
type next uint8

const (
	nextText next = iota // nothing
	nextAge
	nextTTL
	nextID
)

// newReadyHead returns a head whose values that differ, each of which is the end of its field, are cut out.
func (p *Proxy) newReadyHead(r httpcache.Ready) *readyHead {
	cut := map[string]next{"Age": nextAge, "Cache-Status": nextTTL}
	if p.config.OwnField != "" && !r.Fields(false).Has(p.config.OwnField) {
		cut[p.config.OwnField] = nextID
	}
	const end = variable + "\r\n"
	fields, unmodified := p.readyFields(r, false), p.readyFields(r, true)
	var text bytes.Buffer
	text.Write(appendStatusLine(nil, r.Status(), r.Reason()))
	h := &readyHead{owner: p.owner, runs: []run{{end: text.Len(), isOfContent: true}}}
	for _, name := range slices.Sorted(maps.Keys(fields)) { // the order of http.Header.Write
		_ = http.Header{name: fields[name]}.Write(&text) // a buffer does not fail
		isOfContent := len(unmodified[name]) == 0
		next := cut[name]
		if next == nextText {
			h.add(run{end: text.Len(), isOfContent: isOfContent})
			continue
		}
		text.Truncate(text.Len() - len(end))
		h.add(run{end: text.Len(), next: next, isOfContent: isOfContent})
		text.WriteString("\r\n")
		h.add(run{end: text.Len(), isOfContent: isOfContent})
	}
	_, h.hasDate = fields["Date"]
	h.text, h.runs = bytes.Clone(text.Bytes()), slices.Clone(h.runs)
	return h
}

// add appends a run, to the one before it where that is possible.
func (h *readyHead) add(one run) {
	last := &h.runs[len(h.runs)-1]
	if last.next == nextText && last.isOfContent == one.isOfContent {
		*last = one
		return
	}
	h.runs = append(h.runs, one)
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
