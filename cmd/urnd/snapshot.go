package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/urnd/urnd/config"
	"github.com/urnd/urnd/resolver"
	"github.com/urnd/urnd/systemd"
)

// savedName is the file of answers in the directory for what outlives the daemon.
const savedName = "answers"

// savedPath returns where answers are kept while urnd does not run, "" where they are not.
func savedPath(c config.Cache) string {
	directory := c.Directory
	if directory == "" {
		directory = systemd.StateDirectory()
	}
	if directory == "" || c.MaxSaved == 0 {
		return ""
	}
	return filepath.Join(directory, savedName)
}

// savedBasis names what saved answers rest on: this version, and all of the
// configuration that decides them.
func savedBasis(c config.Config) string {
	c.Cache = config.Cache{} // how much is kept says nothing of what
	return fmt.Sprintf("%x", sha256.Sum256(fmt.Appendf(nil, "%s %+v", versionText(), basisOf("answers", c))))
}

// restoring is the reading of answers that were kept, while the daemon answers already.
// It is safe for concurrent use.
type restoring struct {
	ctx  context.Context //nolint:containedctx // it is that of the reading
	stop context.CancelFunc
	done chan struct{}
}

// newRestoring returns one that has to be ended by finish.
func newRestoring() *restoring {
	ctx, stop := context.WithCancel(context.Background())
	return &restoring{ctx, stop, make(chan struct{})}
}

func (r *restoring) finish() { close(r.done) }

// end stops the reading: what comes behind it must not be undone.
func (r *restoring) end() {
	if r == nil {
		return
	}
	r.stop()
	<-r.done
}

// restore reads the answers that were kept. A file that is no good is set aside.
func (g *generation) restore(s surroundings) {
	defer s.restoring.finish()
	path := savedPath(g.config.Cache)
	if path == "" {
		return
	}
	file, err := os.Open(path) //nolint:gosec // it is of the configuration
	if errors.Is(err, os.ErrNotExist) {
		return
	}
	n := 0
	if err == nil {
		defer file.Close()
		n, err = resolver.RestoreAnswers(s.restoring.ctx, file, g.parts.answers, savedBasis(g.config), s.now())
	}
	switch {
	case err == nil:
		g.log.log.Info("answers were restored", "file", path, "answers", n)
	case errors.Is(err, resolver.ErrSnapshotDamaged), errors.Is(err, resolver.ErrSnapshotForeign):
		aside := path + ".bad"
		g.log.log.Warn("saved answers are no good, and are set aside", "file", aside, "error", errors.Join(err, os.Rename(path, aside)))
	default:
		g.log.log.Warn("saved answers cannot be read", "file", path, "error", err)
	}
}

// save keeps the answers for the next start. The file is there whole, or as it was.
func (g *generation) save(s surroundings) {
	path := savedPath(g.config.Cache)
	if path == "" {
		return
	}
	n, err := g.write(path, s)
	if err != nil {
		g.log.log.Warn("answers were not saved", "file", path, "error", err)
		return
	}
	g.log.log.Info("answers were saved", "file", path, "answers", n)
}

func (g *generation) write(path string, s surroundings) (n int, err error) {
	const ownerAlone = 0o600
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, ownerAlone) //nolint:gosec // it is of the configuration
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(file.Name())
		}
	}()
	n, err = resolver.SaveAnswers(file, g.parts.answers, savedBasis(g.config), s.now(), int64(g.config.Cache.MaxSaved))
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return 0, err
	}
	return n, os.Rename(file.Name(), path)
}
