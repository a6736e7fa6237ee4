package config

// WAIS configures the gateway to WAIS servers by Z39.50.
type WAIS struct {
	Enabled bool `mapstructure:"enabled"`
	Records int  `mapstructure:"records"` // of a result that are shown
}

func waisSettings() []Setting {
	return []Setting{
		{
			Path: "wais",
			Doc:  "The gateway to databases by Z39.50, which WAIS is a form of: URLs of the schemes wais, z39.50r and z39.50s.",
		},
		{Path: "wais.enabled", Default: true, Invalidates: Responses | Disk, Doc: "URLs of these schemes are retrieved"},
		{
			Path: "wais.records", Default: 50, Least: 1, Most: 1000, Invalidates: Nothing,
			Doc: "how many records of a result are shown",
		},
	}
}
