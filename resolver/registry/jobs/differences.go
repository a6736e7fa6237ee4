package jobs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/diff"
)

// differences writes the changes that a dry run would make to a file. The zero value discards them.
type differences struct {
	file    *os.File
	to      *bufio.Writer
	printer diff.Printer
}

// create creates the file of a job, and truncates that of an interrupted run.
func (d *differences) create(j *Jobs, of storedJob) error {
	const ownerOnly = 0o600
	f, err := os.OpenFile(j.path(of.body(), differencesFile), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, ownerOnly)
	if err != nil {
		return storing(err)
	}
	d.file, d.to = f, bufio.NewWriter(f)
	d.printer = diff.Printer{Out: d.to, Format: diff.NDJSON, Limit: maxDifferences}
	return nil
}

func (d *differences) add(c registry.Changed) {
	if d.file != nil {
		d.printer.Changed(c)
	}
}

// counts returns the number of names that would change, nil if the job is no dry run.
func (d *differences) counts() *diff.Counts {
	if d.file == nil {
		return nil
	}
	return &d.printer.Counts
}

func (d *differences) close() error {
	if d.file == nil {
		return nil
	}
	return errors.Join(d.printer.End(d.to), d.to.Flush(), d.file.Close())
}

// Differences opens the file of the changes that a dry run would make, as NDJSON whose last line has the
// counts. The caller closes it. ErrOtherInstance means that another instance has the file, or that there is none.
func (j *Jobs) Differences(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	found, err := j.readable(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	if !found.DryRun {
		return nil, fmt.Errorf("%w: not a dry run: its changes are in its change set", ErrOtherInstance)
	}
	f, err := os.Open(j.path(found.body(), differencesFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrOtherInstance
	}
	if err != nil {
		return nil, fmt.Errorf("opening the differences: %w", err)
	}
	return f, nil
}
