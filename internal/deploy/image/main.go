// Command image makes an image for containers without a registry: an OCI layout, a directory, with one index for all platforms. The
// same files make the same octets: all that depends on the machine, its clock and its users is left out.
//
//	image -version 1.0 -revision COMMIT -created SECONDS -to DIRECTORY linux/amd64=FILES...
//
// FILES is a directory with urnd, its notices, and urnd.cdx.json, its bill of materials.
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

// release is what is put into an image.
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

// run makes the image that the arguments describe, and prints its digest.
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
