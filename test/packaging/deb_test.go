//go:build e2e

package packaging

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/urnd/urnd/internal/testserver"
	"github.com/urnd/urnd/test/urndtest"
)

// debian is the package and the folder of its unpacked files.
type debian struct{ file, root string }

// madePackage builds the package once. It uses gzip, which takes a tenth of the time, and no profile of the
// program, which would cause all dependencies to be compiled again.
var madePackage = sync.OnceValues(func() (debian, error) { //nolint:gochecknoglobals // only used by tests
	dist := filepath.Join(urndtest.Root(), "dist")
	config, err := os.ReadFile(filepath.Join(urndtest.Root(), "packaging", "nfpm.yaml"))
	if err != nil {
		return debian{}, err
	}
	if !strings.Contains(string(config), "\ndeb:\n  compression: xz\n") {
		return debian{}, errors.New("the package is not compressed by xz, which every Debian can unpack")
	}
	file, err := os.CreateTemp("", "nfpm-*.yaml")
	if err != nil {
		return debian{}, err
	}
	defer os.Remove(file.Name())
	_, err = file.WriteString(strings.ReplaceAll(string(config), "compression: xz", "compression: gzip"))
	if err = errors.Join(err, file.Close()); err != nil {
		return debian{}, err
	}
	make := exec.Command("make", "-s", "-C", urndtest.Root(), "deb", "NFPM_CONFIG="+file.Name(), "PGO=off")
	if out, err := make.CombinedOutput(); err != nil {
		return debian{}, fmt.Errorf("make deb: %w: %s", err, out)
	}
	found, err := filepath.Glob(filepath.Join(dist, "urnd_*.deb"))
	if err != nil || len(found) != 1 {
		return debian{}, fmt.Errorf("packages %q, %w", found, err)
	}
	p := debian{found[0], filepath.Join(dist, "unpacked")}
	if out, err := exec.Command("dpkg-deb", "--extract", p.file, p.root).CombinedOutput(); err != nil {
		return debian{}, fmt.Errorf("dpkg-deb: %w: %s", err, out)
	}
	return p, nil
})

// debianPackage returns the package.
func debianPackage(t *testing.T) debian {
	t.Helper()
	testserver.Need(t, "dpkg-deb")
	p, err := madePackage()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestDebianPackage checks that the package contains the expected files, that lintian accepts it, and that its
// program runs with its configuration.
func TestDebianPackage(t *testing.T) {
	t.Parallel()
	p := debianPackage(t)
	checkPackageVersion(t, p.file)
	for path, message := range map[string]string{
		"etc/urnd/urnd.yaml": "every setting of urnd",
		"lib/systemd/system/urnd.service": "ExecStart=/usr/bin/urnd serve --config " +
			"/etc/urnd/urnd.yaml",
		"lib/systemd/system/urnd.socket":                    "FileDescriptorName=http",
		"lib/systemd/system/urnd-https.socket":              "FileDescriptorName=https",
		"usr/share/doc/urnd/README.md":                      "# urnd",
		"usr/share/doc/urnd/docs/operations.md":             "systemctl",
		"usr/share/doc/urnd/docs/monitoring/alerts.yaml":    "alert:",
		"usr/share/doc/urnd/docs/monitoring/dashboard.json": "panels",
		"usr/share/man/man1/urnd.1.gz":                      "EXIT STATUS",
		"usr/share/man/man1/urnd-resolve.1.gz":              "standard input",
		"usr/share/man/man1/urnd-serve.1.gz":                "--config",
		"usr/share/man/man5/urnd.yaml.5.gz":                 "limits.memory",
		"usr/share/bash-completion/completions/urnd":        "__start_urnd",
		"usr/share/zsh/vendor-completions/_urnd":            "#compdef urnd",
		"usr/share/fish/vendor_completions.d/urnd.fish":     "complete -c urnd",
		"usr/share/doc/urnd/copyright":                      "Apache-2.0",
		"usr/share/doc/urnd/changelog.Debian.gz":            "urnd (" + urndtest.Version(t) + "-1) ",
		"usr/share/lintian/overrides/urnd":                  "statically-linked-binary",
		"etc/logrotate.d/urnd":                              "systemctl kill --signal=HUP",
	} {
		if text := readUnpacked(t,
			filepath.Join(p.root, path)); !strings.Contains(strings.ReplaceAll(text, `\`, ""), message) {
			t.Errorf("%s does not say %q", path, message)
		}
	}
	if out, err := exec.Command("dpkg-deb", "--info", p.file,
		"conffiles").Output(); err != nil || string(out) != "/etc/logrotate.d/urnd\n/etc/urnd/urnd.yaml\n" {
		t.Errorf("configuration files %q, %v", out, err)
	}
	checkManual(t, filepath.Join(p.root, "usr/share/man/man1"))
	checkNotices(t, filepath.Join(p.root, "usr/bin/urnd"),
		readUnpacked(t, filepath.Join(p.root, "usr/share/doc/urnd/notices.gz")))
	checkHomepage(t, p.file)
	if lintian, err := exec.LookPath("lintian"); err == nil {
		if out, err := exec.Command(lintian, "--allow-root", "--fail-on", "error,warning",
			p.file).CombinedOutput(); err != nil || len(bytes.TrimSpace(out)) > 0 {
			t.Errorf("lintian: %v\n%s", err, out)
		}
	}
	command := exec.Command(filepath.Join(p.root, "usr/bin/urnd"), "serve", "--config",
		filepath.Join(p.root, "etc/urnd/urnd.yaml"))
	if got := urndtest.StartCommand(t, urndtest.OnLoopback(command)).Get(t,
		"/urn:ietf:rfc:2648"); got.Location != "https://www.rfc-editor.org/info/rfc2648" {
		t.Errorf("%+v", got)
	}
}

// checkPackageVersion checks that a package has the current version.
func checkPackageVersion(t *testing.T, deb string) {
	t.Helper()
	version, err := exec.Command("dpkg-deb", "--field", deb, "Version").Output()
	got := strings.TrimSpace(string(version))
	if err != nil || got != urndtest.Version(t)+"-1" || !strings.HasPrefix(filepath.Base(deb), "urnd_"+got+"_") {
		t.Errorf("%s has the version %q, %v", deb, got, err)
	}
}

// checkManual checks that urnd(1) lists the pages of all commands.
func checkManual(t *testing.T, directory string) {
	t.Helper()
	pages, err := filepath.Glob(directory + "/urnd-*.1.gz")
	if err != nil || len(pages) < 20 {
		t.Errorf("pages %q, %v", pages, err)
	}
	_, also, _ := strings.Cut(strings.ReplaceAll(readUnpacked(t, directory+"/urnd.1.gz"), `\`, ""), ".SH SEE ALSO")
	for _, page := range pages {
		name := strings.TrimSuffix(filepath.Base(page), ".1.gz")
		if !strings.Contains(also, "fB"+name+"fP(1)") {
			t.Errorf("urnd(1) does not name %s under SEE ALSO", name)
		}
	}
}

// checkNotices checks that the notices contain the licences of all modules in a binary.
func checkNotices(t *testing.T, binary, notices string) {
	t.Helper()
	info, err := buildinfo.ReadFile(binary)
	if err != nil || len(info.Deps) < 30 {
		t.Fatalf("%v, %v", info, err)
	}
	for _, module := range info.Deps {
		_, text, ok := strings.Cut(notices, "==== "+module.Path+" "+module.Version+"\n")
		text, _, _ = strings.Cut(text, "\n==== ")
		if !ok || len(text) < 200 {
			t.Errorf("the notices of %s %s are %q", module.Path, module.Version, text)
		}
	}
	if !strings.Contains(notices, "==== The Go standard library, go1.") ||
		!strings.Contains(notices, "Copyright 2009 The Go Authors") {
		t.Error("the licence of Go is missing")
	}
}

// checkHomepage checks that a homepage can exist: .invalid cannot (RFC 2606 section 2).
func checkHomepage(t *testing.T, deb string) {
	t.Helper()
	out, err := exec.Command("dpkg-deb", "--field", deb, "Homepage").Output()
	if err != nil || strings.Contains(string(out), ".invalid") {
		t.Errorf("homepage %q, %v", out, err)
	}
}

// readUnpacked returns a file, decompressed if its name ends in .gz.
func readUnpacked(t *testing.T, path string) string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Error(err)
		return ""
	}
	defer file.Close()
	var in io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(file); err != nil {
			t.Error(err)
			return ""
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Error(err)
	}
	return string(text)
}
