package daemon

import (
	"context"
	"os"
	"sync"
	"time"
)

// configFile detects changes of the configuration file. It is safe for concurrent use.
type configFile struct {
	path string // "" for none

	mu        sync.Mutex
	lastRead  os.FileInfo // metadata when it was last read; nil where it did not exist
	lastCheck os.FileInfo // metadata when it was last checked
}

// recordRead records the metadata of the file. Call it before the file is read.
func (f *configFile) recordRead() {
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastRead = info
}

// changed reports whether the file exists, has changed since it was last read, and is the
// same as at the last check: it may be half written.
func (f *configFile) changed() bool {
	info, err := os.Stat(f.path)
	if err != nil || info.Size() == 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	stable := unchanged(info, f.lastCheck)
	f.lastCheck = info
	return stable && !unchanged(info, f.lastRead)
}

// unchanged reports whether a file was not changed, as far as its metadata tells.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// watch sends when the file has changed. It checks once a second while wanted returns true.
func (f *configFile) watch(ctx context.Context, wanted func() bool, changes chan<- struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if f.path == "" || !wanted() || !f.changed() {
			continue
		}
		select {
		case changes <- struct{}{}:
		case <-ctx.Done():
		}
	}
}
