package valkey

import "encoding/hex"

// Position is a place in the log of purges. The zero value is none.
type Position struct {
	Epoch  string `json:"epoch"` // of the log
	Number uint64 `json:"number"`
	Tag    string `json:"tag"` // of the entry there, in hexadecimal digits
}

// Position returns the place up to which all purges were told to those who watch, the zero value before the log was read.
func (l *Level) Position() Position {
	s := l.log.Load()
	return Position{s.epoch, s.number, hex.EncodeToString([]byte(s.tag))}
}

// isIn reports whether a position is one of a state, or at its begin: purges behind it are known.
func (p Position) isIn(s *logState, entries []logEntry) bool {
	if p.Epoch == "" || p.Epoch != s.epoch {
		return false
	}
	for _, e := range entries {
		if e.number == p.Number {
			return hex.EncodeToString([]byte(e.tag)) == p.Tag
		}
	}
	return false
}
