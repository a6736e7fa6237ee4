package answer

import (
	"fmt"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/pages/qr"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// formatQR is the format with the QR code of the URL of a name. It does not depend on the name's data, so
// that no system is queried.
const (
	formatQR = "qr"
	typeSVG  = "image/svg+xml"
)

// codeOf returns the content of the QR code of a name: its URL, or the name itself if the base is unknown.
func codeOf(base, name string) string {
	if base == "" {
		return name
	}
	return string(route.AppendNameURL(nil, base, name))
}

// code replies with the QR code of a name. It depends only on the rules of the namespace.
func (a *Responder) code(q *Request) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err == nil && !q.IsName {
		err = &resolver.Negative{Kind: resolver.ErrService, Reason: "the format qr requires a name"}
	}
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	name := known.Name.String()
	svg, err := qr.SVG(codeOf(q.Base, name), name)
	if err != nil {
		err = &resolver.Negative{
			Kind:   resolver.ErrService,
			Reason: fmt.Sprintf("the URL of the name is too long for a QR code, whose limit is %d bytes", qr.MaxText),
		}
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	reply := message.Document(typeSVG, svg, resolver.Answer{TTL: a.config.RuleTTL})
	reply.Fields.Set("Content-Security-Policy", pages.LogoPolicy)
	return reply, nil
}
