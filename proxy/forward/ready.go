package forward

import (
	"net/http"
	"strconv"
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
	switch {
	case isUnmodified:
		dst = append(dst, "HTTP/1.1 304 Not Modified\r\n"...)
	case r.Status() == http.StatusOK && r.Reason() == "OK":
		dst = append(dst, "HTTP/1.1 200 OK\r\n"...)
	default:
		dst = appendStatusLine(dst, r.Status(), r.Reason())
	}
	return append(p.appendReadyFields(dst, r, isUnmodified, requestID, date), "\r\n"...)
}

// appendReadyFields appends the fields of what AppendReady appends.
func (p *Proxy) appendReadyFields(dst []byte, r Ready, isUnmodified bool, requestID string, date []byte) []byte {
	head := p.readyHead(r)
	for at := 0; at < len(head); {
		kind := pieceKind(head[at])
		isLeftOut := isUnmodified && kind&ofContent != 0
		at++
		switch kind &^ ofContent {
		case pieceLines:
			var first, last int
			first, at = number(head, at)
			if last, at = number(head, at); !isLeftOut {
				dst = append(dst, r.StoredLines(first, last)...)
			}
			continue
		case pieceText:
			var octets int
			if octets, at = number(head, at); !isLeftOut {
				dst = append(dst, head[at:at+octets]...)
			}
			at += octets
			continue
		}
		if isLeftOut {
			continue
		}
		switch kind &^ ofContent {
		case pieceAge:
			dst = appendNumber(append(dst, ageLine...), int64(r.Age()/time.Second))
		case pieceStatus:
			dst = appendNumber(append(dst, statusLine...), int64(r.TTL()/time.Second))
		case pieceVia:
			dst = append(dst, p.via...)
		case pieceID:
			dst = append(append(append(append(dst, p.config.OwnField...), ": "...), requestID...), "\r\n"...)
		case pieceDate: // net/http sends its own behind the others
			dst = append(append(append(dst, "Date: "...), date...), "\r\n"...)
		}
	}
	return dst
}

// appendNumber appends the value of a field, and its end.
func appendNumber(dst []byte, n int64) []byte {
	return append(strconv.AppendInt(dst, n, 10), "\r\n"...)
}

// readyHead returns the head of a stored response, which is made once.
func (p *Proxy) readyHead(r Ready) string {
	if memo := r.Memo(); memo != nil {
		if made, ok := memo.Owner.(*owner); ok && made == p.owner {
			return memo.Text
		}
	}
	return p.makeReadyHead(r)
}

// makeReadyHead makes it.
func (p *Proxy) makeReadyHead(r Ready) string {
	head := p.newReadyHead(r)
	r.SetMemo(&httpcache.Memo{Owner: p.owner, Text: head})
	return head
}
