package systemd

import (
	"os"
	"path/filepath"
	"strings"
)

// StateDirectory returns the directory for what outlives the service, "" where systemd
// has made none (StateDirectory of systemd.exec(5)).
func StateDirectory() string {
	first, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	return first
}

// HasCredentials reports whether systemd passes on any.
func HasCredentials() bool { return os.Getenv("CREDENTIALS_DIRECTORY") != "" }

// Credential returns the path of a file that systemd passes on (LoadCredential), and
// false where it passes on none.
func Credential(name string) (string, bool) {
	directory := os.Getenv("CREDENTIALS_DIRECTORY")
	if directory == "" || name != filepath.Base(name) {
		return "", false
	}
	return filepath.Join(directory, name), true
}
