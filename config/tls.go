package config

import "strings"

// checkSecretFile refuses what is probably the secret itself, without showing it.
func checkSecretFile(f *Faults, path string, value any) {
	name, _ := value.(string)
	isPath := strings.HasPrefix(name, "/") && !strings.ContainsAny(name, "\n:=$")
	if name != "" && !strings.HasPrefix(name, CredentialPrefix) && !isPath {
		f.Add(path, "is not a path that begins with a slash, or credential: and a name; its value is not shown, since it may be the secret")
	}
}

// checkKeyFile refuses a key in place of its file, without showing it.
func checkKeyFile(f *Faults, path string, value any) {
	if name, _ := value.(string); strings.ContainsAny(name, "\n") || strings.Contains(name, "PRIVATE KEY") {
		f.Add(path, "is not a path, or credential: and a name; its value is not shown, since it may be the key itself")
	}
}

// CredentialPrefix marks the name of a file that systemd passes (LoadCredential of
// systemd.exec(5)), in place of a path.
const CredentialPrefix = "credential:" //nolint:gosec // the word alone
