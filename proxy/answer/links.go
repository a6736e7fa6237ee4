package answer

import (
	"net/http"
	"strings"

	"github.com/urnd/urnd/proxy/message"
	"github.com/urnd/urnd/proxy/pages"
	"github.com/urnd/urnd/proxy/route"
	"github.com/urnd/urnd/resolver"
)

// maxLinkedName limits the names in links, in bytes: a Link field contains the name several times, and many
// clients and proxies reject a header of 16 KiB.
const maxLinkedName = 1024

// AppendLinks appends the value of Link for the redirect of a name: its linkset (RFC 9264 section 6), its
// description, and the URL to cite (RFC 8574). Targets are absolute if base, the URL of this server without a
// trailing slash, is not "". It appends nothing for a name that is too long. It does not allocate.
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

// describes is the service of descriptions, without the class of the identifier.
const describes = "2C"

// WithLinks adds the links of a name, and the fields of its record, which may be nil, to a reply.
func WithLinks(reply message.Reply, base, name string, record *resolver.Record) message.Reply {
	reply.AddLink(string(AppendLinks(nil, base, name)))
	return withRecord(reply, base, record)
}

// WithErrorLinks adds links to the error reply for a name that is registered or gone; other replies are returned
// unchanged. isLink is true for an identifier in a web address.
func WithErrorLinks(reply message.Reply, base, name string, isLink bool, err error) message.Reply {
	record := resolver.RecordOf(err)
	if record == nil && reply.Status != http.StatusGone {
		return reply
	}
	if isLink {
		reply.AddLink(string(AppendIdentifierLinks(nil, base, name)))
		return withRecord(reply, base, record)
	}
	return WithLinks(reply, base, name, record)
}

// withRecord adds the fields of a record to a reply: successors of a withdrawn name (RFC 5829 section 3.3),
// and whether the name is in a sandbox. record may be nil.
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

// addLinks adds the links of a document about an identifier: its linkset, by RFC 8288, and the relations
// canonical (RFC 6596), alternate, describes or describedby, cite-as (RFC 8574), service-desc (RFC 8631) and
// api-catalog (RFC 9727).
func addLinks(reply *message.Reply, q *Request, canonical string) {
	isPage := reply.ContentType == pages.ContentType
	if canonical == "" || len(canonical) > maxLinkedName {
		return
	}
	links := make([]byte, 0, 512)
	if q.IsName {
		links = append(appendLinkset(links, q.Base, canonical), ", "...)
	}
	links = append(links, '<')
	if strings.ContainsAny(canonical, ",;") { // percent-encoding would change the URN itself
		links = route.AppendNameURL(links, q.Base, canonical)
	} else {
		links = append(links, canonical...)
	}
	links = append(links, `>; rel="canonical", <`...)
	links = append(route.AppendServiceURL(links, q.Base, "2Ls", "", canonical),
		`>; rel="alternate"; type="text/uri-list"`...)
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
	links = append(append(append(links, ", <"...), q.Base...),
		route.PathOpenAPI+`>; rel="service-desc"; type="application/json"`...)
	reply.AddLink(string(links))
	reply.AddLink(catalogLink(q.Base))
}
