package jobs

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
	"github.com/urnd/urnd/resolver/registry/token"
	"github.com/urnd/urnd/uri"
)

// run runs a job, and returns the final update of its document.
func (j *Jobs) run(ctx context.Context, of storedJob, body *os.File) (end func(*storedJob)) {
	lines, err := j.rejections(of)
	if err != nil {
		return j.finish(ctx, err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	watch := &watcher{jobs: j, of: of, cancel: cancel}
	var watching sync.WaitGroup
	done := make(chan struct{})
	watch.check(ctx) // it may have been cancelled before
	watching.Go(func() { watch.run(ctx, done) })
	var differing differences
	if of.DryRun {
		err = differing.create(j, of)
	}
	var report bulk.Report
	if err == nil {
		report, err = j.work(ctx, of, body, watch, lines, &differing)
	}
	close(done)
	watching.Wait()
	if closeErr := differing.close(); err == nil && closeErr != nil {
		err = storing(closeErr)
	}
	if closeErr := lines.close(); err == nil && closeErr != nil {
		err = storing(closeErr)
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return func(s *storedJob) {
		if errors.Is(err, context.Canceled) { // it continues in the next Run
			s.State = Queued
			return
		}
		s.Progress, s.Rejections, s.Report, s.Differences = watch.progress(), lines.first, &report, differing.counts()
		j.finish(ctx, err)(s)
	}
}

// work runs the import or the rewrite of a job.
func (j *Jobs) work(
	ctx context.Context, of storedJob, body *os.File, watch *watcher, lines *rejections, differing *differences,
) (bulk.Report, error) {
	if of.Format == Rewrite {
		return j.rewrite(ctx, of, body, watch, lines, differing)
	}
	encoding, err := charset.Parse(of.Encoding)
	if err != nil {
		return bulk.Report{}, err
	}
	work := bulk.Import{
		Registry: j.config.Registry, Actor: of.Actor, Format: of.Format, Encoding: encoding, DryRun: of.DryRun,
		Overwrite: of.Overwrite, Note: of.Note,
		Source: of.source(), KeepPosition: true,
		TempDir: j.config.Directory, Rejected: lines.add, Changed: differing.add,
		Progress: func(p bulk.Progress) {
			lines.flush() // a crash must not lose the rejections of a written transaction, which is not repeated
			watch.show(p)
		},
	}
	return work.Run(ctx, body)
}

// finish returns the final update of a job that ended with err, which may be nil.
func (j *Jobs) finish(ctx context.Context, err error) func(*storedJob) {
	return func(s *storedJob) {
		s.Ended = j.config.Registry.Now()
		switch {
		case err == nil:
			s.State = Done
		case errors.Is(err, errCancelled):
			s.State = Cancelled
		case errors.Is(err, registry.ErrUnavailable): // continue when the store is available again
			s.State, s.Ended, s.Error = Queued, time.Time{}, err.Error()
			return
		default:
			s.State, s.Error = Failed, err.Error()
			if !errors.Is(err, registry.ErrInvalid) && !errors.Is(err, errRevoked) {
				j.config.Log.WarnContext(ctx, "registry job failed", "job", s.ID, "error", err)
			}
		}
		if err == nil {
			s.Error = ""
		}
	}
}

// watcher updates the document of a running job, and cancels it on request.
type watcher struct {
	jobs   *Jobs
	of     storedJob
	cancel context.CancelCauseFunc

	mu   sync.Mutex
	last Progress
}

// show sets the progress from that of an import.
func (w *watcher) show(p bulk.Progress) {
	stage := "reading"
	if p.Stage == bulk.Writing {
		stage = "writing"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = Progress{
		Stage: stage, Bytes: p.Bytes, Lines: max(p.Lines, w.last.Lines), Done: p.Done, Total: p.Total,
		Rejected: p.Rejected,
	}
}

func (w *watcher) progress() Progress {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.last
}

// run watches until done is closed.
func (w *watcher) run(ctx context.Context, done <-chan struct{}) {
	ticker := time.NewTicker(checkedEvery)
	defer ticker.Stop()
	now := w.jobs.config.Registry.Now
	saved, at := Progress{}, now()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
		}
		w.check(ctx)
		p, since := w.progress(), now().Sub(at)
		if since < savedEvery || p == saved && since < heartbeatInterval {
			continue
		}
		if _, err := w.jobs.change(ctx, w.of.ID, always(func(s *storedJob) { s.Progress = p })); err == nil {
			saved, at = p, now()
		}
	}
}

// check cancels the job if cancellation was requested, or if its token is no longer valid.
func (w *watcher) check(ctx context.Context) {
	r := w.jobs.config.Registry
	_ = r.Store().Read(ctx, func(tx registry.Tx) error { // if the store is unavailable, the import fails too
		found, err := read(tx, w.of.ID)
		if err != nil { // a read replica may not know the job yet
			return err
		}
		if found.Cancel {
			w.cancel(errCancelled)
		}
		if w.of.Actor.Token == "" {
			return nil
		}
		valid, err := token.Valid(tx, w.of.Actor.Token, r.Now())
		if err == nil && !valid {
			w.cancel(errRevoked)
		}
		return err
	})
}

// rejections records the rejected lines. Those of an interrupted run are read from its file.
type rejections struct {
	first []Rejection
	known map[rejection]bool
	file  *os.File
	to    *bufio.Writer
	err   error

	conflicts conflicts
}

// rejection identifies a Rejection: a line may have a warning as well as the reason of its rejection.
type rejection struct {
	line   int64
	reason [8]byte // of its hash
}

func (j *Jobs) rejections(of storedJob) (*rejections, error) {
	const ownerOnly = 0o600
	f, err := os.OpenFile(j.path(of.body(), rejectedFile), os.O_RDWR|os.O_CREATE, ownerOnly)
	if err != nil {
		return nil, storing(err)
	}
	r := &rejections{
		known: make(map[rejection]bool), file: f, to: bufio.NewWriter(f),
		conflicts: conflicts{path: j.path(of.body(), conflictsFile)},
	}
	good := int64(0)
	for s := bufio.NewScanner(f); s.Scan(); {
		var before Rejection
		if json.Unmarshal(s.Bytes(), &before) != nil { // the last line may be incomplete
			break
		}
		r.keep(before)
		good += int64(len(s.Bytes()) + len("\n"))
	}
	_ = f.Truncate(good)
	if _, err := f.Seek(good, 0); err != nil {
		return nil, errors.Join(storing(err), f.Close())
	}
	return r, nil
}

// keep adds a line, and reports whether it is new.
func (r *rejections) keep(line Rejection) bool {
	sum := sha256.Sum256([]byte(line.Reason))
	is := rejection{line.Line, [8]byte(sum[:])}
	if r.known[is] || len(r.known) >= maxRejected {
		return false
	}
	r.known[is] = true
	if len(r.first) < maxRejections {
		r.first = append(r.first, line)
	}
	return true
}

func (r *rejections) add(of bulk.Rejection) {
	line := Rejection{Line: of.Line, Reason: beginning(of.Reason.Error()), Input: beginning(of.Input)}
	var coded *registry.Error
	if errors.As(of.Reason, &coded) {
		line.Code = coded.Code
		for _, value := range coded.Values {
			line.Values = append(line.Values, beginning(value))
		}
	}
	var parse *uri.ParseError
	if line.Code != "" && errors.As(of.Reason, &parse) {
		line.RuleCode, line.RuleValue = parse.Rule.Code, beginning(parse.Rule.Value)
	}
	if !r.keep(line) || r.err != nil {
		return
	}
	text, err := json.Marshal(line)
	if err == nil {
		_, err = fmt.Fprintf(r.to, "%s\n", text)
	}
	if conflict := (*bulk.Conflict)(nil); err == nil && errors.As(of.Reason, &conflict) {
		err = r.conflicts.add(of.Line, conflict)
	}
	r.err = err
}

// beginning truncates a line or a reason, which may contain a part of the line.
func beginning(text string) string {
	if len(text) > maxInput {
		text = text[:maxInput] + "..."
	}
	return strings.ToValidUTF8(text, "\ufffd")
}

// flush writes what is buffered.
func (r *rejections) flush() { r.err = cmp.Or(r.err, r.conflicts.flush(), r.to.Flush()) }

func (r *rejections) close() error {
	r.flush()
	return errors.Join(r.err, r.conflicts.close(), r.file.Close())
}
