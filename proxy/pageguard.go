package proxy

import (
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/uri"
)

// The guard of all that is retrieved for a reader of pages: at /fetch, and as the resource of a name. A page of another site
// must not make its reader's browser retrieve with the rights that he has here.

// initiator returns who made a client send a request for what is retrieved, or why nothing is for it.
func (h *Handler) initiator(x *exchange) (message.Initiator, error) {
	by := message.InitiatorOf(x.request.Header, x.request.Host)
	switch {
	// DNS rebinding; by TLS there is no certificate for it.
	case x.request.TLS == nil && message.MayBePage(x.request.Header) && !h.config.Access.Own.Has(x.request.Host):
		return by, problem.ErrFetchHost
	case by == message.InitiatorProgram:
		return by, nil
	case h.embedder(x) != "":
		return message.InitiatorOwn, nil
	case by == message.InitiatorForeign:
		return by, problem.ErrFetchSite
	default:
		return by, nil
	}
}

// mayRetrieve returns why a URI is not retrieved for an initiator, nil where it is. led is whether a server redirects to it,
// and not the one that is asked there: no person has seen where it leads. A person opens it at the same target otherwise.
func mayRetrieve(by message.Initiator, u uri.URI, led bool) error {
	isActing := message.TrustsLines(u)
	switch {
	case by == message.InitiatorProgram:
		return nil
	case by == message.InitiatorForeign:
		return problem.ErrFetchSite
	case by == message.InitiatorLed, isActing && (by == message.InitiatorUnknown || led):
		asks := &problem.PersonError{URI: u.WithoutPassword().String()}
		if led {
			asks.Opens = message.Fetched(u.String())
		}
		return asks
	default:
		return nil
	}
}

// embedder returns the origin of the page that sent a request, where the configuration lets it embed what is retrieved here,
// "" elsewhere.
func (h *Handler) embedder(x *exchange) string {
	for _, embedder := range h.config.Access.Embedders {
		if strings.EqualFold(embedder, message.OriginOf(x.request.Header)) {
			return embedder
		}
	}
	return ""
}
