package resolver

import "github.com/urnd/urnd/uri"

// Description is what is known of an identifier: I2C of RFC 2483 section 4.5.
type Description struct {
	Name      uri.URI   // the canonical name
	Conforms  []string  // the specifications of URNs that the name satisfies
	Namespace string    // the NID, "" for other URIs
	Document  string    // the document with the rules of the namespace, "" if there is none
	Others    []uri.URI // other names of the same resource
	Warnings  []uri.Rule
}

// Describe returns what is known of an identifier without resolving it. Its errors are
// those of Canonical.
func (n Names) Describe(q Query) (Description, error) {
	canonical, err := n.Canonical(q)
	if err != nil {
		return Description{}, err
	}
	d := Description{Name: canonical.URI, Warnings: n.Warnings(q)}
	if !canonical.IsURN() {
		return d, nil
	}
	v := canonical.URN
	d.Conforms, d.Namespace = v.Conforms().Names(), v.NID()
	if ns, ok := n.Set.Lookup(v.NID()); ok {
		d.Document = ns.Source
	}
	for _, other := range n.Set.Others(v) {
		d.Others = append(d.Others, other.URI())
	}
	return d, nil
}
