package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

// process is a server that runs in the foreground.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed after cmd.Wait
}

// startProcess starts path in dir and appends its output to the file log, which is only open here until the
// process has inherited it.
func startProcess(dir, log, path string, args ...string) (*process, error) {
	return startCommand(dir, log, exec.Command(path, args...))
}

// startCommand is like startProcess for any command.
func startCommand(dir, log string, cmd *exec.Cmd) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	defer output.Close()
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	dieWithParent(cmd)

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// run starts the process, reports the result, and waits for its end.
func (p *process) run(started chan<- error) {
	defer close(p.done)
	// Linux sends the signal of dieWithParent when the thread that started the process ends, so this thread
	// must not end before.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // ProcessState has the result
	}
}

// ended reports how the process ended, or nil while it is running.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("exited unexpectedly: %s", p.cmd.ProcessState)
	default:
		return nil
	}
}

// stop stops the process and waits for it. It fails if the process had ended before, had to be killed, or did
// not exit with status 0.
func (p *process) stop() error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop: %w", err)
	}
	const stopTimeout = 20 * time.Second
	timer := time.NewTimer(stopTimeout)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill() // fails only if it has ended
		<-p.done
		return fmt.Errorf("stop: still running after %v, killed", stopTimeout)
	}
	if !p.cmd.ProcessState.Success() && !p.crashedAtStop() {
		return fmt.Errorf("stop: %s", p.cmd.ProcessState)
	}
	return nil
}

// crashedAtStop reports whether the process is the apache2 or slapd of Debian 12, which occasionally end with
// SIGSEGV when stopped, unrelated to urnd.
func (p *process) crashedAtStop() bool {
	status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus)
	name := filepath.Base(p.cmd.Path)
	return ok && status.Signaled() && status.Signal() == syscall.SIGSEGV && (name == "apache2" || name == "slapd")
}
