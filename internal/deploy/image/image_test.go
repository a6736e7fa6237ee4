package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	ocispec "github.com/opencontainers/image-spec/specs-go/v1"
	"oras.land/oras-go/v2/content/oci"
)

// directoryOf creates the directory of a fake program.
func directoryOf(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"urnd": text, "notices": "notices of " + text,
		"urnd.cdx.json": `{"bomFormat": "CycloneDX"}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// makeImage builds an image for platforms and returns the layout and the printed digest.
func makeImage(t *testing.T, platforms ...string) (dir, digest string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "image")
	var out bytes.Buffer
	if err := run(append([]string{"-version", "1.0", "-revision", "abc", "-created", "1000000000", "-to", dir},
		platforms...), &out); err != nil {
		t.Fatal(err)
	}
	return dir, strings.TrimSpace(out.String())
}

// tree returns the files of a directory.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		files[name] = string(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestSameBytes checks that images of the same programs are identical, independent of time, place and the
// files' metadata.
func TestSameBytes(t *testing.T) {
	once, digest := makeImage(t, "linux/amd64="+directoryOf(t, "one"), "linux/arm64="+directoryOf(t, "two"))
	one, two := directoryOf(t, "one"), directoryOf(t, "two")
	later := time.Date(2031, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, path := range []string{one, filepath.Join(one, "urnd"), filepath.Join(two, "notices")} {
		if err := os.Chtimes(path, later, later); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("TZ", "Asia/Tokyo")
	again, same := makeImage(t, "linux/amd64="+one, "linux/arm64="+two)
	if digest != same || !strings.HasPrefix(digest, "sha256:") {
		t.Errorf("%s, and again %s", digest, same)
	}
	before, after := tree(t, once), tree(t, again)
	if len(before) != len(after) || len(before) < 10 {
		t.Errorf("%d files, and again %d", len(before), len(after))
	}
	for name, text := range before {
		if after[name] != text {
			t.Errorf("%s differs", name)
		}
	}
	if _, other := makeImage(t, "linux/amd64="+directoryOf(t, "other"), "linux/arm64="+two); other == digest {
		t.Error("another program has the same digest")
	}
}

// images returns the index and the images of a layout by platform.
func images(t *testing.T, dir string) (v1.ImageIndex, map[string]v1.Image) {
	t.Helper()
	all, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := all.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	index, err := all.ImageIndex(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	if manifest, err = index.IndexManifest(); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]v1.Image)
	for _, m := range manifest.Manifests {
		if found[m.Platform.String()], err = index.Image(m.Digest); err != nil {
			t.Fatal(err)
		}
	}
	return index, found
}

// TestImage checks that the layout is valid and contains the files and settings that a container needs.
func TestImage(t *testing.T) {
	dir, digest := makeImage(t, "linux/amd64="+directoryOf(t, "one"), "linux/arm64="+directoryOf(t, "two"),
		"linux/riscv64="+directoryOf(t, "three"))
	index, all := images(t, dir)
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	if d, err := index.Digest(); err != nil || d.String() != digest {
		t.Errorf("%s is printed, and the index has %s: %v", digest, d, err)
	}
	for platform, text := range map[string]string{
		"linux/amd64": "one", "linux/arm64": "two",
		"linux/riscv64": "three",
	} {
		image, ok := all[platform]
		if !ok {
			t.Fatalf("there is none for %s", platform)
		}
		config, err := image.ConfigFile()
		if err != nil {
			t.Fatal(err)
		}
		c := config.Config
		if config.OS+"/"+config.Architecture != platform || c.User != "65532:65532" ||
			!slices.Equal(slices.Concat(c.Entrypoint, c.Cmd), []string{"/usr/bin/urnd", "serve"}) {
			t.Errorf("%s: %+v", platform, config)
		}
		if got := c.Labels["org.opencontainers.image.version"] + c.Labels["org.opencontainers.image.revision"] +
			c.Labels["org.opencontainers.image.created"]; got != "1.0abc2001-09-09T01:46:40Z" {
			t.Errorf("%s has the labels %v", platform, c.Labels)
		}
		files := contents(t, image)
		if files["usr/bin/urnd"].text != text || files["usr/bin/urnd"].mode != 0o755 ||
			files["usr/share/doc/urnd/notices"].text != "notices of "+text {
			t.Errorf("%s has another program", platform)
		}
		if passwd := files["etc/passwd"].text; !strings.Contains(passwd, "\nurnd:x:65532:65532:") {
			t.Errorf("the users are %s", passwd)
		}
		for _, name := range []string{"var/lib/urnd", "var/cache/urnd"} {
			if f := files[name]; f.owner != nonRoot || f.mode != 0o700 {
				t.Errorf("%s is %+v", name, f)
			}
		}
	}
}

// TestAuthorities checks that the certificates are those of authorities, and verify what a browser needs.
func TestAuthorities(t *testing.T) {
	text, err := authorities()
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		t.Fatal("no certificate")
	}
	count := 0
	for block, rest := pem.Decode(text); block != nil; block, rest = pem.Decode(rest) {
		count++
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil || !certificate.IsCA {
			t.Errorf("%v is none of an authority: %v", certificate.Subject, err)
		}
	}
	if count < 100 || !strings.Contains(string(text), "ISRG Root X1") {
		t.Errorf("there are %d", count)
	}
}

// TestBillOfMaterials checks with another implementation that the bill of materials of each image is found as a
// referrer.
func TestBillOfMaterials(t *testing.T) {
	dir, _ := makeImage(t, "linux/amd64="+directoryOf(t, "one"), "linux/arm64="+directoryOf(t, "two"))
	store, err := oci.NewFromFS(t.Context(), os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	index, err := store.Resolve(t.Context(), "1.0")
	if err != nil {
		t.Fatal(err)
	}
	read := func(of ocispec.Descriptor, into any) {
		t.Helper()
		blob, err := store.Fetch(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		defer blob.Close()
		text, err := io.ReadAll(blob)
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var list ocispec.Index
	if read(index, &list); len(list.Manifests) != 2 {
		t.Fatalf("%+v", list)
	}
	for _, image := range list.Manifests {
		found := 0
		referrers, err := store.Predecessors(t.Context(), image)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range referrers {
			var manifest ocispec.Manifest
			if read(r, &manifest); manifest.ArtifactType != string(cycloneDX) {
				continue // the index refers to the image, too
			}
			var bill struct{ BOMFormat string }
			if read(manifest.Layers[0], &bill); bill.BOMFormat == "CycloneDX" &&
				manifest.Subject.Digest == image.Digest {
				found++
			}
		}
		if found != 1 {
			t.Errorf("%s has %d bills of materials: %+v", image.Platform.Architecture, found, referrers)
		}
	}
}

func TestArguments(t *testing.T) {
	for _, arguments := range []string{
		"", "-version 1.0 -to image", "-version 1.0 -to image linux/amd64",
		"-version 1.0 linux/amd64=dir", "-nothing",
	} {
		if err := run(strings.Fields(arguments), io.Discard); err == nil {
			t.Errorf("%q is accepted", arguments)
		}
	}
	if err := run([]string{"-version", "1.0", "-to", filepath.Join(t.TempDir(), "image"), "linux/amd64=" + t.TempDir()},
		io.Discard); err == nil {
		t.Error("an image without a program is made")
	}
}
