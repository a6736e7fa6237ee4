package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/urnd/urnd/resolver/registry"
)

// Config configures Jobs. All fields must be set.
type Config struct {
	Registry  *registry.Registry
	Directory string // for the bodies; it is made where it is not there
	MaxBody   int64  // octets of a body
	Log       *slog.Logger
}

// Jobs are the imports of clients. They are safe for concurrent use.
type Jobs struct {
	config Config
	wake   chan struct{} // a job has come
}

// New returns Jobs; Run runs them.
func New(config Config) *Jobs { return &Jobs{config, make(chan struct{}, 1)} }

// Bounds of jobs.
const (
	maxWaiting     = 100                 // that have not ended
	maxStored      = 2                   // bodies of the largest size that are here, before another is received
	maxKept        = 500                 // in all
	keptFor        = 30 * 24 * time.Hour // after their end
	maxRejections  = 20                  // in the document
	maxRejected    = 100_000             // lines in the file
	maxDifferences = 100_000             // names in the file of a dry run
	maxInput       = 500                 // octets of a rejected line that are kept, and of the reason
	silentFor      = 5 * time.Minute     // then a running job is called interrupted, and none waits for it
	maxKey         = 200                 // octets of an idempotency key
	savedEvery     = 2 * time.Second     // progress
	heardEvery     = time.Minute         // where there is no progress
	checkedEvery   = time.Second         // whether it is to be cancelled
	searchedEvery  = 2 * time.Second     // for jobs of which nobody has told
	finishedWithin = 5 * time.Second     // the last write of a job
)

var (
	// ErrUnknown means that there is no such job.
	ErrUnknown = errors.New("there is no such job")
	// ErrLarge means that a body has more octets than are taken.
	ErrLarge = errors.New("the body is larger than is taken")
	// ErrReused means that an idempotency key was sent with another request before.
	ErrReused = errors.New("the key was sent with another request before")
	// ErrWaiting means that too many jobs wait.
	ErrWaiting = errors.New("too many jobs wait")
	// ErrCompressed means that a body is compressed.
	ErrCompressed = errors.New("the body is compressed, so that its size is not known: send it as it is")
	// ErrEnded means that a job has ended already.
	ErrEnded = errors.New("the job has ended already")
	// ErrElsewhere means that another instance has the file.
	ErrElsewhere = errors.New("the file is with another instance, or was removed")

	errCancelled = errors.New("the job was cancelled")
	errRevoked   = errors.New("the token of the job is not valid any more")
)

// mayRead returns ErrUnknown unless an actor may know of a job: its own, or all of an Admin of all names.
func mayRead(actor registry.Actor, j storedJob) error {
	isAdmin := actor.Role == registry.Admin && actor.Prefixes == nil
	if isAdmin || actor.Token == j.Actor.Token && actor.Name == j.Actor.Name {
		return nil
	}
	return ErrUnknown
}

// Get returns a job that an actor may know of.
func (j *Jobs) Get(ctx context.Context, actor registry.Actor, id string) (Job, error) {
	found, err := j.stored(ctx, id)
	if err == nil {
		err = mayRead(actor, found)
	}
	if err != nil {
		return Job{}, err
	}
	return j.shown(found), nil
}

func (j *Jobs) stored(ctx context.Context, id string) (found storedJob, err error) {
	err = j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		found, err = read(tx, id)
		return err
	})
	return found, err
}

// shown returns a job as it is shown.
func (j *Jobs) shown(of storedJob) Job {
	if of.Rejections == nil {
		of.Rejections = []Rejection{}
	}
	if of.State == Running && j.config.Registry.Now().Sub(of.Updated) > silentFor {
		of.State = Interrupted
	}
	return of.Job
}

// List returns the jobs that an actor may know of, the newest first.
func (j *Jobs) List(ctx context.Context, actor registry.Actor) ([]Job, error) {
	list := []Job{}
	err := j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		list = list[:0]
		all, err := all(tx)
		for _, found := range all {
			if mayRead(actor, found) == nil {
				list = append(list, j.shown(found))
			}
		}
		return err
	})
	slices.Reverse(list)
	return list, err
}

// all returns all jobs, in the order in which they were accepted.
func all(tx registry.Tx) ([]storedJob, error) {
	documents, err := tx.Documents(registry.TableJobs, "", "", maxKept+maxWaiting)
	if err != nil {
		return nil, err
	}
	list := make([]storedJob, 0, len(documents))
	for _, d := range documents {
		found, err := decode(d.Value)
		if err != nil {
			return nil, err
		}
		list = append(list, found)
	}
	slices.SortStableFunc(list, func(a, b storedJob) int { return cmp.Compare(a.Order, b.Order) })
	return list, nil
}

// Cancel cancels a job, and returns it: one that runs ends within seconds. ErrEnded means that it is too late.
func (j *Jobs) Cancel(ctx context.Context, actor registry.Actor, id string) (Job, error) {
	var found storedJob
	err := j.config.Registry.Store().Write(ctx, func(tx registry.WriteTx) (err error) {
		if found, err = read(tx, id); err != nil {
			return err
		}
		if err := mayRead(actor, found); err != nil {
			return err
		}
		if found.State.ended() {
			return fmt.Errorf("%w: it is %s", ErrEnded, found.State)
		}
		found.Cancel, found.Updated = true, j.config.Registry.Now()
		if found.State == Queued {
			found.State, found.Ended = Cancelled, found.Updated
		}
		return put(tx, found)
	})
	if err != nil {
		return Job{}, err
	}
	j.awake()
	return j.shown(found), nil
}

// Rejected opens the rejected lines of a job, as NDJSON of Rejection.
func (j *Jobs) Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	if _, err := j.Get(ctx, actor, id); err != nil {
		return nil, err
	}
	f, err := os.Open(j.path(id, rejectedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrElsewhere
	}
	if err != nil {
		return nil, fmt.Errorf("opening the rejected lines: %w", err)
	}
	return f, nil
}

// awake has Run look for jobs.
func (j *Jobs) awake() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}
