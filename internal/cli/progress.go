package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/schollz/progressbar/v3"
	"github.com/spf13/cobra"
)

// Step is the progress of a long command.
type Step struct {
	Activity    string // the activity: "checking names"
	Done, Total int64  // Total is 0 if unknown
	Unit        string // of Done and Total, "" for the objects of Activity; Bytes for bytes
	More        string // additional information, "" for none: "3 rejected"
}

// Bytes is the Unit of bytes.
const Bytes = "bytes"

// Progress shows the progress of a command on standard error: on a terminal by rewriting a line, elsewhere by
// a line every ten seconds. An interruption is acknowledged immediately, since the command may take a while
// to end. It is safe for concurrent use.
type Progress struct {
	w        io.Writer
	terminal bool

	mu      sync.Mutex
	step    Step
	started time.Time // start of the step
	bar     *progressbar.ProgressBar
	// shown means that the progress line is on the terminal. within means that the last write through
	// Writer ended without a line end; that line must not be overwritten.
	shown, within bool

	interrupted  context.Context //nolint:containedctx // it lives as long as the command
	end          chan struct{}
	endOnce      sync.Once
	showingEnded sync.WaitGroup
}

const (
	progressLineEvery = 10 * time.Second
	progressBarEvery  = 200 * time.Millisecond
	// progressBarAfter is the delay before a bar is first shown: shorter steps end before anybody reads it,
	// and have no meaningful rate.
	progressBarAfter = time.Second
)

// StartProgress shows the progress of a command until End is called.
func StartProgress(cmd *cobra.Command, what string) *Progress {
	w := cmd.ErrOrStderr()
	p := &Progress{
		w: w, terminal: IsTerminal(w), step: Step{Activity: what}, started: time.Now(), interrupted: cmd.Context(),
		end: make(chan struct{}),
	}
	p.showingEnded.Go(p.run)
	return p
}

// run shows the last step periodically.
func (p *Progress) run() {
	every := progressLineEvery
	if p.terminal {
		every = progressBarEvery
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	interrupted := p.interrupted.Done()
	for {
		select {
		case <-p.end:
			return
		case <-interrupted:
			interrupted = nil
			p.mu.Lock()
			p.clear()
			fmt.Fprintln(p.w, "urnd: interrupted, stopping")
			p.mu.Unlock()
		case <-ticker.C:
			p.mu.Lock()
			p.show()
			p.mu.Unlock()
		}
	}
}

// Show sets the progress of the command.
func (p *Progress) Show(s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.Activity != p.step.Activity {
		p.clear()
		p.bar, p.started = nil, time.Now()
	}
	p.step = s
}

// show writes the progress line; p.mu is held.
func (p *Progress) show() {
	if !p.terminal {
		fmt.Fprintf(p.w, "urnd: %s\n", p.step.text(time.Since(p.started)))
		return
	}
	if time.Since(p.started) < progressBarAfter || p.within {
		return
	}
	most := p.step.Total
	if most <= 0 {
		most = -1 // a spinner
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(most,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(20), progressbar.OptionSetPredictTime(true),
			progressbar.OptionClearOnFinish(), progressbar.OptionShowBytes(p.step.Unit == Bytes),
			progressbar.OptionShowCount(),
			progressbar.OptionSetElapsedTime(true),
			// Otherwise a goroutine renders it, for which Clear does not wait.
			progressbar.OptionSetSpinnerChangeInterval(0))
	}
	about := p.step.Activity
	if p.step.More != "" {
		about += " (" + p.step.More + ")"
	}
	p.bar.ChangeMax64(most)
	p.bar.Describe(about)
	done := p.step.Done
	if most > 0 {
		done = min(done, most-1) // a completed bar is not rendered any more
	}
	_ = p.bar.Set64(done) // display only
	p.shown = true
}

// text formats a step as a line, after the given duration.
func (s Step) text(after time.Duration) string {
	if s.Done == 0 {
		return fmt.Sprintf("%s for %s", s.Activity, after.Round(time.Second))
	}
	amount := func(n int64) string {
		if s.Unit == Bytes {
			return humanize.IBytes(uint64(n)) //nolint:gosec // not negative
		}
		return humanize.Comma(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.Activity, amount(s.Done))
	if s.Total > 0 {
		fmt.Fprintf(&b, " of %s", amount(s.Total))
	}
	if s.Unit != "" && s.Unit != Bytes {
		b.WriteString(" " + s.Unit)
	}
	if s.Total > 0 {
		fmt.Fprintf(&b, " (%d %%)", 100*s.Done/s.Total)
	}
	if after > 0 {
		fmt.Fprintf(&b, ", %s a second", amount(int64(float64(s.Done)/after.Seconds())))
	}
	if s.Total > s.Done {
		fmt.Fprintf(&b, ", %s left",
			time.Duration(float64(after)*float64(s.Total-s.Done)/float64(s.Done)).Round(time.Second))
	}
	if s.More != "" {
		b.WriteString("; " + s.More)
	}
	return b.String()
}

// clear removes the progress line; p.mu is held.
func (p *Progress) clear() {
	if p.shown {
		_ = p.bar.Clear() // display only
		p.shown = false
	}
}

// End stops showing progress. It may be called again.
func (p *Progress) End() {
	p.endOnce.Do(func() { close(p.end) })
	p.showingEnded.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.bar = nil
}

// interruption is the error of an interrupted command: the state that it leaves, and how to continue.
type interruption string

func (i interruption) Error() string { return "interrupted: " + string(i) }

// Interrupted calls End, and returns the error of a command. If the command was interrupted, the error
// describes the state that it leaves and how to continue, unless err does so already.
func (p *Progress) Interrupted(err error, stands string, of ...any) error {
	p.End()
	if err == nil || p.interrupted.Err() == nil || errors.As(err, new(interruption)) {
		return err
	}
	return interruption(fmt.Sprintf(stands, of...))
}

// InterruptedRestart is Interrupted for a command that has to start again.
func (p *Progress) InterruptedRestart(err error, stands string, of ...any) error {
	return p.Interrupted(err, stands+"; the same command starts over", of...)
}

// Writer returns a writer for lines of output, which removes the progress line before each write if both are on
// a terminal.
func (p *Progress) Writer(w io.Writer) io.Writer {
	if !p.terminal || !IsTerminal(w) {
		return w
	}
	return over{p, w}
}

type over struct {
	progress *Progress
	w        io.Writer
}

// Write implements io.Writer.
func (o over) Write(b []byte) (int, error) {
	p := o.progress
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.within = len(b) > 0 && b[len(b)-1] != '\n'
	return o.w.Write(b)
}

// IsTerminal reports whether w is a character device other than the null device.
func IsTerminal(w io.Writer) bool {
	file, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := file.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull)
	return err != nil || !os.SameFile(info, null)
}
