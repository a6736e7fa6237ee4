package config

// Reload says when the configuration is read again, in addition to SIGHUP.
type Reload struct {
	Watch bool `mapstructure:"watch"` // when the file changes
}

func reloadSettings() []Setting {
	return []Setting{
		{
			Path: "reload", Invalidates: Nothing,
			Doc: "The configuration is read again on SIGHUP (systemctl reload urnd). If it is invalid, nothing changes.",
		},
		{Path: "reload.watch", Doc: "read it again when the file changes, too"},
	}
}
