//go:build e2e

package packaging

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// example is a command in the README with lines of its output.
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

// writeFiles writes the "yaml" blocks of a Markdown file that begin with a file name to a folder.
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

// TestREADME checks that every command in the README runs and prints the lines shown there, in order; it may
// print other lines in between.
func TestREADME(t *testing.T) {
	t.Parallel()
	testserver.Need(t, "curl")
	folder, programs := t.TempDir(), t.TempDir()
	if err := os.Symlink(urndtest.Binary(t), filepath.Join(programs, "urnd")); err != nil {
		t.Fatal(err)
	}
	urnd, second := urndtest.StartFile(t, ""), urndtest.FreeAddress(t)
	service, admin := strings.TrimPrefix(urnd.URL, "http://"), strings.TrimPrefix(urnd.Admin, "http://")
	place := strings.NewReplacer("127.0.0.1:8141", service, "127.0.0.1:8142", admin, "127.0.0.1:8151", second,
		"127.0.0.1:8152", "127.0.0.1:0")
	documents := filepath.Join(urndtest.Root(), "docs")
	writeFiles(t, filepath.Join(documents, "operations.md"), folder)
	found := examples(t, filepath.Join(urndtest.Root(), "README.md"))
	for _, name := range []string{
		"requests.md", "commands.md", "services.md", "operations.md", "squid.md",
		"proxy.md",
	} {
		found = append(found, examples(t, filepath.Join(documents, name))...)
	}
	if len(found) < 15 {
		t.Fatalf("only %d examples", len(found))
	}
	shell := func(command string) *exec.Cmd {
		cmd := exec.Command("sh", "-c", place.Replace(command))
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PATH="+programs+":"+os.Getenv("PATH"))
		return cmd
	}
	hasSecond := false
	for _, e := range found {
		if !hasSecond && strings.Contains(e.command, "127.0.0.1:8151") {
			startSecond(t, shell, second)
			hasSecond = true
		}
		cmd := shell(e.command)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		_ = cmd.Run() // some commands fail as documented
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
	if !hasSecond {
		t.Error("no command asks the urnd with a registry")
	}
	urnd.Stop()
	if urnd.TLS != "off" || !strings.Contains(urnd.Log(), `"msg":"urnd has stopped"`) {
		t.Errorf("TLS is %s, and the log ends otherwise", urnd.TLS)
	}
}

// startSecond starts the urnd with a registry that the README runs beside that of make run.
func startSecond(t *testing.T, shell func(command string) *exec.Cmd, address string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(urndtest.Root(), "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^(URND_\S+) (urnd serve .*)$`).FindSubmatch(text)
	if line == nil {
		t.Fatal("the README starts no urnd with a registry")
	}
	second := shell(string(line[1]) + " exec " + string(line[2]))
	if err := second.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = second.Process.Kill(); _ = second.Wait() })
	testserver.Wait(t, "the second urnd listens", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
}
