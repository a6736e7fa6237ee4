package listen

// Waiting returns how many connections wait for a request.
func (l *ConnectionLimit) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	waiting := 0
	for _, a := range l.clients {
		for _, h := range a.waiting {
			if h.since.Load() != active {
				waiting++
			}
		}
	}
	return waiting
}
