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

// Variable is the environment variable with the path of the program that is tested.
const Variable = "TEST_URND"

// directory has the program that build has made; "" where it has made none.
var directory string

// build builds the program, once in a process of tests.
var build = sync.OnceValues(func() (string, error) { //nolint:gochecknoglobals // of tests
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

// Main runs the tests of a package, and removes the program that was built for them. It is for TestMain.
func Main(m *testing.M) {
	status := m.Run()
	if directory != "" {
		_ = os.RemoveAll(directory) // of the system's temporary files
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

// Root returns the directory of the product's module.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	if filepath.IsAbs(file) {
		return filepath.Join(filepath.Dir(file), "..", "..")
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/urnd/urnd").Output() // with -trimpath
	if err != nil {
		return "../.."
	}
	return strings.TrimSpace(string(out))
}

// Run runs a command of urnd to its end, and returns what it printed. The error is an *exec.ExitError with what it
// printed as errors, where it has failed.
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
