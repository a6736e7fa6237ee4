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
	v.Initiator = InitiatorOf(c.Header, c.Host)
	switch {
	// DNS rebinding; with TLS, an attacker has no certificate for the host.
	case !c.Secure && MayBePage(c.Header) && !g.config.OwnHosts.Has(c.Host):
		return problem.ErrFetchHost
	case v.Initiator == InitiatorProgram:
		return nil
	case g.Embedder(c) != "":
		v.Initiator = InitiatorOwnPage
		return nil
	case v.Initiator == InitiatorCrossSiteSubresource:
		return problem.ErrCrossSiteFetch
	default:
		return nil
	}
}

// MayRetrieve returns the error for a URI that an initiator must not retrieve, nil if it may. crossSite is whether
// a server redirects to the URI: then no user activation refers to it. The same target without crossSite can be
// opened by user activation.
func MayRetrieve(by Initiator, u uri.URI, crossSite bool) error {
	acting := route.SendsCommands(u)
	switch {
	case by == InitiatorProgram:
		return nil
	case by == InitiatorCrossSiteSubresource:
		return problem.ErrCrossSiteFetch
	case by == InitiatorCrossSiteNavigation, acting && (by == InitiatorUnknown || crossSite):
		asks := &problem.UserActivationError{URI: u.WithoutPassword().String()}
		if crossSite {
			asks.Target = route.FetchTarget(u.String())
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
		if uri.EqualFold(embedder, OriginOf(c.Header)) {
			return embedder
		}
	}
	return ""
}
