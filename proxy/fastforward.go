package proxy

import (
	"context"
	"io"
	"net/http"
	"net/netip"
	"strings"

	"github.com/urnd/urnd/proxy/fast"
	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/policy"
	"github.com/urnd/urnd/uri"
)

// maxFastCopy is the size of the contents that are copied behind their heads, in octets: a larger one is sent from
// where it is.
const maxFastCopy = 8 << 10

// fastForward is a content that is to be sent behind the head that was appended last.
type fastForward struct {
	isPending bool
	blocks    [][]byte
	content   forward.Content // where it is on disk
}

// answerFastAbsolute answers a request in absolute-form.
func (h *Handler) answerFastAbsolute(f *fastClient, w *fastWork) fast.Reason {
	target := w.request.Target
	scheme, rest, ok := strings.Cut(target, "://")
	if !ok {
		return h.answerFastName(f, w)
	}
	authority := rest
	if i := strings.IndexAny(rest, "/?"); i >= 0 {
		authority = rest[:i]
	}
	if !fast.IsServer(authority) {
		return fast.Target
	}
	switch host := f.meaningOf(&f.authority, authority); {
	case host.isOwn && scheme == "http":
		return fast.Form
	case host.site != nil && isWeb(target):
		return h.answerFastSite(f, w, host.site, target)
	case !f.mayProxy:
		return fast.Access
	}
	request, err := message.Parse(target)
	if err != nil || request.Form != message.FormForward {
		return fast.Form
	}
	u := request.Query.URI
	key := u.NormalizeIn(w.name[:], inPlace)
	if h.config.Spelling == SpellingRedirect && key != u {
		return fast.Form
	}
	return h.answerFastForward(f, w, key, h.config.Spelling.of(target, key), nil, message.FormForward.String())
}

// answerFastSite answers a request for a site that urnd is the gateway of.
func (h *Handler) answerFastSite(f *fastClient, w *fastWork, s *site, target string) fast.Reason {
	u, err := uri.Parse(target)
	switch {
	case err != nil || u.Check() != nil:
		return fast.Form
	case !f.mayResolve:
		return fast.Access
	}
	key := u.NormalizeIn(w.name[:], inPlace)
	return h.answerFastForward(f, w, key, s.spelling.of(target, key), s.set, "gateway")
}

// answerFastForward answers a request for a URI in a spelling that a stored response answers, by the rules of the site.
func (h *Handler) answerFastForward(f *fastClient, w *fastWork, key uri.URI, spelling string, set *forward.Site, form string) fast.Reason {
	r := &w.request
	found, ok := h.forward.Ready(key.String(), spelling, set, w.lines, w.now)
	if !ok {
		return fast.Uncached
	}
	rule, allowed := h.ruleFast(f, r.Method, key, found.From().Addr())
	if !allowed {
		return fast.Access
	}
	isUnmodified := found.IsUnmodified(w.lines)
	blocks, inMemory := found.Blocks()
	hasContent := !isUnmodified && !r.IsHead()
	if reason := h.admitFast(f); reason != "" {
		return reason
	}
	var content forward.Content
	if hasContent && !inMemory {
		if content, ok = found.Open(context.Background()); !ok {
			return fast.Uncached
		}
	}
	found.Used()
	event := h.fastEvent(f, w)
	event.Form, event.Cache, event.Rule, event.Status = form, "hit", rule, found.Status()
	if strings.HasPrefix(r.Target, "/") {
		event.Scheme, _, _ = strings.Cut(key.String(), ":")
	}
	if isUnmodified {
		event.Status = http.StatusNotModified
	} else {
		event.Type = found.ContentType()
	}
	w.out = h.forward.AppendReady(w.out, found, isUnmodified, event.ID, h.fastPath.date.At(w.now))
	switch {
	case !hasContent:
	case content != nil || found.Length() > maxFastCopy:
		w.forward = fastForward{true, blocks, content}
	default:
		for _, block := range blocks {
			w.out = append(w.out, block...)
		}
		event.Bytes = found.Length()
	}
	return ""
}

// ruleFast returns the rule of the site that decides a request for a URI, "" for none, and whether it allows a response from
// an address.
func (h *Handler) ruleFast(f *fastClient, method string, key uri.URI, from netip.Addr) (rule string, allowed bool) {
	if h.config.Policy.AllowsAll() {
		return "", true
	}
	asked, err := policy.NewRequest(f.client.Addr, "", method, key)
	if err != nil {
		return "", false
	}
	decision := h.config.Policy.Decide(asked)
	if !decision.Final {
		decision = h.config.Policy.DecideFor(asked, from)
	}
	return decision.Rule, !decision.Deny
}

// sendFast sends what was answered, the last of it with its content, and reports it.
func (h *Handler) sendFast(c *listen.FastConn, w *fastWork) {
	last := len(w.events) - 1
	h.observeFast(w, w.events[:last], w.took(h.config.Now))
	sending := w.forward
	w.forward = fastForward{}
	head := int64(len(w.out))
	var sent int64
	if sending.content == nil {
		w.buffers = append(append(w.buffers[:0], w.out), sending.blocks...)
		sent, _ = c.WriteBuffers(w.buffers) // an error ends the connection
		clear(w.buffers)
		w.events[last].Bytes = max(sent-head, 0)
	} else {
		_, _ = c.Write(w.out)
		w.events[last].Bytes = h.sendFastFile(c, sending.content)
	}
	h.observeFast(w, w.events[last:], h.config.Now().Sub(w.now))
	w.reset()
}

// sendFastFile sends a content on disk, and returns how much of it was sent.
func (h *Handler) sendFastFile(c *listen.FastConn, content forward.Content) int64 {
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
	return n, err //nolint:wrapcheck // it stands for the connection
}

// ReadFrom implements io.ReaderFrom.
func (c *countingConn) ReadFrom(r io.Reader) (int64, error) {
	n, err := c.FastConn.ReadFrom(r)
	c.sent += n
	return n, err //nolint:wrapcheck // likewise
}
