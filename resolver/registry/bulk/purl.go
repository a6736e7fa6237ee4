package bulk

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
)

// purls reads the XML of the PURL server (PURLz): what it takes in batches, with attributes, and what it answers, with elements.
type purls struct {
	*xmlElements
	base  string
	queue []*item
}

// purlElement is an element purl.
type purlElement struct {
	ID     string    `xml:"id,attr"`
	Type   string    `xml:"type,attr"`
	OwnID  string    `xml:"id"`
	OwnTyp string    `xml:"type"`
	Status string    `xml:"status,attr"`
	UIDs   []string  `xml:"maintainers>uid"`
	GIDs   []string  `xml:"maintainers>gid"`
	Target purlURL   `xml:"target"`
	See    []purlURL `xml:"seealso"`
	Base   struct {
		Path string `xml:"path,attr"`
		Text string `xml:"path"`
		unknownXML
	} `xml:"basepurl"`
	unknownXML
}

type purlURL struct {
	Attribute string `xml:"url,attr"`
	Element   string `xml:"url"`
	unknownXML
}

func (u purlURL) url() string { return strings.TrimSpace(u.Attribute + u.Element) }

func newPURLs(source *charset.Source, base string) *purls {
	return &purls{xmlElements: newXMLElements(source), base: base}
}

func (p *purls) next() (*item, error) {
	for len(p.queue) == 0 {
		var of purlElement
		line, err := p.xmlElements.next("purl", &of)
		if err != nil {
			return nil, err
		}
		p.queue = p.items(line, of)
	}
	next := p.queue[0]
	p.queue = p.queue[1:]
	return next, nil
}

// pathOf returns the path of an id without its first slash. It is a part of a URL, and may be percent-encoded.
func pathOf(id string) string { return escapedURIPath(strings.TrimPrefix(id, "/")) }

// unmapped returns the names of what is not imported.
func (p *purlElement) unmapped() []string {
	names := append(p.names("purl"), p.Base.names("basepurl")...)
	names = append(names, p.Target.names("target")...)
	for _, see := range p.See {
		names = append(names, see.names("seealso")...)
	}
	if p.Status != "" && p.Status != purlActive && p.Status != purlTombstone {
		names = append(names, "purl@status")
	}
	return names
}

// The statuses of a PURL.
const (
	purlActive    = "1"
	purlTombstone = "2"
)

// items makes the names of a PURL. One that is partial is a name, and a prefix of what is below it.
func (p *purls) items(line int64, of purlElement) []*item {
	path, kind := strings.TrimSpace(of.ID+of.OwnID), strings.ToLower(strings.TrimSpace(of.Type+of.OwnTyp))
	input := fmt.Sprintf("purl %s, type %s", path, kind)
	if !strings.HasPrefix(path, "/") {
		return []*item{rejected(line, input, "it has no path as its id")}
	}
	i := newItem(line, input)
	i.nameEncoded(pathBase(p.base), path, pathOf(path))
	i.loseMembers(of.unmapped())
	i.contact(append(of.UIDs, of.GIDs...)...)
	target := of.Target.url()
	if target != "" {
		i.to(registry.Target{URI: target})
	}
	for _, see := range of.See {
		i.to(registry.Target{URI: see.url()})
	}
	if of.Status == purlTombstone {
		kind = "410"
	}
	switch kind {
	case "301", "302", "303", "307", "308":
		i.redirects(kind)
	case "404":
		i.is(registry.Reserved, "")
		i.loseField("type", "the type 404, temporarily gone: it is reserved, and leads nowhere")
	case "410":
		i.is(registry.Withdrawn, gone)
	case "chain", "clone":
		i.entry.Alias = pathBase(p.base) + pathOf(strings.TrimSpace(of.Base.Path+of.Base.Text))
		i.said.add(fieldAlias)
		i.loseField("type", "the type %s: it is an alias of %s", kind, i.entry.Alias)
	case "partial":
		return p.partial(i, target)
	default:
		return []*item{rejected(line, input, "its type %.40q has nothing like it in the registry", kind)}
	}
	return []*item{i}
}

// partial makes what a partial PURL is: what follows it is appended to its target.
func (p *purls) partial(i *item, target string) []*item {
	all := newItem(i.number, i.input)
	all.entry.Contact, all.said, all.source = i.entry.Contact, i.said, i.source
	if strings.HasSuffix(i.entry.Name, "/") {
		i.entry.Key = registry.Prefix(i.entry.Name)
		return []*item{i}
	}
	all.entry.Key = registry.Prefix(i.entry.Name + "/")
	all.to(registry.Target{URI: strings.TrimSuffix(target, "/") + "/"})
	return []*item{i, all}
}
