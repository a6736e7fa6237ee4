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

	"github.com/urnd/urnd/resolver/registry"
	"github.com/urnd/urnd/resolver/registry/bulk"
)

// Upload is a job that comes.
type Upload struct {
	Format bulk.Format
	DryRun bool
	// Overwrite is that of bulk.Import.
	Overwrite bool
	Note      string
	// Key is an idempotency key: the same request with the same key is the same job. "" is none.
	Key  string
	Body io.Reader
	// Octets is the length of Body where it is known, or else not positive.
	Octets int64
}

// request is what is remembered of an idempotency key.
type request struct {
	Job  string `json:"job"`
	Hash string `json:"hash"` // of all that was sent
}

// Accept keeps a job to be run, and reports whether it is a new one. Where it returns no error the
// job is durable.
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
	if u.Octets > j.config.MaxBody { // before anything is received
		return Job{}, false, fmt.Errorf("%w: %d octets are", ErrLarge, j.config.MaxBody)
	}
	if j.size() > maxStored*j.config.MaxBody {
		return Job{}, false, ErrWaiting
	}
	id, f, err := j.upload()
	if err != nil {
		return Job{}, false, err
	}
	defer f.Close() // unlocks it, when the document says what it is
	now := j.config.Registry.Now()
	made := storedJob{Actor: actor, Job: Job{
		ID: id, State: Queued, By: actor.Name,
		Format: u.Format, DryRun: u.DryRun, Overwrite: u.Overwrite, Note: u.Note, Created: now, Updated: now, Rejections: []Rejection{},
	}}
	hash, err := j.receive(f, u, &made)
	if err == nil {
		err = os.Rename(f.Name(), j.path(made.ID, bodyFile))
	}
	if err == nil {
		err = j.syncDirectory()
	}
	if err != nil {
		j.remove(uploadFile, made.ID)
		j.remove(bodyFile, made.ID)
		return Job{}, false, err
	}
	accepted, pruned, err := j.record(ctx, made, u.Key, hash)
	if err != nil || accepted.ID != made.ID {
		j.remove(bodyFile, made.ID)
		return j.shown(accepted), false, err
	}
	j.remove(rejectedFile, pruned...)
	j.remove(differsFile, pruned...)
	j.awake()
	return j.shown(accepted), true, nil
}

// check checks what comes with a body.
func (u Upload) check() error {
	isHidden := func(c rune) bool { return c <= ' ' || c > '~' }
	switch {
	case u.Format != bulk.NDJSON && u.Format != bulk.CSV && u.Format != bulk.TSV && u.Format != Rewrite:
		return fmt.Errorf("%w: the format %q is none of a job", registry.ErrInvalid, u.Format)
	case len(u.Key) > maxKey || strings.ContainsFunc(u.Key, isHidden):
		return fmt.Errorf("%w: an idempotency key has at most %d visible ASCII characters", registry.ErrInvalid, maxKey)
	case len(u.Note) > registry.MaxText:
		return fmt.Errorf("%w: the note has more than %d octets", registry.ErrInvalid, registry.MaxText)
	default:
		return nil
	}
}

// receive writes a body into its file, and returns the hash of all that was sent.
func (j *Jobs) receive(f *os.File, u Upload, made *storedJob) (string, error) {
	hash := sha256.New()
	fmt.Fprintf(hash, "%q %v %v %q\n", u.Format, u.DryRun, u.Overwrite, u.Note)
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
	file := &written{w: f}
	made.Octets, err = io.Copy(io.MultiWriter(file, hash), io.LimitReader(all, j.config.MaxBody+1))
	switch {
	case file.err != nil:
		return "", storing(file.err)
	case err != nil:
		return "", fmt.Errorf("%w: receiving the body: %w", registry.ErrInvalid, err)
	case made.Octets > j.config.MaxBody:
		return "", fmt.Errorf("%w: %d octets are", ErrLarge, j.config.MaxBody)
	}
	if err := f.Sync(); err != nil {
		return "", storing(err)
	}
	return hex.EncodeToString(hash.Sum(nil)), nil
}

// written is a writer that keeps its error, to tell it from that of a reader.
type written struct {
	w   io.Writer
	err error
}

// Write implements io.Writer.
func (w *written) Write(b []byte) (n int, err error) {
	n, w.err = w.w.Write(b)
	return n, w.err
}

// record records a job, or returns the one that has the same key. It returns the jobs that are not kept longer.
func (j *Jobs) record(ctx context.Context, made storedJob, key, hash string) (accepted storedJob, pruned []string, err error) {
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
		jobs, err := all(tx)
		if err != nil {
			return err
		}
		if len(jobs) > 0 {
			made.Order = jobs[len(jobs)-1].Order + 1
		}
		accepted = made
		if pruned, err = j.prune(tx, jobs); err != nil {
			return err
		}
		if made.Request != "" {
			value, err := json.Marshal(request{made.ID, hash})
			if err != nil {
				return fmt.Errorf("recording a request: %w", err)
			}
			if err := tx.Put(registry.TableRequests, []registry.Document{{Key: made.Request, Value: value}}); err != nil {
				return err
			}
		}
		return put(tx, made)
	})
	return accepted, pruned, err
}

// requested returns the job of a request that was sent before; false if there is none.
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
		return storedJob{}, false, ErrReused
	}
	found, err := read(tx, before.Job)
	return found, err == nil, err
}

// prune removes old jobs, and returns them; ErrWaiting where too many have not ended.
func (j *Jobs) prune(tx registry.WriteTx, jobs []storedJob) (pruned []string, err error) {
	waiting, now := 0, j.config.Registry.Now()
	for i, old := range jobs {
		if !old.State.ended() {
			if waiting++; waiting >= maxWaiting {
				return nil, fmt.Errorf("%w: %d do", ErrWaiting, waiting)
			}
			continue
		}
		if len(jobs)-i < maxKept && now.Sub(old.Ended) < keptFor {
			continue
		}
		pruned = append(pruned, old.ID)
		if err := tx.Put(registry.TableJobs, []registry.Document{{Key: old.ID}}); err != nil {
			return nil, err
		}
		if old.Request == "" {
			continue
		}
		if err := tx.Put(registry.TableRequests, []registry.Document{{Key: old.Request}}); err != nil {
			return nil, err
		}
	}
	return pruned, nil
}
