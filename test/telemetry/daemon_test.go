package telemetry

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// binary is the environment variable that names the program.
const binary = "URND_BINARY"

func TestMain(m *testing.M) {
	if os.Getenv(binary) != "" {
		os.Exit(m.Run())
	}
	status, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		status = 1
	}
	os.Exit(status)
}

// buildAndRun runs the tests with a program built for them.
func buildAndRun(m *testing.M) (status int, err error) {
	directory, err := os.MkdirTemp("", "urnd-telemetry")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(directory)
	path := filepath.Join(directory, "urnd")
	build := exec.Command("go", "build", "-pgo=off", "-o", path, "./cmd/urnd")
	build.Dir = "../.." // folder of its module
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("building urnd: %w\n%s", err, out)
	}
	if err := os.Setenv(binary, path); err != nil {
		return 0, err
	}
	return m.Run(), nil
}

// urnd returns a command of the program without settings in its environment.
func urnd(arguments ...string) *exec.Cmd {
	command := exec.Command(os.Getenv(binary), arguments...)
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "URND_") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// configure writes a configuration that traces one request in a thousand, and those sampled by their client,
// and returns its file.
func configure(t *testing.T, collector, more string) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "urnd.yaml")
	text := "listen: {service: ['127.0.0.1:0'], admin: ''}\nlog: {format: json}\ndns: {servers: ['127.0.0.1:9'], " +
		"timeout: 1s, rounds: 1}\n" +
		"telemetry: {endpoint: '" + collector + "', sample: 1000}\n" + more
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// daemon is a process of urnd.
type daemon struct {
	url     string
	command *exec.Cmd
	log     strings.Builder
	logged  chan struct{} // closed when the log is complete
}

// start starts urnd with a configuration and waits until it is ready. It ends with the test.
func start(t *testing.T, file string) *daemon {
	t.Helper()
	d := &daemon{command: urnd("serve", "--config", file), logged: make(chan struct{})}
	stderr, err := d.command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go d.read(stderr, ready)
	t.Cleanup(func() {
		_ = d.command.Process.Kill() // it has ended unless the test has failed
		<-d.logged
		_ = d.command.Wait()
	})
	select {
	case address := <-ready:
		d.url = "http://" + address
	case <-d.logged:
		t.Fatalf("urnd has ended:\n%s", d.log.String())
	}
	return d
}

// read reads the log, and sends the address of the service once urnd is ready.
func (d *daemon) read(stderr io.Reader, ready chan<- string) {
	defer close(d.logged)
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		d.log.WriteString(lines.Text() + "\n")
		var reported struct{ Msg, Service string }
		if json.Unmarshal(lines.Bytes(), &reported) == nil && reported.Msg == "urnd is ready" {
			ready <- reported.Service
		}
	}
}

// stop stops urnd, and waits until it has sent all spans.
func (d *daemon) stop(t *testing.T) {
	t.Helper()
	if err := d.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	<-d.logged
	if err := d.command.Wait(); err != nil {
		t.Errorf("%v\n%s", err, d.log.String())
	}
}

// get sends a request with a traceparent, "" for none, which is redirected.
func (d *daemon) get(t *testing.T, path, traceparent string) {
	t.Helper()
	request, err := http.NewRequest(http.MethodGet, d.url+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	if traceparent != "" {
		request.Header.Set("Traceparent", traceparent)
	}
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusFound {
		t.Fatalf("%s: %s", path, response.Status)
	}
}
