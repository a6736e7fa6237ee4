//go:build e2e

package packaging

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// TestRootActsAsOwner checks that commands of root leave no files that the daemon, which is another user,
// cannot use, even if that user could not access the directory, like a dynamic user, and if commands are
// killed.
func TestRootActsAsOwner(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("it is about root")
	}
	const daemon = 61234
	base, err := os.MkdirTemp("", "urnd") // that of t is inaccessible to other users
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(base) })
	// Only accessible to root, like /var/lib/private.
	binary, private := filepath.Join(base, "urnd"), filepath.Join(base, "private")
	dir := filepath.Join(private, "urnd")
	if err := errors.Join(copyProgram(urndtest.Binary(t), binary), os.Chmod(base, 0o755), os.Mkdir(private, 0o700),
		os.Mkdir(dir, 0o700), os.Chown(dir, daemon, daemon)); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "registry.db")
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(binary,
			append(append([]string{"registry"}, args...), "--config", "", "--store", "sqlite:"+path)...)
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
	if err := os.Chmod(private, 0o711); err != nil { // in a service, systemd gives its user access
		t.Fatal(err)
	}
	daemonRuns := startAs(t, daemon, binary, path)
	if err := os.Chmod(private, 0o700); err != nil {
		t.Fatal(err)
	}
	run("set", "urn:example:b", "--target", "https://example.org/b")
	run("set", "urn:example:c", "--document", "-")
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
		t.Errorf("the author is missing: %s", history)
	}
	daemonRuns.Stop()
	run("restore", backup)
	if uid := ownerOf(t, path); uid != daemon {
		t.Errorf("the restored file belongs to %d", uid)
	}
	run("get", "urn:example:c")
	if _, err := os.Stat(path + "-shm"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("files stay beside the database: %v", err)
	}
}

// startAs runs a daemon as another user.
func startAs(t *testing.T, user uint32, binary, path string) *urndtest.Daemon {
	t.Helper()
	command := exec.Command(binary, "serve", "--config", "", "--admin", "")
	command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	return urndtest.StartCommand(t, urndtest.OnLoopback(command, "URND_REGISTRY_STORE=sqlite:"+path))
}

// copyProgram copies the program to a place where other users can run it.
func copyProgram(from, to string) error {
	program, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, program, 0o755)
}

func ownerOf(t *testing.T, file string) uint32 {
	t.Helper()
	info, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return info.Sys().(*syscall.Stat_t).Uid
}
