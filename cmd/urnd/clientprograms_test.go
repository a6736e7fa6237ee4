package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// clientsZone has names for loopback: some clients use no proxy for localhost and 127.0.0.1.
const clientsZone = `
$TTL 60
@ SOA ns.elsewhere.test. admin.elsewhere.test. 1 3600 600 86400 60
@ NS  ns.elsewhere.test.
* A   127.0.0.1
`

// clients are urnd as the forward proxy of real clients.
type clients struct {
	*process
	binary string // the folder of urnd's binary
	dns    string
	config string // urnd's configuration file
}

// loopbackConfig lets urnd connect to any port of this machine.
const loopbackConfig = "access: {allow_destinations: [127.0.0.0/8]}\nproxy: {connect_ports: [1-65535]}\n"

// launchWith runs urnd with a configuration.
func launchWith(t *testing.T, binary, file, config string, environment ...string) *process {
	t.Helper()
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return launch(t, filepath.Join(binary, "urnd"), environment, "--config", file)
}

// writeOld writes a file which was last modified days ago, so that it is fresh for one (RFC 9111 section 4.2.2).
func writeOld(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	modified := time.Now().Add(-20 * 24 * time.Hour)
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// octets returns random ones.
func octets(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(b) // it does not fail
	return b
}

// askedOf returns how often a server answered requests for a path that begin with a text such as "GET /a".
func askedOf(t *testing.T, s *testserver.WebServer, prefix string) (n int) {
	t.Helper()
	for _, line := range s.Log(t) {
		if strings.HasPrefix(line, prefix) {
			n++
		}
	}
	return n
}

// runProgram runs a program in a folder and returns what it prints. The test fails where the program does.
func runProgram(t *testing.T, folder string, environment []string, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testserver.Need(t, program), arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, out.String(), log.String())
	}
	return out.String()
}

// wantFile compares a file with what it should contain.
func wantFile(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d octets, %v, want %d others", filepath.Base(path), len(got), err, len(want))
	}
}

// curl runs curl through a proxy, and returns the header, of all responses, and the body.
func curl(t *testing.T, proxy string, arguments ...string) (header string, body []byte) {
	t.Helper()
	folder := t.TempDir()
	runProgram(t, folder, nil, "curl", append([]string{"-q", "-sS", "--noproxy", "", "--proxy", proxy, "-D", "header", "-o", "body"}, arguments...)...)
	body, err := os.ReadFile(filepath.Join(folder, "body"))
	if err != nil && !os.IsNotExist(err) { // there is no file where there is no body
		t.Fatal(err)
	}
	return readFile(t, filepath.Join(folder, "header")), body
}

const aptControl = `Package: urnd-tiny
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@clients.example.org>
Description: nothing but a file
`
