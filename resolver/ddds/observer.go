package ddds

// Observer has functions that a Resolver calls, for metrics. They must be safe for
// concurrent use, and may be nil.
type Observer struct {
	Step    func()              // called for each lookup of the rules of a domain
	Skipped func(reason Reason) // called for each skipped record
}

func (o Observer) step() {
	if o.Step != nil {
		o.Step()
	}
}

func (o Observer) skipped(s selection) {
	if o.Skipped == nil {
		return
	}
	for _, p := range s.skipped {
		o.Skipped(p.kind)
	}
	for range s.excess - 1 { // s.skipped has the first one
		o.Skipped(ReasonExcess)
	}
}
