package config

// Gopher configures the gateway to gopher servers, RFC 1436.
type Gopher struct {
	Enabled bool `mapstructure:"enabled"`
}

func gopherSettings() []Setting {
	return []Setting{
		{Path: "gopher", Invalidates: Responses | Disk, Doc: "The gateway to gopher servers."},
		{Path: "gopher.enabled", Default: true, Doc: "gopher URLs are retrieved"},
	}
}
