package testserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"time"
)

// process is a peer that runs in the foreground, from start to stop.
type process struct {
	cmd  *exec.Cmd
	done chan struct{} // closed when it ended and was waited for
}

// startProcess starts path in dir and appends what it prints to the file log,
// which is open only for as long as the process needs to inherit it.
func startProcess(dir, log, path string, args ...string) (*process, error) {
	output, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	defer output.Close()
	cmd := exec.Command(path, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, output, output
	dieWithParent(cmd)

	p := &process{cmd: cmd, done: make(chan struct{})}
	started := make(chan error)
	go p.run(started)
	if err := <-started; err != nil {
		<-p.done
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// run starts the process, reports that, and waits for its end.
func (p *process) run(started chan<- error) {
	defer close(p.done)
	// Linux sends the signal of dieWithParent when the thread that started the
	// process ends: this one must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err == nil {
		_ = p.cmd.Wait() // ProcessState tells the same
	}
}

// ended reports how the process ended, or nil while it runs.
func (p *process) ended() error {
	select {
	case <-p.done:
		return fmt.Errorf("ended by itself: %s", p.cmd.ProcessState)
	default:
		return nil
	}
}

// stop ends the process and waits for it. It fails when the process had ended
// before, did not end in good order, or had to be killed.
func (p *process) stop() error {
	if err := p.ended(); err != nil {
		return err
	}
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("stop: %w", err)
	}
	const patience = 20 * time.Second
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		_ = p.cmd.Process.Kill() // fails only if it ended meanwhile
		<-p.done
		return fmt.Errorf("stop: still running after %v, killed", patience)
	}
	if !p.cmd.ProcessState.Success() {
		return fmt.Errorf("stop: %s", p.cmd.ProcessState)
	}
	return nil
}
