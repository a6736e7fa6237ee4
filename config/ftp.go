package config

import (
	"strings"
	"time"
)

// FTP configures the gateway to FTP servers, RFC 959.
type FTP struct {
	Enabled   bool          `mapstructure:"enabled"`
	Anonymous string        `mapstructure:"anonymous"` // the password of the user anonymous
	Login     bool          `mapstructure:"login"`     // other users
	TLS       string        `mapstructure:"tls"`       // "never", "offered" or "required"
	MaxIdle   int           `mapstructure:"max_idle"`  // connections that wait for the next request
	Idle      time.Duration `mapstructure:"idle"`      // how long they do
}

func ftpSettings() []Setting {
	return []Setting{
		{Path: "ftp", Doc: "The gateway to FTP servers."},
		{Path: "ftp.enabled", Default: true, Invalidates: Responses | Disk, Doc: "ftp URLs are retrieved"},
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
		{
			Path: "ftp.max_idle", Default: 16, Least: 0, Most: 1000, Invalidates: Nothing,
			Doc: "how many connections wait for the next request, half of them to one server, and no more than an " +
				"eighth of limits.outgoing; 0 closes each after its request",
		},
		{
			Path: "ftp.idle", Default: 30 * time.Second, Least: time.Second, Most: time.Hour, Invalidates: Nothing,
			Doc: "how long they wait",
		},
	}
}

func checkFTPPassword(f *Faults, path string, value any) {
	if text, _ := value.(string); text == "" || strings.ContainsAny(text, "\r\n\x00") {
		f.add(path, "is empty, or has a line end")
	}
}
