//go:build linux

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// process is what /proc tells of a process (proc_pid_stat(5)).
type process struct {
	pid, parent int
	cpu         time.Duration // user and system time, its own and that of its children that have ended
	started     uint64        // in ticks since the boot; a number that is used again has another one
}

// tick is the unit of times in /proc: USER_HZ is 100 on all architectures of Linux that Go has.
const tick = 10 * time.Millisecond

// parseStat parses the content of /proc/PID/stat. The name, in parentheses, may have any
// octets.
func parseStat(text []byte) (process, error) {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return process{}, fmt.Errorf("stat of a process: no name in %q", text)
	}
	const (
		parent, utime, cstime, starttime = 1, 11, 14, 19 // after the name
	)
	fields := bytes.Fields(text[end+1:])
	if len(fields) <= starttime {
		return process{}, fmt.Errorf("stat of a process: %d fields after the name", len(fields))
	}
	var p process
	var err error
	if p.pid, err = strconv.Atoi(string(bytes.TrimSpace(text[:open]))); err != nil {
		return process{}, fmt.Errorf("stat of a process: number: %w", err)
	}
	if p.parent, err = strconv.Atoi(string(fields[parent])); err != nil {
		return process{}, fmt.Errorf("stat of a process: parent: %w", err)
	}
	for _, field := range fields[utime : cstime+1] {
		ticks, err := strconv.ParseInt(string(field), 10, 64)
		if err != nil {
			return process{}, fmt.Errorf("stat of a process: time: %w", err)
		}
		p.cpu += time.Duration(ticks) * tick
	}
	if p.started, err = strconv.ParseUint(string(fields[starttime]), 10, 64); err != nil {
		return process{}, fmt.Errorf("stat of a process: start: %w", err)
	}
	return p, nil
}

// processTree returns a process and all below it; those that end meanwhile are missing.
func processTree(root int) []process {
	names, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		return nil
	}
	children := map[int][]process{}
	var tree []process
	for _, name := range names {
		text, err := os.ReadFile(name) //nolint:gosec // Glob found it in /proc
		if err != nil {
			continue // it has ended
		}
		p, err := parseStat(text)
		if err != nil {
			continue
		}
		if p.pid == root {
			tree = append(tree, p)
			continue
		}
		children[p.parent] = append(children[p.parent], p)
	}
	for i := 0; i < len(tree); i++ {
		tree = append(tree, children[tree[i].pid]...)
	}
	return tree
}

// cpuTime returns the CPU time of a process and all below it.
func cpuTime(root int) time.Duration {
	var sum time.Duration
	for _, p := range processTree(root) {
		sum += p.preciseCPU()
	}
	return sum
}

// preciseCPU returns the process's CPU time by its clock (clock_getcpuclockid(3)), since a server that shares its core has few ticks in
// a turn; where there is no such clock, by ticks. Children that have ended are left out of the former.
func (p process) preciseCPU() time.Duration {
	const schedulerClock = 2 // CPUCLOCK_SCHED of Linux: the number of a process's clock is its complement in the bits above
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^p.pid<<3|schedulerClock), &t); err != nil { //nolint:gosec // PIDs have 22 bits
		return p.cpu
	}
	return time.Duration(t.Nano())
}

// kill ends the process if it still runs, and is not another one of the same number.
func (p process) kill() {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return
	}
	if now, err := parseStat(text); err == nil && now.started == p.started {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // fails only if it has ended
	}
}
