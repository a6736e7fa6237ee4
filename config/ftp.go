package config

import (
	"strings"
)

// FTP configures the gateway to FTP servers, RFC 959, if gateways.enabled has it.
type FTP struct {
	Anonymous string `mapstructure:"anonymous"` // the password of the user anonymous
	Login     bool   `mapstructure:"login"`     // other users
	TLS       string `mapstructure:"tls"`       // "never", "offered" or "required"
}

func ftpSettings() []Setting {
	return []Setting{
		{Path: "ftp", Doc: "The gateway to FTP servers."},
		{
			Path: "ftp.anonymous", Default: "urnd@", Form: "text", check: checkFTPPassword, Invalidates: Nothing,
			Doc: "the password of the user anonymous, as servers expect it: a mail address, or a part of one",
		},
		{
			Path: "ftp.login", Default: true, Invalidates: Responses | Disk,
			Doc: "users and passwords in URLs, and those that clients are asked for, are sent to servers; false refuses them",
		},
		{
			Path: "ftp.tls", Default: "offered", OneOf: []string{"never", "offered", "required"}, Invalidates: Responses | Disk,
			Doc: "TLS (RFC 4217): never; offered uses it where a server offers it, with any certificate; required " +
				"refuses servers that do not offer it, or whose certificate is not valid",
		},
	}
}

func checkFTPPassword(f *Faults, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.add(path, "is empty, or has a line end")
	}
}
