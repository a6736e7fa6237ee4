package systemd

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"
)

// StateDirectory returns the directory for persistent state, "" if systemd has created none (StateDirectory
// in systemd.exec(5)).
func StateDirectory() string {
	first, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	return first
}

// CacheDirectory returns the directory for caches, "" if systemd has created none (CacheDirectory in
// systemd.exec(5)).
func CacheDirectory() string {
	first, _, _ := strings.Cut(os.Getenv("CACHE_DIRECTORY"), ":")
	return first
}

// HasCredentials reports whether systemd passes credentials to the service.
func HasCredentials() bool { return os.Getenv("CREDENTIALS_DIRECTORY") != "" }

// Credential returns the path of a credential (LoadCredential in systemd.exec(5)), and false if systemd
// passes none or name is not a file name.
func Credential(name string) (string, bool) {
	directory := os.Getenv("CREDENTIALS_DIRECTORY")
	if directory == "" || name != filepath.Base(name) {
		return "", false
	}
	return filepath.Join(directory, name), true
}

// Listeners returns the sockets that systemd has opened, by name: LISTEN_FDS and LISTEN_FDNAMES in
// sd_listen_fds(3).
func Listeners() (map[string][]net.Listener, error) {
	listeners, err := activation.ListenersWithNames()
	if err != nil {
		return nil, fmt.Errorf("getting sockets from systemd: %w", err)
	}
	return listeners, nil
}
