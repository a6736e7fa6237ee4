package daemon

import (
	"net"
	"strings"
	"testing"
)

// TestActivationNeedsNames checks that a socket without an endpoint is an error: its connections would be
// accepted by no server.
func TestActivationNeedsNames(t *testing.T) {
	for names, fine := range map[string]bool{
		"http": true, "https,admin": true, "": true, "urnd.socket": false,
		"http,unknown": false,
	} {
		sockets := make(map[string][]net.Listener)
		for name := range strings.SplitSeq(names, ",") {
			if name != "" {
				sockets[name] = nil
			}
		}
		if err := checkNames(sockets, []string{"http", "https", "admin"}); (err == nil) != fine {
			t.Errorf("%q: %v", names, err)
		}
	}
}
