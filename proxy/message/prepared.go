package message

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/resolver"
)

// Prepared is a reply as octets for HTTP/1.1, in the order and the spelling of net/http, without what differs each
// time that it is sent from the cache: its freshness lifetime, the request identifier and the date. It is immutable.
type Prepared struct {
	Status      int
	ContentType string
	Body        []byte
	parts       [][]byte // of the head, around the places
	places      []byte
}

// The places, as octets that no field has.
const (
	placeControl byte = iota
	placeStatus
	placeShared
	placeID
)

// Prepare returns a reply prepared, which has a Body and is one of the cache.
func Prepare(r Reply) *Prepared {
	p := &Prepared{Status: r.Status, ContentType: r.ContentType, Body: r.Body}
	header := make(http.Header)
	r.setFields(header)
	header["Cache-Control"], header["Cache-Status"] = []string{string([]byte{placeControl})}, []string{string([]byte{placeStatus})}
	if header[fieldShared] != nil {
		header[fieldShared] = []string{string([]byte{placeShared})}
	}
	header[httpmessage.RequestIDField] = []string{string([]byte{placeID})}
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 " + strconv.Itoa(r.Status) + " " + http.StatusText(r.Status) + "\r\n")
	_ = header.Write(&text) // a buffer takes all
	head := text.Bytes()
	for {
		i := bytes.IndexFunc(head, func(c rune) bool { return c <= rune(placeID) })
		if i < 0 {
			break
		}
		p.parts, p.places = append(p.parts, head[:i]), append(p.places, head[i])
		head = head[i+1:]
	}
	p.parts = append(p.parts, head)
	return p
}

// AppendTo appends the response to dst, with the TTL of its answer, and the lifetimes of that for clients and for
// caches that are told of changes. It allocates nothing else.
func (p *Prepared) AppendTo(dst []byte, ttl, lifetime, shared time.Duration, requestID string, date []byte, isHead bool) []byte {
	for i, place := range p.places {
		dst = append(dst, p.parts[i]...)
		switch place {
		case placeControl:
			dst = appendCacheControl(dst, lifetime)
		case placeStatus:
			dst = appendCacheStatus(dst, resolver.CacheHit, ttl)
		case placeShared:
			dst = appendCacheControl(dst, shared)
		default:
			dst = append(dst, requestID...)
		}
	}
	dst = append(append(dst, p.parts[len(p.places)]...), "Date: "...)
	dst = append(append(dst, date...), "\r\n\r\n"...)
	if !isHead {
		dst = append(dst, p.Body...)
	}
	return dst
}
