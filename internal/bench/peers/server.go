//go:build linux

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// server is a running peer.
type server struct {
	peer    peer
	at      place
	on      cores
	cmd     *exec.Cmd
	done    chan struct{}     // closed after cmd.Wait
	started time.Time         // start time of its process
	sent    map[string]uint64 // number of requests by title of the row, so that the URLs of turns differ
}

// startPeer starts a peer in its own folder with a number of processors, and waits until it listens.
func startPeer(ctx context.Context, ends *network, p peer, processors int) (*server, error) {
	if p.single && processors > 1 {
		return nil, fmt.Errorf("%s uses one processor only", p.name)
	}
	on, err := chooseCores(processors)
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	dir, err := os.MkdirTemp(tmpfs(), "urnd-peers-"+p.name+"-")
	if err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, err)
	}
	addresses, err := freePorts(ctx, 4)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	at := ends.place
	at.Dir, at.Forward, at.Gateway, at.Admin, at.Secure, at.Processors = dir, addresses[0], addresses[1], addresses[2],
		addresses[3], processors
	at.With = p.with
	v := &server{peer: p, at: at, on: on, done: make(chan struct{}), sent: map[string]uint64{}}
	if err := v.start(); err != nil {
		return nil, fmt.Errorf("starting %s: %w", p.name, errors.Join(err, os.RemoveAll(dir)))
	}
	if err := v.listens(ctx); err != nil {
		output := v.output()
		return nil, fmt.Errorf("starting %s: %w%s", p.name, errors.Join(err, v.stop()), output)
	}
	return v, nil
}

// tmpfs returns the folder of tmpfs on Linux, or else the folder for temporary files.
func tmpfs() string {
	const shared = "/dev/shm"
	if info, err := os.Stat(shared); err == nil && info.IsDir() {
		return shared
	}
	return os.TempDir()
}

func (v *server) start() error {
	if err := v.peer.write(v.at); err != nil {
		return err
	}
	argv := v.peer.command(v.at)
	path, err := program(argv[0])
	if err != nil {
		return err
	}
	// taskset executes the server in its own process.
	pinned := append([]string{"-c", v.on.String(), path}, argv[1:]...)
	v.cmd = exec.Command("taskset", pinned...) //nolint:gosec,noctx // the command of a peer; stop ends it in order
	v.cmd.Dir = v.at.Dir
	v.cmd.Env = os.Environ()
	if v.peer.env != nil {
		v.cmd.Env = append(v.cmd.Env, v.peer.env(v.at)...)
	}
	output, err := os.OpenFile(v.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer output.Close()
	v.cmd.Stdout, v.cmd.Stderr = output, output
	v.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	v.started = time.Now()
	if err := v.cmd.Start(); err != nil {
		return err
	}
	go func() {
		defer close(v.done)
		_ = v.cmd.Wait() // ProcessState has the result
	}()
	return nil
}

// program finds a program. It also searches the folders of daemons, which the PATH of an ordinary user lacks.
func program(name string) (string, error) {
	for _, dir := range []string{"", "/usr/local/sbin", "/usr/sbin", "/sbin"} {
		if path, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}

func (v *server) log() string { return filepath.Join(v.at.Dir, "output.log") }

// output returns the end of the server's output after a line feed.
func (v *server) output() string {
	const most = 2 << 10
	text, err := os.ReadFile(v.log())
	if err != nil || len(text) == 0 {
		return ""
	}
	return "\n" + strings.TrimSpace(string(text[max(0, len(text)-most):]))
}

// listens waits until the server accepts connections as a gateway, or as a forward proxy if it only has that
// role with a feature.
func (v *server) listens(ctx context.Context) error {
	const waitLimit = time.Minute // Squid needs ten seconds for a list of a million hosts, and more on a busy machine
	ctx, cancel := context.WithTimeout(ctx, waitLimit)
	defer cancel()
	address := v.at.Gateway
	if v.peer.with != none {
		address = v.at.Forward
	}
	var dialer net.Dialer
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		c, err := dialer.DialContext(ctx, "tcp", address)
		if err == nil {
			return c.Close()
		}
		select {
		case <-v.done:
			return v.ended()
		case <-ctx.Done():
			return fmt.Errorf("it does not listen: %w", err)
		case <-tick.C:
		}
	}
}

// ended returns how the server ended, or nil while it is running.
func (v *server) ended() error {
	select {
	case <-v.done:
		return fmt.Errorf("it has ended: %s", v.cmd.ProcessState)
	default:
		return nil
	}
}

// stop stops the server and its children, and removes its folder.
func (v *server) stop() error {
	family := processTree(v.cmd.Process.Pid)
	_ = v.cmd.Process.Signal(syscall.SIGTERM) // fails only if it has ended
	const waitLimit = 10 * time.Second
	late := time.NewTimer(waitLimit)
	defer late.Stop()
	select {
	case <-v.done:
	case <-late.C:
		_ = v.cmd.Process.Kill() // as above
		<-v.done
	}
	for _, p := range family {
		p.kill()
	}
	if err := os.RemoveAll(v.at.Dir); err != nil {
		return fmt.Errorf("removing %s's folder: %w", v.peer.name, err)
	}
	return nil
}
