package forward

import (
	"context"
	"net/http"
	"strconv"

	"github.com/urnd/urnd/cache/httpcache"
	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/message"
)

// send sends an answer to the client. If its source fails before the end, the response is aborted.
func (p *Proxy) send(ctx context.Context, w ResponseWriter, r *Request, a *httpcache.Response) {
	if a.Content != nil {
		defer a.Content.Close()
	}
	if !a.Outcome.Hit() {
		w.SetServer(a.ServerAddr)
	}
	announced := announced(r, a)
	out := p.sendingTo(w)
	out.fields = p.appendSentFields(out.fields, r, a)
	for _, name := range announced {
		out.fields.Add("Trailer", name)
	}
	w.WriteHeader(a.Status, a.Reason, out.fields)
	if a.Content != nil && r.Method != http.MethodHead {
		sendContent(ctx, out, w, a)
	}
	p.sent(out) // not after a panic of the content, which may be flushing concurrently
}

// sendContent sends the content of an answer, and its trailers.
func sendContent(ctx context.Context, out *sending, w ResponseWriter, a *httpcache.Response) {
	if err := a.Content.SendTo(out, out.flushes); err != nil {
		message.Abort(w)
		if !out.failed && ctx.Err() == nil { // else the client has disconnected
			w.SourceFailed(err)
		}
		return
	}
	if a.Trailer != nil {
		w.SetTrailer(a.Trailer.Fields)
	}
}

// announced returns the names of the trailer fields to announce: those that are known. There are none by
// HTTP/1.1 in a response with a known length, nor by HTTP/1.0 (RFC 9110 section 6.5).
func announced(r *Request, a *httpcache.Response) []string {
	if a.Trailer == nil || !r.isAtLeast11() || a.ContentLength >= 0 && r.Major == 1 {
		return nil
	}
	return a.Trailer.Names
}

// appendSentFields appends the response fields of an answer.
func (p *Proxy) appendSentFields(fields httpmessage.Fields, r *Request, a *httpcache.Response) httpmessage.Fields {
	isReplaced := func(f httpmessage.Field) bool {
		return f.HasName("Content-Length") || len(a.Added) > 0 && a.Added.Has(f.Name)
	}
	length := ""
	for _, f := range a.Fields {
		if !isReplaced(f) {
			fields = append(fields, f)
		} else if f.HasName("Content-Length") {
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
	case r.Method == http.MethodHead && length != "": // otherwise it may belong to another framing
		fields.Add("Content-Length", length)
	}
	return fields
}
