package proxy

import (
	"io"

	"github.com/urnd/urnd/proxy/forward"
	"github.com/urnd/urnd/proxy/listen"
	"github.com/urnd/urnd/proxy/message"
)

// session returns the session of the connection that a request came by, nil where requests of several clients may come
// by it: by HTTP/2, whose streams a proxy may take from anywhere, and from a proxy in front, which says so or is known.
// Behind a socket in the file system there is one, too.
func (h *Handler) session(x *exchange) *forward.Session {
	peer := message.AddrOf(x.request.RemoteAddr)
	isFront := !peer.IsValid() || x.client.Relayed || len(x.request.Header["Via"]) > 0 || message.Contains(h.config.Access.Trusted, peer)
	if isFront {
		return nil
	}
	s, _ := listen.Attach(x.request, func() io.Closer { return new(forward.Session) }).(*forward.Session)
	return s
}

// isBound reports whether a connection to a server belongs to that of a client: what the cache has is not for it.
func isBound(c *listen.FastConn) bool {
	s, _ := c.Attached().(*forward.Session)
	return s.IsBound()
}
