package daemon

import (
	"context"
	"time"

	"github.com/urnd/urnd/systemd"
)

// reload puts the present configuration in force. An invalid one changes nothing, and its
// error is logged.
func (d *Daemon) reload(ctx context.Context) {
	d.logNotifyError(systemd.Reloading())
	start := d.config.Now()
	err := d.replace(ctx)
	d.config.Health.Reloaded(err)
	d.config.Loaded(true, err)
	if err == nil {
		attributes := []any{"took", d.config.Now().Sub(start).Round(time.Microsecond).String()}
		d.Use(func(g *Generation) {
			g.Log.Info("the configuration was reloaded", append(attributes, g.ReloadLog...)...)
		})
	} else {
		d.Use(func(g *Generation) {
			if err := g.Reopen(); err != nil {
				g.Log.Warn("the access log was not reopened", "error", err)
			}
			g.Log.Error("the configuration was not reloaded, and nothing has changed", "error", err)
		})
	}
	d.logNotifyError(systemd.Ready(d.status()))
}

// replace puts a new generation in force. The previous one is closed after its last
// request.
func (d *Daemon) replace(ctx context.Context) error {
	d.file.recordRead()
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
	d.connections.Change(g.Connections)
	d.apply(ctx, c)
	d.background.Go(before.retire)
	d.limitMemory(g.MemoryLimit)
	return nil
}

// logNotifyError logs the error of a notification of systemd, which is not fatal.
func (d *Daemon) logNotifyError(err error) {
	if err != nil {
		d.log().Debug("systemd was not notified", "error", err)
	}
}

// status returns the status text for systemd.
func (d *Daemon) status() string {
	status := d.config.Status()
	if refused := d.config.Health.refusal(); refused != nil {
		return "Reload refused: " + firstLine(refused) + "; " + status
	}
	return status
}
