package jobs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urnd/urnd/internal/charset"
	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Upload is a request for a new job.
type Upload struct {
	Format bulk.Format
	DryRun bool
	// Overwrite is bulk.Import.Overwrite.
	Overwrite bool
	Note      string
	// Encoding is the label of the encoding of Body (charset.Parse); "" detects it.
	Encoding string
	// Key is an idempotency key: the same request with the same key is the same job. "" is none.
	Key  string
	Body io.Reader
	// Size is the length of Body in bytes, not positive if unknown.
	Size int64
}

// request is the stored document of an idempotency key.
type request struct {
	Job  string `json:"job"`
	Hash string `json:"hash"` // hash of the whole request
}

// Accept stores a job to be run, and reports whether it is new. If it returns no error the job is durable.
func (j *Jobs) Accept(ctx context.Context, actor registry.Actor, u Upload) (Job, bool, error) {
	if actor.Role < registry.Writer {
		return Job{}, false, fmt.Errorf("%w: %s may not import", registry.ErrDenied, actor.Name)
	}
	if err := u.check(); err != nil {
		return Job{}, false, err
	}
	if u.Format == Rewrite {
		var err error
		if u.Body, err = j.checkRewrite(actor, u.Body); err != nil {
			return Job{}, false, err
		}
	}
	if u.Size > j.config.MaxBody { // reject before receiving the body
		return Job{}, false, fmt.Errorf("%w: limit %d bytes", ErrTooLarge, j.config.MaxBody)
	}
	if err := j.checkRoom(actor.Token, max(u.Size, 0)); err != nil {
		return Job{}, false, err
	}
	at, f, err := j.upload(actor.Token)
	if err != nil {
		return Job{}, false, err
	}
	defer f.Close() // unlocks the file, after the job is recorded
	now := j.config.Registry.Now()
	made := storedJob{Actor: actor, Job: Job{
		ID: at.id, State: Queued, By: actor.Name,
		Format: u.Format, DryRun: u.DryRun, Overwrite: u.Overwrite, Note: u.Note, Encoding: u.Encoding, Created: now,
		Updated: now, Rejections: []Rejection{},
	}}
	hash, err := j.receive(f, u, &made)
	if err == nil {
		err = os.Rename(f.Name(), j.path(at, bodyFile))
	}
	if err == nil {
		err = j.syncDirectories(at.token)
	}
	if err != nil {
		j.remove(uploadFile, at)
		j.remove(bodyFile, at)
		return Job{}, false, err
	}
	accepted, pruned, err := j.record(ctx, made, u.Key, hash)
	if err != nil || accepted.ID != made.ID {
		j.remove(bodyFile, at)
		return j.shown(accepted), false, err
	}
	j.remove(rejectedFile, pruned...)
	j.remove(differencesFile, pruned...)
	j.remove(conflictsFile, pruned...)
	j.trim(at.token)
	j.wakeUp()
	return j.shown(accepted), true, nil
}

// check checks the parameters of a request.
func (u Upload) check() error {
	if _, err := charset.Parse(u.Encoding); err != nil {
		return fmt.Errorf("%w: %w", registry.ErrInvalid, err)
	}
	isHidden := func(c rune) bool { return c <= ' ' || c > '~' }
	switch {
	case u.Format != bulk.NDJSON && u.Format != bulk.CSV && u.Format != bulk.TSV && u.Format != Rewrite:
		return fmt.Errorf("%w: format %q is not supported by jobs", registry.ErrInvalid, u.Format)
	case len(u.Key) > maxKey || strings.ContainsFunc(u.Key, isHidden):
		return fmt.Errorf("%w: an idempotency key has at most %d visible ASCII characters", registry.ErrInvalid, maxKey)
	case u.Format == Rewrite && u.Encoding != "":
		return fmt.Errorf("%w: a rewrite is JSON in UTF-8: omit the encoding", registry.ErrInvalid)
	default:
		return registry.CheckText("note", u.Note, registry.MaxText)
	}
}

// receive writes a body to its file, and returns the hash of the whole request.
func (j *Jobs) receive(f *os.File, u Upload, made *storedJob) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %v %v %q\n%s", u.Format, u.DryRun, u.Overwrite, u.Note, u.Encoding)
	start := make([]byte, 4)
	n, err := io.ReadFull(u.Body, start)
	start = start[:n]
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%w: receiving the body: %w", registry.ErrInvalid, err)
	}
	if bytes.HasPrefix(start, []byte("\x1f\x8b")) || bytes.HasPrefix(start, []byte("\x28\xb5\x2f\xfd")) { // gzip, zstd
		return "", ErrCompressed
	}
	all := io.MultiReader(bytes.NewReader(start), u.Body)
	file := &errorWriter{w: f}
	for err = nil; err == nil && made.Size <= j.config.MaxBody; {
		var n int64
		n, err = io.CopyN(io.MultiWriter(file, hash), all, min(checkedPart, j.config.MaxBody+1-made.Size))
		made.Size += n
		if err := j.checkRoom(made.Actor.Token, 0); err != nil { // other uploads use the same space
			return "", err
		}
	}
	switch {
	case file.err != nil:
		return "", storing(file.err)
	case made.Size > j.config.MaxBody:
		return "", fmt.Errorf("%w: limit %d bytes", ErrTooLarge, j.config.MaxBody)
	case !errors.Is(err, io.EOF):
		return "", fmt.Errorf("%w: receiving the body: %w", registry.ErrInvalid, err)
	}
	if err := f.Sync(); err != nil {
		return "", storing(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// errorWriter is a writer that records its error, to distinguish it from errors of the reader.
type errorWriter struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (w *errorWriter) Write(b []byte) (n int, err error) {
	n, w.err = w.w.Write(b)
	return n, w.err
}

// record records a job, or returns the job with the same idempotency key. It also returns the jobs that it
// has pruned.
func (j *Jobs) record(
	ctx context.Context, made storedJob, key, hash string,
) (accepted storedJob, pruned []spooled, err error) {
	if key != "" {
		made.Request = made.Actor.Token + " " + key
	}
	err = j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) error {
		pruned = nil
		before, known, err := j.requested(tx, made.Request, hash)
		if err != nil || known {
			accepted = before
			return err
		}
		if err := mayWait(tx, made.Actor.Token); err != nil {
			return err
		}
		own, err := items[retainedEntry](tx, ofToken(made.Actor.Token))
		if err == nil {
			pruned, err = j.prune(tx, own)
		}
		if err == nil {
			err = enqueue(tx, &made, own)
		}
		if err != nil {
			return err
		}
		accepted = made
		if made.Request != "" {
			value, err := json.Marshal(request{made.ID, hash})
			if err != nil {
				return fmt.Errorf("recording a request: %w", err)
			}
			if err := tx.Put(registry.TableRequests,
				[]registry.Document{{Key: made.Request, Value: value}}); err != nil {
				return err
			}
		}
		return put(tx, made)
	})
	return accepted, pruned, err
}

// mayWait returns an error if the limit of unfinished jobs is reached, in total or for a token.
func mayWait(tx registry.Tx, token string) error {
	all, err := items[waiting](tx, keyWaiting)
	own := 0
	for _, one := range all {
		if one.of.Token == token {
			own++
		}
	}
	switch {
	case err != nil:
		return err
	case own >= maxWaitingOfToken:
		return fmt.Errorf("%w: %d do", ErrTokenLimit, own)
	case len(all) >= maxWaiting:
		return registry.ErrJobLimit
	default:
		return nil
	}
}

// requested returns the job of an earlier request with the same key; the result is false if there is none.
func (j *Jobs) requested(tx registry.Tx, key, hash string) (storedJob, bool, error) {
	if key == "" {
		return storedJob{}, false, nil
	}
	value, err := tx.Document(registry.TableRequests, key)
	if err != nil || value == nil {
		return storedJob{}, false, err
	}
	var before request
	if err := json.Unmarshal(value, &before); err != nil {
		return storedJob{}, false, fmt.Errorf("%w: reading a request: %w", registry.ErrDamaged, err)
	}
	if before.Hash != hash {
		return storedJob{}, false, registry.ErrKeyReused
	}
	found, err := read(tx, before.Job)
	return found, err == nil, err
}

// prune removes the oldest finished jobs of a token beyond its limit, and some expired jobs of any token. It
// returns the removed ones.
func (j *Jobs) prune(tx registry.WriteTx, own []item[retainedEntry]) (pruned []spooled, err error) {
	drop := func(old storedJob) error {
		pruned = append(pruned, old.body())
		return remove(tx, old)
	}
	more := len(own) - maxKeptOfToken + 1
	for i := 0; i < len(own) && len(pruned) < more; i++ {
		old, err := read(tx, own[i].id)
		if err == nil && old.State.ended() {
			err = drop(old)
		}
		if err != nil {
			return nil, err
		}
	}
	now := j.config.Registry.Now()
	oldest, err := tx.Documents(registry.TableJobs, keyJob, "", maxExpired)
	if err != nil {
		return nil, err
	}
	for _, d := range oldest {
		var old storedJob
		if err := decode(d.Value, &old); err != nil {
			return nil, err
		}
		// An unfinished job without an update for this long belongs to an instance that no longer exists.
		if now.Sub(old.Updated) < retention {
			continue
		}
		if err := drop(old); err != nil {
			return nil, err
		}
	}
	return pruned, nil
}
