package jobs

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// The extensions of the files of a job. A path is the directory of the token, the job ID, and an extension.
const (
	bodyFile        = ".body"
	rejectedFile    = ".rejected"
	differencesFile = ".differences" // of a dry run
	conflictsFile   = ".conflicts"
	uploadFile      = ".upload" // an incomplete body
)

// spooled identifies the files of a job by its token, "" for administrators, and its ID.
type spooled struct{ token, id string }

// ofAdministrators is the directory of jobs without a token of the registry.
const ofAdministrators = "administrators"

func (j *Jobs) directory(token string) string {
	return filepath.Join(j.config.Directory, cmp.Or(token, ofAdministrators))
}

func (j *Jobs) path(at spooled, kind string) string {
	return filepath.Join(j.directory(at.token), at.id+kind)
}

// lock locks an open file exclusively; it returns false if it is locked already. Closing the file unlocks it,
// and so does the end of the process.
func lock(f *os.File) bool {
	return syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil
}

// upload creates the file of a new job, and locks it. Before it is locked, a search for aborted uploads, by
// any instance, may remove it: then another one is created.
func (j *Jobs) upload(token string) (at spooled, f *os.File, err error) {
	const ownerOnly, ownerOnlyDirectory = 0o600, 0o700
	for range uploadAttempts {
		if err := os.MkdirAll(j.directory(token), ownerOnlyDirectory); err != nil {
			return at, nil, storing(err)
		}
		at = spooled{token, j.newID()}
		f, err = os.OpenFile(j.path(at, uploadFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, ownerOnly)
		if errors.Is(err, os.ErrNotExist) { // the empty directory was removed
			continue
		}
		if err != nil {
			return at, nil, storing(err)
		}
		if lock(f) && isThere(f) {
			return at, f, nil
		}
		_ = f.Close()
	}
	return at, nil, storing(errTaken)
}

const uploadAttempts = 20

// newID returns a unique ID. IDs sort by time, with a resolution of a second.
func (j *Jobs) newID() string {
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	return idAt(j.config.Registry.Now()) + hex.EncodeToString(random[:])
}

// idAt returns the prefix of IDs of a time.
func idAt(now time.Time) string { return now.UTC().Format("20060102T150405-") }

// isThere reports whether an open file still exists under its name.
func isThere(f *os.File) bool {
	is, err := f.Stat()
	if err != nil {
		return false
	}
	named, err := os.Lstat(f.Name())
	return err == nil && os.SameFile(is, named)
}

var errTaken = errors.New("file removed")

// storing wraps an error of the file system as registry.ErrUnavailable.
func storing(err error) error {
	return fmt.Errorf("%w: storing a job: %w", registry.ErrUnavailable, err)
}

// files calls f for each file on this instance, in the order of job IDs within each token, and removes empty
// directories.
func (j *Jobs) files(f func(at spooled, kind string, entry os.DirEntry)) {
	tokens, err := os.ReadDir(j.config.Directory)
	if err != nil {
		return // no job was uploaded yet
	}
	for _, directory := range tokens {
		if !directory.IsDir() || !isToken(directory.Name()) { // temporary files of imports
			continue
		}
		token := strings.TrimPrefix(directory.Name(), ofAdministrators)
		entries, err := os.ReadDir(j.directory(token))
		if err == nil && len(entries) == 0 {
			_ = os.Remove(j.directory(token)) // fails if it is not empty any more
		}
		for _, entry := range entries {
			kind := filepath.Ext(entry.Name())
			if id := strings.TrimSuffix(entry.Name(), kind); isID(id) {
				f(spooled{token, id}, kind, entry)
			}
		}
	}
}

// isToken reports whether a directory name is that of a token.
func isToken(name string) bool {
	return name == ofAdministrators ||
		len(name) == len("0123456789abcdef") && strings.Trim(name, "0123456789abcdef") == ""
}

// size returns the size of a file in bytes.
func size(entry os.DirEntry) int64 {
	info, err := entry.Info()
	if err != nil {
		return 0 // it was removed
	}
	return info.Size()
}

// checkRoom returns an error if the bodies on this instance, and more additional bytes of a token, exceed a
// limit: the store may be on the same disk.
func (j *Jobs) checkRoom(token string, more int64) error {
	all, own := more, more
	j.files(func(at spooled, kind string, entry os.DirEntry) {
		if kind != bodyFile && kind != uploadFile {
			return
		}
		byteCount := size(entry)
		if all += byteCount; at.token == token {
			own += byteCount
		}
	})
	switch {
	case own > maxBodiesOfToken*j.config.MaxBody:
		return fmt.Errorf("%w: bodies have %d bytes, limit %d", ErrTokenLimit, own, maxBodiesOfToken*j.config.MaxBody)
	case all > maxBodies*j.config.MaxBody:
		return registry.ErrJobLimit
	default:
		return nil
	}
}

// trim removes the oldest reports of a token beyond its limit, except those of unfinished jobs of this
// instance.
func (j *Jobs) trim(token string) {
	type report struct {
		at    spooled
		kind  string
		bytes int64
	}
	var reports []report
	byteCount, waits := int64(0), make(map[spooled]bool)
	j.files(func(at spooled, kind string, entry os.DirEntry) {
		switch {
		case at.token != token:
		case kind == bodyFile:
			waits[at] = true
		case kind == rejectedFile, kind == differencesFile, kind == conflictsFile:
			reports = append(reports, report{at, kind, size(entry)})
			byteCount += reports[len(reports)-1].bytes
		}
	})
	for _, r := range reports { // in the order of job IDs
		if byteCount <= max(j.config.MaxBody/reportsPart, leastReports) {
			return
		}
		if !waits[r.at] {
			j.remove(r.kind, r.at)
			byteCount -= r.bytes
		}
	}
}

// bodies returns the bodies on this instance. It removes aborted uploads, and reports of jobs that other
// instances have removed.
func (j *Jobs) bodies() (all []spooled) {
	now := j.config.Registry.Now()
	j.files(func(at spooled, kind string, _ os.DirEntry) {
		switch kind {
		case bodyFile:
			all = append(all, at)
		case uploadFile:
			if f := j.open(at, uploadFile); f != nil {
				_ = os.Remove(f.Name())
				_ = f.Close()
			}
		case rejectedFile, differencesFile, conflictsFile:
			if at.id < idAt(now.Add(-2*retention)) {
				j.remove(kind, at)
			}
		}
	})
	return all
}

// open opens and locks a file; nil if it does not exist, or another process has locked it.
func (j *Jobs) open(at spooled, kind string) *os.File {
	f, err := os.Open(j.path(at, kind))
	if err != nil {
		return nil
	}
	if !lock(f) {
		_ = f.Close()
		return nil
	}
	return f
}

// remove removes one kind of files of jobs.
func (j *Jobs) remove(kind string, all ...spooled) {
	for _, at := range all {
		_ = os.Remove(j.path(at, kind)) // retried when the file is found again
	}
}

// syncDirectories makes file names in the directory of a token durable, and the directory itself.
func (j *Jobs) syncDirectories(token string) error {
	return errors.Join(syncDirectory(j.directory(token)), syncDirectory(j.config.Directory))
}

func syncDirectory(path string) error {
	d, err := os.Open(path) //nolint:gosec // a directory of this package
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}
