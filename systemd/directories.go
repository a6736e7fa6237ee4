package systemd

import (
	"os"
	"path/filepath"
	"strings"
)

// StateDirectory returns the directory for persistent state, "" if systemd has created
// none (StateDirectory of systemd.exec(5)).
func StateDirectory() string {
	first, _, _ := strings.Cut(os.Getenv("STATE_DIRECTORY"), ":")
	return first
}

// HasCredentials reports whether systemd passes credentials to the service.
func HasCredentials() bool { return os.Getenv("CREDENTIALS_DIRECTORY") != "" }

// Credential returns the path of a credential (LoadCredential of systemd.exec(5)), and
// false if systemd passes none or name is not a file name.
func Credential(name string) (string, bool) {
	directory := os.Getenv("CREDENTIALS_DIRECTORY")
	if directory == "" || name != filepath.Base(name) {
		return "", false
	}
	return filepath.Join(directory, name), true
}
