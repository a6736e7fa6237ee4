package proxy

import (
	"context"
	"io"
	"net/http"

	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/listen"
)

// maxFastCopy is the size of the contents that are copied behind their heads, in octets: a larger one is sent from
// where it is.
const maxFastCopy = 8 << 10

// fastContent is a content that is to be sent behind the head that was appended last.
type fastContent struct {
	isPending bool
	blocks    [][]byte
	content   forward.Content // where it is on disk
}

// answerStored answers a request of a client of the proxy or of a site, with what is stored.
func (p *FastPath) answerStored(f *fastClient, w *fastWork) fast.Reason {
	if w.request.IsRanged {
		return fast.Field
	}
	found, ok := p.ready(f, w)
	if !ok {
		return fast.Uncached
	}
	isUnmodified := found.IsUnmodified(w.view.Lines)
	blocks, inMemory := found.Blocks()
	hasContent := !isUnmodified && !w.request.IsHead()
	var content forward.Content
	if hasContent && !inMemory {
		if content, ok = found.Open(context.Background()); !ok {
			return fast.Uncached
		}
	}
	verdict, reason := p.admit(f, w, found.From().Addr())
	if reason != "" {
		if content != nil {
			content.Close()
		}
		return reason
	}
	found.Used()
	event := p.event(f, w)
	event.Cache, event.Rule, event.Status = "hit", verdict.Rule(), found.Status()
	if isUnmodified {
		event.Status = http.StatusNotModified
	} else {
		event.Type = found.ContentType()
	}
	w.out = p.forward.AppendReady(w.out, found, isUnmodified, event.ID, p.date.At(w.now))
	switch {
	case !hasContent:
	case content != nil || found.Length() > maxFastCopy:
		w.sending = fastContent{true, blocks, content}
	default:
		for _, block := range blocks {
			w.out = append(w.out, block...)
		}
		event.Bytes = found.Length()
	}
	return ""
}

// ready returns the stored response that a request is answered with, from memory, or from disk where its client may have that.
func (p *FastPath) ready(f *fastClient, w *fastWork) (forward.Ready, bool) {
	a := &w.ask
	var set *forward.Site
	if a.Site != nil {
		set = p.sites[a.Site.Index].set
	}
	key := a.Key.String()
	found, ok := p.forward.Ready(key, a.Spelling, set, w.view.Lines, w.now)
	if !ok && p.gate.MayLoad(context.Background(), &f.client, a) && p.forward.Load(key) {
		return p.forward.Ready(key, a.Spelling, set, w.view.Lines, w.now)
	}
	return found, ok
}

// send sends what was answered, the last of it with its content, and reports it.
func (p *FastPath) send(c *listen.FastConn, w *fastWork) {
	last := len(w.events) - 1
	p.observe(w.events[:last], w.took(p.config.Now))
	sending := w.sending
	w.sending = fastContent{}
	head := int64(len(w.out))
	var sent int64
	if sending.content == nil {
		w.buffers = append(append(w.buffers[:0], w.out), sending.blocks...)
		sent, _ = c.WriteBuffers(w.buffers) // an error ends the connection
		clear(w.buffers)
		w.events[last].Bytes = max(sent-head, 0)
	} else {
		_, _ = c.Write(w.out)
		w.events[last].Bytes = sendFile(c, sending.content)
	}
	p.observe(w.events[last:], p.config.Now().Sub(w.now))
	w.reset()
}

// sendFile sends a content on disk, and returns how much of it was sent.
func sendFile(c *listen.FastConn, content forward.Content) int64 {
	defer content.Close()
	out := countingConn{FastConn: c}
	if err := content.SendTo(&out, nil); err != nil && c.Err() == nil {
		c.EndEarly()
	}
	return out.sent
}

// countingConn counts what is sent.
type countingConn struct {
	*listen.FastConn
	sent int64
}

// Write implements io.Writer.
func (c *countingConn) Write(p []byte) (int, error) {
	n, err := c.FastConn.Write(p)
	c.sent += int64(n)
	return n, err
}

// ReadFrom implements io.ReaderFrom.
func (c *countingConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.FastConn.ReadFrom(r)
	c.sent += n
	return n, err
}
