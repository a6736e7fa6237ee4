package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"testing"
)

// process is an urnd in a process of its own.
type process struct {
	cmd            *exec.Cmd
	service, admin string
	tls            string      // host:port, "off" for none
	rest           chan string // its log after it is ready
}

// launch runs a binary on free ports, without the DNS servers of this machine, until the test ends.
func launch(t *testing.T, path string, environment []string, args ...string) *process {
	t.Helper()
	return launchCommand(t, exec.Command(path, append([]string{"serve"}, args...)...), environment)
}

// launchCommand is launch for a command with more than a path and arguments.
func launchCommand(t *testing.T, command *exec.Cmd, environment []string) *process {
	t.Helper()
	p := &process{cmd: command, rest: make(chan string, 1)}
	p.cmd.Env = append(append(os.Environ(), "URND_LISTEN_SERVICE=127.0.0.1:0", "URND_LISTEN_ADMIN=127.0.0.1:0",
		"URND_DNS_SERVERS=127.0.0.1:9",
		"URND_LOG_FORMAT=json"), environment...)
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var ready struct {
		Msg, Service, TLS, Admin string
	}
	lines := bufio.NewReader(stderr)
	for ready.Msg != "urnd is ready" {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			t.Fatalf("urnd ended before it was ready: %v, %s", err, line)
		}
		if err := json.Unmarshal(line, &ready); err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	go func() {
		text, _ := io.ReadAll(lines)
		p.rest <- string(text)
	}()
	p.service, p.admin, p.tls = "http://"+ready.Service, "http://"+ready.Admin, ready.TLS
	t.Cleanup(func() {
		_ = p.cmd.Process.Signal(os.Interrupt)
		text := <-p.rest
		if err := p.cmd.Wait(); err != nil {
			t.Errorf("urnd ended with %v, after %s", err, text)
		}
	})
	return p
}
