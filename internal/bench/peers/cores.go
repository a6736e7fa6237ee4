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

// cores are the cores to which a server is pinned.
type cores struct{ first, last int }

// chooseCores reserves core 0 for the clients and the origin if the machine has enough cores. Otherwise the
// server shares it with them.
func chooseCores(n int) (cores, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return cores{}, fmt.Errorf("choosing cores: %w", err)
	}
	for _, c := range []cores{{1, n}, {0, n - 1}} {
		if _, err = c.parse(stat); err == nil {
			return c, nil
		}
	}
	return cores{}, fmt.Errorf("choosing %d cores: %w", n, err)
}

// shared reports whether the clients run on one of the cores.
func (c cores) shared() bool { return c.first == 0 }

// String returns a list for taskset(1).
func (c cores) String() string { return fmt.Sprintf("%d-%d", c.first, c.last) }

// read returns the sum of the times of the cores.
func (c cores) read() (coreTime, error) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return coreTime{}, fmt.Errorf("cores %s: %w", c, err)
	}
	return c.parse(stat)
}

func (c cores) parse(stat []byte) (coreTime, error) {
	var sum coreTime
	for core := c.first; core <= c.last; core++ {
		t, err := parseCore(stat, core)
		if err != nil {
			return coreTime{}, err
		}
		sum.total += t.total
		sum.idle += t.idle
	}
	return sum, nil
}

// coreTime contains the times of one core in /proc/stat (proc_stat(5)).
type coreTime struct{ total, idle time.Duration }

func parseCore(stat []byte, core int) (coreTime, error) {
	const idle, iowait, steal = 3, 4, 7 // after the name; the guest times that follow are included in others
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
