package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// nonRoot is the user and group ID of urnd, as in other images without an operating system.
const nonRoot = 65532

// users are the accounts that programs may look up.
const (
	users  = "root:x:0:0:root:/:/sbin/nologin\nurnd:x:65532:65532:urnd:/var/lib/urnd:/sbin/nologin\n"
	groups = "root:x:0:\nurnd:x:65532:\n"
)

// settings are the default settings of the image: in a container, loopback is not reachable from outside.
const settings = `# Mount your own file here: see urnd.yaml(5).
listen:
  service: [':8141']
log:
  format: json
`

// file is a file of a layer. Its path has no leading slash; that of a directory ends with a slash.
type file struct {
	path  string
	mode  int64
	owner int
	text  []byte
}

// base returns the files that are identical for all platforms.
func base() ([]file, error) {
	certificates, err := authorities()
	if err != nil {
		return nil, err
	}
	var all []file
	for _, directory := range []string{
		"etc/", "etc/ssl/", "etc/ssl/certs/", "etc/urnd/", "usr/", "usr/bin/", "usr/share/", "usr/share/doc/",
		"usr/share/doc/urnd/", "var/", "var/lib/", "var/cache/",
	} {
		all = append(all, file{path: directory, mode: 0o755})
	}
	return append(
		all,
		file{path: "etc/passwd", mode: 0o644, text: []byte(users)},
		file{path: "etc/group", mode: 0o644, text: []byte(groups)},
		file{path: "etc/ssl/certs/ca-certificates.crt", mode: 0o644, text: certificates},
		file{path: "etc/urnd/urnd.yaml", mode: 0o644, text: []byte(settings)},
		// A volume mounted there for the first time gets their owner.
		file{path: "var/lib/urnd/", mode: 0o700, owner: nonRoot},
		file{path: "var/cache/urnd/", mode: 0o700, owner: nonRoot},
	), nil
}

// files returns the files of a program.
func (p program) files() ([]file, error) {
	binary, err := os.ReadFile(p.path("urnd"))
	if err != nil {
		return nil, fmt.Errorf("reading the program: %w", err)
	}
	notices, err := os.ReadFile(p.path("notices"))
	if err != nil {
		return nil, fmt.Errorf("reading the notices: %w", err)
	}
	return []file{
		{path: "usr/bin/urnd", mode: 0o755, text: binary},
		{path: "usr/share/doc/urnd/notices", mode: 0o644, text: notices},
	}, nil
}

// layer builds a layer of files with the same date.
func layer(files []file, date time.Time) (v1.Layer, error) {
	var out bytes.Buffer
	archive := tar.NewWriter(&out)
	for _, f := range files {
		header := &tar.Header{
			Name: f.path, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.text)), ModTime: date,
			Format: tar.FormatPAX, Typeflag: tar.TypeReg,
		}
		if f.path[len(f.path)-1] == '/' {
			header.Typeflag = tar.TypeDir
		}
		if err := archive.WriteHeader(header); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
		if _, err := archive.Write(f.text); err != nil {
			return nil, fmt.Errorf("%s: %w", f.path, err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("closing a layer: %w", err)
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out.Bytes())), nil }
	made, err := tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, fmt.Errorf("making a layer: %w", err)
	}
	return made, nil
}
