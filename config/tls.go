package config

import "strings"

// TLS names files of certificates: paths, or "credential:" and a name.
type TLS struct {
	Certificate string `mapstructure:"certificate"`
	Key         string `mapstructure:"key"`
	ClientCA    string `mapstructure:"client_ca"` // of administrators; empty: no client certificate is required
}

func tlsSettings() []Setting {
	return []Setting{
		{
			Path: "tls", Invalidates: Nothing,
			Doc: "Certificates, in PEM. They are read again when they change. Instead of a path, credential: and a " +
				"name selects a file that systemd passes to urnd (LoadCredential).",
		},
		{
			Path: "tls.certificate", Form: "path, or credential: and a name",
			Doc: "the certificate, followed by those of its issuers",
		},
		{Path: "tls.key", Form: "path, or credential: and a name", Secret: true, check: checkKeyFile, Doc: "its key"},
		{
			Path: "tls.client_ca", Form: "path, or credential: and a name",
			Doc: "Administrators must present a certificate of one of these authorities; listen.admin then uses TLS.",
		},
	}
}

// checkSecretFile refuses what is probably the secret itself, without showing it.
func checkSecretFile(f *Faults, path string, value any) {
	name, _ := value.(string)
	isPath := strings.HasPrefix(name, "/") && !strings.ContainsAny(name, "\n:=$")
	if name != "" && !strings.HasPrefix(name, CredentialPrefix) && !isPath {
		f.add(path, "is not a path that begins with a slash, or credential: and a name; its value is not shown, since it may be the secret")
	}
}

// checkKeyFile refuses a key in place of its file, without showing it.
func checkKeyFile(f *Faults, path string, value any) {
	if name, _ := value.(string); strings.ContainsAny(name, "\n") || strings.Contains(name, "PRIVATE KEY") {
		f.add(path, "is not a path, or credential: and a name; its value is not shown, since it may be the key itself")
	}
}

// CredentialPrefix marks the name of a file that systemd passes (LoadCredential of
// systemd.exec(5)), in place of a path.
const CredentialPrefix = "credential:" //nolint:gosec // the word alone
