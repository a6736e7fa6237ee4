package foreign

import (
	"fmt"
	"strings"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk/webserver"
)

// purlElement is an XML element purl.
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

// PURL reads the XML of the PURL server (PURLz): its batch input, which uses attributes, and its responses,
// which use elements.
func PURL(in *Input, base string) (Entries, error) {
	elements := newXMLElements(in)
	var queue []*Item
	return func() (*Item, error) {
		if len(queue) == 0 {
			var of purlElement
			line, err := elements.next("purl", &of)
			if err != nil {
				return nil, err
			}
			queue = of.items(line, pathBase(base))
		}
		next := queue[0]
		queue = queue[1:]
		return next, nil
	}, nil
}

// pathOf returns the path of an id without its first slash. An id is a part of a URL, and may contain
// percent-encodings.
func pathOf(id string) string { return escapedURIPath(strings.TrimPrefix(id, "/")) }

// unmapped returns the names of unmapped elements and attributes.
func (of *purlElement) unmapped() []string {
	names := append(of.names("purl"), of.Base.names("basepurl")...)
	names = append(names, of.Target.names("target")...)
	for _, see := range of.See {
		names = append(names, see.names("seealso")...)
	}
	if of.Status != "" && of.Status != purlActive && of.Status != purlTombstone {
		names = append(names, "purl@status")
	}
	return names
}

// The statuses of a PURL.
const (
	purlActive    = "1"
	purlTombstone = "2"
)

// items converts a PURL to names. A partial PURL makes a name and a prefix for the names below it.
func (of *purlElement) items(line int64, base string) []*Item {
	path, kind := strings.TrimSpace(of.ID+of.OwnID), strings.ToLower(strings.TrimSpace(of.Type+of.OwnTyp))
	input := fmt.Sprintf("purl %s, type %s", path, kind)
	if !strings.HasPrefix(path, "/") {
		return []*Item{rejected(line, input, "id is not a path")}
	}
	i := newItem(line, input)
	i.nameEncoded(base, path, pathOf(path))
	i.addUnmappedMembers(of.unmapped())
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
		i.Entry.Status = registry.Reserved
		i.addUnmappedField("type", "type 404, temporarily gone: registered as reserved")
	case "410":
		i.Entry.Status, i.Entry.Reason = registry.Withdrawn, webserver.Gone
	case "chain", "clone":
		i.Entry.Alias = base + pathOf(strings.TrimSpace(of.Base.Path+of.Base.Text))
		i.addUnmappedField("type", "type %s: registered as an alias of %s", kind, i.Entry.Alias)
	case "partial":
		return i.partial(target)
	default:
		return []*Item{rejected(line, input, "type %.40q is not supported", kind)}
	}
	return []*Item{i}
}

// partial converts a partial PURL, which appends the rest of the path to its target.
func (i *Item) partial(target string) []*Item {
	if strings.HasSuffix(i.Entry.Name, "/") {
		i.Entry.Key = registry.Prefix(i.Entry.Name)
		return []*Item{i}
	}
	all := &Item{
		Line: i.Line, Input: i.Input, ID: i.ID,
		Entry: registry.Entry{Key: registry.Prefix(i.Entry.Name + "/")},
	}
	all.Entry.Contact = i.Entry.Contact
	all.to(registry.Target{URI: strings.TrimSuffix(target, "/") + "/"})
	return []*Item{i, all}
}
