package testserver

import (
	"slices"
	"testing"
)

// TestReadLogLeavesOutTheProbe: only on UDP is the port of the probe exclusive to it.
func TestReadLogLeavesOutTheProbe(t *testing.T) {
	const log = `client @0x1 127.0.0.1#1000 (a): query: a IN SOA + (127.0.0.1)
client @0x1 127.0.0.1#1000 (b): query: b IN SOA +T (127.0.0.1)
client @0x1 127.0.0.1#1001 (c): query: c IN SOA -E(0)DC (127.0.0.1)
client @0x1 127.0.0.1#1001/key k (D.d): query: D.d IN SOA -SE(0)TV (127.0.0.1) [ECS 192.0.2.0/24/0]
`
	server := &BIND{port: 1000}
	got, err := server.readLog([]byte(log))
	if want := []string{"b SOA", "c SOA", "d.d SOA"}; err != nil || !slices.Equal(got, want) {
		t.Fatalf("queries %q, error %v, want %q", got, err, want)
	}
}

func TestParseQueryRejectsOtherFormats(t *testing.T) {
	for _, line := range []string{
		"",
		"client @0x1 127.0.0.1#1 (a): response: a IN NAPTR + (127.0.0.1)",
		"client @0x1 127.0.0.1#1 (a): query: a IN NAPTR",
		"client @0x1 127.0.0.1 (a): query: a IN NAPTR + (127.0.0.1)",
		"client @0x1 127.0.0.1#65536 (a): query: a IN NAPTR + (127.0.0.1)",
	} {
		if query, err := parseQuery(line); err == nil {
			t.Errorf("%q: no error, but %v", line, query)
		}
	}
}
