package registry

import (
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/uri"
)

// CheckRelation returns an error unless a target may have a relation: see uri.CheckRelation.
func CheckRelation(rel string) error { return uri.CheckRelation(rel) }

// Leads reports whether the name itself leads to the target. Others are only named with it.
func (t Target) Leads() bool { return resolver.Leads(t.Rel) }
