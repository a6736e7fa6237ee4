package gate

import (
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/uri"
)

// The guard of all that is retrieved for a reader of pages: at /fetch, and as the resource of a name. A page of another site
// must not make its reader's browser retrieve with the rights that he has here.

// initiated returns why nothing is retrieved for a client, and says in the verdict who made it ask.
func (g *Gate) initiated(v *Verdict, c *Client) error {
	v.Initiator = InitiatorOf(c.Lines, c.Host)
	switch {
	// DNS rebinding; by TLS there is no certificate for it.
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

// MayRetrieve returns why a URI is not retrieved for an initiator, nil where it is. led is whether a server redirects to it,
// and not the one that is asked there: no person has seen where it leads. A person opens it at the same target otherwise.
func MayRetrieve(by Initiator, u uri.URI, led bool) error {
	isActing := route.TrustsLines(u)
	switch {
	case by == InitiatorProgram:
		return nil
	case by == InitiatorForeign:
		return problem.ErrFetchSite
	case by == InitiatorLed, isActing && (by == InitiatorUnknown || led):
		asks := &problem.PersonError{URI: u.WithoutPassword().String()}
		if led {
			asks.Opens = route.Fetched(u.String())
		}
		return asks
	default:
		return nil
	}
}

// Embedder returns the origin of the page that sent a request, where the configuration lets it embed what is retrieved here,
// "" elsewhere.
func (g *Gate) Embedder(c *Client) string {
	for _, embedder := range g.config.Access.Embedders {
		if uri.EqualFold(embedder, OriginOf(c.Lines)) {
			return embedder
		}
	}
	return ""
}
