package represent

import (
	"strconv"
	"strings"
	"time"
)

// Vocabularies: prefixes of terms, and their base IRIs. Terms of schema.org have no prefix, as in its own
// context.
const (
	schemaBase = "http://schema.org/" // the IRIs to which the context https://schema.org maps its terms
	xsdBase    = "http://www.w3.org/2001/XMLSchema#"

	// Vocabulary is the base IRI of urnd's own terms. The page describes them.
	Vocabulary = "https://github.com/urnd/urnd/blob/main/docs/terms.md#"

	mediaTypes = "https://www.iana.org/assignments/media-types/" // DCAT 3 section 6.8.11
)

// prefix is the prefix of a vocabulary.
type prefix struct{ name, base string }

var prefixes = []prefix{
	{"dcat", "http://www.w3.org/ns/dcat#"},
	{"dct", "http://purl.org/dc/terms/"},
	{"urnd", Vocabulary},
}

// datatypes are the datatypes of literals by term; others are strings.
var datatypes = map[string]string{
	"datePublished": "Date", // of schema.org, as its context defines it
	"urnd:since":    "xsd:dateTime",
}

// node is a node of an RDF graph with its properties. It is written in full at its first reference.
type node struct {
	id         string // an IRI, or "_:" and a label; "" for an anonymous blank node
	types      []string
	properties []property
}

// property is a term with its values.
type property struct {
	term   string
	many   bool // it may have several values: JSON has a list, even of one value
	values []value
}

// value is a string, an IRI or a node.
type value struct {
	text string
	isID bool
	node *node
}

// say adds a property with a string, unless it is empty.
func (n *node) say(term, text string) {
	if text != "" {
		n.properties = append(n.properties, property{term, false, []value{{text: text}}})
	}
}

// sayAll adds a property with strings.
func (n *node) sayAll(term string, texts []string) {
	n.list(term, len(texts), func(i int) value { return value{text: texts[i]} })
}

// refer adds a property with an IRI, unless it is empty.
func (n *node) refer(term, iri string) {
	if iri != "" {
		n.properties = append(n.properties, property{term, false, []value{{text: iri, isID: true}}})
	}
}

// referAll adds a property with IRIs.
func (n *node) referAll(term string, iris []string) {
	n.list(term, len(iris), func(i int) value { return value{text: iris[i], isID: true} })
}

// list adds a property with values, unless there are none.
func (n *node) list(term string, length int, at func(i int) value) {
	p := property{term, true, nil}
	for i := range length {
		p.values = append(p.values, at(i))
	}
	if length > 0 {
		n.properties = append(n.properties, p)
	}
}

// has adds a property with a node.
func (n *node) has(term string, other *node) {
	n.properties = append(n.properties, property{term, false, []value{{node: other}}})
}

// graph returns a work as an RDF graph: with terms of schema.org, of DCAT for its locations, of DCMI for its
// successors, and of urnd for the rest.
func (w Work) graph() *node {
	m := w.Metadata
	k, known := kindOf(m)
	n := &node{id: w.subject(), types: []string{k.schema}}
	if w.Name != "" {
		scheme, _, _ := strings.Cut(w.Name, ":")
		id := &node{types: []string{"PropertyValue"}}
		id.say("propertyID", strings.ToLower(scheme))
		id.say("value", w.Name)
		n.has("identifier", id)
	}
	n.say("name", m.Title)
	n.say("description", m.Description)
	n.refer("url", w.URL)
	n.referAll("sameAs", w.same())
	n.list("creator", len(m.Creators), func(i int) value { return value{node: m.Creators[i].node()} })
	if m.Publisher != "" {
		publisher := &node{types: []string{organization}}
		publisher.say("name", m.Publisher)
		n.has("publisher", publisher)
	}
	n.say("datePublished", m.Issued)
	if webAddress(m.License) != "" {
		n.refer("license", m.License)
	} else if m.License != "" {
		text := &node{types: []string{"CreativeWork"}}
		text.say("name", m.License)
		n.has("license", text)
	}
	n.sayAll("keywords", m.Keywords)
	n.say("inLanguage", m.Language)
	if !known {
		n.say("genre", m.Type)
	}
	w.addStatus(n)
	n.list("encoding", len(w.Locations), func(i int) value { return value{node: w.Locations[i].node(i)} })
	n.list("dcat:distribution", len(w.Locations), func(i int) value { return value{text: label(i), isID: true} })
	return n
}

// same returns the identifiers of the same object besides the subject.
func (w Work) same() []string {
	var all []string
	for _, other := range append([]string{w.Name}, w.Others...) {
		if other != w.subject() && other != "" {
			all = append(all, other)
		}
	}
	return all
}

// addStatus adds the state of the name, and its successors.
func (w Work) addStatus(n *node) {
	if w.Status == Withdrawn {
		n.say("creativeWorkStatus", "Withdrawn")
	}
	n.say("urnd:status", w.Status)
	if !w.Since.IsZero() {
		n.say("urnd:since", w.Since.UTC().Format(time.RFC3339))
	}
	n.say("urnd:reason", w.Reason)
	n.referAll("dct:isReplacedBy", w.Successors)
}

func (a Agent) node() *node {
	n := &node{id: a.URI}
	if a.Type != "" {
		n.types = []string{a.Type}
	}
	n.say("name", a.Name)
	return n
}

// node returns the node of a location, for schema.org and DCAT.
func (l Link) node(number int) *node {
	n := &node{id: label(number), types: []string{"MediaObject", "dcat:Distribution"}}
	n.refer("contentUrl", l.URI)
	n.say("encodingFormat", l.Type)
	n.say("inLanguage", l.Language)
	n.say("name", l.Title)
	n.refer("dcat:accessURL", l.URI)
	if essence, _, _ := strings.Cut(l.Type, ";"); l.Type != "" {
		n.refer("dcat:mediaType", address(mediaTypes+strings.TrimSpace(essence)))
	}
	return n
}

// label returns the label of the node of a location.
func label(number int) string { return "_:l" + strconv.Itoa(number+1) }
