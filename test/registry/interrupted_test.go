//go:build e2e

package registry

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/urnd/urnd/test/urndtest"
)

// fifo creates a named pipe at which writer and reader wait for each other.
func fifo(t *testing.T, path string) string {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// command is a command of urnd that a test interrupts, with its standard error by line.
type command struct {
	*exec.Cmd
	messages *bufio.Reader
	seen     strings.Builder
}

func begin(t *testing.T, args ...string) *command {
	t.Helper()
	c := &command{Cmd: exec.CommandContext(t.Context(), urndtest.Binary(t), args...)}
	messages, err := c.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	c.messages = bufio.NewReader(messages)
	return c
}

// interrupt interrupts the command like a terminal, and returns when the command has noticed it.
func (c *command) interrupt(t *testing.T) {
	t.Helper()
	if err := c.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for {
		line, err := c.messages.ReadString('\n')
		c.seen.WriteString(line)
		if line == "urnd: interrupted, stopping\n" {
			return
		}
		if err != nil {
			t.Errorf("it was not interrupted, but wrote %s", c.seen.String())
			return
		}
	}
}

// ends checks that the command ends with status 1, and returns its message.
func (c *command) ends(t *testing.T) string {
	t.Helper()
	rest, _ := io.ReadAll(c.messages)
	err := c.Wait()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%v, and it wrote %s%s", err, c.seen.String(), rest)
	}
	return string(rest)
}

// TestInterruptedAtDigest: backups are compared with their digest before they are verified or restored. A
// command interrupted meanwhile leaves everything unchanged.
func TestInterruptedAtDigest(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	backup := filepath.Join(dir, "backup.db")
	at := "--store=sqlite:" + filepath.Join(dir, "names.db")
	for _, args := range [][]string{{"set", "urn:example:a", "--target", "https://example.org/a"}, {"backup", backup}} {
		if out, err := urndtest.Run(t, "", append(append([]string{"registry"}, args...), at)...); err != nil {
			t.Fatalf("%s: %s, %v", args, out, err)
		}
	}
	digest, err := os.ReadFile(backup + ".sha256")
	if err != nil {
		t.Fatal(err)
	}
	for name, stands := range map[string]string{
		"verify":  "interrupted: 0 problems were found so far, and nothing was changed; the same command starts over",
		"restore": "interrupted: nothing was restored, and the registry is unchanged; the same command starts over",
	} {
		if err := os.Remove(backup + ".sha256"); err != nil {
			t.Fatal(err)
		}
		fifo(t, backup+".sha256")
		c := begin(t, "registry", name, backup, at)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		f, err := os.OpenFile(backup+".sha256", os.O_WRONLY, 0) // when the command opens it, too
		if err != nil {
			t.Fatal(err)
		}
		c.interrupt(t)
		if _, err := f.Write(digest); err != nil || f.Close() != nil {
			t.Errorf("%s does not read the digest: %v", name, err)
		}
		if rest := c.ends(t); !strings.Contains(rest, stands) {
			t.Errorf("%s: it wrote %s, want %q", name, rest, stands)
		}
		if out, err := urndtest.Run(t, "", "registry", "get", "urn:example:a", at); err != nil ||
			!strings.Contains(out, "https://example.org/a") {
			t.Errorf("%s: the registry has %s, %v", name, out, err)
		}
	}
}

// TestInterruptedWithin checks that completed work is kept if a command is interrupted while its output is not
// read, or while it waits for input.
func TestInterruptedWithin(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	at := "--store=sqlite:" + filepath.Join(dir, "names.db")
	const n = 6000 // the findings and exports exceed a pipe and the buffers in between
	var table strings.Builder
	table.WriteString("name,target\n")
	for i := range n {
		fmt.Fprintf(&table, "urn:example:%05d,http://example.org/%d\n", i, i)
	}
	if out, err := urndtest.Run(t, table.String(), "registry", "import", "-", at); err != nil {
		t.Fatalf("%s, %v", out, err)
	}
	for args, stands := range map[string]string{
		"check --hints":    "names and prefixes: errors 0, warnings ",
		"export":           "interrupted: the output is incomplete; the same command starts over",
		"search --limit 0": "found; continue with --after 'urn:example:",
	} {
		t.Run(args, func(t *testing.T) {
			c := begin(t, append([]string{"registry"}, append(strings.Fields(args), at)...)...)
			out, err := c.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.ReadFull(out, make([]byte, 1)); err != nil { // it has begun to print, and blocks soon
				t.Fatal(err)
			}
			c.interrupt(t)
			if rest, err := io.ReadAll(out); err != nil ||
				strings.Contains(string(rest), fmt.Sprintf("urn:example:%05d", n-1)) {
				t.Errorf("it has printed all, %v", err)
			}
			if rest := c.ends(t); !strings.Contains(rest, stands) {
				t.Errorf("it wrote %s, want %q", rest, stands)
			}
		})
	}
	// Exceeds a pipe, so that writing it shows that the command is reading.
	lines := strings.Repeat("nonsense\n", 20_000)
	for _, tt := range []struct{ args, input, stands string }{
		{
			"registry import " + at + " -", table.String(),
			"0 names from standard input were written; import the same input again, equal entries do not change",
		},
		{"uri parse -", lines, "interrupted: the output covers the first %d lines: continue with line %d"},
		{"resolve -", lines, "interrupted: the output covers the first %d lines: continue with line %d"},
	} {
		t.Run(tt.args, func(t *testing.T) {
			c := begin(t, strings.Fields(tt.args)...)
			var out strings.Builder
			c.Stdout = &out
			in, err := c.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			if err := c.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := io.WriteString(in, tt.input); err != nil {
				t.Fatal(err)
			}
			c.interrupt(t)
			rest := c.ends(t)
			if strings.Contains(tt.stands, "%d") {
				n := strings.Count(out.String(), "\n")
				tt.stands = fmt.Sprintf(tt.stands, n, n+1)
			}
			if !strings.Contains(rest, tt.stands) {
				t.Errorf("it wrote %s, want %q", rest, tt.stands)
			}
		})
	}
}
