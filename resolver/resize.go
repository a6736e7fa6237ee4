package resolver

// ShareOf says how much of a limit one client may have.
type ShareOf struct {
	Percent int   // of an address; 100 is no bound
	Factor  int   // a network may have so many times that
	Busy    error // for a client that has as much
}

// Resized returns s where it has n slots, and n new ones otherwise: a reload does not double a limit.
func (s Slots) Resized(n int) Slots {
	if cap(s) == n {
		return s
	}
	return make(Slots, n)
}

// Resized returns a quota of n slots. Of what is unchanged it has that of q, with what clients hold.
func (q Quota) Resized(n int, share ShareOf) Quota {
	q.Slots = q.Slots.Resized(n)
	if share.Percent == 100 {
		q.Shares = nil
		return q
	}
	most := max(n*share.Percent/100, 1)
	networks := most * share.Factor
	if q.Shares != nil {
		if oldMost, oldNetworks := q.Shares.Bounds(); oldMost == most && oldNetworks == networks {
			return q
		}
	}
	q.Shares = NewShares(most, networks, share.Busy)
	return q
}

// Or returns the quota with the error where no slot is free.
func (q Quota) Or(busy error) Quota {
	q.Busy = busy
	return q
}
