package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// CheckExists returns an error that wraps registry.ErrUnavailable if there is no file at path, which Open would
// create.
func CheckExists(path string) error {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: no file %s: urnd registry import, set, and the start of urnd create it",
			errUnavailable, path)
	}
	return nil
}

// rememberedName is the name of the file, in the state directory of a service, that contains the path of its
// store.
const rememberedName = "registry-file"

// maxRemembered limits the length of that file, in bytes.
const maxRemembered = 8 << 10

// RecordPath records the path of the store in a directory.
func RecordPath(path, directory string) error {
	path, err := filepath.Abs(path)
	if err != nil || remembered(directory) == path {
		return err
	}
	file := filepath.Join(directory, rememberedName)
	if err := os.WriteFile(file+".new", []byte(path+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(file+".new", file)
}

// remembered returns the path recorded in a directory, "" for none.
func remembered(directory string) string {
	file := filepath.Join(directory, rememberedName)
	if info, err := os.Stat(file); err != nil || info.Size() > maxRemembered {
		return ""
	}
	text, _ := os.ReadFile(file) //nolint:gosec // the directory is configured
	return strings.TrimSuffix(string(text), "\n")
}

// CheckLost returns an error that wraps registry.ErrUnavailable if there is no file at path, but evidence that it
// existed: files that SQLite, backups and restores leave beside it, or a record of RecordPath in one of
// directories. An empty directory name is ignored.
func CheckLost(path string, directories ...string) error {
	trace := traceOf(path, directories)
	if trace == "" {
		return nil
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // opening it reports the error
	}
	return fmt.Errorf("%w: file %s missing, although %s shows that it existed: mount its file system, put the file "+
		"back, or restore a backup "+
		"(urnd registry restore); for a new registry, move %s away", errUnavailable, path, trace, trace)
}

// traceOf returns a file that is evidence of a former store at path, "" if there is none.
func traceOf(path string, directories []string) string {
	for _, end := range []string{"-wal", "-shm", "-journal", ".before-restore", ".sha256"} {
		if _, err := os.Stat(path + end); err == nil {
			return path + end
		}
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return ""
	}
	for _, directory := range append(directories, filepath.Dir(whole)) {
		if directory != "" && remembered(directory) == whole {
			return filepath.Join(directory, rememberedName)
		}
	}
	return ""
}
