//go:build linux

package main

import "time"

// reading is what counters say at one time, or what they say between two.
type reading struct {
	cpu                time.Duration // of the server
	core               coreTime      // of the server's cores, all programs
	requests, accepted int64         // at the origin
}

// read reads the counters. An error means that there is no such core.
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

// since returns what has been counted between an earlier reading and now.
func (earlier reading) since(ends *network, v *server) (reading, error) {
	now, err := read(ends, v)
	return reading{
		cpu:      now.cpu - earlier.cpu,
		core:     coreTime{now.core.total - earlier.core.total, now.core.idle - earlier.core.idle},
		requests: now.requests - earlier.requests,
		accepted: now.accepted - earlier.accepted,
	}, err
}

// others returns which part of its cores' time the server could not have: other programs
// had it, or the host of a virtual machine.
func (r reading) others() float64 {
	return max(0, (r.core.total-r.core.idle-r.cpu).Seconds()/max(tick, r.core.total).Seconds())
}

// idle returns for which part of the time nothing ran on the server's cores.
func (r reading) idle() float64 {
	return r.core.idle.Seconds() / max(tick, r.core.total).Seconds()
}
