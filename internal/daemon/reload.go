package main

import (
	"context"
	"time"

	"github.com/urnd/urnd/systemd"
)

// reload puts the configuration in force as it is now. One that is wrong changes
// nothing, and is said to be so.
func (d *daemon) reload(ctx context.Context) error {
	d.tell(systemd.Reloading())
	start := d.surroundings.now()
	err := d.exchange(ctx)
	d.surroundings.health.reloaded(err)
	d.surroundings.metrics.Reload(err == nil, d.surroundings.now())
	if err != nil {
		if err := d.current.generation.log.reopen(); err != nil { // who asks may have renamed it
			d.log().Warn("the access log was not opened anew", "error", err)
		}
		d.log().Error("the configuration was not reloaded, and nothing has changed", "error", err)
		d.tell(systemd.Ready(d.status()))
		return err
	}
	d.log().Info("the configuration was reloaded", "took", d.surroundings.now().Sub(start).Round(time.Microsecond).String())
	d.tell(systemd.Ready(d.status()))
	return nil
}

// exchange builds the new generation beside the old one, which lives until its last
// request ends.
func (d *daemon) exchange(ctx context.Context) error {
	d.file.look()
	c, err := d.read()
	if err != nil {
		return err
	}
	g, err := d.generate(c) //nolint:contextcheck // what it makes outlives the caller
	if err != nil {
		return err
	}
	made, err := d.prepare(ctx, g)
	if err != nil {
		g.retire()
		return err
	}
	before := d.current.replace(g)
	d.gate.Configure(gateConfig(c))
	d.apply(ctx, made)
	d.behind.Go(before.retire)
	d.limitMemory(c.Limits.Memory)
	return nil
}
