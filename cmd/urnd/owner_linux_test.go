package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Root's commands leave nothing that the daemon, which is another user, cannot use; also where that
// user could not even come to the directory, as of a dynamic user, and where they are killed.
func TestRootActsAsOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("it is about root")
	}
	const daemon = 61234
	base, err := os.MkdirTemp("", "urnd") // that of t is closed to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	buildIn(t, base)
	binary, private := filepath.Join(base, "urnd"), filepath.Join(base, "private") // root's alone, as /var/lib/private
	dir := filepath.Join(private, "urnd")
	if err := errors.Join(os.Chmod(base, 0o755), os.Mkdir(private, 0o700), os.Mkdir(dir, 0o700), os.Chown(dir, daemon, daemon)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "registry.db")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(binary, append(append([]string{"registry"}, args...), "--config", "", "--store", "sqlite:"+path)...)
		cmd.Env = append(os.Environ(), "SUDO_USER=")
		cmd.Stdin = strings.NewReader(`{"targets":[{"uri":"https://example.org/c"}]}`)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%q: %v: %s", args, err, out)
		}
		return string(out)
	}
	run("set", "urn:example:a", "--target", "https://example.org/a")
	run("stats")
	if err := os.Chmod(private, 0o711); err != nil { // in a service, systemd lets its user in
		t.Fatal(err)
	}
	daemonRuns := startAs(t, daemon, binary, path)
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	run("set", "urn:example:b", "--target", "https://example.org/b")
	run("set", "urn:example:c", "--json", "-")
	backup := filepath.Join(private, "backup.db")
	run("backup", backup)
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) < 3 {
		t.Errorf("there are %q, %v; want the files beside the database too", files, err)
	}
	for _, file := range files {
		if uid := ownerOf(t, file); uid != daemon {
			t.Errorf("%s belongs to %d", file, uid)
		}
		if info, err := os.Stat(file); err != nil || info.Mode() != 0o600 {
			t.Errorf("%s: %v, %v; want a file for its owner alone", file, info.Mode(), err)
		}
	}
	if uid := ownerOf(t, backup); uid != 0 {
		t.Errorf("a backup in root's directory belongs to %d", uid)
	}
	if history := run("history", "urn:example:b"); !strings.Contains(history, "root") {
		t.Errorf("who did it is not said: %s", history)
	}
	_ = daemonRuns.Process.Signal(syscall.SIGTERM)
	_ = daemonRuns.Wait()
	run("restore", backup)
	if uid := ownerOf(t, path); uid != daemon {
		t.Errorf("what was restored belongs to %d", uid)
	}
	run("get", "urn:example:c")
	if _, err := os.Stat(path + "-shm"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files stay beside the database: %v", err)
	}
}

// startAs runs a daemon as another user.
func startAs(t *testing.T, user uint32, binary, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(binary, "serve", "--config", "", "--listen", "127.0.0.1:0", "--admin", "")
	cmd.Env = append(os.Environ(), "URND_DNS_SERVERS=127.0.0.1:9", "URND_LOG_FORMAT=text", "URND_REGISTRY_STORE=sqlite:"+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	var log []byte
	buffer := make([]byte, 4096)
	for !strings.Contains(string(log), "urnd is ready") {
		n, err := stderr.Read(buffer)
		log = append(log, buffer[:n]...)
		if err != nil {
			t.Fatalf("urnd ended: %s", log)
		}
	}
	go func() { _, _ = stderr.Read(buffer) }()
	return cmd
}

func ownerOf(t *testing.T, file string) uint32 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}
