package forward

import (
	"net/http"
	"strings"
	"time"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
)

// Content is the content of a stored response that is to be sent. It must be closed.
type Content = httpcache.Content

// Ready is a stored response that answers a request as it is.
type Ready = httpcache.Ready

// Ready returns the stored response that Serve would answer a request with, as httpcache.Cache.Ready does, by its
// key, the canonical URI of its target, and Request.Spelling, for what is set for a site, nil for none. The request is
// from a client of the proxy or of a site, not fetched, and
// has no field Connection and none that unkeyed names. False is also for what Serve selects by other
// fields than those of the request: resources of other protocols, and how clients are named to origins; and for
// challenges, which Serve changes.
func (p *Proxy) Ready(key, spelling string, site *Site, request httpmessage.Lines, now time.Time) (Ready, bool) {
	if !isOfWeb(key) {
		return Ready{}, false
	}
	isNamed, forwarded := false, p.forwarded(site)
	r, ok := p.config.Cache.Ready(key, spelling, func(name string) []string {
		lines := request(name)
		if name == "Forwarded" || name == "X-Forwarded-For" {
			isNamed = isNamed || forwarded != ForwardedTransparent
		}
		isNamed = isNamed || len(lines) > 0 && isOfProxy(name)
		return lines
	}, now)
	return r, ok && !isNamed && r.Status() != http.StatusUnauthorized
}

// Load brings what the disk alone has for a key into memory, where Ready finds it, and reports whether there was something.
func (p *Proxy) Load(key string) bool { return isOfWeb(key) && p.config.Cache.Load(key) }

// isOfWeb reports whether a key is of a resource of HTTP.
func isOfWeb(key string) bool {
	return strings.HasPrefix(key, "http://") || strings.HasPrefix(key, "https://")
}

// AppendReady appends the head of the response to a request that a stored response answers, by HTTP/1.1 on a
// connection that stays open: the octets that net/http sends for what Serve sets, words of the origin included.
// isUnmodified is whether the answer is 304. requestID is sent in Config.OwnField where the origin has sent none, and must be a
// field value, or is not used without one. date is that of Date where the response has none: http.TimeFormat of the present time.
func (p *Proxy) AppendReady(dst []byte, r Ready, isUnmodified bool, requestID string, date []byte) []byte {
	h := p.readyHead(r)
	if isUnmodified {
		dst = appendStatusLine(dst, http.StatusNotModified, "")
	}
	start := 0
	for _, one := range h.runs {
		text := h.text[start:one.end]
		if start = one.end; isUnmodified && one.isOfContent {
			continue
		}
		if dst = append(dst, text...); one.next != nextText {
			dst = one.next.append(dst, &r, requestID)
		}
	}
	if !h.hasDate { // net/http sends its own behind the others
		dst = append(append(append(dst, "Date: "...), date...), "\r\n"...)
	}
	return append(dst, "\r\n"...)
}

// readyHead returns the head of a stored response, which is made once.
func (p *Proxy) readyHead(r Ready) *readyHead {
	if h, ok := r.Memo().(*readyHead); ok && h.owner == p.owner {
		return h
	}
	h := p.newReadyHead(r)
	r.SetMemo(h)
	return h
}
