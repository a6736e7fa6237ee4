package daemon

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/urnd/urnd/systemd"
)

// Inherited returns the sockets opened by systemd (socket activation) by endpoint name. It returns an error for
// a name that is not in names.
func Inherited(names ...string) (map[string][]net.Listener, error) {
	sockets, err := systemd.Listeners()
	if err != nil {
		return nil, err
	}
	return sockets, checkNames(sockets, names)
}

// checkNames returns an error for a socket without an endpoint, since no server would accept its connections.
func checkNames(sockets map[string][]net.Listener, names []string) error {
	for name := range sockets {
		if !slices.Contains(names, name) {
			last := len(names) - 1
			return fmt.Errorf("systemd passed a socket with the name %q: FileDescriptorName must be %s or %s", name,
				strings.Join(names[:last], ", "), names[last])
		}
	}
	return nil
}

// Addresses returns the addresses of the sockets opened by systemd, which take precedence, or else the
// configured ones.
func Addresses(sockets []net.Listener, configured []string) []string {
	if len(sockets) == 0 {
		return configured
	}
	var all []string
	for _, socket := range sockets {
		all = append(all, socket.Addr().String())
	}
	return all
}
