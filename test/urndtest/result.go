package urndtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Result is the result of a command.
type Result struct {
	Status   int // exit status; 0 is success
	Out, Err string
}

// RunWith runs a command of urnd with additional environment variables "NAME=VALUE".
func RunWith(t testing.TB, environment []string, stdin string, args ...string) Result {
	t.Helper()
	command := exec.CommandContext(t.Context(), Binary(t), args...)
	command.Env = append(os.Environ(), environment...)
	var out, errs bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	err := command.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return Result{command.ProcessState.ExitCode(), out.String(), errs.String()}
}
