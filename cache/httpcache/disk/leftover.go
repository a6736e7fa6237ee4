package disk

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// incoming is the directory of the files that are being written.
const incoming = "incoming"

// temporaryName returns a path for a file that is being written.
func temporaryName(id uint64) string { return incoming + "/" + strconv.FormatUint(id, 16) + ".tmp" }

// leftover is a temporary file of a process that has ended.
type leftover struct {
	path string
	size int64
}

// listLeftovers notes which temporary files are there: as the directory is locked, none is
// of a living process.
func (s *Store) listLeftovers() error {
	names, err := s.files.names(incoming)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, _ := strings.CutSuffix(name, ".tmp")
		if n, err := strconv.ParseUint(id, 16, 64); err != nil || temporaryName(n) != incoming+"/"+name {
			continue // it is not ours
		}
		info, err := s.files.root.Lstat(incoming + "/" + name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.space.used.Add(onDisk(info.Size()))
		s.leftover = append(s.leftover, leftover{incoming + "/" + name, info.Size()})
	}
	return nil
}

// removeLeftovers removes these files, and keeps in mind those that it cannot remove.
func (s *Store) removeLeftovers() {
	var kept []leftover
	for _, l := range s.leftover {
		if err := s.files.remove(l.path); err != nil {
			s.faults.report("removing a temporary file", err)
			kept = append(kept, l)
			continue
		}
		s.space.release(onDisk(l.size))
	}
	s.leftover = kept
}
