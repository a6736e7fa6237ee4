package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestMain builds urnd, with which all tests check configurations.
func TestMain(m *testing.M) {
	status := func() int {
		dir, err := os.MkdirTemp("", "urnd-deploy-")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		if err := os.Setenv(directoryVariable, dir); err != nil {
			panic(err)
		}
		return m.Run()
	}()
	os.Exit(status)
}

// directoryVariable names the directory of the program under test.
const directoryVariable = "DEPLOY_TEST_DIRECTORY"

// built builds the program once, in the directory of the tests. The build is the same as in the tests of
// cmd/urnd, so that both use the build cache.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(os.Getenv(directoryVariable), "urnd")
	build := exec.Command("go", "build", "-pgo=off", "-o", path, "./cmd/urnd")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	if err != nil {
		return string(out), err
	}
	return path, nil
})

// root is the root of the repository.
const root = "../.."

// program returns the path of urnd.
func program(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("building urnd: %v\n%s", err, path)
	}
	return path
}

// environment returns an environment without settings.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH")}, more...)
}

// configured is a configuration of urnd with secrets in a directory of the test.
type configured struct {
	path    string
	secrets map[string]string // files in the directory of secrets, by name
}

// configure writes a configuration. It creates each file that the text names in the directory of secrets, and
// replaces its path.
func configure(t *testing.T, text, secrets string) configured {
	t.Helper()
	c := configured{path: filepath.Join(t.TempDir(), "urnd.yaml"), secrets: make(map[string]string)}
	for _, part := range strings.Split(text, secrets)[1:] {
		name := part[:strings.IndexAny(part+"\n", "\n'\" }")]
		c.secrets[name] = write(t, filepath.Join(t.TempDir(), name), strings.Repeat("secret of the test", 4))
		text = strings.ReplaceAll(text, secrets+name, c.secrets[name])
	}
	write(t, c.path, text)
	return c
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// check fails the test if urnd reports errors or warnings for the configuration with this memory limit.
func (c configured) check(t *testing.T, memory string) {
	t.Helper()
	command := exec.Command(program(t), "config", "check", c.path)
	command.Env = environment("URND_LIMITS_MEMORY=" + memory)
	out, err := command.CombinedOutput()
	if err != nil || strings.Contains(string(out), "warning") {
		t.Errorf("urnd config check: %v\n%s", err, out)
	}
}

// settings returns the effective settings by name.
func (c configured) settings(t *testing.T) map[string]string {
	t.Helper()
	command := exec.Command(program(t), "config", "show", "--all", "--origin", "--config", c.path)
	command.Env = environment()
	out, err := command.Output()
	if err != nil {
		t.Fatalf("urnd config show: %v\n%s", err, out)
	}
	all := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		line, _, _ = strings.Cut(line, " (") // omits the source of the value
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		all[name] = strings.TrimSpace(value)
	}
	return all
}

// stopping returns the maximum time that urnd takes to stop.
func (c configured) stopping(t *testing.T) time.Duration {
	t.Helper()
	var sum time.Duration
	settings := c.settings(t)
	for _, name := range []string{"limits.notice_time", "limits.drain_time", "limits.shutdown_timeout"} {
		d, err := time.ParseDuration(settings[name])
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		sum += d
	}
	return sum
}
