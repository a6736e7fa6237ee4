package message

import (
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// FastRedirect is a redirect as octets for HTTP/1.1: what Redirect and Write make, in the
// order and the spelling of net/http.
type FastRedirect struct {
	Status      int // 301, 302, 303, 307 or 308
	Location    string
	ContentType string
	TTL         time.Duration
	Lifetime    time.Duration // for clients
	Shared      time.Duration // for caches that are told of changes; 0 for none
	Tags        Tags
	Name        string // which Tags are made of
	Cache       resolver.CacheState
	Link        []byte // the value of the field
	CORS, Vary  string // fields with their line ends: those of cross-origin requests, and what the reply depends on
	RequestID   string // "" for none
	Date        []byte // the text of the field
	Body        []byte
	IsHead      bool
}

// AppendTo appends the response to dst. It allocates nothing else.
func (r *FastRedirect) AppendTo(dst []byte) []byte {
	if r.Status == http.StatusFound { // most
		dst = append(dst, "HTTP/1.1 302 Found\r\n"...)
	} else {
		dst = append(strconv.AppendInt(append(dst, "HTTP/1.1 "...), int64(r.Status), 10), ' ')
		dst = append(append(dst, http.StatusText(r.Status)...), "\r\n"...)
	}
	dst = append(append(dst, r.CORS...), "Cache-Control: "...)
	dst = appendCacheControl(dst, r.Lifetime)
	dst = append(dst, "\r\nCache-Status: "...)
	dst = appendCacheStatus(dst, r.Cache, r.TTL)
	dst = append(dst, "\r\n"...)
	tags := r.Tags
	if r.Lifetime == 0 {
		tags = ""
	}
	dst = tags.appendField(dst, CacheTag, r.Name)
	dst = appendShared(dst, r.Shared)
	dst = append(dst, "Content-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(r.Body)), 10)
	dst = append(dst, "\r\nContent-Security-Policy: "+pagePolicy+"\r\nContent-Type: "...)
	dst = append(dst, r.ContentType...)
	if len(r.Link) > 0 {
		dst = append(append(dst, "\r\nLink: "...), r.Link...)
	}
	dst = append(dst, "\r\nLocation: "...)
	dst = append(dst, r.Location...)
	dst = append(dst, "\r\n"...)
	dst = tags.appendField(dst, SurrogateKey, r.Name)
	dst = append(append(dst, r.Vary...), "X-Content-Type-Options: nosniff\r\n"...)
	if r.RequestID != "" {
		dst = append(append(append(dst, httpmessage.RequestIDField+": "...), r.RequestID...), "\r\n"...)
	}
	dst = tags.appendField(dst, Xkey, r.Name)
	dst = append(append(dst, "Date: "...), r.Date...)
	dst = append(dst, "\r\n\r\n"...)
	if !r.IsHead {
		dst = append(dst, r.Body...)
	}
	return dst
}
