package forward

import (
	"context"
	"net/http"
	"slices"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
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
	announced := announced(r, a)
	out := p.sendingTo(w)
	out.fields = p.appendSentFields(out.fields, r, a)
	for _, name := range announced {
		out.fields.Add("Trailer", name)
	}
	if a.Reason != "" || !isMade(a.Status) {
		w.SetReason(a.Status, a.Reason)
	}
	w.WriteFields(a.Status, out.fields)
	if a.Content != nil && r.Method != http.MethodHead {
		sendContent(ctx, out, w, a, announced)
	}
	p.sent(out) // not where the content panics, which may be flushed at this moment
}

// sendContent sends the content of an answer, and its trailers.
func sendContent(ctx context.Context, out *sending, w ResponseWriter, a *httpcache.Answer, announced []string) {
	if err := a.Content.SendTo(out, out.flushes); err != nil {
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
		out.flush() // or net/http would find a length, which has no trailers
	}
	for name, lines := range trailer {
		if !slices.Contains(announced, name) {
			name = http.TrailerPrefix + name
		}
		w.Header()[name] = lines
	}
}

// announced returns the names of the trailer fields that are announced: those that are known. There are none by HTTP/1.1 in a
// response whose length is known, nor by HTTP/1.0: RFC 9110 section 6.5.
func announced(r *Request, a *httpcache.Answer) []string {
	if a.Trailer == nil || !r.isAtLeast11() || a.ContentLength >= 0 && r.Major == 1 {
		return nil
	}
	return a.Trailer.Names
}

// isMade reports whether the cache makes responses of a status itself, which have no words of an
// origin.
func isMade(status int) bool {
	return status == http.StatusPartialContent || status == http.StatusNotModified || status == http.StatusRequestedRangeNotSatisfiable
}

// appendSentFields appends the fields that are sent of an answer.
func (p *Proxy) appendSentFields(fields httpmessage.Fields, r *Request, a *httpcache.Answer) httpmessage.Fields {
	isReplaced := func(f httpmessage.Field) bool {
		return f.Is("Content-Length") || len(a.Added) > 0 && a.Added.Has(f.Name)
	}
	length := ""
	for _, f := range a.Fields {
		if !isReplaced(f) {
			fields = append(fields, f)
		} else if f.Is("Content-Length") {
			length = f.Value
		}
	}
	fields = append(fields, a.Added...)
	fields.Add("Via", p.config.Via.String())
	fields.Add("Cache-Status", a.Outcome.Status("urnd"))
	var digits [20]byte
	switch {
	case a.ContentLength >= 0 && a.Status != http.StatusNotModified && a.Status != http.StatusNoContent:
		if text := strconv.AppendInt(digits[:0], a.ContentLength, 10); string(text) != length {
			length = string(text)
		}
		fields.Add("Content-Length", length)
	case r.Method == http.MethodHead && length != "": // else it may be that of another framing
		fields.Add("Content-Length", length)
	}
	return fields
}
