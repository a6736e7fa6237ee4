package systemd

import (
	"fmt"
	"net"

	"github.com/coreos/go-systemd/v22/activation"
)

// Listeners returns the sockets that systemd has opened, by name: LISTEN_FDS and
// LISTEN_FDNAMES of sd_listen_fds(3).
func Listeners() (map[string][]net.Listener, error) {
	listeners, err := activation.ListenersWithNames()
	if err != nil {
		return nil, fmt.Errorf("getting sockets from systemd: %w", err)
	}
	return listeners, nil
}
