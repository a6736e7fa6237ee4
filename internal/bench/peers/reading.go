//go:build linux

package main

import "time"

// reading contains counters at one time, or their differences between two.
type reading struct {
	cpu                time.Duration // of the server
	core               coreTime      // of the server's cores, all programs
	requests, accepted int64         // at the origin
}

// read reads the counters. It returns an error if the core does not exist.
func read(ends *network, v *server) (reading, error) {
	core, err := v.on.read()
	if err != nil {
		return reading{}, err
	}
	return reading{
		cpu:      cpuTime(v.cmd.Process.Pid),
		core:     core,
		requests: ends.requests.Load(),
		accepted: ends.accepted.Load(),
	}, nil
}

// since returns the difference between an earlier reading and now.
func (earlier reading) since(ends *network, v *server) (reading, error) {
	now, err := read(ends, v)
	return reading{
		cpu:      now.cpu - earlier.cpu,
		core:     coreTime{now.core.total - earlier.core.total, now.core.idle - earlier.core.idle},
		requests: now.requests - earlier.requests,
		accepted: now.accepted - earlier.accepted,
	}, err
}

// others returns the fraction of its cores' time that was not available to the server: it was used by other
// programs, or by the host of a virtual machine.
func (r reading) others() float64 {
	return max(0, (r.core.total-r.core.idle-r.cpu).Seconds()/max(tick, r.core.total).Seconds())
}

// idle returns the fraction of time in which the server's cores were idle.
func (r reading) idle() float64 {
	return r.core.idle.Seconds() / max(tick, r.core.total).Seconds()
}
