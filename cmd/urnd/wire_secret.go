package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

// maxSecret bounds a file of secrets, in octets.
const maxSecret = 1 << 20

// errNoCredentials is the error for a credential where urnd was not started by systemd.
var errNoCredentials = errors.New("credentials exist only where systemd starts urnd")

// secretPath returns the path of a secret: name is a path, or a credential of systemd.
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

// readSecret reads the file of a secret.
func readSecret(setting, name string) ([]byte, error) {
	path, err := secretPath(setting, name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxSecret {
		err = fmt.Errorf("%s is larger than %d octets", path, maxSecret)
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
