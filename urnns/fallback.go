package urnns

import (
	"fmt"

	"github.com/urnd/urnd/uri"
)

// Fallback is the target of names whose namespace has no rules. It is safe for
// concurrent use.
type Fallback struct {
	row *row
}

// NewFallback returns the Fallback of a URI template (RFC 6570) with the variables
// urn, nid and nss.
func NewFallback(template string) (*Fallback, error) {
	r, err := compile(Namespace{NID: "any", Targets: []Target{{Template: template}}})
	if err != nil {
		return nil, fmt.Errorf("fallback: %w", err)
	}
	return &Fallback{row: r}, nil
}

// Lead returns the location of the canonical name v.
func (f *Fallback) Lead(v uri.URN) (string, error) {
	location, _, err := f.row.targets[0].expand(v.NSS(), variables(v))
	return location, err
}
