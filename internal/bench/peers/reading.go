//go:build linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"
)

// reading is what counters say at one time, or what they say between two.
type reading struct {
	cpu                time.Duration // of the server
	core               coreTime      // of the server's core, all programs
	requests, accepted int64         // at the origin
}

// read reads the counters. An error means that there is no such core.
func read(ends *network, v *server) (reading, error) {
	core, err := readCore(serverCore)
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

// others returns which part of its core's time the server could not have: other programs
// had it, or the host of a virtual machine.
func (r reading) others() float64 {
	return max(0, (r.core.total-r.core.idle-r.cpu).Seconds()/max(tick, r.core.total).Seconds())
}

// idle returns for which part of the time nothing ran on the server's core.
func (r reading) idle() float64 {
	return r.core.idle.Seconds() / max(tick, r.core.total).Seconds()
}

// serverCore is the core that the server is pinned to.
const serverCore = 1

// coreTime is what /proc/stat tells of one core (proc_stat(5)).
type coreTime struct{ total, idle time.Duration }

func readCore(core int) (coreTime, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return coreTime{}, fmt.Errorf("core %d: %w", core, err)
	}
	return parseCore(text, core)
}

func parseCore(stat []byte, core int) (coreTime, error) {
	const idle, iowait, steal = 3, 4, 7 // after the name; the guests' times that follow are counted before
	lines := bufio.NewScanner(bytes.NewReader(stat))
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) <= 1+steal || string(fields[0]) != "cpu"+strconv.Itoa(core) {
			continue
		}
		var c coreTime
		for i, field := range fields[1 : 2+steal] {
			ticks, err := strconv.ParseInt(string(field), 10, 64)
			if err != nil {
				return coreTime{}, fmt.Errorf("core %d: %w", core, err)
			}
			c.total += time.Duration(ticks) * tick
			if i == idle || i == iowait {
				c.idle += time.Duration(ticks) * tick
			}
		}
		return c, nil
	}
	return coreTime{}, fmt.Errorf("core %d: there is none", core)
}
