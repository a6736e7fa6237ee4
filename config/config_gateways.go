package config

import "time"

// Gateways bounds what is fetched by schemes other than http and https.
type Gateways struct {
	AllowPorts []PortRange   `mapstructure:"allow_ports"` // besides the default port of a scheme and those above 1023
	DenyPorts  []PortRange   `mapstructure:"deny_ports"`  // of those above 1023
	Timeout    time.Duration `mapstructure:"timeout"`     // of a reply, and of a listing as a whole
	MaxEntries int           `mapstructure:"max_entries"` // of a listing
	MaxListing Size          `mapstructure:"max_listing"` // octets of a listing, or of an article
	TTL        time.Duration `mapstructure:"ttl"`         // freshness lifetime of listings
	Templates  []Gateway     `mapstructure:"templates"`
}

// Gateway is another gateway, to which clients are redirected for URIs of a scheme.
type Gateway struct {
	Scheme   string `mapstructure:"scheme"`
	Template string `mapstructure:"template"` // a URI template, RFC 6570
}

// FTP configures the gateway to FTP servers, RFC 959.
type FTP struct {
	Enabled   bool          `mapstructure:"enabled"`
	Anonymous string        `mapstructure:"anonymous"` // the password of the user anonymous
	Login     bool          `mapstructure:"login"`     // other users
	TLS       string        `mapstructure:"tls"`       // "never", "offered" or "required"
	MaxIdle   int           `mapstructure:"max_idle"`  // connections that wait for the next request
	Idle      time.Duration `mapstructure:"idle"`      // how long they do
}

// Gopher configures the gateway to gopher servers, RFC 1436.
type Gopher struct {
	Enabled bool `mapstructure:"enabled"`
}

// News configures the gateway to news servers, RFC 3977.
type News struct {
	Enabled bool     `mapstructure:"enabled"`
	Servers []string `mapstructure:"servers"`             // for news URLs without host: "news.example.org:119" or "tls://news.example.org:563"
	Login   string   `mapstructure:"login" secret:"true"` // at Servers, a file, or "credential:" and a name; empty: it does not log in
	Page    int      `mapstructure:"page"`                // articles of a page

	MaxIdle int           `mapstructure:"max_idle"` // connections that wait for the next request
	Idle    time.Duration `mapstructure:"idle"`     // how long they do
}

// WAIS configures the gateway to WAIS servers by Z39.50.
type WAIS struct {
	Enabled bool `mapstructure:"enabled"`
	Records int  `mapstructure:"records"` // of a result that are shown
}

// File configures access to local files.
type File struct {
	Roots []string `mapstructure:"roots"` // directories; empty: file URLs are refused
}
