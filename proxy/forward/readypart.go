package forward

import (
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

// mark notes where a field begins, of which the answer that has a part has another value. Via is behind them.
func (h *readyHead) mark(name string, at int) {
	switch {
	case name == contentLength:
		h.length = at + len(contentLength+": ")
	case h.length > 0 && h.lengthEnd == 0:
		h.lengthEnd = at - len("\r\n")
	}
	if h.part == 0 && name > contentRange {
		h.part = at
	}
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
	start := h.fields
	for _, one := range h.runs {
		if one.end < start {
			continue
		}
		if start <= h.length && h.length < one.end {
			dst = append(dst, h.text[start:h.length]...)
			dst = strconv.AppendInt(dst, part.Length(), 10)
			start = h.lengthEnd
		}
		if start <= h.part && h.part < one.end {
			dst = append(append(dst, h.text[start:h.part]...), contentRange+": "...)
			dst = append(r.AppendContentRange(dst, part), "\r\n"...)
			start = h.part
		}
		dst = append(dst, h.text[start:one.end]...)
		start = one.end
		dst = one.next.append(dst, r, requestID)
	}
	return dst
}

// append appends what is sent behind a run.
func (n next) append(dst []byte, r Ready, requestID string) []byte {
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
