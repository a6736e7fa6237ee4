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
	Directory string // for bodies and reports; created if missing
	MaxBody   int64  // bytes of a body
	Log       *slog.Logger
}

// Jobs manages the jobs of clients. It is safe for concurrent use.
type Jobs struct {
	config Config
	wake   chan struct{} // signals a new job
}

// New returns Jobs; Run runs them.
func New(config Config) *Jobs { return &Jobs{config, make(chan struct{}, 1)} }

// Limits of jobs. The limits per token leave room for other tokens; administrators share one limit.
const (
	maxWaiting        = 10_000 // unfinished jobs
	maxWaitingOfToken = 100
	maxBodies         = 4        // total size of bodies, in multiples of MaxBody
	maxBodiesOfToken  = 2        // size of the bodies of a token, in multiples of MaxBody
	reportsPart       = 8        // the reports of a token may have an eighth of MaxBody
	leastReports      = 64 << 10 // but at least this many bytes
	checkedPart       = 1 << 24  // bytes of a body between two checks of the limits
	maxKeptOfToken    = 500      // with their reports and idempotency keys
	maxListed         = 500
	maxExpired        = 16                  // expired jobs that Accept removes
	maxItems          = 1_000_000           // entries of an index in one read
	retention         = 30 * 24 * time.Hour // after the last update
	maxRejections     = 20                  // in the document
	maxRejected       = 100_000             // lines in the file
	maxDifferences    = 100_000             // names in the file of a dry run
	maxInput          = 500                 // bytes of a rejected line, and of its reason
	heartbeatTimeout  = 5 * time.Minute     // without a heartbeat: a running job is shown as interrupted, and skipped
	maxKey            = 200                 // bytes of an idempotency key
	savedEvery        = 2 * time.Second     // interval of saving progress
	heartbeatInterval = time.Minute         // interval of heartbeats without progress
	checkedEvery      = time.Second         // interval of checks for cancellation
	searchedEvery     = 2 * time.Second     // interval of searches for jobs of other processes
	finishedWithin    = 5 * time.Second     // timeout of the last write of a job
)

var (
	// ErrTooLarge means that a body exceeds the limit.
	ErrTooLarge = fmt.Errorf("%w: body too large", registry.ErrTooLarge)
	// ErrTokenLimit means that too many jobs of the same token wait.
	ErrTokenLimit = fmt.Errorf("%w: too many queued jobs of this token", registry.ErrTokenLimit)
	// ErrCompressed means that a body is compressed.
	ErrCompressed = errors.New("compressed body, of unknown size: send it uncompressed")
	// ErrEnded means that a job has ended already.
	ErrEnded = fmt.Errorf("%w: job already ended", registry.ErrJobEnded)
	// ErrOtherInstance means that another instance has the file.
	ErrOtherInstance = fmt.Errorf("%w: file at another instance, or removed", registry.ErrUnknownJob)

	errCancelled = errors.New("job cancelled")
	errRevoked   = errors.New("token of the job no longer valid")
)

// readsAll reports whether an actor may read all jobs.
func readsAll(actor registry.Actor) bool {
	return actor.Role == registry.Admin && actor.Prefixes == nil
}

// mayRead returns registry.ErrUnknownJob unless an actor may read a job: an actor may read its own jobs, and an
// Admin of all names may read all jobs.
func mayRead(actor registry.Actor, j storedJob) error {
	if readsAll(actor) || actor.Token == j.Actor.Token && actor.Name == j.Actor.Name {
		return nil
	}
	return registry.ErrUnknownJob
}

// Get returns a job that an actor may read.
func (j *Jobs) Get(ctx context.Context, actor registry.Actor, id string) (Job, error) {
	found, err := j.readable(ctx, actor, id)
	if err != nil {
		return Job{}, err
	}
	return j.shown(found), nil
}

// readable returns the stored document of a job that an actor may read.
func (j *Jobs) readable(ctx context.Context, actor registry.Actor, id string) (storedJob, error) {
	found, err := j.stored(ctx, id)
	if err == nil {
		err = mayRead(actor, found)
	}
	return found, err
}

func (j *Jobs) stored(ctx context.Context, id string) (found storedJob, err error) {
	err = j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		found, err = read(tx, id)
		return err
	})
	return found, err
}

// shown returns a job for clients, with the state Interrupted if it is.
func (j *Jobs) shown(of storedJob) Job {
	if of.Rejections == nil {
		of.Rejections = []Rejection{}
	}
	if j.interrupted(of) {
		of.State = Interrupted
	}
	return of.Job
}

// interrupted reports whether the instance that runs a job has been silent for too long.
func (j *Jobs) interrupted(of storedJob) bool {
	return of.State == Running && j.config.Registry.Now().Sub(of.Updated) > heartbeatTimeout
}

// List returns the jobs that an actor may read, the newest first, at most 500.
func (j *Jobs) List(ctx context.Context, actor registry.Actor) ([]Job, error) {
	of := keyToken
	if !readsAll(actor) {
		of = ofToken(actor.Token)
	}
	var all []storedJob
	err := j.config.Registry.Store().Read(ctx, func(tx registry.Tx) error {
		all = all[:0]
		known, err := items[retainedEntry](tx, of)
		slices.SortFunc(known, func(a, b item[retainedEntry]) int { return cmp.Compare(b.id, a.id) })
		for _, one := range known[:min(len(known), maxListed)] {
			found, readErr := read(tx, one.id)
			if readErr != nil {
				return readErr
			}
			if mayRead(actor, found) == nil {
				all = append(all, found)
			}
		}
		return err
	})
	slices.SortStableFunc(all, func(a, b storedJob) int { return cmp.Compare(b.Order, a.Order) })
	list := make([]Job, len(all))
	for i, found := range all {
		list[i] = j.shown(found)
	}
	return list, err
}

// Cancel cancels a job, and returns it. A running job ends within seconds, an interrupted one immediately: its instance
// may never return. ErrEnded means that the job has ended already.
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
			return fmt.Errorf("%w: job is %s", ErrEnded, found.State)
		}
		isIdle := found.State == Queued || j.interrupted(found)
		found.Cancel, found.Updated = true, j.config.Registry.Now()
		if isIdle {
			found.State, found.Ended = Cancelled, found.Updated
		}
		return put(tx, found)
	})
	if err != nil {
		return Job{}, err
	}
	j.wakeUp()
	return j.shown(found), nil
}

// Rejected opens the rejected lines of a job, as NDJSON of Rejection. The caller closes the file.
func (j *Jobs) Rejected(ctx context.Context, actor registry.Actor, id string) (*os.File, error) {
	of, err := j.readable(ctx, actor, id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(j.path(of.body(), rejectedFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ErrOtherInstance
	}
	if err != nil {
		return nil, fmt.Errorf("opening the rejected lines: %w", err)
	}
	return f, nil
}

// wakeUp wakes Run to search for jobs.
func (j *Jobs) wakeUp() {
	select {
	case j.wake <- struct{}{}:
	default:
	}
}
