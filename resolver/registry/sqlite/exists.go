package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/urnd/urnd/resolver/registry"
)

// MustExist returns an error of registry.ErrNoStore if there is no file at path, which Open would make.
func MustExist(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: there is no file %s: urnd registry import and set make one, and so does urnd when it starts",
			registry.ErrNoStore, path)
	}
	return nil
}
