package ddds

// Observer is called with what a Resolver does, so that it can be counted. Its functions
// must be safe for concurrent use; those that are nil are not called.
type Observer struct {
	Step   func()              // the rules of a domain are looked up
	Passed func(reason Reason) // a record was passed over
}

func (o Observer) step() {
	if o.Step != nil {
		o.Step()
	}
}

func (o Observer) passed(s selection) {
	if o.Passed == nil {
		return
	}
	for _, p := range s.passed {
		o.Passed(p.kind)
	}
	for range s.excess - 1 { // the first one is among them
		o.Passed(ReasonExcess)
	}
}
