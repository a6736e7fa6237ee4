package config

func tlsVersions() []string { return []string{"1.2", "1.3"} }

// checkServerTLS checks how a server is authenticated, where isHTTPS is whether there is one with TLS.
func checkServerTLS(f *Faults, path string, c ServerTLS, isHTTPS bool) {
	if c == (ServerTLS{}) {
		return
	}
	if !isHTTPS {
		f.Add(path, "is for https, and there is no https server")
	}
	if (c.Certificate == "") != (c.Key == "") {
		f.Add(path+".certificate", "and key go together")
	}
	checkKeyFile(f, path+".key", c.Key)
	if c.ServerName != "" && !isHost(c.ServerName) {
		f.Add(path+".server_name", "%q is not a host such as www.example.org, without port", c.ServerName)
	}
	if c.MinVersion != "" {
		Setting{Path: path + ".min_version", OneOf: tlsVersions()}.validate(f, c.MinVersion)
	}
}
