package forward

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/proxy/message"
)

// send sends an answer to the client. One whose source breaks off is broken off.
func (p *Proxy) send(ctx context.Context, w ResponseWriter, r *Request, a *httpcache.Answer) {
	if a.Content != nil {
		defer a.Content.Close()
	}
	if !a.Outcome.Hit() {
		w.SetServer(a.From)
	}
	header := w.Header()
	p.setFields(header, a)
	announced := p.announce(header, r, a)
	setLength(header, r.Method, a)
	if a.Reason != "" || !isMade(a.Status) {
		w.SetReason(a.Status, a.Reason)
	}
	w.WriteHeader(a.Status)
	if a.Content != nil && r.Method != http.MethodHead {
		p.sendContent(ctx, w, a, announced)
	}
}

// sendContent sends the content of an answer, and its trailers.
func (*Proxy) sendContent(ctx context.Context, w ResponseWriter, a *httpcache.Answer, announced []string) {
	control := http.NewResponseController(w)
	out := &sentTo{ResponseWriter: w}
	if err := a.Content.SendTo(out, func() { _ = control.Flush() }); err != nil {
		message.Abort(w)
		if !out.failed && ctx.Err() == nil { // else the client has left
			w.Broken(err)
		}
		return
	}
	if a.Trailer == nil {
		return
	}
	trailer := a.Trailer.Fields.Header()
	if len(trailer) > len(announced) {
		_ = control.Flush() // or net/http would find a length, which has no trailers
	}
	for name, lines := range trailer {
		if !slices.Contains(announced, name) {
			name = http.TrailerPrefix + name
		}
		w.Header()[name] = lines
	}
}

// announce announces the trailer fields that are known, and returns their names. There are none by
// HTTP/1.1 in a response whose length is known, nor by HTTP/1.0: RFC 9110 section 6.5.
func (*Proxy) announce(header http.Header, r *Request, a *httpcache.Answer) []string {
	if a.Trailer == nil || len(a.Trailer.Names) == 0 || !r.isAtLeast11() || a.ContentLength >= 0 && r.Major == 1 {
		return nil
	}
	header["Trailer"] = a.Trailer.Names
	return a.Trailer.Names
}

// isMade reports whether the cache makes responses of a status itself, which have no words of an
// origin.
func isMade(status int) bool {
	return status == http.StatusPartialContent || status == http.StatusNotModified || status == http.StatusRequestedRangeNotSatisfiable
}

// setLength sets the length of an answer.
func setLength(header http.Header, method string, a *httpcache.Answer) {
	switch {
	case a.ContentLength >= 0 && a.Status != http.StatusNotModified && a.Status != http.StatusNoContent:
		header["Content-Length"] = []string{strconv.FormatInt(a.ContentLength, 10)}
	case method != http.MethodHead:
		delete(header, "Content-Length") // it may be that of another framing
	}
}

// setFields sets the fields of an answer.
func (p *Proxy) setFields(header http.Header, a *httpcache.Answer) {
	a.Fields.CopyTo(header) // also in place of Config.OwnField
	a.Added.CopyTo(header)
	header["Via"] = append(header["Via"], p.config.Via.String())
	header["Cache-Status"] = append(header["Cache-Status"], a.Outcome.Status("urnd"))
	if _, ok := header["Content-Type"]; !ok {
		header["Content-Type"] = nil // net/http would guess one
	}
}
