package answer

import (
	"cmp"
	"context"
	"net/http"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/problem"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/urnns/digitallink"
)

// relItem is the default relation of a target of a name: RFC 6573 section 2.1.
const relItem = "item"

// relSame is the relation of other names of the same resource.
const relSame = "https://schema.org/sameAs"

// linkset replies with the links of a name: those of the name itself, of its descriptions, and of its targets
// (FAIR Signposting level 2). A withdrawn name has them, too.
func (a *Responder) linkset(ctx context.Context, q *Request, chosen *format) (message.Reply, error) {
	known, err := a.config.Names.Describe(q.Query)
	if err != nil {
		return message.Reply{}, problem.WithURI(err, q.Query.URI)
	}
	answer, failure := a.locate(ctx, q.Query)
	record := answer.Record()
	if record == nil {
		record = resolver.RecordOf(failure)
	}
	if failure != nil && record == nil && problem.Status(failure) != http.StatusGone {
		return message.Reply{}, problem.WithURI(failure, q.Query.URI)
	}
	contexts := a.contextsOf(q.Base, known, answer, record)
	body := linksetJSON
	if chosen.mediaType == linkTextType {
		body = linksetText
	}
	reply := negotiated(chosen.contentType, body(contexts), lasting(answer, failure))
	hasLinks := record != nil && len(record.Links) > 0 // a name may have links, but no target
	if status := problem.Status(failure); failure != nil && (!hasLinks || status == http.StatusGone) {
		reply.Status = status
	}
	reply.Record = record
	if !q.IsName { // it is a URL: only the body describes it
		return reply, nil
	}
	reply = WithLinks(reply, q.Base, known.Name.String(), record)
	if !q.Query.Service.Locates() { // a description, which Accept-Datetime may select
		a.addMemento(&reply, q, known.Name.String(), record)
	}
	return reply, nil
}

// lasting returns an answer with the freshness lifetime and the cache state of a negative answer in failure.
func lasting(answer resolver.Answer, failure error) resolver.Answer {
	if n := negativeOf(failure); n != nil {
		answer.TTL, answer.Cache = n.Lifetime(), n.Cache
	}
	return answer
}

// contextsOf returns the link contexts of a name.
func (a *Responder) contextsOf(
	base string, known resolver.Description, answer resolver.Answer, record *resolver.Record,
) []linkContext {
	name := known.Name.String()
	url := string(route.AppendNameURL(nil, base, name))
	self := linkContext{Anchor: url}
	self.add("cite-as", url, "")
	links := answer.Links()
	if record != nil && len(answer.Locations) == 0 {
		links = record.Links
	}
	contexts := make([]linkContext, 1, 1+len(links)+len(formats()))
	for _, l := range links[:min(len(links), maxLinks)] {
		l.Rel = expanded(l.Rel)
		if l.Anchor == "" || l.Anchor == name {
			self.Links = append(self.Links, l)
		} else {
			contexts = addTo(contexts, string(route.AppendNameURL(nil, base, l.Anchor)), l)
		}
	}
	for _, f := range formats() {
		if f.isLinkedOf(record) {
			at := string(route.AppendServiceURL(nil, base, describes, f.name, name))
			self.add("describedby", at, f.mediaType)
			contexts = addTo(contexts, at, resolver.Link{Rel: "describes", URI: url})
		}
	}
	for _, other := range known.Others {
		self.add(relSame, string(route.AppendNameURL(nil, base, other.String())), "")
	}
	if record != nil {
		self.Links = append(self.Links, signposts(workOf(base, known, answer, record))...)
		for _, successor := range record.Successors {
			self.add("successor-version", string(route.AppendNameURL(nil, base, successor)), "")
		}
		if a.config.History != nil { // RFC 7089 section 2.2
			self.add("timegate", route.TimeGateURL(base, name), "")
			self.add("timemap", route.TimeMapURL(base, 0, name), typeLinks)
		}
	}
	for _, l := range self.Links {
		if l.Rel == relItem {
			contexts = addTo(contexts, l.URI, resolver.Link{Rel: "collection", URI: url})
		}
	}
	contexts[0] = self
	return contexts
}

// addTo adds a link to the context of an anchor.
func addTo(contexts []linkContext, anchor string, link resolver.Link) []linkContext {
	for i := range contexts {
		if contexts[i].Anchor == anchor {
			contexts[i].Links = append(contexts[i].Links, link)
			return contexts
		}
	}
	return append(contexts, linkContext{anchor, []resolver.Link{link}})
}

// expanded returns the relation type of a target: the default is item, and terms of the GS1 Web Vocabulary
// become URIs.
func expanded(rel string) string { return cmp.Or(digitallink.TypeOf(rel), relItem) }
