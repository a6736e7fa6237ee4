package registry

import "github.com/urnd/urnd/resolver"

// Leads reports whether the name itself leads to the target. Others are only named with it.
func (t Target) Leads() bool { return resolver.Leads(t.Rel) }
