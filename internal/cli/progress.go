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

// Step says how far a command is that may take long.
type Step struct {
	What        string // is being done: "checking names"
	Done, Total int64  // Total is 0 while it is not known
	Unit        string // of both, "" for what What names; Bytes for bytes
	More        string // what else is worth to know, "" for nothing: "3 rejected"
}

// Bytes is the Unit of bytes.
const Bytes = "bytes"

// Progress shows how far a command is, on standard error: on a terminal by a line that is rewritten, elsewhere by a line every ten
// seconds. Who interrupts the command is answered immediately, since it may take a while until it ends. It is safe for concurrent use.
type Progress struct {
	w          io.Writer
	isTerminal bool

	mu    sync.Mutex
	step  Step
	begun time.Time // the step
	bar   *progressbar.ProgressBar
	// isShown is whether the line is there, and isWithin whether the last writing by Over did not end a line, which must not be rewritten.
	isShown, isWithin bool

	interrupted  context.Context //nolint:containedctx // it lives as long as the command
	end          chan struct{}
	endOnce      sync.Once
	showingEnded sync.WaitGroup
}

const (
	progressLineEvery = 10 * time.Second
	progressBarEvery  = 200 * time.Millisecond
	// progressBarAfter is when a bar is first shown: what takes less is done before anybody reads it, and has no rate.
	progressBarAfter = time.Second
)

// StartProgress shows how far a command is from now on, until End is called.
func StartProgress(cmd *cobra.Command, what string) *Progress {
	w := cmd.ErrOrStderr()
	p := &Progress{
		w: w, isTerminal: IsTerminal(w), step: Step{What: what}, begun: time.Now(), interrupted: cmd.Context(), end: make(chan struct{}),
	}
	p.showingEnded.Go(p.run)
	return p
}

// run shows the last step from time to time.
func (p *Progress) run() {
	every := progressLineEvery
	if p.isTerminal {
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
			fmt.Fprintln(p.w, "urnd: interrupted; ending")
			p.mu.Unlock()
		case <-ticker.C:
			p.mu.Lock()
			p.show()
			p.mu.Unlock()
		}
	}
}

// Show takes how far the command is.
func (p *Progress) Show(s Step) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if s.What != p.step.What {
		p.clear()
		p.bar, p.begun = nil, time.Now()
	}
	p.step = s
}

// show writes the line; p.mu is held.
func (p *Progress) show() {
	if !p.isTerminal {
		fmt.Fprintf(p.w, "urnd: %s\n", p.step.text(time.Since(p.begun)))
		return
	}
	if time.Since(p.begun) < progressBarAfter || p.isWithin {
		return
	}
	most := p.step.Total
	if most <= 0 {
		most = -1 // a spinner
	}
	if p.bar == nil {
		p.bar = progressbar.NewOptions64(most,
			progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(20), progressbar.OptionSetPredictTime(true), progressbar.OptionClearOnFinish(),
			progressbar.OptionShowBytes(p.step.Unit == Bytes), progressbar.OptionShowCount(), progressbar.OptionSetElapsedTime(true),
			progressbar.OptionSetSpinnerChangeInterval(0)) // else a goroutine of its own renders it, which a Clear does not wait for
	}
	about := p.step.What
	if p.step.More != "" {
		about += " (" + p.step.More + ")"
	}
	p.bar.ChangeMax64(most)
	p.bar.Describe(about)
	done := p.step.Done
	if most > 0 {
		done = min(done, most-1) // a bar at its end is not shown any more
	}
	_ = p.bar.Set64(done) // it is only shown
	p.isShown = true
}

// text returns a step as a line, after a time.
func (s Step) text(after time.Duration) string {
	if s.Done == 0 {
		return fmt.Sprintf("%s for %s", s.What, after.Round(time.Second))
	}
	amount := func(n int64) string {
		if s.Unit == Bytes {
			return humanize.IBytes(uint64(n)) //nolint:gosec // it is not negative
		}
		return humanize.Comma(n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", s.What, amount(s.Done))
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
		fmt.Fprintf(&b, ", %s left", time.Duration(float64(after)*float64(s.Total-s.Done)/float64(s.Done)).Round(time.Second))
	}
	if s.More != "" {
		b.WriteString("; " + s.More)
	}
	return b.String()
}

// clear removes the line; p.mu is held.
func (p *Progress) clear() {
	if p.isShown {
		_ = p.bar.Clear() // it is only shown
		p.isShown = false
	}
}

// End ends what is shown. It may be called again.
func (p *Progress) End() {
	p.endOnce.Do(func() { close(p.end) })
	p.showingEnded.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.bar = nil
}

// interruption is the error of a command that was interrupted: what stands then, and how to go on.
type interruption string

func (i interruption) Error() string { return "interrupted: " + string(i) }

// Interrupted ends what is shown, and returns the error of a command: where it was interrupted what stands then, and how to go on, unless
// the error says that already.
func (p *Progress) Interrupted(err error, stands string, of ...any) error {
	p.End()
	if err == nil || p.interrupted.Err() == nil || errors.As(err, new(interruption)) {
		return err
	}
	return interruption(fmt.Sprintf(stands, of...))
}

// Anew is Interrupted for what begins anew.
func (p *Progress) Anew(err error, stands string, of ...any) error {
	return p.Interrupted(err, stands+"; the same command begins anew", of...)
}

// Over returns a writer of lines, to a terminal perhaps where a line is rewritten, which none of them is to be mixed with.
func (p *Progress) Over(w io.Writer) io.Writer {
	if !p.isTerminal || !IsTerminal(w) {
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
	p.isWithin = len(b) > 0 && b[len(b)-1] != '\n'
	return o.w.Write(b)
}

// IsTerminal reports whether w is a character device.
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
