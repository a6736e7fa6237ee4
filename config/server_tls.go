package config

// ServerTLS is how a server is authenticated by TLS, and urnd to it. Its files are paths, or "credential:" and a name.
// The zero value believes the authorities of the system, and has no certificate.
type ServerTLS struct {
	CA          string `mapstructure:"ca"`          // of the authorities of the server
	ServerName  string `mapstructure:"server_name"` // empty: the host of the server
	Certificate string `mapstructure:"certificate"` // of urnd
	Key         string `mapstructure:"key"`
	MinVersion  string `mapstructure:"min_version"` // "1.2" or "1.3"; empty: "1.2"
}

// tlsElements are the settings of TLS with the servers of a list.
func tlsElements(path string) []Setting {
	return []Setting{
		{
			Path: path + ".ca", Form: "path, or credential: and a name",
			Doc: "the certificates of the authorities that the server's is believed of, in PEM; empty: those of the system",
		},
		{
			Path: path + ".server_name", Form: "host name",
			Doc: "the name that its certificate must have, and that it is asked for; empty: the host in its URL",
		},
		{
			Path: path + ".certificate", Form: "path, or credential: and a name",
			Doc: "the certificate of urnd, followed by those of its issuers, for a server that asks for one",
		},
		{Path: path + ".key", Form: "path, or credential: and a name", Secret: true, Doc: "its key"},
		{Path: path + ".min_version", OneOf: tlsVersions(), Doc: "the least version of TLS; empty: 1.2 (RFC 8996)"},
	}
}

func tlsVersions() []string { return []string{"1.2", "1.3"} }

// checkServerTLS checks how a server is authenticated, where isHTTPS is whether there is one with TLS.
func checkServerTLS(f *Faults, path string, c ServerTLS, isHTTPS bool) {
	if c == (ServerTLS{}) {
		return
	}
	if !isHTTPS {
		f.add(path, "is for https, and there is no https server")
	}
	if (c.Certificate == "") != (c.Key == "") {
		f.add(path+".certificate", "and key go together")
	}
	checkKeyFile(f, path+".key", c.Key)
	if c.ServerName != "" && !isHost(c.ServerName) {
		f.add(path+".server_name", "%q is not a host such as www.example.org, without port", c.ServerName)
	}
	if c.MinVersion != "" {
		Setting{Path: path + ".min_version", OneOf: tlsVersions()}.validate(f, c.MinVersion)
	}
}
