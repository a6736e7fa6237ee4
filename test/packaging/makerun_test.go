//go:build e2e

package packaging

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// TestMakeRun checks that make run reports its actions before it builds, and that an interrupt ends it
// successfully.
func TestMakeRun(t *testing.T) {
	t.Parallel()
	run := exec.Command("make", "--no-print-directory", "run")
	run.Dir = urndtest.Root()
	run.Env = append(os.Environ(), "URND_LISTEN_SERVICE=127.0.0.1:0", "URND_LISTEN_ADMIN=127.0.0.1:0", "MAKEFLAGS=")
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // like a shell, which interrupts all processes
	output, input := io.Pipe()
	run.Stdout, run.Stderr = input, input
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-run.Process.Pid, syscall.SIGKILL) })
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = run.Wait() // ended by the signal
		_ = input.Close()
	}()
	var reported []string
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		reported = append(reported, lines.Text())
		if strings.Contains(lines.Text(), "urnd is ready") {
			if err := syscall.Kill(-run.Process.Pid, syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
	}
	<-ended
	all := strings.Join(reported, "\n")
	if len(reported) == 0 || !strings.HasPrefix(reported[0], "Building ./urnd") ||
		!strings.Contains(all, "open http://127.0.0.1:8141/ in a browser") {
		t.Errorf("it does not say what it does:\n%s", all)
	}
	if strings.Contains(all, "Error") || strings.Contains(all, "***") ||
		!strings.Contains(reported[len(reported)-1], "urnd has stopped") {
		t.Errorf("it ends otherwise:\n%s", all)
	}
}
