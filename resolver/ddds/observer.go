package ddds

// Observer is told what a Resolver does, so that it can be counted. Its functions are
// safe for concurrent use; those that are nil are not called.
type Observer struct {
	Step   func()              // the rules of a domain are looked up
	Passed func(reason Reason) // a record was passed over
}

func (o Observer) step() {
	if o.Step != nil {
		o.Step()
	}
}

func (o Observer) passed(records []passed) {
	if o.Passed == nil {
		return
	}
	for _, p := range records {
		o.Passed(p.kind)
	}
}
