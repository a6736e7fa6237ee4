package forward

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Part is what the answer to a request has of the content of a stored response.
type Part = httpcache.Part

const (
	contentLength = "Content-Length"
	contentRange  = "Content-Range"
)

// AppendReadyPart is AppendReady for the answer that has a part of the content, or says that it has none.
func (p *Proxy) AppendReadyPart(dst []byte, r Ready, part Part, requestID string, date []byte) []byte {
	dst = appendStatusLine(dst, part.Status, "")
	if part.Status == http.StatusPartialContent {
		return append(p.appendPart(dst, r, part, requestID, date), "\r\n"...)
	}
	dst = p.appendRefused(dst, r, part, requestID)
	if !r.Fields(false).Has("Date") {
		dst = append(append(append(dst, "Date: "...), date...), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// appendPart appends the fields of a 206: those of the whole response, of which it changes the length, with Content-Range where it stands
// by the order of the names. There is always a length, and Via behind it.
func (p *Proxy) appendPart(dst []byte, r Ready, part Part, requestID string, date []byte) []byte {
	start := len(dst)
	dst = p.appendReadyFields(dst, r, false, requestID, date)
	whole := len(dst)
	isBehindLength, hasRange := false, false
	for at := start; at < whole; {
		end := at + bytes.IndexByte(dst[at:whole], '\n') + 1
		if isBehindLength && !hasRange && string(dst[at:end]) > contentRange {
			hasRange = true
			dst = append(r.AppendContentRange(append(dst, contentRange+": "...), part), "\r\n"...)
		}
		if bytes.HasPrefix(dst[at:end], []byte(contentLength+": ")) {
			isBehindLength = true
			dst = append(strconv.AppendInt(append(dst, contentLength+": "...), part.Length(), 10), "\r\n"...)
		} else {
			dst = append(dst, dst[at:end]...)
		}
		at = end
	}
	return dst[:start+copy(dst[start:], dst[whole:])]
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
