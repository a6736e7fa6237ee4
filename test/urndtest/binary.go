package urndtest

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
)

// Variable is the environment variable with the path of the program under test.
const Variable = "TEST_URND"

// directory contains the program built by build; "" if none was built.
var directory string

// build builds the program once per test process.
var build = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // only used by tests
	if path := os.Getenv(Variable); path != "" {
		return filepath.Abs(path)
	}
	var err error
	if directory, err = os.MkdirTemp("", "urndtest"); err != nil {
		return "", err
	}
	path := filepath.Join(directory, "urnd")
	args := []string{"build", "-pgo=off", "-o", path}
	if raceEnabled {
		args = append(args, "-race")
	}
	command := exec.Command("go", append(args, "./cmd/urnd")...)
	command.Dir = Root()
	if text, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building urnd: %w: %s", err, text)
	}
	return path, nil
})

// Main runs the tests of a package and removes the program built for them. It is for TestMain.
func Main(m *testing.M) {
	status := m.Run()
	if directory != "" {
		_ = os.RemoveAll(directory) // in the temporary folder of the system
	}
	os.Exit(status)
}

// Binary returns the path of the program.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := build()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// Root returns the root directory of urnd's module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	if filepath.IsAbs(file) {
		return filepath.Join(filepath.Dir(file), "..", "..")
	}
	// For builds with -trimpath.
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/urnd/urnd").Output()
	if err != nil {
		return "../.."
	}
	return strings.TrimSpace(string(out))
}

// Run runs a command of urnd and returns its standard output. If it fails, the error is an *exec.ExitError with
// its standard error.
func Run(t testing.TB, stdin string, args ...string) (stdout string, err error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), Binary(t), args...)
	var out, errs bytes.Buffer
	command.Stdin, command.Stdout, command.Stderr = strings.NewReader(stdin), &out, &errs
	err = command.Run()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		exit.Stderr = errs.Bytes()
	}
	return out.String(), err
}
