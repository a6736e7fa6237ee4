package gs1

import (
	"encoding/json"
)

// Paths of the documents of a resolver, at the host of its root: sections 2.10 and 3.
const (
	PathDescription = "/.well-known/gs1resolver"
	PathContext     = "/.well-known/linkset-context.jsonld"
)

// Site is a resolver of identifiers in web addresses.
type Site struct {
	Host     string   // of the root URL
	Root     string   // root URL
	Keys     []string // codes of the primary keys
	Name     string   // of the resolver, "" for none
	Contact  string   // operator of the resolver
	Terms    string   // URL of the terms of use
	Contexts []string // values of the attribute context of links
}

// description is the resolver description file: GS1's schema 1.2.0.
type description struct {
	Name      string     `json:"name,omitempty"`
	Root      string     `json:"resolverRoot"`
	Keys      []string   `json:"supportedPrimaryKeys"`
	LinkTypes []linkType `json:"supportedLinkType"`
	MayBeSet  bool       `json:"linkTypeDefaultCanBeLinkset"`
	Contexts  []string   `json:"supportedContextValuesEnumerated,omitempty"`
	Terms     string     `json:"termsOfUse,omitempty"`
	Contact   *contact   `json:"contact,omitempty"`
	Context   string     `json:"jsonLdContextLocation"`
}

type linkType struct {
	Namespace string `json:"namespace"`
	Prefix    string `json:"prefix"`
}

type contact struct {
	Name string `json:"fn"`
}

// Description returns the resolver description file: section 3.
func (s *Site) Description() []byte {
	d := description{
		Name: s.Name, Root: withoutSlash(s.Root), Keys: s.Keys,
		LinkTypes: []linkType{{"https://ref.gs1.org/voc/", "gs1:"}}, Contexts: s.Contexts, Terms: s.Terms,
		Context: s.ContextURL(),
	}
	if s.Contact != "" {
		d.Contact = &contact{s.Contact}
	}
	text, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return nil // none of these types can fail
	}
	return append(text, '\n')
}

func withoutSlash(root string) string {
	if last := len(root) - 1; last >= 0 && root[last] == '/' {
		return root[:last]
	}
	return root
}

// ContextURL returns the URL of the JSON-LD context of the linksets.
func (s *Site) ContextURL() string { return "https://" + s.Host + PathContext }

// Context returns the JSON-LD context of linksets: section 2.10.
func Context() []byte { return []byte(`{"@context":` + linksetContext + "}\n") }

// linksetContext maps a linkset to RDF: its relation types are properties of the anchors, those without a
// scheme are IANA relations.
const linksetContext = `{"@version":1.1,"@vocab":"http://www.iana.org/assignments/relation/","gs1":"https://ref.gs1.org/voc/",` +
	`"dcterms":"http://purl.org/dc/terms/","linkset":"@graph","anchor":"@id","href":"@id","itemDescription":"dcterms:description",` +
	`"title":"dcterms:title","type":{"@id":"dcterms:format"},"hreflang":{"@id":"dcterms:language","@container":"@set"},` +
	`"context":"dcterms:coverage"}`
