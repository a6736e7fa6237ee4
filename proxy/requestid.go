package proxy

import "github.com/urnd/urnd/proxy/message"

// identify sets the request identifier in the response, unless it is set: that of a trusted proxy in front of
// urnd, or a new one. By it the failure that a user reports is found in the log.
func (h *Handler) identify(x *exchange) {
	if x.event.ID != "" {
		return
	}
	id := message.RequestID(x.request.Header, message.Contains(h.config.Access.Trusted, x.client.Peer))
	x.Header()[message.RequestIDField] = []string{id}
	x.event.ID = id
}
