package postgres

import (
	"errors"
	"testing"
)

// Servers that are too old, and databases that cannot store all characters, are rejected with an explanation.
func TestSuits(t *testing.T) {
	for _, c := range []struct {
		encoding, name string
		version        int
		want           error
	}{
		{"UTF8", "15.0", 150000, nil},
		{"UTF8", "18.1 (Debian)", 180001, nil},
		{"UTF8", "14.20", 140020, errOld},
		{"LATIN1", "15.0", 150000, errEncoding},
	} {
		if err := checkCompatible(c.encoding, c.name, c.version); !errors.Is(err, c.want) || err != nil && isLost(err) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
