package adversary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// daemon is a process of urnd.
type daemon struct {
	service, tls, admin string // addresses, "off" if disabled

	cmd    *exec.Cmd
	ended  chan struct{} // closed when the process has ended
	status error         // exit status
	told   atomic.Bool   // set before a requested end

	mu     sync.Mutex
	alarms []string // log lines that indicate a bug of urnd
	tail   []string // last lines of the log
}

// alarm lists texts in the log that indicate a bug of urnd, such as a recovered panic of a handler.
var alarm = []string{"panic", "fatal error:", "DATA RACE", "internal error"}

// launch starts a binary with a configuration file and waits until it is ready. Environment variables override
// single settings; files are inherited sockets.
func launch(
	ctx context.Context, binary, directory, config string, environment []string, files ...*os.File,
) (*daemon, error) {
	file := filepath.Join(directory, "urnd.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		return nil, err
	}
	d := &daemon{ended: make(chan struct{})}
	d.cmd = exec.Command(binary, "serve", "--config", file)
	if len(files) > 0 { // LISTEN_PID is the PID of the process that the shell becomes
		d.cmd = exec.Command("sh", "-c", `LISTEN_PID=$$ exec "$0" "$@"`, binary, "serve", "--config", file)
	}
	d.cmd.ExtraFiles = files
	d.cmd.Env = append(os.Environ(), environment...)
	stderr, err := d.cmd.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	ready := make(chan struct{})
	go d.read(stderr, ready)
	select {
	case <-ready:
		return d, nil
	case <-d.ended:
		return nil, fmt.Errorf("urnd ended before it was ready: %s: %s", d.cmd.ProcessState, d.lastLines())
	case <-ctx.Done():
		d.kill()
		return nil, fmt.Errorf("urnd was not ready: %w: %s", ctx.Err(), d.lastLines())
	}
}

// read reads the log of the process until it ends.
func (d *daemon) read(stderr io.Reader, ready chan<- struct{}) {
	defer close(d.ended)
	announced := false
	for lines := bufio.NewReaderSize(stderr, 1<<20); ; {
		line, err := lines.ReadString('\n')
		d.note(line)
		var reported struct{ Msg, Service, TLS, Admin string }
		if !announced && json.Unmarshal([]byte(line), &reported) == nil && reported.Msg == "urnd is ready" {
			announced = true
			d.service, d.tls, d.admin = reported.Service, reported.TLS, reported.Admin
			close(ready)
		}
		if err != nil {
			break
		}
	}
	d.status = d.cmd.Wait()
}

func (d *daemon) note(line string) {
	const keep, longest = 40, 2000
	line = line[:min(len(line), longest)]
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, text := range alarm {
		if strings.Contains(line, text) && len(d.alarms) < keep {
			d.alarms = append(d.alarms, line)
			break
		}
	}
	if d.tail = append(d.tail, line); len(d.tail) > keep {
		d.tail = d.tail[1:]
	}
}

// takeAlarms returns the alarms since the last call as an error, or nil.
func (d *daemon) takeAlarms() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.alarms) == 0 {
		return nil
	}
	err := fmt.Errorf("its log has %d alarms, the first: %s", len(d.alarms), strings.TrimSpace(d.alarms[0]))
	d.alarms = nil
	return err
}

func (d *daemon) lastLines() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return strings.Join(d.tail[max(0, len(d.tail)-8):], "")
}

// crashed returns an error if the process has ended unexpectedly.
func (d *daemon) crashed() error {
	select {
	case <-d.ended:
		return fmt.Errorf("urnd has ended: %s: %s", d.cmd.ProcessState, d.lastLines())
	default:
		return nil
	}
}

// answers returns an error unless urnd responds to a normal request on a new connection.
func (d *daemon) answers(ctx context.Context) error {
	if err := d.crashed(); err != nil {
		return err
	}
	got, err := get(ctx, d.service, "127.0.0.1", "/urn:ietf:rfc:2648")
	if err != nil {
		return fmt.Errorf("a normal request afterwards: %w", err)
	}
	if got.status != 302 {
		return fmt.Errorf("a normal request afterwards is answered %d: %s", got.status, got.body)
	}
	return nil
}

// peak returns the peak resident memory of the process in MiB (proc(5), VmHWM).
func (d *daemon) peak() (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", d.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if value, ok := bytes.CutPrefix(line, []byte("VmHWM:")); ok {
			kib, err := strconv.Atoi(string(bytes.TrimSpace(bytes.TrimSuffix(bytes.TrimSpace(value), []byte("kB")))))
			return kib >> 10, err
		}
	}
	return 0, errors.New("the status of the process has no VmHWM")
}

// below returns an error if the peak memory exceeds most MiB.
func (d *daemon) below(most int) error {
	if peak, err := d.peak(); err != nil || peak > most {
		return errors.Join(err, fmt.Errorf("the peak of its memory is %d MiB, more than %d", peak, most))
	}
	return nil
}

// stop sends SIGTERM and waits until the process has ended.
func (d *daemon) stop(ctx context.Context) error {
	if err := d.crashed(); err != nil {
		return err
	}
	d.told.Store(true)
	_ = d.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
		if d.status != nil {
			return fmt.Errorf("urnd ended with %w: %s", d.status, d.lastLines())
		}
		return d.takeAlarms()
	case <-ctx.Done():
		d.kill()
		return fmt.Errorf("urnd did not stop: %s", d.lastLines())
	}
}

// kill kills the process if it is running.
func (d *daemon) kill() {
	d.told.Store(true)
	_ = d.cmd.Process.Kill()
	<-d.ended
}

// eventually polls a condition until it holds; the error is the last one that it returned.
func eventually(ctx context.Context, within time.Duration, holds func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		err := holds()
		if err == nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return err
		}
	}
}

// portOf returns the port of an address.
func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
