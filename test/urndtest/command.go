package urndtest

import (
	"os"
	"os/exec"
	"testing"
)

// OnLoopback gives a command of urnd an environment for StartCommand, and returns it: listeners on free ports of loopback, no DNS of this
// machine, and a log in JSON, whatever its configuration says. more are further variables, such as "URND_LOG_LEVEL=debug", which go first.
func OnLoopback(command *exec.Cmd, more ...string) *exec.Cmd {
	command.Env = append(append(os.Environ(), "URND_LISTEN_SERVICE=127.0.0.1:0", "URND_LISTEN_ADMIN=127.0.0.1:0", "URND_DNS_SERVERS=127.0.0.1:9",
		"URND_LOG_FORMAT=json"), more...)
	return command
}

// StartFile runs urnd with a file of its configuration, as OnLoopback says.
func StartFile(t testing.TB, file string, more ...string) *Daemon {
	t.Helper()
	return StartCommand(t, OnLoopback(exec.Command(Binary(t), "serve", "--config", file), more...))
}
