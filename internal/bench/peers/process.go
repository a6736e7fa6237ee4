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

// process contains the data of a process in /proc (proc_pid_stat(5)).
type process struct {
	pid, parent int
	cpu         time.Duration // user and system time, including children that have ended
	started     uint64        // in ticks since boot; distinguishes processes with the same PID
}

// tick is the unit of times in /proc: USER_HZ is 100 on all Linux architectures supported by Go.
const tick = 10 * time.Millisecond

// parseStat parses /proc/PID/stat. The name in parentheses may contain any bytes.
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

// processTree returns a process and its descendants; those that end meanwhile may be missing.
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

// cpuTime returns the CPU time of a process and its descendants.
func cpuTime(root int) time.Duration {
	var sum time.Duration
	for _, p := range processTree(root) {
		sum += p.preciseCPU()
	}
	return sum
}

// preciseCPU returns the CPU time of the process by its clock (clock_getcpuclockid(3)), because a server that
// shares its core uses few ticks in a turn. Without such a clock it returns the time in ticks. The clock
// excludes children that have ended.
func (p process) preciseCPU() time.Duration {
	const schedulerClock = 2 // CPUCLOCK_SCHED of Linux; the upper bits of the clock ID are the complement of the PID
	var t unix.Timespec
	if err := unix.ClockGettime(int32(^p.pid<<3|schedulerClock), &t); err != nil { //nolint:gosec // PIDs have 22 bits
		return p.cpu
	}
	return time.Duration(t.Nano())
}

// kill kills the process if it is still running, and not another process with the same PID.
func (p process) kill() {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.pid))
	if err != nil {
		return
	}
	if now, err := parseStat(text); err == nil && now.started == p.started {
		_ = syscall.Kill(p.pid, syscall.SIGKILL) // fails only if it has ended
	}
}
