package main

import (
	"context"
	"os"
	"sync"
	"time"
)

// watched is the file of a configuration. It is safe for concurrent use.
type watched struct {
	path string // "" where there is none

	mu      sync.Mutex
	seen    os.FileInfo // when it was last read; nil where it was not there
	pending os.FileInfo // when it was last looked at, where that was otherwise
}

// look notes how the file is. Call it before it is read.
func (w *watched) look() {
	info, err := os.Stat(w.path)
	if err != nil {
		info = nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen = info
}

// changed reports whether the file is there, is not as it was when it was last read, and
// has come to rest: one that is being written is empty first, and half written then.
func (w *watched) changed() bool {
	info, err := os.Stat(w.path)
	if err != nil || info.Size() == 0 {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	rests := same(info, w.pending)
	w.pending = info
	return rests && !same(info, w.seen)
}

// same reports whether a file was not changed, as far as can be told from outside.
func same(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// watch sends when the file changes, looking once a second while wanted says so.
func (w *watched) watch(ctx context.Context, wanted func() bool, told chan<- struct{}) {
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		if w.path == "" || !wanted() || !w.changed() {
			continue
		}
		select {
		case told <- struct{}{}:
		case <-ctx.Done():
		}
	}
}
