package config

func checkNewsServers(f *Faults, path string, value any) {
	servers, _ := value.([]string)
	checkAddresses(f, path, servers, "tls://", "news.example.org:119", "news.example.org:563")
}
