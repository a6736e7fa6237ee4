package config

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
	if c.ServerName != "" && !isHost(c.ServerName) {
		f.Add(path+".server_name", "%q is not a host such as www.example.org, without port", c.ServerName)
	}
}
