package ddds

import (
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// A change of resolv.conf changes the servers that are queried.
func TestSystemServersAreReadAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "resolv.conf")
	now := time.Unix(1000, 0)
	var made []string
	s := NewSystemClient(SystemConfig{
		Path: path, Now: func() time.Time { return now },
		Make: func(servers []netip.AddrPort) *Client {
			text := "none"
			if len(servers) > 0 {
				text = servers[0].String()
			}
			made = append(made, text)
			return NewClient(ClientConfig{Now: time.Now})
		},
	})
	t.Cleanup(s.Close)
	first := s.current()
	for _, address := range []string{"192.0.2.1", "192.0.2.22"} {
		if err := os.WriteFile(path, []byte("nameserver "+address+"\nnameserver nonsense\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if s.current() != first && address == "192.0.2.1" {
			t.Error("file checked at every call")
		}
		now = now.Add(systemInterval)
		s.current()
		now = now.Add(systemInterval)
		s.current() // unchanged
	}
	if want := []string{"none", "192.0.2.1:53", "192.0.2.22:53"}; !slices.Equal(made, want) {
		t.Errorf("clients for %v, want %v", made, want)
	}
}
