package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// loopbackConfig lets urnd connect to any port on loopback.
const loopbackConfig = "access: {allow_destinations: [127.0.0.0/8]}\nproxy: {connect_ports: [1-65535]}\n"

// launchWith runs urnd with a configuration.
func launchWith(t *testing.T, binary, file, config string, environment ...string) *process {
	t.Helper()
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return launch(t, filepath.Join(binary, "urnd"), environment, "--config", file)
}

// randomBytes returns n pseudorandom bytes.
func randomBytes(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(b) // it does not fail
	return b
}
