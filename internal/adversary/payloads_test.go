package adversary

import "testing"

// TestPayloads checks the tables without a daemon: each payload has a description, and there are enough
// payloads.
func TestPayloads(t *testing.T) {
	least := map[string]int{"framing": 300, "ssrf": 150, "spoofing": 100, "clients": 600, "forms": 1500}
	for _, c := range categories() {
		s, err := newStage("", t.TempDir(), 0)
		if err != nil {
			t.Fatal(err)
		}
		defer s.close()
		if c.prepare != nil {
			if err := c.prepare(s); err != nil {
				t.Fatal(err)
			}
			if s.arena != nil {
				s.arena.uses(&daemon{service: "-", tls: "-"})
			}
		}
		payloads := c.payloads(s)
		if len(payloads) < max(1, least[c.name]) {
			t.Errorf("%s: %d payloads", c.name, len(payloads))
		}
		for _, p := range payloads {
			if p.family == "" || p.name == "" || p.section == "" || p.play == nil {
				t.Errorf("%s: a payload is incomplete: %+v", c.name, p)
			}
		}
	}
}
