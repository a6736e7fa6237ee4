package config

func checkEndpoint(f *Faults, path string, value any) {
	if endpoint, _ := value.(string); endpoint != "" {
		checkServer(f, path, endpoint)
	}
}
