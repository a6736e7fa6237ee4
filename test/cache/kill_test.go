//go:build e2e

package cache

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// spawned is a process that a test may kill.
type spawned struct {
	*exec.Cmd
	url, log string
}

// spawn runs a binary that saves its snapshot in a directory, and waits until it is ready and has restored or
// renamed the snapshot.
func spawn(t *testing.T, path, dir string) *spawned {
	t.Helper()
	p := &spawned{Cmd: exec.Command(path, "serve", "--listen", "127.0.0.1:0", "--admin", "")}
	p.Env = append(os.Environ(), "URND_DNS_SERVERS=127.0.0.1:9", "URND_LOG_FORMAT=text", "URND_CACHE_DIRECTORY="+dir)
	stderr, err := p.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Process.Kill(); _ = p.Wait() })
	log := bufio.NewReader(stderr)
	for p.url == "" || !strings.Contains(p.log, "snapshot of answers restored") &&
		!strings.Contains(p.log, "invalid, renamed") {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("urnd ended: %s%s", p.log, line)
		}
		p.log += line
		if fields := regexp.MustCompile(`msg="urnd is ready" service=(\S+)`).FindStringSubmatch(line); fields != nil {
			p.url = "http://" + fields[1]
		}
		if _, err := os.Stat(filepath.Join(dir, "answers")); p.url != "" && os.IsNotExist(err) {
			break // there is no snapshot to restore
		}
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	return p
}

// TestKilled checks that kill -9 at any time leaves the last complete snapshot.
func TestKilled(t *testing.T) {
	t.Parallel()
	binary, dir := urndtest.Binary(t), t.TempDir()
	file := filepath.Join(dir, "answers")
	get := func(p *spawned, n int) string {
		t.Helper()
		return urndtest.Send(t, fmt.Sprintf("GET %s/urn:ietf:rfc:%d", p.url, n), "").CacheStatus
	}
	p := spawn(t, binary, dir)
	get(p, 1)
	_ = p.Process.Signal(syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Fatal(err)
	}
	saved := urndtest.ReadFile(t, file)
	p = spawn(t, binary, dir)
	get(p, 2)
	_ = p.Process.Kill()
	_ = p.Wait()
	if urndtest.ReadFile(t, file) != saved {
		t.Error("the snapshot has changed")
	}
	if err := os.WriteFile(file+".new", []byte("half of a fi"), 0o600); err != nil {
		t.Fatal(err)
	}
	for round := range 10 {
		p := spawn(t, binary, dir)
		if got := get(p, 1); !strings.HasPrefix(got, "urnd; hit") || strings.Contains(p.log, "invalid, renamed") {
			t.Fatalf("%s, after %s", got, p.log)
		}
		for i := range 100 {
			get(p, 10+100*round+i)
		}
		_ = p.Process.Signal(syscall.SIGTERM)
		before, _ := os.Stat(file)
		for spins := rand.IntN(2000); spins > 0; spins-- { // killed before, during and after writing
			if now, err := os.Stat(file); err != nil || !os.SameFile(now, before) {
				break
			}
		}
		_ = p.Process.Kill()
		_ = p.Wait()
	}
	p = spawn(t, binary, dir)
	_ = p.Process.Signal(syscall.SIGTERM)
	if err := p.Wait(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(file + ".new"); !os.IsNotExist(err) {
		t.Errorf("the temporary file is still there: %v", err)
	}
}
