package proxy

import (
	"net/http"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

var sameDocs = []contenttype.MediaType{typePlain, typeJSON}

type sameJSON struct {
	URIs       [2]string `json:"uris"`
	Same       bool      `json:"same"`
	Equivalent bool      `json:"equivalent"`
	Rung       string    `json:"rung"`
	Reason     string    `json:"reason"`
}

// serveSame answers whether two identifiers are of one thing: I=I, RFC 2483
// section 4.9, which leaves open how that is found out. Two names that are
// functionally equivalent are of one thing, too.
func (h *Handler) serveSame(w http.ResponseWriter, r *http.Request, req request) {
	a, b := req.query.URI, req.other
	for _, u := range []uri.URI{a, b} {
		if _, err := h.config.Names.Key(u); err != nil {
			h.fail(w, r, err, u.String(), nil)
			return
		}
	}
	c := h.config.Names.Set.Compare(uri.Naming, a, b)
	same := c.Equivalent() || c.Rung == uri.Functional
	answer := resolver.Answer{TTL: h.config.RuleTTL}
	if negotiate(w, r, sameDocs).Equal(typeJSON) {
		respond(w, r, "application/json", answer, marshal(sameJSON{[2]string{a.String(), b.String()}, same, c.Equivalent(), c.Rung.String(), c.Reason}))
		return
	}
	text := "FALSE\r\n"
	if same {
		text = "TRUE\r\n"
	}
	respond(w, r, "text/plain; charset=us-ascii", answer, []byte(text))
}
