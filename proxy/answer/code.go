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

// formatQR is the format that draws the URL of a name as a QR code. It says nothing of the name, so that no system is asked for it.
const (
	formatQR = "qr"
	typeSVG  = "image/svg+xml"
)

// codeOf returns what the QR code of a name says: its URL, and the name itself where that of this server is not known.
func codeOf(base, name string) string {
	if base == "" {
		return name
	}
	return string(route.AppendNameURL(nil, base, name))
}

// code answers with the QR code of a name. It depends on the rules for names alone.
func (a *Responder) code(q *Question) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err == nil && !q.IsName {
		err = &resolver.Negative{Kind: resolver.ErrService, Reason: "the format qr is that of names"}
	}
	if err != nil {
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	name := known.Name.String()
	svg, err := qr.SVG(codeOf(q.Base, name), name)
	if err != nil {
		err = &resolver.Negative{Kind: resolver.ErrService, Reason: fmt.Sprintf("the URL of the name is too long for a QR code, which has at most %d octets", qr.MaxText)}
		return message.Reply{}, problem.About(err, q.Query.URI)
	}
	reply := message.Document(typeSVG, svg, resolver.Answer{TTL: a.config.RuleTTL})
	reply.Fields.Set("Content-Security-Policy", pages.LogoPolicy)
	return reply, nil
}
