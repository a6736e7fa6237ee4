package urndtest

import (
	"os"
	"os/exec"
	"testing"
)

// OnLoopback sets the environment of an urnd command for StartCommand and returns it: listeners on free
// loopback ports, no DNS of this machine, and a JSON log, regardless of its configuration. more contains
// further variables, such as "URND_LOG_LEVEL=debug", which take precedence.
func OnLoopback(command *exec.Cmd, more ...string) *exec.Cmd {
	command.Env = append(append(os.Environ(), "URND_LISTEN_SERVICE=127.0.0.1:0", "URND_LISTEN_ADMIN=127.0.0.1:0",
		"URND_DNS_SERVERS=127.0.0.1:9",
		"URND_LOG_FORMAT=json"), more...)
	return command
}

// StartFile runs urnd with a configuration file and the environment of OnLoopback.
func StartFile(t testing.TB, file string, more ...string) *Daemon {
	t.Helper()
	return StartCommand(t, OnLoopback(exec.Command(Binary(t), "serve", "--config", file), more...))
}
