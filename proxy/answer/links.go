package answer

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// maxLinkedName bounds the names that links have, in octets: they have it several times, and many clients and proxies refuse a head of 16 KiB.
const maxLinkedName = 1024

// AppendLinks appends the Link field of what a name itself answers, as a redirect: its linkset (RFC 9264 section 6), what describes it and the
// URL to cite (RFC 8574). Targets are absolute where base, the URL of this server without a slash at its end, is known. A name
// that is too long has none. It allocates nothing.
func AppendLinks(dst []byte, base, name string) []byte {
	if len(name) > maxLinkedName {
		return dst
	}
	return appendCiteAs(appendDescribedBy(appendLinkset(dst, base, name), base, name), base, name)
}

func appendLinkset(dst []byte, base, name string) []byte {
	dst = route.AppendServiceURL(append(dst, '<'), base, describes, formatLinkset, name)
	return append(dst, `>; rel="linkset"; type="`+linksetType+`"`...)
}

func appendDescribedBy(dst []byte, base, name string) []byte {
	dst = route.AppendServiceURL(append(dst, ", <"...), base, describes, formatLD, name)
	return append(dst, `>; rel="describedby"; type="`+typeLD+`"`...)
}

func appendCiteAs(dst []byte, base, name string) []byte {
	return append(route.AppendNameURL(append(dst, ", <"...), base, name), `>; rel="cite-as"`...)
}

// describes is the service of descriptions, without its class.
const describes = "2C"

// About returns a reply of a name itself with its links, and what its record says, which may be nil.
func About(reply message.Reply, base, name string, record *resolver.Record) message.Reply {
	reply.AddLink(string(AppendLinks(nil, base, name)))
	return withRecord(reply, base, record)
}

// Failed returns the reply to a question about a name that failed, with its links where the name is known: it is registered, or gone. isLink
// is whether it is an identifier in a web address.
func Failed(reply message.Reply, base, name string, isLink bool, err error) message.Reply {
	record := resolver.RecordOf(err)
	if record == nil && reply.Status != http.StatusGone {
		return reply
	}
	if isLink {
		reply.AddLink(string(AppendIdentifierLinks(nil, base, name)))
		return withRecord(reply, base, record)
	}
	return About(reply, base, name, record)
}

// withRecord returns a reply with what the record of its name says: what came instead of a withdrawn one (RFC 5829 section 3.3), and
// whether it is for trial.
func withRecord(reply message.Reply, base string, record *resolver.Record) message.Reply {
	if record == nil {
		return reply
	}
	for _, successor := range record.Successors {
		if len(successor) > maxLinkedName {
			continue
		}
		link := route.AppendNameURL([]byte("<"), base, successor)
		reply.AddLink(string(append(link, `>; rel="successor-version"`...)))
	}
	return reply.WithRecord(record)
}

// addLinks adds the links of a document about an identifier: its linkset, RFC 8288 and the relations canonical (RFC 6596), alternate,
// describes or describedby, cite-as (RFC 8574), service-desc (RFC 8631) and api-catalog (RFC 9727).
func addLinks(reply *message.Reply, q *Question, canonical string) {
	isPage := reply.ContentType == pages.ContentType
	if canonical == "" || len(canonical) > maxLinkedName {
		return
	}
	links := make([]byte, 0, 512)
	if q.IsName {
		links = append(appendLinkset(links, q.Base, canonical), ", "...)
	}
	links = append(links, '<')
	if strings.ContainsAny(canonical, ",;") { // the URN itself cannot be encoded: it would be another name
		links = route.AppendNameURL(links, q.Base, canonical)
	} else {
		links = append(links, canonical...)
	}
	links = append(links, `>; rel="canonical", <`...)
	links = append(route.AppendServiceURL(links, q.Base, "2Ls", "", canonical), `>; rel="alternate"; type="text/uri-list"`...)
	isDescription := q.Query.Service == resolver.I2C || q.Query.Service == resolver.I2Cs
	switch {
	case isDescription && !isPage:
		if q.IsName {
			links = append(route.AppendNameURL(append(links, ", <"...), q.Base, canonical), `>; rel="describes"`...)
		}
	default:
		links = appendDescribedBy(links, q.Base, canonical)
		if q.IsName {
			links = appendCiteAs(links, q.Base, canonical)
		}
	}
	links = append(append(append(links, ", <"...), q.Base...), route.PathOpenAPI+`>; rel="service-desc"; type="application/json"`...)
	reply.AddLink(string(links))
	reply.AddLink(catalogLink(q.Base))
}
