//go:build e2e

package registry

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// drillLine is a command in a document with its output.
type drillLine struct{ command, output string }

// drill returns the commands of a section of docs/registry-operations.md.
func drill(t *testing.T, title string) (lines []drillLine) {
	t.Helper()
	_, section, found := strings.Cut(urndtest.ReadFile(t,
		filepath.Join(urndtest.Root(), "docs/registry-operations.md")), "\n## "+title+"\n")
	if !found {
		t.Fatalf("no section %q", title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	inside := false
	for line := range strings.Lines(section) {
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
		case inside && isCommand:
			lines = append(lines, drillLine{command: strings.TrimSpace(command)})
		case inside:
			lines[len(lines)-1].output += line
		}
	}
	return lines
}

// TestDisasterDrill checks that the disaster drill works as documented.
func TestDisasterDrill(t *testing.T) {
	t.Parallel()
	lines := drill(t, "A disaster drill")
	if len(lines) < 10 {
		t.Fatalf("there are %d commands", len(lines))
	}
	const mark = "=== "
	var script strings.Builder
	for _, line := range lines {
		script.WriteString("echo '" + mark + "'\n" + line.command + "\n")
	}
	bin := t.TempDir()
	if err := os.Symlink(urndtest.Binary(t), filepath.Join(bin, "urnd")); err != nil {
		t.Fatal(err)
	}
	shell := exec.CommandContext(t.Context(), "sh", "-e")
	shell.Dir, shell.Stdin = t.TempDir(), strings.NewReader(script.String())
	shell.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	for i, got := range strings.Split(string(out), mark+"\n")[1:] {
		if got != lines[i].output {
			t.Errorf("$ %s\n%swhere the document has\n%s", lines[i].command, got, lines[i].output)
		}
	}
}
