package daemon

import (
	"context"
	"os"
	"sync"
	"time"
)

// configFile is the file of a configuration. It is safe for concurrent use.
type configFile struct {
	path string // "" where there is none

	mu        sync.Mutex
	lastRead  os.FileInfo // when it was last read; nil where it was not there
	lastCheck os.FileInfo // when it was last checked
}

// recordRead records how the file is. Call it before the file is read.
func (f *configFile) recordRead() {
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastRead = info
}

// changed reports whether the file is there, differs from when it was last read, and is
// stable: one that is being written is empty first, and half written then.
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

// watch sends when the file changes. It checks once a second while wanted reports true.
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
