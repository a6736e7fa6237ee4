package proxy

import (
	"context"
	"io"
	"net/http"

	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/gate"
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
	found, ok := p.ready(f, w)
	if !ok {
		return fast.Uncached
	}
	s := fastStored{Ready: found, isUnmodified: found.IsUnmodified(w.view.Lines)}
	if reason := s.choose(w); reason != "" {
		return reason
	}
	length := found.Length()
	if s.part.Status != 0 {
		length = s.part.Length()
	}
	verdict, reason := p.admitStored(f, w, &s, length)
	if reason != "" {
		if s.content != nil {
			s.content.Close()
		}
		return reason
	}
	found.Used()
	event := p.event(f, w)
	event.Cache, event.Rule = "hit", verdict.Rule()
	p.appendHead(w, found, s.isUnmodified, s.part, event)
	switch {
	case !s.hasContent:
	case s.content != nil || length > maxFastCopy:
		w.sending = fastContent{true, s.blocks, s.content}
	default:
		for _, block := range s.blocks {
			w.out = append(w.out, block...)
		}
		event.Bytes = length
	}
	return ""
}

// admitStored is admit for what is sent of a stored response, with so much content, if there is room for that.
func (p *FastPath) admitStored(f *fastClient, w *fastWork, s *fastStored, length int64) (gate.Verdict, fast.Reason) {
	if s.hasContent && (length > w.room || s.content != nil && w.view.HTTP2) {
		return gate.Verdict{}, fast.Size
	}
	return p.admit(f, w, s.From().Addr())
}

// fastStored is what of a stored response is sent.
type fastStored struct {
	forward.Ready
	isUnmodified bool         // it is 304
	part         forward.Part // its status is 0 where no part is asked for
	hasContent   bool
	blocks       [][]byte        // in memory
	content      forward.Content // on disk, nil for none
}

// choose chooses what is sent, and returns why it is left to others, "" where it is not.
func (s *fastStored) choose(w *fastWork) fast.Reason {
	var ok bool
	if w.request.IsRanged && !s.isUnmodified {
		if s.part, ok = s.Part(w.request.Method, w.view.Lines); !ok {
			return fast.Field
		}
	}
	var inMemory bool
	s.blocks, inMemory = w.blocksOf(s.Ready, s.part)
	s.hasContent = !s.isUnmodified && !w.request.IsHead() && s.part.Status != http.StatusRequestedRangeNotSatisfiable
	switch {
	case !s.hasContent || inMemory:
		return ""
	case s.part.Status != 0: // from disk it is sent by who reads files in parts
		return fast.Uncached
	}
	if s.content, ok = s.Open(context.Background()); !ok {
		return fast.Uncached
	}
	return ""
}

// appendHead appends the head of the answer that a stored response is, and says in the event which one it is.
func (p *FastPath) appendHead(w *fastWork, found forward.Ready, isUnmodified bool, part forward.Part, event *Event) {
	date := p.date.At(w.now)
	if part.Status != 0 {
		event.Status = part.Status
		if part.Status == http.StatusPartialContent {
			event.Type = found.ContentType()
		}
		w.out = p.forward.AppendReadyPart(w.out, found, part, event.ID, date)
		return
	}
	event.Status = http.StatusNotModified
	if !isUnmodified {
		event.Status, event.Type = found.Status(), found.ContentType()
	}
	w.out = p.forward.AppendReady(w.out, found, isUnmodified, event.ID, date)
}

// blocksOf returns the content that is sent of a stored response, and false where it is not in memory.
func (w *fastWork) blocksOf(found forward.Ready, part forward.Part) (blocks [][]byte, inMemory bool) {
	if part.Status == 0 {
		return found.Blocks()
	}
	w.cut, inMemory = found.AppendBlocks(w.cut[:0], part)
	return w.cut, inMemory
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
