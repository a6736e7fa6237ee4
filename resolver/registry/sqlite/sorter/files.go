package sorter

import (
	"errors"
	"io"
	"os"

	"github.com/ncruces/go-sqlite3/vfs"
)

// files is the VFS of a connection to a temporary database.
type files struct {
	directory string
	failure   error // first error; SQLite preserves only its class
}

// Open implements vfs.VFS.
func (f *files) Open(_ string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	opened, err := os.CreateTemp(f.directory, "urnd-import-*")
	if err != nil {
		return nil, flags, f.failed(err)
	}
	if err := os.Remove(opened.Name()); err != nil {
		return nil, flags, errors.Join(f.failed(err), opened.Close())
	}
	return &file{opened, f}, flags, nil
}

func (f *files) failed(err error) error {
	if f.failure == nil {
		f.failure = err
	}
	return err
}

// Delete implements vfs.VFS.
func (*files) Delete(string, bool) error { return nil }

// Access implements vfs.VFS.
func (*files) Access(string, vfs.AccessFlag) (bool, error) { return false, nil }

// FullPathname implements vfs.VFS.
func (*files) FullPathname(name string) (string, error) { return name, nil }

// file is a file of a single connection: it needs no locks and no synchronization.
type file struct {
	*os.File
	of *files
}

// ReadAt implements vfs.File.
func (f *file) ReadAt(b []byte, at int64) (int, error) {
	n, err := f.File.ReadAt(b, at)
	if err != nil && !errors.Is(err, io.EOF) {
		err = f.of.failed(err)
	}
	return n, err
}

// WriteAt implements vfs.File.
func (f *file) WriteAt(b []byte, at int64) (int, error) {
	n, err := f.File.WriteAt(b, at)
	if err != nil {
		err = f.of.failed(err)
	}
	return n, err
}

// Size implements vfs.File.
func (f *file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, f.of.failed(err)
	}
	return info.Size(), nil
}

// Sync implements vfs.File.
func (*file) Sync(vfs.SyncFlag) error { return nil }

// Lock implements vfs.File.
func (*file) Lock(vfs.LockLevel) error { return nil }

// Unlock implements vfs.File.
func (*file) Unlock(vfs.LockLevel) error { return nil }

// CheckReservedLock implements vfs.File.
func (*file) CheckReservedLock() (bool, error) { return false, nil }

// SectorSize implements vfs.File.
func (*file) SectorSize() int { return 0 }

// DeviceCharacteristics implements vfs.File.
func (*file) DeviceCharacteristics() vfs.DeviceCharacteristic { return 0 }
