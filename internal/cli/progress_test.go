package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/urnd/urnd/internal/cli"
)

// output collects the output of a command.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) take() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	defer o.text.Reset()
	return o.text.String()
}

// started returns the progress of a command that ctx interrupts.
func started(ctx context.Context, what string) (*cli.Progress, *output) {
	var cmd cobra.Command
	o := new(output)
	cmd.SetErr(o)
	cmd.SetContext(ctx)
	return cli.StartProgress(&cmd, what), o
}

// Without a terminal there is a line every ten seconds, even without progress.
func TestProgressInLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, o := started(t.Context(), "opening")
		after := func(d time.Duration, want string) {
			t.Helper()
			time.Sleep(d)
			synctest.Wait()
			if got := o.take(); got != want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		after(10*time.Second-1, "")
		after(1, "urnd: opening for 10s\n")
		p.Show(cli.Step{Activity: "checking names", Done: 1, Total: 1_000_000})
		p.Show(cli.Step{Activity: "checking names", Done: 100_000, Total: 1_000_000, More: "2 errors"})
		after(10*time.Second,
			"urnd: checking names: 100,000 of 1,000,000 (10 %), 10,000 a second, 1m30s left; 2 errors\n")
		p.Show(cli.Step{Activity: "checking names", Done: 400_000})
		after(10*time.Second, "urnd: checking names: 400,000, 20,000 a second\n")
		p.Show(cli.Step{Activity: "copying", Done: 512 << 20, Total: 1 << 30, Unit: cli.Bytes})
		after(10*time.Second, "urnd: copying: 512 MiB of 1.0 GiB (50 %), 51 MiB a second, 10s left\n")
		p.Show(cli.Step{Activity: "writing", Done: 7, Total: 7, Unit: "names"})
		after(10*time.Second, "urnd: writing: 7 of 7 names (100 %), 0 a second\n")
		p.End()
		p.End()
		after(time.Minute, "")
	})
}

// An interruption is acknowledged immediately, and the final error describes the state; other errors are
// unchanged.
func TestProgressIsInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		failure := errors.New("the disk is full")
		ctx, interrupt := context.WithCancel(t.Context())
		p, _ := started(ctx, "checking")
		if err := p.Interrupted(failure, "%d names were checked", 7); !errors.Is(err, failure) {
			t.Errorf("it was not interrupted: %v", err)
		}
		p, o := started(ctx, "checking")
		interrupt()
		synctest.Wait()
		if got := o.take(); got != "urnd: interrupted, stopping\n" {
			t.Errorf("%q", got)
		}
		if err := p.Interrupted(ctx.Err(), "%d names were checked", 7); err == nil ||
			err.Error() != "interrupted: 7 names were checked" {
			t.Errorf("%v", err)
		}
		if err := p.Interrupted(nil, "it ended before"); err != nil {
			t.Errorf("%v", err)
		}
	})
}

// A blocked read fails when it is interrupted.
func TestInterruptible(t *testing.T) {
	ctx, interrupt := context.WithCancel(t.Context())
	from, to := io.Pipe()
	defer to.Close()
	r := cli.Interruptible(ctx, from)
	go func() { _, _ = io.WriteString(to, "some") }()
	b := make([]byte, 4)
	if _, err := io.ReadFull(r, b); err != nil || string(b) != "some" {
		t.Fatalf("%q, %v", b, err)
	}
	interrupt()
	if _, err := r.Read(b); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if text, err := io.ReadAll(cli.Interruptible(t.Context(), strings.NewReader("all"))); err != nil ||
		string(text) != "all" {
		t.Errorf("%q, %v", text, err)
	}
}
