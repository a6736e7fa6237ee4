package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Media types of a bill of materials in the format of CycloneDX, and of the configuration of an artifact that
// is not an image (OCI image specification, "Guidelines for artifact usage").
const (
	cycloneDX   types.MediaType = "application/vnd.cyclonedx+json"
	emptyConfig types.MediaType = "application/vnd.oci.empty.v1+json"
)

// attach adds the bill of materials of a program to the layout, as a referrer of its image (OCI distribution
// specification).
func attach(path layout.Path, p program, subject v1.Descriptor, date time.Time) error {
	text, err := os.ReadFile(p.path("urnd.cdx.json"))
	if err != nil {
		return fmt.Errorf("reading the bill of materials: %w", err)
	}
	config, err := blob(path, emptyConfig, []byte("{}"))
	if err != nil {
		return err
	}
	materials, err := blob(path, cycloneDX, text)
	if err != nil {
		return err
	}
	materials.Annotations = map[string]string{"org.opencontainers.image.title": "urnd.cdx.json"}
	subject.Platform = nil
	manifest, err := json.Marshal(v1.Manifest{
		SchemaVersion: 2, MediaType: types.OCIManifestSchema1, ArtifactType: string(cycloneDX), Config: config,
		Layers: []v1.Descriptor{materials}, Subject: &subject,
		Annotations: map[string]string{"org.opencontainers.image.created": date.Format(time.RFC3339)},
	})
	if err != nil {
		return fmt.Errorf("the manifest of the bill of materials: %w", err)
	}
	referrer, err := blob(path, types.OCIManifestSchema1, manifest)
	if err != nil {
		return err
	}
	referrer.ArtifactType = string(cycloneDX)
	if err := path.AppendDescriptor(referrer); err != nil {
		return fmt.Errorf("naming the bill of materials: %w", err)
	}
	return nil
}

// blob writes bytes to the layout and returns their descriptor.
func blob(path layout.Path, kind types.MediaType, text []byte) (v1.Descriptor, error) {
	digest, size, err := v1.SHA256(bytes.NewReader(text))
	if err != nil {
		return v1.Descriptor{}, fmt.Errorf("hashing: %w", err)
	}
	if err := path.WriteBlob(digest, io.NopCloser(bytes.NewReader(text))); err != nil {
		return v1.Descriptor{}, fmt.Errorf("writing a blob: %w", err)
	}
	return v1.Descriptor{MediaType: kind, Size: size, Digest: digest}, nil
}
