package main

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/daemon"
	"github.com/urnd/urnd/resolver/ddds"
)

// dnsProbeEvery is how often the DNS servers are asked whether they answer again, while none does.
const dnsProbeEvery = 2 * time.Second

// probeDNS asks for a root while no DNS server answers, so that health learns when one does although nobody asks
// for a name.
func probeDNS(r *resolution, roots []string, health *daemon.Health) {
	ask := ddds.QueryRoot(r.dns, append(slices.Clone(roots), ".")[0])
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	r.starters = append(r.starters, func() {
		running.Go(func() {
			every := time.NewTicker(dnsProbeEvery)
			defer every.Stop()
			for {
				select {
				case <-every.C:
				case <-ctx.Done():
					return
				}
				if health.AwaitsDNS() {
					_ = ask(ctx) // health is told how it ends
				}
			}
		})
	})
	r.closers = append(r.closers, func() {
		cancel()
		running.Wait()
	})
}
