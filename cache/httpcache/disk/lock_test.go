package disk

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"testing"
	"time"
)

// The tests start this binary again: these variables tell the child its task and directory.
const (
	childVariable = "DISK_TEST_CHILD"
	childDir      = "DISK_TEST_DIR"
)

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) == "" {
		os.Exit(m.Run())
	}
	go func() { // ends the child even if the test panics or times out
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	switch os.Getenv(childVariable) {
	case "lock":
		lockChild(os.Getenv(childDir))
	case "traffic":
		trafficChild(os.Getenv(childDir))
	}
}

// child starts a child process, and returns it and its output.
func child(t *testing.T, what, dir string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childVariable+"="+what, childDir+"="+dir)
	cmd.Stderr = os.Stderr
	if _, err := cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return cmd, bufio.NewScanner(out)
}

func childConfig() Config {
	return Config{MaxBytes: 1 << 30, Now: time.Now, Log: slog.New(slog.NewTextHandler(os.Stderr, nil))}
}

// lockChild holds the lock until it is killed.
func lockChild(dir string) {
	if _, err := Open(dir, childConfig()); err != nil {
		os.Exit(1)
	}
	_, _ = os.Stdout.WriteString("open\n")
	select {}
}

// A directory has at most one store, and a killed process leaves no lock.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	cmd, out := child(t, "lock", dir)
	if !out.Scan() {
		t.Fatal("the child cannot open the store")
	}
	if _, err := Open(dir, childConfig()); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory that another process uses: %v", err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	s, err := Open(dir, childConfig())
	if err != nil {
		t.Fatalf("the process was killed: %v", err)
	}
	if _, err := Open(dir, childConfig()); !errors.Is(err, ErrLocked) {
		t.Errorf("a directory that this process uses: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if s, err = Open(dir, childConfig()); err != nil {
		t.Fatalf("the store was closed: %v", err)
	}
	_ = s.Close()
}
