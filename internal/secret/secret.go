// Package secret reads secrets, certificates and keys from files that the configuration names by a path or as a
// systemd credential (LoadCredential). The name of a setting and its value enter; the content of the file, a
// certificate pool or a tls.Config leaves. Errors name the setting, never the path, which may be the secret
// itself.
package secret

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/systemd"
)

// maxSecret limits the size of a secret file, in bytes.
const maxSecret = 1 << 20

// ErrNoCredentials is the error for a credential if urnd was not started by systemd.
var ErrNoCredentials = errors.New("credentials are available only if systemd starts urnd")

// Path returns the path of a secret. name is a path or a systemd credential.
func Path(setting, name string) (string, error) {
	credential, ok := strings.CutPrefix(name, config.CredentialPrefix)
	if !ok {
		return name, nil
	}
	if !systemd.HasCredentials() {
		return "", fmt.Errorf("%s: %q: %w", setting, name, ErrNoCredentials)
	}
	path, ok := systemd.Credential(credential)
	if !ok {
		return "", fmt.Errorf("%s: systemd passes no credential %q: add LoadCredential to the unit", setting,
			credential)
	}
	return path, nil
}

// Read reads the file of a secret. setting is the configuration setting that contains name, for errors.
func Read(setting, name string) ([]byte, error) {
	path, err := Path(setting, name)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(path)
	if err == nil && info.Size() > maxSecret {
		err = fmt.Errorf("%s is larger than %d bytes", path, maxSecret)
	}
	if err != nil {
		return nil, withoutPath(setting, err)
	}
	text, err := os.ReadFile(path) //nolint:gosec // configured by the administrator
	if err != nil {
		return nil, withoutPath(setting, err)
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s: the file is empty", setting)
	}
	return text, nil
}

// withoutPath returns a file error without the path, which may be the secret itself.
func withoutPath(setting string, err error) error {
	var failed *fs.PathError
	if errors.As(err, &failed) {
		err = failed.Err
	}
	return fmt.Errorf("%s: reading the file: %w", setting, err)
}
