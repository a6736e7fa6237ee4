package listen

// Waiting returns the number of idle connections.
func (l *ConnectionLimit) Waiting() int { return l.pool.Idle() }
