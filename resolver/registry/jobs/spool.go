package jobs

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/urnd/urnd/resolver/registry"
)

// The files of a job: its ID, and what they are.
const (
	bodyFile     = ".body"
	rejectedFile = ".rejected"
	differsFile  = ".differences" // of a dry run
	uploadFile   = ".upload"      // a body that is not complete
)

func (j *Jobs) path(id, kind string) string { return filepath.Join(j.config.Directory, id+kind) }

// lock locks a file for this process and opening: false where somebody else has it. It is unlocked when the
// file is closed, also by the end of the process.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// upload makes the file of a new job, and locks it. What looks for uploads that were broken off, here or in another instance, may find
// it before it is locked: then another one is made.
func (j *Jobs) upload() (id string, f *os.File, err error) {
	const ownerOnly, ownerOnlyDirectory = 0o600, 0o700
	if err := os.MkdirAll(j.config.Directory, ownerOnlyDirectory); err != nil {
		return "", nil, storing(err)
	}
	for range uploadAttempts {
		id = j.newID()
		f, err = os.OpenFile(j.path(id, uploadFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
		if err != nil {
			return "", nil, storing(err)
		}
		if lock(f) && isThere(f) {
			return id, f, nil
		}
		_ = f.Close()
	}
	return "", nil, storing(errTaken)
}

const uploadAttempts = 20

// newID returns an ID that no job has. Those of later jobs are later in the order of their octets, but for those of the same second.
func (j *Jobs) newID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // it never fails
	return j.config.Registry.Now().Format("20060102T150405-") + hex.EncodeToString(random[:])
}

// isThere reports whether an open file still has its name.
func isThere(f *os.File) bool {
	is, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(is, named)
}

var errTaken = errors.New("its file was removed")

// storing says that files cannot be kept now.
func storing(err error) error { return fmt.Errorf("%w: keeping a job: %w", registry.ErrNoStore, err) }

// size returns how many octets the files of all jobs have here.
func (j *Jobs) size() (octets int64) {
	entries, err := os.ReadDir(j.config.Directory)
	if err != nil {
		return 0 // there was no job yet
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil { // it may have been removed
			octets += info.Size()
		}
	}
	return octets
}

// waiting returns the IDs of the bodies that are here, the oldest first, and removes uploads that were broken off.
func (j *Jobs) waiting() (ids []string) {
	entries, err := os.ReadDir(j.config.Directory)
	if err != nil {
		return nil // there was no job yet
	}
	for _, entry := range entries {
		id, kind := strings.TrimSuffix(entry.Name(), filepath.Ext(entry.Name())), filepath.Ext(entry.Name())
		switch {
		case !isID(id):
		case kind == bodyFile:
			ids = append(ids, id)
		case kind == uploadFile:
			if f := j.open(id, uploadFile); f != nil {
				_ = os.Remove(f.Name())
				_ = f.Close()
			}
		}
	}
	return ids
}

// open opens a file that nobody works on; nil where there is none.
func (j *Jobs) open(id, kind string) *os.File {
	f, err := os.Open(j.path(id, kind))
	if err != nil {
		return nil
	}
	if !lock(f) {
		_ = f.Close()
		return nil
	}
	return f
}

// remove removes the files of jobs.
func (j *Jobs) remove(kind string, ids ...string) {
	for _, id := range ids {
		_ = os.Remove(j.path(id, kind)) // what cannot be removed now is when it is seen again
	}
}

// syncDirectory makes the names of files durable.
func (j *Jobs) syncDirectory() error {
	d, err := os.Open(j.config.Directory)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
