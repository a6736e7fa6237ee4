package urndtest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Result is how a command ended.
type Result struct {
	Status   int // of the exit; 0 is success
	Out, Err string
}

// RunWith runs a command of urnd to its end, with more variables "NAME=VALUE" of its environment.
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
