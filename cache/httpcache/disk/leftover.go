package disk

import (
	"errors"
	"io/fs"
	"strconv"
	"strings"
)

// incoming is the directory of files being written.
const (
	incoming       = "incoming"
	incomingNumber = directories // after the directories with objects
)

// temporaryPath returns the path of a file being written.
func temporaryPath(id uint64) path {
	return path{incomingNumber, strconv.FormatUint(id, 16) + ".tmp"}
}

// leftover is a temporary file of a process that has ended.
type leftover struct {
	path path
	size int64
}

// listLeftovers lists the temporary files: as the directory is locked, none belongs to a running process.
func (s *Store) listLeftovers() error {
	names, err := s.files.names(incomingNumber)
	if err != nil {
		return err
	}
	for _, name := range names {
		id, _ := strings.CutSuffix(name, ".tmp")
		n, err := strconv.ParseUint(id, 16, 64)
		if err != nil || temporaryPath(n).name != name {
			continue // not a file of the store
		}
		size, err := s.files.size(temporaryPath(n))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		s.space.used.Add(onDisk(size))
		s.leftover = append(s.leftover, leftover{temporaryPath(n), size})
	}
	return nil
}

// removeLeftovers removes these files, and retains those that it cannot remove for the next attempt.
func (s *Store) removeLeftovers() {
	var kept []leftover
	for _, l := range s.leftover {
		if err := s.files.remove(l.path); err != nil {
			s.failures.report("removing a temporary file", err)
			kept = append(kept, l)
			continue
		}
		s.space.release(onDisk(l.size))
	}
	s.leftover = kept
}
