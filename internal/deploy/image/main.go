// Command image builds a container image without a registry: an OCI image layout (OCI image specification), a
// directory with one index for all platforms. Binaries with their notices and bills of materials enter; the
// layout is written, and its digest is printed. The build is reproducible: the same files yield the same bytes,
// independent of the machine, its clock and its users.
//
//	image -version 1.0 -revision COMMIT -created SECONDS -to DIRECTORY linux/amd64=FILES...
//
// FILES is a directory with urnd, its notices, and its bill of materials urnd.cdx.json.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1) //nolint:forbidigo // it is a command
	}
}

// release describes the content of an image.
type release struct {
	version, revision string
	created           time.Time
	programs          []program
}

// program is urnd for a platform, in a directory.
type program struct {
	platform  *v1.Platform
	directory string
}

func (p program) path(name string) string { return filepath.Join(p.directory, name) }

// run builds the image described by the arguments and prints its digest.
func run(arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("image", flag.ContinueOnError)
	var r release
	flags.StringVar(&r.version, "version", "", "the version, which is the name of the image in the layout, too")
	flags.StringVar(&r.revision, "revision", "", "the commit that urnd was built from")
	created := flags.Int64("created", 0, "the time of that commit, in seconds since 1970")
	to := flags.String("to", "", "the directory, which is made anew")
	if err := flags.Parse(arguments); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	r.created = time.Unix(*created, 0).UTC()
	for _, argument := range flags.Args() {
		name, directory, _ := strings.Cut(argument, "=")
		platform, err := v1.ParsePlatform(name)
		if err != nil || directory == "" {
			return fmt.Errorf("%q is not PLATFORM=DIRECTORY", argument)
		}
		r.programs = append(r.programs, program{platform, directory})
	}
	if r.version == "" || *to == "" || len(r.programs) == 0 {
		return fmt.Errorf("a version, a directory and at least one platform are needed")
	}
	digest, err := r.write(*to)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, digest)
	return nil
}
