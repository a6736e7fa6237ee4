package daemon

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/urnd/urnd/systemd"
)

// Inherited returns the sockets that systemd has opened, by the name of their endpoint, which is one of names.
func Inherited(names ...string) (map[string][]net.Listener, error) {
	sockets, err := systemd.Listeners()
	if err != nil {
		return nil, err
	}
	return sockets, checkNames(sockets, names)
}

// checkNames refuses sockets without an endpoint: no server would answer there.
func checkNames(sockets map[string][]net.Listener, names []string) error {
	for name := range sockets {
		if !slices.Contains(names, name) {
			last := len(names) - 1
			return fmt.Errorf("systemd passes on a socket with the name %q: FileDescriptorName must be %s or %s", name,
				strings.Join(names[:last], ", "), names[last])
		}
	}
	return nil
}

// Addresses returns the addresses of sockets that systemd has opened, which replace those of the configuration.
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
