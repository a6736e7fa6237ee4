package urndtest

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/urnd/urnd/internal/testserver"
)

// LoopbackZone contains names for loopback, because some programs use no proxy for localhost and 127.0.0.1.
const LoopbackZone = `
$TTL 60
@ SOA ns.elsewhere.test. admin.elsewhere.test. 1 3600 600 86400 60
@ NS  ns.elsewhere.test.
* A   127.0.0.1
`

// RunProgram runs a program in a folder with additional environment variables, and returns its output. The test
// fails if the program fails.
func RunProgram(t testing.TB, folder string, environment []string, program string, arguments ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), testserver.Need(t, program), arguments...)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), environment...)
	var out, log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &log
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", program, strings.Join(arguments, " "), err, out.String(), log.String())
	}
	return out.String()
}

// Curl runs curl through a proxy, and returns the header section of all responses, and the body.
func Curl(t testing.TB, proxy string, arguments ...string) (header string, body []byte) {
	t.Helper()
	folder := t.TempDir()
	RunProgram(t, folder, nil, "curl",
		append([]string{"-q", "-sS", "--noproxy", "", "--proxy", proxy, "-D", "header", "-o", "body"}, arguments...)...)
	body, err := os.ReadFile(filepath.Join(folder, "body"))
	if err != nil && !os.IsNotExist(err) { // no file is created without a body
		t.Fatal(err)
	}
	return ReadFile(t, filepath.Join(folder, "header")), body
}

// WriteOld writes a file that was last modified 20 days ago, with its folders.
func WriteOld(t testing.TB, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	modified := time.Now().Add(-20 * 24 * time.Hour)
	if err := os.Chtimes(path, modified, modified); err != nil {
		t.Fatal(err)
	}
}

// ReadFile returns the content of a file.
func ReadFile(t testing.TB, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// WantFile compares the content of a file.
func WantFile(t testing.TB, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s: %d bytes, %v, want %d others", filepath.Base(path), len(got), err, len(want))
	}
}

// RandomBytes returns n bytes, which are identical for the same n.
func RandomBytes(n int) []byte {
	b := make([]byte, n)
	random := rand.NewChaCha8([32]byte{byte(n)})
	_, _ = random.Read(b) // does not fail
	return b
}

const aptControl = `Package: urnd-tiny
Version: 1.0
Architecture: all
Maintainer: Nobody <nobody@clients.example.org>
Description: nothing but a file
`

// WriteAptRepository creates a repository with one package, urnd-tiny_1.0_all.deb, in a folder, and returns the
// package.
func WriteAptRepository(t testing.TB, folder string) (deb []byte) {
	t.Helper()
	tree := filepath.Join(t.TempDir(), "tiny")
	WriteOld(t, filepath.Join(tree, "DEBIAN/control"), []byte(aptControl))
	WriteOld(t, filepath.Join(tree, "usr/share/urnd-tiny/file"), RandomBytes(50_000))
	made := filepath.Join(t.TempDir(), "made.deb")
	RunProgram(t, "", nil, "dpkg-deb", "--root-owner-group", "--build", tree, made)
	deb = []byte(ReadFile(t, made))
	packages := fmt.Sprintf("%sFilename: pool/urnd-tiny_1.0_all.deb\nSize: %d\nSHA256: %x\n\n", aptControl, len(deb),
		sha256.Sum256(deb))
	WriteOld(t, filepath.Join(folder, "pool/urnd-tiny_1.0_all.deb"), deb)
	WriteOld(t, filepath.Join(folder, "Packages"), []byte(packages))
	release := fmt.Appendf(nil, "Date: Sat, 01 Jan 2022 00:00:00 UTC\nSHA256:\n %x %d Packages\n",
		sha256.Sum256([]byte(packages)), len(packages))
	WriteOld(t, filepath.Join(folder, "Release"), release)
	return deb
}

// NewAptMachine creates the folders of a machine whose apt uses one repository. It returns them with the
// options of apt-get for these folders and for the proxy of a scheme.
func NewAptMachine(t testing.TB, repository, scheme, proxy string) (root string, options []string) {
	t.Helper()
	root = t.TempDir()
	for _, folder := range []string{
		"etc/apt/apt.conf.d", "etc/apt/preferences.d", "var/lib/apt/lists/partial",
		"var/cache/apt/archives/partial", "var/lib/dpkg",
	} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	WriteOld(t, filepath.Join(root, "var/lib/dpkg/status"), nil)
	WriteOld(t, filepath.Join(root, "etc/apt/sources.list"), []byte("deb [trusted=yes] "+repository+" ./\n"))
	return root, []string{
		"-o", "Dir=" + root, "-o", "Dir::State::status=" + root + "/var/lib/dpkg/status", "-o",
		"Acquire::" + scheme + "::Proxy=" + proxy, "-o", "APT::Sandbox::User=", "-o", "Acquire::Languages=none", "-o",
		"Acquire::Retries=0", "-o", "Debug::NoLocking=1",
	}
}
