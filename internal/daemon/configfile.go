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

	mu      sync.Mutex
	read    os.FileInfo // when it was last read; nil where it was not there
	checked os.FileInfo // when it was last checked
}

// note remembers how the file is. Call it before the file is read.
func (f *configFile) note() {
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.read = info
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
	stable := same(info, f.checked)
	f.checked = info
	return stable && !same(info, f.read)
}

// same reports whether a file was not changed, as far as its metadata tells.
func same(a, b os.FileInfo) bool {
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
