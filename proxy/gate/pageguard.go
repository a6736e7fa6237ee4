package gate

import (
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// This file protects retrieval for readers of pages: at /fetch, and of the resource of a name. A page of
// another site must not make its reader's browser retrieve resources with the rights of the reader.

// initiated returns the error for a request that must not retrieve anything, and sets the initiator of the verdict.
func (g *Gate) initiated(v *Verdict, c *Client) error {
	v.Initiator = InitiatorOf(c.Lines, c.Host)
	switch {
	// DNS rebinding; with TLS, an attacker has no certificate for the host.
	case !c.Secure && MayBePage(c.Lines) && !g.config.Own.Has(c.Host):
		return problem.ErrFetchHost
	case v.Initiator == InitiatorProgram:
		return nil
	case g.Embedder(c) != "":
		v.Initiator = InitiatorOwn
		return nil
	case v.Initiator == InitiatorForeign:
		return problem.ErrFetchSite
	default:
		return nil
	}
}

// MayRetrieve returns the error for a URI that an initiator must not retrieve, nil if it may. led is whether
// a server redirects to the URI: then no user activation refers to it. The same target without led can be
// opened by user activation.
func MayRetrieve(by Initiator, u uri.URI, led bool) error {
	acting := route.TrustsLines(u)
	switch {
	case by == InitiatorProgram:
		return nil
	case by == InitiatorForeign:
		return problem.ErrFetchSite
	case by == InitiatorLed, acting && (by == InitiatorUnknown || led):
		asks := &problem.PersonError{URI: u.WithoutPassword().String()}
		if led {
			asks.Opens = route.Fetched(u.String())
		}
		return asks
	default:
		return nil
	}
}

// Embedder returns the origin of the page that sent a request if the configuration allows it to embed
// retrieved resources, else "".
func (g *Gate) Embedder(c *Client) string {
	for _, embedder := range g.config.Access.Embedders {
		if uri.EqualFold(embedder, OriginOf(c.Lines)) {
			return embedder
		}
	}
	return ""
}
