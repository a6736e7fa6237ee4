package main

import (
	"fmt"
	"os"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// refName is the annotation with the name of an image in a layout (OCI image specification, annotations).
const refName = "org.opencontainers.image.ref.name"

// labels returns the labels of the OCI image specification whose values are known.
func (r release) labels() map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":       "urnd",
		"org.opencontainers.image.description": "resolver and caching proxy for URNs and URIs",
		"org.opencontainers.image.version":     r.version,
		"org.opencontainers.image.revision":    r.revision,
		"org.opencontainers.image.created":     r.created.Format(time.RFC3339),
		"org.opencontainers.image.licenses":    "Apache-2.0",
		"org.opencontainers.image.vendor":      "The urnd founders",
	}
}

// image returns the image of a program on top of the layer below.
func (r release) image(p program, below v1.Layer) (v1.Image, error) {
	files, err := p.files()
	if err != nil {
		return nil, err
	}
	above, err := layer(files, r.created)
	if err != nil {
		return nil, err
	}
	user := strconv.Itoa(nonRoot)
	config := &v1.ConfigFile{
		Architecture: p.platform.Architecture, OS: p.platform.OS, Variant: p.platform.Variant,
		Author: "The urnd founders", Created: v1.Time{Time: r.created},
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{
			User: user + ":" + user, Entrypoint: []string{"/usr/bin/urnd"}, Cmd: []string{"serve"}, WorkingDir: "/",
			StopSignal: "SIGTERM", Env: []string{"PATH=/usr/bin"}, ExposedPorts: map[string]struct{}{"8141/tcp": {}},
			Labels: r.labels(),
		},
	}
	made, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1),
		types.OCIConfigJSON), config)
	if err != nil {
		return nil, fmt.Errorf("the configuration of the image: %w", err)
	}
	date := v1.Time{Time: r.created}
	made, err = mutate.Append(
		made,
		mutate.Addendum{
			Layer:   below,
			History: v1.History{Created: date, CreatedBy: "image", Comment: "users, certificates, directories"},
		},
		mutate.Addendum{Layer: above, History: v1.History{Created: date, CreatedBy: "image", Comment: "urnd"}},
	)
	if err != nil {
		return nil, fmt.Errorf("the layers of the image: %w", err)
	}
	return made, nil
}

// write writes the layout and returns the digest of the index of all platforms.
func (r release) write(to string) (v1.Hash, error) {
	files, err := base()
	if err != nil {
		return v1.Hash{}, err
	}
	below, err := layer(files, r.created)
	if err != nil {
		return v1.Hash{}, err
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	var images []v1.Image
	for _, p := range r.programs {
		made, err := r.image(p, below)
		if err != nil {
			return v1.Hash{}, fmt.Errorf("%s: %w", p.platform, err)
		}
		images = append(images, made)
		index = mutate.AppendManifests(index,
			mutate.IndexAddendum{Add: made, Descriptor: v1.Descriptor{Platform: p.platform}})
	}
	annotated, ok := mutate.Annotations(index, r.labels()).(v1.ImageIndex)
	if !ok {
		return v1.Hash{}, fmt.Errorf("what has annotations is no index")
	}
	if err := os.RemoveAll(to); err != nil {
		return v1.Hash{}, fmt.Errorf("removing an earlier image: %w", err)
	}
	path, err := layout.Write(to, empty.Index)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("making the layout: %w", err)
	}
	if err := path.AppendIndex(annotated, layout.WithAnnotations(map[string]string{refName: r.version})); err != nil {
		return v1.Hash{}, fmt.Errorf("writing the image: %w", err)
	}
	for i, p := range r.programs {
		subject, err := partial.Descriptor(images[i])
		if err != nil {
			return v1.Hash{}, fmt.Errorf("describing the image: %w", err)
		}
		if err := attach(path, p, *subject, r.created); err != nil {
			return v1.Hash{}, fmt.Errorf("%s: %w", p.platform, err)
		}
	}
	return annotated.Digest()
}
