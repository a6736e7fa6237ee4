package jobs

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// RewriteBody is the body of a job that rewrites targets: see registry.Rewrite.
type RewriteBody struct {
	Prefix  string `json:"prefix"`
	Replace string `json:"replace"`
	With    string `json:"with"`
	AsOf    int64  `json:"as_of,omitempty"`
}

// maxRewrite bounds a RewriteBody, in bytes.
const maxRewrite = 64 << 10

// rewriteOf decodes a RewriteBody.
func (j *Jobs) rewriteOf(data []byte) (w registry.Rewrite, err error) {
	var body RewriteBody
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&body); err != nil {
		return w, fmt.Errorf("%w: body must be a JSON object with prefix, replace and with: %w",
			registry.ErrInvalid, err)
	}
	w = registry.Rewrite{Prefix: body.Prefix, Replace: body.Replace, With: body.With, AsOf: registry.Seq(body.AsOf)}
	if body.Prefix != "" {
		w.Prefix, err = j.config.Registry.CanonicalPrefix(body.Prefix)
	}
	return w, err
}

// checkRewrite reads the body of a rewrite and checks the permissions of an actor. It returns a new reader of
// the body.
func (j *Jobs) checkRewrite(actor registry.Actor, body io.Reader) (io.Reader, error) {
	data, err := io.ReadAll(io.LimitReader(body, maxRewrite+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: receiving the body: %w", registry.ErrInvalid, err)
	case len(data) > maxRewrite:
		return nil, fmt.Errorf("%w: limit of a rewrite %d bytes", ErrTooLarge, maxRewrite)
	}
	w, err := j.rewriteOf(data)
	if err == nil {
		err = w.Check(actor)
	}
	return bytes.NewReader(data), err
}

// rewrite runs a job that rewrites targets.
func (j *Jobs) rewrite(
	ctx context.Context, of storedJob, body io.Reader, watch *watcher, lines *rejections, differing *differences,
) (report bulk.Report, err error) {
	data, err := io.ReadAll(io.LimitReader(body, maxRewrite))
	if err != nil {
		return report, storing(err)
	}
	w, err := j.rewriteOf(data)
	if err != nil {
		return report, err
	}
	w.DryRun, w.Note, w.Source, w.KeepPosition = of.DryRun, of.Note, of.source(), true
	w.Rewritten = differing.add
	conflicts := int64(len(lines.known)) // those before an interruption are not repeated
	w.Conflict = func(key registry.Key, err error) {
		conflicts++
		lines.add(bulk.Rejection{Line: conflicts, Input: key.String(), Reason: err})
	}
	w.Progress = func(p registry.RewriteResult) {
		lines.flush()
		watch.show(bulk.Progress{Stage: bulk.Writing, Done: p.Names, Rejected: p.Conflicts})
	}
	done, err := j.config.Registry.Rewrite(ctx, of.Actor, w)
	report = bulk.Report{
		Names: done.Names, Changed: done.Changed, Unchanged: done.Names - done.Changed - done.Conflicts,
		Rejected: done.Conflicts, Started: done.Set.Time, Continued: done.Continued,
	}
	if errors.Is(err, registry.ErrConflict) {
		err = fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	return report, err
}
