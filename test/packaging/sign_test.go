//go:build e2e

package packaging

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// TestSignedChecksums checks that the checksums of a release are signed as docs/install.md verifies them, and
// that others are rejected.
func TestSignedChecksums(t *testing.T) {
	t.Parallel()
	testserver.Need(t, "ssh-keygen")
	folder := t.TempDir()
	run := func(stdin string, command ...string) (string, error) {
		cmd := exec.Command(command[0], command[1:]...)
		cmd.Dir, cmd.Stdin = folder, strings.NewReader(stdin)
		output, err := cmd.CombinedOutput()
		return string(output), err
	}
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const sums = "0123  urnd-1.0.0-linux-amd64.tar.gz\n"
	write("SHA256SUMS", sums)
	for _, command := range [][]string{
		{"ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "release", "-f", "key"},
		{filepath.Join(urndtest.Root(), "packaging", "sign"), "key", "SHA256SUMS"},
	} {
		if output, err := run("", command...); err != nil {
			t.Fatalf("%v: %v\n%s", command, err, output)
		}
	}
	public, err := os.ReadFile(filepath.Join(folder, "key.pub"))
	if err != nil {
		t.Fatal(err)
	}
	write("allowed_signers", "release@urnd.invalid "+string(public))
	verify := strings.Fields("ssh-keygen -Y verify -f allowed_signers -I release@urnd.invalid -n urnd-release -s " +
		"SHA256SUMS.sig")
	if output, err := run(sums, verify...); err != nil || !strings.Contains(output, "Good") {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := run("4567"+sums[4:], verify...); err == nil {
		t.Errorf("other checksums are verified:\n%s", output)
	}
}
