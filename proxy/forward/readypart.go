package forward

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Part is what the answer to a request has of the content of a stored response.
type Part = httpcache.Part

const (
	contentLength = "Content-Length"
	contentRange  = "Content-Range"
)

// places are where, in the text of a head, that of a part differs from it.
type places struct {
	fields            int // behind the status line
	length, lengthEnd int // the value of Content-Length
	part              int // where Content-Range stands, by the order of the names
}

// places returns the places of a head, which always has a length, and Via behind it. They are looked for each time: few responses are sent
// in parts, and all would have them in memory.
func (h *readyHead) places() (p places) {
	const lineEnd, field = "\r\n", "\r\n" + contentLength + ": "
	p.fields = bytes.Index(h.text, []byte(lineEnd)) + len(lineEnd)
	p.length = bytes.Index(h.text, []byte(field)) + len(field)
	p.lengthEnd = p.length + bytes.Index(h.text[p.length:], []byte(lineEnd))
	p.part = p.lengthEnd + len(lineEnd)
	for string(h.text[p.part:]) < contentRange {
		p.part += bytes.Index(h.text[p.part:], []byte(lineEnd)) + len(lineEnd)
	}
	return p
}

// AppendReadyPart is AppendReady for the answer that has a part of the content, or says that it has none.
func (p *Proxy) AppendReadyPart(dst []byte, r Ready, part Part, requestID string, date []byte) []byte {
	dst = appendStatusLine(dst, part.Status, "")
	hasDate := false
	if part.Status == http.StatusPartialContent {
		h := p.readyHead(r)
		dst, hasDate = h.appendPart(dst, r, part, requestID), h.hasDate
	} else {
		dst, hasDate = p.appendRefused(dst, r, part, requestID), r.Fields(false).Has("Date")
	}
	if !hasDate {
		dst = append(append(append(dst, "Date: "...), date...), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// appendPart appends the fields of a 206.
func (h *readyHead) appendPart(dst []byte, r Ready, part Part, requestID string) []byte {
	at := h.places()
	start := at.fields
	for _, one := range h.runs {
		if one.end < start {
			continue
		}
		if start <= at.length && at.length < one.end {
			dst = append(dst, h.text[start:at.length]...)
			dst = strconv.AppendInt(dst, part.Length(), 10)
			start = at.lengthEnd
		}
		if start <= at.part && at.part < one.end {
			dst = append(append(dst, h.text[start:at.part]...), contentRange+": "...)
			dst = append(r.AppendContentRange(dst, part), "\r\n"...)
			start = at.part
		}
		dst = append(dst, h.text[start:one.end]...)
		start = one.end
		dst = one.next.append(dst, &r, requestID)
	}
	return dst
}

// append appends what is sent behind a run.
func (n next) append(dst []byte, r *Ready, requestID string) []byte {
	switch n {
	case nextAge:
		return strconv.AppendInt(dst, int64(r.Age()/time.Second), 10)
	case nextTTL:
		return strconv.AppendInt(dst, int64(r.TTL()/time.Second), 10)
	case nextID:
		return append(dst, requestID...)
	default:
		return dst
	}
}

// appendRefused appends the fields of a 416, in the order of their names. Of the stored ones it has those that are not of the content.
func (p *Proxy) appendRefused(dst []byte, r Ready, part Part, requestID string) []byte {
	outcome := httpcache.Outcome{HasTTL: true, TTL: r.TTL()}
	stored := r.Fields(false)
	dst = appendFields(dst, "Accept-Ranges", stored)
	dst = outcome.AppendStatus(append(dst, "Cache-Status: "...), "urnd")
	dst = append(dst, "\r\nContent-Length: 0\r\n"+contentRange+": "...)
	dst = append(r.AppendContentRange(dst, part), "\r\n"...)
	for _, name := range [...]string{"Date", "Etag", "Vary"} {
		dst = appendFields(dst, name, stored)
	}
	dst = append(append(append(dst, "Via: "...), p.config.Via.String()...), "\r\n"...)
	if p.config.OwnField != "" {
		dst = append(append(append(append(dst, p.config.OwnField...), ": "...), requestID...), "\r\n"...)
	}
	return dst
}

// appendFields appends the lines of a field, with a name as net/http spells it.
func appendFields(dst []byte, name string, fields httpmessage.Fields) []byte {
	for _, f := range fields {
		if f.Is(name) {
			dst = append(append(append(append(dst, name...), ": "...), strings.Trim(f.Value, " \t")...), "\r\n"...)
		}
	}
	return dst
}
