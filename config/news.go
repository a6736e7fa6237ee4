package config

import "time"

// News configures the gateway to news servers, RFC 3977.
type News struct {
	Enabled bool     `mapstructure:"enabled"`
	Servers []string `mapstructure:"servers"` // for news URLs without host: "news.example.org:119" or "tls://news.example.org:563"
	Login   string   `mapstructure:"login"`   // at Servers, a file, or "credential:" and a name; empty: it does not log in
	Page    int      `mapstructure:"page"`    // articles of a page

	MaxIdle int           `mapstructure:"max_idle"` // connections that wait for the next request
	Idle    time.Duration `mapstructure:"idle"`     // how long they do
}

func newsSettings() []Setting {
	return []Setting{
		{Path: "news", Doc: "The gateway to news servers: URLs of the schemes news and nntp."},
		{Path: "news.enabled", Default: true, Invalidates: Responses | Disk, Doc: "URLs of these schemes are retrieved"},
		{
			Path: "news.servers", Default: []string{},
			Form: "host:port, or tls:// and one", check: checkNewsServers, Invalidates: Responses | Disk,
			Doc: "The servers for news URLs, which name none; the next one is asked where one is not available, or " +
				"does not have it. Empty: these URLs are refused.",
			Sample: "servers: [news.example.org:119, 'tls://news.example.net:563']",
		},
		{
			Path: "news.login",
			Form: "path, or credential: and a name", Secret: true, check: checkSecretFile, Invalidates: Responses | Disk,
			Doc: "the file with the user that urnd logs in as, at these servers only, a colon and the password; " +
				"empty: it does not log in",
		},
		{
			Path: "news.page", Default: 100, Least: 1, Most: 1000, Invalidates: Nothing,
			Doc: "how many articles a page of a group has",
		},
		{
			Path: "news.max_idle", Default: 16, Least: 0, Most: 1000, Invalidates: Nothing,
			Doc: "how many connections wait for the next request, half of them to one server, and no more than an " +
				"eighth of limits.outgoing; 0 closes each after its request",
		},
		{
			Path: "news.idle", Default: 30 * time.Second, Least: time.Second, Most: time.Hour, Invalidates: Nothing,
			Doc: "how long they wait",
		},
	}
}

func checkNewsServers(f *Faults, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}
