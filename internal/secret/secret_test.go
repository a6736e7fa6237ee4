package secret_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/secret"
)

// TestRead reads files and systemd credentials, and checks that errors name the setting and never the path.
func TestRead(t *testing.T) {
	directory := t.TempDir()
	path, large := filepath.Join(directory, "token"), filepath.Join(directory, "large")
	for name, text := range map[string]string{path: "opensesame", large: strings.Repeat("x", 1<<20+1)} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("CREDENTIALS_DIRECTORY", "")
	if text, err := secret.Read("a.token", path); err != nil || string(text) != "opensesame" {
		t.Errorf("%q, %v", text, err)
	}
	if _, err := secret.Read("a.token", "credential:token"); !errors.Is(err, secret.ErrNoCredentials) {
		t.Errorf("without systemd: %v", err)
	}
	t.Setenv("CREDENTIALS_DIRECTORY", directory)
	if text, err := secret.Read("a.token", "credential:token"); err != nil || string(text) != "opensesame" {
		t.Errorf("a credential: %q, %v", text, err)
	}
	for name, want := range map[string]string{
		"/nowhere/token": "a.token: reading the file: no such file or directory", large: "is larger than 1048576 bytes",
		"credential:none": "a.token: reading the file: no such file",
		"credential:a/b":  `a.token: systemd passes no credential "a/b"`,
	} {
		if _, err := secret.Read("a.token", name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
}

// TestCertificates checks that errors of certificates name the setting, and that Version changes when a file is
// written.
func TestCertificates(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.pem")
	if before := secret.Version(path); before != "" {
		t.Errorf("a file that is not there has the version %q", before)
	}
	if err := os.WriteFile(path, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	first := secret.Version(path)
	if err := os.WriteFile(path, []byte("no certificate either"), 0o600); err != nil {
		t.Fatal(err)
	}
	if first == "" || secret.Version(path) == first {
		t.Errorf("the versions are %q and %q", first, secret.Version(path))
	}
	if _, err := secret.LoadCertPool("a.ca", path); err == nil ||
		err.Error() != "a.ca: "+path+" contains no certificate" {
		t.Error(err)
	}
	if _, err := secret.LoadKeyPair("a", path, path); err == nil ||
		!strings.HasPrefix(err.Error(), "a.certificate and a.key: ") {
		t.Error(err)
	}
	if _, err := secret.LoadKeyPair("a", path, "/nowhere"); err == nil || !strings.HasPrefix(err.Error(), "a.key: ") {
		t.Error(err)
	}
}
