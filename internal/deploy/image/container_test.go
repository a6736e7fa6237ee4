package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"

	"github.com/urnd/urnd/internal/testserver"
)

// content is a file of an image.
type content struct {
	text  string
	mode  int64
	owner int
}

// contents returns the files of an image.
func contents(t *testing.T, image v1.Image) map[string]content {
	t.Helper()
	stream := mutate.Extract(image)
	defer stream.Close()
	files := make(map[string]content)
	for archive := tar.NewReader(stream); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		var text []byte
		if err == nil {
			text, err = io.ReadAll(archive)
		}
		if err != nil {
			t.Fatal(err)
		}
		files[header.Name] = content{string(text), header.Mode, header.Uid}
	}
}

// podman returns a podman command with its own store. If the machine has control groups of both versions, which
// crun does not support, the command gets its own mount namespace for them.
func podman(t *testing.T, store string, arguments ...string) *exec.Cmd {
	t.Helper()
	const script = `if [ -d /sys/fs/cgroup/unified ]; then mount -t cgroup2 none /sys/fs/cgroup; fi; exec "$@"`
	program := []string{
		testserver.Need(t, "podman"), "--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run"),
		"--storage-driver", "vfs", "--cgroup-manager", "cgroupfs", "--events-backend", "none",
	}
	return exec.Command(testserver.Need(t, "unshare"),
		append(append([]string{"--mount", "sh", "-c", script, "sh"}, program...), arguments...)...)
}

// confined returns the options of an unprivileged container. It shares the network of the machine, of which it
// only uses loopback, and has no control group of its own; its limits need no privileges.
func confined(name string) []string {
	return []string{
		"run", "--rm", "--name", name, "--pull", "never", "--network", "host", "--cgroups", "disabled", "--ulimit",
		"nofile=4096:4096", "--ulimit", "nproc=4096:4096", "--read-only", "--cap-drop", "all", "--security-opt",
		"no-new-privileges",
	}
}

// needContainers skips the test with a reason if this machine cannot run containers.
func needContainers(t *testing.T, store, image string) {
	t.Helper()
	testserver.Need(t, "crun")
	if os.Getuid() != 0 {
		t.Skip("only root can have a mount namespace of its own")
	}
	out, err := podman(t, store, append(confined("urnd-test-version"), image, "version")...).CombinedOutput()
	switch {
	case err == nil && strings.Contains(string(out), "urnd "):
	case bytes.Contains(out, []byte("not permitted")) || bytes.Contains(out, []byte("cgroup")):
		t.Skipf("podman cannot run a container on this machine: %v\n%s", err, out)
	default:
		t.Fatalf("the image does not run: %v\n%s", err, out)
	}
}

// imageOfUrnd builds the image of urnd.
func imageOfUrnd(t *testing.T) string {
	t.Helper()
	dir := directoryOf(t, "")
	build := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(dir, "urnd"), "./cmd/urnd")
	build.Dir = "../../.."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("building urnd: %v\n%s", err, out)
	}
	image, _ := makeImage(t, "linux/"+runtime.GOARCH+"="+dir)
	// podman interprets the path as an image name, which must be in lower case.
	small, err := os.MkdirTemp("", "urnd-image-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(small) })
	if err := os.CopyFS(small, os.DirFS(image)); err != nil {
		t.Fatal(err)
	}
	return "oci:" + small + ":1.0"
}

// TestContainer checks that the image runs without privileges, responds, becomes ready, and ends at SIGTERM.
func TestContainer(t *testing.T) {
	store, image := t.TempDir(), imageOfUrnd(t)
	needContainers(t, store, image)
	check := podman(t, store, append(confined("urnd-test-check"), image, "config", "check", "/etc/urnd/urnd.yaml")...)
	if out, err := check.CombinedOutput(); err != nil || bytes.Contains(out, []byte("warning")) {
		t.Errorf("the configuration that is in the image: %v\n%s", err, out)
	}
	service, admin := free(t), free(t)
	config := filepath.Join(t.TempDir(), "urnd.yaml")
	text := fmt.Sprintf("listen: {service: ['%s'], admin: '%s'}\nlimits: {drain_time: 0s}\n", service, admin)
	if err := os.WriteFile(config, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	name := "urnd-test-" + strconv.Itoa(os.Getpid())
	command := podman(t, store, append(confined(name), "--volume", config+":/etc/urnd/urnd.yaml:ro", image)...)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	t.Cleanup(func() { _ = podman(t, store, "rm", "--force", "--time", "0", name).Run() }) // if the test has failed
	testserver.Wait(t, "urnd is ready", func() bool {
		status, _ := get(t, admin, "/readyz")
		return status == http.StatusOK
	})
	if status, location := get(t, service, "/urn:ietf:rfc:2648"); status != http.StatusFound ||
		!strings.Contains(location, "rfc2648") {
		t.Errorf("the name is answered %d %s", status, location)
	}
	checkProcess(t, store, name)
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	testserver.Within(t, "the container", func() {
		if err := <-ended; err != nil {
			t.Errorf("it has ended by %v", err)
		}
	})
	if !strings.Contains(output.String(), "urnd has stopped") {
		t.Errorf("it has ended without a word:\n%s", output.String())
	}
}

// checkProcess checks that a container has no privileges.
func checkProcess(t *testing.T, store, name string) {
	t.Helper()
	pid, err := podman(t, store, "inspect", "--format", "{{.State.Pid}}", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile(filepath.Join("/proc", strings.TrimSpace(string(pid)), "status"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nUid:\t65532\t65532\t65532\t65532\n", "\nCapEff:\t0000000000000000\n", "\nCapBnd:\t0000000000000000\n",
		"\nNoNewPrivs:\t1\n", "\nSeccomp:\t2\n",
	} {
		if !bytes.Contains(status, []byte(want)) {
			t.Errorf("the process has no %q:\n%s", want, status)
		}
	}
}

// get requests a path and returns the status and Location.
func get(t *testing.T, address, path string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+address+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return 0, ""
	}
	defer response.Body.Close()
	return response.StatusCode, response.Header.Get("Location")
}

// free returns an unused address.
func free(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
