package registry

// number numbers new versions after the last row of a store, head: it sets their Seq, and the Prev of those whose version before is among
// them.
func number(entries []Entry, head Seq) {
	var last map[Key]Seq
	for i := range entries {
		e := &entries[i]
		head++
		e.Seq = head
		if e.Version > 1 && e.Prev == 0 {
			if last == nil {
				last = make(map[Key]Seq)
				for _, before := range entries[:i] {
					last[before.Key] = before.Seq
				}
			}
			e.Prev = last[e.keyBefore()]
		}
		if last != nil {
			last[e.Key] = e.Seq
		}
	}
}
