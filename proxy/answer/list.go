package proxy

import (
	"net/http"
	"strings"

	"github.com/elnormous/contenttype"

	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// The representations of a list of URIs: RFC 2169 section 3.2, and JSON.
var (
	typeList  = contenttype.NewMediaType("text/uri-list")
	typePlain = contenttype.NewMediaType("text/plain")
	listDocs  = []contenttype.MediaType{typeList, typeHTML, typePlain, typeJSON}
)

// serveLocations answers with all locations, best first.
func (h *Handler) serveLocations(w http.ResponseWriter, r *http.Request, q resolver.Query) {
	answer, err := h.config.Resolver.Resolve(r.Context(), q)
	if err != nil {
		h.fail(w, r, err, q.URI.String(), nil)
		return
	}
	chosen := negotiate(w, r, listDocs)
	if chosen.Equal(typeJSON) {
		respond(w, r, "application/json", answer, marshal(h.withHealth(NewAnswerJSON(q, answer, nil))))
		return
	}
	writeList(w, r, chosen, q.URI, answer, textsOf(answer.Locations))
}

func textsOf(locations []resolver.Location) []string {
	texts := make([]string, len(locations))
	for i, l := range locations {
		texts[i] = l.URI
	}
	return texts
}

// serveNames answers with at most limit other names of the thing.
func (h *Handler) serveNames(w http.ResponseWriter, r *http.Request, q resolver.Query, limit int) {
	d, err := h.config.Names.Describe(q.URI)
	if err == nil && limit == 1 && len(d.Others) == 0 {
		err = &resolver.Negative{Kind: resolver.ErrNotFound, Reason: "no other name of it is known"}
	}
	if err != nil {
		h.fail(w, r, err, q.URI.String(), nil)
		return
	}
	names := []string{}
	for _, other := range d.Others[:min(len(d.Others), limit)] {
		names = append(names, other.String())
	}
	answer := resolver.Answer{TTL: h.config.RuleTTL}
	chosen := negotiate(w, r, listDocs)
	if chosen.Equal(typeJSON) {
		respond(w, r, "application/json", answer, marshal(map[string]any{"input": q.URI.String(), "canonical": d.Name.String(), "names": names}))
		return
	}
	writeList(w, r, chosen, q.URI, answer, names)
}

// writeList writes URIs about another in one of the types of text.
func writeList(w http.ResponseWriter, r *http.Request, chosen contenttype.MediaType, about uri.URI, answer resolver.Answer, uris []string) {
	switch {
	case chosen.Equal(typeHTML):
		respond(w, r, "text/html; charset=utf-8", answer, render(pageData{Title: about.Display(), IsList: true, List: links(uris)}))
	case chosen.Equal(typePlain):
		respond(w, r, "text/plain; charset=utf-8", answer, []byte(strings.Join(append(uris, ""), "\r\n")))
	default:
		respond(w, r, "text/uri-list", answer, uri.AppendList(nil, about, uris))
	}
}
