package answer

import (
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

type equivalenceJSON struct {
	URIs       [2]string `json:"uris"`
	Same       bool      `json:"same"`
	Equivalent bool      `json:"equivalent"`
	Rung       string    `json:"rung"`
	Reason     string    `json:"reason"`
}

// equivalence replies whether two identifiers name the same resource: I=I, RFC 2483 section 4.9, which does
// not define the comparison. Functionally equivalent names do, too.
func (a *Responder) equivalence(q *Request) (message.Reply, error) {
	first, second := q.Query.URI, q.Other
	for _, u := range []uri.URI{first, second} {
		if _, err := a.config.Names.CanonicalName(u); err != nil {
			return message.Reply{}, problem.WithURI(err, u)
		}
	}
	c := a.config.Names.Compare(uri.ObjectiveNaming, first, second)
	same := c.Equivalent() || c.Rung == uri.RungFunctional
	answer := resolver.Answer{TTL: a.config.RuleTTL}
	if negotiate(q.Header, mediaTypes(typePlain, typeJSON)).MIME() == typeJSON {
		document := equivalenceJSON{
			[2]string{first.String(), second.String()},
			same, c.Equivalent(),
			c.Rung.String(), c.Reason,
		}
		return negotiated(typeJSON, message.Marshal(document), answer), nil
	}
	text := "FALSE\r\n"
	if same {
		text = "TRUE\r\n"
	}
	return negotiated("text/plain; charset=us-ascii", []byte(text), answer), nil
}
