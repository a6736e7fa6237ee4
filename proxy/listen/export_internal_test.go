package listen

// Waiting returns how many connections are idle.
func (l *ConnectionLimit) Waiting() int { return l.pool.Idle() }
