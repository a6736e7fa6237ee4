package main

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
)

// example is one command of the README, and lines of its output.
type example struct {
	command string
	output  []string
}

// examples returns the commands of the "console" blocks of a Markdown file.
func examples(t *testing.T, path string) []example {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found []example
	for _, block := range regexp.MustCompile("(?s)```console\n(.*?)```").FindAllSubmatch(text, -1) {
		for line := range strings.Lines(string(block[1])) {
			line = strings.TrimSuffix(line, "\n")
			if command, ok := strings.CutPrefix(line, "$ "); ok {
				found = append(found, example{command: command})
				continue
			}
			last := &found[len(found)-1]
			last.output = append(last.output, line)
		}
	}
	return found
}

// writeFiles writes the "yaml" blocks of a Markdown file that begin with the name of a file into a
// folder.
func writeFiles(t *testing.T, path, folder string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range regexp.MustCompile("(?s)```yaml\n(# (\\w+\\.yaml)\n.*?)```").FindAllSubmatch(text, -1) {
		if err := os.WriteFile(filepath.Join(folder, string(block[2])), block[1], 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// build returns a folder that holds the binary urnd.
func build(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	buildIn(t, dir)
	return dir
}

// buildIn makes the binary urnd in a folder.
func buildIn(t testing.TB, dir string) {
	t.Helper()
	out, err := exec.Command("go", "build", "-pgo=off", "-o", filepath.Join(dir, "urnd"), ".").CombinedOutput()
	if err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// startBinary runs "urnd serve" and returns its addresses, from the
// log record that says it is ready.
func startBinary(t *testing.T, dir string, environment ...string) (service, admin string) {
	t.Helper()
	cmd := exec.Command(filepath.Join(dir, "urnd"), "serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0")
	cmd.Env = append(os.Environ(), "URND_LOG_FORMAT=text", "URND_DNS_SERVERS=127.0.0.1:9") // nobody listens there
	cmd.Env = append(cmd.Env, environment...)
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	log := bufio.NewReader(stderr)
	var fields []string
	for fields == nil {
		line, err := log.ReadString('\n')
		if err != nil {
			t.Fatalf("urnd serve said %q: %v", line, err)
		}
		fields = regexp.MustCompile(`msg="urnd is ready" service=(\S+) tls=off admin=(\S+)`).FindStringSubmatch(line)
	}
	rest := make(chan string, 1)
	go func() {
		text, _ := io.ReadAll(log)
		rest <- string(text)
	}()
	t.Cleanup(func() {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Error(err)
		}
		text := <-rest
		if err := cmd.Wait(); err != nil || !strings.Contains(text, "urnd has stopped") {
			t.Errorf("urnd serve ended with %v, after %q", err, text)
		}
	})
	return fields[1], fields[2]
}

// Every command of the README runs and prints the lines shown there, in their order; it
// may print others between them.
func TestREADME(t *testing.T) {
	testserver.Need(t, "curl")
	testserver.Need(t, "nc")
	dir := build(t)
	folder := t.TempDir()
	service, admin := startBinary(t, dir, "URND_REGISTRY_STORE=sqlite:"+filepath.Join(folder, "names.db"))
	place := strings.NewReplacer("127.0.0.1:8141", service, "127.0.0.1 8141", strings.ReplaceAll(service, ":", " "), "127.0.0.1:8142", admin)
	writeFiles(t, "../../docs/operations.md", folder)
	found := slices.Concat(examples(t, "../../README.md"), examples(t, "../../docs/services.md"), examples(t, "../../docs/operations.md"), examples(t,
		"../../docs/squid.md"), examples(t, "../../docs/proxy.md"))
	if len(found) < 15 {
		t.Fatalf("only %d examples", len(found))
	}
	for _, e := range found {
		cmd := exec.Command("sh", "-c", place.Replace(e.command))
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // some commands fail, and the README says so
		got := strings.Split(strings.ReplaceAll(out.String(), "\r", ""), "\n")
		for _, want := range e.output {
			for len(got) > 0 && got[0] != want {
				got = got[1:]
			}
			if len(got) == 0 {
				t.Errorf("$ %s\nprints no line %q:\n%s", e.command, want, out.String())
				break
			}
		}
	}
}
