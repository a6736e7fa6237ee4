package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

// maxSecret bounds a file of secrets.
const maxSecret = 1 << 20

// errNoCredentials is that systemd passes on none at all: urnd was not started by it.
var errNoCredentials = errors.New("systemd passes on credentials when it starts urnd")

// secretPath returns where a secret is that the configuration names: a path, or a
// credential of systemd.
func secretPath(setting, name string) (string, error) {
	credential, ok := strings.CutPrefix(name, config.CredentialPrefix)
	if !ok {
		return name, nil
	}
	if !systemd.HasCredentials() {
		return "", fmt.Errorf("%s: %q: %w", setting, name, errNoCredentials)
	}
	path, ok := systemd.Credential(credential)
	if !ok {
		return "", fmt.Errorf("%s: systemd passes on no credential %q (LoadCredential)", setting, credential)
	}
	return path, nil
}

// readSecret reads a secret that the configuration names.
func readSecret(setting, name string) ([]byte, error) {
	path, err := secretPath(setting, name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxSecret {
		err = fmt.Errorf("%s has more than %d octets", path, maxSecret)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	text, err := os.ReadFile(path) //nolint:gosec // it is the administrator's
	if err != nil {
		return nil, fmt.Errorf("%s: %w", setting, err)
	}
	return text, nil
}
