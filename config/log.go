package config

import "log/slog"

// Log says what is logged, and how.
type Log struct {
	Level      slog.Level `mapstructure:"level"`
	Format     string     `mapstructure:"format"`      // "auto", "text", "json" or "journald"
	Access     string     `mapstructure:"access"`      // "off", "json", "combined" or "squid"
	AccessFile string     `mapstructure:"access_file"` // empty: standard error
}

func logSettings() []Setting {
	return []Setting{
		{
			Path: "log", Invalidates: Nothing,
			Doc: "What is logged, by default to standard error. Passwords in URLs are never shown.",
		},
		{
			Path: "log.level", Default: slog.LevelInfo, OneOf: []string{"DEBUG", "INFO", "WARN", "ERROR"},
			Doc: "the lowest level that is logged",
		},
		{
			Path: "log.format", Default: "auto", OneOf: []string{"auto", "text", "json", "journald"},
			Doc: "auto is text on a terminal, native fields of journald under systemd, and json otherwise",
		},
		{
			Path: "log.access", Default: "off", OneOf: []string{"off", "json", "combined", "squid"},
			Doc: "the format of the access log, a line for each request",
		},
		{
			Path: "log.access_file", Form: "path that begins with a slash", check: checkDirectory,
			Doc: "the file for these lines; it is reopened on SIGHUP; empty: standard error",
		},
	}
}
