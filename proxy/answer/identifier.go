package answer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/urnd/urnd/internal/httpmessage"
	"github.com/urnd/urnd/proxy/answer/gs1"
	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// maxTypes limits the link types that a reply lists.
const maxTypes = 40

// MayWantLinks reports whether a value of Accept may prefer the linkset of an identifier in a web address to
// a redirect.
func MayWantLinks(accept string) bool { return strings.Contains(accept, "json") }

// isIdentifier reports whether a question is about an identifier in a web address, requested by its own URL.
func (a *Responder) isIdentifier(q *Request) bool {
	service := q.Query.Service
	return service == resolver.I2L && q.Form != route.FormTHTTP && a.config.Names.IsLink(q.Query.URI)
}

// identifier replies to a request for an identifier in a web address: GS1-Conformant Resolver standard
// section 2.
func (a *Responder) identifier(ctx context.Context, q *Request) (message.Reply, error) {
	// The query is removed: it is only added to a single link.
	requested, err := a.config.Names.Canonical(q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	found, err := a.config.Resolver.Resolve(ctx, requested)
	return a.IdentifierReply(q, found, err)
}

// IdentifierReply returns the reply for an identifier in a web address, from the answer for its canonical name, or
// its error.
func (a *Responder) IdentifierReply(q *Request, found resolver.Answer, err error) (message.Reply, error) {
	query, _ := q.Query.URI.Query()
	name := found.Name.String()
	links := found.Links()
	if err != nil {
		record := resolver.RecordOf(err)
		if record == nil || len(record.Links) == 0 || errors.Is(err, resolver.ErrGone) {
			return message.Reply{}, problem.WithURI(err, q.Query.URI)
		}
		links, found = record.Links, lasting(found, err) // it has no target of its own
	}
	set := gs1.NewSet(name, links, a.config.Names.Levels(name))
	if set.Redirect != "" { // another resolver has all its links
		return a.redirected(q, found, set.Redirect, query, "Accept")
	}
	return a.chosen(q, found, set, query)
}

// chosen replies with the link that a request selects, the choice of several, or the linkset.
func (a *Responder) chosen(q *Request, found resolver.Answer, set *gs1.Set, query string) (message.Reply, error) {
	request := gs1.ParseRequest(query, q.Header)
	choice := set.Choose(request, a.config.Failing)
	switch {
	case choice.Linkset != "":
		return a.links(q, found, set.Links, http.StatusOK, choice), nil
	case len(choice.Links) == 0:
		return message.Reply{}, &problem.Failure{Input: q.Query.URI.String(), Err: noLink(request, set, found)}
	case len(choice.Links) == 1:
		return a.redirected(q, found, choice.Links[0].URI, query, choice.Vary)
	}
	if choice.Linkset = gs1.TypeLinkset; problem.PrefersHTML(q.Header) {
		choice.Linkset = gs1.TypeHTML
	}
	return a.links(q, found, choice.Links, http.StatusMultipleChoices, choice), nil
}

// noLink returns the error for an identifier without a link of the requested type: section 2.6.2. It lists
// the existing types.
func noLink(request *gs1.Request, set *gs1.Set, found resolver.Answer) error {
	n := &resolver.Negative{Reason: "it has no default link", Code: "no_default_link"}
	if request.LinkType != "" {
		n.Reason, n.Code = fmt.Sprintf("it has no link of the type %.100q", request.LinkType), "no_link_of_type"
	}
	if types := strings.Join(set.Types(maxTypes), ", "); types != "" {
		n.Reason += "; available: " + types
		n.Code, n.Values = "only_other_links", []string{"Types", types}
	}
	n.Kind, n.TTL, n.Cache, n.Record = resolver.ErrNotFound, found.TTL, found.Cache, found.Record()
	return n
}

// redirected returns the redirect to a target, with the raw query of the request: section 2.12.
func (a *Responder) redirected(q *Request, found resolver.Answer, target, query, vary string) (message.Reply, error) {
	to, err := resolver.WithQuery([]resolver.Location{{URI: target}}, query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	status := http.StatusTemporaryRedirect
	if record := found.Record(); record != nil {
		status = RedirectStatus(q.Form, q.HTTP11, record)
	}
	reply := message.Redirect(status, to[0].URI, vary, found, nil)
	reply.ContentType, reply.Body = pages.ContentType, pages.RedirectBody(to[0].URI)
	return aboutIdentifier(reply, q, found, found.Record()), nil
}

// links returns a linkset, or the choice of links, in a media type.
func (a *Responder) links(
	q *Request, found resolver.Answer, links []resolver.Link, status int, choice gs1.Choice,
) message.Reply {
	describe := func(anchor string) string { return a.described(found, anchor) }
	reply := message.Document(choice.Linkset, nil, found)
	reply.Status, reply.Vary = status, choice.Vary
	if choice.Linkset == gs1.TypeHTML {
		reply = reply.WithPage(message.Page(pageOf(a.writer(q), describe, links)))
	} else {
		reply.Body = gs1.Linkset(links, describe, choice.Linkset == gs1.TypeLD)
	}
	return aboutIdentifier(reply, q, found, found.Record())
}

// pageOf returns the page of links, with the same data as JSON-LD.
func pageOf(w pages.Writer, describe func(string) string, links []resolver.Link) pages.Page {
	rows, title := make([][2]string, 0, len(links)), "Links"
	for i, l := range links {
		if i == 0 {
			title = describe(l.Anchor)
		}
		reported := []string{cmp.Or(l.Title, gs1.Title(l.Rel)), l.Language, l.Type, l.Context}
		reported = slices.DeleteFunc(reported, func(text string) bool { return text == "" })
		rows = append(rows, [2]string{strings.Join(reported, ", "), l.URI})
	}
	return w.DescriptionWith(title, rows, gs1.Linkset(links, describe, true))
}

// described returns the description of an anchor: the title in the metadata of the name, or else its codes.
func (a *Responder) described(found resolver.Answer, anchor string) string {
	if record := found.Record(); record != nil && record.Name == anchor && record.Metadata != "" {
		var metadata struct {
			Title string `json:"title"`
		}
		if json.Unmarshal([]byte(record.Metadata), &metadata) == nil && metadata.Title != "" {
			return metadata.Title
		}
	}
	query, err := resolver.ParseQuery(anchor, resolver.I2L)
	if err != nil {
		return anchor
	}
	link, root, err := a.config.Names.Link(query.URI)
	if err != nil || root == nil {
		return anchor
	}
	return link.Label()
}

// aboutIdentifier adds the links of an identifier to a reply and, for a linkset, the link to its JSON-LD
// context (section 2.10).
func aboutIdentifier(reply message.Reply, q *Request, found resolver.Answer, record *resolver.Record) message.Reply {
	name := found.Name.String()
	reply.AddLink(string(AppendIdentifierLinks(nil, q.Base, name)))
	if reply.ContentType == gs1.TypeLinkset || reply.ContentType == gs1.TypeJSON {
		reply.AddLink("<" + originOf(name) + gs1.PathContext + `>; rel="http://www.w3.org/ns/json-ld#context"; type="` +
			gs1.TypeLD + `"`)
	}
	return withRecord(reply, q.Base, record)
}

// AppendIdentifierLinks is AppendLinks for an identifier in a web address, whose linkset is that of GS1's
// profile: section 2.9.
func AppendIdentifierLinks(dst []byte, base, name string) []byte {
	if len(name) > maxLinkedName {
		return dst
	}
	dst = append(append(append(dst, '<'), name...), `?linkType=linkset>; rel="linkset"; type="`+gs1.TypeLinkset+`"`...)
	return appendCiteAs(appendDescribedBy(dst, base, name), base, name)
}

// originOf returns the scheme and authority of an http or https URL.
func originOf(name string) string {
	const scheme = len("https://")
	if i := strings.IndexByte(name[min(scheme, len(name)):], '/'); i >= 0 {
		return name[:scheme+i]
	}
	return name
}

// IdentifierOptions returns the reply to OPTIONS for an identifier in a web address, including preflight
// requests: section 2.2.
func IdentifierOptions(base, name string) message.Reply {
	reply := message.Reply{
		Status: http.StatusNoContent, Vary: "Origin, Access-Control-Request-Method",
		Fields: httpmessage.NewFields("Allow", identifierMethods, "Access-Control-Allow-Methods", identifierMethods,
			"Access-Control-Allow-Headers", "Accept, Accept-Datetime, Accept-Language, Cache-Control, Content-Type",
			"Access-Control-Max-Age", "86400"),
	}
	reply.AddLink(string(AppendIdentifierLinks(nil, base, name)))
	return reply
}

// identifierMethods are the methods of identifiers in web addresses.
const identifierMethods = "GET, HEAD, OPTIONS"

// IdentifierDocuments returns the documents of a resolver of identifiers in web addresses, by path: its
// description (section 3), and the JSON-LD context of its linksets (section 2.10).
func IdentifierDocuments(s *gs1.Site) map[string]*Static {
	return map[string]*Static{
		gs1.PathDescription: NewStatic(gs1.TypeJSON, s.Description()),
		gs1.PathContext:     NewStatic(gs1.TypeLD, gs1.Context()),
	}
}
