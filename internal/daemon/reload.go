package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/urnd/urnd/systemd"
)

// reload loads the configuration and puts it in force. After an error, which is logged, the previous
// configuration remains in force.
func (d *Daemon) reload(ctx context.Context) {
	d.logNotifyError(systemd.Reloading())
	start := d.config.Now()
	err := d.replace(ctx)
	d.config.Health.Reloaded(err)
	d.config.Loaded(true, err)
	if err == nil {
		attributes := []any{"took", d.config.Now().Sub(start).Round(time.Microsecond).String()}
		d.Use(func(g *Generation) {
			g.Log.Info("configuration reloaded", append(attributes, g.ReloadLog...)...)
		})
	} else {
		d.Use(func(g *Generation) {
			if err := g.Reopen(); err != nil {
				g.Log.Warn("access log reopen failed", "error", err)
			}
			g.Log.Error("configuration reload failed, keeping the previous one", "error", err)
		})
	}
	d.logNotifyError(systemd.Ready(d.status()))
}

// errEmptyFile rejects a file that was written on a full disk, or is being written: it would reset all settings.
var errEmptyFile = errors.New("empty configuration file (write {} into it for the defaults)")

// replace puts a new generation in force. The previous one is closed after its last request.
func (d *Daemon) replace(ctx context.Context) error {
	if info := d.file.recordRead(); info != nil && info.Mode().IsRegular() && info.Size() == 0 {
		return fmt.Errorf("%w: %s", errEmptyFile, d.file.path)
	}
	g, err := d.config.Load(d.current.generation.Load())
	if err != nil {
		return err
	}
	c, err := d.prepare(ctx, g)
	if err != nil {
		g.retire()
		return err
	}
	g.start()
	before := d.current.replace(g)
	d.connections.SetLimits(g.Connections)
	d.apply(ctx, c)
	d.background.Go(before.retire)
	d.limitMemory(g.MemoryLimit)
	return nil
}

// logNotifyError logs the error of a notification to systemd, which is not fatal.
func (d *Daemon) logNotifyError(err error) {
	if err != nil {
		d.log().Debug("systemd notification failed", "error", err)
	}
}

// status returns the status text for systemd.
func (d *Daemon) status() string {
	status := d.config.Status()
	if refused := d.config.Health.refusal(); refused != nil {
		return "Reload failed: " + firstLine(refused) + "; " + status
	}
	return status
}

// configFile detects changes of the configuration file. It is safe for concurrent use.
type configFile struct {
	path string // "" for none

	mu        sync.Mutex
	lastRead  os.FileInfo // metadata at the last read; nil if the file did not exist
	lastCheck os.FileInfo // metadata at the last check
}

// recordRead records and returns the metadata of the file, nil if it does not exist. It must be called before the
// file is read.
func (f *configFile) recordRead() os.FileInfo {
	info, err := os.Stat(f.path)
	if err != nil {
		info = nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastRead = info
	return info
}

// changed reports whether the file exists, has changed since the last read, and is unchanged since the last
// check. The latter avoids reading a file that is being written.
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

// unchanged reports whether two sets of metadata describe the same version of a file.
func unchanged(a, b os.FileInfo) bool {
	return a != nil && b != nil && os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}

// watch sends to changes when the file has changed. It checks once a second while wanted returns true.
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
