package valkey

import "encoding/hex"

// Position is a position in the log of purges. The zero value is none.
type Position struct {
	Epoch  string `json:"epoch"` // of the log
	Number uint64 `json:"number"`
	Tag    string `json:"tag"` // of the log entry there, hexadecimal
}

// Position returns the position up to which all purges were passed to the watchers, the zero value before the
// log was read.
func (l *Level) Position() Position {
	s := l.log.Load()
	return Position{s.epoch, s.number, hex.EncodeToString([]byte(s.tag))}
}

// isIn reports whether p is the position of one of the entries of a state, so that all purges behind it are
// known.
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
