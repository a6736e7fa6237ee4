package ddds

// Observer is called with what a Resolver does, so that it can be counted. Its functions
// must be safe for concurrent use; those that are nil are not called.
type Observer struct {
	Step    func()              // the rules of a domain are looked up
	Skipped func(reason Reason) // a record was skipped
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
	for range s.excess - 1 { // the first one is among them
		o.Skipped(ReasonExcess)
	}
}
