package config

// News configures the gateway to news servers, RFC 3977.
type News struct {
	Servers []string `mapstructure:"servers"` // for news URLs without host: "news.example.org:119" or "tls://news.example.org:563"
	Login   string   `mapstructure:"login"`   // at Servers, a file, or "credential:" and a name; empty: it does not log in
}

func newsSettings() []Setting {
	return []Setting{
		{Path: "news", Doc: "The gateway to news servers: URLs of the schemes news and nntp."},
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
	}
}

func checkNewsServers(f *Faults, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}
